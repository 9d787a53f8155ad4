// SPDX-License-Identifier: Apache-2.0
// What the processor traps ends the run with an error that names the task.

#include "arm_board.h"
#include "trap.h"
#include "wb/system.h"

enum { GUARD_BYTES = 64 << 10 };

// The vectors have the numbers of the causes. `address`: what could not be read or written, or the
// instruction. The fault's stack is in use.
_Noreturn void board_fault(uint32_t vector, uint32_t address, uint32_t instruction)
{
    const struct trap trap = {
        .cause = vector, .address = address, .instruction = instruction, .guard_bytes = GUARD_BYTES
    };
    const uint32_t core = board_core();
    char text[WB_ERROR_BYTES];

    if (mmu_is_fenced(core))
        board_restart(core);
    files_let_go(core);
    const enum wb_fault_kind kind = trap_describe(&trap, text);
    wb_freertos_fault(kind, text);
}
