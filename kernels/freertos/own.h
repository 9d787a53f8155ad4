// SPDX-License-Identifier: Apache-2.0
// What the files of the FreeRTOS kernel share.
#ifndef WB_FREERTOS_OWN_H
#define WB_FREERTOS_OWN_H

#include "tcb.h"
#include "wb/system.h"

// The kernel's own part of a task. It moves along.
struct freertos_task {
    StaticTask_t tcb;     // of a task of the middleware
    TaskHandle_t handle;  // that TCB; of an ordinary task its own
    void (*begin)(
        struct wb_task *task);  // where its life begins: writes its first context; or NULL
    void (*enter)(struct wb_task *task);  // into this kernel's lists. Nothing else of the core runs
    struct wb_recreated *recreated;       // see freertos_modules.h

    // Of an ordinary one.
    bool is_ordinary, is_deleted;
    TickType_t left_at;     // the ticks of the kernel that it left
    TickType_t asleep;      // how many it is yet to sleep
    TickType_t ahead;       // the ticks of its kernel are so many ahead of where it was adopted
    enum wb_tcb_hold hold;  // why it was refused last

    /// Looks at it because of a note. NULL: there is nothing to look at. Lists may be changed, and
    /// nothing else of this core runs.
    void (*look)(struct wb_task *task);
};

_Static_assert(sizeof(struct freertos_task) <= WB_KERNEL_TASK_BYTES, "raise WB_KERNEL_TASK_BYTES");

static inline struct freertos_task *of(struct wb_task *task)
{
    return (struct freertos_task *)(void *)task->kernel;
}

/// A kernel's own part of a core: whose memory is whose.
struct freertos_core {
    unsigned char *heap, *heap_end;  // of FreeRTOS's heap_5; fixed once its kernel has begun
    WB_SWAPPED(void *) freed;  // blocks of it that other kernels give back, each links the next
};

_Static_assert(sizeof(struct freertos_core) <= WB_KERNEL_CORE_BYTES, "raise WB_KERNEL_CORE_BYTES");

/// The core of this kernel; NULL before it has begun.
struct wb_core *wb_freertos_core(void);

#endif
