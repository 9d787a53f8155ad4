// SPDX-License-Identifier: Apache-2.0
//! Times as text: `"1.5ms"`.

use crate::reader::Node;

/// How a time is written.
pub(crate) const TIME: &str =
    "a time as \"500ns\", \"20us\", \"1.5ms\" or \"2s\", at most \"1000000s\"";

const MOST_NS: f64 = 1e15;

/// Nanoseconds, rounded.
pub(crate) fn time_ns(node: &Node<'_>) -> Option<u64> {
    parse(node.get_ref().as_str()?)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
fn parse(text: &str) -> Option<u64> {
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let (count, unit) = text.split_at(text.len() - digits.len());
    let scale = match unit.trim_start() {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let ns = count.parse::<f64>().ok()? * scale;
    (ns <= MOST_NS).then_some(ns.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn a_time_is_a_number_with_a_unit() {
        assert_eq!(parse("500ns"), Some(500));
        assert_eq!(parse("1.5ms"), Some(1_500_000));
        assert_eq!(parse("0 us"), Some(0));
        assert_eq!(parse("1000000s"), Some(1_000_000_000_000_000));
        for wrong in ["", "5", "ms", "1.5.5ms", "-1ms", "1e3ms", "5 min", "1000001s", "."] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
