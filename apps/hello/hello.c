// SPDX-License-Identifier: Apache-2.0
// A task that may be moved at each of its 200 steps.
#include <unistd.h>

#include "wb/wb.h"

int bird(struct wb_task *self)
{
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(pid_t));

    for (uint32_t step = 0; step < 200 && !wb_stopping(self); step++) {
        wb_checkpoint();  // here it may leave its core; it goes on here, on another

        const pid_t here = getpid();  // the kernel of each core is a process of its own
        if (wb_port_send(out, &here, WB_FOREVER) != WB_OK)
            return 1;
        wb_period_wait(self);
    }
    return 0;
}
