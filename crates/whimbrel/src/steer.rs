// SPDX-License-Identifier: Apache-2.0
//! A run that is under way, found by its name and asked for something; `whimbrel policy`,
//! `whimbrel frame-rate`, `whimbrel channel` and `whimbrel restart`.

use std::io::{self, ErrorKind};

use whimbrel_model::{PolicyName, Problem, instead_of_policy, millihz};
use whimbrel_run::control::{Reply, Request, ask};
use whimbrel_run::failure::{Answer, Outcome};
use whimbrel_run::output::print;
use whimbrel_run::protocol::{ChannelStatus, Set};
use whimbrel_run::rundir::{Base, FoundRun, SOCKET};
use whimbrel_text::{cure, suggestion};

use crate::cli::{ChannelArgs, FrameRateArgs, PolicyArgs, RestartArgs};

/// Finds a run that lives.
///
/// # Errors
/// There is none of that name.
pub fn find(name: &str) -> Result<FoundRun, Problem> {
    let mut living = living()?;
    match living.iter().position(|run| run.name == name) {
        Some(place) => Ok(living.swap_remove(place)),
        None => {
            let known = living.iter().map(|run| run.name.as_str());
            let help = suggestion(name, known, || names(&living));
            Err(Problem::new(format!("no run is called `{name}`")).help(help))
        }
    }
}

/// Finds the only run that lives.
///
/// # Errors
/// There is none, or there are several.
#[cfg(feature = "analysis")]
pub fn find_only() -> Result<FoundRun, Problem> {
    let mut living = living()?;
    match (living.pop(), living.len()) {
        (Some(run), 0) => Ok(run),
        (None, _) => Err(Problem::new("none of your runs is under way").help(names(&[]))),
        (Some(last), _) => {
            living.push(last);
            Err(Problem::new("several runs are under way: name one").help(names(&living)))
        }
    }
}

fn living() -> Result<Vec<FoundRun>, Problem> {
    let base = Base::open()?;
    base.living().map_err(|error| unreadable(&base, &error))
}

/// The base folder cannot be read.
pub fn unreadable(base: &Base, error: &io::Error) -> Problem {
    Problem::new(format!("{} cannot be read: {error}", base.path().display())).help(cure(error))
}

fn names(living: &[FoundRun]) -> String {
    let names: Vec<&str> = living.iter().map(|run| run.name.as_str()).collect();
    if names.is_empty() {
        "start one with `whimbrel run`: you have none".to_owned()
    } else {
        format!("name one of your runs: {}", names.join(", "))
    }
}

/// Asks a run for something.
///
/// # Errors
/// It cannot be reached, or refuses.
pub fn request(run: &FoundRun, request: &Request) -> Result<Reply, Problem> {
    let reply = ask(&run.path.join(SOCKET), request);
    match reply.map_err(|error| unreachable(&run.name, &error))? {
        Reply::Refused(why) => Err(Problem::new(format!("the run `{}` refuses: {why}", run.name))
            .help("see `whimbrel ps`, and `whimbrel top` for its tasks and cores")),
        reply => Ok(reply),
    }
}

/// A run whose answer is to another question.
pub fn other_version() -> Problem {
    Problem::new("the run answers another question")
        .help("use the version of Whimbrel that started the run")
}

/// A run that cannot be asked.
pub fn unreachable(run: &str, error: &io::Error) -> Problem {
    match error.kind() {
        ErrorKind::PermissionDenied => {
            Problem::new(format!("the run `{run}` belongs to another user"))
                .help("steer it as the user who started it")
        }
        ErrorKind::UnexpectedEof => {
            Problem::new(format!("the run `{run}` ended before it had answered"))
                .help("see `whimbrel ps`: it lists the runs that live")
        }
        _ => Problem::new(format!("the run `{run}` cannot be reached: {error}"))
            .help("see `whimbrel ps`: it may be starting or ending"),
    }
}

/// Lets another policy decide.
///
/// # Errors
/// No such run, and whatever the helper has against the policy.
pub fn policy(args: &PolicyArgs) -> Outcome {
    set(&args.run, &policy_request(&args.policy), &format!("policy {}", args.policy))
}

/// Changes the frame rate.
///
/// # Errors
/// No such run, and whatever the helper has against the rate.
pub fn frame_rate(args: &FrameRateArgs) -> Outcome {
    set(&args.run, &rate_request(args.rate), &format!("{} frames per second", args.rate))
}

/// Gives a channel another notify.
///
/// # Errors
/// No such run or channel, a setting that makes no sense, and whatever the helper has against it.
pub fn channel(args: &ChannelArgs) -> Outcome {
    let Reply::Status(status) = request(&find(&args.run)?, &Request::Status)? else {
        return Err(other_version().into());
    };
    let settings: Vec<&str> = args.settings.iter().map(String::as_str).collect();
    let (wanted, what) = bell_request(&status.channels, &args.channel, &settings)
        .map_err(|problem| problem.within("the channel is left as it is"))?;
    set(&args.run, &wanted, &what)
}

/// Starts the kernel of a core again.
///
/// # Errors
/// No such run, and why the kernel does not come.
pub fn restart(args: &RestartArgs) -> Outcome {
    let RestartArgs { run, core } = args;
    let set = outcome(run, &Request::Restart { core: *core })?;
    if !set.ok {
        let text = format!("core {core} of the run `{run}` cannot be started again: {}", set.why);
        return Err(Problem::new(text)
            .help("see `whimbrel ps`: it lists the cores of each run")
            .into());
    }
    print(&format!("{run}: core {core} runs again\n"))?;
    Ok(Answer::Yes)
}

/// The request for another notify of a channel, and what it is in words.
///
/// # Errors
/// There is no such channel, or what makes no sense for it.
pub fn bell_request(
    channels: &[ChannelStatus],
    name: &str,
    settings: &[&str],
) -> Result<(Request, String), Problem> {
    let known = channels.iter().find(|known| known.channel == name).ok_or_else(|| {
        let names: Vec<&str> = channels.iter().map(|known| known.channel.as_str()).collect();
        let help =
            suggestion(name, names.iter().copied(), || format!("name one of {}", names.join(", ")));
        Problem::new(format!("no channel is called `{name}`")).help(help)
    })?;
    let notify = settings.iter().try_fold(known.notify, |notify, setting| notify.with(setting))?;
    notify.check(known.slots)?;
    let what = format!("channel {name}: {notify}");
    Ok((Request::Channel { channel: name.to_owned(), notify }, what))
}

/// The request for a policy.
pub fn policy_request(policy: &PolicyName) -> Request {
    Request::Policy { name: policy.name.clone(), settings: policy.settings.clone() }
}

/// The request for frames per second.
pub fn rate_request(rate: f64) -> Request {
    Request::Rate { millihz: millihz(rate) }
}

/// Where to see what a run takes.
fn see(wanted: &Request, why: &str) -> String {
    match wanted {
        Request::Policy { name, .. } => instead_of_policy(name, why),
        Request::Rate { .. } => {
            "give a task `periodic = true` in app.toml, or name another rate".to_owned()
        }
        _ => "see what the run has in `whimbrel top`".to_owned(),
    }
}

fn set(name: &str, wanted: &Request, what: &str) -> Outcome {
    let set = outcome(name, wanted)?;
    if !set.ok {
        let text = format!("{what} was refused by the run `{name}`: {}", set.why);
        return Err(Problem::new(text).help(see(wanted, &set.why)).into());
    }
    print(&format!("{name}: {what}\n"))?;
    Ok(Answer::Yes)
}

fn outcome(name: &str, wanted: &Request) -> Result<Set, Problem> {
    match request(&find(name)?, wanted)? {
        Reply::Set(set) => Ok(set),
        _ => Err(other_version()),
    }
}
