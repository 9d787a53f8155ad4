// SPDX-License-Identifier: Apache-2.0
//! Two tasks of one thread yield to each other: `tokio_switch BATCHES`. Prints the median batch.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tokio::runtime::Builder;
use tokio::task::yield_now;

const BATCH: u32 = 256;

static OVER: AtomicBool = AtomicBool::new(false);

async fn yield_on() {
    while !OVER.load(Ordering::Relaxed) {
        yield_now().await;
    }
}

/// What a switch took in each batch. Each yield is two: there and back.
async fn measure(batches: usize) -> Vec<f64> {
    let mut took = Vec::with_capacity(batches);
    for _ in 0..batches {
        let from = Instant::now();
        for _ in 0..BATCH {
            yield_now().await;
        }
        took.push(from.elapsed().as_secs_f64() * 1e9 / f64::from(BATCH) / 2.0);
    }
    OVER.store(true, Ordering::Relaxed);
    took
}

fn main() {
    let batches = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .filter(|batches| *batches > 0)
        .expect("usage: tokio_switch BATCHES");
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let mut took = runtime.block_on(async {
        let other = tokio::spawn(yield_on());
        let took = tokio::spawn(measure(batches)).await.expect("a task");
        other.await.expect("a task");
        took
    });
    took.sort_by(f64::total_cmp);
    println!("{{\"switch_ns\": {:.2}}}", took[batches / 2]);
}
