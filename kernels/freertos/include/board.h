// SPDX-License-Identifier: Apache-2.0
// What a board gives to the FreeRTOS kernels, and how it starts one.
#ifndef WB_BOARD_H
#define WB_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wb/fault.h"

struct wb_core;

// ---- The board provides -------------------------------------------------------------------------

/// Nanoseconds on a clock that all cores share.
uint64_t board_now_ns(void);

/// Cycles of a core in a second.
uint64_t board_hz(void);

/// One turn of a loop that waits or computes: what the processor has to say so.
void board_relax(void);

/// Raises the doorbell's interrupt on a core, this one included.
///
/// Context: any. Never blocks.
void board_ring(uint32_t core);

/// Stops every core.
_Noreturn void board_halt(void);

/// Where core `core`'s private memory can be read; NULL where `address` is not private.
const void *board_private(uint32_t core, const void *address);

// ---- The kernel provides ------------------------------------------------------------------------

/// Becomes the kernel of a core; starts FreeRTOS's scheduler.
///
/// Context: once on each core after a reset, before which tasks may have been created.
_Noreturn void wb_freertos_run(struct wb_core *core);

/// To be called by FreeRTOS's idle hook, before the core sleeps.
void wb_freertos_idle(void);

/// To be called by the doorbell's interrupt.
void wb_freertos_doorbell(void);

/// Ends the run because of what the running task, or the kernel, has done.
_Noreturn void wb_freertos_fault(enum wb_fault_kind kind, const char *text);

/// What runs from here on is, or no longer is, outside of every kernel: a launcher that interrupts.
void wb_freertos_outside(bool outside);

#endif
