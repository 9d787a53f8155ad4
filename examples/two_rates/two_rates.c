// SPDX-License-Identifier: Apache-2.0
// How do tasks of different rates work together?
//
//     make -C examples/two_rates &&
//         bin/whimbrel run examples/two_rates/app.toml
//
// The sensor runs at 1 kHz. The filter takes four samples for each mean that it sends, so the
// display runs at 250 Hz. It holds the four where they lie: nothing is copied. (A task that exists
// only in app.toml says `consume = 4`: see apps/synthetic/fork_join.toml.)
#include <stdio.h>
#include <unistd.h>

#include "wb/wb.h"

enum { SAMPLES = 24, PER_MEAN = 4 };

int sensor(struct wb_task *self)
{
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(double));

    for (uint32_t n = 0; n < SAMPLES; n++, wb_period_wait(self)) {
        const double sample = n;
        if (wb_port_send(out, &sample, WB_FOREVER) != WB_OK)
            return 1;
    }
    return 0;
}

int filter(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(double));
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(double));

    for (;; wb_checkpoint()) {
        double mean = 0;
        for (int i = 0; i < PER_MEAN; i++) {
            const void *sample;  // each hold takes the next message, up to `slots` of them
            if (wb_port_hold(in, &sample, WB_FOREVER) != WB_OK)
                return 0;
            mean += *(const double *)sample / PER_MEAN;
        }
        for (int i = 0; i < PER_MEAN; i++)
            wb_port_release(in);
        if (wb_port_send(out, &mean, WB_FOREVER) != WB_OK)
            return 1;
    }
}

int display(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(double));
    double mean;

    while (wb_port_receive(in, &mean, WB_FOREVER) == WB_OK)
        dprintf(STDOUT_FILENO, "mean %.1f\n", mean);
    return 0;
}
