// SPDX-License-Identifier: Apache-2.0
// What the files of the FreeRTOS kernel share.
#ifndef WB_FREERTOS_OWN_H
#define WB_FREERTOS_OWN_H

#include "part.h"
#include "wb/system.h"

// Private memory: every kernel has its own at this address, as it has FreeRTOS's. A core that
// starts again finds it as after a reset.
#define OF_KERNEL __attribute__((section(".bss.whimbrel_kernel")))

// The kernels' parts of tasks whose descriptors have no room for them, by number: those of a guest,
// which shares the descriptors with other kernels, are of the size that is usual. They are in
// memory of its own that its kernels have in common (apart.c, which other programs are not linked
// with: there WB_KERNEL_TASK_BYTES is to be raised).
extern struct freertos_task *wb_freertos_parts;

static inline struct freertos_task *of(const struct wb_task *task)
{
    return sizeof(struct freertos_task) <= WB_KERNEL_TASK_BYTES
               ? (struct freertos_task *)(uintptr_t)task->kernel
               : &wb_freertos_parts[task->id];
}

/// A kernel's own part of a core: whose memory is whose.
struct freertos_core {
    unsigned char *heap, *heap_end;  // of FreeRTOS's heap_5; fixed once its kernel has begun
    WB_SWAPPED(void *) freed;  // blocks of it that other kernels give back, each links the next
};

_Static_assert(sizeof(struct freertos_core) <= WB_KERNEL_CORE_BYTES, "raise WB_KERNEL_CORE_BYTES");

/// The adopted task of a handle, and its `asked` word as it was; NULL: there is none.
struct wb_task *wb_freertos_find(TaskHandle_t handle, uint32_t *asked);

/// Of ask.c, which is linked where a program asks: weak, so that no other has what it takes.
///
/// wb_freertos_look_for_asks(): has the kernel's task do what is asked for a task of this kernel.
/// Context: the kernel's own, or FreeRTOS's switch.
///
/// wb_freertos_obey(): does it. Context: the kernel's own task.
void wb_freertos_look_for_asks(struct wb_task *task) __attribute__((weak));
void wb_freertos_obey(const struct wb_core *core) __attribute__((weak));

/// Wakes the kernel's task, unless FreeRTOS's switch has chosen already.
///
/// Context: the kernel's own, or FreeRTOS's switch.
void wb_freertos_call_kernel(void);

/// Ends the program: FreeRTOS is called here for a task that another kernel has, at `owner_state`;
/// NULL: for one that is deleted.
_Noreturn void wb_freertos_misused(const char *call, const struct wb_task *task, uint32_t place);

/// The core of this kernel; NULL before it has begun.
struct wb_core *wb_freertos_core(void);

#endif
