// SPDX-License-Identifier: Apache-2.0
// Tasks on cores of their own that come to a barrier, ROUNDS times. Task 0 may be killed at any
// step; then it starts again, and comes as often anew, or is lost. The others end after that.
//
//   -DTASKS=n        how many
//   -DTIMEOUTS=1     task 1 may time out once, and waits on
//   -DKILLS=n        how often task 0 may be killed
//   -DMUTATE_...     leaves out one step, which must be found

#ifndef TASKS
#define TASKS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 0
#endif
#ifndef KILLS
#define KILLS 1
#endif

byte round, cuts;         // wb_barrier.state: its round, and how often tasks were cut short by then
bit was_cut;              // its lowest bit
byte arrived[TASKS];      // wb_participant.arrived: 1 + a round
byte incarnation;         // of task 0
bit over[TASKS];          // wb_task.owner_state says so
bit waits_for[TASKS];     // wb_sync.waits_for is the wait queue
bit woken[TASKS];         // blocking is a permit of the kernel: wait.pml has what is below it

// ---- What is checked ----------------------------------------------------------------------------

bool is_dead;             // task 0's kernel is, and recovery has not seen to it yet
byte kills;
byte came[TASKS];         // 1 + the latest round for which a task has come, in any life
bit told[ROUNDS + 2];     // what the first to be told was told of a round
bit is_told[ROUNDS + 2];

// To begin every step of task 0 that others see: it may be killed before it.
inline step()
{
    if
    :: true
    :: me == 0 && kills < KILLS -> kills++; is_dead = true; goto dead
    fi
}

// What a task is told of the round that it came for.
inline let_through(cut)
{
    d_step {
        n = 0;
        do
        :: n < TASKS -> assert(came[n] > mine); n++
        :: else -> break
        od;
        n = 0;
        assert(!is_told[mine] || told[mine] == cut);
        is_told[mine] = 1;
        told[mine] = cut
    }
}

// Before a task is told that one is gone: its round has not ended, and cannot.
inline check_gone()
{
    d_step {
        assert(round == mine);
        n = 0;
        do
        :: n < TASKS && !(over[n] && arrived[n] != mine + 1) -> n++
        :: else -> break
        od;
        assert(n < TASKS);
        n = 0
    }
}

// ---- barrier.c ----------------------------------------------------------------------------------

// wb_wait_queue_choose_all()
inline choose_all()
{
    n = 0;
    do
    :: n < TASKS ->
        atomic { step(); chosen = waits_for[n]; waits_for[n] = 0 };
        if
        :: chosen -> chosen = false; atomic { step(); woken[n] = 1 }
        :: else
        fi;
        n++
    :: else -> break
    od;
    n = 0
}

// are_all_here(): `all`
inline are_all_here()
{
    all = true;
    n = 0;
    do
    :: n < TASKS && all -> atomic { step(); all = (arrived[n] == mine + 1) }; n++
    :: else -> break
    od;
    n = 0
}

// `gone`
inline is_one_gone()
{
    n = 0;
    do
    :: n < TASKS && !gone ->
#ifdef MUTATE_ARRIVAL_IS_LOOKED_AT_FIRST
        atomic { step(); gone = (arrived[n] != mine + 1) };
        atomic { step(); gone = gone && over[n] };
#else
        atomic { step(); gone = over[n] };
        atomic { step(); gone = gone && arrived[n] != mine + 1 };
#endif
        n++
    :: else -> break
    od;
    n = 0
}

inline look_at_the_round()
{
    if
#ifdef MUTATE_EACH_COUNTS_THE_DEATHS
    :: round != mine -> let_through(incarnation != cuts); through = true
#else
    :: round != mine -> let_through(was_cut); through = true
#endif
    :: else
    fi
}

// Who is not here may have been, and gone on.
inline missing()
{
    atomic {
        step();
#ifndef MUTATE_ROUND_IS_NOT_LOOKED_AT_AGAIN
        look_at_the_round();
        gone = gone && !through;
#endif
        if
        :: gone -> check_gone()
        :: else
        fi
    }
}

// One attempt: `through` or `gone`, or neither: it has to wait.
inline attempt()
{
    atomic { step(); look_at_the_round() };
    if
    :: through
    :: else ->
        are_all_here();
        if
        :: all ->
            atomic { step(); cut = incarnation };
            atomic {
                step();
#ifdef MUTATE_ROUND_IS_NOT_COMPARED
                all = true;
#else
                all = (round == mine);
#endif
                if
                :: all -> was_cut = (cut != cuts); cuts = cut; round = round + 1; cut = was_cut
                :: else -> cut = was_cut
                fi;
                let_through(cut);
                through = true
            };
            if
            :: all -> choose_all()
            :: else
            fi
        :: else -> is_one_gone(); missing()
        fi
    fi;
    atomic { all = false; cut = 0 }
}

// wb_barrier_wait() with wb_wait_queue_enter()
inline wait()
{
    if
    :: stands
    :: else ->
        atomic { step(); mine = round };
        atomic { step(); arrived[me] = mine + 1; came[me] = mine + 1 }
    fi;
    stands = false;
    attempt();
    do
    :: through || gone || stands -> break
    :: else ->
        atomic { step(); waits_for[me] = 1 };
#ifndef MUTATE_NO_SECOND_LOOK
        attempt();
#endif
        if
        :: through || gone
        :: else ->
            // wb_kernel_block()
end:        atomic {
                if
                :: woken[me] -> woken[me] = 0
                :: may_time_out -> may_time_out = false; stands = true
                fi;
                step()
            }
        fi;
        atomic { step(); waits_for[me] = 0 };
        if
        :: !through && !gone -> attempt()
        :: else
        fi
    od;
#ifdef MUTATE_TIMED_OUT_COMES_ANEW
    stands = false
#else
    stands = stands && !through
#endif
}

// wait_queue.c: abandon(), after the task's owner_state says that it is over.
inline abandon()
{
    n = 0;
    do
    :: n < TASKS ->
#ifndef MUTATE_END_WAKES_NOBODY
        atomic { woken[n] = (waits_for[n] -> 1 : woken[n]) };
#endif
        n++
    :: else -> break
    od;
    n = 0
}

// ---- The tasks ----------------------------------------------------------------------------------

proctype Task(byte me)
{
    byte mine, n, passed, cut;
    bool all, gone, through, chosen, stands, may_time_out;

    // Not for sure, so that nothing may rely on it.
    if
    :: TIMEOUTS && me == 1 -> may_time_out = true
    :: true
    fi;
    do
    :: passed < ROUNDS && !gone ->
        wait();
        atomic {
            if
            :: through -> through = false; passed++
            :: else
            fi;
            // Only who is over is missed.
            assert(!gone || kills > 0)
        }
    :: else -> break
    od;
    atomic { step(); over[me] = 1 };
    abandon();
    goto gone_for_good;
dead:
    // Its registers are gone.
    atomic { mine = 0; n = 0; passed = 0; cut = 0; all = false; gone = false; through = false };
    atomic { chosen = false; stands = false };
gone_for_good:
    skip
}

// wb_core_died(): everybody looks again after what the dead task said of itself is taken back.
proctype Recovery()
{
    byte n;
    bool again;

end:
    do
    :: is_dead ->
        if
        :: !over[0] -> again = true
        :: true
        fi;
        waits_for[0] = 0;
        atomic {
            if
            :: again -> incarnation++
            :: else -> over[0] = 1
            fi
        };
#ifndef MUTATE_RECOVERY_WAKES_NOBODY
        n = 0;
        do
        :: n < TASKS -> woken[n] = 1; n++
        :: else -> break
        od;
        n = 0;
#endif
        atomic {
            is_dead = false;
            woken[0] = 0;
            if
            :: again -> again = false; run Task(0)
            :: else
            fi
        }
    od
}

init
{
    byte n;

    atomic {
        run Recovery();
        do
        :: n < TASKS -> run Task(n); n++
        :: else -> break
        od;
        n = 0
    };
    timeout ->
        // Nobody waits for ever.
        do
        :: n < TASKS -> assert(over[n]); n++
        :: else -> break
        od
}
