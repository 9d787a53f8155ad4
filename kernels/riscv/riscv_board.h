// SPDX-License-Identifier: Apache-2.0
// What the RISC-V kernels ask of a board besides board.h, and what a board calls of them.
#ifndef WB_RISCV_BOARD_H
#define WB_RISCV_BOARD_H

#include "board.h"
#include "switch.h"

// Private memory: each core has its own at one address (its TCM), zeroed before its kernel starts.
#define WB_PRIVATE __attribute__((section(".private")))

// ---- The board provides -------------------------------------------------------------------------

/// Calls wb_riscv_attend() on this core at `at_ns`, or not much earlier; once. WB_FOREVER: never.
/// It takes the place of the last one of this core.
///
/// Context: this core's kernel. Never blocks.
void board_alarm(uint64_t at_ns);

/// Makes the bytes below this stack inaccessible for this core, in the place of the last one's.
///
/// Context: this core's kernel. Never blocks.
void board_guard(const void *stack);

/// Sleeps until an interrupt is due. Interrupts are closed, and not taken meanwhile.
void board_sleep(void);

/// The same for a kernel that has nothing to do. Interrupts may be taken meanwhile, and are closed
/// again at the return.
void board_idle(void);

// ---- The kernel provides ------------------------------------------------------------------------

/// To be called by the interrupts of the doorbell and of the alarm: the running task is to enter
/// its next checkpoint, or the kernel is to look again before it sleeps.
void wb_riscv_attend(void);

/// The same for the interrupt of the HW-RTOS, which is kept away until the kernel has looked.
void wb_riscv_attend_task(void);

/// Ends the run because of what the running task, or the kernel, has done.
_Noreturn void wb_riscv_fault(enum wb_fault_kind kind, const char *text);

#endif
