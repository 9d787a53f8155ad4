// SPDX-License-Identifier: Apache-2.0
// Ordinary tasks of FreeRTOS that move between kernels (holmbacka2013): made by xTaskCreate(), with
// TCB and stack in globally visible memory, and named by their handles. docs/freertos.md is the
// guide.
//
//     if (migration_requested)
//         TASK_IN_SAFE_STATE();
//
// A task that moves keeps its priority, name, stack, heap, notifications and run-time counter. Its
// handle is of use on the kernel that has it now, and for the functions below on any.
#ifndef WB_FREERTOS_H
#define WB_FREERTOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "task.h"
#include "wb/status.h"
#include "wb/wb.h"

/// True when the calling task is wanted at its next checkpoint.
#define WB_FREERTOS_IS_WANTED() (wb_word_load(&wb_kernel_need_resched, WB_RELAXED) != 0)

// The words of holmbacka2013, listing 1. WB_FREERTOS_NO_ALIASES leaves them out.
#ifndef WB_FREERTOS_NO_ALIASES
#define migration_requested WB_FREERTOS_IS_WANTED()
#define TASK_IN_SAFE_STATE() wb_checkpoint()
#endif

/// Lays out what the kernels share, for so many tasks that may be adopted at a time.
///
/// Context: one core, once, before any kernel begins. Never blocks.
/// Memory:  `memory` is globally visible, zeroed and aligned to 64 bytes; it must stay.
/// Returns: WB_OK; WB_ERR_NOMEM if it is too small; WB_ERR_INVAL for no core, or bad memory.
WB_MUST_USE enum wb_status wb_freertos_init(void *memory, size_t bytes, uint32_t cores,
                                            uint32_t tasks);

/// Makes this core's FreeRTOS one of the kernels; vTaskStartScheduler() is to follow.
///
/// Context: each core, once, after wb_freertos_init().
/// Memory:  `heap`, globally visible, becomes this kernel's heap (heap_5). The kernel alone frees
///          what is allocated here, whoever gives it back; NULL: it has none.
/// Returns: WB_OK; WB_ERR_INVAL if there is no such core, the heap cannot be seen by others, or the
///          project has another heap than heap_5.
WB_MUST_USE enum wb_status wb_freertos_start(void *memory, uint32_t core, void *heap,
                                             size_t heap_bytes);

/// Makes a task one that moves at its checkpoints; NULL: the calling task. A sleeper also moves
/// while it is in vTaskDelay() or xTaskDelayUntil().
///
/// Context: the kernel that has it, before or after its scheduler starts. Never blocks.
/// Returns: WB_OK; WB_ERR_INVAL when its TCB or stack cannot be seen by other cores, or it is as
///          urgent as the kernel's own task; WB_ERR_BUSY when it is adopted already; WB_ERR_NOMEM
///          when as many as wb_freertos_init() was told are.
WB_MUST_USE enum wb_status wb_freertos_adopt(TaskHandle_t task);
WB_MUST_USE enum wb_status wb_freertos_adopt_sleeper(TaskHandle_t task);

/// Asks a task to move; it does so at its next checkpoint.
///
/// Context: any kernel. Never blocks.
/// Returns: WB_OK: its outcome follows; WB_ERR_GONE when it is not adopted, or deleted, or the core
///          is dead; WB_ERR_BUSY when another request stands; WB_ERR_INVAL for no such core.
WB_MUST_USE enum wb_status wb_freertos_request(TaskHandle_t task, uint32_t core);

/// The same, and waits until it has moved, for at most so many ticks; NULL: the calling task.
///
/// Context: a task of any kernel. Blocks; a checkpoint if it moves the calling task.
/// Returns: as wb_freertos_request(); WB_OK: it is there; WB_ERR_TIMEOUT: it stays, as it came to
///          no checkpoint; WB_ERR_HELD: it stays for what wb_freertos_hold() says; WB_ERR_BUSY
///          also when another task has moved it again before this one looked at the outcome.
WB_MUST_USE enum wb_status wb_freertos_migrate(TaskHandle_t task, uint32_t core, TickType_t ticks);

/// Why a task was refused last, in words; "nothing" if it was not; "it is deleted", "it is not
/// adopted".
const char *wb_freertos_hold(TaskHandle_t task);

/// The core whose kernel has a task, or had it last; WB_CORE_NONE: it is not adopted.
uint32_t wb_freertos_core_of(TaskHandle_t task);

/// What vTaskSuspend(), vTaskResume(), vTaskPrioritySet() and vTaskDelete() do, and
/// xTaskNotifyGiveIndexed(), wherever the task is: its kernel does it soon, also while the task is
/// under way. NULL: the calling task.
///
/// FreeRTOS's own functions end the program for a task that another kernel has. What is asked
/// before the last was done replaces it, so a task that is suspended and resumed at once may not
/// stop at all; every notification counts.
///
/// Context: any kernel, an interrupt included. Never blocks.
/// Returns: WB_OK: it will be done, unless the task ends before; WB_ERR_GONE when it is not
/// adopted,
///          or deleted; WB_ERR_INVAL for a priority as urgent as the kernel's own task, or a
///          notification that it does not have, or that is Whimbrel's; WB_ERR_FULL when 65535
///          notifications wait to be given.
WB_MUST_USE enum wb_status wb_freertos_suspend(TaskHandle_t task);
WB_MUST_USE enum wb_status wb_freertos_resume(TaskHandle_t task);
WB_MUST_USE enum wb_status wb_freertos_priority(TaskHandle_t task, UBaseType_t priority);
WB_MUST_USE enum wb_status wb_freertos_notify(TaskHandle_t task, UBaseType_t index);
WB_MUST_USE enum wb_status wb_freertos_delete(TaskHandle_t task);

/// The ticks of the kernel where the calling task was adopted: a clock that moves along. And
/// xTaskDelayUntil() by that clock.
///
/// Context: an adopted task.
TickType_t wb_freertos_ticks(void);
BaseType_t wb_freertos_delay_until(TickType_t *last_wake, TickType_t period);

#endif
