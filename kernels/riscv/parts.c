// SPDX-License-Identifier: Apache-2.0
// No index of waiters: the memory of the SoC has room for few tasks.

#include "wb/system.h"

const struct wb_parts wb_parts = { WB_PARTS_FOR_FEW_TASKS };
