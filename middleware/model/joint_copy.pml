// SPDX-License-Identifier: Apache-2.0
// A copy by two cores: a target asks its source to help, and any core that finds itself asked may
// come late, in a later copy. The target and one that helps are killed between any two steps, and
// started again or not. See kernels/linux/joint_copy.c.
//
// Each copy has its own source; its target is one of two addresses in turn. `writable` is the copy
// whose memory may be written: from its beginning until the target goes on, or has started again.
//
//   -DCOPIES=n -DCHUNKS=n -DHELPERS=1/2 -DKILLS=n
//   -DNUMBERS=n    of copies, before they wrap; 1: a copy has no number
//   -DMUTATE_...   leaves out one step, which must be found

#ifndef COPIES
#define COPIES 2
#endif
#ifndef CHUNKS
#define CHUNKS 2
#endif
#ifndef HELPERS
#define HELPERS 2
#endif
#ifndef KILLS
#define KILLS 2
#endif
#ifndef NUMBERS
#define NUMBERS 4
#endif

// The target is core 1: it copies from the front with core 2, and from the end with core 0.
#define TARGET 1
#define CORES 3

mtype = { NONE, WANTED, HELPED, DONE };

// linux_copy.state: one word, so what is loaded or compared of it is so at once.
mtype phase = NONE;
byte helper, number;
#define SET_STATE(to_phase, to_helper, to_number) \
    phase = to_phase; helper = to_helper; number = to_number

byte front, back;             // linux_copy.taken: one word
byte c_to, c_from, c_chunks;  // linux_copy.to, from, bytes
bool asked[CORES];            // linux_core.asked
bool dead[CORES];             // is_dead()

byte memory[2 * CHUNKS];  // of the target: which source's bytes a chunk has
byte writable;
byte kills;

// Each step of a kernel may be its last. `true`: an `else` of the step is not one of this choice.
#define STEP(what) STEP_ONCE(true, what)
#define STEP_ONCE(condition, what) \
    if \
    :: atomic { kills < KILLS -> kills++; goto killed } \
    :: atomic { condition -> what } \
    fi

// Only what a copy contains may be written, and only while it lasts.
#define WRITE(at) \
    assert(writable != 0 && c_from == writable && to == writable % 2); \
    memory[to * CHUNKS + at] = c_from

inline copy_chunks(from_front)
{
    do
    :: STEP(
        if
        :: front + back >= chunks -> at = CHUNKS
        :: else -> at = (from_front -> front : chunks - 1 - back)
        fi;
        if
        :: from_front -> front++
        :: else -> back++
        fi);
        if
        :: at == CHUNKS -> break
        :: else
        fi;
        STEP(WRITE(at); at = 0)
    od;
    at = 0
}

#ifdef MUTATE_DEATH_IS_NOT_LOOKED_AT
#define IS_DEAD false
#else
#define IS_DEAD (dead[seen_helper])
#endif

// A turn that finds nothing new changes nothing, so this one waits for what ends it.
inline await_helper()
{
    do
    :: STEP(seen = phase; seen_helper = helper);
        if
        :: seen != HELPED ->
#ifdef MUTATE_WHO_HAS_LET_GO_HAS_COPIED
            is_done = true;
#else
            is_done = (seen == DONE);
#endif
            break
        :: else
        fi;
        STEP_ONCE(IS_DEAD || phase != HELPED, skip);
        STEP(is_done = false; seen = (IS_DEAD -> NONE : HELPED));
        if
        :: seen == NONE -> break
        :: else
        fi
    od;
    seen = NONE; seen_helper = 0
}

// What a killed helper copied is unfinished.
#ifdef MUTATE_START_SAYS_DONE
#define LEFT SET_STATE(DONE, 0, seen_number)
#else
#define LEFT SET_STATE(NONE, 0, seen_number)
#endif
#ifdef MUTATE_START_LETS_GO_UNCOMPARED
#define LET_GO LEFT
#else
#define LET_GO \
    if \
    :: phase == HELPED && helper == me && number == seen_number -> LEFT \
    :: else \
    fi
#endif

// What wb_kernel_copy() promises, when it returns.
#define CHECK_COPY \
    do \
    :: at < chunks -> assert(memory[to * CHUNKS + at] == copy); at++ \
    :: else -> break \
    od; \
    at = 0; writable = 0

proctype Target()
{
    byte copy, to, chunks, at, source, seen_helper;
    mtype seen = NONE;
    bool has, is_done;

next:
    // copy_jointly()
    if
    :: copy == COPIES -> goto over
    :: else -> atomic {
        copy++;
        to = copy % 2;
        chunks = (copy == 1 -> CHUNKS : CHUNKS - 1);
        writable = copy;
        if
        :: source = 2
        :: HELPERS == 2 -> source = 0
        fi }
    fi;
#ifdef MUTATE_WANTED_BEFORE_THE_COPY
    STEP(SET_STATE(WANTED, 0, (number + 1) % NUMBERS));
#endif
    STEP(c_to = to);
    STEP(c_from = copy; c_chunks = chunks);
#ifndef MUTATE_TAKEN_IS_NOT_RESET
    STEP(front = 0; back = 0);
#endif
#ifndef MUTATE_WANTED_BEFORE_THE_COPY
    STEP(SET_STATE(WANTED, 0, (number + 1) % NUMBERS));
#endif
    STEP(asked[source] = true);
    copy_chunks(source == 2);
#ifdef MUTATE_END_IS_NOT_COMPARED
    STEP(has = (phase == WANTED));
#else
    STEP(
        has = (phase == WANTED);
        if
        :: has -> SET_STATE(NONE, 0, number)
        :: else
        fi);
#endif
    if
    :: has -> goto return_from_copy
    :: else
    fi;
#ifdef MUTATE_TARGET_DOES_NOT_AWAIT
    is_done = true;
#else
    await_helper();
#endif
#ifndef MUTATE_KILLED_HELPER_IS_TRUSTED
    if
    :: !is_done ->
        STEP(
            do
            :: at < chunks -> WRITE(at); at++
            :: else -> break
            od;
            at = 0)
    :: else
    fi;
#endif
return_from_copy:  // where nobody helped, the state is NONE already
    STEP(SET_STATE(NONE, 0, number); has = false; is_done = false; CHECK_COPY);
    goto next;

killed:
    atomic {
        dead[TARGET] = true;
        to = 0; chunks = 0; at = 0; source = 0; seen = NONE; seen_helper = 0; is_done = false
    };
    if
    :: goto over
    :: true
    fi;
    // joint_copy_start()
    dead[TARGET] = false;
#ifdef MUTATE_START_IS_NOT_COMPARED
    has = false;
#else
    STEP(
        has = (phase == WANTED);
        if
        :: has -> SET_STATE(NONE, 0, number)
        :: else
        fi);
#endif
#ifndef MUTATE_START_DOES_NOT_AWAIT
    if
    :: !has -> await_helper()
    :: else
    fi;
#endif
    STEP(SET_STATE(NONE, 0, number); has = false; is_done = false; writable = 0);
    goto next;
over:
    skip
}

proctype Helper(byte me)
{
    byte to, chunks, at, seen_number;
    bool has;

end:
    do
    // joint_copy_help()
    :: asked[me] ->
        STEP(asked[me] = false);
#ifdef MUTATE_COPY_IS_READ_BEFORE_ITS_STATE
        STEP(to = c_to; chunks = c_chunks);
#endif
        STEP(has = (phase == WANTED); seen_number = number);
        if
        :: !has -> goto end_help
        :: else
        fi;
#ifdef MUTATE_HELP_IS_NOT_COMPARED
        STEP(SET_STATE(HELPED, me, seen_number));
#else
        STEP(
            if
            :: phase == WANTED && number == seen_number -> SET_STATE(HELPED, me, seen_number)
            :: else -> has = false
            fi);
        if
        :: !has -> goto end_help
        :: else
        fi;
#endif
#ifdef MUTATE_HELP_IS_SEEN_BEFORE_THE_START  // as without the release of that compare-and-swap
        STEP(dead[me] = false);
#endif
#ifndef MUTATE_COPY_IS_READ_BEFORE_ITS_STATE
        STEP(to = c_to; chunks = c_chunks);
#endif
#ifdef MUTATE_DONE_BEFORE_THE_COPY
        STEP(SET_STATE(DONE, 0, seen_number));
        copy_chunks(me < TARGET);
#else
        copy_chunks(me < TARGET);
#ifndef MUTATE_HELPER_DOES_NOT_LET_GO
        STEP(SET_STATE(DONE, 0, seen_number));
#endif
#endif
end_help:
        atomic { to = 0; chunks = 0; seen_number = 0; has = false }
    od;

killed:
    atomic { dead[me] = true; to = 0; chunks = 0; at = 0; seen_number = 0; has = false };
    if
    :: goto over
    :: true
    fi;
#ifndef MUTATE_HELP_IS_SEEN_BEFORE_THE_START
    dead[me] = false;
#endif
    // joint_copy_start()
#ifndef MUTATE_START_DOES_NOT_LET_GO
    STEP(has = (phase == HELPED && helper == me); seen_number = number);
    if
    :: has -> STEP(LET_GO)
    :: else
    fi;
    atomic { seen_number = 0; has = false };
#endif
    goto end;
over:
    skip
}

init
{
    atomic {
        run Target();
        run Helper(2);
        if
        :: HELPERS == 2 -> run Helper(0)
        :: else
        fi
    }
}
