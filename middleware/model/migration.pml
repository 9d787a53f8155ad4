// SPDX-License-Identifier: Apache-2.0
// One task, three kernels, requesters, withdrawals and deaths: the two-phase hand-off.
//
// Every access to a word that cores share is a step of its own; between two steps any other process
// may run and any kernel be killed. README.md says which line of the code each step stands for.
//
//   -DREQUESTS=n -DWITHDRAWALS=n -DKILLS=n   how often each may happen, at any time
//   -DMORTALS=n                              cores from 0 on that may be killed
//   -DRETURNS                                a kernel that was killed may be started again
//   -DRIVAL                                  a second requester: the launcher
//   -DMUTATE_...                             leaves out one step, which must be found

#include "migration_steps.pml"

// ---- The kernel of a core, and the task while it runs there -------------------------------------

inline keep_need_resched(here)
{
#ifndef MUTATE_NEED_RESCHED_IS_NOT_KEPT
    atomic {
        step(here);
        if
        :: PHASE(request) == PENDING -> inbox[here] = inbox[here] | RAISED
        :: else
        fi
    }
#else
    skip
#endif
}

// wb_checkpoint_enter(): sets `running` false if the task has departed
inline checkpoint(here)
{
    atomic { step(here); r = request };
    if
    :: PHASE(r) == PENDING ->
#ifdef MUTATE_ACCEPTANCE_IS_TWO_STEPS
        atomic { step(here); request = REQUEST(ACCEPTED, CORE(r), NUMBER(r)); r = 0; c = 1 };
#else
        atomic {
            step(here);
            if
            :: request == r -> request = REQUEST(ACCEPTED, CORE(r), NUMBER(r)); c = 1
            :: else
            fi;
            r = 0
        };
#endif
        if
        :: c -> c = 0; finish(here, HELD)
        :: c -> atomic { step(here); c = 0; has[here] = false }; departed(here); running = false
        :: else
        fi
    :: else -> r = 0
    fi;
    if
    :: running -> serve(here); keep_need_resched(here)
    :: else
    fi
}

// wb_kernel_block()
inline block(here)
{
    serve(here);
    atomic {
        step(here);
        if
        :: woken -> woken = false
        :: else ->
            blocked = true;
            is_in_block = true;
            complete = true;
            owner_state = OWNER_STATE(BLOCKED, here);
            running = false
        fi
    };
    if
    :: running -> keep_need_resched(here)
    :: else
    fi
}

// end()
inline end_task(here)
{
    atomic {
        step(here);
        has[here] = false; running = false; owner_state = OWNER_STATE(ENDED, here)
    };
#ifndef MUTATE_END_DOES_NOT_LOOK_AT_THE_REQUEST
    atomic { step(here); c = (PHASE(request) != NONE) };
    if
    :: c -> c = 0; cancel(here, GONE)
    :: else
    fi
#endif
}

// announce() and wb_task_resumed()
inline resume(here)
{
    atomic {
        step(here);
        assert(has[here] && complete);
        is_ready[here] = false;
        complete = false;
        running = true;
        owner_state = OWNER_STATE(RUNNING, here);
        if
        :: is_in_block -> is_in_block = false; woken = false
        :: else
        fi;
        c = (PHASE(request) == ACCEPTED && attached)
    };
    if
    :: c -> c = 0; finish(here, OK)
    :: else
    fi;
    keep_need_resched(here)
}

proctype Kernel(byte me)
{
    short r, p;
    byte n, o;
    bit c;
    bool running;

#ifdef RETURNS
begin:
#endif
end:
    do
    :: running && inbox[me] != 0 -> checkpoint(me)
    :: running && inbox[me] == 0 -> block(me)
    :: running -> end_task(me)
    :: !running && inbox[me] != 0 -> serve(me)
    :: !running && is_ready[me] -> resume(me)
#if KILLS > 0
    :: atomic { me < MORTALS && is_alive[me] && kills < KILLS -> kill(me); goto dead }
    :: atomic { !is_alive[me] -> goto dead }
#endif
    od;
dead:
    atomic { r = 0; p = 0; n = 0; o = 0; c = 0; running = false }
#ifdef RETURNS
    processes[me]--;
end_dead:
    atomic { is_alive[me] -> processes[me]++; goto begin }
#endif
}

// ---- Requesters, withdrawals, deaths ------------------------------------------------------------

// ask()
inline ask(here)
{
    atomic {
        step(here);
        if
        :: PHASE(request) == NONE ->
            n = (NUMBER(request) + 1) % 4;
            request = REQUEST(FILLING, here, n);
            is_open = true;
            c = 1
        :: else
        fi
    };
    if
    :: c ->
        atomic {
            step(here);
            assert(PHASE(request) == FILLING && CORE(request) == here);
            attached = false;
            c = 0
        };
        atomic { step(here); request = REQUEST(PENDING, target, n); n = 0; target = 0 };
        atomic { step(here); p = owner_state };
        if
#ifndef MUTATE_REQUEST_DOES_NOT_LOOK_AT_THE_PLACE
        :: OVER(p) -> p = 0; cancel(here, GONE)
#endif
        :: else ->
#ifndef MUTATE_REQUEST_IS_NOT_NOTED
            post(here, OWNER(p));
#endif
            p = 0
        fi
    :: else -> target = 0
    fi
}

proctype Requester(byte me)
{
    short r, p;
    byte n, o, target, asked;
    bit c;

end:
    do
    :: atomic {
        asked < REQUESTS && PHASE(request) == NONE ->
            step(me);
            asked++;
            if
            :: state_of_core[1] != DEAD -> target = 1
            :: else -> target = 0
            fi
       };
       ask(me)
#ifdef RETURNS
    :: !is_alive[me] -> goto dead
#endif
    od;
dead:
    atomic { r = 0; p = 0; n = 0; o = 0; c = 0; target = 0; asked = 0 }
#ifdef RETURNS
    processes[me]--
#endif
}

// wb_system_sweep(), whenever it pleases, or never: no request may depend on it
proctype Sweeper()
{
    short r;
    byte n, o, swept;
    bit c;

end:
    do
    :: atomic {
        swept < WITHDRAWALS && (PHASE(request) == PENDING || PHASE(request) == ACCEPTED) ->
            r = request; swept++
       };
       withdraw(LAUNCHER, TIMEOUT)
    :: swept < WITHDRAWALS -> swept = WITHDRAWALS
    od;
dead:
    skip
}

// ---- recovery.c ---------------------------------------------------------------------------------

#define IS_UP(core) (state_of_core[core] == UP)
// What recovery has offered nobody gives back to its owner, which may have returned since.
#define ORPHAN(p) \
    (STATE(p) == OFFERED -> \
         !IS_UP(TARGET(p)) && (PHASE(request) != ACCEPTED || !IS_UP(OWNER(p))) : \
         !IS_UP(OWNER(p)))

// end_request()
inline end_request(dead)
{
#ifndef MUTATE_RECOVERY_LEAVES_THE_REQUEST
    r = request;
    if
    :: (PHASE(r) == FILLING && CORE(r) == dead) || (PHASE(r) == ACCEPTED && orphan) ->
        r = 0;
        finish(LAUNCHER, GONE)
    :: else ->
        if
        :: PHASE(r) != NONE && CORE(r) == dead -> cancel(LAUNCHER, GONE)
        :: else -> r = 0
        fi
    fi
#else
    skip
#endif
}

// The number that no withdrawal has: it belongs to the request after this one.
#ifdef MUTATE_GIFT_HAS_THE_NUMBER_ZERO
#define NEXT_NUMBER 0
#else
#define NEXT_NUMBER ((NUMBER(request) + 1) % 4)
#endif

// take_over(): p is the owner_state as it was seen; `again` if it must be looked at once more.
inline take_over(dead)
{
    atomic { c = (PHASE(request) == ACCEPTED) };
    if
    :: orphan && (STATE(p) == RETURNED || (STATE(p) == OFFERED && c)) ->
        c = 0;
        cancel(LAUNCHER, GONE);
        readdress(LAUNCHER)
    :: else ->
        c = 0;
        end_request(dead);
#ifndef MUTATE_RECOVERY_LEAVES_A_REQUEST_OF_AN_ENDED_TASK
        if
        :: OVER(p) -> cancel(LAUNCHER, GONE)
        :: else
        fi;
#endif
        if
        :: orphan && STATE(p) == RUNNING && !restarts ->
            owner_state = OWNER_STATE(LOST, dead);
            cancel(LAUNCHER, GONE)
        :: orphan && (STATE(p) != RUNNING || restarts) ->
            // wb_kernel_task_init() makes a context of its own for the one that starts again.
            atomic {
                if
                :: STATE(p) == RUNNING -> complete = true; is_in_block = false
                :: else
                fi;
                r = NEXT_NUMBER
            };
            give()
        :: !orphan && STATE(p) == OFFERED ->
#ifndef MUTATE_RECOVERY_DOES_NOT_TELL_THE_TARGET
            post(LAUNCHER, TARGET(p));
#endif
            skip
        :: else
        fi
    fi;
    orphan = false
}

inline give()
{
    atomic {
        if
#ifdef MUTATE_GIFT_IS_NOT_COMPARED
        :: true -> owner_state = OFFER(OWNER(p), successor, r); c = 1
#else
        :: owner_state == p -> owner_state = OFFER(OWNER(p), successor, r); c = 1
        :: else -> again = true
#endif
        fi;
        r = 0
    };
    if
    :: c -> c = 0; post(LAUNCHER, successor)
    :: else
    fi
}

inline mark(dead)
{
    atomic {
        !is_alive[dead] && IS_UP(dead) ->
            state_of_core[dead] = DEAD;
            successor = SUCCESSOR(dead);
#ifdef RETURNS
            if
            :: returns[dead] = true
            :: returns[dead] = true; successor = dead
            :: returns[dead] = false
            fi;
#endif
            again = true
    }
}

// wb_core_died()
inline died(dead)
{
    do
    :: again ->
        atomic { again = false; p = owner_state; orphan = !OVER(p) && ORPHAN(p) };
        take_over(dead)
    :: else -> break
    od;
    atomic { successor = 0; p = owner_state };
    post(LAUNCHER, OWNER(p));
    p = 0;
#ifdef RETURNS
    if
    :: returns[dead] ->
        state_of_core[dead] = UP;
        atomic { processes[dead] == 0 -> is_alive[dead] = true }
    :: else
    fi
#endif
}

proctype Launcher()
{
    short r, p;
    byte n, o, successor;
    bit c;
    bool orphan, again;

end:
    do
    :: mark(0); died(0)
    :: mark(1); died(1)
    :: mark(2); died(2)
    od;
dead:
    skip
}

// ---- When nothing moves any more ----------------------------------------------------------------

#define IS_WITH(core) \
    (is_alive[core] && has[core] && OWNER(owner_state) == core && STATE(owner_state) <= BLOCKED)

init
{
    atomic {
        is_alive[0] = true; is_alive[1] = true; is_alive[2] = true;
        has[0] = true;
        is_ready[0] = true;
#ifdef RETURNS
        is_alive[LAUNCHER] = true;
        processes[0] = 1; processes[1] = 1; processes[2] = 2;
#endif
        if
        :: restarts = true
        :: restarts = false
        fi;
        run Kernel(0); run Kernel(1); run Kernel(2);
        run Requester(2);
#ifdef RIVAL
        run Requester(LAUNCHER);
#endif
        run Sweeper();
        run Launcher()
    };
    timeout ->
        // Every request has its outcome.
        assert(!is_open && PHASE(request) == NONE);
        // The task is over, or with exactly one kernel that lives.
        assert(OVER(owner_state) || IS_WITH(0) || IS_WITH(1) || IS_WITH(2));
        assert(STATE(owner_state) != LOST || (!restarts && kills > 0))
}
