// SPDX-License-Identifier: Apache-2.0
//! Tests on a kernel of their own, which can be cut off before any change.

pub(crate) mod fake;
mod replay;
mod shields;
