// SPDX-License-Identifier: Apache-2.0
//! The options of `run`.

use std::path::PathBuf;

use clap::Args;
use whimbrel_model::{CoreList, Frequency};

use super::CommonArgs;
use super::heading::HARDWARE;
use super::values::{Spin, frequency};

/// What a run on this machine's cores has, and none on a board.
const NOT_OF_BOARDS: [&str; 7] =
    ["cores", "kinds", "platform", "frequency", "exclusive", "restart", "spin"];

/// What the long help ends with.
const EXAMPLES: &str = "\
Examples:
  whimbrel run apps/hello/app.toml --shuttle bird=1,0@400ms
  whimbrel run apps/fm_radio/app.toml --cores 0,0 --record radio --set plays=10
  whimbrel run apps/fm_radio/app.toml --platform mpsoc3 --cores 0,1,1 --policy consolidate
  whimbrel run apps/mixed/app.toml --cores 0,virt_a64:0
  whimbrel run apps/hello/app.toml --board vexpress_a9 --move bird=3@1s

Environment:
  XDG_RUNTIME_DIR       Folder of the run's socket and status [default: /tmp/whimbrel-UID]
  WHIMBREL_CHECK_STATE  Set: stop if the state of a re-entered task contains addresses that another
                        program cannot use";

/// Runs an application until its sources end, its time has passed, or Ctrl-C.
///
/// While it runs, standard error shows frames, deadline misses, the load of each core and where
/// tasks are; the result comes on standard output at the end. Frames are the messages received by
/// the tasks that send to no channel.
///
/// The first Ctrl-C (or SIGTERM) asks sources to end and waits up to 5 s for the channels to drain;
/// the second ends the run at once. A run ended by its user is not an error: the exit status is 0.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct RunArgs {
    /// Processors, for example 0-1,4 [default: all]
    ///
    /// Core N of the application is the N-th of them. Two kernels share a processor that is named
    /// twice. The default is `cores` of app.toml, or all processors that this process may use.
    ///
    /// BOARD:N is core N of a board in an emulator, the guest of this run, for example
    /// 0,1,virt_a64:0-1. BOARD is the name of a folder in `boards`, or the path of a board.toml
    /// that has [guest]. Its kernels see the same memory as those of this machine. Between the two
    /// only tasks of mode `reenter` move (see docs/run-on-a-board.md)
    #[arg(long, value_name = "LIST", help_heading = HARDWARE)]
    pub cores: Option<CoreList>,

    /// The kind of each core, for example gpp,dsp
    ///
    /// The last one is that of all further cores. A task does not run on a kind that its `kinds` or
    /// `cycles` leave out. The kernel of a `dsp` lets each task run until it waits. The default is
    /// `kinds` of app.toml, or host
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    #[arg(help_heading = HARDWARE, hide_short_help = true)]
    pub kinds: Vec<String>,

    /// Run on a board: its folder in `boards` or file
    ///
    /// BOARD is a folder in `boards`, or the path of a board.toml. Its image is built from the
    /// application's sources, unless --image names one. See docs/run-on-a-board.md
    #[arg(long, value_name = "BOARD", conflicts_with_all = NOT_OF_BOARDS)]
    #[arg(help_heading = HARDWARE)]
    pub board: Option<String>,

    /// The image of the board, built for the same application and options
    #[arg(long, value_name = "ELF", requires = "board")]
    #[arg(help_heading = HARDWARE, hide_short_help = true)]
    pub image: Option<PathBuf>,

    /// A platform's name or file [default: host]
    ///
    /// Its operating points are emulated, and energy is computed by it. docs/platform-toml.md
    /// describes such a file; `host` is this machine
    #[arg(long, value_name = "PLATFORM", help_heading = HARDWARE)]
    pub platform: Option<String>,

    /// How operating points are set: none, emulate or cpufreq
    ///
    /// The default is emulate if the platform has operating points
    #[arg(long, value_name = "HOW", value_parser = frequency())]
    #[arg(help_heading = HARDWARE, hide_short_help = true, hide_possible_values = true)]
    pub frequency: Option<Frequency>,

    /// Occupy the processors for the run
    ///
    /// Everything else leaves them, as by `whimbrel occupy`
    #[arg(long, help_heading = HARDWARE)]
    pub exclusive: bool,

    /// Restart killed kernels, at most TIMES times
    ///
    /// TIMES is 10 if no number is given. An emulator restarts with all of its kernels. Tasks that
    /// no other core can take wait for the restart: those that ran begin again where
    /// `restart = true`. `whimbrel restart` does the same once
    #[arg(
        long,
        help_heading = HARDWARE,
        value_name = "TIMES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "10"
    )]
    pub restart: Option<u32>,

    /// How long an idle kernel polls before it sleeps: a time, forever, or auto
    ///
    /// With auto it polls for 50us at most, and less while what it waits for comes later
    #[arg(long, value_name = "TIME", default_value = "auto")]
    #[arg(help_heading = HARDWARE, hide_short_help = true)]
    pub spin: Spin,

    /// What `sim` has as well.
    #[command(flatten)]
    pub common: CommonArgs,
}
