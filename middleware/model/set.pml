// SPDX-License-Identifier: Apache-2.0
// A task that waits for a set: two semaphores and a port. Beside it one that waits for a permit of
// the first semaphore alone, one or two that give there, and one that gives at the second and one
// that sends.
//
//   -DMORTAL=n       task n may be killed once, at any step; then it starts again or is lost
//   -DGIVERS=n       that give at the first semaphore
//   -DSECOND=1       there is the giver at the second semaphore, and the sender
//   -DROUNDS=n       how often the task waits
//   -DMUTATE_...     leaves out one step, which must be found

#ifndef MORTAL
#define MORTAL NOBODY
#endif
#ifndef GIVERS
#define GIVERS 2
#endif
#ifndef SECOND
#define SECOND 0
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif

#define WAITER 0
#define TAKER 1
#define GIVER 2
#define OTHER_GIVER 3
#define SECOND_GIVER 4
#define SENDER 5
#define NOBODY 6

// wb_sync.waits_for: a wait queue, or wb_system.set.
#define NONE 0
#define FIRST 1
#define LAST 2
#define SET 3

#define ALONE 1      // bits of wb_wait_queue.waited
#define IN_SET 2

byte value[3];       // wb_semaphore.value of each wait queue
byte waited[3];
byte waits_for[2];   // of the waiter and the taker
bit set[3];          // the waiter's wb_sync.set: a bit for each wait queue
byte sent, received; // the channel's tail and head
bit waiting;         // wb_port.waiting
bit woken[2];        // blocking is a permit of the kernel: wait.pml has what is below it

bit is_dead;         // the mortal one is, and recovery has not seen to it yet
bit killed;
bit done[2];

// To begin every step that others see.
inline step()
{
    if
    :: true
    :: me == MORTAL && !killed -> killed = 1; is_dead = 1; goto dead
    fi
}

// ---- wait_queue.c -------------------------------------------------------------------------------------

// wb_wait_queue_open(): the fence is in the order of the steps.
inline open(queue)
{
    atomic { step(); got = waited[queue] };
    if
    :: got != 0 ->
        atomic { step(); got = waited[queue]; waited[queue] = 0 };
        // wake_sets()
        if
        :: (got & IN_SET) != 0 ->
            atomic { step(); seen = (waits_for[WAITER] == SET) };
            if
            :: seen ->
                atomic { step(); seen = set[queue] };
                if
                :: seen -> atomic { step(); woken[WAITER] = 1 }
                :: else
                fi;
                seen = 0
            :: else
            fi
        :: else
        fi;
#ifdef MUTATE_WHO_LOOKS_IS_CHOSEN
        if
        :: (got & IN_SET) != 0 -> got = 0
        :: else
        fi;
#endif
        if
        :: (got & ALONE) != 0 ->
            atomic { step(); seen = (waits_for[TAKER] == queue) };
            if
            :: seen ->
                atomic { step(); waited[queue] = waited[queue] | ALONE };
                atomic {
                    step();
                    seen = (waits_for[TAKER] == queue);
                    waits_for[TAKER] = (seen -> NONE : waits_for[TAKER])
                };
                if
                :: seen -> atomic { step(); woken[TAKER] = 1; seen = 0 }
                :: else
                fi
            :: else
            fi
        :: else
        fi;
        got = 0
    :: else
    fi
}

inline give(queue)
{
    atomic { step(); value[queue]++ };
    open(queue)
}

// ---- wait.c -------------------------------------------------------------------------------------

// look(): one element after the other.
inline look()
{
    atomic { step(); got = (value[FIRST] != 0) };
    if
    :: got == 0 -> atomic { step(); got = (value[LAST] != 0) }
    :: else
    fi;
    if
    :: got == 0 -> atomic { step(); got = (sent != received) }
    :: else
    fi
}

inline begin()
{
    atomic { step(); waiting = 1 };
#ifdef MUTATE_SET_AFTER_THE_WORD
    atomic { step(); waits_for[WAITER] = SET };
    atomic { step(); waited[FIRST] = waited[FIRST] | IN_SET };
    atomic { step(); waited[LAST] = waited[LAST] | IN_SET };
    atomic { step(); set[FIRST] = 1; set[LAST] = 1 }
#else
    atomic { step(); set[FIRST] = 1; set[LAST] = 1 };
#ifdef MUTATE_WAITED_BEFORE_THE_SET
    atomic { step(); waited[FIRST] = waited[FIRST] | IN_SET };
    atomic { step(); waited[LAST] = waited[LAST] | IN_SET };
    atomic { step(); waits_for[WAITER] = SET }
#else
    atomic { step(); waits_for[WAITER] = SET };
    atomic { step(); waited[FIRST] = waited[FIRST] | IN_SET };
    atomic { step(); waited[LAST] = waited[LAST] | IN_SET }
#endif
#endif
}

// ---- The tasks ----------------------------------------------------------------------------------

proctype Waiter(byte me)
{
    byte got, rounds = ROUNDS;

    do
    :: rounds == 0 -> break
    :: else ->
        look();
        if
        :: got != 0
        :: else ->
            begin();
#ifndef MUTATE_NO_SECOND_LOOK_AT_THE_SET
            look();
#endif
            if
            :: got != 0
            :: else ->
end:            atomic { woken[WAITER] -> woken[WAITER] = 0; step() }
            fi;
            atomic { step(); waiting = 0 };
            // The set is of this wait: at the next one it is written anew.
            atomic { step(); waits_for[WAITER] = NONE; set[FIRST] = 0; set[LAST] = 0 }
        fi;
        if
        :: got != 0 ->
            // It takes one of what is there, or leaves all of it to others and waits no more.
            atomic {
                step();
                if
                :: value[FIRST] != 0 -> value[FIRST]--; rounds--
                :: value[LAST] != 0 -> value[LAST]--; rounds--
                :: sent != received -> received++; rounds--
                :: rounds = 0
                fi;
                got = 0
            }
        :: else
        fi
    od;
    goto finished;
dead:
    atomic { got = 0; rounds = 0 };
    goto gone;
finished:
    done[WAITER] = 1;
gone:
    skip
}

// wb_semaphore_take() at the first wait queue.
proctype Taker(byte me)
{
    byte got, seen;

    do
    :: atomic {
           step();
           if
           :: value[FIRST] != 0 -> value[FIRST]--; got = 1
           :: else
           fi
       };
       if
       :: got != 0 -> break
       :: else ->
            atomic { step(); waits_for[TAKER] = FIRST };
#ifdef MUTATE_ALONE_WIPES_OUT_THE_SET
            atomic { step(); waited[FIRST] = ALONE };
#else
            atomic { step(); waited[FIRST] = waited[FIRST] | ALONE };
#endif
            atomic {
                step();
                if
                :: value[FIRST] != 0 -> value[FIRST]--; got = 1
                :: else
                fi
            };
            if
            :: got != 0
            :: else ->
end:            atomic { woken[TAKER] -> woken[TAKER] = 0; step() }
            fi;
            atomic { step(); waits_for[TAKER] = NONE };
            if
            :: got != 0 -> break
            :: else
            fi
       fi
    od;
    got = 0;
    // pass_on()
    atomic { step(); got = value[FIRST] };
    if
    :: got != 0 -> got = 0; open(FIRST)
    :: else
    fi;
    goto finished;
dead:
    atomic { got = 0; seen = 0 };
    goto gone;
finished:
    done[TAKER] = 1;
gone:
    skip
}

proctype Giver(byte me)
{
    byte got, seen;

    if
    :: me == SECOND_GIVER -> give(LAST)
    :: else -> give(FIRST)
    fi;
dead:
    atomic { got = 0; seen = 0 }
}

// channel_commit() and wb_port_notify()
proctype Sender(byte me)
{
    byte got;

    atomic { step(); sent++ };
    atomic { step(); got = waiting };
    if
    :: got != 0 ->
        atomic { step(); got = waiting; waiting = 0 };
        if
        :: got != 0 -> atomic { step(); woken[WAITER] = 1 }
        :: else
        fi
    :: else
    fi;
dead:
    got = 0
}

// wb_core_died(): everybody looks again after what the dead task said of itself is taken back.
proctype Recovery()
{
end:
    is_dead ->
    if
    :: MORTAL <= TAKER -> waits_for[MORTAL] = NONE
    :: else
    fi;
#ifndef MUTATE_RECOVERY_WAKES_NOBODY
    woken[WAITER] = 1;
    woken[TAKER] = 1;
#endif
    if
    :: MORTAL == WAITER -> run Waiter(WAITER)
    :: MORTAL == TAKER -> run Taker(TAKER)
    :: MORTAL <= TAKER -> done[MORTAL] = 1
    :: else
    fi;
    is_dead = 0
}

init
{
    atomic {
        run Recovery();
        run Waiter(WAITER);
        run Taker(TAKER);
        run Giver(GIVER);
#if GIVERS > 1
        run Giver(OTHER_GIVER);
#endif
#if SECOND
        run Giver(SECOND_GIVER);
        run Sender(SENDER)
#endif
    };
    timeout ->
        // Nobody waits for what is there.
        assert(value[FIRST] == 0 || (done[WAITER] && done[TAKER]));
        assert(done[WAITER] || (value[LAST] == 0 && sent == received))
}
