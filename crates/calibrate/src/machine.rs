// SPDX-License-Identifier: Apache-2.0
//! What Linux says of the processors.

use std::fs;

use whimbrel_model::Problem;
use whimbrel_run::benchmark::cpuinfo_field;

/// The processors that are described, all alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// What they call themselves.
    pub model: String,
    /// Their frequency.
    pub hz: u64,
    /// Where that is from.
    pub source: &'static str,
    /// How many.
    pub cores: usize,
    /// The caches that one core has, all levels together; 0: not known.
    pub cache_bytes: u64,
}

impl Machine {
    /// Asks Linux about processor `cpu`.
    ///
    /// # Errors
    /// Its frequency is not known, and none is `given`.
    pub fn look(cpu: u32, cores: usize, given: Option<u64>) -> Result<Self, Problem> {
        let sys = format!("/sys/devices/system/cpu/cpu{cpu}");
        let most = fs::read_to_string(format!("{sys}/cpufreq/cpuinfo_max_freq"));
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let (hz, source) = frequency(given, &most.unwrap_or_default(), &info).ok_or_else(|| {
            Problem::new("Linux does not say at which frequency its processors run")
                .help("say it with --mhz")
        })?;
        let caches = (0..8).filter_map(|level| cache(&format!("{sys}/cache/index{level}")));
        let model = cpuinfo_field(&info, "model name").unwrap_or("an unknown processor");
        Ok(Self { model: model.into(), hz, source, cores, cache_bytes: caches.sum() })
    }
}

/// The bytes of a cache that holds data.
fn cache(folder: &str) -> Option<u64> {
    let text = |name: &str| fs::read_to_string(format!("{folder}/{name}")).ok();
    (text("type")?.trim() != "Instruction").then(|| size(text("size")?.trim())).flatten()
}

/// A size as sysfs writes it: `48K`.
fn size(text: &str) -> Option<u64> {
    match text.strip_suffix('K') {
        Some(kib) => kib.parse::<u64>().ok()?.checked_mul(1 << 10),
        None => text.parse::<u64>().ok(),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 1e12")]
fn frequency(given: Option<u64>, max_khz: &str, info: &str) -> Option<(u64, &'static str)> {
    let listed = max_khz.trim().parse().ok().and_then(|khz: u64| khz.checked_mul(1000));
    let reported = cpuinfo_field(info, "cpu MHz").and_then(|text| text.parse().ok());
    let reported = reported.filter(|mhz: &f64| (1e-3..=1e6).contains(mhz));
    given
        .map(|hz| (hz, "--mhz"))
        .or(listed.map(|hz| (hz, "cpuinfo_max_freq of Linux")))
        .or(reported.map(|mhz| ((mhz * 1e6).round() as u64, "cpu MHz of /proc/cpuinfo")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str =
        "processor\t: 0\nmodel name\t: A: b\ncpu MHz\t\t: 2596.098\n\nprocessor\t: 1\n";

    #[test]
    fn a_frequency_that_was_given_goes_before_what_linux_lists_and_that_before_what_it_tells() {
        let hz = |given, listed| frequency(given, listed, INFO).map(|(hz, _)| hz);
        assert_eq!(hz(Some(5), "3000000\n"), Some(5));
        assert_eq!(hz(None, "3000000\n"), Some(3_000_000_000));
        assert_eq!(hz(None, ""), Some(2_596_098_000));
        assert_eq!(frequency(None, "", "cpu MHz : fast"), None);
        assert_eq!(frequency(None, "", ""), None);
    }

    #[test]
    fn a_name_may_have_a_colon() {
        assert_eq!(cpuinfo_field(INFO, "model name"), Some("A: b"));
    }

    #[test]
    fn a_size_is_in_kib_or_bytes() {
        assert_eq!([size("48K"), size("512"), size("big")], [Some(49_152), Some(512), None]);
    }
}
