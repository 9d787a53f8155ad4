// SPDX-License-Identifier: Apache-2.0
// A copy by two cores. The target of a migration copies from the private memory of its source,
// whose core has nothing else to do for the most part: it has just let the task go. If it polls, it
// helps: the lower core from the front and the other from the end, until they meet. So a task that
// moves to and fro has most of its memory copied by the same core each time, in whose cache both
// copies stay; what must travel are the lines that the task has written elsewhere.
//
// The target asks within its copy, and does not return from it before its helper has let go. So the
// words of the migration need not know of it: nobody runs on the memory that a helper writes.

#define _GNU_SOURCE
#include "arch.h"
#include "private.h"

enum { CHUNK_BYTES = 16 << 10, LEAST_BYTES = 4 * CHUNK_BYTES, MOST_CHUNKS = 0xf000 };

// A copy's state, with the number of the copy, and of the core that helps.
enum phase { NONE, WANTED, HELPED, DONE };

static uint32_t state_of(enum phase phase, uint32_t helper, uint32_t number)
{
    _Static_assert(WB_CORES_MAX < 1 << 12, "a core fits 12 bits");
    return (uint32_t)phase | helper << 2 | number << 14;
}

static enum phase phase_of(uint32_t state)
{
    return state & 3;
}

static bool is_dead(struct wb_core *core)
{
    return robust_is_dead(core) || wb_word_load(&core->state, WB_ACQUIRE) == WB_CORE_DEAD;
}

static size_t chunks_of(size_t bytes)
{
    return (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
}

static void copy_chunks(struct linux_copy *copy, unsigned char *to, bool from_front)
{
    const uint32_t chunks = (uint32_t)chunks_of(copy->bytes);

    for (;;) {
        // Relaxed: each chunk is taken by one; what is copied is published by the state.
        const uint32_t taken = wb_word_add(&copy->taken, from_front ? 1 : 1 << 16, WB_RELAXED);
        const uint32_t front = taken & 0xffff, back = taken >> 16;
        if (front + back >= chunks)
            return;
        const size_t at = (size_t)(from_front ? front : chunks - 1 - back) * CHUNK_BYTES;
        const size_t left = copy->bytes - at;
        sanitizer_copy(to + at, copy->from + at, left < CHUNK_BYTES ? left : CHUNK_BYTES);
    }
}

// True: it has copied what it took. False: it was killed, and nobody knows what it has copied.
static bool await_helper(struct linux_copy *copy, uint32_t number)
{
    enum { TURNS = 1 << 12, SLEEP_NS = 100000 };
    struct wb_core *const *cores = kernel_system()->cores;

    for (uint32_t turn = 1;; turn++) {
        // Acquire: what the helper has copied is visible.
        const uint32_t state = wb_word_load(&copy->state, WB_ACQUIRE);
        if (phase_of(state) != HELPED)
            return state == state_of(DONE, 0, number);
        if (is_dead(cores[state >> 2 & WB_CORES_MAX]))
            return false;
        arch_relax();
        // Linux may have given its processor to another program, or have but one for both.
        if (turn % TURNS == 0)
            futex(&copy->state, FUTEX_WAIT, state, SLEEP_NS);
    }
}

static void copy_jointly(struct wb_core *core, struct wb_core *source, unsigned char *to,
                         const unsigned char *from, size_t bytes)
{
    struct linux_copy *copy = &linux_core(core)->copy;
    const uint32_t number = ((wb_word_load(&copy->state, WB_RELAXED) >> 14) + 1) & 0x3ffff;
    uint32_t state = state_of(WANTED, 0, number);

    copy->to = to;
    copy->from = from;
    copy->bytes = bytes;
    (void)wb_word_swap(&copy->taken, 0, WB_RELAXED);
    // Release publishes the copy to who takes it up.
    wb_word_store(&copy->state, state, WB_RELEASE);
    (void)wb_word_swap(&linux_core(source)->asked, core->index + 1, WB_RELEASE);
    copy_chunks(copy, to, core->index < source->index);
    // Relaxed where nobody has come: all was copied here.
    if (wb_word_compare_swap(&copy->state, &state, state_of(NONE, 0, number), WB_RELAXED,
                             WB_RELAXED))
        return;
    if (!await_helper(copy, number))
        sanitizer_copy(to, from, bytes);
    wb_word_store(&copy->state, state_of(NONE, 0, number), WB_RELAXED);
}

void joint_copy_help(struct wb_core *core)
{
    struct wb_swapped *asked = &linux_core(core)->asked;

    if (wb_word_load(asked, WB_RELAXED) == 0)
        return;
    const uint32_t target = wb_word_swap(asked, 0, WB_ACQUIRE) - 1;
    struct linux_copy *copy = &linux_core(core->system->cores[target])->copy;
    uint32_t state = wb_word_load(&copy->state, WB_RELAXED);
    const uint32_t number = state >> 14;
    // Acquire: the copy is the one that this state is of. Release: who sees that this core helps
    // sees that it lives, though its kernel may have been started again a moment ago.
    if (phase_of(state) != WANTED ||
        !wb_word_compare_swap(&copy->state, &state, state_of(HELPED, core->index, number),
                              WB_ACQ_REL, WB_RELAXED))
        return;
    copy_chunks(copy, private_mapping_alias(target, copy->to), core->index < target);
    // Release: with what was copied.
    wb_word_store(&copy->state, state_of(DONE, 0, number), WB_RELEASE);
}

void joint_copy_start(struct wb_core *core)
{
    const struct wb_system *system = core->system;
    struct linux_copy *copy = &linux_core(core)->copy;
    const uint32_t number = wb_word_load(&copy->state, WB_RELAXED) >> 14;
    uint32_t state = state_of(WANTED, 0, number);

    // What this core's killed kernel helped with is unfinished: its target copies it again. Release
    // orders that after what the killed one wrote.
    for (uint32_t i = 0; i < system->n_cores; i++) {
        struct linux_copy *of = &linux_core(system->cores[i])->copy;
        uint32_t helped = wb_word_load(&of->state, WB_RELAXED);
        if (system->cores[i]->program == 0 && phase_of(helped) == HELPED &&
            (helped >> 2 & WB_CORES_MAX) == core->index)
            (void)wb_word_compare_swap(&of->state, &helped, state_of(NONE, 0, helped >> 14),
                                       WB_RELEASE, WB_RELAXED);
    }
    // Who helps with what the killed kernel copied writes here until it is done.
    if (!wb_word_compare_swap(&copy->state, &state, state_of(NONE, 0, number), WB_RELAXED,
                              WB_RELAXED))
        (void)await_helper(copy, number);
    wb_word_store(&copy->state, state_of(NONE, 0, number), WB_RELAXED);
}

// ---- The contract -------------------------------------------------------------------------------

void wb_kernel_copy(void *to, const void *from, size_t bytes)
{
    const uint32_t self = wb_kernel_core(), source = private_mapping_core(from);
    struct wb_core *const *cores = kernel_system()->cores;

    if (bytes < LEAST_BYTES || chunks_of(bytes) > MOST_CHUNKS || self == WB_CORE_NONE ||
        source == WB_CORE_NONE || source == self || !private_mapping_contains(to)) {
        sanitizer_copy(to, from, bytes);
        return;
    }
    sanitizer_clean(to, bytes);
    copy_jointly(cores[self], cores[source], to, from, bytes);
}
