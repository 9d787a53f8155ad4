// SPDX-License-Identifier: Apache-2.0
// How do I write a task in Rust?
//
//     make -C examples/rust &&
//         bin/whimbrel run examples/rust/app.toml --cores 0,1 --shuttle meter=1,0@50ms
//
// With the crate whimbrel-task, and without std, which has thread-local variables.
#![no_std]
#![forbid(unsafe_code)]

use whimbrel_task::{Error, Input, Output, Task, println};

whimbrel_task::tasks!(generator, meter);

fn generator(task: &mut Task) -> Result<(), Error> {
    let mut out = Output::<f64>::new(task, c"out");

    for n in 0..40 {
        out.send(&f64::from(n), None)?;
        task.period_wait();
        task.checkpoint();
    }
    Ok(())
}

fn meter(task: &mut Task) {
    let mut samples = Input::<f64>::new(task, c"in");
    let (mut n, mut sum) = (0, 0.0);

    while let Ok(sample) = samples.receive(None) {
        n += 1;
        sum += sample;
        task.checkpoint();
    }
    let moved = if task.migrations() > 0 { "has moved" } else { "has not moved" };
    println!("{n} samples, sum {sum}, the meter {moved}");
}
