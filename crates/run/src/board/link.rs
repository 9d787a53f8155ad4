// SPDX-License-Identifier: Apache-2.0
//! The serial line to a board survives flipped bits and lost bytes: what is sent over it goes in
//! numbered pieces with a checksum, which are sent again until the other side has them. See
//! `docs/kernels-linux-protocol.md`; the board's end is `launcher/board/link.c`.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use serde::Serialize;

/// Bytes of a line in one piece, and those behind them: a tab, the kind, two numbers, the checksum.
const PIECE: usize = 192;
const TAIL: usize = 18;
/// So many pieces are under way at most.
const FLIGHT: usize = 8;
/// Nothing that is longer is a piece.
const FRAME_MAX: usize = 4096;
/// Each time that nothing has come of it, all is sent again after twice as long, up to this.
const PATIENCE_MAX: u32 = 8;
/// A board that takes nothing for this long is stuck.
const TAKE: Duration = Duration::from_secs(5);
/// How much of a damaged piece is shown, in characters.
const SHOWN: usize = 200;

const LAST: u8 = b'.';
const MORE: u8 = b'+';
const ACK: u8 = b'=';
const AGAIN: u8 = b'?';
const OPEN: u8 = b'!';

/// What had to be sent again, in pieces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// By the command.
    pub repeated_to_board: u64,
    /// By the board.
    pub repeated_from_board: u64,
    /// How many came damaged to the command.
    pub damaged: u64,
}

/// What is known of a line, from another thread.
#[derive(Debug, Clone, Default)]
pub struct Watch(Arc<Mutex<(Counts, Option<String>)>>);

impl Watch {
    /// How much was sent again so far.
    pub fn counts(&self) -> Counts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// What has come that is no piece, if nothing else has come since.
    pub fn noise(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }
}

/// Puts the checks between a line and whoever speaks over it: gives the end for plain lines.
/// `patience` is how long an answer may take. When either end closes, so does the other.
///
/// # Errors
/// There are no more sockets.
pub fn guard(line: UnixStream, patience: Duration) -> io::Result<(UnixStream, Watch)> {
    let (ours, theirs) = UnixStream::pair()?;
    line.set_write_timeout(Some(TAKE))?;
    // A name that no other command has, and no run before this one.
    let session = RandomState::new().build_hasher().finish().to_le_bytes();
    let session = u32::from_le_bytes([session[0], session[1], session[2], session[3] | 1]);
    let watch = Watch::default();
    let link = Link::new(session, patience, Instant::now());
    let seen = watch.clone();
    thread::spawn(move || {
        // An error is that either has gone; then so has the other.
        let _ = relay(&line, &theirs, link, &seen);
        let _ = line.shutdown(Shutdown::Both);
        let _ = theirs.shutdown(Shutdown::Both);
    });
    Ok((ours, watch))
}

fn relay(
    mut line: &UnixStream,
    mut plain: &UnixStream,
    mut link: Link,
    watch: &Watch,
) -> io::Result<()> {
    let mut bytes = [0; 4096];
    let mut speaks = true;
    loop {
        line.write_all(&std::mem::take(&mut link.out))?;
        *watch.0.lock().unwrap_or_else(PoisonError::into_inner) = (link.counts, link.noise.clone());
        plain.write_all(&std::mem::take(&mut link.lines))?;
        let left = link.next.saturating_duration_since(Instant::now());
        let mut ends = [
            PollFd::new(&line, PollFlags::IN),
            PollFd::new(&plain, if speaks { PollFlags::IN } else { PollFlags::empty() }),
        ];
        let limit = left.try_into().map_err(io::Error::other)?;
        match poll(&mut ends, Some(&limit)) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        let [from_line, from_plain] = ends.map(|end| end.revents());
        let now = Instant::now();
        if from_plain.contains(PollFlags::HUP) {
            return Ok(());
        }
        if !from_line.is_empty() {
            match line.read(&mut bytes)? {
                0 => return Ok(()),
                n => link.take(&bytes[..n], now),
            }
        }
        if from_plain.contains(PollFlags::IN) {
            let n = plain.read(&mut bytes)?;
            speaks = n > 0;
            link.write(&bytes[..n], now);
        }
        link.tick(now);
    }
}

/// One end of a line: what is to be done with what comes, and with what is to be sent.
#[derive(Debug)]
pub(super) struct Link {
    session: u32,
    /// The other end has answered.
    is_open: bool,
    /// From number `first` on, each with its kind; the first `sent` of them are under way.
    pieces: VecDeque<(u8, Vec<u8>)>,
    first: u16,
    sent: usize,
    /// What has been written of a line.
    written: Vec<u8>,
    expected: u16,
    /// The last number that came out of order, and the one behind all that came.
    seen: u16,
    highest: u16,
    asked: bool,
    owes: bool,
    frame: Vec<u8>,
    patience: Duration,
    /// How many times its patience has ended since the other end was heard.
    vain: u32,
    /// When it ends.
    next: Instant,
    counts: Counts,
    noise: Option<String>,
    /// For the line.
    pub(super) out: Vec<u8>,
    /// For whoever reads.
    pub(super) lines: Vec<u8>,
}

impl Link {
    pub(super) fn new(session: u32, patience: Duration, now: Instant) -> Self {
        Self {
            session,
            is_open: false,
            pieces: VecDeque::new(),
            first: 0,
            sent: 0,
            written: Vec::new(),
            expected: 0,
            seen: 0,
            highest: 0,
            asked: false,
            owes: false,
            frame: Vec::new(),
            patience,
            vain: 0,
            next: now,
            counts: Counts::default(),
            noise: None,
            out: Vec::new(),
            lines: Vec::new(),
        }
    }

    // ---- Sending --------------------------------------------------------------------------------

    pub(super) fn put(&mut self, kind: u8, numbers: u32, text: &[u8]) {
        let begin = self.out.len();
        self.out.extend_from_slice(text);
        self.out.extend_from_slice(format!("\t{}{numbers:08x}", char::from(kind)).as_bytes());
        let seed = if kind == OPEN { 0 } else { self.session };
        let crc = crc32(seed, &self.out[begin..]);
        self.out.extend_from_slice(format!("{crc:08x}\n").as_bytes());
    }

    fn send(&mut self, kind: u8, number: u16, text: &[u8]) {
        self.owes = false;
        self.put(kind, (u32::from(number) << 16) | u32::from(self.expected), text);
    }

    fn behind_all(&self) -> u16 {
        offset(self.first, self.pieces.len())
    }

    /// What may be under way, is.
    fn fly(&mut self) {
        while self.is_open && self.sent < FLIGHT.min(self.pieces.len()) {
            let (kind, text) = self.pieces[self.sent].clone();
            self.send(kind, offset(self.first, self.sent), &text);
            self.sent += 1;
        }
    }

    fn send_again(&mut self, now: Instant) {
        self.counts.repeated_to_board += self.sent as u64;
        self.sent = 0;
        self.rest(now);
        self.fly();
    }

    fn rest(&mut self, now: Instant) {
        self.next = now + self.patience * (1 << self.vain.min(31)).min(PATIENCE_MAX);
    }

    /// Once for each piece: what is under way meanwhile asks for nothing.
    fn ask(&mut self) {
        self.asked = true;
        self.send(AGAIN, self.behind_all(), &[]);
    }

    /// Takes lines, in any parts.
    pub(super) fn write(&mut self, bytes: &[u8], now: Instant) {
        if self.pieces.is_empty() && self.is_open {
            self.rest(now);
        }
        for &byte in bytes {
            let ends = byte == b'\n';
            if ends || self.written.len() == PIECE {
                let kind = if ends { LAST } else { MORE };
                self.pieces.push_back((kind, std::mem::take(&mut self.written)));
            }
            if !ends {
                self.written.push(byte);
            }
        }
        self.fly();
    }

    /// Acknowledges what has come, and sends again what the other end seems to lack.
    pub(super) fn tick(&mut self, now: Instant) {
        if now >= self.next {
            if !self.is_open {
                self.out.push(b'\n');
                self.put(OPEN, self.session, &[]);
                self.next = now + self.patience;
            } else if self.pieces.is_empty() {
                self.next = now + self.patience * PATIENCE_MAX;
            } else {
                self.vain += 1;
                self.send_again(now);
            }
        }
        if self.owes {
            self.send(ACK, self.behind_all(), &[]);
        }
    }

    // ---- Receiving ------------------------------------------------------------------------------

    pub(super) fn take(&mut self, bytes: &[u8], now: Instant) {
        for &byte in bytes {
            if byte != b'\n' {
                if self.frame.len() < FRAME_MAX {
                    self.frame.push(byte);
                }
            } else if !self.frame.is_empty() {
                let frame = std::mem::take(&mut self.frame);
                self.take_frame(&frame, now);
            }
        }
    }

    fn take_frame(&mut self, frame: &[u8], now: Instant) {
        let Some((text, kind, number, ack)) = self.parts(frame) else {
            let text = String::from_utf8_lossy(frame);
            let beginning: String = text.trim_end().chars().take(SHOWN).collect();
            self.noise = Some(beginning.escape_debug().collect());
            if self.is_open {
                self.counts.damaged += 1;
                if !self.asked {
                    self.ask();
                }
            }
            return;
        };
        self.noise = None;
        self.is_open = true;
        let done = usize::from(ack.wrapping_sub(self.first));
        if done > 0 && done <= self.pieces.len() {
            self.pieces.drain(..done);
            (self.first, self.sent) = (ack, self.sent.saturating_sub(done));
            self.vain = 0;
            self.rest(now);
        }
        if kind == AGAIN {
            self.send_again(now);
        }
        self.fly();
        if kind == LAST || kind == MORE {
            self.take_piece(kind, number, text);
        }
    }

    /// Of a piece that is whole, and of this session: its text, its kind and its numbers.
    fn parts<'a>(&self, frame: &'a [u8]) -> Option<(&'a [u8], u8, u16, u16)> {
        let (text, tail) = frame.split_at_checked(frame.len().checked_sub(TAIL)?)?;
        let number = |from: usize, to: usize| {
            let digits = std::str::from_utf8(&tail[from..to]).ok()?;
            u32::from_str_radix(digits, 16).ok()
        };
        let checked = &frame[..frame.len() - 8];
        let whole = tail[0] == b'\t' && number(10, TAIL)? == crc32(self.session, checked);
        let short = |number: u32| u16::try_from(number).ok();
        whole.then_some(())?;
        Some((text, tail[1], short(number(2, 6)?)?, short(number(6, 10)?)?))
    }

    fn take_piece(&mut self, kind: u8, number: u16, text: &[u8]) {
        let is_behind = |number: u16, other: u16| number.wrapping_sub(other) >= 1 << 15;
        self.owes = true;
        if is_behind(number, self.highest) {
            self.counts.repeated_from_board += 1;
        } else {
            self.highest = number.wrapping_add(1);
        }
        if number == self.expected {
            self.lines.extend_from_slice(text);
            if kind == LAST {
                self.lines.push(b'\n');
            }
            self.expected = self.expected.wrapping_add(1);
            self.asked = false;
        } else if !is_behind(number, self.expected) {
            // The numbers of what is under way rise. Where they fall it was sent again, in vain.
            if !self.asked || number == self.seen || is_behind(number, self.seen) {
                self.ask();
            }
            self.seen = number;
        }
    }
}

fn offset(number: u16, places: usize) -> u16 {
    // Numbers run on, modulo 2^16.
    number.wrapping_add((places & 0xffff) as u16)
}

/// CRC-32 (IEEE 802.3), continued from `crc`.
fn crc32(crc: u32, bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    let of_byte = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), step);
    !bytes.iter().fold(!crc, of_byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_millis(1);

    /// Bits that are flipped, the same each time.
    struct Noise {
        state: u64,
        rate: f64,
        flips: u64,
    }

    impl Noise {
        fn draw(&mut self) -> f64 {
            self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from((self.state >> 33) as u32) / f64::from(1_u32 << 31)
        }

        fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
            let mut passed = bytes.to_vec();
            for byte in &mut passed {
                for bit in 0..8 {
                    if self.draw() < self.rate {
                        *byte ^= 1 << bit;
                        self.flips += 1;
                    }
                }
            }
            passed
        }
    }

    fn lines(of: &str) -> Vec<u8> {
        let line = |n: usize| format!("{{\"{of}\":\"{}\"}}\n", "0123456789".repeat(n * 7 % 60));
        (0..200).map(line).collect::<String>().into_bytes()
    }

    /// Two ends that tell each other lines over a line with so much noise: what each has heard.
    fn converse(rate: f64) -> ([Vec<u8>; 2], Counts, u64) {
        let start = Instant::now();
        let mut ends = [7, 7].map(|session| Link::new(session, Duration::from_millis(50), start));
        for (end, of) in ends.iter_mut().zip(["left", "right"]) {
            end.is_open = true;
            end.write(&lines(of), start);
        }
        let mut noise = Noise { state: 1, rate, flips: 0 };
        let mut heard = [Vec::new(), Vec::new()];
        let mut now = start;
        while heard[0].len() < lines("right").len() || heard[1].len() < lines("left").len() {
            now += STEP;
            assert!(now < start + Duration::from_secs(3600), "it never ends at {rate}");
            for (from, to) in [(0, 1), (1, 0)] {
                ends[from].tick(now);
                let sent = std::mem::take(&mut ends[from].out);
                ends[to].take(&noise.pass(&sent), now);
                heard[to].append(&mut ends[to].lines);
            }
        }
        (heard, ends[0].counts, noise.flips)
    }

    #[test]
    fn all_lines_come_once_and_in_order_whatever_bits_are_flipped() {
        for rate in [0.0, 1e-5, 1e-4, 5e-4] {
            let (heard, counts, flips) = converse(rate);
            println!("{rate}: {flips} bits, {counts:?}");
            assert!(heard == [lines("right"), lines("left")], "at {rate}");
            assert_eq!(counts == Counts::default(), flips == 0, "{counts:?}");
            assert_eq!(flips == 0, rate == 0.0);
        }
    }

    /// The end of a board, as it is compiled for one: launcher/board/link.c in a process that this
    /// clock drives. How many pieces it has sent again.
    struct Board {
        process: std::process::Child,
        highest: Option<u16>,
        repeated: u64,
    }

    impl Board {
        fn start(speaks: &[u8]) -> Self {
            let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
            let end = format!("{root}/build/test-apps/board_end");
            let mut process = std::process::Command::new(end)
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .expect("`make test-modules` builds the board's end");
            let input = process.stdin.as_mut().unwrap();
            input.write_all(&u32::try_from(speaks.len()).unwrap().to_le_bytes()).unwrap();
            input.write_all(speaks).unwrap();
            Self { process, highest: None, repeated: 0 }
        }

        /// What has come to it at this time; what it sends then, and what it has heard.
        fn step(&mut self, now: Duration, came: &[u8]) -> (Vec<u8>, Vec<u8>) {
            let input = self.process.stdin.as_mut().unwrap();
            input.write_all(&u64::try_from(now.as_nanos()).unwrap().to_le_bytes()).unwrap();
            input.write_all(&u32::try_from(came.len()).unwrap().to_le_bytes()).unwrap();
            input.write_all(came).unwrap();
            input.flush().unwrap();
            let output = self.process.stdout.as_mut().unwrap();
            let mut sizes = [[0; 4]; 2];
            sizes.iter_mut().for_each(|size| output.read_exact(size).unwrap());
            let [sent, heard] = sizes.map(|size| {
                let mut bytes = vec![0; u32::from_le_bytes(size) as usize];
                output.read_exact(&mut bytes).unwrap();
                bytes
            });
            sent.split(|byte| *byte == b'\n').for_each(|frame| self.count(frame));
            (sent, heard)
        }

        /// Numbers of pieces rise but for those that are sent again.
        fn count(&mut self, frame: &[u8]) {
            let Some(tail) = frame.len().checked_sub(TAIL).map(|at| &frame[at..]) else { return };
            if tail[1] != LAST && tail[1] != MORE {
                return;
            }
            let number = std::str::from_utf8(&tail[2..6]).unwrap();
            let number = u16::from_str_radix(number, 16).unwrap();
            if self.highest.is_some_and(|highest| number <= highest) {
                self.repeated += 1;
            } else {
                self.highest = Some(number);
            }
        }
    }

    impl Drop for Board {
        fn drop(&mut self) {
            let _ = self.process.kill();
            let _ = self.process.wait();
        }
    }

    #[test]
    fn the_end_of_a_board_and_this_one_hear_all_in_order_whatever_bits_are_flipped() {
        for rate in [0.0, 1e-5, 1e-4, 2e-4] {
            let (ours, its) = (lines("command"), lines("board"));
            let start = Instant::now();
            let mut link = Link::new(0x5eed, Duration::from_millis(50), start);
            let mut board = Board::start(&its);
            let mut noise = Noise { state: 1, rate, flips: 0 };
            let (mut it_heard, mut sent) = (Vec::new(), Vec::new());
            let mut now = Duration::ZERO;
            link.write(&ours, start);
            while it_heard.len() < ours.len() || link.lines.len() < its.len() {
                now += STEP;
                assert!(now < Duration::from_secs(3600), "it never ends at {rate}");
                link.take(&noise.pass(&sent), start + now);
                link.tick(start + now);
                let came = noise.pass(&std::mem::take(&mut link.out));
                let (sends, hears) = board.step(now, &came);
                it_heard.extend(hears);
                sent = sends;
            }
            let (counts, flips, repeated) = (link.counts, noise.flips, board.repeated);
            println!("{rate}: {flips} bits, {counts:?}, the board has repeated {repeated}");
            assert!(it_heard == ours && link.lines == its, "at {rate}");
            assert_eq!(counts.repeated_to_board + repeated == 0, flips == 0, "{counts:?}");
            assert_eq!(flips == 0, rate == 0.0);
            // What it has sent again may be damaged, too.
            assert!(counts.repeated_from_board <= repeated, "{counts:?}");
            assert!(counts.repeated_from_board + counts.damaged >= repeated.min(1), "{counts:?}");
        }
    }

    #[test]
    fn a_checksum_is_that_of_ieee_802_3_and_goes_on_from_the_sessions_name() {
        assert_eq!(crc32(0, b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(0x1234_abcd, b"hello\t.00000000"), 0x6595_ca43);
    }

    #[test]
    fn a_board_is_asked_until_it_answers_and_what_it_prints_before_is_noise() {
        let start = Instant::now();
        let mut link = Link::new(0x1234_abcd, Duration::from_secs(1), start);
        link.write(b"{\"status\":{}}\n", start);
        link.tick(start);
        let open = b"\n\t!1234abcde6074b8c\n";
        assert_eq!(link.out, open);
        link.tick(start + Duration::from_millis(999));
        assert_eq!(link.out, open);
        link.tick(start + Duration::from_secs(1));
        assert_eq!(link.out, open.repeat(2));
        link.take(b"U-Boot 2023.01\r\n", start);
        assert_eq!(link.noise.as_deref(), Some("U-Boot 2023.01"));
        assert_eq!(link.counts, Counts::default());
        link.out.clear();
        let mut board = Link::new(0x1234_abcd, Duration::from_secs(1), start);
        board.is_open = true;
        board.send(ACK, 0, &[]);
        link.take(&board.out, start);
        assert!(link.out.starts_with(b"{\"status\":{}}\t.00000000"));
        assert_eq!(link.noise, None);
    }
}
