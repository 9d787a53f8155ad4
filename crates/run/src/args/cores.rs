// SPDX-License-Identifier: Apache-2.0
//! Cores as `--cores` names them: processors of this machine, and cores of boards.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::values::{CORES_MAX, CpuList, cpu, ranges};

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
        }
        if cores.len() > CORES_MAX {
            return Err(format!("a run has at most {CORES_MAX} cores"));
        }
        Ok(Self(cores))
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
    fn a_core_is_a_number_or_a_text_in_json() {
        let list = vec![CoreName::Cpu(4), guest("desk:quick", 0)];
        let json = serde_json::to_string(&list).unwrap();
        assert_eq!(json, r#"[4,"desk:quick:0"]"#);
        assert_eq!(serde_json::from_str::<Vec<CoreName>>(&json).unwrap(), list);
        assert!(serde_json::from_str::<CoreName>("\"desk\"").is_err());
    }
}
