// SPDX-License-Identifier: Apache-2.0
//! How messages go through a channel: how its receiver is told, and where its slots lie.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use whimbrel_model::NotifyPolicy;

/// Written as `interrupt`, `polling:20ms`, `adaptive:1ms` or `batch:8:5ms`, with `/internal` behind
/// it for slots in internal memory.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Transport {
    /// How the receiver is told.
    pub notify: NotifyPolicy,
    /// Whether the slots lie in internal memory.
    pub internal: bool,
}

impl FromStr for Transport {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (notify, memory) = text.trim().split_once('/').unwrap_or((text.trim(), "external"));
        let internal = match memory {
            "internal" => true,
            "external" => false,
            _ => return Err(format!("invalid memory `{memory}`: write /internal or nothing")),
        };
        let notify = match notify.strip_prefix("batch:") {
            Some(batch) => NotifyPolicy::default().with_batch(batch),
            None => NotifyPolicy::default().with_doorbell(notify),
        };
        Ok(Self { notify: notify.map_err(|problem| problem.line())?, internal })
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let notify = self.notify.to_string();
        f.write_str(&notify.replace("interrupt, batch ", "batch:"))?;
        f.write_str(if self.internal { "/internal" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_read_as_it_is_written() {
        for text in ["interrupt", "polling:20ms", "adaptive:1ms/internal", "batch:8:5ms"] {
            assert_eq!(text.parse::<Transport>().unwrap().to_string(), text);
        }
        for bad in ["", "batch", "batch:8", "polling", "interrupt/fast", "ring"] {
            assert!(bad.parse::<Transport>().is_err(), "{bad}");
        }
    }
}
