// SPDX-License-Identifier: Apache-2.0
// A receiver that waits by its notify policy, and two senders (notify_policy.c, adaptive).
//
// Times are two: the next look is soon enough for the bound, and comes by itself, or it never comes
// and the receiver is to be rung. What it expects is anything, so it chooses freely. A batch of
// which the deadline is waited for is the same: then the look is soon.
//
//   -DMESSAGES=n      of each sender
//   -DMUTATE_...      leaves out one step, which must be found

#ifndef MESSAGES
#define MESSAGES 2
#endif
#define SENDERS 2
#define ALL (SENDERS * MESSAGES)
#define TURNS 8

byte tail, head;           // messages sent, and received
bit waiting;               // wb_port.waiting: WB_WAITS_FOR_NOTIFY
byte turn;                 // wb_notify_policy.turn
bit soon;                  // wb_notify_policy.look_ns
byte came[SENDERS] = 0;    // wb_port.came_turn
bit permit;                // the kernel's: a wake that came before the block
bit finished[SENDERS + 1];

proctype Sender(byte me)
{
    byte n, number;
    bit was, late;

    do
    :: n < MESSAGES ->
#ifdef MUTATE_THE_NOTICE_BEFORE_THE_MESSAGE
        was = waiting;
        tail++;
#else
        tail++;
        was = waiting;
#endif
        if
        :: was ->
            // rings()
            number = turn;
#ifdef MUTATE_WHAT_IS_NOTED_IS_NOT_JUDGED
            if
            :: came[me] != number -> late = !soon
            :: else
            fi;
            came[me] = number;
#else
#ifndef MUTATE_NO_SENDER_RINGS
            late = !soon;
#endif
#endif
            if
            :: late ->
                atomic { was = waiting; waiting = 0 };
                if
                :: was -> permit = 1
                :: else
                fi
            :: else
            fi;
            late = 0; number = 0
        :: else
        fi;
        was = 0;
        n++
    :: else -> break
    od;
    n = 0;
    finished[me] = 1
}

// begin(), and one attempt.
inline begin(next)
{
    soon = next;
    turn = (turn + 1) % TURNS;
    waiting = 1;
#ifdef MUTATE_NO_ATTEMPT_AFTER_IT_WAITS
    found = 0
#else
    found = tail > head
#endif
}

// wait_adaptive()
inline wait()
{
    if
    :: begin(1)
    :: begin(0)
    fi;
    do
    :: found -> break
    :: else ->
        // Blocks: until it is rung, or has to look.
        if
        :: permit -> permit = 0
        :: soon -> skip
        fi;
        found = tail > head;
        if
#ifndef MUTATE_RUNG_FOR_NOTHING_IT_WAITS_ON
        :: !found && !waiting -> begin(soon)
#endif
        :: !found && waiting && soon -> begin(0)
        :: else
        fi
    od;
    waiting = 0
}

proctype Receiver()
{
    bit found;

    do
    :: head < ALL ->
        if
        :: tail > head
        :: else -> wait()
        fi;
        head++
    :: else -> break
    od;
    found = 0;
    finished[SENDERS] = 1
}

init
{
    atomic {
        run Sender(0);
        run Sender(1);
        run Receiver()
    };
    timeout ->
        assert(finished[0] && finished[1] && finished[SENDERS] && head == ALL)
}
