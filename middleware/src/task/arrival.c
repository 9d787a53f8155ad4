// SPDX-License-Identifier: Apache-2.0
// When jobs may begin: release jitter (N. Audsley, A. Burns, M. Richardson, K. Tindell, A.
// Wellings: "Applying new scheduling theory to static priority pre-emptive scheduling", 1993) and
// sporadic releases (A. K. Mok, 1983), whose period is the least time between two.
//
// A deadline counts from the release, a response too: jitter is a part of both.

#include "../internal.h"
#include "../parts.h"
#include "wb/descriptor.h"

// A stream of its own: what a task computes does not depend on when it is released.
enum { STREAM = 1 << 30 };

static uint64_t evenly_to(uint64_t *random, uint64_t most)
{
    const uint64_t ns = wb_draw_cycles(random, WB_UNIFORM, WB_PPM, most - most / 2);

    return ns < most ? ns : most;
}

static void draw(struct wb_task *task, bool is_first)
{
    struct wb_arrival *arrival = &task->arrival;

    if (is_first)
        arrival->random = wb_draw_seed(task->system->config.seed, task->id | STREAM);
    else if (arrival->gap_ns != 0)
        task->release.ns += wb_draw_cycles(&arrival->random, WB_EXPONENTIAL, 0, arrival->gap_ns);
    arrival->ready_ns = task->release.ns;
    if (arrival->jitter_ns != 0)
        arrival->ready_ns += evenly_to(&arrival->random, arrival->jitter_ns);
}

const struct wb_part_arrivals wb_part_arrivals = { .draw = draw };
