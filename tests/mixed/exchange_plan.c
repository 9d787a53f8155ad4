// SPDX-License-Identifier: Apache-2.0
// The tables of an image, as `whimbrel plan` writes them: the tasks' functions are all that a
// guest takes from them.
#include "plan.h"

extern const struct plan wb_board_plan;
extern const char wb_board_plan_hash[];

wb_task_entry source;
wb_task_entry sink;
wb_task_entry echo;
wb_task_entry walker;

static const struct plan_task tasks[] = {
    { .config.name = "caller" },
    { .config.name = "source", .config.entry = source },
    { .config.name = "sink", .config.entry = sink },
    { .config.name = "echo", .config.entry = echo },
    { .config.name = "walker", .config.entry = walker },
};

const struct plan wb_board_plan = { .tasks = tasks, .n_tasks = sizeof tasks / sizeof tasks[0] };
const char wb_board_plan_hash[] = "exchange";
