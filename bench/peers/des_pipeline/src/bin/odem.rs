// SPDX-License-Identifier: Apache-2.0
//! The pipeline on odem-rs: a job for each stage, between channels of fixed size.

use std::cell::Cell;
use std::pin::pin;

use des_pipeline::{PERIOD, SERVICE, SLOTS, report};
use odem_rs::prelude::*;
use odem_rs::sync::channel::pinned::{Receiver, Sender};

/// The source: a frame is the time at which it was made.
async fn make(sim: &Sim, frames: u64, out: Sender<f64>) {
    for frame in 0..frames {
        if frame > 0 {
            sim.advance(f64::from(PERIOD)).await;
        }
        if out.send(sim.now()).await.is_err() {
            return;
        }
    }
}

async fn pass(sim: &Sim, service: u32, from: Receiver<f64>, to: Sender<f64>) {
    while let Ok(frame) = from.recv().await {
        sim.advance(f64::from(service)).await;
        if to.send(frame).await.is_err() {
            return;
        }
    }
}

async fn finish(sim: &Sim, service: u32, from: Receiver<f64>, latency: &Cell<f64>) {
    while let Ok(frame) = from.recv().await {
        sim.advance(f64::from(service)).await;
        latency.set(sim.now() - frame);
    }
}

async fn pipeline(sim: &Sim, frames: u64, latency: &Cell<f64>) {
    let [s0, s1, s2, s3, s4, s5] = SERVICE;
    let c0 = pin!(Channel::fixed::<SLOTS>());
    let c1 = pin!(Channel::fixed::<SLOTS>());
    let c2 = pin!(Channel::fixed::<SLOTS>());
    let c3 = pin!(Channel::fixed::<SLOTS>());
    let c4 = pin!(Channel::fixed::<SLOTS>());
    let c5 = pin!(Channel::fixed::<SLOTS>());
    let ((t0, r0), (t1, r1), (t2, r2)) = (c0.split(), c1.split(), c2.split());
    let ((t3, r3), (t4, r4), (t5, r5)) = (c3.split(), c4.split(), c5.split());
    let source = pin!(Job::new(make(sim, frames, t0)));
    let stage_0 = pin!(Job::new(pass(sim, s0, r0, t1)));
    let stage_1 = pin!(Job::new(pass(sim, s1, r1, t2)));
    let stage_2 = pin!(Job::new(pass(sim, s2, r2, t3)));
    let stage_3 = pin!(Job::new(pass(sim, s3, r3, t4)));
    let stage_4 = pin!(Job::new(pass(sim, s4, r4, t5)));
    let stage_5 = pin!(Job::new(finish(sim, s5, r5, latency)));
    sim.activate(source);
    sim.activate(stage_0);
    sim.activate(stage_1);
    sim.activate(stage_2);
    sim.activate(stage_3);
    sim.activate(stage_4);
    sim.activate(stage_5).await;
}

fn main() {
    report(|frames| {
        let latency = Cell::new(0.0);
        simulation(async |sim: &Sim| pipeline(sim, frames, &latency).await)
            .map(|_| latency.get())
            .map_err(|error| format!("{error:?}"))
    })
}
