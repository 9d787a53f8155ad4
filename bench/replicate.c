// SPDX-License-Identifier: Apache-2.0
// A replicated task moves itself to the other core and back, with contexts of several sizes,
// against one core's plain memcpy of as many bytes. `NAME` is the whole migration, from before the
// call to after it; `NAME.copy` is its copy phase, from parked to copied: the ratio of that row is
// our bandwidth over memcpy's. `NAME.cold` is the whole, but the caches have been emptied before,
// as by an application that works between its moves.

#include <stdio.h>

#include "bench.h"

enum { WARM_UP = 4 };

static const size_t sizes[] = { 4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20 };
enum { SIZES = sizeof sizes / sizeof sizes[0], FIRST_OF_FIT = 1 };

enum { COLD_ROUNDS = 7 };

struct shared {
    struct bench_samples whole, copy;
    size_t bytes;
    bool cold;
};

static int mover(struct wb_task *self)
{
    struct shared *shared = wb_task_app(self)->state;
    const uint32_t moves = bench_size_times(shared->bytes, shared->cold) + WARM_UP;

    bench_carry(self, shared->bytes);
    for (uint32_t i = 0; i < moves; i++) {
        if (shared->cold)
            bench_caches_empty();
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

struct measured {
    struct bench_samples whole, copy, plain;
};

static void ours(const struct bench_options *options, size_t bytes, bool cold,
                 struct measured *measured)
{
    struct bench_system b;

    bench_open_for(&b, options, 2, WB_FOREVER, bytes);
    struct shared *shared = wb_app_alloc(&b.system->app, sizeof *shared);
    *shared = (struct shared){
        .whole = measured->whole, .copy = measured->copy, .bytes = bytes, .cold = cold
    };
    bench_task_with(
        &b, &(struct wb_task_config){
                .name = "mover", .entry = mover, .mode = WB_REPLICATE, .heap_bytes = bytes });
    bench_run(&b, shared);
    measured->whole.n += bench_size_times(bytes, cold);
    measured->copy.n += bench_size_times(bytes, cold);
}

static struct measured measure(const struct bench_options *options, size_t bytes, bool cold)
{
    const uint32_t rounds = cold && options->rounds > COLD_ROUNDS ? COLD_ROUNDS : options->rounds;
    const uint32_t room = rounds * bench_size_times(bytes, cold);
    struct measured m = { bench_samples_new(room), bench_samples_new(room),
                          bench_samples_new(room) };

    for (uint32_t round = 0; round < rounds; round++) {
        ours(options, bytes, cold, &m);
        bench_memcpy(options, bytes, cold, &m.plain);
    }
    return m;
}

// What the whole costs undisturbed, for the fit.
static double warm_rows(const struct bench_options *options, size_t bytes)
{
    struct measured m = measure(options, bytes, false);
    struct bench_samples again = bench_samples_new(m.plain.n);
    const double cost_ns = bench_samples_undisturbed(&m.whole);
    char size[24], name[64];

    for (uint32_t i = 0; i < m.plain.n; i++)
        bench_samples_add(&again, m.plain.ns[i]);
    snprintf(name, sizeof name, "migration.replicate.%s", bench_size_name(bytes, size));
    bench_row(name, &m.whole, "memcpy on one core", &m.plain);
    snprintf(name, sizeof name, "migration.replicate.%s.copy", size);
    bench_row(name, &m.copy, "memcpy on one core", &again);
    return cost_ns;
}

static double cold_row(const struct bench_options *options, size_t bytes)
{
    struct measured m = measure(options, bytes, true);
    const double cost_ns = bench_samples_undisturbed(&m.whole);
    char size[24], name[64];

    bench_samples_free(&m.copy);
    snprintf(name, sizeof name, "migration.replicate.%s.cold", bench_size_name(bytes, size));
    bench_row(name, &m.whole, "memcpy on one core", &m.plain);
    return cost_ns;
}

void bench_replication(const struct bench_options *options)
{
    struct bench_point warm[SIZES], cold[SIZES];

    bench_caches_prepare();
    for (uint32_t i = 0; i < SIZES; i++) {
        warm[i].kib = cold[i].kib = (double)sizes[i] / 1024;
        warm[i].ns = warm_rows(options, sizes[i]);
        cold[i].ns = cold_row(options, sizes[i]);
    }
    bench_fit_row("migration.replicate.fit", warm + FIRST_OF_FIT, SIZES - FIRST_OF_FIT);
    bench_fit_row("migration.replicate.cold.fit", cold + FIRST_OF_FIT, SIZES - FIRST_OF_FIT);
}
