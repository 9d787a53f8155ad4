// SPDX-License-Identifier: Apache-2.0
//! `occupy noise`: what a spinning thread misses.

use rustix::process::getpid;

use super::args::NoiseArgs;
use super::{Failure, choose, json, print, report};
use crate::guardian::Guard;
use crate::quiet::{Before, Noise, Report, noise};
use crate::{CpuSet, Error, Machine, Policy, Request};

/// Spins, and shows what was missed.
pub fn noise(machine: &Machine, args: &NoiseArgs) -> Result<u8, Failure> {
    let asked = args.cpu.map(CpuSet::one);
    let cpus = if args.occupied || asked.is_none() {
        choose(machine, asked.as_ref())?
    } else {
        asked.unwrap_or_default()
    };
    let cpu = cpus.iter().next().unwrap_or_default();
    if !args.occupied {
        let noise = spin(args, cpu)?;
        print(&if args.json { json(&noise)? } else { noise.to_string() })?;
        return Ok(0);
    }
    let both = twice(machine, args, cpu)?;
    if let Some(file) = &args.report {
        report::write(&both, file)?;
    }
    print(&if args.json { json(&both)? } else { both.to_string() })?;
    Ok(0)
}

fn spin(args: &NoiseArgs, cpu: usize) -> Result<Noise, Error> {
    noise::run(cpu, args.duration, args.threshold)
}

/// Measures before an occupation, and then as its program.
fn twice(machine: &Machine, args: &NoiseArgs, cpu: usize) -> Result<Report, Error> {
    let request = Request {
        cpus: Some(CpuSet::one(cpu)),
        soft: false,
        policy: Policy::Fair { nice: None },
        shield: None,
        command: std::env::args().collect(),
    };
    let this = machine.identify(getpid().as_raw_nonzero().get())?;
    let before = spin(args, cpu)?;
    let mut counted = Before::take(machine, &CpuSet::one(cpu))?;
    let mut guard = Guard::begin(&request)?;
    let measured = guard.admit(this).and_then(|()| {
        counted.begin(Some(this))?;
        let during = spin(args, cpu)?;
        Ok((during, counted.during(Some(this))?))
    });
    guard.end()?;
    let (during, report) = measured?;
    Ok(Report { noise_before: Some(before), noise_during: Some(during), ..report })
}
