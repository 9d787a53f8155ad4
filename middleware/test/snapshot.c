// SPDX-License-Identifier: Apache-2.0
#include "snapshot.h"

#include <string.h>

#include "check.h"

static const uint64_t hour_ns = 3600000000000u;

static const struct wb_point points[WORLD_POINTS] = {
    { .hz = 100000000, .active_uw = 100000, .idle_uw = 10000 },
    { .hz = 200000000, .active_uw = 250000, .idle_uw = 20000 },
    { .hz = 400000000, .active_uw = 900000, .idle_uw = 40000 },
};

void world_open(struct world *w, uint32_t cores)
{
    *w = (struct world){ 0 };
    w->snapshot = (struct wb_snapshot){
        .now_ns = hour_ns,
        .period_ns = 100000000,
        .n_cores = cores,
        .cores = w->cores,
        .tasks = w->tasks,
    };
    w->decision = (struct wb_decision){
        .max_moves = WORLD_TASKS,
        .max_points = WORLD_CORES,
        .moves = w->moves,
        .points = w->points,
    };
    for (uint32_t i = 0; i < cores; i++)
        w->cores[i] = (struct wb_snapshot_core){
            .up = true,
            .n_points = WORLD_POINTS,
            .points = points,
            .point = WORLD_POINTS - 1,
            .temperature_mc = WB_NO_TEMPERATURE,
        };
}

uint32_t world_add(struct world *w, uint32_t core, uint32_t load_ppm)
{
    const uint32_t task = w->snapshot.n_tasks++;

    w->tasks[task] = (struct wb_snapshot_task){
        .name = "task",
        .index = task,
        .core = core,
        .last_core = core,
        .movable = true,
        .load_ppm = load_ppm,
        .here_ns = hour_ns,
    };
    w->cores[core].load_ppm += load_ppm;
    w->cores[core].busy_ppm = w->cores[core].load_ppm;
    return task;
}

uint32_t world_next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

void world_random(struct world *w, uint32_t seed)
{
    uint32_t state = seed * 2654435761u + 1;
    const uint32_t cores = 1 + world_next(&state) % WORLD_CORES;
    const uint32_t tasks = world_next(&state) % (WORLD_TASKS + 1);
    const uint32_t largest = 1 + world_next(&state) % 600000;

    world_open(w, cores);
    for (uint32_t i = 0; i < cores; i++) {
        w->cores[i].up = world_next(&state) % 8 != 0;
        w->cores[i].kind = world_next(&state) % 2;
        w->cores[i].n_points = world_next(&state) % (WORLD_POINTS + 1);
        w->cores[i].point =
            w->cores[i].n_points > 0 ? world_next(&state) % w->cores[i].n_points : 0;
        if (world_next(&state) % 4 != 0)
            w->cores[i].temperature_mc = (int32_t)(world_next(&state) % 110000);
    }
    for (uint32_t i = 0; i < tasks; i++) {
        world_add(w, world_next(&state) % cores, world_next(&state) % largest);
        w->tasks[i].movable = world_next(&state) % 6 != 0;
        w->tasks[i].last_core = world_next(&state) % cores;
        w->tasks[i].away_ns = world_next(&state);
        w->tasks[i].migration_ns = world_next(&state) % 100000000;
        if (world_next(&state) % 8 == 0)
            w->tasks[i].here_ns = world_next(&state) % 200000000;
        if (world_next(&state) % 4 == 0)
            w->tasks[i].not_on = 1u << (1 - w->cores[w->tasks[i].core].kind);
    }
    w->snapshot.self = world_next(&state) % cores;
}

static void begin(struct world *w, const struct wb_policy *policy)
{
    wb_policy_defaults(policy, w->params);
    w->decision.n_moves = w->decision.n_points = 0;
    w->decision.overflow = false;
}

void world_decide(struct world *w, const struct wb_policy *policy)
{
    begin(w, policy);
    policy->decide(&w->snapshot, w->params, &w->decision);
}

void world_decide_with(struct world *w, const struct wb_policy *policy, const char *key,
                       const char *text)
{
    begin(w, policy);
    CHECK(wb_policy_param_set(policy, w->params, key, text) == WB_OK);
    policy->decide(&w->snapshot, w->params, &w->decision);
}

void world_decide_all(struct world *w, const struct wb_policy *policy)
{
    struct wb_move moves[WORLD_TASKS];
    uint32_t n_moves = 0;

    if (!policy->local) {
        world_decide(w, policy);
        return;
    }
    for (uint32_t core = 0; core < w->snapshot.n_cores; core++) {
        w->snapshot.self = core;
        world_decide(w, policy);
        CHECK(wb_decision_check(&w->decision, &w->snapshot, policy, w->text, sizeof w->text) == 0);
        memcpy(moves + n_moves, w->moves, w->decision.n_moves * sizeof *moves);
        n_moves += w->decision.n_moves;
    }
    memcpy(w->moves, moves, n_moves * sizeof *moves);
    w->decision.n_moves = n_moves;
}

void world_apply(struct world *w)
{
    for (uint32_t i = 0; i < w->snapshot.n_tasks; i++) {
        w->tasks[i].here_ns = hour_ns;
        w->tasks[i].away_ns = 0;
    }
    for (uint32_t i = 0; i < w->decision.n_moves; i++) {
        struct wb_snapshot_task *task = &w->tasks[w->moves[i].task];
        w->cores[task->core].load_ppm -= task->load_ppm;
        task->last_core = task->core;
        task->core = w->moves[i].core;
        w->cores[task->core].load_ppm += task->load_ppm;
    }
    for (uint32_t i = 0; i < w->decision.n_points; i++)
        w->cores[w->points[i].core].point = w->points[i].point;
}

uint32_t world_settle(struct world *w, const struct wb_policy *policy, uint32_t most)
{
    for (uint32_t times = 0; times <= most; times++) {
        world_decide_all(w, policy);
        if (w->decision.n_moves == 0 && w->decision.n_points == 0)
            return times;
        world_apply(w);
    }
    return UINT32_MAX;
}

uint32_t world_highest(const struct world *w)
{
    uint32_t highest = 0;

    for (uint32_t i = 0; i < w->snapshot.n_cores; i++) {
        if (w->cores[i].load_ppm > highest)
            highest = w->cores[i].load_ppm;
    }
    return highest;
}

uint32_t world_in_use(const struct world *w)
{
    uint32_t used[WORLD_CORES] = { 0 }, n = 0;

    for (uint32_t i = 0; i < w->snapshot.n_tasks; i++)
        used[w->tasks[i].core] = 1;
    for (uint32_t i = 0; i < WORLD_CORES; i++)
        n += used[i];
    return n;
}

uint32_t world_moved_to(const struct world *w, uint32_t task)
{
    for (uint32_t i = 0; i < w->decision.n_moves; i++) {
        if (w->moves[i].task == task)
            return w->moves[i].core;
    }
    return UINT32_MAX;
}

uint32_t world_point(const struct world *w, uint32_t core)
{
    for (uint32_t i = 0; i < w->decision.n_points; i++) {
        if (w->points[i].core == core)
            return w->points[i].point;
    }
    return UINT32_MAX;
}
