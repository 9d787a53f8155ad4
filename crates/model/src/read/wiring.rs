// SPDX-License-Identifier: Apache-2.0
//! Makes the channels and binds the ports: counted tasks spread one entry over several channels.

mod service;

use std::collections::{HashMap, HashSet};

use toml::Spanned;

use super::amount::{Amount, amount};
use super::keys::{Claim, Nearness};
use super::manifest::{LinkTable, Manifest};
use crate::app::{Channel, Direction, Names, NotifyPolicy, Param, Port, Task};
use crate::problem::{Problem, Span, nearest};
use crate::reader::{given, is_name};

const NAME_MAX: usize = 31;
const SLOT_BYTES_MAX: u32 = 1 << 30;

/// Connects the tasks as the `[[channel]]`, `[[mailbox]]` and `[[service]]` entries say.
pub(crate) fn connect(
    manifest: &Manifest,
    params: &[Param],
    tasks: &[Task],
    of_name: &Names,
    problems: &mut Vec<Problem>,
) -> (Vec<Channel>, Vec<Port>) {
    let mut wiring = Wiring {
        tasks,
        of_name,
        channels: Vec::new(),
        ports: Vec::new(),
        names: HashSet::new(),
        numbers: HashMap::new(),
        used: HashMap::new(),
    };
    let mut links: Vec<&LinkTable> = manifest.links.iter().collect();

    links.sort_by_key(|link| link.slots.to.span().start);
    for link in links {
        let added =
            if link.mailbox { wiring.mailbox(link, params) } else { wiring.channel(link, params) };
        problems.extend(added.err());
    }
    for table in &manifest.services {
        problems.extend(service::connect(&mut wiring, table, params).err());
    }
    (wiring.channels, wiring.ports)
}

/// The tasks that share a name, and one of their ports.
#[derive(Clone)]
pub(super) struct End<'a> {
    pub task: &'a str,
    pub port: &'a str,
    pub first: usize,
    pub count: usize,
    pub span: Span,
}

/// One of them.
pub(super) struct Element<'a> {
    pub end: End<'a>,
    /// Its number among them.
    pub number: usize,
}

impl Element<'_> {
    /// Its number among all tasks.
    fn task(&self) -> usize {
        self.end.first + self.number
    }
}

pub(super) struct Wiring<'t> {
    tasks: &'t [Task],
    of_name: &'t Names,
    channels: Vec<Channel>,
    ports: Vec<Port>,
    names: HashSet<String>,
    /// The number that was put last behind a name that was taken.
    numbers: HashMap<String, u32>,
    used: HashMap<(usize, String), (Direction, u32)>,
}

impl Wiring<'_> {
    fn channel(&mut self, link: &LinkTable, params: &[Param]) -> Result<(), Problem> {
        let from = self.end(&link.from[0])?;
        let to = self.end(&link.slots.to)?;
        let template = template(link, params)?;
        let several = from.count.max(to.count);

        if from.count != to.count && from.count != 1 && to.count != 1 {
            let (a, b) = (from.count, to.count);
            let message =
                format!("{a} of `{}` cannot be paired with {b} of `{}`", from.task, to.task);
            let problem = Problem::new(message).at(to.span, "this end").at(from.span, "this end");
            return Err(problem.help("make the counts equal, or one of them 1"));
        }
        for i in 0..several {
            let element = if several > 1 { format!("_{i}") } else { String::new() };
            let name = self.unique_name(&format!("{}_{}", from.task, to.task), &element);
            self.channels.push(Channel { name, ..template.clone() });
            self.bind(&from, i.min(from.count - 1), Direction::Out, rate(&link.flow.produce))?;
            self.bind(&to, i.min(to.count - 1), Direction::In, rate(&link.flow.consume))?;
        }
        Ok(())
    }

    fn mailbox(&mut self, link: &LinkTable, params: &[Param]) -> Result<(), Problem> {
        let to = self.end(&link.slots.to)?;
        let template = template(link, params)?;

        if to.count != 1 {
            let message = format!("a mailbox has one receiver, but `{}` is {}", to.task, to.count);
            let problem = Problem::new(message).at(to.span, "this end");
            return Err(problem.help("write one [[mailbox]] to a task without `count`"));
        }
        let senders = link.from.iter().map(|from| self.end(from)).collect::<Result<Vec<_>, _>>()?;
        let name = self.unique_name(&format!("{}_{}", to.task, to.port), "");
        self.channels.push(Channel { name, ..template });
        for from in senders {
            for element in 0..from.count {
                self.bind(&from, element, Direction::Out, 1)?;
            }
        }
        self.bind(&to, 0, Direction::In, 1)
    }

    fn end<'a>(&self, written: &'a Spanned<String>) -> Result<End<'a>, Problem> {
        let (text, span) = (written.get_ref(), written.span());
        let parts = text.split_once('.').filter(|(task, port)| is_name(task) && is_name(port));
        let Some((task, port)) = parts else {
            let problem = Problem::new(format!("invalid port `{text}`")).at(span, "this end");
            return Err(problem.help("write TASK.PORT, for example \"demodulator.out\""));
        };
        self.tasks_of(task, port, span, "this end", |meant| format!("{meant}.{port}"))
    }

    /// The tasks of a name, with one of their ports; `written` says how they are named at `span`,
    /// which has this label where there are none.
    pub fn tasks_of<'a>(
        &self,
        task: &'a str,
        port: &'a str,
        span: Span,
        label: &str,
        written: impl Fn(&str) -> String,
    ) -> Result<End<'a>, Problem> {
        let of_name = self.of_name.of(task);
        if of_name.is_empty() {
            let names = self.tasks.iter().map(|known| known.name.as_str());
            let help = match nearest(task, names) {
                Some(meant) => format!("write `{}`", written(meant)),
                None => format!("add a [[task]] with name = \"{task}\""),
            };
            let problem = Problem::new(format!("no task is called `{task}`"));
            return Err(problem.at(span, label).help(help));
        }
        Ok(End { task, port, first: of_name.start, count: of_name.len(), span })
    }

    /// Binds an end to the channel that was added last.
    fn bind(
        &mut self,
        end: &End<'_>,
        element: usize,
        direction: Direction,
        rate: u32,
    ) -> Result<(), Problem> {
        let task = end.first + element;
        let key = (task, end.port.to_owned());
        let (known, next) = self.used.entry(key).or_insert((direction, 0));

        if *known != direction {
            let message = format!("`{}.{}` both sends and receives", end.task, end.port);
            let problem = Problem::new(message).at(end.span.clone(), "the second use");
            return Err(problem.help("use two ports: a port has one direction"));
        }
        self.ports.push(Port {
            task,
            direction,
            name: end.port.to_owned(),
            index: *next,
            channel: self.channels.len() - 1,
            rate,
        });
        *next += 1;
        Ok(())
    }

    /// Sees to it that no other channel is bound to a port that a service is to have.
    pub fn reserve(&mut self, element: &Element<'_>) -> Result<(), Problem> {
        let end = &element.end;
        let key = (element.task(), end.port.to_owned());
        if self.used.insert(key, (Direction::In, 0)).is_none() {
            return Ok(());
        }
        let message = format!("`{}.{}` is a port already", end.task, end.port);
        let problem = Problem::new(message).at(end.span.clone(), "this task");
        Err(problem.help("give it another name: the ports of a service have its name"))
    }

    /// Binds a port that was reserved to the channel that was added last.
    pub fn attach(&mut self, element: &Element<'_>, direction: Direction, index: u32) {
        self.ports.push(Port {
            task: element.task(),
            direction,
            name: element.end.port.to_owned(),
            index,
            channel: self.channels.len() - 1,
            rate: 1,
        });
    }

    pub fn unique_name(&mut self, stem: &str, element: &str) -> String {
        let fit = |suffix: &str| {
            let room = NAME_MAX.saturating_sub(suffix.len()).min(stem.len());
            format!("{}{suffix}", &stem[..room])
        };
        let mut name = fit(element);
        if self.names.insert(name.clone()) {
            return name;
        }
        // Names that are alike where a number is put behind them get one after the other.
        let alike = fit(&format!("{element}_2"));
        let number = self.numbers.entry(alike).or_insert(1);
        loop {
            *number += 1;
            name = fit(&format!("{element}_{number}"));
            if self.names.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// Everything of a channel but its name.
fn template(link: &LinkTable, params: &[Param]) -> Result<Channel, Problem> {
    let slot_bytes = bytes(&link.slots.slot_bytes, params, "slot_bytes", SLOT_BYTES_MAX)?;
    let initial = given(&link.flow.initial);
    if let Some(at) = link.flow.initial.as_ref().filter(|_| initial > link.slots.slots) {
        let message = format!("{initial} messages do not fit {} slots", link.slots.slots);
        return Err(Problem::new(message)
            .help(format!("set `slots` to at least {initial}"))
            .at(at.span(), "raise `slots`, or lower this"));
    }
    Ok(Channel {
        slots: link.slots.slots,
        slot_bytes,
        initial,
        mailbox: link.mailbox,
        claims_at_start: given(&link.flow.claim) == Claim::Start,
        internal: given(&link.slots.memory) == Nearness::Internal,
        notify: notify(link)?,
        span: link.slots.to.span(),
        ..Channel::default()
    })
}

/// The size of a message.
fn bytes(
    written: &Spanned<Amount>,
    params: &[Param],
    key: &str,
    most: u32,
) -> Result<u32, Problem> {
    let bytes = amount(written, params, key)?;
    if bytes.fract() != 0.0 || !(1.0..=f64::from(most)).contains(&bytes) {
        let problem = Problem::new(format!("`{key}` of {bytes} cannot be"));
        let problem = problem.at(written.span(), "this size");
        return Err(problem.help(format!("write a whole number from 1 to {most}")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    Ok(bytes as u32)
}

/// How the receiver is told of messages.
fn notify(link: &LinkTable) -> Result<NotifyPolicy, Problem> {
    let notify = doorbell(link.slots.doorbell.as_ref(), "doorbell")?;
    let Some(at) = &link.slots.batch else { return Ok(notify) };
    let set = notify.with_batch(at.get_ref());
    set.and_then(|notify| notify.check(link.slots.slots).map(|()| notify))
        .map_err(|problem| problem.within("`batch`").at(at.span(), "this value"))
}

/// The same without batches.
fn doorbell(written: Option<&Spanned<String>>, key: &str) -> Result<NotifyPolicy, Problem> {
    let Some(at) = written else { return Ok(NotifyPolicy::default()) };
    NotifyPolicy::default()
        .with_doorbell(at.get_ref())
        .map_err(|problem| problem.within(format!("`{key}`")).at(at.span(), "this value"))
}

/// Messages per firing.
fn rate(written: &Option<Spanned<u32>>) -> u32 {
    written.as_ref().map_or(1, |rate| *rate.get_ref())
}
