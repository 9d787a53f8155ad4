// SPDX-License-Identifier: Apache-2.0
// The run's side of client.py, which has the command: a task that doubles what clients send.
#include "wb/wb.h"

int doubler(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(int32_t));
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(int32_t));
    int32_t number;

    for (; wb_port_receive(in, &number, WB_FOREVER) == WB_OK; wb_checkpoint()) {
        number *= 2;
        if (wb_port_send(out, &number, WB_FOREVER) != WB_OK)
            return 1;
    }
    return 0;
}
