// SPDX-License-Identifier: Apache-2.0
// The end of a task that shares memory, while others free the blocks of its last extent.
//
// The owner has an extent with two blocks in use, and ends: it gives back what is unused, closes
// its list of returned blocks, and counts off what was in it. Two others free one block each, at any
// time. The owner's kernel may be killed before any step of the end (KILLS=1); recovery then does
// all of it again. See close_shared(), release() and free_last() in shared.c, kingsley.c.
//
// Holds: the extent is given back once at most and never while a block of it is in use; without a
// death it is given back.

#ifndef KILLS
#define KILLS 0
#endif
#define BLOCKS 2
#define CLOSED 4  // of `returned`; else a bit per block

byte returned;          // wb_heap.returned
byte used = BLOCKS;     // wb_extent.used
byte in_use = BLOCKS;   // blocks that somebody holds
byte given_back;
bool over, dead, owned = true;  // wb_extent.owner

inline give_back() {
    assert(in_use == 0);
    assert(given_back == 0);
    given_back++;
    owned = false
}

// One step each, as the atomics of the code.
inline count_off(last) {
    d_step { used--; last = (used == 0) }
    if
    :: last -> give_back()
    :: else
    fi
}

// The owner still takes blocks home by itself now and then, before its end.
inline take_home(list) {
    d_step { list = returned; returned = 0 }
    do
    :: list & 1 -> list = list & 2; used--
    :: list & 2 -> list = list & 1; used--
    :: list == 0 -> break
    od
}

// Where the kernel may be killed. Recovery itself is not.
inline step() {
    if
    :: KILLS > 0 && !dead && may_die -> dead = true; goto killed
    :: true
    fi
}

inline close_all() {
    if
    :: returned == CLOSED
    :: else ->
#ifndef MUTATE_CLOSE_LEAVES_THE_UNUSED
        if
        :: owned && used == 0 -> give_back()
        :: else
        fi;
#endif
        step();
#ifdef MUTATE_CLOSE_IS_TWO_STEPS
        list = returned;
        step();
        returned = CLOSED;
#else
        d_step { list = returned; returned = CLOSED };
#endif
        step();
        do
        :: list & 1 -> list = list & 2; count_off(last); step()
        :: list & 2 -> list = list & 1; count_off(last); step()
        :: list == 0 -> break
        od
    fi
}

proctype Freer(byte mine) {
    bool last, was_closed;
    in_use--;
    d_step {
        was_closed = (returned == CLOSED);
        if
        :: !was_closed -> returned = returned | mine
        :: else
        fi
    }
#ifndef MUTATE_NOBODY_COUNTS_AFTER_THE_END
    if
    :: was_closed -> count_off(last)
    :: else
    fi
#endif
}

proctype Owner() {
    byte list;
    bool last, may_die = true;

    if
    :: take_home(list)
    :: true
    fi;
    close_all();
    over = true;
    goto done;
killed:
    may_die = false;
    // Recovery: the same again, with what is in shared memory.
    list = 0;
    run Recovery();
done:
    skip
}

proctype Recovery() {
    byte list;
    bool last, may_die = false;

    close_all();
    over = true;
killed:
    skip
}

init {
    atomic {
        run Owner();
        run Freer(1);
        run Freer(2)
    }
    // Nothing moves any more.
    timeout;
    assert(over);
    assert(dead || given_back == 1)
}
