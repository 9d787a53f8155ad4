// SPDX-License-Identifier: Apache-2.0
// What this board has besides board.h, for its own files and for applications.
#ifndef VEXPRESS_BOARD_H
#define VEXPRESS_BOARD_H

#include <stddef.h>
#include <stdint.h>

#include "board.h"

/// A stack in globally visible memory, with an inaccessible page below it; NULL when there is none.
///
/// Context: the first core.
void *board_stack(size_t bytes);

/// Moves what the first core has there in its private memory to that of `core`.
///
/// Context: the first core, while `core` is stopped.
void board_give_private(uint32_t core, void *at, size_t bytes);

/// Which core this is.
uint32_t board_core(void);

/// Makes the cores from the second to the last of `count` call `entry`, each with its index.
///
/// Context: the first core, when board_waits() is true of all others.
void board_start_others(uint32_t count, void (*entry)(uint32_t core));

/// Stops a core in the midst of whatever it does, until board_start_others(). Nothing waits for it.
///
/// Context: any core, for another.
void board_kill(uint32_t core);

/// Waits until a core waits to be started: after a reset, or after board_kill().
///
/// Context: the first core. Blocks, at most for a second.
/// Returns: false if the core does not come: it has never booted.
bool board_waits(uint32_t core);

/// Makes private memory of the kernel what it is after a reset. The core is outside of it.
void board_reset_kernel(void);

/// Sets up what each core has of the interrupt controller; nothing of a former life is active.
void gic_core(uint32_t core);

/// Begins the ticks of the timer that interrupts kernels for whoever is outside of them.
void gic_begin_outside(uint32_t period_us);

/// What these ticks call; nothing by default.
void board_outside(void);

/// Goes back to where a core waits to be started.
_Noreturn void board_restart(uint32_t core);

#endif
