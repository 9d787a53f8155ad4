// SPDX-License-Identifier: Apache-2.0
// Computing that is only modelled: it takes time, in proportion to its cycles.

#include <stdlib.h>

#include "suite.h"

enum { TRIES = 32, CYCLES = 50000, TIMES = 4 };

struct state {
    uint64_t median_ns[3];  // of no cycles, CYCLES, and TIMES * CYCLES
};

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// The median of several: a busy machine makes some longer, and what one was too long is taken off
// the next.
static uint64_t median_ns(uint64_t cycles)
{
    uint64_t took_ns[TRIES];

    for (int i = 0; i < TRIES; i++) {
        const uint64_t from_ns = wb_now_ns();
        wb_kernel_compute(cycles);
        took_ns[i] = wb_now_ns() - from_ns;
        wb_checkpoint();
    }
    qsort(took_ns, TRIES, sizeof *took_ns, compare);
    return took_ns[TRIES / 2];
}

static bool in_proportion(const uint64_t took_ns[3])
{
    return took_ns[0] * 4 < took_ns[1] && took_ns[2] > took_ns[1] * (TIMES - 1) &&
           took_ns[2] < took_ns[1] * (2 * TIMES);
}

static int computer(struct wb_task *self)
{
    struct state *s = suite_shared(self);
    const uint64_t end_ns = wb_now_ns() + 20 * (uint64_t)1000000000;

    // Other work that interrupts most of the tries spoils a whole series.
    while (!in_proportion(s->median_ns) && wb_now_ns() < end_ns) {
        s->median_ns[0] = median_ns(0);
        s->median_ns[1] = median_ns(CYCLES);
        s->median_ns[2] = median_ns((uint64_t)TIMES * CYCLES);
    }
    return 0;
}

TEST(modelled_computing_takes_time_in_proportion_to_its_cycles)
{
    struct harness *h = suite_open(1, sizeof(struct state));
    const struct state *s = suite_state(h);

    harness_system(h)->config.models_compute = true;
    suite_task(h, &(struct wb_task_config){ .name = "computer", .entry = computer });
    suite_run(h);
    CHECK(in_proportion(s->median_ns));
    harness_close(h);
}

static int firing(struct wb_task *self)
{
    const uint64_t from_ns = wb_now_ns();

    EXPECT(self, !wb_compute(self));
    EXPECT(self, wb_now_ns() > from_ns);
    return 0;
}

TEST(a_firing_takes_time_and_says_that_nothing_is_to_be_computed)
{
    static const uint64_t cycles[] = { CYCLES };
    struct harness *h = suite_open(1, 0);

    harness_system(h)->config.models_compute = true;
    struct wb_task *task =
        suite_task(h, &(struct wb_task_config){ .name = "firing", .entry = firing });
    CHECK(wb_task_set_work(task, &(struct wb_work_config){ .cycles = cycles, .n_cycles = 1 }) ==
          WB_OK);
    suite_run(h);
    harness_close(h);
}
