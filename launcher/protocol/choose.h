// SPDX-License-Identifier: Apache-2.0
// Who decides on moves: a policy by its name, with its parameters.
#ifndef WB_CHOOSE_H
#define WB_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "host.h"
#include "plan.h"

/// Lets a policy decide from now on. The middleware's own come first, then `wb_policy_NAME` of the
/// application's module.
///
/// Returns: true; or false with the reason in `why`, and nothing has changed.
bool choose_policy(struct wb_host *host, const struct plan_policy *planned, char *why,
                   size_t bytes);

#endif
