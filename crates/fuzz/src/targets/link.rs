// SPDX-License-Identifier: Apache-2.0
//! The serial line to a board, as the command reads it: pieces with a right checksum, which a
//! random input would not have, and any other bytes, while it writes and time passes.

use std::time::{Duration, Instant};

use crate::link::Link;

const SESSION: u32 = 0x5eed_0001;
const KINDS: &[u8; 5] = b".+=?!";
const PATIENCE: Duration = Duration::from_millis(500);

pub fn read(data: &[u8]) {
    let mut now = Instant::now();
    let mut link = Link::new(SESSION, PATIENCE, now);
    let mut board = Link::new(SESSION, PATIENCE, now);
    let mut input = data.iter().copied();
    while let Some(step) = input.next() {
        match step % 4 {
            0 => link.take(&some(&mut input), now),
            1 => {
                let kind = KINDS[usize::from(byte(&mut input)) % KINDS.len()];
                let numbers = [(); 4].map(|()| byte(&mut input));
                board.put(kind, u32::from_be_bytes(numbers), &some(&mut input));
                link.take(&std::mem::take(&mut board.out), now);
            }
            2 => link.write(&some(&mut input), now),
            _ => {
                now += Duration::from_millis(20) * u32::from(byte(&mut input));
                link.tick(now);
            }
        }
        // Of one step no more than what is under way, and what has come.
        assert!(link.out.len() < 1 << 16 && link.lines.len() <= 256);
        link.out.clear();
        link.lines.clear();
    }
}

fn byte(input: &mut impl Iterator<Item = u8>) -> u8 {
    input.next().unwrap_or_default()
}

/// As many bytes as the next one says.
fn some(input: &mut impl Iterator<Item = u8>) -> Vec<u8> {
    let n = byte(input);
    input.take(n.into()).collect()
}
