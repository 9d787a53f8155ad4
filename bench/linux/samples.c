// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench.h"

static size_t bytes_of(uint32_t room)
{
    return sizeof(struct bench_samples) + room * sizeof(double);
}

struct bench_samples *bench_samples_new(uint32_t room)
{
    struct bench_samples *s =
        mmap(NULL, bytes_of(room), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (s == MAP_FAILED)
        bench_fail("no memory for samples");
    s->room = room;
    return s;
}

void bench_samples_add(struct bench_samples *samples, double ns)
{
    if (samples->n < samples->room)
        samples->ns[samples->n++] = ns;
}

void bench_samples_free(struct bench_samples *samples)
{
    munmap(samples, bytes_of(samples->room));
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(const struct bench_samples *s, double p)
{
    const uint32_t i = (uint32_t)((double)s->n * p);
    return s->ns[i < s->n ? i : s->n - 1];
}

static void sort_both(struct bench_samples *ours, struct bench_samples *theirs)
{
    if (ours->n == 0 || theirs->n == 0)
        bench_fail("a measurement has no samples");
    qsort(ours->ns, ours->n, sizeof *ours->ns, by_value);
    qsort(theirs->ns, theirs->n, sizeof *theirs->ns, by_value);
}

void bench_rate_row(const char *name, const char *unit, struct bench_samples *ours,
                    const char *against, struct bench_samples *theirs)
{
    sort_both(ours, theirs);
    const double p50 = percentile(ours, 0.5), their_p50 = percentile(theirs, 0.5);
    printf("{\"bench\":\"%s\",\"unit\":\"%s\",\"p50\":%.0f,\"n\":%u,\"against\":\"%s\","
           "\"against_p50\":%.0f,\"ratio\":%.3f}\n",
           name, unit, p50, ours->n, against, their_p50, p50 / their_p50);
    fflush(stdout);
    bench_samples_free(ours);
    bench_samples_free(theirs);
}

void bench_row_beside(const char *name, struct bench_samples *ours, const char *against,
                      struct bench_samples *theirs)
{
    sort_both(ours, theirs);
    const double p50 = percentile(ours, 0.5), their_p50 = percentile(theirs, 0.5);
    printf("{\"bench\":\"%s\",\"unit\":\"ns\",\"min\":%.2f,\"p10\":%.2f,\"p50\":%.2f,\"p90\":%.2f,"
           "\"p99\":%.2f,"
           "\"p999\":%.2f,\"max\":%.2f,\"n\":%u,\"against\":\"%s\",\"against_p50\":%.2f,"
           "\"ratio\":%.3f}\n",
           name, ours->ns[0], percentile(ours, 0.1), p50, percentile(ours, 0.9),
           percentile(ours, 0.99), percentile(ours, 0.999), ours->ns[ours->n - 1], ours->n, against,
           their_p50, their_p50 / p50);
    fflush(stdout);
    bench_samples_free(theirs);
}

void bench_row(const char *name, struct bench_samples *ours, const char *against,
               struct bench_samples *theirs)
{
    bench_row_beside(name, ours, against, theirs);
    bench_samples_free(ours);
}

double bench_samples_median(struct bench_samples *samples)
{
    sort_both(samples, samples);
    return percentile(samples, 0.5);
}

double bench_samples_undisturbed(struct bench_samples *samples)
{
    sort_both(samples, samples);
    return percentile(samples, 0.1);
}

void bench_limit_row(const char *name, const char *unit, struct bench_samples *ours,
                     const char *against, double limit)
{
    enum { PER_UNIT = 1000 };  // what is printed
    const double p50 = bench_samples_median(ours);
    const double least = p50 * PER_UNIT > 1 ? p50 : 1.0 / PER_UNIT;

    printf("{\"bench\":\"%s\",\"unit\":\"%s\",\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,"
           "\"p999\":%.3f,\"max\":%.3f,\"n\":%u,\"against\":\"%s\",\"against_p50\":%.0f,"
           "\"ratio\":%.3f}\n",
           name, unit, p50, percentile(ours, 0.9), percentile(ours, 0.99), percentile(ours, 0.999),
           ours->ns[ours->n - 1], ours->n, against, limit, limit / least);
    fflush(stdout);
    bench_samples_free(ours);
}
