// SPDX-License-Identifier: Apache-2.0
// The policies, one line each, in the order of their names. No guard: it is included once for each
// meaning of WB_POLICY.
WB_POLICY(balance)
WB_POLICY(consolidate)
WB_POLICY(gossip)
WB_POLICY(leakage)
WB_POLICY(spread)
WB_POLICY(static)
WB_POLICY(sticky)
WB_POLICY(table)
WB_POLICY(thermal)
