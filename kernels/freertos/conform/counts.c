// SPDX-License-Identifier: Apache-2.0
// How many instructions a checkpoint and a hand-off take. An emulator that takes one nanosecond for
// each instruction tells (qemu -icount shift=0,sleep=off); elsewhere the figures are times.

#include <stdio.h>
#include <stdlib.h>

#include "suite.h"

enum { HOPS = 21, CHECKPOINTS = 100000, CLOCK = 100, REST_NS = 1000000 };

struct state {
    uint32_t polled_ns, looped_ns, clock_ns;
    uint32_t hops_ns[HOPS];
};

static __attribute__((noipa)) uint32_t with_checkpoints(uint32_t n)
{
    const uint64_t begin_ns = wb_now_ns();

    for (uint32_t i = 0; i < n; i++) {
        __asm__ volatile("" ::: "memory");
        wb_checkpoint();
    }
    return (uint32_t)(wb_now_ns() - begin_ns);
}

static __attribute__((noipa)) uint32_t without_checkpoints(uint32_t n)
{
    const uint64_t begin_ns = wb_now_ns();

    for (uint32_t i = 0; i < n; i++)
        __asm__ volatile("" ::: "memory");
    return (uint32_t)(wb_now_ns() - begin_ns);
}

static uint32_t time_of_clock(void)
{
    const uint64_t begin_ns = wb_now_ns();

    for (uint32_t i = 0; i < CLOCK; i++)
        (void)wb_now_ns();
    return (uint32_t)((wb_now_ns() - begin_ns) / CLOCK);
}

static int polls(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    s->polled_ns = with_checkpoints(CHECKPOINTS);
    s->looped_ns = without_checkpoints(CHECKPOINTS);
    return 0;
}

TEST(an_idle_checkpoint_takes_three_instructions)
{
    struct harness *h = suite_open(1, sizeof(struct state));
    const struct state *s = suite_state(h);

    suite_task(h, &(struct wb_task_config){ .name = "polls", .entry = polls, .migratable = true });
    suite_run(h);
    const uint32_t polls_ns = s->polled_ns - s->looped_ns;
    printf("# an idle checkpoint: %u.%02u\n", (unsigned int)(polls_ns / CHECKPOINTS),
           (unsigned int)(polls_ns / (CHECKPOINTS / 100) % 100));
    harness_close(h);
}

// Away and back again; the core that the task leaves has nothing else to do.
static int hops(struct wb_task *self)
{
    struct state *s = suite_shared(self);

    s->clock_ns = time_of_clock();
    for (uint32_t i = 0; i < HOPS; i++) {
        const uint32_t next = (wb_task_core(self) + 1) % self->system->n_cores;
        EXPECT(self, wb_migration_request(self, next, WB_FOREVER, NULL) == WB_OK);
        const uint64_t begin_ns = wb_now_ns();
        wb_checkpoint();
        s->hops_ns[i] = (uint32_t)(wb_now_ns() - begin_ns);
        EXPECT(self, wb_task_core(self) == next);
        wb_sleep_until(wb_now_ns() + REST_NS);
    }
    return 0;
}

static int by_size(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void count_hops(size_t heap_bytes)
{
    struct harness *h = suite_open(2, sizeof(struct state));
    struct state *s = suite_state(h);

    // As in a run that is not recorded.
    for (uint32_t i = 0; i < 2; i++)
        harness_system(h)->cores[i]->record.events.slots = 0;
    suite_task(h,
               &(struct wb_task_config){
                   .name = "hops", .entry = hops, .migratable = true, .heap_bytes = heap_bytes });
    suite_run(h);
    qsort(s->hops_ns, HOPS, sizeof *s->hops_ns, by_size);
    printf("# a hand-off of %u KiB: least %u, median %u, most %u\n",
           (unsigned int)(heap_bytes >> 10), (unsigned int)(s->hops_ns[0] - s->clock_ns),
           (unsigned int)(s->hops_ns[HOPS / 2] - s->clock_ns),
           (unsigned int)(s->hops_ns[HOPS - 1] - s->clock_ns));
    harness_close(h);
}

TEST(a_hand_off_takes_as_long_for_a_large_task_as_for_a_small_one)
{
    count_hops(4 << 10);
    count_hops(1 << 20);
}
