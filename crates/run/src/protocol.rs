// SPDX-License-Identifier: Apache-2.0
//! The lines that the helper writes. See `docs/kernels-linux-protocol.md`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use whimbrel_model::NotifyPolicy;

use crate::process::Process;

/// One line of the helper.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The kernels run.
    Started(Started),
    /// The answer to `status`.
    Status(Status),
    /// A migration has ended, whoever asked for it.
    Migration(Migration),
    /// The answer to `migrate`.
    Migrated(Migrated),
    /// The answer to `policy` and `rate`.
    Set(Set),
    /// A kernel was killed.
    CoreDied(CoreDied),
    /// A kernel that was killed is there again.
    CoreRestarted(CoreRestarted),
    /// A policy decided what cannot be done: that part was ignored.
    Advice(Advice),
    /// Who started the simulation is asked for a decision, and told what a policy sees.
    Decide(serde_json::Value),
    /// The next bytes of a core's event stream, from a board.
    Events(Events),
    /// What a simulation took.
    Simulated(Simulated),
    /// A task keeps its core to itself.
    Stalled(Stalled),
    /// Something is wrong.
    Error(HelperError),
    /// The run is over.
    End(End),
}

/// `{"stalled": …}`
#[derive(Debug, Clone, Deserialize)]
pub struct Stalled {
    /// The task.
    pub task: String,
    /// Which of that name.
    pub index: u32,
    /// Its core.
    pub core: u32,
    /// The system call in which it waits; empty: it reaches no checkpoint.
    pub call: String,
    /// For how long so far, in milliseconds.
    pub for_ms: u64,
    /// Whether it did so when the run was ended by force.
    pub at_end: bool,
}

/// `{"simulated": …}`
#[derive(Debug, Clone, Deserialize)]
pub struct Simulated {
    /// Events of the run.
    pub events: u64,
    /// Steps of tasks that were taken without a switch to their stacks.
    pub steps: u64,
    /// Real time from its start to its end.
    pub wall_ns: u64,
    /// The command of the plan that ended it: `stop` or `kill`; empty: it ended by itself.
    #[serde(default)]
    pub ended_by: String,
    /// Of the floorplan's blocks at the end, in thousandths of a degree Celsius; empty: none.
    pub blocks_mc: Vec<i32>,
    /// The same of what carries the heat off.
    pub sink_mc: i32,
}

/// `{"events": …}`
#[derive(Debug, Clone, Deserialize)]
pub struct Events {
    /// Whose.
    pub core: u32,
    /// The bytes in base64.
    pub data: String,
}

/// `{"started": …}`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Started {
    /// The helper's process.
    pub pid: u32,
    /// One per core.
    pub kernels: Vec<Kernel>,
    /// Size of globally visible memory.
    pub gvm_bytes: u64,
    /// The start of the run on its clock.
    pub start_ns: u64,
    /// What the clock is made of.
    pub clock: String,
}

/// A kernel's process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kernel {
    /// Its core.
    pub core: u32,
    /// The processor it is pinned to; of a guest, the core of its board.
    pub cpu: u32,
    /// The board whose core it is; absent: it is this machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<String>,
    /// Its process; 0: it has none on this machine.
    pub pid: u32,
}

/// Totals since the start.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Status {
    /// Now, on the run's clock.
    pub time_ns: u64,
    /// Tasks that are not over.
    pub live: u32,
    /// One per core.
    pub cores: Vec<CoreStatus>,
    /// One per task, in the order of the plan.
    pub tasks: Vec<TaskStatus>,
    /// One per channel, in the order of the plan.
    pub channels: Vec<ChannelStatus>,
    /// The policy that decides; empty if none does.
    pub policy: String,
    /// The core that the coordinator runs on; `None`: there is none.
    pub coordinator: Option<u32>,
    /// Frames per second, in thousandths; 0: none.
    pub rate_millihz: u64,
    /// Where `energy_uj` comes from: `platform`, `powercap`, `simulation`, or empty.
    pub energy_source: String,
    /// Energy of the whole machine since the start by `powercap` or `simulation`, in microjoules.
    pub machine_energy_uj: u64,
}

/// One core.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CoreStatus {
    /// Which.
    pub core: u32,
    /// `down`, `up`, `stopped` or `dead`.
    pub state: String,
    /// Time in tasks, without polling.
    pub busy_ns: u64,
    /// Time in tasks that poll a channel.
    pub polling_ns: u64,
    /// Time in which its kernel polled for want of work; 0 of one that does not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub idle_polling_ns: u64,
    /// Switches between tasks.
    pub switches: u64,
    /// Times the kernel slept for want of work.
    pub sleeps: u64,
    /// Inbox notes served.
    pub notes: u64,
    /// Its frequency now, in hertz; 0: not known.
    pub hz: u64,
    /// Part of the agents' last period that it was busy, in millionths.
    pub load_ppm: u32,
    /// In thousandths of a degree Celsius; `None`: there is no sensor.
    pub temperature_mc: Option<i32>,
    /// Estimated from its operating points since the start, in microjoules.
    pub energy_uj: u64,
    /// Its operating points; empty: not known.
    pub points: Vec<PointStatus>,
}

impl CoreStatus {
    /// Time in which a task or its kernel polled.
    #[must_use]
    pub fn all_polling_ns(&self) -> u64 {
        self.polling_ns + self.idle_polling_ns
    }
}

/// How long a core was at one of its operating points, since the start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PointStatus {
    /// Its frequency, in hertz.
    pub hz: u64,
    /// In tasks.
    pub active_ns: u64,
    /// Without.
    pub idle_ns: u64,
}

/// One task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskStatus {
    /// Its name.
    pub task: String,
    /// Which of that name.
    pub index: u32,
    /// Where it is.
    pub core: u32,
    /// What it does.
    pub state: String,
    /// Time it computed.
    pub busy_ns: u64,
    /// Time it polled.
    pub polling_ns: u64,
    /// Times it was switched to.
    pub runs: u64,
    /// Times another task took its core from it; 0 of a kernel that does not count them.
    #[serde(default)]
    pub preemptions: u64,
    /// Firings ended; of a task with code of its own, as often as it has begun to compute.
    #[serde(default)]
    pub firings: u64,
    /// Periods ended.
    pub jobs: u64,
    /// Deadlines missed.
    pub misses: u64,
    /// The latest it ever was.
    pub worst_late_ns: u64,
    /// Times it moved.
    pub migrations: u64,
    /// Times that another core than its last chose it, of those that share it.
    #[serde(default)]
    pub chosen: u64,
    /// Migrations that left it where it was.
    pub refused: u64,
    /// Times it started again after its kernel died.
    pub restarts: u64,
    /// Heap in use.
    pub heap_bytes: u64,
    /// Most heap ever in use.
    pub heap_peak_bytes: u64,
    /// Shared memory that it allocated and nobody has freed yet.
    pub shared_bytes: u64,
    /// The most that this ever was.
    pub shared_peak_bytes: u64,
    /// The part of it that its end, or a life before its restart, left behind.
    pub shared_left: u64,
    /// How it moves: `handoff`, `replicate` or `recreate`.
    pub mode: String,
    /// What is reserved for it over all kernels: stack and heap as its mode wants, checkpoint
    /// images.
    pub reserved_bytes: u64,
    /// Stack and heap in use now: what a migration that copies would carry.
    pub context_bytes: u64,
    /// Part of a core at its highest frequency that it used in the agents' last period, in
    /// millionths.
    pub load_ppm: u32,
    /// Checkpoint images taken.
    pub images: u64,
    /// Checkpoint images that were not whole when they were needed.
    pub damaged: u64,
    /// Messages received again after its kernel died.
    pub replayed: u64,
    /// Messages that were not processed because its kernel died.
    pub skipped: u64,
    /// For how long it has kept its core to itself, in milliseconds; 0: it does not.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stalled_ms: u64,
    /// What its firings took, if it has a script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<ScriptStatus>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Status {
    /// Counts what tasks that keep their cores to themselves have computed meanwhile, which their
    /// kernels do not yet.
    #[must_use]
    pub fn with_stalls(mut self) -> Self {
        for task in self.tasks.iter_mut().filter(|task| task.stalled_ms > 0) {
            let ns = task.stalled_ms * 1_000_000;
            task.busy_ns += ns;
            if let Some(core) = self.cores.get_mut(task.core as usize) {
                core.busy_ns += ns;
            }
        }
        self
    }
}

impl TaskStatus {
    /// Whether it will run no more.
    pub fn is_over(&self) -> bool {
        self.state == "ended" || self.state == "lost"
    }
}

/// The firings of a scripted task: turns of its phases, as rt-app's log has them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "ScriptTold")]
pub struct ScriptStatus {
    /// How many there were.
    pub loops: u64,
    /// Their mean time.
    pub period_us: Option<f64>,
    /// Of it in events that compute, with what preempts these.
    pub run_us: Option<f64>,
    /// From where the last timer of each was reached to its time, on average; negative when late.
    pub slack_us: Option<f64>,
    /// From the time of timers to where the task went on, for each firing with one.
    pub wakeup_us: Option<f64>,
}

/// The same as a helper tells it, or a run that passes it on.
#[derive(Deserialize)]
#[serde(untagged)]
enum ScriptTold {
    Sums(ScriptSums),
    Means {
        loops: u64,
        period_us: Option<f64>,
        run_us: Option<f64>,
        slack_us: Option<f64>,
        wakeup_us: Option<f64>,
    },
}

#[derive(Deserialize)]
struct ScriptSums {
    loops: u64,
    period_ns: u64,
    run_ns: u64,
    timed: u64,
    early_ns: u64,
    late_ns: u64,
    wakeup_ns: u64,
}

impl From<ScriptTold> for ScriptStatus {
    fn from(told: ScriptTold) -> Self {
        match told {
            ScriptTold::Sums(sums) => sums.into(),
            ScriptTold::Means { loops, period_us, run_us, slack_us, wakeup_us } => {
                Self { loops, period_us, run_us, slack_us, wakeup_us }
            }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "means are shown to the microsecond")]
impl From<ScriptSums> for ScriptStatus {
    fn from(sums: ScriptSums) -> Self {
        let mean = |ns: f64, n: u64| (n > 0).then(|| ns / 1e3 / n as f64);
        Self {
            loops: sums.loops,
            period_us: mean(sums.period_ns as f64, sums.loops),
            run_us: mean(sums.run_ns as f64, sums.loops),
            slack_us: mean(sums.early_ns as f64 - sums.late_ns as f64, sums.timed),
            wakeup_us: mean(sums.wakeup_ns as f64, sums.timed),
        }
    }
}

/// One channel or mailbox.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChannelStatus {
    /// Its name in the plan.
    pub channel: String,
    /// How many messages fit.
    pub slots: u32,
    /// How many are in it.
    pub depth: u32,
    /// Most ever.
    pub high: u32,
    /// Fewest since it was first full.
    pub low: Option<u32>,
    /// Messages sent.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Whether its slots lie in internal memory.
    #[serde(default)]
    pub internal: bool,
    /// How its receiver is told of messages.
    #[serde(flatten)]
    pub notify: NotifyPolicy,
    /// How that went.
    #[serde(flatten)]
    pub told: DeliveryStats,
}

/// How the receiver of a channel was told of messages that it waited for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DeliveryStats {
    /// Messages that it waited for by polling, adaptively, or for a batch.
    pub waits: u64,
    /// Times that a sender woke it.
    pub rings: u64,
    /// Times that it looked by itself.
    pub polls: u64,
    /// Times that it found what it waited for.
    pub hits: u64,
    /// Adaptive: the time that it expects, and how far that is off in the mean.
    pub mean_ns: u64,
    /// See above.
    pub spread_ns: u64,
    /// Messages of which is known how long they waited until they were noticed.
    pub noticed: u64,
    /// For how long, all together.
    pub late_ns: u64,
    /// The longest.
    pub worst_ns: u64,
    /// The longest that a kernel took to let it run, of what it was late.
    pub kernel_ns: u64,
}

/// A migration that has ended. Times are on the run's clock; 0 where a phase was not reached.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Migration {
    /// What moved.
    pub task: String,
    /// Which of that name.
    pub index: u32,
    /// From this core.
    pub source: u32,
    /// To this one.
    pub target: u32,
    /// `ok`, or why not.
    pub status: String,
    /// It was asked for.
    pub request_ns: u64,
    /// The source has parked it at a checkpoint.
    pub parked_ns: u64,
    /// The target has attached it.
    pub attached_ns: u64,
    /// It runs on the target.
    pub running_ns: u64,
    /// It has sent its first message from there.
    pub output_ns: u64,
    /// Its context is on the target; 0 for a hand-off, which copies nothing.
    pub copied_ns: u64,
    /// Bytes of context that were copied.
    pub bytes: u64,
    /// `handoff`, `replicate` or `recreate`.
    pub mode: String,
    /// Who asked for it: `user`, `task` or `policy`.
    pub by: String,
}

/// The answer to `migrate`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Migrated {
    /// What the command called the request.
    pub id: String,
    /// What was to move.
    pub task: String,
    /// Which of that name.
    pub index: u32,
    /// Where it was to move.
    pub core: u32,
    /// `ok`, or why not.
    pub status: String,
    /// The same in words; may be empty.
    pub why: String,
}

/// The answer to `policy` and `rate`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Set {
    /// What the command called the request.
    pub id: String,
    /// Whether it is in force.
    pub ok: bool,
    /// Why not, in words; may be empty.
    pub why: String,
}

/// A policy decided what cannot be done.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Advice {
    /// When, on the run's clock.
    pub time_ns: u64,
    /// Whose decision.
    pub policy: String,
    /// The core that asked the policy.
    pub core: u32,
    /// What was wrong with it.
    pub text: String,
}

/// A kernel was killed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CoreDied {
    /// Its core.
    pub core: u32,
    /// Its process.
    pub pid: u32,
    /// What killed it.
    pub signal: i32,
    /// When this was noticed.
    pub detected_ns: u64,
    /// How it was noticed.
    pub by: String,
    /// The task that ran there; empty if none did.
    pub running: String,
    /// Tasks that are lost.
    pub lost: u32,
    /// Tasks that started again.
    pub restarted: u32,
    /// Tasks that went on from a checkpoint image.
    pub resumed: u32,
    /// Tasks that another kernel has taken up, or that wait until this one is there again.
    pub moved: u32,
    /// It is started again.
    #[serde(default)]
    pub returns: bool,
    /// Why it could not be; mostly empty.
    #[serde(default)]
    pub why: String,
    /// After how long it was there again; `None`: it has not come, or not yet.
    #[serde(default)]
    pub back_after_ns: Option<u64>,
}

/// A kernel that was killed is there again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CoreRestarted {
    /// Its core.
    pub core: u32,
    /// Its process.
    pub pid: u32,
    /// When this was seen.
    pub time_ns: u64,
    /// How long after its death was noticed.
    pub took_ns: u64,
}

/// What kind of thing is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorKind {
    /// A processor or a core cannot be had.
    Core,
    /// A task has no way in for its client.
    Client,
    /// Every task waits for another.
    Deadlock,
    /// A task ended alone with an error, before the run did.
    Exit,
    /// A task touched what is not its.
    Fault,
    /// The application's hook for the end failed.
    Finish,
    /// A frequency cannot be set.
    Frequency,
    /// A guest does not take part.
    Guest,
    /// The heap of a task is full.
    Heap,
    /// A process that simulates islands has gone.
    Island,
    /// A board's image is of another plan.
    Image,
    /// A kernel failed.
    Kernel,
    /// A simulation did not end in time.
    Limit,
    /// A line is too long for a board.
    Line,
    /// There is not enough globally visible memory.
    Memory,
    /// The module cannot be loaded.
    Module,
    /// The plan makes no sense to the helper.
    Plan,
    /// A policy, its parameters or its answer.
    Policy,
    /// A task cannot use a port.
    Port,
    /// The run cannot be recorded.
    Record,
    /// A task cannot be recreated.
    Recreate,
    /// A saved simulation cannot go on.
    Restore,
    /// A simulation cannot be saved.
    Save,
    /// The application refuses to start.
    Setup,
    /// A task needs a larger stack.
    Stack,
    /// A task stands still in virtual time.
    Standstill,
    /// The module lacks a function.
    Symbol,
    /// A task ended the run.
    Task,
    /// The kernels cannot do what is asked for.
    Unable,
    /// A simulation ended before it was to be saved.
    Unsaved,
    /// One of another version's helper.
    #[serde(untagged)]
    Other(String),
}

/// Something is wrong.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HelperError {
    /// What kind of thing.
    pub kind: ErrorKind,
    /// The task it is about; empty if none.
    pub task: String,
    /// Which of that name.
    pub index: u32,
    /// The core it is about.
    pub core: Option<u32>,
    /// The symbol, processor or parameter it is about; empty if none.
    pub key: String,
    /// In words.
    pub text: String,
    /// The error number of the system, if it refused something; else 0.
    #[serde(default)]
    pub errno: i32,
    /// Where in the code, and the calls that led there, the innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<Frame>,
}

/// A place in the code of an application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The module, or a library of it.
    pub file: PathBuf,
    /// Where in it, as its own addresses are.
    pub offset: u64,
    /// The function, if the file exports it; else empty.
    pub function: String,
}

impl HelperError {
    /// One that is about no task, core or key.
    pub fn new(kind: ErrorKind, text: String) -> Self {
        let (task, key) = (String::new(), String::new());
        Self { kind, task, index: 0, core: None, key, text, errno: 0, frames: Vec::new() }
    }
}

/// The run is over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct End {
    /// Totals at the end.
    pub status: Status,
    /// Events that could not be recorded fast enough.
    pub dropped_events: u64,
    /// Migrations that could not be reported fast enough.
    pub dropped_migrations: u64,
    /// Whether no error was told.
    pub ok: bool,
    /// From the source of a frame until it arrived at the end of the application, in the median;
    /// `None`: none did.
    pub latency_ns: Option<u64>,
    /// For each task, in the order of the plan; `None`: none was measured.
    #[serde(default)]
    pub responses: Vec<Option<Response>>,
}

/// How long a task takes, from when it could until it had; see `docs/recorded-run.md`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// How many jobs or firings were measured.
    pub n: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The mean.
    pub mean_ns: u64,
    /// Half of all were no longer.
    pub p50_ns: u64,
    /// 99 of 100 were no longer.
    pub p99_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// From which time, to below which, how many; where there are any, in ascending order.
    pub histogram: Vec<[u64; 3]>,
}

impl CoreDied {
    /// What became of the core and its tasks, in words.
    pub fn words(&self) -> String {
        let Self { core, moved, resumed, restarted, lost, .. } = self;
        let how = match (self.why.as_str(), self.signal) {
            ("", 0) => format!("died (noticed by the {})", self.by),
            ("", signal) => format!("was killed by signal {signal}"),
            (why, _) => format!("could not be started again ({why})"),
        };
        let again = if self.returns { "; it is started again" } else { "" };
        format!(
            "core {core} {how}: \
             {moved} tasks moved, {resumed} resumed, {restarted} restarted, {lost} lost{again}"
        )
    }

    /// The run goes on without the core, or without some of its tasks.
    pub fn is_harm(&self) -> bool {
        !self.returns || self.lost > 0
    }
}

impl CoreRestarted {
    /// In words.
    pub fn words(&self) -> String {
        format!("core {} runs again, after {} ms", self.core, self.took_ns / 1_000_000)
    }
}

impl Started {
    /// The process of each core's kernel, if it is there: of a simulation or an emulator one for
    /// several of them.
    pub fn processes(&self) -> Vec<Option<Process>> {
        let process = |pid: u32| if pid == 0 { None } else { Process::with_pid(pid) };
        self.kernels.iter().map(|kernel| process(kernel.pid)).collect()
    }
}

/// How many bytes one line may have: a status of as many tasks as there may be.
pub const LINE_MAX: u64 = 1 << 28;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_named_by_its_one_member() {
        let text =
            r#"{"migrated":{"id":"7","task":"bpf","index":0,"core":1,"status":"busy","why":""}}"#;
        let Line::Migrated(migrated) = serde_json::from_str(text).unwrap() else { panic!() };
        assert_eq!((migrated.id.as_str(), migrated.status.as_str()), ("7", "busy"));
        assert!(serde_json::from_str::<Line>(r#"{"unheard_of":{}}"#).is_err());
    }

    #[test]
    fn a_channel_that_was_never_full_has_no_low() {
        let text = r#"{"channel":"a_b","slots":14,"depth":3,"high":9,"low":null,
                       "sent":4,"received":1,"bytes":64}"#;
        let channel: ChannelStatus = serde_json::from_str(text).unwrap();
        assert_eq!(channel.low, None);
    }

    /// `whimbrel top` could not reach a run with scripts: it tells means, and sums were awaited.
    #[test]
    fn what_a_run_tells_of_a_script_can_be_read_again() {
        let told = r#"{"loops":4,"period_ns":8000,"run_ns":4000,"timed":0,"early_ns":0,
                       "late_ns":0,"wakeup_ns":0}"#;
        let script: ScriptStatus = serde_json::from_str(told).unwrap();
        assert_eq!((script.period_us, script.slack_us), (Some(2.0), None));
        let again = serde_json::to_string(&script).unwrap();
        assert_eq!(serde_json::from_str::<ScriptStatus>(&again).unwrap(), script);
    }
}
