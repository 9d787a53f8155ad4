// SPDX-License-Identifier: Apache-2.0
// Messages of the command (docs/kernels-linux-protocol.md) as plain data.
#ifndef WB_PARSE_H
#define WB_PARSE_H

#include "object.h"
#include "plan.h"

/// Parses a plan. What it consists of lies in memory of `memory`.
///
/// Returns: true; or false with `*error` filled in.
bool parse_plan(const yyjson_alc *memory, const char *line, size_t bytes, struct plan *plan,
                struct parse_error *error);

/// The same for a command. After an error, `command` has what came before it.
bool parse_command(const yyjson_alc *memory, const char *line, size_t bytes,
                   struct command *command, struct parse_error *error);

/// The same for what a board is told to begin with. Returns false also for any other message.
bool parse_start(const yyjson_alc *memory, const char *line, size_t bytes, struct plan_start *start,
                 struct parse_error *error);

#endif
