//! Three tasks in a stream. Each is a function that the [[task]] of its name in app.toml runs.
#![no_std]
#![forbid(unsafe_code)]

use whimbrel_task::{Error, Input, Output, Task, message, println, tasks};

tasks!(sensor, filter, sink);

const SAMPLES: u32 = 200;
const WINDOW: usize = 8;

message! {
    /// Its size is `slot_bytes` in app.toml.
    struct Sample {
        number: u32,
        value: i32,
        moves: u32, // of the filter so far
    }
}

/// Sends a sawtooth, one sample in each period.
fn sensor(task: &mut Task) -> Result<(), Error> {
    let mut out = Output::<Sample>::new(task, c"out");

    for number in 0..SAMPLES {
        if task.stopping() {
            break;
        }
        out.send(&Sample { number, value: (number % 50) as i32, moves: 0 }, None)?;
        task.period_wait();
    }
    Ok(())
}

/// Replaces each value by the mean of the last ones. They are on its stack, which moves along.
fn filter(task: &mut Task) -> Result<(), Error> {
    let mut samples = Input::<Sample>::new(task, c"in");
    let mut out = Output::<Sample>::new(task, c"out");
    let mut window = [0; WINDOW];
    let mut sum = 0;

    while let Ok(mut sample) = samples.receive(None) {
        let oldest = &mut window[sample.number as usize % WINDOW];
        sum += sample.value - *oldest;
        *oldest = sample.value;
        sample.value = sum / WINDOW as i32;
        sample.moves = task.migrations() as u32;
        out.send(&sample, None)?;
        task.checkpoint(); // here it may leave its core; it goes on here, on another
    }
    Ok(())
}

/// Counts the samples. A panic ends its task, and the run fails once the others are over.
fn sink(task: &mut Task) {
    let mut samples = Input::<Sample>::new(task, c"in");
    let (mut n, mut sum, mut moves) = (0, 0, 0);

    while let Ok(sample) = samples.receive(None) {
        assert_eq!(sample.number, n, "a sample is missing");
        if sample.moves != moves {
            println!("sample {n} comes after move {} of the filter", sample.moves);
        }
        n += 1;
        sum += sample.value;
        moves = sample.moves;
        task.checkpoint();
    }
    println!("{n} samples, none lost, sum {sum}");
}
