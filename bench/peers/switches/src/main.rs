// SPDX-License-Identifier: Apache-2.0
//! Two tasks of one thread yield to each other: `tokio_switch SWITCHES`.

use std::time::Instant;

use tokio::runtime::Builder;
use tokio::task::yield_now;

async fn yield_often(times: u64) {
    for _ in 0..times {
        yield_now().await;
    }
}

fn main() {
    let switches: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .expect("usage: tokio_switch SWITCHES");
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let seconds = runtime.block_on(async {
        let other = tokio::spawn(yield_often(switches / 2));
        let one = tokio::spawn(yield_often(switches / 2));
        let from = Instant::now();
        one.await.expect("a task");
        other.await.expect("a task");
        from.elapsed().as_secs_f64()
    });
    println!("{{\"switches\": {switches}, \"seconds\": {seconds:.6}}}");
}
