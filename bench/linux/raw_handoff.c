// SPDX-License-Identifier: Apache-2.0
// What a move of a task has to do at least: a context leaves its processor and is gone on with at
// another one, which polls, or sleeps at a futex.

#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch.h"
#include "clock.h"
#include "raw.h"

enum { WARM_UP = 50, STACK_BYTES = 64 << 10, OVER = 2 };

void context_switch(void **save, void *load);

// ---- Two lines and two switches -----------------------------------------------------------------

// The one line says whose turn it is and where the context lies, the other one holds its registers.
static struct {
    _Alignas(128) struct wb_word turn;
    void *context;
    struct {
        _Alignas(128) void *context;
    } loop[2];
    _Alignas(128) const struct bench_raw *raw;
} hand;

static __attribute__((noinline)) void wander(void)
{
    const uint32_t moves = hand.raw->trips + WARM_UP;

    for (uint32_t i = 0; i < moves; i++) {
        const uint64_t from_ns = clock_now_ns();
        context_switch(&hand.context, hand.loop[i % 2].context);
        if (i >= WARM_UP)
            bench_samples_add(hand.raw->samples, (double)(clock_now_ns() - from_ns));
    }
    wb_word_store(&hand.turn, OVER, WB_RELEASE);
    context_switch(&hand.context, hand.loop[moves % 2].context);
}

// A context begins as if by a jump: what is aligned so makes the compiler align the stack for
// calls.
static void begin(void)
{
    _Alignas(64) volatile uint64_t aligned = 0;

    (void)aligned;
    wander();
}

static void *take_turns(void *arg)
{
    const uint32_t me = arg != NULL;

    bench_pin_thread(hand.raw->options->cpu[me]);
    for (;;) {
        const uint32_t turn = wb_word_load(&hand.turn, WB_ACQUIRE);
        if (turn == OVER)
            return NULL;
        if (turn != me)
            continue;
        context_switch(&hand.loop[me].context, hand.context);
        if (wb_word_load(&hand.turn, WB_RELAXED) != OVER)
            wb_word_store(&hand.turn, 1 - me, WB_RELEASE);
    }
}

static void both_sides(void *(*side)(void *), void *first, void *second)
{
    pthread_t threads[2];

    if (pthread_create(&threads[0], NULL, side, first) != 0 ||
        pthread_create(&threads[1], NULL, side, second) != 0)
        bench_fail("no thread for the other side");
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

void bench_raw_handoff(const struct bench_raw *raw)
{
    unsigned char *stack = aligned_alloc(STACK_BYTES, STACK_BYTES);

    if (stack == NULL)
        bench_fail("no memory for a stack");
    hand.raw = raw;
    hand.context = arch_context_init(stack + STACK_BYTES, NULL, begin);
    wb_word_init(&hand.turn, 0);
    both_sides(take_turns, NULL, &hand);
    free(stack);
}

// ---- A wake-up ----------------------------------------------------------------------------------

struct side {
    struct wake *wake;
    uint32_t me;
};

struct wake {
    const struct bench_raw *raw;
    uint64_t work_ns, from_ns;
    _Alignas(128) struct wb_swapped futex[2];
};

static void *wake_each_other(void *arg)
{
    const struct side *side = arg;
    struct wake *wake = side->wake;
    const uint32_t moves = wake->raw->trips + WARM_UP;

    bench_pin_thread(wake->raw->options->cpu[side->me]);
    for (uint32_t i = 0; i < moves; i++) {
        struct wb_swapped *futex = &wake->futex[i % 2];
        if (i % 2 == side->me) {
            bench_compute(wake->work_ns);
            wake->from_ns = clock_now_ns();
            wb_word_swap(futex, 1, WB_SEQ_CST);
            syscall(SYS_futex, futex, FUTEX_WAKE, 1, NULL, NULL, 0);
            continue;
        }
        while (wb_word_swap(futex, 0, WB_SEQ_CST) == 0)
            syscall(SYS_futex, futex, FUTEX_WAIT, 0, NULL, NULL, 0);
        if (i >= WARM_UP)
            bench_samples_add(wake->raw->samples, (double)(clock_now_ns() - wake->from_ns));
    }
    return NULL;
}

void bench_raw_wakes(const struct bench_raw *raw, uint64_t work_ns)
{
    struct wake wake = { .raw = raw, .work_ns = work_ns };

    both_sides(wake_each_other, &(struct side){ &wake, 0 }, &(struct side){ &wake, 1 });
}
