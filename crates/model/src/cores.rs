// SPDX-License-Identifier: Apache-2.0
//! Cores as `--cores` and `cores` of app.toml name them: processors of this machine, and cores of
//! boards.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::problem::Problem;
use crate::reader::{Node, text, unsigned};
use crate::schema::{Noted, Read, Shape};

/// The highest processor number that is worth believing.
const CPU_MAX: u32 = 65_535;
/// More cores than a place word can name.
pub(crate) const CORES_MAX: usize = 4095;

/// A core of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum CoreName {
    /// A processor of this machine.
    Cpu(u32),
    /// A core of a board.
    Guest {
        /// The board: as `--board` takes it, once it is read its name.
        board: String,
        /// Which.
        core: u32,
    },
}

/// The same in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Cpu(u32),
    Guest(String),
}

impl CoreName {
    /// The number of the processor, or of the board's core.
    pub fn number(&self) -> u32 {
        match self {
            Self::Cpu(number) | Self::Guest { core: number, .. } => *number,
        }
    }

    /// The processor, if it is one.
    pub fn cpu(&self) -> Option<u32> {
        if let Self::Cpu(cpu) = self { Some(*cpu) } else { None }
    }

    /// The board, if it is a board's.
    pub fn board(&self) -> Option<&str> {
        if let Self::Guest { board, .. } = self { Some(board) } else { None }
    }
}

impl fmt::Display for CoreName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu(cpu) => write!(f, "{cpu}"),
            Self::Guest { board, core } => write!(f, "{board}:{core}"),
        }
    }
}

impl From<CoreName> for Written {
    fn from(name: CoreName) -> Self {
        match name {
            CoreName::Cpu(cpu) => Self::Cpu(cpu),
            guest @ CoreName::Guest { .. } => Self::Guest(guest.to_string()),
        }
    }
}

impl TryFrom<Written> for CoreName {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let text = match written {
            Written::Cpu(cpu) => return Ok(Self::Cpu(cpu)),
            Written::Guest(text) => text,
        };
        let (board, core) = text.rsplit_once(':').ok_or("a core of a board is BOARD:CORE")?;
        Ok(Self::Guest { board: board.to_owned(), core: of_board(core)? })
    }
}

/// Processors of this machine, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuList(pub Vec<u32>);

impl FromStr for CpuList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let cpus = ranges(text, cpu)?;
        if cpus.len() > CORES_MAX {
            return Err(format!("a run has at most {CORES_MAX} cores"));
        }
        Ok(Self(cpus))
    }
}

/// Numbers and ranges of them, as `0-1,4`, in the order of the text.
pub fn ranges<T: Copy + PartialOrd + fmt::Display>(
    text: &str,
    number: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, String>
where
    RangeInclusive<T>: Iterator<Item = T>,
{
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(format!("{part} runs backwards: write {last}-{first}"));
        }
        numbers.extend(first..=last);
    }
    Ok(numbers)
}

/// A processor.
fn cpu(text: &str) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|cpu| *cpu <= CPU_MAX);
    number.ok_or_else(|| format!("`{text}` is not a processor: write a list as 0-1,4"))
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_slice();
        let mut separator = "";
        while let Some(&first) = rest.first() {
            let run =
                rest.iter().zip(first..).take_while(|(cpu, expected)| *cpu == expected).count();
            let last = rest[run - 1];
            let dash = if run > 1 { format!("-{last}") } else { String::new() };
            write!(f, "{separator}{first}{dash}")?;
            rest = &rest[run..];
            separator = ",";
        }
        Ok(())
    }
}

/// Cores of a run, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreList(pub Vec<CoreName>);

impl FromStr for CoreList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut cores = Vec::new();
        for part in text.split(',') {
            // A board's variant has a colon of its own.
            match part.rsplit_once(':') {
                Some(("", _)) => return Err(format!("`{part}` names no board: write BOARD:CORE")),
                Some((board, numbers)) => {
                    let board = board.trim();
                    let guest = |core| CoreName::Guest { board: board.to_owned(), core };
                    cores.extend(ranges(numbers, of_board)?.into_iter().map(guest));
                }
                None => cores.extend(ranges(part, cpu)?.into_iter().map(CoreName::Cpu)),
            }
            if cores.len() > CORES_MAX {
                return Err(format!("a run has at most {CORES_MAX} cores"));
            }
        }
        Ok(Self(cores))
    }
}

/// `cores` of app.toml, each core with the place of its element.
#[derive(Debug, Clone, Default)]
pub(crate) struct AppCores(pub Vec<Spanned<CoreName>>);

impl Read for AppCores {
    fn read(shape: &Shape, node: &Node<'_>, noted: &mut Noted<'_>) -> Option<Self> {
        let mut cores = Vec::new();
        let mut is_right = true;
        for element in node.get_ref().as_array()? {
            let list = CoreList::read(shape, element, noted);
            is_right &= list.is_some();
            let each = list.into_iter().flat_map(|list| list.0);
            cores.extend(each.map(|core| Spanned::new(element.span(), core)));
            // A short text may name thousands: no more are read.
            if cores.len() > CORES_MAX {
                let message =
                    format!("`cores` of {} has more than {CORES_MAX} cores", noted.title());
                let problem = Problem::new(message).at(element.span(), "this one is too many");
                noted.problems.push(problem.help("leave cores out"));
                return None;
            }
        }
        (is_right && !cores.is_empty()).then_some(Self(cores))
    }
}

/// An element of `cores` of app.toml: a number is a processor, a text a list.
impl Read for CoreList {
    fn read(_: &Shape, node: &Node<'_>, noted: &mut Noted<'_>) -> Option<Self> {
        let Some(list) = text(node) else {
            let cpu = unsigned(node).and_then(|cpu| u32::try_from(cpu).ok());
            return cpu.filter(|cpu| *cpu <= CPU_MAX).map(|cpu| Self(vec![CoreName::Cpu(cpu)]));
        };
        let wrong = |wrong| {
            let problem = Problem::new(format!("`cores` of {}: {wrong}", noted.title()));
            noted.problems.push(
                problem
                    .at(node.span(), "this core")
                    .help("write processors as numbers, and cores of boards as \"BOARD:CORE\""),
            );
        };
        list.parse().map_err(wrong).ok()
    }
}

fn of_board(text: &str) -> Result<u32, String> {
    let number = text.trim().parse().ok().filter(|core| *core < CORES_MAX as u32);
    number.ok_or_else(|| format!("invalid core of a board `{text}`: write BOARD:CORE, as desk:0"))
}

impl fmt::Display for CoreList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let runs = self.0.chunk_by(|a, b| a.cpu().is_some() && b.cpu().is_some());
        let text = |run: &[CoreName]| match run {
            [guest @ CoreName::Guest { .. }] => guest.to_string(),
            cpus => CpuList(cpus.iter().filter_map(CoreName::cpu).collect()).to_string(),
        };
        f.write_str(&runs.map(text).collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guest(board: &str, core: u32) -> CoreName {
        CoreName::Guest { board: board.into(), core }
    }

    #[test]
    fn a_list_of_cores_has_processors_and_cores_of_boards_in_any_order() {
        let list: CoreList = "1,desk:2,0-1,../b/board.toml:0-1,desk:quick:3".parse().unwrap();
        let expected = [
            CoreName::Cpu(1),
            guest("desk", 2),
            CoreName::Cpu(0),
            CoreName::Cpu(1),
            guest("../b/board.toml", 0),
            guest("../b/board.toml", 1),
            guest("desk:quick", 3),
        ];
        assert_eq!(list.0, expected);
        assert_eq!(
            list.to_string(),
            "1,desk:2,0-1,../b/board.toml:0,../b/board.toml:1,desk:quick:3"
        );
        assert_eq!("3,0-1".parse::<CoreList>().unwrap().to_string(), "3,0-1");
        for bad in ["", "desk", ":0", "desk:", "desk:a", "desk:1-0", "0,,desk:1", "desk:4095"] {
            assert!(bad.parse::<CoreList>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_list_of_processors_keeps_its_order_and_may_repeat_one() {
        assert_eq!("3,0-1".parse(), Ok(CpuList(vec![3, 0, 1])));
        assert_eq!("0,0".parse(), Ok(CpuList(vec![0, 0])));
        assert_eq!(CpuList(vec![0, 1, 2, 4, 4]).to_string(), "0-2,4,4");
        for bad in ["", "a", "1-", "2-1", "0-99999999", "0,,1", "-1"] {
            assert!(bad.parse::<CpuList>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_core_is_a_number_or_a_text_in_json() {
        let list = vec![CoreName::Cpu(4), guest("desk:quick", 0)];
        let json = serde_json::to_string(&list).unwrap();
        assert_eq!(json, r#"[4,"desk:quick:0"]"#);
        assert_eq!(serde_json::from_str::<Vec<CoreName>>(&json).unwrap(), list);
        assert!(serde_json::from_str::<CoreName>("\"desk\"").is_err());
    }
}
