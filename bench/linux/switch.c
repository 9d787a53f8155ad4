// SPDX-License-Identifier: Apache-2.0
// Two tasks of one kernel yield to each other, statistics and all, against swapcontext and against
// what no switch can do without; and what an idle checkpoint costs, against the same loop without
// one.

#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "arch.h"
#include "bench.h"
#include "clock.h"
#include "wb/system.h"

enum { BATCH = 256, CONTEXT_STACK_BYTES = 64 << 10 };

struct shared {
    struct bench_samples *samples, *without;
    uint32_t batches;
    bool alike, over;
};

static __attribute__((noipa)) void yield_often(const struct shared *shared, uint32_t n)
{
    for (; n != 0 && !shared->over; n--)
        wb_yield();
}

static int yielder(struct wb_task *self)
{
    struct shared *shared = wb_task_app(self)->state;

    while (shared->alike && !shared->over)
        yield_often(shared, UINT32_MAX);
    while (!shared->over)
        wb_yield();
    return 0;
}

static int timer(struct wb_task *self)
{
    struct shared *shared = wb_task_app(self)->state;

    for (uint32_t i = 0; i < shared->batches; i++) {
        const uint64_t from_ns = wb_now_ns();
        if (shared->alike)
            yield_often(shared, BATCH);
        for (uint32_t j = 0; !shared->alike && j < BATCH; j++)
            wb_yield();
        // Each yield is two switches: there and back.
        bench_samples_add(shared->samples, (double)(wb_now_ns() - from_ns) / BATCH / 2);
    }
    shared->over = true;
    return 0;
}

// `alike`: both yield in one place of the code, so the processor predicts where each goes on.
// Otherwise the return to the task is mispredicted.
static void our_switches(const struct bench_options *options, struct bench_samples *samples,
                         uint32_t batches, bool alike)
{
    struct shared shared = { .samples = samples, .batches = batches, .alike = alike };
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

// ---- Limits -------------------------------------------------------------------------------------

// Two contexts switch to each other with nothing around: what the ABI wants saved, by the kernels'
// own context_switch(); also the clock read once; also what is counted of a task and of its core.

void context_switch(void **save, void *load);

enum limit { REGISTERS, CLOCK, COUNTED, LIMITS };

static struct side {
    void *sp;
    struct wb_word state;
    struct wb_counter runs, busy_ns;
    uint64_t resumed_ns;
} sides[2];
static struct {
    struct wb_counter switches, busy_ns;
} core;
static volatile uint64_t read_ns;

static inline __attribute__((always_inline)) void count(struct side *from, struct side *to)
{
    const uint64_t now_ns = clock_now_ns(), busy_ns = now_ns - from->resumed_ns;

    wb_counter_add(&from->busy_ns, busy_ns);
    wb_counter_add(&core.busy_ns, busy_ns);
    wb_counter_add(&core.switches, 1);
    wb_word_store(&to->state, WB_TASK_RUNNING, WB_RELAXED);
    wb_counter_add(&to->runs, 1);
    to->resumed_ns = now_ns;
}

static inline __attribute__((always_inline)) void pass(enum limit limit, struct side *from,
                                                       struct side *to)
{
    if (limit == CLOCK)
        read_ns = clock_now_ns();
    else if (limit == COUNTED)
        count(from, to);
    context_switch(&from->sp, to->sp);
    // Release, as a kernel has to: whoever adopts the one that left sees its whole context.
    if (limit == COUNTED)
        wb_word_store(&to->state, WB_TASK_READY, WB_RELEASE);
}

// Both sides switch in one place of the code. A loop for each limit, so that the compiler leaves
// out what it has not.
static __attribute__((noinline)) void pass_registers(struct side *from, struct side *to, uint32_t n)
{
    while (n-- != 0)
        pass(REGISTERS, from, to);
}

static __attribute__((noinline)) void pass_clock(struct side *from, struct side *to, uint32_t n)
{
    while (n-- != 0)
        pass(CLOCK, from, to);
}

static __attribute__((noinline)) void pass_counted(struct side *from, struct side *to, uint32_t n)
{
    while (n-- != 0)
        pass(COUNTED, from, to);
}

static const struct {
    const char *name, *against;
    void (*pass)(struct side *from, struct side *to, uint32_t n);
} limits[LIMITS] = {
    [REGISTERS] = { "switch.registers", "registers alone", pass_registers },
    [CLOCK] = { "switch.clock", "registers and one clock read", pass_clock },
    [COUNTED] = { "switch.counted", "registers, clock, statistics and state", pass_counted },
};
static enum limit limit;

static void pass_back(void)
{
    for (;;)
        limits[limit].pass(&sides[1], &sides[0], UINT32_MAX);
}

static void limit_switches(const struct bench_options *options, struct bench_samples *samples,
                           uint32_t batches)
{
    unsigned char *stack = malloc(CONTEXT_STACK_BYTES);

    bench_pin(options->cpu[0]);
    sides[1].sp = arch_context_init(stack + CONTEXT_STACK_BYTES, NULL, pass_back);
    for (uint32_t i = 0; i < batches; i++) {
        const uint64_t from_ns = clock_now_ns();
        limits[limit].pass(&sides[0], &sides[1], BATCH);
        bench_samples_add(samples, (double)(clock_now_ns() - from_ns) / BATCH / 2);
    }
    bench_unpin();
    free(stack);
}

static struct bench_samples *copy_of(const struct bench_samples *samples)
{
    struct bench_samples *copy = bench_samples_new(samples->n);

    memcpy(copy->ns, samples->ns, samples->n * sizeof *samples->ns);
    copy->n = samples->n;
    return copy;
}

void bench_switch(const struct bench_options *options)
{
    const uint32_t batches = options->samples / 10, room = options->rounds * batches;
    struct bench_samples *ours = bench_samples_new(room), *theirs = bench_samples_new(room);
    struct bench_samples *alike = bench_samples_new(room);
    struct bench_samples *least[LIMITS];

    for (limit = 0; limit < LIMITS; limit++)
        least[limit] = bench_samples_new(room);
    for (uint32_t round = 0; round < options->rounds; round++) {
        our_switches(options, ours, batches, false);
        our_switches(options, alike, batches, true);
        their_switches(options, theirs, batches);
        for (limit = 0; limit < LIMITS; limit++)
            limit_switches(options, least[limit], batches);
    }
    bench_row("switch", ours, "swapcontext", theirs);
    for (limit = 0; limit < LIMITS; limit++)
        bench_row(limits[limit].name, copy_of(alike), limits[limit].against, least[limit]);
    bench_samples_free(alike);
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
