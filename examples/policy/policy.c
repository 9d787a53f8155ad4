// SPDX-License-Identifier: Apache-2.0
// How do I decide myself which task moves where?
//
//     make -C examples/policy &&
//         bin/whimbrel run examples/policy/app.toml --cores 0,1 --policy rotate:step=1
//
// The run finds `wb_policy_rotate` in the module by its name, and asks it every 100 ms
// (--agent-period).
#include <stdio.h>
#include <unistd.h>

#include "wb/policy.h"
#include "wb/wb.h"

enum { STEP, MOVES = 4 };

// Each task that may move goes so many cores further.
static void decide(const struct wb_snapshot *now, const int64_t *params,
                   struct wb_decision *decision)
{
    for (uint32_t i = 0; i < now->n_tasks; i++)
        if (now->tasks[i].movable)
            wb_decide_move(decision, i,
                           (now->tasks[i].core + (uint32_t)params[STEP]) % now->n_cores);
}

const struct wb_policy wb_policy_rotate = {
    .name = "rotate",
    .help = "moves each task some cores further",
    .n_params = 1,
    .params = (const struct wb_policy_param[]){ { "step", "how many cores further", 1, 1, 4094 } },
    .decide = decide,
};

int walker(struct wb_task *self)
{
    uint32_t last = WB_CORE_NONE;

    while (wb_task_migrations(self) <= MOVES && !wb_stopping(self)) {
        if (wb_task_core(self) != last)
            dprintf(STDOUT_FILENO, "the walker is on core %u\n", wb_task_core(self));
        last = wb_task_core(self);
        wb_period_wait(self);
        wb_checkpoint();
    }
    return 0;
}
