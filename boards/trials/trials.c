// SPDX-License-Identifier: Apache-2.0
// What goes wrong on a board: a task of the third core does what the parameter `trial` says, while
// a stream of numbers flows between the others.

#include <string.h>

#include "wb/wb.h"

enum { NUMBERS = 400, FLOOD = 100000 };

static bool is_trial(struct wb_task *self, const char *name)
{
    return strcmp(wb_param_text(wb_task_app(self), "trial", ""), name) == 0;
}

int source(struct wb_task *self)
{
    struct wb_port *out = wb_port_find(self, "out", 0);
    const bool endless = is_trial(self, "endless");

    for (uint32_t i = 0; (i < NUMBERS || endless) && !wb_stopping(self); i++) {
        wb_checkpoint();
        if (wb_port_send(out, &i, WB_FOREVER) != WB_OK)
            return 1;
        wb_period_wait(self);
    }
    return 0;
}

int sink(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0);
    uint32_t number, expected = 0;

    for (; wb_port_receive(in, &number, WB_FOREVER) == WB_OK; expected++) {
        if (number != expected)
            wb_task_fail(self, "a number is missing, or has come twice");
        wb_checkpoint();
    }
    return 0;
}

// Nobody sends: its only sender waits for it.
static int wait_for_each_other(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0);
    uint32_t number;

    return wb_port_receive(in, &number, WB_FOREVER) == WB_OK;
}

static void spin(void)
{
    for (;;)
        __asm__ volatile("");
}

static void spin_without_interrupts(void)
{
    __asm__ volatile("cpsid i");
    spin();
}

// Longer than the watchdog's patience, which is no fault.
static void compute(void)
{
    for (const uint64_t until_ns = wb_now_ns() + 1500000000; wb_now_ns() < until_ns;) {}
}

// More events than a line can take.
static int flood(struct wb_task *self)
{
    struct wb_port *out = wb_port_find(self, "out", 0), *in = wb_port_find(self, "in", 0);
    uint32_t number = 0;

    for (uint32_t i = 0; i < FLOOD; i++)
        if (wb_port_send(out, &number, WB_FOREVER) != WB_OK ||
            wb_port_receive(in, &number, WB_FOREVER) != WB_OK)
            return 1;
    return 0;
}

int trial(struct wb_task *self)
{
    if (is_trial(self, "spin"))
        spin_without_interrupts();
    else if (is_trial(self, "compute"))
        compute();
    else if (is_trial(self, "crash"))
        *(volatile int *)16 = 0;
    else if (is_trial(self, "overflow"))
        return trial(self) + trial(self);
    else if (is_trial(self, "flood"))
        return flood(self);
    else if (is_trial(self, "wait"))
        return wait_for_each_other(self);
    return 0;
}

enum wb_status wb_app_setup(struct wb_app *app)
{
    if (strcmp(wb_param_text(app, "trial", ""), "refuse") != 0)
        return WB_OK;
    strcpy(app->error, "the trial is that it refuses");
    return WB_ERR_INVAL;
}
