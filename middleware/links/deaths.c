// SPDX-License-Identifier: Apache-2.0
// With what outlives a killed kernel, and locks.

#include "wb/system.h"

const struct wb_parts wb_parts = { .channels = &wb_part_channels,
                                   .deaths = &wb_part_deaths,
                                   .locks = &wb_part_locks };
