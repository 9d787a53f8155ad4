// SPDX-License-Identifier: Apache-2.0
//! The benchmark helper: what it measures on this machine, as rows.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use whimbrel_model::Problem;

use crate::failure::Failure;
use crate::helpers;

/// The group of `whimbrel bench` that measures the simulator, without the benchmark helper.
pub const SIM: &str = "sim";
/// The group that measures Linux and FreeRTOS in one run, also without it.
pub const MIXED: &str = "mixed";

/// One measured thing. Fields that are not listed here are passed on as they are.
#[derive(Debug, Serialize, Deserialize)]
pub struct BenchRow {
    /// What.
    pub bench: String,
    /// In which unit.
    pub unit: String,
    /// Its numbers.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What the benchmark helper measures: every group but [`SIM`] and [`MIXED`], on `cpus` or else on
/// the first two that this process may use.
///
/// # Errors
/// The helper is missing or fails.
pub fn on_this_machine(
    groups: &[String],
    cpus: Option<[u32; 2]>,
    quick: bool,
) -> Result<Vec<BenchRow>, Failure> {
    let of_helper = |group: &&String| ![SIM, MIXED].contains(&group.as_str());
    let mut options: Vec<OsString> = groups.iter().filter(of_helper).map(OsString::from).collect();
    if options.is_empty() && !groups.is_empty() {
        return Ok(Vec::new());
    }
    let helper = helpers::find(helpers::BENCH)?;
    if let Some([first, second]) = cpus {
        options.extend(["--cpus".into(), format!("{first},{second}").into()]);
    }
    if quick {
        options.push("--quick".into());
    }
    let lines = lines_of_command(&helper, &options)?;
    let parsed = lines.iter().filter(|line| !line.is_empty()).map(|line| parse(&helper, line));
    Ok(parsed.collect::<Result<Vec<BenchRow>, Problem>>()?)
}

/// Runs a program to its end, its progress on standard error, and gives the lines of its output.
///
/// # Errors
/// It cannot be started, or fails.
pub fn lines_of_command(program: &Path, options: &[OsString]) -> Result<Vec<String>, Failure> {
    let failed = |why: String| {
        Problem::new(format!("{} {why}", program.display()))
            .help("build it again with `make build`, or see `whimbrel doctor`")
    };
    let mut child = Command::new(program)
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(format!("cannot be started: {error}")))?;
    let mut lines = Vec::new();
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            lines.push(line.map_err(|error| failed(format!("cannot be read: {error}")))?);
        }
    }
    let status = child.wait().map_err(|error| failed(format!("cannot be waited for: {error}")))?;
    if status.success() {
        return Ok(lines);
    }
    let help = "see what it wrote to standard error, and `whimbrel doctor`";
    Err(failed(format!("failed: {status}")).help(help).into())
}

/// Reads what a program wrote as JSON.
///
/// # Errors
/// It is something else.
pub fn parse<T: for<'de> Deserialize<'de>>(program: &Path, text: &str) -> Result<T, Problem> {
    serde_json::from_str(text).map_err(|error| {
        Problem::new(format!("{} wrote what cannot be read: {error}: {text}", program.display()))
            .help("build it again with `make build`: it may be of another version")
    })
}

/// The value of the first line of /proc/cpuinfo with this name.
pub fn cpuinfo_field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    let lines = info.lines().filter_map(|line| line.split_once(':'));
    lines.map(|(key, value)| (key.trim(), value.trim())).find(|(key, _)| *key == name).map(|f| f.1)
}

/// The processor of this machine, as far as Linux names it: some guests are told only the brand, so
/// the family and the model stand beside it.
pub fn processor() -> String {
    processor_of(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
}

fn processor_of(info: &str) -> String {
    let field = |name| cpuinfo_field(info, name);
    match (field("model name"), field("cpu family"), field("model")) {
        (Some(name), Some(family), Some(model)) => {
            format!("{name} (family {family}, model {model})")
        }
        (Some(name), ..) => name.into(),
        (None, ..) => match (field("CPU implementer"), field("CPU part")) {
            (Some(maker), Some(part)) => format!("Arm (implementer {maker}, part {part})"),
            _ => "an unknown processor".into(),
        },
    }
}

/// The median of numbers; `None` of none.
pub fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_unstable_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    let upper = numbers.get(middle)?;
    let odd = numbers.len() % 2 == 1;
    Some(if odd { *upper } else { f64::midpoint(numbers[middle - 1], *upper) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_named_with_what_tells_its_kind() {
        let x86 = "cpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n";
        assert_eq!(processor_of(x86), "AMD EPYC (family 25, model 17)");
        let arm = "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        assert_eq!(processor_of(arm), "Arm (implementer 0x41, part 0xd0c)");
        assert_eq!(processor_of("model name\t: VirtIO\n"), "VirtIO");
        assert_eq!(processor_of(""), "an unknown processor");
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        assert_eq!(median(vec![9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![9.0, 1.0, 2.0, 4.0]), Some(3.0));
        assert_eq!(median(Vec::new()), None);
    }
}
