// SPDX-License-Identifier: Apache-2.0
//! The options of `run`.

use std::path::PathBuf;

use clap::Args;
use whimbrel_model::{CoreList, Frequency};

use super::CommonArgs;
use super::values::{Spin, frequency};

/// What a run on this machine's cores has, and none on a board.
const NOT_OF_BOARDS: [&str; 7] =
    ["cores", "kinds", "platform", "frequency", "exclusive", "restart", "spin"];

/// Runs an application until its sources end, its time is over, or Ctrl-C.
///
/// While it runs, standard error shows frames, deadline misses, the load of each core and where
/// tasks are; the result comes on standard output at the end. Frames are the messages received by
/// the tasks that send to no channel.
///
/// The first Ctrl-C (or SIGTERM) asks sources to end and waits up to 5 s for the channels to drain;
/// the second ends the run at once. A run ended by its user is no error: the exit status is 0.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Processors to run on, as 0-1,4; core N of the application is the N-th of them, and one named
    /// twice is shared by two kernels
    /// [default: `cores` of app.toml, or all that this process may use]
    ///
    /// BOARD:N is core N of a board in an emulator, the guest of this run: BOARD is the name of a
    /// folder in `boards`, or the path of a board.toml that has [guest]; for example
    /// 0,1,virt_a64:0-1. Its kernels see the same memory as those of this machine, and between the
    /// two only tasks of mode `reenter` move (see docs/boards.md)
    #[arg(long, value_name = "LIST")]
    pub cores: Option<CoreList>,

    /// The kind of each core, as gpp,dsp, the last for all that follow: tasks whose `kinds` or
    /// `cycles` leave it out do not run there. The kernel of a `dsp` lets each task run until it
    /// waits
    /// [default: `kinds` of app.toml, or host]
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    pub kinds: Vec<String>,

    /// Run on a board instead: the name of a folder in `boards`, or the path of a board.toml (see
    /// docs/boards.md). Its image is built from the application's sources, unless --image names one
    #[arg(long, value_name = "BOARD", conflicts_with_all = NOT_OF_BOARDS)]
    pub board: Option<String>,

    /// The image of the board, which must be of the same application and options
    #[arg(long, value_name = "ELF", requires = "board")]
    pub image: Option<PathBuf>,

    /// The hardware to emulate or measure by: `host`, the name of a platform, or the path of a
    /// platform's file (see docs/platform-toml.md) [default: host]
    #[arg(long, value_name = "PLATFORM")]
    pub platform: Option<String>,

    /// How operating points are set: none, emulate, or cpufreq [default: emulate where the platform
    /// has any]
    #[arg(long, value_name = "HOW", value_parser = frequency)]
    pub frequency: Option<Frequency>,

    /// Occupy the processors for the run, as `whimbrel occupy` does: everything else leaves them
    #[arg(long)]
    pub exclusive: bool,

    /// Start a kernel again that was killed, or an emulator with all of its kernels, each so often
    /// at most, ten times if none is said. Tasks that no other core can take wait for it: those
    /// that ran begin again where `restart = true`. `whimbrel restart` does the same once
    #[arg(
        long,
        value_name = "TIMES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10"
    )]
    pub restart: Option<u32>,

    /// How long an idle kernel polls before it sleeps: a time, or `forever`
    #[arg(long, value_name = "TIME", default_value = "20us")]
    pub spin: Spin,

    /// What `sim` has as well.
    #[command(flatten)]
    pub common: CommonArgs,
}
