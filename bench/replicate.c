// SPDX-License-Identifier: Apache-2.0
// A replicated task moves itself to the other core and back, with contexts of several sizes,
// against one core's plain memcpy of as many bytes. `NAME` is the whole migration, from before the
// call to after it; `NAME.copy` is its copy phase, from parked to copied: the ratio of that row is
// our bandwidth over memcpy's.

#include <stdio.h>

#include "bench.h"

enum { WARM_UP = 4 };

static const size_t sizes[] = { 4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20 };
enum { SIZES = sizeof sizes / sizeof sizes[0], FIRST_OF_FIT = 1 };

struct shared {
    struct bench_samples whole, copy;
    size_t bytes;
};

static int mover(struct wb_task *self)
{
    struct shared *shared = wb_task_app(self)->state;
    const uint32_t moves = bench_size_times(shared->bytes) + WARM_UP;

    bench_carry(self, shared->bytes);
    for (uint32_t i = 0; i < moves; i++) {
        const uint64_t from_ns = wb_now_ns();
        if (wb_migrate(self, 1 - wb_task_core(self), WB_FOREVER) != WB_OK)
            return 1;
        const uint64_t to_ns = wb_now_ns();
        const struct wb_migration *m = &self->settled;
        if (m->bytes < shared->bytes)
            wb_task_fail(self, "less was copied than it carries");
        if (i < WARM_UP)
            continue;
        bench_samples_add(&shared->whole, (double)(to_ns - from_ns));
        bench_samples_add(&shared->copy, (double)(m->copied_ns - m->parked_ns));
    }
    bench_carry_check(self);
    return 0;
}

static void ours(const struct bench_options *options, size_t bytes, struct bench_samples *whole,
                 struct bench_samples *copy)
{
    struct bench_system b;

    bench_open_for(&b, options, 2, WB_FOREVER, bytes);
    struct shared *shared = wb_app_alloc(&b.system->app, sizeof *shared);
    *shared = (struct shared){ .whole = *whole, .copy = *copy, .bytes = bytes };
    bench_task_with(
        &b, &(struct wb_task_config){
                .name = "mover", .entry = mover, .mode = WB_REPLICATE, .heap_bytes = bytes });
    bench_run(&b, shared);
    whole->n += bench_size_times(bytes);
    copy->n += bench_size_times(bytes);
}

// What the whole costs undisturbed, for the fit.
static double measure(const struct bench_options *options, size_t bytes)
{
    const uint32_t room = options->rounds * bench_size_times(bytes);
    struct bench_samples whole = bench_samples_new(room), copy = bench_samples_new(room);
    struct bench_samples plain = bench_samples_new(room), again = bench_samples_new(room);
    char size[24], name[64];

    for (uint32_t round = 0; round < options->rounds; round++) {
        ours(options, bytes, &whole, &copy);
        bench_memcpy(options, bytes, &plain);
    }
    for (uint32_t i = 0; i < plain.n; i++)
        bench_samples_add(&again, plain.ns[i]);
    const double cost_ns = bench_samples_undisturbed(&whole);
    snprintf(name, sizeof name, "migration.replicate.%s", bench_size_name(bytes, size));
    bench_row(name, &whole, "memcpy on one core", &plain);
    snprintf(name, sizeof name, "migration.replicate.%s.copy", size);
    bench_row(name, &copy, "memcpy on one core", &again);
    return cost_ns;
}

void bench_replication(const struct bench_options *options)
{
    struct bench_point points[SIZES];

    for (uint32_t i = 0; i < SIZES; i++)
        points[i] = (struct bench_point){ .kib = (double)sizes[i] / 1024,
                                          .ns = measure(options, sizes[i]) };
    bench_fit_row("migration.replicate.fit", points + FIRST_OF_FIT, SIZES - FIRST_OF_FIT);
}
