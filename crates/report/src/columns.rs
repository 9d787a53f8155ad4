// SPDX-License-Identifier: Apache-2.0
//! Numbers as text: a column is the base64 of its differences, each zigzag and LEB128.
//!
//! Times of events differ by little, so most take two or three bytes instead of fifteen digits.
//! `decode` in `assets/base.js` is the other half.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use flate2::Compression;
use flate2::write::DeflateEncoder;

/// A column of numbers.
pub fn encode(numbers: impl IntoIterator<Item = i64>) -> String {
    STANDARD_NO_PAD.encode(differences(numbers))
}

/// Columns of the same length, one after the other, compressed. The page unpacks them when it needs
/// them: `unpack` in `assets/events.js` is the other half.
pub fn pack(columns: &[Vec<i64>]) -> String {
    let mut deflate = DeflateEncoder::new(Vec::new(), Compression::default());
    let packed = columns
        .iter()
        .try_for_each(|column| deflate.write_all(&differences(column.iter().copied())));
    // What is written to is memory, so there is nothing that could fail.
    let bytes = packed.and_then(|()| deflate.finish()).expect("memory");
    STANDARD_NO_PAD.encode(bytes)
}

fn differences(numbers: impl IntoIterator<Item = i64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut before = 0_i64;
    for number in numbers {
        push(&mut bytes, zigzag(number.wrapping_sub(before)));
        before = number;
    }
    bytes
}

/// Small numbers of either sign become small ones without: 0, -1, 1, -2 are 0, 1, 2, 3.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// A time or a count, which are far from the end of either range.
pub fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(text: &str) -> Vec<i64> {
        let (mut numbers, mut value, mut shift, mut before) = (Vec::new(), 0_u64, 0, 0_i64);
        for byte in STANDARD_NO_PAD.decode(text).unwrap() {
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                before += (value >> 1) as i64 ^ -((value & 1) as i64);
                numbers.push(before);
                (value, shift) = (0, 0);
            }
        }
        numbers
    }

    #[test]
    fn numbers_come_back_as_they_were() {
        let numbers = [0, 1, -1, 63, 64, -64, -65, 1 << 52, -(1 << 52), 300, 300];
        assert_eq!(decode(&encode(numbers)), numbers);
    }

    #[test]
    fn times_a_microsecond_apart_take_two_bytes_each() {
        let text = encode((0..3000).map(|at| at * 1000));
        assert!(text.len() < 3000 * 3, "{}", text.len());
    }
}
