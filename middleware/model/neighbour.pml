// SPDX-License-Identifier: Apache-2.0
// A receiver and a sender that moves between its core and another: waiting for a task of the same
// core without a fence and without another attempt. Kernels are cooperative.
//
// Plain stores go into a store buffer of their core, which sees them at once, and reach the other
// core later, in order (x86-TSO); a fence and an atomic exchange wait until it is empty.
//
//   -DMESSAGES=n -DMOVES=n
//   -DMUTATE_...             leaves out one step, which must be found

#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef MOVES
#define MOVES 2
#endif

#define SENDER 0
#define RECEIVER 1
#define NOBODY 2

// Words: of each task its index (messages committed or released), and wb_port.waiting; the one slot.
#define INDEX 0
#define WAITING 2
#define SLOT 4
#define WORDS 5
byte memory[WORDS];
chan buffer[2] = [4] of { byte, byte };
byte buffered[10], own[10];  // of each core: stores in its buffer, and the last of them

#define LOAD(word) (buffered[c * WORDS + word] -> own[c * WORDS + word] : memory[word])

// enum wb_task_state
#define READY 1
#define RUNNING 2
#define BLOCKED 3
#define OFFERED 4
byte state[2], owner[2];  // the two halves of wb_task.owner_state
bit blocked[2], woken[2], queued[2];
bit pending[4];  // of each core: a bit for each task, that something waits for it there
byte cpu[2];  // who runs there
byte moves;
bit finished[2];

// Of the core that the task is on now.
#define c owner[me]

inline store(word, value)
{
    atomic {
        nfull(buffer[c]);
        buffer[c]!word, value;
        buffered[c * WORDS + word]++;
        own[c * WORDS + word] = value
    }
}

inline fence()
{
    empty(buffer[c])
}

inline swap(word, value)
{
    atomic { empty(buffer[c]) -> was = memory[word]; memory[word] = value }
}

// The memory system, for one core.
proctype Memory(byte core)
{
    byte word, value;

end:
    do
    :: atomic {
        buffer[core]?word, value ->
            memory[word] = value;
            buffered[core * WORDS + word]--;
            word = 0;
            value = 0
       }
    od
}

// ---- kernels/riscv/kernel.c ---------------------------------------------------------------------

// wb_kernel_unblock(): of the core that owns the task.
inline unblock(task)
{
    if
    :: blocked[task] -> blocked[task] = 0; queued[task] = 1
    :: else -> woken[task] = 1
    fi
}

// The loop, and what a task that blocks does before it switches: pending bits, arrivals, the next
// task.
proctype Kernel(byte core)
{
end:
    do
    :: atomic {
        cpu[core] == NOBODY && pending[core * 2] ->
            pending[core * 2] = 0;
            if
            :: owner[SENDER] != core -> pending[(1 - core) * 2] = 1
            :: owner[SENDER] == core && state[SENDER] == OFFERED
            :: else -> unblock(SENDER)
            fi
       }
    :: atomic {
        cpu[core] == NOBODY && pending[core * 2 + 1] ->
            pending[core * 2 + 1] = 0;
            unblock(RECEIVER)
       }
    :: atomic {
        cpu[core] == NOBODY && state[SENDER] == OFFERED && owner[SENDER] != core ->
            owner[SENDER] = core;
            state[SENDER] = READY;
            queued[SENDER] = 1;
            woken[SENDER] = 1
       }
    :: atomic {
        cpu[core] == NOBODY && queued[SENDER] && owner[SENDER] == core ->
            queued[SENDER] = 0;
            state[SENDER] = RUNNING;
            cpu[core] = SENDER
       }
    :: atomic {
        cpu[core] == NOBODY && queued[RECEIVER] && owner[RECEIVER] == core ->
            queued[RECEIVER] = 0;
            state[RECEIVER] = RUNNING;
            cpu[core] = RECEIVER
       }
    od
}

// wb_kernel_block(). Who does not have the core does not go on.
inline block()
{
    atomic {
        if
        :: woken[me]
        :: else -> blocked[me] = 1; state[me] = BLOCKED; cpu[c] = NOBODY
        fi
    };
    woken[me] = 0
}

// wb_kernel_yield()
inline yield()
{
    atomic { state[me] = READY; queued[me] = 1; cpu[c] = NOBODY }
}

// wb_task_departed(): the owner_state is published by a sequentially consistent store.
inline depart()
{
    atomic {
#ifndef MUTATE_THE_PLACE_OVERTAKES_WHAT_WAS_STORED
        fence();
#endif
        state[me] = OFFERED;
        cpu[c] = NOBODY
    }
}

// wb_task_wake()
inline wake(task)
{
    atomic {
        if
        :: owner[task] == c && state[task] != OFFERED -> unblock(task)
        :: else -> pending[owner[task] * 2 + task] = 1
        fi
    }
}

// ---- channel.h, port.c --------------------------------------------------------------------------

// One attempt: the receiver needs a message, the sender the slot.
#define IS_POSSIBLE (me == SENDER -> LOAD(INDEX + RECEIVER) == n : LOAD(INDEX + SENDER) > n)

// other_is_here()
#ifdef MUTATE_EVERYBODY_IS_HERE
#define IS_HERE true
#else
#ifdef MUTATE_WHO_LEAVES_IS_HERE
#define IS_HERE (owner[1 - me] == c)
#else
#define IS_HERE (owner[1 - me] == c && (state[1 - me] == READY || state[1 - me] == BLOCKED))
#endif
#endif

inline wait()
{
    do
    :: IS_POSSIBLE -> break
    :: else ->
        if
        :: IS_HERE ->
#ifndef MUTATE_A_NEIGHBOUR_IS_NOT_TOLD
            store(WAITING + me, 1);
#endif
            block()
        :: else ->
            swap(WAITING + me, 1);
            was = 0;
            if
            :: IS_POSSIBLE
            :: else -> block()
            fi
        fi;
        if
        :: LOAD(WAITING + me) -> swap(WAITING + me, 0); was = 0
        :: else
        fi
    od
}

// wb_port_notify()
inline notify()
{
    fence();
    if
    :: LOAD(WAITING + 1 - me) ->
        swap(WAITING + 1 - me, 0);
        if
        :: was -> was = 0; wake(1 - me)
        :: else
        fi
    :: else
    fi
}

// Some of them, with nothing sent between.
inline checkpoints()
{
    do
    :: break
    :: yield()
    :: moves < MOVES -> moves++; depart()
    od
}

proctype Sender() provided (cpu[owner[SENDER]] == SENDER)
{
    byte me = SENDER;
    byte n;
    bit was;

    do
    :: n < MESSAGES ->
        wait();
        store(SLOT, n + 1);
        n++;
        store(INDEX + me, n);
        notify();
        checkpoints()
    :: else -> break
    od;
    atomic { n = 0; finished[me] = 1; cpu[c] = NOBODY }
}

proctype Receiver() provided (cpu[owner[RECEIVER]] == RECEIVER)
{
    byte me = RECEIVER;
    byte n;
    bit was;

    do
    :: n < MESSAGES ->
        wait();
        assert(LOAD(SLOT) == n + 1);
        n++;
        store(INDEX + me, n);
        notify()
    :: else -> break
    od;
    atomic { n = 0; finished[me] = 1; cpu[c] = NOBODY }
}

init
{
    atomic {
        cpu[0] = NOBODY;
        cpu[1] = NOBODY;
        state[SENDER] = READY;
        queued[SENDER] = 1;
        state[RECEIVER] = READY;
        queued[RECEIVER] = 1;
        run Memory(0);
        run Memory(1);
        run Kernel(0);
        run Kernel(1);
        run Sender();
        run Receiver()
    };
    timeout -> assert(finished[SENDER] && finished[RECEIVER])
}
