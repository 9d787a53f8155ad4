// SPDX-License-Identifier: Apache-2.0
// What migration.pml is made of: the words, what is checked of them, and the steps of migration.c
// and serve.c. README.md says which line of the code each step stands for.

#ifndef REQUESTS
#define REQUESTS 1
#endif
#ifndef WITHDRAWALS
#define WITHDRAWALS 1
#endif
#ifndef KILLS
#define KILLS 1
#endif

#ifndef MORTALS
#define MORTALS 3
#endif

#define CORES 3
#define LAUNCHER 3

// Task states, request phases, outcomes, core states.
#define READY 0
#define RUNNING 1
#define BLOCKED 2
#define OFFERED 3
#define RETURNED 4
#define ENDED 5
#define LOST 6

#define NONE 0
#define FILLING 1
#define PENDING 2
#define ACCEPTED 3

#define OK 0
#define GONE 1
#define TIMEOUT 2
#define HELD 3

#define UP 0
#define DEAD 1

// The number has two bits here; in the code 16, of which an offer carries four.
#define OWNER_STATE(state, owner) ((state) | (owner) << 4)
#define OFFER(owner, target, number) (OFFERED | (owner) << 4 | (target) << 6 | (number) << 8)
#define STATE(owner_state) ((owner_state) & 15)
#define OWNER(owner_state) ((owner_state) >> 4 & 3)
#define TARGET(owner_state) ((owner_state) >> 6 & 3)
#define OVER(owner_state) (STATE(owner_state) == ENDED || STATE(owner_state) == LOST)
#define REQUEST(phase, core, number) ((phase) | (core) << 4 | (number) << 6)
#define PHASE(request) ((request) & 15)
#define CORE(request) ((request) >> 4 & 3)
#define NUMBER(request) ((request) >> 6 & 3)

// ---- Shared words -------------------------------------------------------------------------------

short owner_state = OWNER_STATE(READY, 0);
short request = REQUEST(NONE, 0, 3);  // the first one is number 0, like that of a fresh offer
bool attached;                        // migration.attached_ns is set
byte state_of_core[CORES + 1];        // what the launcher has said of it
byte inbox[CORES + 1];
#ifdef RETURNS
bool returns[CORES + 1];              // its kernel is started again
byte processes[CORES + 1];                // processes of it that have not seen its death
#endif
#define PENDING_BIT 1  // look at the task
#define RAISED 2       // need_resched without a pending bit

// The kernel's part of the task.
bool blocked, woken, is_in_block;
bool is_ready[CORES + 1];  // in the ready queue of that kernel

// ---- What is checked ----------------------------------------------------------------------------

bool is_alive[CORES + 1];
bool has[CORES + 1];       // that kernel has the task: runs it, or keeps it ready or blocked
bool complete = true;  // its context can be run
bool restarts;         // it may be started again
bool is_open;          // a request has begun, and has no outcome yet
byte kills;

#define OWNERS (has[0] + has[1] + has[2])

// To begin every step that others see: a kernel may be killed before it, and what it had of the
// task is gone then, with its private state. The launcher is not killed.
inline step(here)
{
    if
    :: here == LAUNCHER || is_alive[here]
#if KILLS > 0
    :: here < MORTALS && is_alive[here] && kills < KILLS -> kill(here); goto dead
    :: here != LAUNCHER && !is_alive[here] -> goto dead
#endif
    fi
}

inline kill(core)
{
    kills++;
    is_alive[core] = false;
    has[core] = false;
    is_ready[core] = false;
#ifndef RETURNS
    inbox[core] = 0
#endif
}

// A dead kernel's inbox is read by nobody, or by the kernel that returns.
inline post(here, to)
{
#ifdef RETURNS
    atomic { step(here); inbox[to] = inbox[to] | PENDING_BIT }
#else
    atomic { step(here); inbox[to] = inbox[to] | (is_alive[to] -> PENDING_BIT : 0) }
#endif
}

inline attach(core)
{
    atomic {
        step(core);
        has[core] = true;
        assert(OWNERS == 1);
        assert(complete);
        is_ready[core] = true;
        blocked = false;
        woken = true;
    }
}

// ---- migration.c --------------------------------------------------------------------------------

// wb_migration_finish()
inline finish(here, outcome)
{
    atomic {
        step(here);
        assert(is_open && PHASE(request) != NONE);
        assert(outcome != OK || here == CORE(request));
        request = REQUEST(NONE, 0, NUMBER(request));
        is_open = false
    }
}

// Only the request that it means, and only while that is not over; unless the task waits for
// recovery.
inline return_offer()
{
    atomic {
        assert(!is_alive[o] || (is_open && NUMBER(request) == n && PHASE(request) == ACCEPTED));
        owner_state = OWNER_STATE(RETURNED, o)
    }
}

#ifdef MUTATE_OFFER_HAS_NO_NUMBER
#define IS_THIS_OFFER \
    (STATE(owner_state) == OFFERED && OWNER(owner_state) == o && TARGET(owner_state) == CORE(r))
#else
#define IS_THIS_OFFER (owner_state == OFFER(o, CORE(r), n))
#endif

#define SUCCESSOR(dead) \
    (state_of_core[(dead + 1) % CORES] == UP -> (dead + 1) % CORES : (dead + 2) % CORES)

// A core that returns is its own successor where no other can take the task: that may be so.
#ifdef RETURNS
#define ITSELF(to, dead) :: returns[dead] -> to = dead
#else
#define ITSELF(to, dead)
#endif

// recovery.c: readdress()
inline readdress(here)
{
    atomic { step(here); n = owner_state & 255 };
    do
    :: STATE(n) == RETURNED && state_of_core[OWNER(n)] == DEAD ->
        atomic {
            step(here);
            o = OWNER(n);
            if
            :: true -> o = SUCCESSOR(o)
            ITSELF(o, o)
            fi;
            if
            :: owner_state == n -> owner_state = OWNER_STATE(RETURNED, o); c = 1
            :: else -> c = 0
            fi
        };
        if
        :: c -> post(here, o)
        :: else
        fi;
#ifdef RETURNS
        if
        :: c && o == OWNER(n) -> break
        :: else
        fi;
#endif
        atomic { step(here); n = owner_state & 255 }
    :: else -> break
    od;
    atomic { n = 0; o = 0; c = 0 }
}

// withdraw(): r is the request as it was seen.
inline withdraw(here, why)
{
    n = NUMBER(r);
    if
    :: PHASE(r) == PENDING ->
        atomic {
            step(here);
            if
            :: request == r -> request = REQUEST(FILLING, here, n); r = NONE; c = 1
            :: else -> r = request
            fi
        };
        if
        :: c -> c = 0; finish(here, why)
        :: else
        fi
    :: else
    fi;
    if
    :: PHASE(r) == ACCEPTED && NUMBER(r) == n ->
        atomic { step(here); o = OWNER(owner_state) };
        atomic {
            step(here);
            if
#ifdef MUTATE_WITHDRAWAL_IS_TWO_STEPS
            :: IS_THIS_OFFER -> c = 1
#else
            :: IS_THIS_OFFER -> return_offer(); c = 1
#endif
            :: else
            fi
        };
        if
        :: c ->
#ifdef MUTATE_WITHDRAWAL_IS_TWO_STEPS
            return_offer();
#endif
#ifndef MUTATE_WITHDRAWAL_IS_NOT_NOTED
            post(here, o);
#endif
#ifndef MUTATE_RETURN_TO_A_DEAD_SOURCE
            readdress(here)
#endif
        :: else
        fi
    :: else
    fi;
    atomic { r = 0; o = 0; n = 0; c = 0 }
}

inline cancel(here, why)
{
    atomic { step(here); r = request };
    withdraw(here, why)
}

// wb_task_departed(), after the kernel has left the task's stack
inline departed(here)
{
    atomic {
        step(here);
        r = request;
#ifndef MUTATE_OFFER_BEFORE_THE_STACK_IS_LEFT
        complete = true;
#endif
        owner_state = OFFER(here, CORE(r), NUMBER(r))
    };
#ifdef MUTATE_OFFER_BEFORE_THE_STACK_IS_LEFT
    atomic { step(here); complete = true };
#endif
#ifndef MUTATE_OFFER_DOES_NOT_LOOK_AT_THE_TARGET
    atomic { step(here); c = (state_of_core[CORE(r)] == DEAD) };
#endif
    if
    :: c -> c = 0; cancel(here, GONE)
    :: else -> post(here, CORE(r)); r = 0
    fi
}

// ---- serve.c ------------------------------------------------------------------------------------

inline arrive(here)
{
    atomic {
        step(here);
        if
#ifdef MUTATE_COMMIT_IS_TWO_STEPS
        :: owner_state == p -> c = 1
#else
        :: owner_state == p -> owner_state = OWNER_STATE(READY, here); c = 1
#endif
        :: else
        fi;
        p = 0
    };
    if
    :: c ->
#ifdef MUTATE_COMMIT_IS_TWO_STEPS
        atomic { step(here); owner_state = OWNER_STATE(READY, here) };
#endif
        atomic { step(here); attached = attached || PHASE(request) == ACCEPTED; c = 0 };
        attach(here)
    :: else
    fi
}

// wb_migration_returned()
inline take_back(here)
{
    atomic {
        step(here);
        if
#ifdef MUTATE_RETURN_IS_NOT_COMPARED
        :: true -> owner_state = OWNER_STATE(READY, here); c = 1
#else
        :: owner_state == p -> owner_state = OWNER_STATE(READY, here); c = 1
        :: else
#endif
        fi;
        p = 0
    };
    if
    :: c -> c = 0; finish(here, TIMEOUT); attach(here)
    :: else
    fi
}

// wb_kernel_unblock()
inline unblock(here)
{
    atomic {
        step(here);
        woken = true;
        if
        :: blocked -> blocked = false; is_ready[here] = true
        :: else
        fi;
        p = 0
    }
}

// look(), for the one pending bit
inline look(here)
{
    atomic { step(here); p = owner_state };
    if
    :: STATE(p) == OFFERED && TARGET(p) == here -> arrive(here)
    :: else ->
        if
        :: OVER(p) -> p = 0
        :: !OVER(p) && OWNER(p) == here && STATE(p) == RETURNED -> take_back(here)
        :: !OVER(p) && OWNER(p) == here && STATE(p) == OFFERED -> p = 0
        :: !OVER(p) && OWNER(p) == here && STATE(p) < OFFERED -> unblock(here)
        :: !OVER(p) && OWNER(p) != here ->
#ifndef WITHOUT_FORWARDING
            post(here, OWNER(p));
#endif
            p = 0
        fi
    fi
}

inline serve(here)
{
    atomic { step(here); p = inbox[here] & PENDING_BIT; inbox[here] = 0 };
    if
    :: p -> look(here)
    :: else
    fi
}
