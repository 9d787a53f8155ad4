// SPDX-License-Identifier: Apache-2.0
//! The values that options take. Parsing is pure: whether a task or a core exists is checked later.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use whimbrel_model::{Frequency, Pin, Setting, from_word, millihz};
use whimbrel_text::option::{MOVE, SHUTTLE};

/// How long an idle kernel polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spin {
    /// At most [`Spin::MOST`], and less where that was of no use of late.
    Auto,
    /// It never sleeps.
    Forever,
    /// Then it sleeps.
    For(Duration),
}

impl Spin {
    /// A wake-up, which takes 15 to 35 us, and as much again: what ends a wait within that was
    /// worth polling for.
    pub const MOST: Duration = Duration::from_micros(50);
}

impl FromStr for Spin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "forever" => Ok(Self::Forever),
            _ => duration(text).map(Self::For),
        }
    }
}

/// A task as people write it: `bpf` or `bpf.2`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskName {
    /// The name in the app.toml.
    pub name: String,
    /// Which of those that `count` made.
    pub index: u32,
}

impl FromStr for TaskName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, index) = text.split_once('.').unwrap_or((text, "0"));
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let index = index.parse().ok().filter(|_| !name.is_empty() && name.bytes().all(plain));
        let index =
            index.ok_or_else(|| format!("`{text}` is not a task: write TASK or TASK.INDEX"))?;
        Ok(Self { name: name.to_owned(), index })
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if self.index == 0 { Ok(()) } else { write!(f, ".{}", self.index) }
    }
}

/// `--pin TASK=CORE`
///
/// # Errors
/// It is none.
pub fn pin(text: &str) -> Result<Pin, String> {
    let wrong =
        || format!("`{text}` is not a pin: write TASK=CORE or TASK.INDEX=CORE, for example lpf=0");
    let (task, core) = text.split_once('=').ok_or_else(wrong)?;
    let core = core.trim().parse().map_err(|_| wrong())?;
    let TaskName { name, index } = task.trim().parse()?;
    Ok(Pin { task: name, index: task.contains('.').then_some(index), core })
}

/// `--move TASK=CORE@TIME`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// What moves.
    pub task: TaskName,
    /// Where to.
    pub core: u32,
    /// When, after the start.
    pub at: Duration,
}

impl FromStr for Move {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (task, cores, at) = move_parts(text, "TASK=CORE@TIME, for example demodulator=1@2s")?;
        match cores[..] {
            [core] => Ok(Self { task, core, at }),
            _ => Err(format!("{MOVE} takes one core; {SHUTTLE} takes several")),
        }
    }
}

/// `--save FILE@TIME`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Save {
    /// Where to.
    pub file: PathBuf,
    /// When, after the start.
    pub at: Duration,
}

impl FromStr for Save {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = "write FILE@TIME, for example state@2s";
        let (file, at) = text.rsplit_once('@').ok_or(wrong)?;
        match file {
            "" => Err(wrong.into()),
            file => Ok(Self { file: file.into(), at: positive_duration(at)? }),
        }
    }
}

/// `--candidate FILE:ROW`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowOf {
    /// A result of an exploration, or its folder.
    pub file: PathBuf,
    /// The `id` of a candidate.
    pub row: u64,
}

impl FromStr for RowOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (file, row) = text.rsplit_once(':').filter(|(file, _)| !file.is_empty()).unzip();
        let row = row.and_then(|row| row.parse().ok());
        let found = file.zip(row).map(|(file, row)| Self { file: file.into(), row });
        found.ok_or_else(|| "write FILE:ROW, for example found/explore.csv:12".into())
    }
}

/// `--points MHZ/MHZ/…`: the frequency in hertz at which each core begins; `None`: it is off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorePoints(pub Vec<Option<u64>>);

impl FromStr for CorePoints {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = |word: &str| match word {
            "-" => Ok(None),
            _ => hertz(word).map(Some).map_err(|why| {
                format!("`{word}` is not a frequency: {why} of each core, or -, as in 266/133/-")
            }),
        };
        text.split('/').map(one).collect::<Result<_, _>>().map(Self)
    }
}

/// `--shuttle TASK=CORE,CORE…@PERIOD`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shuttle {
    /// What moves.
    pub task: TaskName,
    /// Where to, in turn.
    pub cores: Vec<u32>,
    /// How often.
    pub period: Duration,
}

impl FromStr for Shuttle {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "TASK=CORE,CORE@TIME, for example demodulator=1,0@500ms";
        let (task, cores, period) = move_parts(text, example)?;
        if cores.len() < 2 {
            return Err(format!(
                "{SHUTTLE} takes at least two cores: write demodulator=1,0@500ms, for example"
            ));
        }
        if period < Duration::from_millis(1) {
            return Err("a shuttle's period is at least 1ms".into());
        }
        Ok(Self { task, cores, period })
    }
}

/// `--frame-rate-change N@TIME`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateChange {
    /// Frames per second from then on, in thousandths; what the middleware can hold.
    pub millihz: u32,
    /// When, after the start.
    pub at: Duration,
}

impl FromStr for RateChange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (frames, time) = text.split_once('@').ok_or("write N@TIME, for example 900@2s")?;
        let millihz = u32::try_from(millihz(rate(frames)?))
            .map_err(|_| "must be at most 4294967 frames per second")?;
        Ok(Self { millihz, at: duration(time)? })
    }
}

fn move_parts(text: &str, form: &str) -> Result<(TaskName, Vec<u32>, Duration), String> {
    let parts = text.split_once('=').and_then(|(task, rest)| {
        let (cores, time) = rest.rsplit_once('@')?;
        Some((task, cores, time))
    });
    let (task, cores, time) = parts.ok_or(format!("write {form}"))?;
    let core = |core: &str| {
        core.parse::<u32>().map_err(|_| format!("`{core}` is not a core: write {form}"))
    };
    Ok((task.parse()?, cores.split(',').map(core).collect::<Result<_, _>>()?, duration(time)?))
}

/// `1s..3s`, `..3s`, `1s..` or `..`, in nanoseconds.
pub fn window(text: &str) -> Result<(u64, u64), String> {
    let (from, to) = text.split_once("..").ok_or("write two times, for example 1s..3s")?;
    let time = |text: &str, none| match text {
        "" => Ok(none),
        _ => duration(text).map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
    };
    let window = (time(from, 0)?, time(to, u64::MAX)?);
    if window.0 < window.1 { Ok(window) } else { Err("it ends before it begins".into()) }
}

/// The longest time that is taken, in years: whatever is added to it, no clock overflows.
const YEARS_MOST: u64 = 1000;

/// As they are written, a year is 365.25 days.
const SECONDS_IN_A_YEAR: u64 = 31_557_600;

/// A time.
fn duration(text: &str) -> Result<Duration, String> {
    let most = Duration::from_secs(YEARS_MOST * SECONDS_IN_A_YEAR);
    let time = humantime::parse_duration(text)
        .map_err(|error| format!("{error}: write 20us, 500ms or 10s"))?;
    if time > most { Err(format!("must be at most {YEARS_MOST}years")) } else { Ok(time) }
}

/// A time that is not zero.
pub fn positive_duration(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|d| if d.is_zero() { Err("must not be zero".into()) } else { Ok(d) })
}

/// A time between two looks.
pub fn interval(text: &str) -> Result<Duration, String> {
    let allowed = Duration::from_millis(100)..=Duration::from_secs(5);
    let time = duration(text)?;
    if allowed.contains(&time) { Ok(time) } else { Err("write 100ms to 5s".into()) }
}

/// Frames per second.
pub fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (1e-3..=1e9).contains(rate));
    rate.ok_or_else(|| "write 0.001 to 1e9 frames per second".into())
}

/// A frequency in hertz, from one in megahertz.
pub fn hertz(text: &str) -> Result<u64, String> {
    let mhz = text.parse().ok().filter(|mhz: &f64| (1e-3..=1e6).contains(mhz));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 1e12")]
    let hz = mhz.map(|mhz| (mhz * 1e6).round() as u64);
    hz.ok_or_else(|| "write 0.001 to 1e6 megahertz".into())
}

/// How operating points are set.
pub fn frequency() -> impl TypedValueParser<Value = Frequency> {
    let all = [Frequency::None, Frequency::Emulate, Frequency::Cpufreq];
    PossibleValuesParser::new(all.map(Frequency::word)).map(move |word| {
        let known = all.into_iter().find(|frequency| frequency.word() == word);
        known.expect("the parser knows no other words")
    })
}

/// One of the values of an enumeration, by their names.
pub fn one_of<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    names: impl Into<PossibleValuesParser>,
) -> impl TypedValueParser<Value = T> {
    let value = |name: String| from_word(&name).expect("the parser knows no other names");
    names.into().map(value)
}

/// `KEY=VALUE`.
pub fn setting(text: &str) -> Result<Setting, String> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    Ok(Setting { key: key.trim().to_owned(), value: value.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_may_have_an_index() {
        assert_eq!("bpf.2".parse(), Ok(TaskName { name: "bpf".into(), index: 2 }));
        assert_eq!("bpf".parse(), Ok(TaskName { name: "bpf".into(), index: 0 }));
        for bad in ["", ".1", "a b", "a.b", "a.-1"] {
            assert!(bad.parse::<TaskName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_move_names_one_core_and_a_shuttle_several() {
        let moved: Move = "bpf.1=3@1500ms".parse().unwrap();
        assert_eq!((moved.core, moved.at), (3, Duration::from_millis(1500)));
        let shuttle: Shuttle = "bpf=1,0@20ms".parse().unwrap();
        assert_eq!(shuttle.cores, [1, 0]);
        assert!("bpf=1,0@1s".parse::<Move>().is_err());
        assert!("bpf=1@1s".parse::<Shuttle>().is_err());
        assert!("bpf=1,0@1us".parse::<Shuttle>().is_err());
        assert!("bpf=1".parse::<Move>().is_err());
    }

    #[test]
    fn a_change_of_the_frame_rate_names_a_rate_and_a_time() {
        let at = Duration::from_secs(2);
        assert_eq!("900@2s".parse(), Ok(RateChange { millihz: 900_000, at }));
        for bad in ["900", "@2s", "0@2s", "900@", "fast@2s", "4294968@2s"] {
            assert!(bad.parse::<RateChange>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_time_that_no_clock_could_tell_is_refused_wherever_one_is_taken() {
        assert_eq!(duration("1000years"), Ok(Duration::from_secs(YEARS_MOST * SECONDS_IN_A_YEAR)));
        for long in ["1001years", "500000000000years"] {
            for wrong in [
                positive_duration(long).err(),
                interval(long).err(),
                window(&format!("{long}..")).err(),
                format!("a=1@{long}").parse::<Move>().err(),
                format!("a=1,0@{long}").parse::<Shuttle>().err(),
                format!("900@{long}").parse::<RateChange>().err(),
                format!("f@{long}").parse::<Save>().err(),
                long.parse::<Spin>().err(),
            ] {
                assert_eq!(wrong.as_deref(), Some("must be at most 1000years"));
            }
        }
    }

    #[test]
    fn polling_lasts_for_a_time_or_for_ever() {
        assert_eq!("forever".parse(), Ok(Spin::Forever));
        assert_eq!("20us".parse(), Ok(Spin::For(Duration::from_micros(20))));
        assert_eq!("0s".parse(), Ok(Spin::For(Duration::ZERO)));
        assert!("20".parse::<Spin>().is_err());
    }
}
