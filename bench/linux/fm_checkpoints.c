// SPDX-License-Identifier: Apache-2.0
// Which part of the FM radio's time its checkpoints take when none is taken (acquaviva2008, figure
// 16 b). The radio is built a second time with each of its checkpoints timed where it stands
// (timed_checkpoint.h); what reading the clock takes is timed beside it and taken off.
//
// Nothing in a task depends on the word that an idle checkpoint loads, so the processor works on
// while it comes: `checkpoint.fm_radio` is timed in this way. `….serial` is an upper bound: fences
// make the processor wait for the word before it goes on.

#include <stdlib.h>

#include "bench.h"

enum { LIMIT_PPM = 10000, ROUNDS = 7 };

// Rows, and the tasks that each sums up.
static const struct part {
    const char *name;
    enum timed_kind kind;
    uint32_t first, last;
} parts[] = {
    { "checkpoint.fm_radio", TIMED_OVERLAPPED, 0, 5 },
    { "checkpoint.fm_radio.serial", TIMED_SERIAL, 0, 5 },
    { "checkpoint.fm_radio.lpf.serial", TIMED_SERIAL, 0, 0 },
    { "checkpoint.fm_radio.demodulator.serial", TIMED_SERIAL, 1, 1 },
    { "checkpoint.fm_radio.bpf.serial", TIMED_SERIAL, 3, 5 },
    { "checkpoint.fm_radio.sum.serial", TIMED_SERIAL, 2, 2 },
};
enum { PARTS = sizeof parts / sizeof parts[0] };

// Of one kind; without the highest hundredth, in which Linux ran something else, or just had.
static double mean(const double *ns, uint32_t n, enum timed_kind kind)
{
    struct bench_samples *samples = bench_samples_new(n);
    double sum = 0;

    for (uint32_t i = kind; i < n; i += TIMED_KINDS)
        bench_samples_add(samples, ns[i]);
    (void)bench_samples_median(samples);
    const uint32_t most = samples->n - samples->n / 100;
    for (uint32_t i = 0; i < most; i++)
        sum += samples->ns[i];
    bench_samples_free(samples);
    return sum / most;
}

static double checkpoints_ns(const struct timed_checkpoints *timed, uint32_t task,
                             enum timed_kind kind)
{
    const uint32_t n = timed->n[task], first = task * TIMED_ROOM;

    if (n < TIMED_KINDS || n > TIMED_ROOM)
        bench_fail("a task of the radio has no checkpoints, or too many");
    const double each_ns =
        mean(timed->with_ns + first, n, kind) - mean(timed->without_ns + first, n, kind);
    return each_ns > 0 ? each_ns * n : 0;
}

// Adds one sample to each part: parts per million of the time of its tasks on one core.
static void measure(const struct bench_options *options, struct bench_samples *ppm[PARTS])
{
    char *plain = bench_path("build/apps/fm_radio.so");
    char *timed = bench_path("build/bench/apps/fm_radio.so");
    struct bench_samples *with = bench_samples_new(TIMED_TASKS * TIMED_ROOM);
    struct bench_samples *without = bench_samples_new(TIMED_TASKS * TIMED_ROOM);
    struct bench_radio usual,
        told = { .timed = { .with_ns = with->ns, .without_ns = without->ns } };

    bench_radio(options, 1, plain, &usual);
    bench_radio(options, 1, timed, &told);
    for (uint32_t part = 0; part < PARTS; part++) {
        double spent = 0, busy = 0;
        for (uint32_t i = parts[part].first; i <= parts[part].last; i++) {
            spent += checkpoints_ns(&told.timed, i, parts[part].kind);
            busy += usual.busy_ns[i];
        }
        bench_samples_add(ppm[part], spent / busy * 1e6);
    }
    bench_samples_free(with);
    bench_samples_free(without);
    free(plain);
    free(timed);
}

void bench_fm_checkpoints(const struct bench_options *options)
{
    const uint32_t rounds = options->rounds < ROUNDS ? options->rounds : ROUNDS;
    struct bench_samples *ppm[PARTS];

    for (uint32_t part = 0; part < PARTS; part++)
        ppm[part] = bench_samples_new(rounds);
    for (uint32_t round = 0; round < rounds; round++)
        measure(options, ppm);
    for (uint32_t part = 0; part < PARTS; part++)
        bench_limit_row(parts[part].name, "ppm", ppm[part], "limit of acquaviva2008", LIMIT_PPM);
}
