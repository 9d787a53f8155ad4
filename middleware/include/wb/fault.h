// SPDX-License-Identifier: Apache-2.0
// The first fault of a run: why it ends before its time.
#ifndef WB_FAULT_H
#define WB_FAULT_H

#include <stdint.h>

#include "wb/app.h"
#include "wb/word.h"

enum wb_fault_kind {
    WB_FAULT_NONE,
    WB_FAULT_STACK,   // a task overflowed its stack
    WB_FAULT_MEMORY,  // a task touched memory that is not its
    WB_FAULT_TRAP,    // an illegal instruction, a division by zero, an abort
    WB_FAULT_TASK,    // a task failed by its own word
    WB_FAULT_KERNEL,  // a kernel could not go on
    WB_FAULT_PORT,    // a task asked for a port that it does not have, or not for such messages
    WB_FAULT_HEAP,    // a task went on without the memory that its heap did not have
};

struct wb_fault {  // written once, by the core that wins `taken`
    struct wb_swapped taken;
    struct wb_word complete;
    enum wb_fault_kind kind;
    uint32_t core, task, channel;  // WB_CORE_NONE, UINT32_MAX when there is none
    char text[WB_ERROR_BYTES];
};

#endif
