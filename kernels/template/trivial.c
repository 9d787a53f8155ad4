// SPDX-License-Identifier: Apache-2.0
// What a kernel does that has nothing of the kind: no operating points, no sensor, no programs of
// tasks, no costs. Weak: a kernel that is linked with this file defines what it can do itself.

#include <string.h>

#include "wb/kernel.h"
#include "wb/system.h"

#pragma weak wb_kernel_can
#pragma weak wb_kernel_stamp_ns
#pragma weak wb_kernel_doorbell
#pragma weak wb_kernel_enter
#pragma weak wb_kernel_leave
#pragma weak wb_kernel_reprioritise
#pragma weak wb_kernel_charge
#pragma weak wb_kernel_compute
#pragma weak wb_kernel_copy
#pragma weak wb_kernel_update
#pragma weak wb_kernel_private
#pragma weak wb_kernel_stack_low
#pragma weak wb_kernel_set_point
#pragma weak wb_kernel_temperature_mc
#pragma weak wb_kernel_watch
#pragma weak wb_kernel_load
#pragma weak wb_kernel_unload

uint32_t wb_kernel_can(void)
{
    return 0;
}

// Where reading the clock is never more than that.
uint64_t wb_kernel_stamp_ns(void)
{
    return wb_kernel_now_ns();
}

// Where every core looks by itself.
void wb_kernel_doorbell(uint32_t core)
{
    (void)core;
}

// Where a task is interrupted only where it asks for it.
void wb_kernel_enter(void) {}

void wb_kernel_leave(void) {}

// Where the next task is looked for among all of them.
void wb_kernel_reprioritise(struct wb_task *task)
{
    (void)task;
}

// In parentheses, as wb/kernel.h may have made it no function.
void(wb_kernel_charge)(enum wb_action action, uint32_t units)
{
    (void)action;
    (void)units;
}

void wb_kernel_compute(uint64_t cycles)
{
    (void)cycles;
}

void wb_kernel_copy(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

bool wb_kernel_update(void *to, const void *from, size_t bytes)
{
    const bool differs = memcmp(to, from, bytes) != 0;

    if (differs)
        wb_kernel_copy(to, from, bytes);
    return differs;
}

const void *wb_kernel_private(uint32_t core, const void *address)
{
    (void)core;
    (void)address;
    return NULL;
}

void *wb_kernel_stack_low(const struct wb_task *task)
{
    return task->stack;
}

void wb_kernel_set_point(uint32_t point)
{
    (void)point;
}

int32_t wb_kernel_temperature_mc(void)
{
    return WB_NO_TEMPERATURE;
}

enum wb_status wb_kernel_watch(int file, uint32_t events, bool wake)
{
    (void)file;
    (void)events;
    (void)wake;
    return WB_ERR_UNABLE;
}

enum wb_status wb_kernel_load(struct wb_task *task)
{
    (void)task;
    return WB_ERR_NOMEM;
}

void wb_kernel_unload(struct wb_task *task)
{
    (void)task;
}
