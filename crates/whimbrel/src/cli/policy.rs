// SPDX-License-Identifier: Apache-2.0
//! The policies that come with Whimbrel, to choose from. Which parameters they have, and which an
//! application brings, the helper knows.

/// In the order in which they are offered.
pub const POLICIES: [&str; 8] =
    ["static", "table", "spread", "consolidate", "balance", "sticky", "gossip", "thermal"];
