// SPDX-License-Identifier: Apache-2.0
//! Numbers with a unit, as people write them, in the units of the hardware models.

use super::SOURCE;
use crate::reader::filled;
use crate::reader::{Node, Reader, number};

/// Asks for where the numbers of a table are from.
pub(super) fn source(reader: &mut Reader<'_, '_>) {
    reader.required("source", SOURCE, filled);
}

/// `node * scale`, rounded to a whole number, if it lies between `least` and `most`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it lies between two numbers that fit"
)]
pub(super) fn scaled(node: &Node<'_>, scale: f64, least: f64, most: f64) -> Option<u64> {
    let value = (number(node)? * scale).round();
    (least..=most).contains(&value).then_some(value as u64)
}

pub(super) const MHZ: &str = "a frequency in megahertz, from 0.001 to 1e6";

/// Megahertz, in hertz.
pub(super) fn mhz(node: &Node<'_>) -> Option<u64> {
    scaled(node, 1e6, 1e3, 1e12)
}

pub(super) const MW: &str = "a power in milliwatts, from 0 to 4e6";

/// Milliwatts, in microwatts.
pub(super) fn mw(node: &Node<'_>) -> Option<u32> {
    u32::try_from(scaled(node, 1e3, 0.0, 4e9)?).ok()
}

pub(super) const US: &str = "a time in microseconds, from 0 to 1e9";

/// Microseconds, in picoseconds.
pub(super) fn us(node: &Node<'_>) -> Option<u64> {
    scaled(node, 1e6, 0.0, 1e15)
}

pub(super) const NS: &str = "a time in nanoseconds, from 0 to 1e9";

/// Nanoseconds, in picoseconds.
pub(super) fn ns(node: &Node<'_>) -> Option<u64> {
    scaled(node, 1e3, 0.0, 1e12)
}

pub(super) const CELSIUS: &str = "a temperature in degrees Celsius, from -273 to 1000";

/// Degrees Celsius, in thousandths.
pub(super) fn celsius(node: &Node<'_>) -> Option<i32> {
    let value = (number(node)? * 1e3).round();
    #[expect(clippy::cast_possible_truncation, reason = "it lies between two that fit")]
    (-273e3..=1e6).contains(&value).then_some(value as i32)
}

/// A number from `least` to `most`.
pub(super) fn between(node: &Node<'_>, least: f64, most: f64) -> Option<f64> {
    number(node).filter(|value| (least..=most).contains(value))
}
