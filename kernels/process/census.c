// SPDX-License-Identifier: Apache-2.0
#include "process.h"

struct wb_task *census_running(struct wb_system *system, uint32_t core)
{
    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const uint32_t place = wb_word_load(&system->tasks[i].place, WB_ACQUIRE);
        if (wb_place_owner(place) == core && wb_place_state(place) == WB_TASK_RUNNING)
            return &system->tasks[i];
    }
    return NULL;
}

uint32_t census_tasks(const struct wb_system *system, uint32_t core)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < system->n_tasks; i++) {
        const uint32_t place = wb_word_load(&system->tasks[i].place, WB_ACQUIRE);
        n += wb_place_owner(place) == core && !wb_place_is_over(place);
    }
    return n;
}

uint32_t census_restarts(const struct wb_system *system)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < system->n_tasks; i++)
        n += system->tasks[i].restarts;
    return n;
}

uint32_t census_resumes(const struct wb_system *system)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < system->n_tasks; i++)
        n += system->tasks[i].images.resumed;
    return n;
}
