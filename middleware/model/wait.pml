// SPDX-License-Identifier: Apache-2.0
// A sender and a receiver on two Linux kernels: waiting for a channel, and waking a kernel.
//
// Plain stores go into a store buffer and reach the others later, in order (x86-TSO); a fence, a
// sequentially consistent store and an atomic exchange wait until it is empty. A relaxed or release
// store is plain.
//
//   -DSLOTS=n -DMESSAGES=n   of the channel
//   -DMUTATE_...             leaves out one step, which must be found

#ifndef SLOTS
#define SLOTS 1
#endif
#ifndef MESSAGES
#define MESSAGES 4
#endif

// Core 0 sends, core 1 receives; a channel's index is the sender's tail or the receiver's head.
#define SENDER 0
#define RECEIVER 1

byte slot[SLOTS];
byte index[2];     // messages committed, messages released
bit waiting[2];    // wb_port.waiting
bit word[2];       // the inbox: the task's bit, and the summary of all bits
bit summary[2];
bit sleeping[2];   // linux_core.sleeping, a futex
bit in_futex[2];   // the kernel is in FUTEX_WAIT
bit woken[2];      // linux_task.woken: private to its kernel
bit blocked[2];    // linux_task.blocked: the same

// Store buffers: which word, and its new value.
#define SLOT 0
#define INDEX 1
#define WAITING 2
#define SLEEPING 3
chan buffer0 = [4] of { byte, byte };
chan buffer1 = [4] of { byte, byte };

byte received;
bit finished[2];

#define BUFFER_IS_EMPTY(me) \
    (me > RECEIVER || me == SENDER && empty(buffer0) || me == RECEIVER && empty(buffer1))

inline store(me, name, value)
{
    if
    :: me == SENDER -> buffer0!name, value
    :: else -> buffer1!name, value
    fi
}

// The memory system, for one core.
proctype Memory(byte me; chan buffer)
{
    byte name, value;

end:
    do
    :: atomic {
        buffer?name, value ->
            if
            :: name == SLOT -> slot[(value - 1) % SLOTS] = value
            :: name == INDEX -> index[me] = value
            :: name == WAITING -> waiting[me] = value
            :: name == SLEEPING -> sleeping[me] = value
            fi;
            name = 0; value = 0
       }
    od
}

// ---- kernels/linux/kernel.c ---------------------------------------------------------------------

// wb_kernel_doorbell()
inline doorbell(to)
{
    if
    :: sleeping[to] ->
        atomic { BUFFER_IS_EMPTY(me) -> was = sleeping[to]; sleeping[to] = 0 };
        if
        :: was -> was = 0; in_futex[to] = 0
        :: else
        fi
    :: else
    fi
}

// wb_inbox_post(): both are atomic read-modify-writes.
inline post(to)
{
#ifdef MUTATE_SUMMARY_BEFORE_THE_BIT
    atomic { BUFFER_IS_EMPTY(me) -> summary[to] = 1 };
    atomic { BUFFER_IS_EMPTY(me) -> word[to] = 1 };
    doorbell(to)
#else
    atomic { BUFFER_IS_EMPTY(me) -> word[to] = 1 };
#ifdef MUTATE_DOORBELL_BEFORE_THE_SUMMARY
    doorbell(to);
    atomic { BUFFER_IS_EMPTY(me) -> summary[to] = 1 }
#else
    atomic { BUFFER_IS_EMPTY(me) -> summary[to] = 1 };
#ifndef MUTATE_NO_DOORBELL
    doorbell(to)
#endif
#endif
#endif
}

// wb_agent_serve() and wb_kernel_unblock()
inline serve()
{
    if
    :: summary[me] ->
#ifdef MUTATE_BITS_ARE_TAKEN_BEFORE_THE_SUMMARY
        atomic { BUFFER_IS_EMPTY(me) -> was = word[me]; word[me] = 0 };
        atomic { BUFFER_IS_EMPTY(me) -> summary[me] = 0 };
#else
        atomic { BUFFER_IS_EMPTY(me) -> summary[me] = 0 };
        atomic { BUFFER_IS_EMPTY(me) -> was = word[me]; word[me] = 0 };
#endif
        atomic {
            if
#ifdef MUTATE_NO_PERMIT
            :: was && blocked[me] -> woken[me] = 1
#else
            :: was -> woken[me] = 1
#endif
            :: else
            fi;
            if
            :: was -> blocked[me] = 0
            :: else
            fi;
            was = 0
        }
    :: else
    fi
}

inline doorbell_sleep()
{
#ifdef MUTATE_SLEEPING_IS_RELAXED
    store(me, SLEEPING, 1);
#else
    atomic { BUFFER_IS_EMPTY(me) -> sleeping[me] = 1 };
#endif
    if
#ifdef MUTATE_SLEEPS_WITHOUT_LOOKING
    :: true ->
#else
    :: !summary[me] ->
#endif
        // FUTEX_WAIT compares and goes to sleep in one step; a system call is a fence.
        atomic {
            BUFFER_IS_EMPTY(me) ->
#ifdef MUTATE_FUTEX_DOES_NOT_COMPARE
            in_futex[me] = 1
#else
            in_futex[me] = sleeping[me]
#endif
        };
        !in_futex[me]
#ifndef MUTATE_SLEEPS_WITHOUT_LOOKING
    :: else
#endif
    fi;
    store(me, SLEEPING, 0)
}

// wb_kernel_block(), and the kernel's loop while no task is ready
inline block()
{
    serve();
    blocked[me] = !woken[me];
    do
    :: blocked[me] && !summary[me] -> doorbell_sleep()
    :: blocked[me] && summary[me] -> serve()
    :: !blocked[me] -> break
    od;
    woken[me] = 0
}

// ---- channel.h, port.c --------------------------------------------------------------------------

// One attempt: the receiver needs a message, the sender a free slot.
#define OTHERS_INDEX index[1 - me]
#define IS_POSSIBLE (me == SENDER -> n - OTHERS_INDEX < SLOTS : OTHERS_INDEX > n)

inline fence()
{
    BUFFER_IS_EMPTY(me)
}

// wait()
inline wait()
{
    do
    :: IS_POSSIBLE -> break
    :: else ->
        store(me, WAITING, 1);
#ifndef MUTATE_NO_FENCE_BEFORE_THE_SECOND_LOOK
        fence();
#endif
#ifndef MUTATE_NO_SECOND_LOOK
        if
        :: IS_POSSIBLE
        :: else -> block()
        fi;
#else
        block();
#endif
        store(me, WAITING, 0)
    od
}

// wb_port_notify()
inline notify()
{
#ifndef MUTATE_NO_FENCE_BEFORE_THE_NOTICE
    fence();
#endif
    if
    :: waiting[1 - me] ->
        atomic { BUFFER_IS_EMPTY(me) -> was = waiting[1 - me]; waiting[1 - me] = 0 };
        if
        :: was -> was = 0; post(1 - me)
        :: else
        fi
    :: else
    fi
}

proctype Sender(byte me)
{
    byte n;
    bit was;

    do
    :: n < MESSAGES ->
        wait();
        store(me, SLOT, n + 1);
        n++;
        store(me, INDEX, n);
        notify()
    :: else -> break
    od;
    n = 0;
    finished[me] = 1
}

proctype Receiver(byte me)
{
    byte n;
    bit was;

    do
    :: n < MESSAGES ->
        wait();
#ifdef MUTATE_SLOT_IS_FREED_BEFORE_IT_IS_READ
        store(me, INDEX, n + 1);
        assert(slot[n % SLOTS] == n + 1);
        n++;
#else
        assert(slot[n % SLOTS] == n + 1);
        n++;
        store(me, INDEX, n);
#endif
        notify();
        received++
    :: else -> break
    od;
    n = 0;
    finished[me] = 1
}

// A pending bit of no consequence, at any time: such as from the launcher.
proctype Stranger()
{
    byte me = RECEIVER + 1;
    bit was;

    if
    :: post(RECEIVER)
    :: post(SENDER)
    :: true
    fi
}

init
{
    atomic {
        run Memory(SENDER, buffer0);
        run Memory(RECEIVER, buffer1);
        run Sender(SENDER);
        run Receiver(RECEIVER);
        run Stranger()
    };
    timeout ->
        assert(finished[SENDER] && finished[RECEIVER] && received == MESSAGES)
}
