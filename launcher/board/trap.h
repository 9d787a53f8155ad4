// SPDX-License-Identifier: Apache-2.0
// What a board tells of a trap of its processor: the text of the error that ends the run.
#ifndef WB_BOARD_TRAP_H
#define WB_BOARD_TRAP_H

#include <stdint.h>

#include "wb/system.h"

struct trap {
    enum { TRAP_INSTRUCTION, TRAP_FETCH, TRAP_DATA } cause;
    uintptr_t address;      // that cannot be accessed, or of the unknown instruction
    uintptr_t instruction;  // where it is
    uint32_t guard_bytes;   // of the inaccessible memory below each stack
};

/// Says what the running task, or the kernel, has done. Ends the program if there is no kernel yet.
///
/// Context: a trap, on a stack that can hold the formatting of text. Never blocks.
/// Memory:  `text` has WB_ERROR_BYTES.
/// Returns: the kind of the fault, which the kernel is to end the run with.
enum wb_fault_kind trap_describe(const struct trap *trap, char *text);

#endif
