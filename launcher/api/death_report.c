// SPDX-License-Identifier: Apache-2.0
#include "death_report.h"

// A task of the core that runs, if any does; and how many of its tasks are not over.
static void look_at_tasks(struct wb_system *system, struct wb_host_event *death)
{
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const uint32_t owner_state = wb_word_load(&system->tasks[i].owner_state, WB_ACQUIRE);
        if (wb_owner_of(owner_state) != death->core)
            continue;
        death->moved += !wb_state_is_over(owner_state);
        if (death->running == NULL && wb_task_state_of(owner_state) == WB_TASK_RUNNING)
            death->running = &system->tasks[i];
    }
}

// How often tasks of the system have been started again, and gone on from an image.
static void count_restarts(const struct wb_system *system, uint32_t *restarts, uint32_t *resumes)
{
    *restarts = *resumes = 0;
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        *restarts += system->tasks[i].restarts;
        *resumes += system->tasks[i].images.resumed;
    }
}

struct wb_host_event death_report_before(struct wb_system *system, uint32_t core, uint64_t now_ns)
{
    struct wb_host_event death = { .kind = WB_HOST_DIED, .core = core, .detected_ns = now_ns };

    look_at_tasks(system, &death);
    return death;
}

void death_report_take_over(struct wb_system *system, struct wb_host_event *death)
{
    uint32_t restarts, resumes;

    count_restarts(system, &restarts, &resumes);
    death->lost = wb_core_died(system, death->core);
    // Two, if it was killed while it switched from one task to the next.
    count_restarts(system, &death->restarted, &death->resumed);
    death->restarted -= restarts;
    death->resumed -= resumes;
    const uint32_t not_moved = death->lost + death->restarted + death->resumed;
    death->moved -= not_moved < death->moved ? not_moved : death->moved;
}
