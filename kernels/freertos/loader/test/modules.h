// SPDX-License-Identifier: Apache-2.0
// A module with one of each thing that the loader knows, and the kernel that it is for.
#ifndef WB_TEST_MODULES_H
#define WB_TEST_MODULES_H

#include "../loader.h"
#include "../machine.h"
#include "elf.h"

enum {
    MODULE_ADDRESS = 0x61000000,
    NEAR = 0x60001000,  // a function in Arm state that calls reach
    NEAR_THUMB = 0x60801001,
    FAR = 0x70001000,  // one that they do not
    VARIABLE = 0x70000010,
};

// Where in its code and data each relocation is.
enum {
    AT_CALL = 0,
    AT_CALL_THUMB = 4,
    AT_CALL_FAR = 8,
    AT_JUMP_THUMB = 12,
    AT_JUMP_FAR = 16,  // the same veneer as the call
    AT_MOVW = 20,
    AT_MOVT = 24,
    AT_THM_CALL = 28,
    AT_THM_CALL_ARM = 32,
    AT_THM_JUMP_ARM = 36,
    AT_THM_MOVW = 40,
    AT_THM_MOVT = 44,
    AT_BX = 48,
    AT_CALL_NOWHERE = 52,
    AT_CALL_OWN = 56,
    CODE_BYTES = 64,

    AT_ABS32 = 0,
    AT_REL32 = 4,
    AT_PREL31 = 8,
    AT_TARGET1 = 12,
    AT_OWN = 16,  // the address of the module's zeros
    AT_WEAK = 20,
    DATA_BYTES = 24,
    ZEROS_BYTES = 100,
};

extern const struct wb_linkage the_kernel;

/// Makes the module, with functions `task` (in Arm state, at AT_CALL) and `thumb_task`.
void module_make(struct elf *e);

#endif
