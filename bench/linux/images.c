// SPDX-License-Identifier: Apache-2.0
// A checkpoint that takes an image, for contexts of several sizes, against one core's plain memcpy
// of as many bytes.

#include <stdio.h>

#include "bench.h"

enum { WARM_UP = 4 };

static const size_t sizes[] = { 4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20 };

struct shared {
    struct bench_samples *samples;
    size_t bytes;
};

static int keeper(struct wb_task *self)
{
    const struct shared *shared = wb_task_app(self)->state;
    const uint32_t images = bench_size_times(shared->bytes, false) + WARM_UP;

    bench_carry(self, shared->bytes);
    for (uint32_t i = 0; i < images; i++) {
        const uint64_t from_ns = wb_now_ns();
        wb_checkpoint();
        if (i >= WARM_UP)
            bench_samples_add(shared->samples, (double)(wb_now_ns() - from_ns));
    }
    return wb_counter_get(&self->images.taken) == images ? 0 : 1;
}

static void ours(const struct bench_options *options, size_t bytes, struct bench_samples *samples)
{
    struct shared shared = { .samples = samples, .bytes = bytes };
    struct bench_system b;

    bench_open_for(&b, options, 1, 0, bytes);
    bench_task_with(
        &b, &(struct wb_task_config){
                .name = "keeper", .entry = keeper, .checkpoint_every = 1, .heap_bytes = bytes });
    bench_run(&b, &shared);
}

void bench_images(const struct bench_options *options)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint32_t room = options->rounds * bench_size_times(sizes[i], false);
        struct bench_samples *a = bench_samples_new(room), *b = bench_samples_new(room);
        char size[24], name[64];

        for (uint32_t round = 0; round < options->rounds; round++) {
            ours(options, sizes[i], a);
            bench_memcpy(options, sizes[i], false, b);
        }
        snprintf(name, sizeof name, "checkpoint.image.%s", bench_size_name(sizes[i], size));
        bench_row(name, a, "memcpy on one core", b);
    }
}
