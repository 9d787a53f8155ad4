// SPDX-License-Identifier: Apache-2.0
// static: every task stays where the application put it, and every core at its operating point.
//
// What the other policies are measured against: the best mapping that was found before the start
// (acquaviva2008, section 6.3; nacul2007, section 4, "SMP static").
#include "wb/policy.h"

static void decide_nothing(const struct wb_snapshot *snapshot, const int64_t *params,
                           struct wb_decision *decision)
{
    (void)snapshot;
    (void)params;
    (void)decision;
}

const struct wb_policy wb_policy_static = {
    .name = "static",
    .help = "moves nothing",
    .decide = decide_nothing,
};
