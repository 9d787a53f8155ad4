// SPDX-License-Identifier: Apache-2.0
// What the FreeRTOS kernels ask of a board besides board.h, and what a board calls of them.
#ifndef WB_FREERTOS_BOARD_H
#define WB_FREERTOS_BOARD_H

#include "board.h"

// ---- The board provides to tasks that are recreated (freertos_modules.h) ------------------------

/// Addresses for their modules, stacks and heaps, the same on each core: whole pages of
/// WB_MODULE_PAGE_BYTES, with no memory behind them.
unsigned char *board_module_space(size_t *bytes);

/// Puts memory of this core's own behind such pages, to be read and written; and takes it away.
///
/// Context: this core's kernel. Never blocks.
/// Returns: false when there is not so much left; then there is none behind any of them.
bool board_map(void *at, size_t bytes);
void board_unmap(void *at, size_t bytes);

/// Lets pages that have been written be read and executed only.
void board_make_readonly(void *at, size_t bytes);

/// How many bytes of memory of a core are behind such pages, and how many may be: all at first.
///
/// Context: any.
size_t board_mapped_bytes(uint32_t core);
void board_limit_mapping(uint32_t core, size_t bytes);

// ---- The kernel provides ------------------------------------------------------------------------

/// Becomes the kernel of a core; starts FreeRTOS's scheduler.
///
/// Context: once on each core after a reset, before which tasks may have been created.
/// The same without starting the scheduler: vTaskStartScheduler() does so later.
void wb_freertos_begin(struct wb_core *core);

_Noreturn void wb_freertos_run(struct wb_core *core);

/// To be called by FreeRTOS's idle hook, before the core sleeps.
void wb_freertos_idle(void);

/// To be called by the doorbell's interrupt.
void wb_freertos_doorbell(void);

/// Ends the run because of what the running task, or the kernel, has done.
_Noreturn void wb_freertos_fault(enum wb_fault_kind kind, const char *text);

/// What runs from here on is, or no longer is, the supervisor: outside of every kernel.
void wb_freertos_in_supervisor(bool in_supervisor);

#endif
