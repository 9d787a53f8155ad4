// SPDX-License-Identifier: Apache-2.0
// A replicated task moves itself to the other core and back, with contexts of several sizes,
// against one core's plain memcpy of as many bytes. `NAME` is the total migration, from before the
// call to after it; `NAME.copy` is its copy phase, from parked to copied: the ratio of that row is
// our bandwidth over memcpy's. `….buffer`: through the transfer buffer instead of the alias.
// `….cold`: the caches have been emptied before, as by an application that works between its moves.

#include <stdio.h>

#include "bench.h"

enum { WARM_UP = 4 };

static const size_t sizes[] = { 4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20 };
enum { SIZES = sizeof sizes / sizeof sizes[0], FIRST_OF_FIT = 1 };

// How a context travels, and from where.
static const struct form {
    const char *suffix;
    enum wb_transport transport;
    bool cold;
} forms[] = {
    { "", WB_TRANSPORT_ALIAS, false },
    { ".cold", WB_TRANSPORT_ALIAS, true },
    { ".buffer", WB_TRANSPORT_BUFFER, false },
    { ".buffer.cold", WB_TRANSPORT_BUFFER, true },
};
enum { FORMS = sizeof forms / sizeof forms[0], COLD_ROUNDS = 7 };

struct measured {
    struct bench_samples *total, *copy, *plain;
    size_t bytes;
    bool cold;
};

static int mover(struct wb_task *self)
{
    const struct measured *m = wb_task_app(self)->state;
    const uint32_t moves = bench_size_times(m->bytes, m->cold) + WARM_UP;

    bench_carry(self, m->bytes);
    for (uint32_t i = 0; i < moves; i++) {
        if (m->cold)
            bench_caches_empty();
        const uint64_t from_ns = wb_now_ns();
        if (wb_migrate(self, 1 - wb_task_core(self), WB_FOREVER) != WB_OK)
            return 1;
        const uint64_t to_ns = wb_now_ns();
        const struct wb_migration *done = &self->settled;
        if (done->bytes < m->bytes)
            wb_task_fail(self, "less was copied than it carries");
        if (i < WARM_UP)
            continue;
        bench_samples_add(m->total, (double)(to_ns - from_ns));
        bench_samples_add(m->copy, (double)(done->copied_ns - done->parked_ns));
    }
    bench_carry_check(self);
    return 0;
}

static void ours(const struct bench_options *options, enum wb_transport transport,
                 struct measured *m)
{
    struct bench_system b;

    bench_open_for(&b, options, 2, WB_FOREVER, m->bytes);
    b.system->config.transport = transport;
    bench_task_with(
        &b, &(struct wb_task_config){
                .name = "mover", .entry = mover, .mode = WB_REPLICATE, .heap_bytes = m->bytes });
    bench_run(&b, m);
}

static void measure(const struct bench_options *options, size_t bytes, const struct form *form,
                    struct measured *m)
{
    const uint32_t rounds =
        form->cold && options->rounds > COLD_ROUNDS ? COLD_ROUNDS : options->rounds;
    const uint32_t room = rounds * bench_size_times(bytes, form->cold);

    *m = (struct measured){ bench_samples_new(room), bench_samples_new(room),
                            bench_samples_new(room), bytes, form->cold };
    for (uint32_t round = 0; round < rounds; round++) {
        ours(options, form->transport, m);
        bench_memcpy(options, bytes, form->cold, m->plain);
    }
}

// Prints two rows. Returns what the total costs undisturbed, for the fit.
static double rows(size_t bytes, const struct form *form, struct measured *m)
{
    struct bench_samples *again = bench_samples_new(m->plain->n);
    const double cost_ns = bench_samples_undisturbed(m->total);
    char size[24], name[64];

    for (uint32_t i = 0; i < m->plain->n; i++)
        bench_samples_add(again, m->plain->ns[i]);
    bench_size_name(bytes, size);
    snprintf(name, sizeof name, "migration.replicate.%s%s", size, form->suffix);
    bench_row(name, m->total, "memcpy on one core", m->plain);
    snprintf(name, sizeof name, "migration.replicate.%s%s.copy", size, form->suffix);
    bench_row(name, m->copy, "memcpy on one core", again);
    return cost_ns;
}

void bench_replication(const struct bench_options *options)
{
    struct bench_point points[FORMS][SIZES];
    struct measured measured;
    char name[64];

    bench_caches_prepare();
    for (uint32_t i = 0; i < SIZES; i++)
        for (uint32_t f = 0; f < FORMS; f++) {
            measure(options, sizes[i], &forms[f], &measured);
            points[f][i].kib = (double)sizes[i] / 1024;
            points[f][i].ns = rows(sizes[i], &forms[f], &measured);
        }
    for (uint32_t f = 0; f < FORMS; f++) {
        snprintf(name, sizeof name, "migration.replicate%s.fit", forms[f].suffix);
        bench_fit_row(name, points[f] + FIRST_OF_FIT, SIZES - FIRST_OF_FIT);
    }
}
