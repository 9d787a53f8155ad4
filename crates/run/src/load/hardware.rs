// SPDX-License-Identifier: Apache-2.0
//! What a run takes its cores to be: a platform, and how its operating points are set.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use whimbrel_model::{Core, Frequency, Platform, Point, Problem};
use whimbrel_text::option::{OUTPUT, PLATFORM};

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::files;
use crate::helpers;

/// The platform of the machine itself, which needs no file.
const HOST: &str = "host";
/// How many points are made of a range of frequencies that Linux offers without steps.
const STEPS: u64 = 4;

/// The cores of a run.
#[derive(Debug)]
pub struct Hardware {
    /// The platform's name.
    pub platform: String,
    /// One per core; empty: their frequencies are not known.
    pub cores: Vec<Core>,
    /// How their points are set.
    pub frequency: Frequency,
}

impl Hardware {
    /// The frequency that each core begins at; none where it is not known.
    pub fn hz(&self) -> Vec<u64> {
        let start = |core: &Core| core.points.get(core.start).map_or(0, |point| point.hz);
        self.cores.iter().map(start).collect()
    }

    /// The frequencies of each core's operating points, none where they are not known.
    pub fn points_hz(&self, n_cores: usize) -> Vec<Vec<u64>> {
        let hz = |core: &Core| core.points.iter().map(|point| point.hz).collect();
        let mut known: Vec<Vec<u64>> = self.cores.iter().map(hz).collect();
        known.resize(n_cores, Vec::new());
        known
    }
}

/// Reads the platform, and checks that it fits the processors `cpus`.
///
/// # Errors
/// A platform that does not exist, makes no sense or has another number of cores, or frequencies
/// that cannot be set here.
pub fn hardware(args: &RunArgs, cpus: &[u32]) -> Result<Hardware, Failure> {
    let Platform { name, mut cores, .. } = platform(args.platform.as_deref().unwrap_or(HOST))?;
    if !cores.is_empty() && cores.len() != cpus.len() {
        return Err(misfit(&name, cores.len(), cpus.len()).into());
    }
    let wanted = if cores.is_empty() { Frequency::None } else { Frequency::Emulate };
    let frequency = args.frequency.unwrap_or(wanted);
    match frequency {
        Frequency::Emulate if cores.is_empty() => {
            let message = format!("--frequency emulate: the platform {name} has no [[core.point]]");
            let help = format!("choose another with {PLATFORM}, as mpsoc3");
            return Err(Problem::new(message).help(help).into());
        }
        Frequency::Cpufreq => cores = machine_cores(cpus, cores)?,
        _ => {}
    }
    Ok(Hardware { platform: name, cores, frequency })
}

/// Reads a platform: `host`, the name of one that comes with Whimbrel, or a path.
///
/// # Errors
/// It does not exist, or makes no sense.
pub fn platform(wanted: &str) -> Result<Platform, Failure> {
    if wanted == HOST {
        return Ok(Platform::machine(HOST));
    }
    from_file(&file_of(wanted)?)
}

/// Reads the platform of a simulation: of the machine itself, what `calibrate` has measured.
///
/// # Errors
/// It does not exist, or makes no sense; or this machine was not measured.
pub fn simulated_platform(wanted: &str) -> Result<Platform, Failure> {
    from_file(&simulated_file(wanted)?)
}

/// Where the platform of a simulation is.
///
/// # Errors
/// This machine was not measured, and the platform is its.
pub fn simulated_file(wanted: &str) -> Result<PathBuf, Failure> {
    if wanted != HOST {
        return file_of(wanted);
    }
    let path = host_file()?;
    if path.is_file() {
        return Ok(path);
    }
    let message = format!("this machine was not measured: {} does not exist", path.display());
    let help = "run `whimbrel calibrate --app APP.toml`, which writes that file";
    Err(Problem::new(message).help(help).into())
}

/// Where the platform `host` of the simulator is.
///
/// # Errors
/// The user has no folder for configuration.
pub fn host_file() -> Result<PathBuf, Problem> {
    let folder = helpers::user_folder("XDG_CONFIG_HOME", ".config").ok_or_else(|| {
        Problem::new("this user has no folder for configuration")
            .help(format!("set XDG_CONFIG_HOME or HOME, or name a file with {OUTPUT}"))
    })?;
    Ok(folder.join("whimbrel/host.toml"))
}

/// Where a platform's file is, by its name or its path.
fn file_of(wanted: &str) -> Result<PathBuf, Failure> {
    if wanted.contains('/') || wanted.ends_with(".toml") {
        return Ok(PathBuf::from(wanted));
    }
    let path = helpers::root()?.join("platforms").join(format!("{wanted}.toml"));
    if path.exists() {
        Ok(path)
    } else {
        Err(helpers::no_such("platform", wanted, &platforms(), "a platform.toml").into())
    }
}

/// The platforms that came with this command, and that of this machine.
pub fn platforms() -> Vec<String> {
    helpers::names_in("platforms", |name| name.strip_suffix(".toml").map(str::to_owned))
}

fn from_file(path: &Path) -> Result<Platform, Failure> {
    let wanted =
        format!("give {PLATFORM} host, the name of a file in the folder platforms, or a path");
    let source = files::toml(path, "the platform", &wanted)?;
    Platform::parse(source.text()).map_err(|problems| Failure::in_file(&source, problems))
}

fn misfit(name: &str, wanted: usize, got: usize) -> Problem {
    let list: Vec<String> = (0..wanted).map(|core| core.min(got.max(1) - 1).to_string()).collect();
    Problem::new(format!("the platform {name} has {wanted} cores, and this run {got}")).help(
        format!(
            "name a processor for each with --cores; one named twice is shared, as in --cores {}",
            list.join(",")
        ),
    )
}

/// Where sysfs is; tests have a made-up one.
pub fn sysfs() -> PathBuf {
    env::var_os("WHIMBREL_SYSFS").map_or_else(|| "/sys".into(), PathBuf::from)
}

fn cpufreq(cpu: u32) -> PathBuf {
    sysfs().join(format!("devices/system/cpu/cpu{cpu}/cpufreq"))
}

fn khz(cpu: u32, attribute: &str) -> Result<u64, Problem> {
    let text = fs::read_to_string(cpufreq(cpu).join(attribute)).unwrap_or_default();
    text.trim().parse().map_err(|_| {
        Problem::new(format!("--frequency cpufreq: processor {cpu} does not tell its frequencies"))
            .help("use `--frequency emulate`: many virtual machines have no cpufreq")
    })
}

/// The points of the platform, which the processors must have; without any, those that Linux
/// offers.
fn machine_cores(cpus: &[u32], cores: Vec<Core>) -> Result<Vec<Core>, Problem> {
    if cores.is_empty() {
        return cpus.iter().map(|cpu| own_core(*cpu)).collect();
    }
    for (core, cpu) in cores.iter().zip(cpus) {
        let range = khz(*cpu, "cpuinfo_min_freq")?..=khz(*cpu, "cpuinfo_max_freq")?;
        if let Some(point) = core.points.iter().find(|p| !range.contains(&(p.hz / 1000))) {
            let message = format!(
                "--frequency cpufreq: processor {cpu} has {} to {} MHz, and a point of the \
                 platform {} MHz",
                range.start() / 1000,
                range.end() / 1000,
                point.hz / 1_000_000
            );
            let help =
                "name `--platform host`, which has the processors' own, or `--frequency emulate`";
            return Err(Problem::new(message).help(help));
        }
    }
    Ok(cores)
}

fn own_core(cpu: u32) -> Result<Core, Problem> {
    let (least, most) = (khz(cpu, "cpuinfo_min_freq")?, khz(cpu, "cpuinfo_max_freq")?);
    let listed = fs::read_to_string(cpufreq(cpu).join("scaling_available_frequencies"));
    let mut all: Vec<u64> = match listed {
        Ok(text) => text.split_whitespace().filter_map(|word| word.parse().ok()).collect(),
        Err(_) => (0..=STEPS).map(|i| least + most.saturating_sub(least) * i / STEPS).collect(),
    };
    all.sort_unstable();
    all.dedup();
    let points: Vec<Point> =
        all.iter().map(|khz| Point { hz: khz * 1000, ..Point::default() }).collect();
    Ok(Core { start: points.len().saturating_sub(1), points })
}
