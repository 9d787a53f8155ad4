// SPDX-License-Identifier: Apache-2.0
// The part of the harness that is the same wherever kernels are processes, or in one.
// CONFORM_SCALE=0.02 runs a fiftieth of each count.

#include "process.h"

#include <stdlib.h>

#include "launcher.h"

void harness_irq_save(bool close)
{
    if (close)
        wb_kernel_enter();
    else
        wb_kernel_leave();
}

// As if the task's module had locked a mutex, which works within one kernel only.
bool harness_hold(struct wb_task *self, bool hold)
{
    kernel_task(self)->libc.mutexes = hold;
    return true;
}

double harness_scale(void)
{
    const char *text = getenv("CONFORM_SCALE");
    const double scale = text != NULL ? strtod(text, NULL) : 1;

    if (!(scale > 0))
        launcher_give_up("CONFORM_SCALE is not a positive number");
    return scale;
}
