// SPDX-License-Identifier: Apache-2.0
// How large the arena of a plan must be, before there is one.
#ifndef WB_COUNT_H
#define WB_COUNT_H

#include "plan.h"

/// The bytes that the plan's arena needs beyond wb_system_bytes(). A board's arena is all the
/// memory that the board has: there it is what the application asks for, and the layout says what
/// lacks.
///
/// Context: the launcher, before it makes the system. Never blocks.
/// Returns: true with `*bytes`; or false with `*error` filled in.
bool count_memory(const struct plan *plan, size_t *bytes, struct plan_error *error);

#endif
