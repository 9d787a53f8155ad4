// SPDX-License-Identifier: Apache-2.0
// What this board has besides board.h, for its own files and for applications.
#ifndef VEXPRESS_BOARD_H
#define VEXPRESS_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "freertos_board.h"

/// Which core this is.
uint32_t board_core(void);

/// Makes private memory of the kernel what it is after a reset. The core is outside of it.
void board_reset_kernel(void);

/// Takes the memory of all tasks that are recreated from this core.
void pages_reset(void);

/// True of a core that the processor has: of its four, QEMU has as many as `-smp` says.
bool gic_has_core(uint32_t core);

/// Sets up what each core has of the interrupt controller; nothing of a former life is active.
void gic_core(uint32_t core);

/// Makes another core take an interrupt that stops it, as soon as it takes any.
void gic_stop(uint32_t core);

/// The line's interrupt, and how it begins.
void uart_begin(void);
void uart_interrupt(void);

/// Takes the next byte that has come from the UART, with what is wrong with it.
uint32_t uart_data(void);

/// Takes from a core what others see of memory, and gives it back.
///
/// Context: the first core, for another.
void mmu_fence(uint32_t core);
void mmu_unfence(uint32_t core);

/// True of a core that has been fenced.
bool mmu_is_fenced(uint32_t core);

/// Gives up what a killed core holds of the files of the host.
///
/// Context: the first core, while no kernel runs.
void files_reset(void);

/// Goes back to where a core waits to be started.
_Noreturn void board_restart(uint32_t core);

#endif
