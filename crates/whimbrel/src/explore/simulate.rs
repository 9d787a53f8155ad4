// SPDX-License-Identifier: Apache-2.0
//! Candidates as plans for simulators.
//!
//! Only the cores that a candidate has are in its plan, in order; so a candidate on cores 0 and 2
//! of the platform runs on cores 0 and 1 of its simulation, and nothing else consumes energy.

use std::path::{Path, PathBuf};

use whimbrel_explore::{Budget, Candidate, Evaluate, Failure, Outcome};
use whimbrel_hardware::Description;
use whimbrel_model::{
    App, At, Core, Frequency, Moving, Pacing, Pin, Plan, PlanOptions, PolicyName, Task, Transport,
    plan,
};
use whimbrel_run::fingerprint;
use whimbrel_run::helpers;
use whimbrel_run::load::experiment::Experiment;

use super::job::{Job, Pool};
use crate::cli::ExploreArgs;

/// How often agents report, as in a simulation that is not told: also for `static`, which costs
/// what the table of the best candidates does.
const AGENTS_NS: u64 = 100_000_000;
/// The policy under which every task stays where it begins.
pub const STAYING: &str = "static";
/// How long an idle kernel polls; the simulator has that from the platform.
const SPIN_NS: u64 = 20_000;
/// How long a target may take to attach a task.
const OFFER_NS: u64 = 100_000_000;
/// How long channels may take to drain at the end.
const DRAIN_NS: u64 = 2_000_000_000;

/// An application on a platform, for so long, from a seed.
#[derive(Debug)]
pub struct Simulator {
    pool: Pool,
    folder: PathBuf,
    module: String,
    /// Whether that came with this command.
    own: bool,
    app: App,
    hardware: Description,
    pins: Vec<Pin>,
    duration_ns: u64,
    seed: u64,
}

/// What a simulator runs.
#[derive(Debug)]
pub struct Setup {
    /// The application.
    pub app: App,
    /// What it runs on.
    pub hardware: Description,
    /// Tasks that no policy moves.
    pub pins: Vec<Pin>,
    /// For how long, in virtual time.
    pub duration_ns: u64,
    /// What draws begin with.
    pub seed: u64,
}

impl Simulator {
    /// One that simulates an application of this folder and module.
    pub fn new(
        program: PathBuf,
        folder: PathBuf,
        module: String,
        Setup { app, hardware, pins, duration_ns, seed }: Setup,
    ) -> Self {
        let pool = Pool::new(program);
        let own =
            helpers::modules().is_ok_and(|own| Path::new(&module).parent() == Some(own.as_path()));
        Self { pool, folder, module, own, app, hardware, pins, duration_ns, seed }
    }

    /// A candidate as any simulator can run it.
    pub fn job(&self, candidate: &Candidate) -> Job {
        Job {
            folder: self.folder.clone(),
            module: self.module.clone(),
            own: self.own,
            plan: self.plan(candidate).line(),
            cores: candidate.cores(),
            of: self.hardware.cores.len(),
            sinks: self.app.sinks(),
        }
    }

    /// Stands for everything that outcomes depend on besides candidates: a hash of the plan of a
    /// candidate that is as the application says.
    pub fn identity(&self) -> String {
        let cores = self.hardware.cores.len();
        let most = u32::try_from(cores.saturating_sub(1)).unwrap_or(u32::MAX);
        let candidate = Candidate {
            rate_millihz: 0,
            policy: STAYING.into(),
            available: vec![true; cores],
            mapping: self.app.tasks.iter().map(|t| (*t.core.get_ref()).min(most)).collect(),
            points: vec![0; cores],
            slots: self.app.channels.iter().map(|channel| channel.slots).collect(),
            ways: self
                .app
                .channels
                .iter()
                .map(|channel| Transport { notify: channel.notify, internal: channel.internal })
                .collect(),
        };
        let plan = self.plan(&candidate);
        // Of its files only what they say: they may lie elsewhere.
        let module = Path::new(&plan.module).file_name().unwrap_or_default();
        let module = module.to_string_lossy().into_owned();
        let pins = if self.pins.is_empty() { String::new() } else { format!("{:?}", self.pins) };
        fingerprint(&(Plan { module, ..plan }.line() + &pins))
    }

    /// How the exploration of these options is repeated.
    pub fn experiment(&self, args: &ExploreArgs) -> Experiment {
        Experiment::of("explore", args.clone(), |kept, args| {
            if let Some(Budget::Time(_)) = args.budget {
                return Err("its budget was a time: name a number of candidates".into());
            }
            (args.output, args.resume, args.write_table, args.scheduler) = (None, None, None, None);
            (args.json, args.quiet) = (false, true);
            let module = Path::new(&self.module);
            kept.gather(&mut args.app, &mut args.platform, &mut args.set, &self.app, module)
        })
    }

    /// The plan of a candidate.
    fn plan(&self, candidate: &Candidate) -> Plan {
        let cores = candidate.cores();
        let mut hardware = self.hardware.clone();
        let start = |core: &usize| (*core, candidate.points[*core] as usize);
        hardware.select(&cores.iter().map(start).collect::<Vec<_>>());
        let mut app = self.app.clone();
        for (task, core) in app.tasks.iter_mut().zip(&candidate.mapping) {
            let position = cores.iter().position(|known| known == &(*core as usize)).unwrap_or(0);
            *task.core.get_mut() = u32::try_from(position).unwrap_or(u32::MAX);
        }
        // Under `static` no task moves.
        if candidate.policy != STAYING {
            let is_pinned = |task: &Task| self.pins.iter().any(|pin| pin.is_of(task));
            for task in app.tasks.iter_mut().filter(|task| is_pinned(task)) {
                task.migratable = false;
            }
        }
        for (channel, slots) in app.channels.iter_mut().zip(&candidate.slots) {
            channel.slots = *slots;
        }
        for (channel, way) in app.channels.iter_mut().zip(&candidate.ways) {
            (channel.notify, channel.internal) = (way.notify, way.internal);
        }
        let policy: Option<PolicyName> = candidate.policy.parse().ok();
        #[expect(clippy::cast_precision_loss, reason = "a rate is at most 1e12 thousandths")]
        let pacing = match candidate.rate_millihz {
            0 => Pacing::Application,
            millihz => Pacing::Rate(millihz as f64 / 1e3),
        };
        let options = PlanOptions {
            cpus: (0..).take(cores.len()).collect(),
            guests: Vec::new(),
            guest_of: Vec::new(),
            module: self.module.clone(),
            spin_ns: Some(SPIN_NS),
            spin_adapts: false,
            offer_ns: OFFER_NS,
            record: None,
            pacing,
            moving: Moving { agents_ns: AGENTS_NS, policy, ..Moving::default() },
            cores: hardware.cores.iter().map(Core::from).collect(),
            frequency: Frequency::None,
            kinds: hardware.cores.iter().map(|core| core.kind.clone()).collect(),
            seed: self.seed,
            journal: String::new(),
        };
        // What a description cannot say in JSON does not exist: it is plain data.
        let platform = serde_json::to_string(&hardware).ok();
        let commands = At::ending(&app, self.duration_ns, DRAIN_NS);
        Plan { platform, commands, ..plan(&app, &options) }
    }
}

impl Evaluate for Simulator {
    fn run(&self, candidate: &Candidate) -> Result<Outcome, Failure> {
        self.pool.run(&self.job(candidate))
    }
}
