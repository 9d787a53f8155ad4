// SPDX-License-Identifier: Apache-2.0
// The launcher of a board: a program of its first core that speaks docs/kernels-linux-protocol.md
// over the board's line (launcher/api/board.h).
#ifndef WB_BOARD_LAUNCHER_H
#define WB_BOARD_LAUNCHER_H

#include "helper.h"

// What `whimbrel plan` writes.
extern const struct plan wb_board_plan;
extern const char wb_board_plan_hash[];

/// The stream of what is told.
FILE *launcher_line(void);

/// Sends event streams over the line.
recorder_opener launcher_record;

/// Waits to be told to start; makes the plan of this run. False, with the error told, when it is of
/// another image or makes no sense.
bool launcher_await_start(struct helper *h, struct plan_start *start);

#endif
