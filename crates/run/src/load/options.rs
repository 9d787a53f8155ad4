// SPDX-License-Identifier: Apache-2.0
//! What a run was told, as its summary keeps it.

use serde::Serialize;
use whimbrel_hardware::Thermal;
use whimbrel_model::CoreName;

use super::moving::MovingOptions;
use crate::helpers;

/// How long idle kernels poll.
#[derive(Debug, Clone, Serialize)]
pub struct Polling {
    /// `null`: for ever.
    pub spin_ns: Option<u64>,
    /// Whether that is the most, and they poll for less where that is of no use; absent: no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub spin_adapts: bool,
}

impl Polling {
    /// Of kernels that sleep at once.
    pub const NONE: Self = Self { spin_ns: Some(0), spin_adapts: false };
}

/// What a run was told.
#[derive(Debug, Clone, Serialize)]
pub struct Options {
    /// The processor of each core.
    pub cpus: Vec<CoreName>,
    /// The platform's name.
    #[serde(skip)]
    pub platform: String,
    /// How operating points were set.
    pub frequency: &'static str,
    /// Frames per second; `null`: as fast as it goes, or without a rate.
    pub frame_rate: Option<f64>,
    /// Whether no task had a period.
    pub fast: bool,
    /// Where tasks were to start, as `--map` takes it; `null`: where the application says.
    pub map: Option<String>,
    /// The limit, if there was one.
    pub duration_ns: Option<u64>,
    /// How long idle kernels polled.
    #[serde(flatten)]
    pub polling: Polling,
    /// Whether the processors were occupied for the run.
    pub exclusive: bool,
    /// How often a kernel that was killed was to be started again; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart: Option<u32>,
    /// How tasks were to move, and who decided.
    #[serde(flatten)]
    pub moving: MovingOptions,
    /// Of a run in virtual time; absent: it was a real one.
    #[serde(flatten)]
    pub simulation: Option<Simulation>,
    /// The name of the board that it ran on; absent: this machine, or a simulation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
}

/// Who runs an application.
#[derive(Debug, Clone, Copy)]
pub enum Runner<'a> {
    /// The helper of this name.
    Helper(&'a str),
    /// The board of this name.
    Board(&'a str),
}

impl Options {
    /// Who runs it.
    pub fn runner(&self) -> Runner<'_> {
        match (&self.board, &self.simulation) {
            (Some(name), _) => Runner::Board(name),
            (None, Some(_)) => Runner::Helper(helpers::SIMULATOR),
            (None, None) => Runner::Helper(helpers::LAUNCHER),
        }
    }
}

/// What a run in virtual time was told besides.
#[derive(Debug, Clone, Serialize)]
pub struct Simulation {
    /// Where every draw began.
    pub seed: u64,
    /// Whether tasks computed, or only took the time of it: `real` or `model`.
    pub compute: String,
    /// The platform's floorplan, if it has one.
    #[serde(skip)]
    pub thermal: Option<Thermal>,
    /// The island of each core, from 1; 0: no task begins there. Empty: there are not several.
    #[serde(skip)]
    pub islands: Vec<u32>,
    /// The group of each core that shares a scheduler with others; 0: its scheduler is its own.
    #[serde(skip)]
    pub groups: Vec<u32>,
}
