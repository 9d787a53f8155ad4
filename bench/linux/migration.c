// SPDX-License-Identifier: Apache-2.0
// A task moves itself to the other core and back, against a thread that does so by
// sched_setaffinity. Both are timed from before the call to after it, on the other core. And what
// no such move can beat: two cache lines and two switches of registers, or a wake-up at a futex.
//
// And a task that waits for a message is moved by another one, its waits being checkpoints: from
// the request until it runs on its target, as the record of the migration has it.

#include <stdio.h>

#include "clock.h"
#include "raw.h"

enum {
    WARM_UP = 50,
    WORK_NS = 50000,  // long enough for the other core to fall asleep, between two moves
};

struct plan {
    struct bench_samples *samples;
    uint32_t moves;
    uint64_t work_ns;
};

static int mover(struct wb_task *self)
{
    const struct plan *plan = wb_task_app(self)->state;

    for (uint32_t i = 0; i < plan->moves + WARM_UP; i++) {
        bench_compute(plan->work_ns);
        const uint64_t from_ns = wb_now_ns();
        if (wb_migrate(self, 1 - wb_task_core(self), WB_FOREVER) != WB_OK)
            return 1;
        if (i >= WARM_UP)
            bench_samples_add(plan->samples, (double)(wb_now_ns() - from_ns));
    }
    return 0;
}

// ---- A task that waits --------------------------------------------------------------------------

static int waiter(struct wb_task *self)
{
    uint32_t end;

    return wb_port_receive(wb_port_find_any(self, "in", 0), &end, WB_FOREVER) == WB_OK ? 0 : 1;
}

static int asker(struct wb_task *self)
{
    const struct plan *plan = wb_task_app(self)->state;
    struct wb_task *task = wb_task_find(wb_task_app(self), "waiter", 0);
    const uint32_t end = 1;

    for (uint32_t i = 0; i < plan->moves + WARM_UP; i++) {
        bench_compute(plan->work_ns);
        if (wb_migrate(task, 1 - wb_task_core(task), WB_FOREVER) != WB_OK)
            return 1;
        const uint64_t took_ns = task->settled.running_ns - task->settled.request_ns;
        if (i >= WARM_UP)
            bench_samples_add(plan->samples, (double)took_ns);
    }
    return wb_port_send(wb_port_find_any(self, "out", 0), &end, WB_FOREVER) == WB_OK ? 0 : 1;
}

static void ours_that_waits(const struct bench_options *options, struct plan *plan,
                            uint64_t spin_ns)
{
    struct bench_system b;

    bench_open(&b, options, 2, spin_ns);
    struct wb_task *from = bench_task(&b, "asker", asker, 1);
    struct wb_task *to = bench_task_with(
        &b, &(struct wb_task_config){
                .name = "waiter", .entry = waiter, .heap_bytes = 4096, .moves_at_waits = true });
    bench_channel(&b, "c", 1, sizeof(uint32_t), from, 0, to, 0);
    bench_run(&b, plan);
}

// ---- One that computes, and a thread ------------------------------------------------------------

static void ours(const struct bench_options *options, struct plan *plan, uint64_t spin_ns)
{
    struct bench_system b;

    bench_open(&b, options, 2, spin_ns);
    bench_task(&b, "mover", mover, 0);
    bench_run(&b, plan);
}

static void theirs(const struct bench_options *options, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->moves + WARM_UP; i++) {
        bench_compute(plan->work_ns);
        const uint64_t from_ns = clock_now_ns();
        bench_pin(options->cpu[i % 2]);
        if (i >= WARM_UP)
            bench_samples_add(plan->samples, (double)(clock_now_ns() - from_ns));
    }
    bench_unpin();
}

// A row of its own, for its percentiles: `beside` is the median of ours.
static void limit_row(const char *name, struct bench_samples *limit, double beside)
{
    struct bench_samples *ours = bench_samples_new(1);
    char row[64];

    snprintf(row, sizeof row, "%s.limit", name);
    bench_samples_add(ours, beside);
    bench_row(row, limit, name, ours);
}

struct comparison {
    const char *name;
    void (*ours)(const struct bench_options *options, struct plan *plan, uint64_t spin_ns);
    uint64_t spin_ns, work_ns;
    bool has_limit;
};

static void compare(const struct bench_options *options, const struct comparison *c)
{
    const uint32_t moves = c->work_ns != 0 ? options->samples / 10 : options->samples;
    const uint32_t room = options->rounds * moves;
    struct plan mine = { bench_samples_new(room), moves, c->work_ns };
    struct plan their = { bench_samples_new(room), moves, c->work_ns };
    const struct bench_raw raw = { .options = options,
                                   .samples = bench_samples_new(room),
                                   .trips = moves };

    for (uint32_t round = 0; round < options->rounds; round++) {
        c->ours(options, &mine, c->spin_ns);
        theirs(options, &their);
        if (c->has_limit && c->spin_ns != 0)
            bench_raw_handoff(&raw);
        else if (c->has_limit)
            bench_raw_wakes(&raw, c->work_ns);
    }
    if (c->has_limit)
        limit_row(c->name, raw.samples, bench_samples_median(mine.samples));
    bench_row(c->name, mine.samples, "sched_setaffinity", their.samples);
}

void bench_migration(const struct bench_options *options)
{
    static const struct comparison
        idle[] = { { "migration.handoff.spin", ours, WB_FOREVER, 0, true },
                   { "migration.handoff.sleep", ours, 0, WORK_NS, true },
                   { "migration.waits.spin", ours_that_waits, WB_FOREVER, 0, false },
                   { "migration.waits.sleep", ours_that_waits, 0, WORK_NS, false } },
        loaded[] = { { "migration.handoff.spin.loaded", ours, WB_FOREVER, 0, false },
                     { "migration.handoff.sleep.loaded", ours, 0, WORK_NS, false } };
    const struct bench_options fewer = bench_options_loaded(options);
    struct bench_load load;

    if (!options->two_cores)
        bench_fail("migration needs two processors");
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
        compare(options, &idle[i]);
    bench_load_start(&load, options);
    for (size_t i = 0; i < sizeof loaded / sizeof loaded[0]; i++)
        compare(&fewer, &loaded[i]);
    bench_load_end(&load);
    bench_replication(options);
    bench_recreation(options);
}
