// SPDX-License-Identifier: Apache-2.0
//! What other programs do with the command's parts; the Python package is made of this.
//!
//! Options are the structures that the command line becomes, made of texts by the same parsers.
//! Nothing is printed but what an application prints.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use serde_json::{Value, json};
use whimbrel_explore::{
    Candidate, Evaluate, Exploration, Failure as Failed, Progress, Surroundings, System, Taker,
};
use whimbrel_model::{Problem, Setting};
use whimbrel_report::page;
use whimbrel_run::accompany;
use whimbrel_run::args::SimArgs;
use whimbrel_run::atomic_file;
use whimbrel_run::failure::Failure;
use whimbrel_run::{helpers, load, prepared};
use whimbrel_trace::{Format, Recorded};

use crate::cli::TraceArgs;
use crate::explore;
use crate::explore::{Job, Pool, Prepared, Simulator};
use crate::wrong::{failed, input};
use crate::{report, trace};

pub use crate::candidates::{Candidates, Next, Search};
pub use crate::cli::ExploreArgs;
pub use crate::steps::Steps;
pub use crate::wrong::{Trouble, Wrong};
pub use whimbrel_explore::{Outcome, Progress as Explored};
pub use whimbrel_model::{DecidedMove, DecidedPoint, Decision};
pub use whimbrel_run::Callbacks;
pub use whimbrel_run::args::Parameters;
pub use whimbrel_run::protocol::Status;
pub use whimbrel_text::option::show_parameters;

/// Writes a file as the command does: whole or not at all, and through no link that another user
/// may have made.
///
/// # Errors
/// It cannot be written; what was there is as it was then.
pub fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    atomic_file::write(path, |file| file.write_all(contents))
}

/// Names the folder of the helpers, once and before anything else.
pub fn helpers_are_in(folder: PathBuf) {
    helpers::are_in(folder);
}

/// Simulates as `whimbrel sim` does; gives its summary as JSON.
///
/// # Errors
/// Bad input, or a run that failed.
pub fn simulate(given: Parameters, callbacks: &mut dyn Callbacks) -> Result<String, Wrong> {
    let args = SimArgs::of(given).map_err(|problem| input(problem.into()))?;
    let args = explore::replayed(&args).map_err(input)?;
    let (run, complete) = prepared(&args).map_err(input)?;
    let record = args.common.record.as_deref();
    let summary = accompany(run, record, complete, callbacks).map_err(failed)?;
    serde_json::to_string(&summary).map_err(|error| failed(Failure::Output(error.into())))
}

/// Repeats a recorded simulation or an exploration; gives each file of the result with how it
/// differs, `None`: not at all.
///
/// # Errors
/// It cannot be repeated, or fails.
pub fn rerun(folder: &Path, stop: &AtomicBool) -> Result<Vec<(String, Option<String>)>, Wrong> {
    let compared = crate::rerun::repeated(folder, stop).map_err(failed)?;
    Ok(compared.into_iter().map(|file| (file.name, file.difference)).collect())
}

/// Writes a recorded run in the format of a viewer, by its name.
///
/// # Errors
/// There is no such format or no such run, or the file cannot be written.
pub fn trace(folder: &Path, format: &str, to: &Path) -> Result<(), Wrong> {
    let known = Format::ALL.into_iter().find(|known| known.name() == format);
    let known = known.ok_or_else(|| {
        let names = Format::ALL.map(Format::name).join(", ");
        input(
            Problem::new(format!("no format is called `{format}`"))
                .help(format!("name one of {names}"))
                .into(),
        )
    })?;
    let run = Recorded::open(folder).map_err(|error| input(trace::unreadable(&error).into()))?;
    let args = TraceArgs { run: folder.into(), format: known, output: None, quiet: true };
    trace::to_file(&args, &run, to).map(drop).map_err(|problem| failed(problem.into()))
}

/// Writes recorded runs and explorations as a page.
///
/// # Errors
/// A folder is of neither, or the file cannot be written.
pub fn report(folders: &[PathBuf], to: &Path) -> Result<(), Wrong> {
    let page = page(folders, &[]).map_err(|error| input(report::unreadable(&error).into()))?;
    atomic_file::save(to, |file| file.write_all(page.html.as_bytes()))
        .map_err(|problem| failed(problem.into()))
}

/// Checks an application; gives the path of its file and the text of its app.toml, which is another
/// text where the file is of another tool.
///
/// # Errors
/// The file cannot be read, or is wrong.
pub fn application(path: &Path, set: &[(String, String)]) -> Result<Value, Wrong> {
    let setting =
        |(key, value): &(String, String)| Setting { key: key.clone(), value: value.clone() };
    let set: Vec<Setting> = set.iter().map(setting).collect();
    let load::Application { source, path, .. } =
        load::application(&[path.to_owned()], &set).map_err(input)?;
    Ok(json!({ "path": path, "text": source.text() }))
}

/// Checks a platform, by its name or the path of its file; gives that path.
///
/// # Errors
/// It does not exist, or is wrong.
pub fn platform(wanted: &str) -> Result<PathBuf, Wrong> {
    let path = load::simulated_file(wanted).map_err(input)?;
    let platform = load::simulated_platform(wanted).map_err(input)?;
    platform.description().map_err(|problem| input(problem.into()))?;
    Ok(path)
}

/// What an exploration found.
#[derive(Debug)]
pub struct ExplorationResult {
    /// The content of `front.json`.
    pub front: String,
    /// The fronts for people.
    pub tables: String,
    /// Whether there is a candidate without a missed deadline for every frame rate.
    pub kept: bool,
    system: System,
    identity: String,
    found: Exploration,
}

impl ExplorationResult {
    /// Makes the content of `explore.parquet`: of every candidate, so memory is no longer flat.
    ///
    /// # Errors
    /// What was found cannot be read back.
    pub fn parquet(&self) -> Result<Vec<u8>, Wrong> {
        let mut bytes = Vec::new();
        whimbrel_explore::parquet(&self.system, &self.found, &self.identity, &mut bytes)
            .map_err(|error| failed(Failure::Output(error)))?;
        Ok(bytes)
    }
}

/// Runs candidates elsewhere.
pub trait Farm: Sync {
    /// Runs jobs, each in [`work`], and hands on each verdict with the number of its job.
    fn run(&self, jobs: &[String], taker: &Verdicts<'_>);
}

/// Takes the verdicts of jobs, each once.
pub struct Verdicts<'a> {
    candidates: &'a [Candidate],
    taken: Vec<AtomicBool>,
    taker: &'a dyn Taker,
}

/// The options of an exploration, by the parameters of a function.
///
/// # Errors
/// A value makes no sense.
pub fn explore_options(given: Parameters) -> Result<ExploreArgs, Wrong> {
    ExploreArgs::of(given).map_err(|problem| input(problem.into()))
}

/// The same as the command has handed them over (`--scheduler`): as JSON.
///
/// # Errors
/// They are of another version.
pub fn handed_over(options: &str) -> Result<ExploreArgs, Wrong> {
    serde_json::from_str(options).map_err(|error| {
        let message = format!("the command and the package are of two versions: {error}");
        input(Problem::new(message).help("install both from the same checkout").into())
    })
}

/// Explores as `whimbrel explore` does, on a farm or with all processors.
///
/// # Errors
/// Bad input, simulators that cannot be started, or files that cannot be written.
pub fn explore(
    args: &ExploreArgs,
    farm: Option<&dyn Farm>,
    stop: &AtomicBool,
    watch: &(dyn Fn(Progress) + Sync),
) -> Result<ExplorationResult, Wrong> {
    let Prepared { space, simulator, experiment } = explore::prepared(args).map_err(input)?;
    let (space, simulator) = (&space, &simulator);
    let farmed = farm.map(|farm| Farmed { farm, simulator });
    let evaluate: &dyn Evaluate = farmed.as_ref().map_or(simulator, |farmed| farmed);
    let around = Surroundings { stop, watch };
    let (identity, found) =
        explore::found(args, space, simulator, evaluate, &around).map_err(failed)?;
    explore::keep(args, space.system(), &found, &identity, experiment).map_err(failed)?;
    let system = space.system().clone();
    let front = format!("{:#}\n", whimbrel_explore::json(&system, &found));
    let (tables, kept) = (explore::tables(&system, &found), explore::kept(&found));
    Ok(ExplorationResult { front, tables, kept, system, identity, found })
}

/// Runs a job that a [`Farm`] was given, and gives its verdict.
///
/// # Errors
/// There is no simulator here, or the job is none.
pub fn work(job: &str) -> Result<String, Wrong> {
    static POOL: Mutex<Option<&'static Pool>> = Mutex::new(None);
    let wrong = |message: String| Wrong::Run(vec![Trouble { message, ..Trouble::default() }]);
    let job = Job::parse(job)
        .map_err(|error| wrong(format!("the job is of another version of the package: {error}")))?;
    let pool = {
        let mut pool = POOL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match *pool {
            Some(known) => known,
            None => {
                let program = helpers::find(helpers::SIMULATOR).map_err(failed)?;
                // There is one for as long as the process lives.
                pool.insert(Box::leak(Box::new(Pool::new(program))))
            }
        }
    };
    serde_json::to_string(&pool.run(&job)).map_err(|error| wrong(error.to_string()))
}

/// Candidates as jobs of a farm.
struct Farmed<'a> {
    farm: &'a dyn Farm,
    simulator: &'a Simulator,
}

impl Evaluate for Farmed<'_> {
    fn run(&self, candidate: &Candidate) -> Result<Outcome, Failed> {
        self.simulator.run(candidate)
    }

    fn all(&self, candidates: &[Candidate], taker: &dyn Taker) {
        // In parallel, for the workers wait for them.
        let jobs = candidates.par_iter().map(|candidate| self.simulator.job(candidate).text());
        let jobs: Vec<String> = jobs.collect();
        let taken = candidates.iter().map(|_| AtomicBool::new(false)).collect();
        let verdicts = Verdicts { candidates, taken, taker };
        if !jobs.is_empty() {
            self.farm.run(&jobs, &verdicts);
            verdicts.miss_none();
        }
    }
}

impl Verdicts<'_> {
    /// A farm that is done has run everything, unless it was to end.
    fn miss_none(&self) {
        let missing = self.taken.iter().position(|taken| !taken.load(Ordering::Relaxed));
        if let Some(missing) = missing.filter(|_| !self.taker.has_enough()) {
            let why = "the cluster ended without the result of every candidate".to_owned();
            self.taker.take(&self.candidates[missing], Err(Failed::Fatal(why)));
        }
    }

    /// Whether no further job is to be begun.
    pub fn has_enough(&self) -> bool {
        self.taker.has_enough()
    }

    /// Takes what [`work`] said of a job. A second verdict of one job is passed over; false: what
    /// it says is none.
    pub fn take(&self, job: usize, verdict: &str) -> bool {
        let Some(candidate) = self.candidates.get(job) else { return false };
        let Ok(outcome) = serde_json::from_str::<Result<Outcome, Failed>>(verdict) else {
            return false;
        };
        if !self.taken[job].swap(true, Ordering::Relaxed) {
            self.taker.take(candidate, outcome.map_err(on_a_worker));
        }
        true
    }
}

/// Says where it failed, and what workers need where they lack a file.
fn on_a_worker(failed: Failed) -> Failed {
    let Failed::Fatal(why) = failed else { return failed };
    let lack = "; workers need the application's module and data at the same paths as here";
    let lack = if why.contains("No such file") { lack } else { "" };
    Failed::Fatal(format!("on a worker: {why}{lack}"))
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use clap::{Args, Command, FromArgMatches};

    use super::*;

    const NEEDED: [(&str, &str); 3] = [("app", "app.toml"), ("platform", "mpsoc3"), ("seed", "1")];

    fn given(more: Option<(&str, &str)>) -> Parameters {
        let texts = NEEDED.into_iter().chain(more);
        Parameters(texts.map(|(name, text)| (name.into(), vec![text.into()])).collect())
    }

    /// What is left to the defaults is that of the command, and what the command takes is taken.
    fn check<A: Args + FromArgMatches + Debug>(of: fn(Parameters) -> Result<A, Problem>) {
        let command = A::augment_args(Command::new("test"));
        let words = ["test", "app.toml", "--platform=mpsoc3", "--seed=1", "--quiet"];
        let matches = command.clone().try_get_matches_from(words).unwrap();
        let args = A::from_arg_matches(&matches).unwrap();
        assert_eq!(format!("{:?}", of(given(None)).unwrap()), format!("{args:?}"));
        let of_command = ["json", "brief", "quiet", "scheduler"];
        let ids = command.get_arguments().map(|arg| arg.get_id().as_str());
        for id in ids.filter(|id| !of_command.contains(id)) {
            let wrong = of(given(Some((id, "?")))).err().map(|problem| problem.message);
            assert!(!wrong.is_some_and(|why| why.contains("no parameter")), "{id}");
        }
        assert!(of(given(Some(("nothing", "?")))).unwrap_err().message.contains("nothing="));
    }

    #[test]
    fn parameters_become_the_options_that_words_become() {
        check(SimArgs::of);
        check(ExploreArgs::of);
    }

    #[test]
    fn an_option_that_is_handed_over_is_what_it_was() {
        let texts = [
            ("core_counts", "1-2"),
            ("frame_rates", "300.1,600"),
            ("points", "133.5,266"),
            ("slots", "a=4,8"),
            ("channels", "batch:8:5ms/internal"),
            ("policies", "static,balance:settle_ms=500"),
            ("pins", "bpf.2=1"),
            ("set", "plays=1"),
            ("budget", "10m"),
            ("output", "there"),
        ];
        for text in texts {
            let args = ExploreArgs::of(given(Some(text))).unwrap();
            let json = serde_json::to_string(&args).unwrap();
            let back: ExploreArgs = serde_json::from_str(&json).unwrap();
            assert_eq!(format!("{back:?}"), format!("{args:?}"));
        }
    }

    #[test]
    fn a_wrong_value_is_told_with_its_option_and_what_to_write() {
        for (name, text, why) in [
            ("mode", "jump", "for --mode: write one of handoff, replicate, recreate"),
            ("mode", "handof", "for --mode: write `handoff`"),
            ("moves", "a=1,0@2s", "--move takes one core; --shuttle takes several"),
            ("core_count", "-1", "-1 is not in"),
            ("duration", "4", "time unit needed, for example 4sec or 4ms: write 20us, 500ms"),
            ("record", "", "--record has no value"),
        ] {
            let problem = SimArgs::of(given(Some((name, text)))).unwrap_err();
            let said = problem.line();
            let starts = said.starts_with(&format!("invalid value `{text}` for --"));
            assert!(starts || text.is_empty(), "{said}");
            assert!(said.contains(why), "{said}");
        }
    }

    fn told(why: &str) -> String {
        let Failed::Fatal(told) = on_a_worker(Failed::Fatal(why.to_owned())) else {
            return String::new();
        };
        told
    }

    #[test]
    fn a_worker_that_lacks_a_file_is_told_to_have_it_and_no_other() {
        assert_eq!(
            told("memory: Cannot allocate memory"),
            "on a worker: memory: Cannot allocate memory"
        );
        assert!(told("mine.so: No such file or directory").contains("at the same paths as here"));
    }
}
