// SPDX-License-Identifier: Apache-2.0
// Replication: one task, three kernels, and which of their memories holds the task's.
//
// The words of the migration are reduced to what copying races with: the offer, its withdrawal, and
// deaths. `migration.pml` has shown the rest.
//
//   -DROUNDS=n -DWITHDRAWALS=n -DKILLS=0/1
//   -DMUTATE_...   leaves out one step, which must be found

#ifndef ROUNDS
#define ROUNDS 4
#endif
#ifndef WITHDRAWALS
#define WITHDRAWALS 2
#endif
#ifndef KILLS
#define KILLS 1
#endif

#define KERNELS 3
#define NUMBERS 4  // an offer has the low two bits of the request's number; four in the code

mtype = { READY, RUNNING, OFFERED, RETURNED, OVER };

// wb_task.owner_state: one word, so what is read or compared of it is read or compared at once.
mtype state = READY;
byte owner, target, number;
bit gift;            // recovery's offer: nobody withdraws it

byte memory_core;    // wb_task.memory_core
byte heap[KERNELS];  // private memory, in two parts: a copy takes two steps
byte stack[KERNELS];
byte truth;          // what both must hold where the task runs
bit dead[KERNELS];
byte withdrawals, kills;

#define IS_DEAD (dead[me])

#ifdef MUTATE_OFFER_HAS_NO_NUMBER
#define IS_AS_SEEN (state == OFFERED && target == me && owner == seen_owner)
#else
#define IS_AS_SEEN (state == OFFERED && target == me && owner == seen_owner && number == seen_number)
#endif

// recovery.c: wb_core_successor()
#define SUCCESSOR(of) (dead[(of + 1) % KERNELS] -> (of + 2) % KERNELS : (of + 1) % KERNELS)

// A step of a kernel, unless it has been killed before it.
#define STEP(what) \
    if \
    :: atomic { IS_DEAD -> goto killed } \
    :: atomic { !IS_DEAD -> what } \
    fi

// replicate.c: copy(). It reads the replica as it is now, and may be killed at each step.
inline fetch(from)
{
    if
    :: from != me ->
        STEP(part = heap[from]; heap[me] = part);
        STEP(part = stack[from]; stack[me] = part; part = 0)
    :: else
    fi
}

proctype Kernel(byte me)
{
    byte part, from, seen_owner, seen_number, to;
    bit has;  // the task is attached here

    do
    :: atomic { state == OVER -> break }
    :: atomic { IS_DEAD -> goto killed }

    // A task that is here runs, and changes both parts of its memory.
    :: atomic { !IS_DEAD && has && state == READY && owner == me -> state = RUNNING }
        STEP(assert(heap[me] == truth && stack[me] == truth); truth++; heap[me] = truth);
        STEP(stack[me] = truth);
        if
        :: atomic { IS_DEAD -> goto killed }
        :: atomic { !IS_DEAD && truth == ROUNDS -> state = OVER; break }
        :: atomic { !IS_DEAD && truth < ROUNDS ->
            if
            :: to = (me + 1) % KERNELS
            :: to = (me + 2) % KERNELS
            fi;
            has = 0;
            number = (number + 1) % NUMBERS; gift = 0; target = to; state = OFFERED;
            // wb_task_departed() looks at its target after the offer.
            if
            :: dead[to] -> state = RETURNED
            :: else
            fi;
            to = 0 }
        fi

    // migration.c: wb_migration_arrive()
    :: atomic { !IS_DEAD && state == OFFERED && target == me ->
            seen_owner = owner; seen_number = number;
#ifdef MUTATE_COPIES_FROM_THE_OWNER
            from = owner
#else
            from = memory_core
#endif
        }
#ifdef MUTATE_SETTLES_BEFORE_THE_COMMIT
        STEP(memory_core = me);
#endif
        fetch(from);
        if
        :: atomic { IS_DEAD -> goto killed }
        :: atomic { !IS_DEAD && IS_AS_SEEN -> state = READY; owner = me; from = 0; seen_owner = 0; seen_number = 0 }
#ifdef MUTATE_NEVER_SETTLES
            STEP(has = 1)
#else
            STEP(memory_core = me; has = 1)
#endif
        :: atomic { !IS_DEAD && !IS_AS_SEEN -> from = 0; seen_owner = 0; seen_number = 0 }
        fi

    // migration.c: wb_migration_returned()
    :: atomic { !IS_DEAD && state == RETURNED && owner == me -> from = memory_core }
#ifndef MUTATE_SUCCESSOR_DOES_NOT_FETCH
        fetch(from);
#endif
        STEP(memory_core = me; has = 1; state = READY; from = 0)
    od;
killed:
    skip
}

// wb_migration_cancel(), then readdress()
proctype Withdrawer()
{
end:
    do
    :: atomic { withdrawals < WITHDRAWALS && state == OFFERED && !gift ->
        withdrawals++;
        state = RETURNED;
        if
        :: dead[owner] -> owner = SUCCESSOR(owner)
        :: else
        fi }
    :: state == OVER -> break
    od
}

// Kills a kernel between any two steps; recovery.c: take_over()
proctype Killer()
{
    byte victim;

end:
    do
    :: atomic { kills < KILLS ->
        kills++;
        if
        :: victim = 0
        :: victim = 1
        fi;
        dead[victim] = 1;
        if
        :: state == RUNNING && owner == victim -> state = OVER  // lost: it has no image
        :: state == READY && owner == victim ->
            gift = 1; number = (number + 1) % NUMBERS; target = SUCCESSOR(victim); state = OFFERED
        :: state == OFFERED && target == victim && !gift ->
            state = RETURNED;
            if
            :: dead[owner] -> owner = SUCCESSOR(owner)
            :: else
            fi
        :: state == OFFERED && target == victim && gift -> target = SUCCESSOR(victim)
        :: state == RETURNED && owner == victim -> owner = SUCCESSOR(victim)
        :: else
        fi;
        victim = 0 }
    :: state == OVER -> break
    od
}

init
{
    atomic {
        run Kernel(0); run Kernel(1); run Kernel(2); run Withdrawer(); run Killer();
        // wb_system_start(): the first kernel finds the task laid out in its own memory.
        state = RETURNED
    }
}
