// SPDX-License-Identifier: Apache-2.0
// What newlib keeps of a thread: each task has its own on each core, in private memory, so that one
// may interrupt another in the midst of the C library. It does not move with the task: what the C
// library keeps from one call to the next belongs to one kernel.

#include <reent.h>

#include "FreeRTOS.h"
#include "board.h"
#include "wb/system.h"

enum { TASKS = 128 };  // tasks 0 and 128 share a structure, as do 1 and 129

static struct _reent reents[TASKS];
static bool begun[TASKS];

// Not inline: every switch calls board_use_reent(), and few of them come here.
static __attribute__((noinline)) void begin(uint32_t own)
{
    _REENT_INIT_PTR(&reents[own]);
    begun[own] = true;
    _impure_ptr = &reents[own];
}

void board_use_reent(const void *task)
{
    if (task == NULL)
        return;
    const uint32_t own = ((const struct wb_task *)task)->id % TASKS;

    if (begun[own])
        _impure_ptr = &reents[own];
    else
        begin(own);
}

void *board_library(void *next)
{
    static struct _reent first;  // of a kernel that begins
    struct _reent *last = _impure_ptr;

    if (next == NULL)
        _REENT_INIT_PTR(&first);
    _impure_ptr = next != NULL ? next : &first;
    return last;
}
