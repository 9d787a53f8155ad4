// SPDX-License-Identifier: Apache-2.0
// Who decides on moves: a policy by its name, with its parameters.
#ifndef WB_CHOOSE_H
#define WB_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

#include "plan.h"

/// Lets the policy of this name decide from now on. The middleware's own come first, then
/// `wb_policy_NAME` of the application's module. `params` are `KEY=VALUE`; the others have their
/// defaults.
///
/// Returns: true; or false with the reason in `why`, and nothing has changed.
bool choose_policy(struct wb_system *system, void *module, const char *name, char *const *params,
                   uint32_t n_params, char *why, size_t bytes);

/// Gives a system that is about to start the rows, the frame rate and the policy of its plan.
///
/// Returns: as choose_policy().
bool choose_planned(struct wb_system *system, void *module, const struct plan *plan, char *why,
                    size_t bytes);

#endif
