// SPDX-License-Identifier: Apache-2.0
//! The pipeline that every engine simulates, and the line that each prints.
//!
//! A source makes a frame every [`PERIOD`], each stage takes [`SERVICE`] over a frame, and before
//! each stage is a queue of [`SLOTS`]. Who finds the next queue full waits and keeps its frame. A
//! frame is seven events: it is made, and it is done in six stages. No stage is slower than the
//! source, so a frame is at the end [`LATENCY`] after it was made.

use std::time::Instant;

/// Units of time that each stage takes over a frame.
pub const SERVICE: [u32; 6] = [5, 45, 13, 13, 13, 5];
/// Frames that fit before each stage.
pub const SLOTS: usize = 14;
/// Units of time between frames.
pub const PERIOD: u32 = 46;
/// What every frame must take.
pub const LATENCY: f64 = 94.0;

/// Runs one engine for the number of frames on the command line, and prints its line.
///
/// `simulate` gets the number of frames and returns the latency of the last in units of time. Exit
/// code 0: it is right; 1: it is not; 2: no number of frames, or a failure.
pub fn report<E: std::fmt::Display>(simulate: impl FnOnce(u64) -> Result<f64, E>) -> ! {
    let Some(frames) = std::env::args().nth(1).and_then(|word| word.parse().ok()) else {
        eprintln!("give a number of frames");
        std::process::exit(2)
    };
    let start = Instant::now();
    match simulate(frames) {
        Ok(latency) => {
            let (events, seconds) = (frames * 7, start.elapsed().as_secs_f64());
            println!(
                r#"{{"events": {events}, "seconds": {seconds:.6}, "latency_last": {latency:.1}}}"#
            );
            std::process::exit(i32::from(latency != LATENCY))
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2)
        }
    }
}
