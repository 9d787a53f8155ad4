// SPDX-License-Identifier: Apache-2.0
// The least: send and receive, checkpoints, and moving by hand-off.

#include "wb/system.h"

const struct wb_parts wb_parts = { .channels = &wb_part_channels };
