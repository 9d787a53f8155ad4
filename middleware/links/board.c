// SPDX-License-Identifier: Apache-2.0
// Every part that a board by itself has a use for: not re-entry, by which tasks go to another
// program.

#include "wb/system.h"

const struct wb_parts wb_parts = { WB_PARTS_FOR_FEW_TASKS, .waiters = &wb_part_waiters };
