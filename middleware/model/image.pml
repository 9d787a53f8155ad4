// SPDX-License-Identifier: Apache-2.0
// Checkpoint images: a task receives, sends on, and is killed between any two steps.
//
// Indices are counts here, as `ring.h` makes them (see arithmetic.c); the task's memory is the
// number of the message that it will process next.
//
//   -DSLOTS=n -DMESSAGES=n -DEVERY=n -DKILLS=n
//   -DMUTATE_...   leaves out one step, which must be found

#ifndef SLOTS
#define SLOTS 3
#endif
#ifndef MESSAGES
#define MESSAGES 5
#endif
#ifndef EVERY
#define EVERY 2
#endif
#ifndef KILLS
#define KILLS 2
#endif

byte slot[SLOTS], copied[SLOTS];  // of the channel into the task, and of that out of it
byte in_tail, in_head;            // committed by the sender; given back by the task
byte out_tail, out_head;
byte out_count;                   // wb_port.messages of the sending port: may lack the last

// The image of each buffer; `whole` is what the checksum says.
byte i_next[2], i_committed[2], i_tail[2], i_count[2], i_resend_skip[2];
bit whole[2];
byte newest;  // 1 + the buffer; 0: none

byte kills;
bit over;

// Each step of the task may be its kernel's last.
#define STEP(what) \
    if \
    :: atomic { kills < KILLS -> kills++; goto dead } \
    :: atomic { what } \
    fi

proctype Sender()
{
    byte n;

    do
    :: atomic { n < MESSAGES && in_tail - in_head < SLOTS ->
        slot[in_tail % SLOTS] = n + 1; in_tail++; n++ }
    :: n == MESSAGES -> break
    od
}

proctype Receiver()
{
    byte expected;

    do
    :: atomic { expected < MESSAGES && out_tail > out_head ->
        assert(copied[out_head % SLOTS] == expected + 1);
        out_head++; expected++ }
    :: expected == MESSAGES -> break
    od;
    over = 1;
    assert(out_tail == MESSAGES)
}

proctype Task()
{
    byte next, committed, resend_skip, spare, i, message, moved, counted;

checkpoint:
    // image.c: capture(), wb_task_captured(). Messages between two checkpoints may be many
    // or none, so an image is due at any time; at the latest after EVERY messages.
    if
    :: newest != 0 && committed - in_head < EVERY -> goto work
    :: true
    fi;
#ifdef MUTATE_ONE_BUFFER
    spare = 0;
#else
    spare = (newest == 1 -> 1 : 0);
#endif
#ifdef MUTATE_GIVES_BACK_FIRST
    STEP(in_head = committed);
#endif
    STEP(whole[spare] = 0; i_next[spare] = next);
    STEP(i_committed[spare] = committed; i_tail[spare] = out_tail);
    STEP(i_count[spare] = out_count; i_resend_skip[spare] = resend_skip; whole[spare] = 1);
    STEP(newest = spare + 1);
    STEP(in_head = committed);
work:
    if
    :: next == MESSAGES -> goto done
    :: else
    fi;
    // hold: a message that was sent and not given back
    in_tail > committed;
    STEP(message = slot[committed % SLOTS]; assert(message == next + 1));
    // claim and commit
    if
    :: resend_skip > 0 -> STEP(resend_skip--)
    :: resend_skip == 0 ->
        out_tail - out_head < SLOTS;
        STEP(copied[out_tail % SLOTS] = message; out_tail++);
        STEP(out_count++)
    fi;
    STEP(committed++; next++; message = 0);
    goto checkpoint;

dead:
    // revive.c: wb_task_revive(), image.c: resume()
    atomic {
        message = 0;
        if
        :: newest == 0 ->
            // No image: it was killed before its first checkpoint did anything. It starts again.
            assert(in_head == 0 && out_tail == 0);
            next = 0; committed = 0; resend_skip = 0; goto checkpoint
        :: else
        fi;
        i = newest - 1;
        assert(whole[i]);
        next = i_next[i];
        committed = i_committed[i];
#ifndef MUTATE_RECEIVER_IS_NOT_PUT_BACK
        in_head = committed;
#endif
        counted = out_count - i_count[i];
        moved = (out_tail - i_tail[i]) % (2 * SLOTS);
#ifndef MUTATE_COUNT_IS_TRUSTED
        if
        :: counted % (2 * SLOTS) != moved -> counted++
        :: else
        fi;
#endif
        resend_skip = counted;
#ifndef MUTATE_RESEND_SKIP_IS_FORGOTTEN
        resend_skip = resend_skip + i_resend_skip[i];
#endif
        out_count = i_count[i] + counted;
        counted = 0; moved = 0; i = 0; spare = 0
    };
    goto work;
done:
    skip
}

init
{
    atomic { run Sender(); run Receiver(); run Task() }
}
