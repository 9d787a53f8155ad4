// SPDX-License-Identifier: Apache-2.0
// What boards of Arm processors with a FreeRTOS on each core have besides board.h, for their own
// files and for applications.
#ifndef ARM_BOARD_H
#define ARM_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "freertos_board.h"

/// Which core this is.
uint32_t board_core(void);

// ---- Of each board: what a core of its processor has of its own (processor.c) -------------------

/// The clock that all cores share. The first core.
void processor_begin(void);

/// True of a core that the processor has: QEMU has as many as `-smp` says.
bool processor_has_core(uint32_t core);

void processor_irq_enable(void);

/// The timer of the kernel's tick, and another that wakes the supervisor (board_wake_supervisor());
/// their interrupts are MAP_TICK_IRQ and MAP_SUPERVISOR_IRQ.
void tick_timer_stop(void);
void supervisor_timer_stop(void);
bool supervisor_timer_is_due(void);
void supervisor_timer_acknowledge(void);

// ---- Of each board: the UART that the line is (pl011.c, for one) --------------------------------

/// Begins at 115200 Bd, with an interrupt for each byte that comes.
void uart_begin(void);

bool uart_has_data(void);

/// Takes the next byte that has come, with what is wrong with it. Only if uart_has_data().
uint32_t uart_data(void);

bool uart_has_room(void);

/// Sends a byte. Only if uart_has_room().
void uart_send(unsigned char byte);

/// Which interrupts it raises from now on: while bytes are there, and while there is room for some.
void uart_listen(bool for_data, bool for_room);

// ---- Of all of them -----------------------------------------------------------------------------

/// Makes private memory of the kernel what it is after a reset. The core is outside of it.
void board_reset_kernel(void);

/// Takes the memory of all tasks that are recreated from this core; NULL on a board that has none.
void pages_reset(void) __attribute__((weak));

/// Sets up what each core has of the interrupt controller; nothing of a former life is active.
void gic_core(uint32_t core);

/// Makes another core take an interrupt that stops it, as soon as it takes any.
void gic_stop(uint32_t core);

/// Raises the doorbell's interrupt on one of the board's cores; board_ring() of a board that is no
/// guest.
///
/// Context: any. Never blocks.
void gic_ring(uint32_t core);

/// Makes interrupt `first` the doorbell of the first core, the next that of the second, and so on.
void gic_begin_doorbells(uint32_t first, uint32_t n);

/// The line's interrupt.
void uart_interrupt(void);

/// Writes a text to the line, unless a launcher reads there: its command takes no other text.
///
/// Context: one core at a time. Blocks until the text is on its way.
void uart_print(const char *text, size_t bytes);

/// Of a board's mmu.c, for memory.c. Context: the first core.
///
/// Puts memory behind all of the addresses of stacks; takes it from a page of them.
void mmu_map_stacks(void);
void mmu_unmap_page_of_stacks(const void *page);

/// Shows the private memory of a core at MAP_WINDOW, and no longer.
void mmu_open_window(uint32_t core);
void mmu_close_window(void);

/// Takes from a core what others see of memory, and gives it back.
///
/// Context: the first core, for another.
void mmu_fence(uint32_t core);
void mmu_unfence(uint32_t core);

/// True of a core that has been fenced.
bool mmu_is_fenced(uint32_t core);

/// Of a board that can be a guest: shows all cores PCI devices, and that much memory of the system
/// at MAP_SYSTEM. Context: the first core.
void mmu_map_pci(void);
void mmu_map_system(uint64_t bytes);

/// Takes a page of that memory from all cores. False: the board has no page table left for it.
bool mmu_unmap_page_of_system(const void *page);

/// Makes memory that is none of the board's globally visible, too: for board_is_global().
void memory_add_global(const void *at, size_t bytes);

/// Gives up what a killed core holds of the files of the host.
///
/// Context: the first core, while no kernel runs.
void files_reset(void);

/// Gives up what this core holds of them, which does not come back: it faulted inside, by an
/// argument that is no memory. Without that its own message, and other cores, would wait for it.
///
/// Context: a fault. Never blocks.
void files_let_go(uint32_t core);

/// Goes back to where a core waits to be started.
_Noreturn void board_restart(uint32_t core);

#endif
