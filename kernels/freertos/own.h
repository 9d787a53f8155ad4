// SPDX-License-Identifier: Apache-2.0
// What the files of the FreeRTOS kernel share.
#ifndef WB_FREERTOS_OWN_H
#define WB_FREERTOS_OWN_H

#include "part.h"
#include "wb/system.h"

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

/// The adopted task of a handle, and its `asked` word as it was; NULL: there is none.
struct wb_task *wb_freertos_find(TaskHandle_t handle, uint32_t *asked);

/// Does what has been asked for a task of this kernel (ask.c). Weak: where nobody asks, it is not
/// linked, and not called.
///
/// Context: the kernel's own task.
void wb_freertos_obey(struct wb_task *task) __attribute__((weak));

/// Has the kernel's task do what is asked for a task of this kernel, if anything is.
///
/// Context: the kernel's own, or FreeRTOS's switch.
void wb_freertos_look_for_asks(struct wb_task *task);

/// Ends the program: FreeRTOS is called here for a task that another kernel has, at `place`; NULL:
/// for one that is deleted.
_Noreturn void wb_freertos_misused(const char *call, const struct wb_task *task, uint32_t place);

/// The core of this kernel; NULL before it has begun.
struct wb_core *wb_freertos_core(void);

#endif
