// SPDX-License-Identifier: Apache-2.0
// How do I split work among several tasks, and join the results in order?
//
//     make -C examples/fan_out &&
//         bin/whimbrel run examples/fan_out/app.toml --map round-robin
//
// The source deals numbers to the workers in turn; the sink collects from them in the same turn.
#include <stdio.h>
#include <unistd.h>

#include "wb/wb.h"

enum { WORKERS = 3, NUMBERS = 12 };

int source(struct wb_task *self)
{
    struct wb_port *out[WORKERS];

    for (uint32_t i = 0; i < WORKERS; i++)
        out[i] = wb_port_find(self, "out", i, sizeof(uint32_t));
    for (uint32_t n = 0; n < NUMBERS; n++)
        if (wb_port_send(out[n % WORKERS], &n, WB_FOREVER) != WB_OK)
            return 1;
    return 0;
}

int worker(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(uint32_t));
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(uint32_t));
    uint32_t n;

    for (; wb_port_receive(in, &n, WB_FOREVER) == WB_OK; wb_checkpoint()) {
        n = n * n;
        if (wb_port_send(out, &n, WB_FOREVER) != WB_OK)
            return 1;
    }
    return 0;  // the source is over and its channel is empty
}

int sink(struct wb_task *self)
{
    struct wb_port *in[WORKERS];
    uint32_t square;

    for (uint32_t i = 0; i < WORKERS; i++)
        in[i] = wb_port_find(self, "in", i, sizeof square);
    for (uint32_t n = 0; wb_port_receive(in[n % WORKERS], &square, WB_FOREVER) == WB_OK; n++)
        dprintf(STDOUT_FILENO, "the square of %u is %u\n", n, square);
    return 0;
}
