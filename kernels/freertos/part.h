// SPDX-License-Identifier: Apache-2.0
// The kernel's own part of a task. How large it is follows from FreeRTOSConfig.h, and the build
// finds out (room.c): so nothing here is included that depends on it.
#ifndef WB_FREERTOS_PART_H
#define WB_FREERTOS_PART_H

#include <stdbool.h>

#include "tcb.h"
#include "wb/word.h"

struct wb_task;
struct wb_recreated;

// The kernel's own part of a task. It moves along.
struct freertos_task {
    StaticTask_t tcb;     // of a task of the middleware
    TaskHandle_t handle;  // that TCB; of an ordinary task its own
    void (*begin)(
        struct wb_task *task);  // where its life begins: writes its first context; or NULL
    void (*enter)(struct wb_task *task);  // into this kernel's lists. Nothing else of the core runs
    struct wb_recreated *recreated;       // see freertos_modules.h

    // Of an ordinary one.
    bool is_ordinary, is_deleted;
    TickType_t left_at;     // the ticks of the kernel that it left
    TickType_t asleep;      // how many it is yet to sleep
    TickType_t ahead;       // the ticks of its kernel are so many ahead of where it was adopted
    enum wb_tcb_hold hold;  // why it was refused last

    // The descriptor may be adopted with: its last task is over, and all is done that belongs to
    // its end. Set by the kernel that had that, cleared by the one that adopts.
    struct wb_word is_free;
    // What is asked of its kernel by others (ask.c). Bits 16-31: the how manieth task it is that
    // has this descriptor, so that nobody asks it for what was meant for the one before. Below, in
    // `asked` what is asked, in `given` how often the notification of this index.
    struct wb_swapped asked, given[WB_FREERTOS_NOTIFICATION];

    /// Looks at it because of a note. NULL: there is nothing to look at. Lists may be changed, and
    /// nothing else of this core runs.
    void (*look)(struct wb_task *task);
};

enum { WB_ASKED_LIFE_SHIFT = 16, WB_ASKED = (1 << WB_ASKED_LIFE_SHIFT) - 1 };

#endif
