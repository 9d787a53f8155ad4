// SPDX-License-Identifier: Apache-2.0
// What a board provides besides board.h to be a guest (launcher/api/guest.h).
#ifndef WB_GUEST_BOARD_H
#define WB_GUEST_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest.h"

/// Finds globally visible memory of the system, and lets every core see it at WB_GUEST_MEMORY: it
/// is memory in the sense of board_is_global() from then on. Doorbells of others ring here.
///
/// Context: the first core, once.
/// Returns: how many bytes it has, with the number of this guest in `*guest`, from 0; 0: there is
///          none, with the reason in `*why`.
uint64_t board_find_system(uint32_t *guest, const char **why);

/// Takes whole pages of that memory from all cores: whoever touches them faults.
///
/// Context: the first core, before another runs a kernel.
/// Returns: false: there are too many for the board's page tables.
bool board_guard(const void *at, size_t bytes);

/// Makes board_ring() take the system's numbers of cores, as the page says.
///
/// Context: the first core, before another runs a kernel.
void board_join(const struct wb_guest *page);

/// Makes the board's clock that of the system.
///
/// Context: each core, before its kernel starts.
void board_set_clock(int64_t behind_ns);

/// Lets this core sleep for good.
_Noreturn void board_sleep(void);

#endif
