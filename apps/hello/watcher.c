// SPDX-License-Identifier: Apache-2.0
// Says in which process the bird is, when that changes. It prints by dprintf, which keeps nothing
// back: the buffers of stdio belong to one kernel.
#include <stdio.h>
#include <unistd.h>

#include "wb/wb.h"

int watcher(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(pid_t));
    pid_t here, last = 0;
    uint32_t n = 0;

    for (; wb_port_receive(in, &here, WB_FOREVER) == WB_OK; n++) {
        if (here != last)
            dprintf(STDOUT_FILENO, "message %u: the bird is in process %d\n", n, here);
        last = here;
        wb_checkpoint();
    }
    dprintf(STDOUT_FILENO, "%u messages, then the bird was gone\n", n);
    return 0;
}
