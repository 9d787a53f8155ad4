// SPDX-License-Identifier: Apache-2.0
// Periodic tasks that hold a common mutex for a part of each job. A parameter with the name of a
// task says how many firings it has before that, within, and after. And one that waits in vain.
#include "wb/wb.h"

enum part { BEFORE, WITHIN, AFTER };

static struct wb_mutex mutex;
static struct wb_condition never;

static void compute(struct wb_task *self, enum part part)
{
    const double firings = wb_param_element(wb_task_app(self), wb_task_name(self), part, 0);

    for (double n = 0; n < firings; n++)
        (void)wb_compute(self);
}

int job(struct wb_task *self)
{
    while (!wb_stopping(self)) {
        compute(self, BEFORE);
        if (wb_mutex_lock(&mutex, WB_FOREVER) != WB_OK)
            wb_task_fail(self, "the mutex could not be had");
        compute(self, WITHIN);
        if (wb_mutex_unlock(&mutex) != WB_OK)
            wb_task_fail(self, "the mutex was lost");
        compute(self, AFTER);
        (void)wb_period_wait(self);
    }
    return 0;
}

// The same, and has nothing to do with the mutex.
int free_job(struct wb_task *self)
{
    while (!wb_stopping(self)) {
        compute(self, BEFORE);
        (void)wb_period_wait(self);
    }
    return 0;
}

// Where it takes time to begin a wait, each of these is over by then.
int hasty(struct wb_task *self)
{
    while (!wb_stopping(self)) {
        (void)wb_compute(self);
        if (wb_condition_wait(&never, NULL, 1) != WB_ERR_TIMEOUT)
            wb_task_fail(self, "nobody signals that");
    }
    return 0;
}
