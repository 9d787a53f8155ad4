// SPDX-License-Identifier: Apache-2.0
// Shared memory: an allocation and its free, together, against glibc's in the same loop. On one
// kernel, blocks of one size and of mixed ones (each in turn replaces one of LIVE); on two, one
// kernel allocates and fills, the other reads and frees, and blocks go over by their address.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"

enum { BATCH = 256, LIVE = 64, PASSED_BATCH = 256, RING = 64, PASSED_BYTES = 64 };

struct allocator {
    void *(*get)(size_t bytes);
    void (*put)(void *block);
};

static const struct allocator shared_memory = { wb_shared_malloc, wb_shared_free };
static const struct allocator glibc = { malloc, free };

struct shared {
    struct bench_samples *samples;
    uint32_t batches;
    size_t bytes;  // of each block; 0: mixed
    struct passing *passing;
};

// ---- One kernel ---------------------------------------------------------------------------------

// Not inlined into either side, so that both run the same loop.
static __attribute__((noinline)) void one_size(const struct allocator *a, size_t bytes)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        unsigned char *volatile block = a->get(bytes);
        block[0] = 1;
        a->put(block);
    }
}

// 16 B to 4 KiB, small ones more often than large ones.
static __attribute__((noinline)) void mixed(const struct allocator *a, void **live,
                                            uint32_t *random)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        *random = *random * 1664525 + 1013904223;
        const size_t bytes = 16 + ((*random >> 8) & ((16u << (*random >> 21) % 9) - 1));
        void **slot = &live[(*random >> 26) % LIVE];
        a->put(*slot);
        unsigned char *block = a->get(bytes);
        block[0] = 1;
        *slot = block;
    }
}

static void measure(const struct allocator *a, size_t bytes, uint32_t batches,
                    struct bench_samples *samples)
{
    void *live[LIVE] = { NULL };
    uint32_t random = 1;

    for (uint32_t i = 0; i < batches; i++) {
        const uint64_t from_ns = clock_now_ns();
        if (bytes != 0)
            one_size(a, bytes);
        else
            mixed(a, live, &random);
        bench_samples_add(samples, (double)(clock_now_ns() - from_ns) / BATCH);
    }
    for (uint32_t i = 0; i < LIVE; i++)
        a->put(live[i]);
}

static int allocator_task(struct wb_task *self)
{
    const struct shared *s = wb_task_app(self)->state;

    measure(&shared_memory, s->bytes, s->batches, s->samples);
    return 0;
}

static void one_kernel(const struct bench_options *options, const char *name, size_t bytes)
{
    const uint32_t batches = options->samples / 10;
    struct bench_samples *a = bench_samples_new(options->rounds * batches);
    struct bench_samples *b = bench_samples_new(options->rounds * batches);
    struct shared shared = { .samples = a, .batches = batches, .bytes = bytes };

    for (uint32_t round = 0; round < options->rounds; round++) {
        struct bench_system system;
        bench_open(&system, options, 1, 0);
        bench_task(&system, "allocator", allocator_task, 0);
        bench_run(&system, &shared);
        bench_pin(options->cpu[0]);
        measure(&glibc, bytes, batches, b);
        bench_unpin();
    }
    bench_row(name, a, "glibc malloc and free", b);
}

// ---- Two kernels --------------------------------------------------------------------------------

// The same ring of addresses for both sides.
struct passing {
    _Alignas(128) struct passed {
        WB_STORED(void *) block;
    } ring[RING];
};

static void give(const struct allocator *a, struct passing *p, uint32_t batches,
                 struct bench_samples *samples)
{
    for (uint32_t i = 0; i < batches; i++) {
        const uint64_t from_ns = clock_now_ns();
        for (uint32_t j = 0; j < PASSED_BATCH; j++) {
            struct passed *slot = &p->ring[j % RING];
            while (wb_word_load(&slot->block, WB_RELAXED) != NULL) {}
            uint64_t *block;
            while ((block = a->get(PASSED_BYTES)) == NULL) {}
            memset(block, 1, PASSED_BYTES);
            wb_word_store(&slot->block, block, WB_RELEASE);
        }
        bench_samples_add(samples, (double)(clock_now_ns() - from_ns) / PASSED_BATCH);
    }
}

static void take(const struct allocator *a, struct passing *p, uint32_t batches)
{
    for (uint32_t i = 0; i < batches * PASSED_BATCH; i++) {
        struct passed *slot = &p->ring[i % RING];
        uint64_t *block;
        while ((block = wb_word_load(&slot->block, WB_ACQUIRE)) == NULL) {}
        if (*block == 0)
            bench_fail("a block came over empty");
        wb_word_store(&slot->block, NULL, WB_RELAXED);
        a->put(block);
    }
}

static int giver(struct wb_task *self)
{
    const struct shared *s = wb_task_app(self)->state;

    give(&shared_memory, s->passing, s->batches, s->samples);
    return 0;
}

static int taker(struct wb_task *self)
{
    const struct shared *s = wb_task_app(self)->state;

    take(&shared_memory, s->passing, s->batches);
    return 0;
}

struct thread {
    struct passing passing;
    uint32_t batches;
    unsigned int cpu;
};

static void *taking_thread(void *arg)
{
    struct thread *t = arg;

    bench_pin_thread(t->cpu);
    take(&glibc, &t->passing, t->batches);
    return NULL;
}

static void two_threads(const struct bench_options *options, uint32_t batches,
                        struct bench_samples *samples)
{
    struct thread t = { .batches = batches, .cpu = options->cpu[1] };
    pthread_t other;

    bench_pin(options->cpu[0]);
    if (pthread_create(&other, NULL, taking_thread, &t) != 0)
        bench_fail("no thread to free blocks");
    give(&glibc, &t.passing, batches, samples);
    pthread_join(other, NULL);
    bench_unpin();
}

static void two_kernels(const struct bench_options *options)
{
    const uint32_t batches = options->samples / 10;
    struct bench_samples *a = bench_samples_new(options->rounds * batches);
    struct bench_samples *b = bench_samples_new(options->rounds * batches);
    struct shared shared = { .samples = a, .batches = batches };

    for (uint32_t round = 0; round < options->rounds; round++) {
        struct bench_system system;
        bench_open(&system, options, 2, 0);
        shared.passing = wb_system_alloc(system.system, sizeof *shared.passing, 128);
        bench_task(&system, "giver", giver, 0);
        bench_task(&system, "taker", taker, 1);
        bench_run(&system, &shared);
        two_threads(options, batches, b);
    }
    bench_row("alloc.two_kernels", a, "glibc, two threads", b);
}

void bench_alloc(const struct bench_options *options)
{
    one_kernel(options, "alloc.one_kernel.64B", 64);
    one_kernel(options, "alloc.one_kernel.512B", 512);
    one_kernel(options, "alloc.one_kernel.4KiB", 4096);
    one_kernel(options, "alloc.mixed", 0);
    if (options->two_cores)
        two_kernels(options);
}
