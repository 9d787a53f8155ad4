// SPDX-License-Identifier: Apache-2.0
// What the processor traps ends the run with an error that names the task.

#include "arm_board.h"
#include "trap.h"
#include "wb/system.h"

enum { GUARD_BYTES = 64 << 10 };

// Of ESR_EL1: the class of an exception.
enum { CLASS_SHIFT = 26, FETCH_BELOW = 0x20, FETCH = 0x21, DATA_BELOW = 0x24, DATA = 0x25 };

_Noreturn void board_fault(uint64_t syndrome, uint64_t address, uint64_t instruction);

// The fault's stack is in use.
void board_fault(uint64_t syndrome, uint64_t address, uint64_t instruction)
{
    const uint32_t class = (uint32_t)(syndrome >> CLASS_SHIFT), core = board_core();
    const bool is_fetch = class == FETCH || class == FETCH_BELOW;
    const bool is_data = class == DATA || class == DATA_BELOW;
    const struct trap trap = {
        .cause = is_fetch  ? TRAP_FETCH
                 : is_data ? TRAP_DATA
                           : TRAP_INSTRUCTION,
        .address = is_fetch || is_data ? address : instruction,
        .instruction = instruction,
        .guard_bytes = GUARD_BYTES,
    };
    char text[WB_ERROR_BYTES];

    if (mmu_is_fenced(core))
        board_restart(core);
    files_let_go(core);
    const enum wb_fault_kind kind = trap_describe(&trap, text);
    wb_freertos_fault(kind, text);
}
