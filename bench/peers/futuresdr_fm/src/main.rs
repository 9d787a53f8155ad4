// SPDX-License-Identifier: Apache-2.0
//! The FM receiver of `fm_graph.py` on FutureSDR, on one core: input samples per second.
//!
//! Prints one JSON object. One worker of FutureSDR's default scheduler, pinned.

mod blocks;
mod receiver;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Parser;
use futuresdr::runtime::Runtime;
use futuresdr::runtime::config;
use futuresdr::runtime::scheduler::SmolScheduler;
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::receiver::{Receiver, read};

const PEER: &str = "futuresdr 0.8.0";
const BUFFER_BYTES: u64 = 128 * 1024;
const WARM_UP_SAMPLES: usize = 8_000_000;

#[derive(Parser)]
#[command(about = "FM receiver on FutureSDR, on one core")]
struct Args {
    /// Folder that fm_graph.py has written
    #[arg(long)]
    graph: PathBuf,
    /// Core that this process runs on
    #[arg(long)]
    cpu: usize,
    /// Length of one repeat
    #[arg(long, default_value_t = 0.4)]
    seconds: f64,
    /// The median of them is reported
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Compare the output with numpy's
    #[arg(long)]
    check: bool,
}

#[derive(Serialize)]
struct Row {
    peer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation: Option<f64>,
    #[serde(flatten)]
    rates: Option<Rates>,
}

#[derive(Serialize)]
struct Rates {
    samples_per_s: u64,
    min: u64,
    max: u64,
    repeats: u32,
    cpu_share: f64,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("futuresdr_fm: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> Result<ExitCode> {
    pin(args.cpu)?;
    config::set("buffer_size", BUFFER_BYTES);
    // The worker thread inherits the one core of this thread.
    let runtime = Runtime::with_scheduler(SmolScheduler::with_config(1, false));
    let receiver = Receiver::load(&args.graph)?;

    let mut row = Row { peer: PEER, correlation: None, rates: None };
    let mut code = ExitCode::SUCCESS;
    if args.check {
        let found = check(&receiver, &runtime, args)?;
        row.correlation = Some(rounded(found, 1e6));
        if found < receiver.graph.correlation_at_least {
            code = ExitCode::FAILURE;
        }
    }
    if code == ExitCode::SUCCESS {
        row.rates = Some(measure(&receiver, &runtime, args)?);
    }
    println!("{}", serde_json::to_string(&row)?);
    Ok(code)
}

fn pin(cpu: usize) -> Result<()> {
    let mut cores = CpuSet::new();
    if cpu < CpuSet::MAX_CPU {
        cores.set(cpu);
    }
    sched_setaffinity(None, &cores).with_context(|| format!("cpu {cpu}"))
}

fn check(receiver: &Receiver, runtime: &Runtime, args: &Args) -> Result<f64> {
    let bytes = read(&args.graph, "reference.f32")?;
    let expected: Vec<f32> = bytes.as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect();
    let expected = expected.get(receiver.outputs_missing()..).context("reference.f32 is empty")?;
    let output = receiver.one_pass(runtime)?;
    Ok(correlation(&output, expected, receiver.graph.settle_outputs))
}

/// Pearson's coefficient of what both hold; 0 when the output is cut short or not finite.
fn correlation(output: &[f32], expected: &[f32], settle: usize) -> f64 {
    let both = output.len().min(expected.len());
    let cut_short = output.len() * 100 < expected.len() * 99 || both <= settle;
    if cut_short || output.iter().any(|value| !value.is_finite()) {
        return 0.0;
    }
    let (x, y) = (centred(&output[settle..both]), centred(&expected[settle..both]));
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let norm = (dot(&x, &x) * dot(&y, &y)).sqrt();
    if norm > 0.0 { dot(&x, &y) / norm } else { 0.0 }
}

fn centred(values: &[f32]) -> Vec<f64> {
    let mean = values.iter().copied().map(f64::from).sum::<f64>() / values.len() as f64;
    values.iter().map(|&value| f64::from(value) - mean).collect()
}

fn measure(receiver: &Receiver, runtime: &Runtime, args: &Args) -> Result<Rates> {
    let (warm, _) = timed_run(receiver, runtime, WARM_UP_SAMPLES)?;
    let samples = (WARM_UP_SAMPLES as f64 * args.seconds / warm.as_secs_f64()) as usize;
    let runs = (0..args.repeats)
        .map(|_| timed_run(receiver, runtime, samples))
        .collect::<Result<Vec<_>>>()?;
    let mut rates: Vec<f64> = runs.iter().map(|r| samples as f64 / r.0.as_secs_f64()).collect();
    rates.sort_by(f64::total_cmp);
    let wall: Duration = runs.iter().map(|r| r.0).sum();
    let cpu: Duration = runs.iter().map(|r| r.1).sum();
    Ok(Rates {
        samples_per_s: rates[rates.len() / 2] as u64,
        min: rates[0] as u64,
        max: rates[rates.len() - 1] as u64,
        repeats: args.repeats,
        cpu_share: rounded(cpu.as_secs_f64() / wall.as_secs_f64(), 1e3),
    })
}

/// Wall and processor time to take `samples` from memory to the sink.
fn timed_run(
    receiver: &Receiver,
    runtime: &Runtime,
    samples: usize,
) -> Result<(Duration, Duration)> {
    let fg = receiver.flowgraph(samples)?;
    let (start, cpu_start) = (Instant::now(), cpu_time());
    runtime.run(fg)?;
    Ok((start.elapsed(), cpu_time().saturating_sub(cpu_start)))
}

fn rounded(value: f64, steps: f64) -> f64 {
    (value * steps).round() / steps
}

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
