// SPDX-License-Identifier: Apache-2.0
// Tasks that take places in the index of waiters and give them back, and a giver that looks for
// those at one wait queue. Task 0 may be killed at any step; recovery, which may be cut short and
// done again, gives back what it had, and it starts again.
//
// Blocks of one place, two and four. A task may go past a block whenever it likes, so nothing
// rests on how long it looks for a free place there.
//
//   -DTASKS=n        2, or 3 with a stranger, at a wait queue of its own
//   -DROUNDS=n       how often each waits
//   -DKILLS=n        how often task 0, or who recovers it, may be killed
//   -DMUTATE_...     leaves out one step, which must be found

#ifndef TASKS
#define TASKS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef KILLS
#define KILLS 1
#endif

#define BITS 2       // of the number of a place
#define HERE 0       // the hash of the wait queue that the giver looks at
#define ELSEWHERE 1  // in the same block of two

byte places[4];      // wb_waiters.places
byte count[8];       // wb_waiters.passed, of blocks numbered like a heap
byte hash[TASKS];    // of struct entry; as the next two
byte passed[TASKS];
byte place[TASKS];
bit waits[TASKS];    // waits_for is the wait queue that the giver looks at

#define COUNT(i, n) count[(4 + hash[i]) >> (n)]

// ---- What is checked ----------------------------------------------------------------------------

bool is_dead;        // task 0's kernel is, and recovery has not seen to it yet
byte kills;
byte wanted = TASKS; // has waited here since the giver began to look

// To begin every step of task 0 that others see: it may be killed before it.
inline step()
{
    if
    :: true
    :: me == 0 && kills < KILLS -> kills++; is_dead = true; goto dead
    fi
}

// ---- waiters.c ----------------------------------------------------------------------------------

inline compare_swap(i)
{
    if
#ifdef MUTATE_PLACE_IS_NOT_COMPARED
    :: true -> places[i] = me + 1; got = true
#else
    :: places[i] == 0 -> places[i] = me + 1; got = true
    :: else
#endif
    fi
}

// What a task notes nobody sees before it is killed, so others than task 0 do two steps in one.
inline take(i)
{
    if
    :: atomic { me != 0 && places[i] == 0 -> place[me] = i; compare_swap(i) }
#ifdef MUTATE_PLACE_IS_NOTED_LATE
    :: atomic { me == 0 && places[i] == 0 -> step(); compare_swap(i) };
       atomic { step(); place[0] = i }
#else
    :: atomic { me == 0 && places[i] == 0 -> step(); place[0] = i };
       atomic { step(); compare_swap(i) }
#endif
    :: places[i] != 0
    fi
}

inline count_off(i, n)
{
#ifndef MUTATE_NOBODY_IS_COUNTED
    assert(COUNT(i, n) > 0);
    COUNT(i, n)--
#else
    skip
#endif
}

inline go_past()
{
    if
    :: atomic { me != 0 -> COUNT(me, passed[me])++; passed[me]++ }
#ifdef MUTATE_COUNT_IS_NOTED_EARLY
    :: atomic { me == 0 -> step(); passed[0]++ };
       atomic { step(); COUNT(0, passed[0] - 1)++ }
#else
    :: atomic {
           me == 0 -> step();
#ifndef MUTATE_NOBODY_IS_COUNTED
           COUNT(0, passed[0])++
#endif
       };
       atomic { step(); passed[0]++ }
#endif
    fi
}

// It tries one place of each block, whichever it is, and any of the largest.
inline enter()
{
    got = false;
    do
    :: got -> break
    :: !got && passed[me] == 0 -> take(hash[me])
    :: !got && passed[me] > 0 -> take(0)
    :: !got && passed[me] > 0 -> take(1)
    :: !got && passed[me] == BITS -> take(2)
    :: !got && passed[me] == BITS -> take(3)
    :: !got && passed[me] < BITS && places[hash[me]] != 0 -> go_past()
    od;
    got = false
}

// Of a task, by itself or by recovery.
inline leave(i)
{
    atomic {
        step();
        if
#ifdef MUTATE_GIVING_BACK_IS_NOT_COMPARED
        :: true -> places[place[i]] = 0
#else
        :: places[place[i]] == i + 1 -> places[place[i]] = 0
        :: else
#endif
        fi
    };
    do
    :: atomic { i != 0 && passed[i] > 0 -> passed[i]--; count_off(i, passed[i]) }
#ifdef MUTATE_COUNT_IS_NOTED_LATE
    :: atomic { i == 0 && passed[i] > 0 -> step(); count_off(i, passed[i] - 1) };
       atomic { step(); passed[i]-- }
#else
    :: atomic { i == 0 && passed[i] > 0 -> step(); passed[i]-- };
       atomic { step(); count_off(i, passed[i]) }
#endif
    :: passed[i] == 0 -> break
    od
}

// ---- The tasks ----------------------------------------------------------------------------------

inline forget(i)
{
    if
    :: wanted == i -> wanted = TASKS
    :: else
    fi
}

inline say()
{
    atomic { step(); waits[me] = (hash[me] == HERE) }
}

inline unsay()
{
    atomic { step(); waits[me] = 0; forget(me) }
}

// wait_queue.c: block(). Whether it is chosen or times out makes no difference here.
proctype Task(byte me)
{
    byte round;
    bool got;

    do
    :: round < ROUNDS ->
        atomic {
            step();
            if
            :: me < 2 -> hash[me] = HERE
            :: me != 1 -> hash[me] = ELSEWHERE
            fi
        };
#ifdef MUTATE_SAYS_SO_FIRST
        say();
        enter();
#else
        enter();
        say();
#endif
#ifdef MUTATE_LEAVES_FIRST
        leave(me);
        unsay();
#else
        unsay();
        leave(me);
#endif
        round++
    :: else -> break
    od;
    goto finished;
dead:
    // Its registers are gone.
    atomic { round = 0; got = false };
finished:
    skip
}

// wait_queue.c: recover(). Who does it is as mortal: another does it again.
proctype Recovery()
{
    byte me = 0;

end:
    do
    :: is_dead ->
again:
        atomic { waits[0] = 0; forget(0) };
#ifndef MUTATE_RECOVERY_GIVES_NOTHING_BACK
        leave(0);
#endif
        atomic {
            is_dead = false;
            if
            :: run Task(0)
            :: true  // lost
            fi
        }
    od;
dead:
    goto again
}

// most_urgent(), at any time at which there is somebody to be found. It changes nothing here.
proctype Giver()
{
    byte n, i, last, me;

end:
    atomic {
        if
        :: waits[0] -> me = 0
        :: waits[1] -> me = 1
        fi;
        wanted = me
    };
    do
    :: wanted != me -> goto over
    :: else ->
        if
#ifndef MUTATE_LOOKS_AT_ONE_BLOCK
        :: n < BITS && count[(4 + HERE) >> n] > 0 -> n++
#endif
        :: else -> break
        fi
    od;
    last = (1 << n) - 1;
    do
    :: wanted != me || places[i] == me + 1 -> goto over
    :: else -> assert(i < last); i++
    od;
over:
    atomic { n = 0; i = 0; last = 0 }
}

init
{
    atomic {
        byte i = 0;
        run Recovery();
        run Giver();
        do
        :: i < TASKS -> run Task(i); i++
        :: else -> break
        od
    };
    timeout ->
        // All have given back what they had, but for counts of who was killed.
        assert(places[0] == 0 && places[1] == 0 && places[2] == 0 && places[3] == 0);
        assert(kills > 0 || (count[2] == 0 && count[4] == 0 && count[5] == 0))
}
