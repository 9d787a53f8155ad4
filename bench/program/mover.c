// SPDX-License-Identifier: Apache-2.0
// A task that recreates itself on the other core and back. A move takes from the call until its
// state is there and its function runs.
#include <stdlib.h>
#include <string.h>

#include "../mover.h"
#include "wb/wb.h"

int mover(struct wb_task *self);

int mover(struct wb_task *self)
{
    struct recreate_plan *plan = wb_task_app(self)->state;
    const uint64_t now_ns = wb_now_ns();
    char *state = wb_task_state(self);

    if (state == NULL) {
        state = malloc(plan->state_bytes);
        if (state == NULL)
            return 1;
        memset(state, 1, plan->state_bytes);
        wb_task_set_state(self, state);
    } else if (plan->done++ >= RECREATE_WARM_UP) {
        plan->took_ns[plan->done - RECREATE_WARM_UP - 1] = now_ns - plan->from_ns;
    }
    if (plan->done == plan->moves + RECREATE_WARM_UP)
        return 0;
    plan->from_ns = wb_now_ns();
    return wb_migrate(self, 1 - wb_task_core(self), WB_FOREVER) ==
           WB_OK;  // comes back as a new life
}
