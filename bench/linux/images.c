// SPDX-License-Identifier: Apache-2.0
// A checkpoint that takes an image, for contexts of several sizes, against one core's plain memcpy
// of as many bytes. All pages of the heap have changed since the image before, a word of each;
// `....10pc`, `....1pc`: so many in a hundred have.

#include <stdio.h>

#include "bench.h"

enum { WARM_UP = 4 };

static const size_t sizes[] = { 4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20 };

static const struct change {
    const char *suffix;
    uint32_t percent;
} changes[] = { { "", 100 }, { ".10pc", 10 }, { ".1pc", 1 } };

enum { SIZES = sizeof sizes / sizeof sizes[0], CHANGES = sizeof changes / sizeof changes[0] };

struct shared {
    struct bench_samples *samples;
    size_t bytes;
    uint32_t percent;
};

// As many pages as are to change, as far apart as they can be, and others each time.
static void change(struct wb_task *self, const struct shared *shared, uint32_t image)
{
    enum { PAGE = 4 << 10, WITHIN_A_BLOCK = 512 };
    const size_t pages = shared->bytes / PAGE;
    const size_t changed = (pages * shared->percent + 99) / 100;

    for (size_t i = 0; i < changed; i++) {
        const size_t page = (i * pages / changed + image) % pages;
        self->heap.base[page * PAGE + WITHIN_A_BLOCK]++;
    }
}

static int keeper(struct wb_task *self)
{
    const struct shared *shared = wb_task_app(self)->state;
    const uint32_t images = bench_size_times(shared->bytes, false) + WARM_UP;

    bench_carry(self, shared->bytes);
    for (uint32_t i = 0; i < images; i++) {
        change(self, shared, i);
        const uint64_t from_ns = wb_now_ns();
        wb_checkpoint();
        if (i >= WARM_UP)
            bench_samples_add(shared->samples, (double)(wb_now_ns() - from_ns));
    }
    return wb_counter_get(&self->images.taken) == images ? 0 : 1;
}

static void ours(const struct bench_options *options, size_t bytes, uint32_t percent,
                 struct bench_samples *samples)
{
    struct shared shared = { .samples = samples, .bytes = bytes, .percent = percent };
    struct bench_system b;

    bench_open_for(&b, options, 1, 0, bytes);
    bench_task_with(
        &b, &(struct wb_task_config){
                .name = "keeper", .entry = keeper, .checkpoint_every = 1, .heap_bytes = bytes });
    bench_run(&b, &shared);
}

static void measure(const struct bench_options *options, size_t bytes, const struct change *change)
{
    const uint32_t room = options->rounds * bench_size_times(bytes, false);
    struct bench_samples *a = bench_samples_new(room), *b = bench_samples_new(room);
    char size[24], name[64];

    for (uint32_t round = 0; round < options->rounds; round++) {
        ours(options, bytes, change->percent, a);
        bench_memcpy(options, bytes, false, b);
    }
    snprintf(name, sizeof name, "checkpoint.image.%s%s", bench_size_name(bytes, size),
             change->suffix);
    bench_row(name, a, "memcpy on one core", b);
}

void bench_images(const struct bench_options *options)
{
    for (size_t i = 0; i < SIZES; i++)
        for (size_t c = 0; c < CHANGES; c++)
            measure(options, sizes[i], &changes[c]);
}
