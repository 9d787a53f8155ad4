// SPDX-License-Identifier: Apache-2.0
// With agents that report and a policy that decides.

#include "wb/system.h"

const struct wb_parts wb_parts = { .channels = &wb_part_channels, .agents = &wb_part_agents };
