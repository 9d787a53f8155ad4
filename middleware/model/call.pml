// SPDX-License-Identifier: Apache-2.0
// Calls: a caller and a service, each killed between any two steps and started again.
//
// The mailbox and the channel back are rings whose ends are single steps (mailbox.pml, wait.pml);
// indices are counts, as `ring.h` makes them. What a caller calls for in one session is a new set
// of numbers.
//
//   -DCALLS=n -DMESSAGES=n     outstanding at most; of a session that is not cut off
//   -DCALLER_KILLS=n -DSERVICE_KILLS=n
//   -DMUTATE_...               leaves out one step, which must be found

#ifndef CALLS
#define CALLS 2
#endif
#ifndef MESSAGES
#define MESSAGES 3
#endif
#ifndef CALLER_KILLS
#define CALLER_KILLS 1
#endif
#ifndef SERVICE_KILLS
#define SERVICE_KILLS 1
#endif

#ifdef MUTATE_NO_SPARE_SLOT
#define SLOTS CALLS
#else
#define SLOTS (CALLS + 1)
#endif
#define SESSIONS (CALLER_KILLS + 1)

// The head of each request. `state`: sent, begun, or answered with the index that the channel back
// had before.
mtype = { sent, begun, answered };
byte r_session[CALLS], r_number[CALLS], r_index[CALLS];
mtype r_state[CALLS];
byte r_tail, r_head;  // committed by the caller; released by the service

byte a_session[SLOTS], a_number[SLOTS];
bit a_gone[SLOTS];
byte a_tail, a_head;  // committed by the service; released by the caller

byte session;  // of the caller's port

byte caller_kills, service_kills;
byte served[SESSIONS * MESSAGES];  // how often the service did what a call asks for
#define EFFECT(s, n) served[(s - 1) * MESSAGES + n - 1]

#define CALLER_STEP(what) \
    if \
    :: atomic { caller_kills < CALLER_KILLS -> caller_kills++; goto dead } \
    :: atomic { what } \
    fi

#define SERVICE_STEP(what) \
    if \
    :: atomic { service_kills < SERVICE_KILLS -> service_kills++; goto dead } \
    :: atomic { what } \
    fi

proctype Caller()
{
    byte made, ended, s, n;
    bit gone;

dead:
    atomic { made = 0; ended = 0; s = 0; n = 0; gone = 0 };
    // caller.c: begin_session()
#ifndef MUTATE_SESSION_AFTER_THE_LOOK
    CALLER_STEP(session++);
#endif
    do
    :: a_tail > a_head ->
#ifdef MUTATE_ANSWERS_STAY
        break
#else
        CALLER_STEP(a_head++)
#endif
    :: a_tail == a_head -> break
    od;
#ifdef MUTATE_SESSION_AFTER_THE_LOOK
    CALLER_STEP(session++);
#endif
    do
    // wb_call_commit(): who sees the new end of the mailbox sees the request.
    :: made < MESSAGES && made - ended < CALLS && r_tail - r_head < CALLS ->
        CALLER_STEP(
            r_session[r_tail % CALLS] = session; r_number[r_tail % CALLS] = made + 1;
            r_state[r_tail % CALLS] = sent; r_index[r_tail % CALLS] = 0;
            r_tail++; made++)
    // await(), receive()
    :: made > ended && a_tail > a_head ->
        CALLER_STEP(s = a_session[a_head % SLOTS]; n = a_number[a_head % SLOTS];
            gone = a_gone[a_head % SLOTS]);
        if
#ifdef MUTATE_ANSWERS_OF_ANY_SESSION
        :: n > ended ->
#else
        :: s == session && n > ended ->
#endif
            // Its own answer, in the order of the calls; and the service has done it, or died.
            assert(s == session && n == ended + 1);
            assert(gone || EFFECT(s, n) == 1);
            assert(!gone || service_kills > 0);
            CALLER_STEP(a_head++; ended++; s = 0; n = 0; gone = 0)
        :: else -> CALLER_STEP(a_head++; s = 0; n = 0; gone = 0)
        fi
    // Also while it waits.
    :: atomic { caller_kills < CALLER_KILLS -> caller_kills++; goto dead }
    :: ended == MESSAGES -> break
    od
}

// service.c: send(), with what the state had before.
#define ANSWER(is_gone) \
    SERVICE_STEP(a_session[a_tail % SLOTS] = r_session[at]; a_number[a_tail % SLOTS] = r_number[at]; \
        a_gone[a_tail % SLOTS] = is_gone); \
    SERVICE_STEP(r_state[at] = answered; r_index[at] = a_tail); \
    SERVICE_STEP(a_tail++)

#ifdef MUTATE_SESSION_IS_NOT_COMPARED
#define IS_AWAITED true
#else
#define IS_AWAITED (session == r_session[at])
#endif

#ifdef MUTATE_INDEX_IS_NOT_NOTED
#define IS_UNANSWERED true
#else
#define IS_UNANSWERED (r_state[at] == begun || r_index[at] == a_tail)
#endif

proctype Service()
{
    byte at;

dead:
    at = 0;
end:
    do
    :: r_tail > r_head ->
        at = r_head % CALLS;
#ifdef MUTATE_RELEASED_BEFORE_IT_IS_ANSWERED
        // The slot stays as it is in this model until the caller has it again.
        r_head++;
#endif
        if
        // begin()
        :: r_state[at] == sent && IS_AWAITED ->
            assert(a_tail - a_head < SLOTS);
#ifndef MUTATE_BEGUN_IS_NOT_NOTED
            SERVICE_STEP(r_state[at] = begun);
#endif
            SERVICE_STEP(EFFECT(r_session[at], r_number[at])++;
                assert(EFFECT(r_session[at], r_number[at]) == 1));
            ANSWER(0)
        // give_up()
        :: r_state[at] != sent && IS_UNANSWERED && IS_AWAITED ->
            assert(a_tail - a_head < SLOTS);
            ANSWER(1)
        :: else -> skip
        fi;
#ifndef MUTATE_RELEASED_BEFORE_IT_IS_ANSWERED
        SERVICE_STEP(r_head++);
#endif
        at = 0
    od
}

init
{
    atomic { run Caller(); run Service() }
}
