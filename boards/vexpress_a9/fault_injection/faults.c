// SPDX-License-Identifier: Apache-2.0
// What goes wrong on a board: a task of the third core does what the parameter `fault` says, while
// a stream of numbers flows between the others.

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "FreeRTOS.h"
#include "task.h"
#include "wb/policy.h"
#include "wb/wb.h"

enum { NUMBERS = 100, FLOOD = 100000, TURN = 2000, TEXT_BYTES = 16 };

static bool is_fault(struct wb_task *self, const char *name)
{
    return strcmp(wb_param_text(wb_task_app(self), "fault", ""), name) == 0;
}

static volatile bool opens;  // the source has begun to open files

// Opens files until the run has failed: that of another core faults inside.
static void open_all_the_time(struct wb_task *self)
{
    for (; !wb_stopping(self); opens = true)
        (void)open("", O_RDONLY);
}

static void open_bad_path(void)
{
    while (!opens) {}
    (void)open((const char *)16, O_RDONLY);
}

// By the C library, which another task may interrupt in the midst of it.
static void write_number(struct wb_task *self, char *text, uint32_t number)
{
    snprintf(text, TEXT_BYTES, "%.3f", number + 0.125);
    if (strtod(text, NULL) != number + 0.125)
        wb_task_fail(self, "the C library writes another number");
}

int source(struct wb_task *self)
{
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(uint32_t));
    const bool endless = is_fault(self, "endless");
    // From the task's heap, and so with it wherever it goes.
    char *text = malloc(TEXT_BYTES);

    if (is_fault(self, "open"))
        open_all_the_time(self);
    for (uint32_t i = 0; (i < NUMBERS || endless) && !wb_stopping(self); i++) {
        wb_checkpoint();
        if (wb_port_send(out, &i, WB_FOREVER) != WB_OK)
            return 1;
        write_number(self, text, i);
        wb_period_wait(self);
    }
    free(text);
    return 0;
}

int sink(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(uint32_t));
    uint32_t number, expected = 0;
    char text[TEXT_BYTES];

    for (; wb_port_receive(in, &number, WB_FOREVER) == WB_OK; expected++) {
        if (number != expected)
            wb_task_fail(self, "a number is missing, or has come twice");
        write_number(self, text, number);
        wb_checkpoint();
    }
    return 0;
}

// Nobody sends: its only sender waits for it.
static int wait_for_each_other(struct wb_task *self)
{
    struct wb_port *in = wb_port_find(self, "in", 0, sizeof(uint32_t));
    uint32_t number;

    return wb_port_receive(in, &number, WB_FOREVER) == WB_OK;
}

static void spin(void)
{
    for (;;) {
        for (uint32_t i = 0; i < TURN; i++)
            __asm__ volatile("");  // in registers: a core that is fenced off goes on
        // An emulator that runs one core at a time goes on with the next.
        __asm__ volatile("yield");
    }
}

static void spin_without_interrupts(void)
{
    __asm__ volatile("cpsid i");
    spin();
}

// More than its heap has, without looking whether there is any.
static void allocate_too_much(void)
{
    volatile char *volatile block = malloc((size_t)1 << 20);

    block[100] = 1;
}

// Longer than the watchdog's patience, which is no fault.
static void compute(void)
{
    for (const uint64_t until_ns = wb_now_ns() + 1500000000; wb_now_ns() < until_ns;) {}
}

// More events than a line can take.
static int flood(struct wb_task *self)
{
    struct wb_port *out = wb_port_find(self, "out", 0, sizeof(uint32_t)),
                   *in = wb_port_find(self, "in", 0, sizeof(uint32_t));
    uint32_t number = 0;

    for (uint32_t i = 0; i < FLOOD; i++)
        if (wb_port_send(out, &number, WB_FOREVER) != WB_OK ||
            wb_port_receive(in, &number, WB_FOREVER) != WB_OK)
            return 1;
    return 0;
}

int faulty(struct wb_task *self)
{
    if (is_fault(self, "spin"))
        spin_without_interrupts();
    else if (is_fault(self, "compute"))
        compute();
    else if (is_fault(self, "crash"))
        *(volatile int *)16 = 0;
    else if (is_fault(self, "open"))
        open_bad_path();
    else if (is_fault(self, "assert"))
        (void)xTaskResumeAll();  // nobody has suspended the scheduler
    else if (is_fault(self, "overflow"))
        return faulty(self) + faulty(self);
    else if (is_fault(self, "heap"))
        allocate_too_much();
    else if (is_fault(self, "port"))
        (void)wb_port_find(self, "outt", 0, sizeof(uint32_t));
    else if (is_fault(self, "slot"))
        (void)wb_port_find(self, "out", 0, sizeof(uint64_t));
    else if (is_fault(self, "flood"))
        return flood(self);
    else if (is_fault(self, "wait"))
        return wait_for_each_other(self);
    return 0;
}

static void decide_nothing(const struct wb_snapshot *snapshot, const int64_t *params,
                           struct wb_decision *decision)
{
    (void)snapshot;
    (void)params;
    (void)decision;
}

const struct wb_policy wb_policy_still = {
    .name = "still",
    .help = "moves nothing",
    .decide = decide_nothing,
};

enum wb_status wb_app_setup(struct wb_app *app)
{
    if (strcmp(wb_param_text(app, "fault", ""), "refuse") != 0)
        return WB_OK;
    strcpy(app->error, "the injected fault is that it refuses");
    return WB_ERR_INVAL;
}
