// SPDX-License-Identifier: Apache-2.0
// Tasks on cores of their own, a mutex and a condition: 0 and 1 each wait for a thing and take it,
// others each make one, and signal once they have given the mutex back. One may be killed at any
// step; then it starts again or is lost. A maker that starts again makes nothing twice, and signals
// for nothing that it made before.
//
//   -DMAKERS=n       1 or 2: tasks 2 and 3
//   -DTIMEOUTS=1     task 0 may time out, and gives up then
//   -DMORTAL=0       who may be killed: 0 or 2
//   -DKILLS=n        how often
//   -DMUTATE_...     leaves out one step, which must be found

#ifndef MAKERS
#define MAKERS 1
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 0
#endif
#ifndef MORTAL
#define MORTAL 0
#endif
#ifndef KILLS
#define KILLS 1
#endif

#define TASKS 4
#define NOBODY TASKS
#define SOMEBODY_DEAD (TASKS + 1)

byte holder = NOBODY;     // of the mutex: semaphore.pml has what is below it
byte waiters;             // wb_condition.waiters
bit waits_for[2];         // wb_sync.waits_for is the condition's wait queue
bit condition[2];         // wb_sync.condition is
bit woken[2];             // blocking is a permit of the kernel: wait.pml has what is below it

// ---- What is checked ----------------------------------------------------------------------------

byte things;              // guarded by the mutex
bit made[TASKS];          // guarded by the mutex
bool is_silent;           // a maker was killed between the mutex and its signal
byte signals;             // that have chosen somebody, and nobody has returned with
bool is_dead;             // the mortal one's kernel is, and recovery has not seen to it yet
byte kills;
bool over[TASKS];         // done, lost, or given up
bool blocked[2];

// To begin every step of the mortal task that others see: it may be killed before it.
inline step()
{
    if
    :: true
    :: me == MORTAL && kills < KILLS ->
        kills++;
        is_silent = is_silent || (me >= 2 && made[me] && holder != me);
        is_dead = true;
        goto dead
    fi
}

// wb_wait_queue_choose_guarded(), of one task
inline choose_guarded(i)
{
    if
    :: told -> atomic { step(); woken[i] = (waits_for[i] -> 1 : woken[i]); waits_for[i] = 0 }
    :: else
    fi
}

// wb_mutex_lock()
inline lock()
{
    atomic { holder >= NOBODY -> step(); told = (holder == SOMEBODY_DEAD); holder = me };
#ifndef MUTATE_WHO_TAKES_OVER_WAKES_NOBODY
    choose_guarded(0);
    choose_guarded(1);
#endif
    told = false
}

inline unlock()
{
    atomic { step(); assert(holder == me); holder = NOBODY }
}

// ---- wait_queue.c, condition.c ------------------------------------------------------------------------

// wb_wait_queue_choose(): the first found is the most urgent.
inline choose()
{
    got = true;
    do
    :: got ->
        atomic { step(); chosen = (waits_for[0] -> 0 : NOBODY) };
        atomic {
            step();
            if
            :: chosen == NOBODY && waits_for[1] -> chosen = 1
            :: else
            fi
        };
        if
        :: chosen == NOBODY -> got = false
        :: else ->
            atomic {
                step();
#ifdef MUTATE_CHOICE_OF_A_SIGNAL_IS_NOT_COMPARED
                got = true;
#else
                got = waits_for[chosen];
#endif
                waits_for[chosen] = 0;
                signals = signals + got
            };
            if
            :: got -> atomic { step(); woken[chosen] = 1; got = false }
            :: else -> got = true
            fi;
            chosen = NOBODY
        fi
    :: else -> break
    od
}

// wb_condition_signal()
inline signal()
{
#ifdef MUTATE_SIGNALS_TAKE_WHAT_SAYS_THAT_SOMEBODY_WAITS
    atomic { step(); got = (waiters != 0); waiters = 0 };
#else
    atomic { step(); got = (waiters != 0) };
#endif
    if
    :: got -> choose()
    :: else
    fi
}

// wb_condition_wait(): `got` says that it returned WB_OK.
inline wait()
{
    atomic { step(); condition[me] = 1 };
#ifdef MUTATE_MUTEX_IS_GIVEN_BACK_FIRST
    unlock();
#endif
    atomic { step(); waiters++ };
    atomic { step(); waits_for[me] = 1 };
#ifndef MUTATE_MUTEX_IS_GIVEN_BACK_FIRST
    unlock();
#endif
    do
    :: !waits_for[me] -> break
#ifndef MUTATE_NOBODY_LOOKS_AT_THE_HOLDER
    :: holder == SOMEBODY_DEAD -> break
#endif
    :: else ->
        // wb_kernel_block(), which may also return for nothing
        blocked[me] = true;
end:    atomic {
            if
            :: woken[me] -> woken[me] = 0
            :: may_time_out -> timed_out = true
            fi;
            step()
        };
        blocked[me] = false;
        if
        :: timed_out -> break
        :: else
        fi
    od;
    atomic {
        step();
        got = !waits_for[me];
        waits_for[me] = 0;
        assert(!got || kills > 0 || signals > 0);
        signals = (got && signals > 0 -> signals - 1 : signals);
#ifdef MUTATE_TIME_IS_LOOKED_AT_FIRST
        got = !timed_out;
#else
        got = got || !timed_out;
#endif
        timed_out = false
    };
    atomic { step(); waiters-- };
#ifdef MUTATE_SIGNAL_IS_FORGOTTEN_BEFORE_THE_MUTEX
    atomic { step(); condition[me] = 0 };
    lock()
#else
    lock();
    atomic { step(); condition[me] = 0 }
#endif
}

// ---- The tasks ----------------------------------------------------------------------------------

proctype Waiter(byte me)
{
    bool got, told, timed_out, may_time_out;

    // Not for sure, so that nothing may rely on it.
    if
    :: TIMEOUTS && me == 0 -> may_time_out = true
    :: true
    fi;
    lock();
    do
    :: things == 0 ->
        wait();
        if
        :: !got -> break
        :: else
        fi
    :: else ->
        atomic { step(); things-- };
        break
    od;
    unlock();
    over[me] = true;
    goto gone;
dead:
    // Its registers are gone.
    atomic { got = false; told = false; timed_out = false; may_time_out = false };
gone:
    skip
}

proctype Maker(byte me)
{
    byte chosen = NOBODY;
    bool got, told, makes;

    lock();
    atomic { step(); makes = !made[me]; made[me] = 1; things = things + makes };
    unlock();
    if
    :: makes -> signal()
    :: else
    fi;
    over[me] = true;
dead:
    // Its registers are gone.
    atomic { chosen = NOBODY; got = false; told = false; makes = false }
}

// recover() of wait_queue.c with pass_on(), and the rest of wb_core_died(), for a task that waits.
inline recover_waiter()
{
    atomic { got = waits_for[0]; waits_for[0] = 0 };
#ifdef MUTATE_RECOVERY_TAKES_OFF_THE_COUNT
    atomic { waiters = (condition[0] -> waiters - 1 : waiters) };
#endif
#ifndef MUTATE_SIGNAL_IS_NOT_PASSED_ON
    if
    :: condition[0] && !got -> choose()
    :: else
    fi;
#endif
    atomic { got = false; condition[0] = 0 }
}

proctype Recovery()
{
    byte me = TASKS, chosen = NOBODY;
    bool got;

end:
    do
    :: is_dead ->
        if
        :: MORTAL == 0 -> recover_waiter()
        :: else
        fi;
        atomic {
            // Who locks next sees that the holder is over, or of another incarnation.
            holder = (holder == MORTAL -> SOMEBODY_DEAD : holder);
#ifndef MUTATE_RECOVERY_WAKES_NOBODY
            woken[1] = 1;
            woken[0] = (MORTAL != 0);
#endif
            is_dead = false;
            if
            :: MORTAL == 0 -> run Waiter(0)
            :: MORTAL == 2 -> run Maker(2)
            :: over[MORTAL] = true
            fi
        }
    od;
dead:
    skip
}

init
{
    atomic {
        run Recovery();
        run Waiter(0);
        run Waiter(1);
        run Maker(2);
#if MAKERS > 1
        run Maker(3)
#endif
    };
    timeout ->
        // Nobody sleeps that was chosen, or beside a thing of which somebody was told.
        assert(!(blocked[0] && !over[0] && !waits_for[0]) && !(blocked[1] && !waits_for[1]));
        assert(things == 0 || over[0] && over[1] || is_silent);
        assert(holder >= NOBODY)
}
