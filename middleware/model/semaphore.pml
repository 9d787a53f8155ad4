// SPDX-License-Identifier: Apache-2.0
// Tasks on cores of their own at one wait queue: a semaphore, or a mutex. Task 0 is the most urgent,
// and may be killed at any step; then it starts again or is lost.
//
//   -DMUTEX=0        tasks 0 and 1 take a permit each, tasks 2 and 3 give one
//   -DMUTEX=1        tasks 0, 1 and 2 lock, are inside, and unlock; task 0 may end inside instead
//   -DTIMEOUTS=1     task 1 may time out
//   -DKILLS=n        how often task 0 may be killed
//   -DMUTATE_...     leaves out one step, which must be found

#ifndef MUTEX
#define MUTEX 0
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 0
#endif
#ifndef KILLS
#define KILLS 1
#endif

#define TASKS 4
#define NOBODY TASKS

byte value;          // wb_semaphore.value
byte holder;         // wb_wait_queue.holder
bit waited;          // wb_wait_queue.waited
bit waits_for[TASKS];
bit woken[TASKS];    // blocking is a permit of the kernel: wait.pml has what is below it
bit restarts;        // of task 0
bit over;            // task 0 is

#define HOLDER(task, life) ((task) + 1 + 4 * (life))
#ifdef MUTATE_HOLDER_WITHOUT_RESTARTS
#define OWN HOLDER(me, 0)
#define IS_STALE(word) ((word) % 4 == 1 && over)
#else
#define OWN HOLDER(me, (me == 0 -> restarts : 0))
#define IS_STALE(word) ((word) % 4 == 1 && (over || (word) / 4 != restarts))
#endif

// ---- What is checked ----------------------------------------------------------------------------

bool is_dead;        // task 0's kernel is, and recovery has not seen to it yet
byte kills;
bool is_dirty;       // somebody is inside, or was killed there
bool done[TASKS];

// To begin every step of task 0 that others see: it may be killed before it.
inline step()
{
    if
    :: true
    :: me == 0 && kills < KILLS -> kills++; is_dead = true; goto dead
    fi
}

// ---- wait_queue.c -------------------------------------------------------------------------------------

// One look at a task by most_urgent(): the first found is the most urgent.
inline look(i)
{
    atomic {
        step();
        if
        :: waits_for[i] && chosen == NOBODY -> chosen = i
        :: else
        fi
    }
}

// wb_wait_queue_open(): the fence is in the order of the steps.
inline open()
{
    atomic { step(); got = waited };
    if
    :: got ->
        atomic { step(); got = waited; waited = 0 };
        do
        :: got ->
            look(0); look(1);
#if MUTEX
            look(2);
#endif
            if
            :: chosen == NOBODY -> got = false
            :: else ->
#ifndef MUTATE_WAITED_IS_NOT_SET_AGAIN
                atomic { step(); waited = 1 };
#endif
                atomic {
                    step();
#ifndef MUTATE_CHOICE_IS_NOT_COMPARED
                    got = waits_for[chosen];
#endif
                    waits_for[chosen] = 0
                };
                if
                :: got -> atomic { step(); woken[chosen] = 1; got = false }
                :: else -> got = true
                fi;
                chosen = NOBODY
            fi
        :: else -> break
        od
    :: else
    fi
}

// One attempt: `got`, and `told` if the last holder is over.
inline attempt()
{
    got = false;
#if MUTEX
    atomic { step(); word = holder };
    if
    :: word == OWN || (word != 0 && !IS_STALE(word))
    :: else ->
        atomic {
            step();
            if
            :: holder == word -> holder = OWN; got = true; told = (word != 0);
                assert(told || !is_dirty);
                told = false;
                is_dirty = false
            :: else
            fi
        }
    fi;
    word = 0
#else
    atomic {
        step();
        if
        :: value > 0 -> value--; got = true
        :: else
        fi
    }
#endif
}

// wb_wait_queue_enter(), and what wb_semaphore_take() does after it: `got` says whether it is inside.
inline enter()
{
    attempt();
    do
    :: got || timed_out -> break
    :: else ->
#ifdef MUTATE_WAITED_BEFORE_THE_WORD
        atomic { step(); waited = 1 };
        atomic { step(); waits_for[me] = 1 };
#else
        atomic { step(); waits_for[me] = 1 };
        atomic { step(); waited = 1 };
#endif
#ifndef MUTATE_NO_SECOND_LOOK
        attempt();
#endif
        if
        :: got
        :: else ->
            // wb_kernel_block()
end:        atomic {
                if
                :: woken[me] -> woken[me] = 0
                :: may_time_out -> timed_out = true
                fi;
                step()
            }
        fi;
        atomic { step(); waits_for[me] = 0 };
        if
        :: timed_out && !got -> attempt()
        :: else
        fi
    od;
    atomic { timed_out = false; got = false };
#ifndef MUTATE_NO_PASSING_ON
    // pass_on(); the value of a mutex is 0.
    atomic { step(); got = (value != 0) };
    if
    :: got -> got = false; open()
    :: else
    fi
#endif
}

// wb_semaphore_give()
inline give()
{
    atomic { step(); value++ };
    open()
}

// wb_mutex_unlock()
inline unlock()
{
    atomic { step(); assert(holder == OWN); is_dirty = false; holder = 0 };
    open()
}

// wait_queue.c: abandon(), after the task's owner_state says that it is over.
inline abandon(i)
{
    atomic {
        step();
        if
#ifndef MUTATE_END_WAKES_NOBODY
        :: waits_for[i] && holder == OWN -> woken[i] = 1
#endif
        :: else
        fi
    }
}

// ---- The tasks ----------------------------------------------------------------------------------

proctype Task(byte me)
{
    byte word, chosen = NOBODY;
    bool got, told, timed_out, may_time_out;

    // Not for sure, so that nothing may rely on it.
    if
    :: TIMEOUTS && me == 1 -> may_time_out = true
    :: true
    fi;
#if MUTEX
    enter();
    atomic { step(); is_dirty = true };
    if
    :: me == 0 ->
        atomic { step(); over = 1 };
        abandon(1); abandon(2)
    :: unlock()
    fi;
#else
    if
    :: me < 2 -> enter()
    :: else -> give()
    fi;
#endif
    goto finished;
dead:
    // Its registers are gone.
    atomic { word = 0; chosen = NOBODY; got = false; told = false; timed_out = false };
    goto gone;
finished:
    done[me] = true;
gone:
    skip
}

// wb_core_died(): everybody looks again after what the dead task said of itself is taken back.
proctype Recovery()
{
    bool again;

end:
    do
    :: is_dead ->
        atomic {
            if
            :: over
            :: else ->
                if
                :: again = true
                :: true
                fi
            fi
        };
#ifndef MUTATE_RECOVERY_LEAVES_THE_WORD
        waits_for[0] = 0;
#endif
        if
        :: again -> restarts = 1
        :: else -> over = 1
        fi;
#ifndef MUTATE_RECOVERY_WAKES_NOBODY
        woken[1] = 1;
        woken[2] = 1;
#endif
        atomic {
            is_dead = false;
            woken[0] = 0;
            if
            :: again -> again = false; run Task(0)
            :: else -> done[0] = true
            fi
        }
    od
}

init
{
    atomic {
        run Recovery();
        run Task(0);
        run Task(1);
        run Task(2);
#if !MUTEX
        run Task(3)
#endif
    };
    timeout ->
        // Nobody waits for what is there.
        assert(!MUTEX || (done[0] && done[1] && done[2]));
        assert(MUTEX || value == 0 || !(waits_for[0] && !done[0] || waits_for[1]))
}
