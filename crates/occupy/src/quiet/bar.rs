// SPDX-License-Identifier: Apache-2.0
//! Bars for people.

/// The columns of a bar that is full.
const FULL: usize = 30;

/// A bar for a part of a whole, from 0 to 1; what is not nothing is to be seen.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
pub fn bar(part: f64) -> String {
    let full = (part.clamp(0.0, 1.0) * FULL as f64).round() as usize;
    if part > 0.0 { "█".repeat(full.max(1)) } else { String::new() }
}
