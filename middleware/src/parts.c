// SPDX-License-Identifier: Apache-2.0
// Every part: what a program has that says nothing else.

#include "wb/system.h"

const struct wb_parts wb_parts = { WB_PARTS_FOR_FEW_TASKS, .reenter = &wb_reenter,
                                   .waiters = &wb_part_waiters };
