// SPDX-License-Identifier: Apache-2.0
// Three cores, two tasks and a policy that decides what a test says: for the tests of coordinators.
#ifndef WB_COORDINATOR_CASE_H
#define WB_COORDINATOR_CASE_H

#include <string.h>

#include "check.h"
#include "kernel_stub.h"

enum { PERIOD_NS = 1000, CORES = 3 };

static struct wb_system *sys;
static struct wb_task *a, *b;

// What the test's policy decides next, and what it has seen.
static struct wb_move moves[4];
static struct wb_set_point set_points[4];
static uint32_t n_moves, n_points;
static uint32_t asked[CORES];
static struct wb_snapshot seen;
static struct wb_snapshot_core seen_cores[CORES];
static struct wb_snapshot_task seen_tasks[2];
static int64_t seen_params[WB_POLICY_PARAMS];

static inline void play(const struct wb_snapshot *snapshot, const int64_t *params,
                        struct wb_decision *decision)
{
    asked[snapshot->self]++;
    seen = *snapshot;
    memcpy(seen_cores, snapshot->cores, sizeof seen_cores);
    memcpy(seen_tasks, snapshot->tasks, sizeof seen_tasks);
    memcpy(seen_params, params, sizeof seen_params);
    for (uint32_t i = 0; i < n_moves; i++)
        wb_decide_move(decision, moves[i].task, moves[i].core);
    for (uint32_t i = 0; i < n_points; i++)
        wb_decide_point(decision, set_points[i].core, set_points[i].point);
}

static const struct wb_policy global = {
    .name = "global",
    .n_params = 2,
    .params = (const struct wb_policy_param[]){ { .name = "x" }, { .name = "y" } },
    .decide = play
};
static const struct wb_policy local = { .name = "local", .local = true, .decide = play };

static inline void let(const struct wb_policy *policy)
{
    const int64_t params[WB_POLICY_PARAMS] = { -5, INT64_MAX };

    CHECK(wb_system_set_policy(sys, policy, params) == WB_OK);
}

// Every core has begun its first period; nobody has reported yet.
static inline void setup_silent(void)
{
    sys = stub_open(&(struct wb_system_config){ .cores = CORES,
                                                .tasks = 2,
                                                .core_align = WB_LINE_BYTES,
                                                .record_migrations = 16,
                                                .offer_timeout_ns = 1000,
                                                .agent_period_ns = PERIOD_NS,
                                                .coordinator = 1 });
    a = stub_task("a", 0);
    b = stub_task("b", 1);
    stub.now_ns = 10000 - PERIOD_NS;
    stub_start(sys);
    for (uint32_t i = 0; i < CORES; i++)
        (void)wb_agent_tick(sys->cores[i], stub.now_ns);
    n_moves = n_points = 0;
    memset(asked, 0, sizeof asked);
}

static inline void tick(uint32_t core)
{
    stub_become(core, NULL);
    (void)wb_agent_tick(sys->cores[core], stub.now_ns);
    stub_leave();
}

// A period passes.
static inline void pass(void)
{
    stub.now_ns += PERIOD_NS;
    for (uint32_t i = 0; i < CORES; i++)
        if (wb_word_load(&sys->cores[i]->state, WB_SEQ_CST) == WB_CORE_UP)
            tick(i);
}

static inline void setup(void)
{
    setup_silent();
    pass();
    let(&global);
}

static inline void decide_move(uint32_t task, uint32_t core)
{
    moves[n_moves++] = (struct wb_move){ task, core };
}

static inline void decide_point(uint32_t core, uint32_t point)
{
    set_points[n_points++] = (struct wb_set_point){ core, point };
}

static inline uint32_t wanted(const struct wb_task *task)
{
    const uint32_t request = wb_word_load(&task->request, WB_SEQ_CST);

    return wb_request_phase(request) == WB_REQUEST_PENDING ? wb_request_core(request)
                                                           : WB_CORE_NONE;
}

static inline uint32_t coordinator(void)
{
    return wb_word_load(&sys->control.coordinator, WB_SEQ_CST);
}

// Any core's next advice.
static inline bool advice(struct wb_advice *told)
{
    for (uint32_t i = 0; i < CORES; i++)
        if (wb_ring_take(&sys->cores[i]->report.advice, told))
            return true;
    return false;
}

// ---- What a policy sees -------------------------------------------------------------------------

#endif
