// SPDX-License-Identifier: Apache-2.0
// Two tasks of one kernel yield to each other, statistics and all, against swapcontext; and what an
// idle checkpoint costs, against the same loop without one.

#define _GNU_SOURCE
#include <stdlib.h>
#include <ucontext.h>

#include "bench.h"
#include "clock.h"

enum { BATCH = 256, CONTEXT_STACK_BYTES = 64 << 10 };

struct shared {
    struct bench_samples *samples, *without;
    uint32_t batches;
    bool over;
};

static int yielder(struct wb_task *self)
{
    struct shared *shared = wb_task_app(self)->state;

    while (!shared->over)
        wb_yield();
    return 0;
}

static int timer(struct wb_task *self)
{
    struct shared *shared = wb_task_app(self)->state;

    for (uint32_t i = 0; i < shared->batches; i++) {
        const uint64_t from_ns = wb_now_ns();
        for (uint32_t j = 0; j < BATCH; j++)
            wb_yield();
        // Each yield is two switches: there and back.
        bench_samples_add(shared->samples, (double)(wb_now_ns() - from_ns) / BATCH / 2);
    }
    shared->over = true;
    return 0;
}

static void our_switches(const struct bench_options *options, struct bench_samples *samples,
                         uint32_t batches)
{
    struct shared shared = { .samples = samples, .batches = batches };
    struct bench_system b;

    bench_open(&b, options, 1, 0);
    bench_task(&b, "timer", timer, 0);
    bench_task(&b, "yielder", yielder, 0);
    bench_run(&b, &shared);
}

static ucontext_t main_context, other_context;
static bool other_over;

static void other(void)
{
    while (!other_over)
        swapcontext(&other_context, &main_context);
}

static void their_switches(const struct bench_options *options, struct bench_samples *samples,
                           uint32_t batches)
{
    void *stack = malloc(CONTEXT_STACK_BYTES);

    bench_pin(options->cpu[0]);
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = stack;
    other_context.uc_stack.ss_size = CONTEXT_STACK_BYTES;
    other_context.uc_link = &main_context;
    makecontext(&other_context, other, 0);
    other_over = false;
    for (uint32_t i = 0; i < batches; i++) {
        const uint64_t from_ns = clock_now_ns();
        for (uint32_t j = 0; j < BATCH; j++)
            swapcontext(&main_context, &other_context);
        bench_samples_add(samples, (double)(clock_now_ns() - from_ns) / BATCH / 2);
    }
    other_over = true;
    swapcontext(&main_context, &other_context);
    bench_unpin();
    free(stack);
}

void bench_switch(const struct bench_options *options)
{
    const uint32_t batches = options->samples / 10;
    struct bench_samples *a = bench_samples_new(options->rounds * batches);
    struct bench_samples *b = bench_samples_new(options->rounds * batches);

    for (uint32_t round = 0; round < options->rounds; round++) {
        our_switches(options, a, batches);
        their_switches(options, b, batches);
    }
    bench_row("switch", a, "swapcontext", b);
}

// ---- Checkpoints --------------------------------------------------------------------------------

static void spend(volatile uint32_t *x)
{
    *x = *x + 1;
}

static int checkpointer(struct wb_task *self)
{
    struct shared *shared = wb_task_app(self)->state;
    volatile uint32_t x = 0;

    for (uint32_t i = 0; i < shared->batches; i++) {
        const uint64_t from_ns = wb_now_ns();
        for (uint32_t j = 0; j < BATCH; j++) {
            spend(&x);
            wb_checkpoint();
        }
        const uint64_t middle_ns = wb_now_ns();
        for (uint32_t j = 0; j < BATCH; j++)
            spend(&x);
        bench_samples_add(shared->samples, (double)(middle_ns - from_ns) / BATCH);
        bench_samples_add(shared->without, (double)(wb_now_ns() - middle_ns) / BATCH);
    }
    return 0;
}

void bench_checkpoint(const struct bench_options *options)
{
    const uint32_t batches = options->samples / 10;
    struct bench_samples *a = bench_samples_new(options->rounds * batches);
    struct bench_samples *b = bench_samples_new(options->rounds * batches);
    struct shared shared = { .samples = a, .without = b, .batches = batches };

    for (uint32_t round = 0; round < options->rounds; round++) {
        struct bench_system system;
        bench_open(&system, options, 1, 0);
        bench_task(&system, "checkpoints", checkpointer, 0);
        bench_run(&system, &shared);
    }
    bench_row("checkpoint.loop", a, "the same loop without it", b);
    bench_images(options);
    bench_fm_checkpoints(options);
}
