// SPDX-License-Identifier: Apache-2.0
// A mailbox with two senders and a receiver. Sender 0 may be killed at any step, and then starts
// again or is lost: recovery makes its claim void, and the receiver passes over it.
//
// Positions run through SLOTS * LAPS and start near the end, so they wrap.
//
//   -DMESSAGES=n     of sender 0
//   -DOTHERS=n       of sender 1; not more than that
//   -DKILLS=n        how often sender 0 may be killed
//   -DMUTATE_...     leaves out one step, which must be found

#ifndef MESSAGES
#define MESSAGES 2
#endif
#ifndef OTHERS
#define OTHERS 1
#endif
#ifndef KILLS
#define KILLS 1
#endif

#define TO_SEND(sender) (sender == 0 -> MESSAGES : OTHERS)

#define SLOTS 2
#define LAPS 4
#define POSITIONS (SLOTS * LAPS)
#define START (POSITIONS - SLOTS)

#define FREE 0
#define BUSY 1
#define FULL 2
#define VOID 3

#define TICKET(state, sender, lap) ((state) | (sender) << 2 | (lap) << 3)
#define STATE(word) ((word) & 3)
#define OWNER(word) ((word) >> 2 & 1)
#define LAP(word) ((word) >> 3)
#define NEXT(position) (((position) + 1) % POSITIONS)

byte ticket[SLOTS];
byte slot[SLOTS];    // 1 + sender * MESSAGES + number of the message
byte tail = START;
byte head = START;
bit waiting[3];      // senders 0 and 1, the receiver: 2
bit woken[3];
bit closed[2];
bit senders_open = 1;
#define RECEIVER 2

// ---- What is checked ----------------------------------------------------------------------------

byte sent[2];        // messages that each sender has committed
byte received[2];
bool is_dead;        // sender 0 is, and recovery has not seen to it yet
byte kills;
bool is_lost;        // it is not started again
bool receiver_is_done;

// To begin every step of sender 0 that others see: it may be killed before it.
inline step()
{
    if
    :: true
    :: me == 0 && kills < KILLS -> kills++; is_dead = true; goto dead
    fi
}

// wb_port_notify(): the fence is in the order of the steps.
inline notify(peer)
{
    atomic {
        step();
        if
        :: waiting[peer] -> waiting[peer] = 0; woken[peer] = 1
        :: else
        fi
    }
}

inline advance_tail(position)
{
    atomic {
        step();
        if
#ifdef MUTATE_TAIL_IS_NOT_COMPARED
        :: true -> tail = NEXT(position)
#else
        :: tail == position -> tail = NEXT(position)
        :: else
#endif
        fi
    }
}

// One attempt of claim(): `got`, or full
inline claim()
{
    got = false;
    do
    :: atomic { step(); at = tail };
        atomic { step(); word = ticket[at % SLOTS] };
        if
        :: word == TICKET(FREE, 0, at / SLOTS) ->
            atomic {
                step();
                if
#ifdef MUTATE_CLAIM_IS_TWO_STEPS
                :: true -> ticket[at % SLOTS] = TICKET(BUSY, me, at / SLOTS); got = true
#else
                :: ticket[at % SLOTS] == word ->
                    ticket[at % SLOTS] = TICKET(BUSY, me, at / SLOTS);
                    got = true
                :: else
#endif
                fi
            };
            if
            :: got -> advance_tail(at); break
            :: else
            fi
        :: word != TICKET(FREE, 0, at / SLOTS) && LAP(word) == at / SLOTS ->
            advance_tail(at)
        :: LAP(word) != at / SLOTS ->
            atomic { step(); if :: at == tail -> break :: else fi }
        fi
    od;
    word = 0
}

// The blocking form: see wait.pml for what is below it.
inline wait_for_slot()
{
    do
    :: claim();
        if
        :: got -> break
        :: else ->
            atomic { step(); waiting[me] = 1 };
            claim();
            if
            :: got -> waiting[me] = 0; break
            :: else -> atomic { woken[me] -> step(); woken[me] = 0 }; waiting[me] = 0
            fi
        fi
    od;
    got = false
}

// commit()
inline commit()
{
    atomic {
        step();
        assert(ticket[at % SLOTS] == TICKET(BUSY, me, at / SLOTS));
        ticket[at % SLOTS] = TICKET(FULL, me, at / SLOTS);
        sent[me]++
    };
    at = 0;
    notify(RECEIVER)
}

// shut() of port.c
inline close()
{
    atomic { step(); closed[me] = 1 };
    atomic {
        step();
        if
        :: closed[0] && closed[1] -> senders_open = 0
        :: else
        fi
    };
    notify(RECEIVER)
}

// recover() for an output port, by the launcher
inline recover()
{
    i = 0;
    do
    :: i < SLOTS ->
        atomic {
#ifndef MUTATE_RECOVERY_LEAVES_THE_CLAIM
            if
            :: STATE(ticket[i]) == BUSY && OWNER(ticket[i]) == 0 -> ticket[i] = ticket[i] | VOID
            :: else
            fi;
#endif
            i++
        }
    :: else -> break
    od;
    i = 0;
    // wb_core_died(): everybody looks again.
    woken[1] = 1;
#ifndef MUTATE_RECOVERY_DOES_NOT_WAKE
    woken[RECEIVER] = 1;
#endif
    woken[0] = 1;
    is_dead = false
}

inline send_all()
{
    do
    :: sent[me] < TO_SEND(me) ->
        wait_for_slot();
        atomic { step(); slot[at % SLOTS] = 1 + me * MESSAGES + sent[me] };
        commit()
    :: else -> break
    od
}

proctype Sender(byte me)
{
    byte at, word, i;
    bool got;

    send_all();
    close();
    goto end;
dead:
    atomic { at = 0; word = 0; got = false };
    recover();
    if
    :: send_all()
    :: is_lost = true
    fi;
    close();
end:
    skip
}

// set_free()
inline set_free(position)
{
    ticket[position % SLOTS] = TICKET(FREE, 0, (position / SLOTS + 1) % LAPS);
    head = NEXT(position)
}

// pass_over_void()
inline pass_over_void()
{
    do
    :: committed != claimed && STATE(ticket[committed % SLOTS]) == VOID ->
#ifndef MUTATE_RECEIVER_DOES_NOT_HELP_THE_TAIL
        advance_tail(committed);
#endif
        set_free(committed);
        committed = NEXT(committed)
    :: else -> break
    od
}

// One attempt of hold(): `got`, empty, or over
inline hold()
{
    got = false;
    over = false;
    do
    :: over = !senders_open;
        word = ticket[claimed % SLOTS];
        if
        :: LAP(word) != claimed / SLOTS || STATE(word) < FULL -> break
        :: LAP(word) == claimed / SLOTS && STATE(word) == FULL ->
            claimed = NEXT(claimed); got = true; over = false; break
#ifndef MUTATE_RECEIVER_STOPS_AT_VOID
        :: LAP(word) == claimed / SLOTS && STATE(word) == VOID ->
            claimed = NEXT(claimed); pass_over_void(); notify(0); notify(1)
#else
        :: LAP(word) == claimed / SLOTS && STATE(word) == VOID -> break
#endif
        fi
    od;
    word = 0
}

// release(), after the message was read
inline release()
{
    word = slot[committed % SLOTS] - 1;
    atomic {
        assert(STATE(ticket[committed % SLOTS]) == FULL);
        assert(OWNER(ticket[committed % SLOTS]) == word / MESSAGES);
        // In order, once each, and nothing that was not sent.
        assert(word % MESSAGES == received[word / MESSAGES]);
        received[word / MESSAGES]++;
        assert(received[word / MESSAGES] <= sent[word / MESSAGES]);
        word = 0
    };
    set_free(committed);
    committed = NEXT(committed);
    pass_over_void();
#ifndef MUTATE_RELEASE_DOES_NOT_NOTIFY
    notify(0);
    notify(1)
#endif
}

proctype Receiver(byte me)
{
    byte claimed = START, committed = START, word;
    bool got, over;

    do
    :: hold();
        if
        :: got -> release()
        :: !got && over -> break
        :: !got && !over ->
            waiting[me] = 1;
#ifndef MUTATE_RECEIVER_DOES_NOT_LOOK_AGAIN
            hold();
#endif
            if
            :: got -> waiting[me] = 0; release()
            :: !got && over -> break
            :: !got && !over -> woken[me]; woken[me] = 0; waiting[me] = 0
            fi
        fi
    od;
    receiver_is_done = true;
dead:
    skip
}

init
{
    atomic {
        ticket[0] = TICKET(FREE, 0, LAPS - 1);
        ticket[1] = TICKET(FREE, 0, LAPS - 1);
        run Sender(0); run Sender(1); run Receiver(RECEIVER)
    };
    timeout ->
        // Nobody waits for ever, and what was sent has arrived.
        assert(receiver_is_done && closed[0] && closed[1]);
        assert(received[0] == sent[0] && received[1] == OTHERS);
        assert(sent[0] == MESSAGES || is_lost)
}
