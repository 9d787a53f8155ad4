// SPDX-License-Identifier: Apache-2.0
// What the processor traps ends the run with an error that names the task.

#include "rv32_soc.h"
#include "trap.h"
#include "wb/system.h"

enum { FETCH_FAULT = 1, UNKNOWN = 2, BREAK = 3 };

_Noreturn void board_fault(uint32_t cause, uint32_t value, uint32_t instruction);

// `value`: the address that could not be accessed, or the instruction's bits. The fault's stack is
// in use.
void board_fault(uint32_t cause, uint32_t value, uint32_t instruction)
{
    const bool is_unknown = cause == UNKNOWN || cause == BREAK;
    const struct trap trap = {
        .cause = is_unknown             ? TRAP_INSTRUCTION
                 : cause == FETCH_FAULT ? TRAP_FETCH
                                        : TRAP_DATA,
        .address = is_unknown ? instruction : value,
        .instruction = instruction,
        .guard_bytes = GUARD_BYTES,
    };
    char text[WB_ERROR_BYTES];
    const enum wb_fault_kind kind = trap_describe(&trap, text);

    wb_riscv_fault(kind, text);
}
