// SPDX-License-Identifier: Apache-2.0
// The part of the harness about tasks that are recreated, each from a module.

#include "freertos_board.h"
#include "freertos_modules.h"
#include "harness.h"
#include "launcher.h"

bool harness_host(struct harness *h, struct wb_task *task, const char *entry)
{
    char why[WB_MODULE_WHY_BYTES];

    (void)h;
    if (wb_freertos_recreates(task, "recreated", entry, why) != WB_OK)
        launcher_give_up(why);
    return true;
}

bool harness_starve(struct harness *h, uint32_t core, bool starve)
{
    (void)h;
    board_limit_mapping(core, starve ? 0 : SIZE_MAX);
    return true;
}

uint32_t harness_programs(struct harness *h)
{
    const struct wb_system *system = harness_system(h);
    uint32_t n = 0;

    for (uint32_t i = 0; i < system->n_cores; i++)
        if (wb_word_load(&system->cores[i]->state, WB_ACQUIRE) != WB_CORE_DEAD)
            n += wb_freertos_loaded(system, i);
    return n;
}

// Only tasks that are recreated have memory that comes and goes.
size_t harness_memory(struct harness *h, uint32_t core)
{
    (void)h;
    return board_mapped_bytes(core);
}
