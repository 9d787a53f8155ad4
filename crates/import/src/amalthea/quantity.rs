// SPDX-License-Identifier: Apache-2.0
//! Numbers with units, and numbers that vary.

use crate::xml::Element;

/// Picoseconds of units of time, and bits of units of size.
const TIMES: [(&str, f64); 5] = [("s", 1e12), ("ms", 1e9), ("us", 1e6), ("ns", 1e3), ("ps", 1.0)];
const SIZES: [(&str, f64); 14] = [
    ("bit", 1.0),
    ("kbit", 1e3),
    ("Mbit", 1e6),
    ("Gbit", 1e9),
    ("Kibit", 1024.0),
    ("Mibit", 1_048_576.0),
    ("Gibit", 1_073_741_824.0),
    ("B", 8.0),
    ("kB", 8e3),
    ("MB", 8e6),
    ("GB", 8e9),
    ("KiB", 8192.0),
    ("MiB", 8_388_608.0),
    ("GiB", 8_589_934_592.0),
];

/// Nesting of values in values.
const DEPTH_MAX: u32 = 8;

fn in_units(element: Element<'_, '_>, units: &[(&str, f64)]) -> Option<f64> {
    let value = number(element, "value")?;
    let (unit, _) = element.text("unit")?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    Some(value * factor).filter(|value| value.is_finite() && *value >= 0.0)
}

/// A time in nanoseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in bounds")]
pub(super) fn nanoseconds(element: Element<'_, '_>) -> Option<u64> {
    let ns = (in_units(element, &TIMES)? / 1e3).round();
    (ns <= 1e18).then_some(ns as u64)
}

/// A size in bytes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in bounds")]
pub(super) fn bytes(element: Element<'_, '_>) -> Option<u64> {
    let bits = in_units(element, &SIZES).or_else(|| number(element, "numberBits"))?;
    Some((bits / 8.0).ceil().clamp(0.0, 1e15) as u64)
}

fn number(element: Element<'_, '_>, name: &str) -> Option<f64> {
    let (text, _) = element.text(name)?;
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// How much it is in the mean, and whether it is always as much.
pub(super) fn mean(element: Element<'_, '_>) -> Option<(f64, bool)> {
    mean_within(element, 0)
}

fn mean_within(element: Element<'_, '_>, depth: u32) -> Option<(f64, bool)> {
    if let Some(value) = number(element, "value") {
        return Some((value, true));
    }
    let named = ["average", "mean"].into_iter().find_map(|name| number(element, name));
    let bounds = number(element, "lowerBound").zip(number(element, "upperBound"));
    let middle = bounds.map(|(lower, upper)| f64::midpoint(lower, upper));
    if let Some(mean) = named.or(middle) {
        return Some((mean, false));
    }
    if depth > DEPTH_MAX {
        return None;
    }
    let within = |child: Element<'_, '_>| Some(mean_within(child, depth + 1)?.0);
    let own = |name| element.each(name).next().and_then(within);
    if let Some((lower, upper)) = own("lowerBound").zip(own("upperBound")) {
        return Some((f64::midpoint(lower, upper), false));
    }
    let counted = element.each("entries").filter_map(|entry| {
        Some((number(entry, "occurrences")?, mean_within(entry, depth + 1)?.0))
    });
    let (count, sum) = counted
        .fold((0.0, 0.0), |(count, sum), (times, value)| (count + times, sum + times * value));
    if count > 0.0 {
        return Some((sum / count, false));
    }
    element.elements().find_map(|child| mean_within(child, depth + 1))
}
