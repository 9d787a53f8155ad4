// SPDX-License-Identifier: Apache-2.0
// Sizes of contexts, what one core's plain memcpy of as many bytes takes, and the straight line
// through cost against size.

#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"
#include "clock.h"

enum { WARM_UP = 2, MOST_TIMES = 400, COLD_TIMES = 12, MOST_BYTES = 64 << 20, FEWEST_TIMES = 8 };
enum { CACHES_BYTES = 64 << 20, LINE_BYTES = 64 };

const char *bench_size_name(size_t bytes, char name[static 24])
{
    if (bytes >= 1 << 20)
        snprintf(name, 24, "%zuMiB", bytes >> 20);
    else
        snprintf(name, 24, "%zuKiB", bytes >> 10);
    return name;
}

uint32_t bench_size_times(size_t bytes, bool cold)
{
    const size_t times = cold ? COLD_TIMES : MOST_BYTES / bytes;
    return times > MOST_TIMES ? MOST_TIMES : times < FEWEST_TIMES ? FEWEST_TIMES : (uint32_t)times;
}

static unsigned char *map(size_t bytes)
{
    unsigned char *at =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        bench_fail("no memory to copy");
    memset(at, 1, bytes);
    return at;
}

// Every kernel inherits it, and only reads.
static const volatile unsigned char *caches;

void bench_caches_prepare(void)
{
    if (caches == NULL)
        caches = map(CACHES_BYTES);
}

void bench_caches_empty(void)
{
    for (size_t i = 0; i < CACHES_BYTES; i += LINE_BYTES)
        (void)caches[i];
}

// To and fro, as a task that moves does it: each copy reads what the last one wrote.
void bench_memcpy(const struct bench_options *options, size_t bytes, bool cold,
                  struct bench_samples *samples)
{
    unsigned char *buffer[2] = { map(bytes), map(bytes) };
    const uint32_t times = bench_size_times(bytes, cold);

    bench_pin(options->cpu[0]);
    for (uint32_t i = 0; i < times + WARM_UP; i++) {
        if (cold)
            bench_caches_empty();
        const uint64_t from_ns = clock_now_ns();
        memcpy(buffer[1 - i % 2], buffer[i % 2], bytes);
        // Nobody reads the copy: without this, it need not be made.
        __asm__ volatile("" : : "r"(buffer[1 - i % 2]) : "memory");
        if (i >= WARM_UP)
            bench_samples_add(samples, (double)(clock_now_ns() - from_ns));
    }
    bench_unpin();
    munmap(buffer[0], bytes);
    munmap(buffer[1], bytes);
}

// Least squares.
struct bench_fit bench_fit(const struct bench_point *points, uint32_t n)
{
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;

    for (uint32_t i = 0; i < n; i++) {
        x += points[i].kib / n;
        y += points[i].ns / n;
    }
    for (uint32_t i = 0; i < n; i++) {
        const double dx = points[i].kib - x, dy = points[i].ns - y;
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
    }
    return (struct bench_fit){ .slope = xy / xx,
                               .offset_ns = y - xy / xx * x,
                               .r2 = xy * xy / (xx * yy) };
}

void bench_fit_row(const char *name, const struct bench_point *points, uint32_t n)
{
    const struct bench_fit fit = bench_fit(points, n);

    printf("{\"bench\":\"%s\",\"unit\":\"ns/KiB\",\"p50\":%.3f,\"offset_ns\":%.0f,\"r2\":%.5f,"
           "\"n\":%u}\n",
           name, fit.slope, fit.offset_ns, fit.r2, n);
    fflush(stdout);
}
