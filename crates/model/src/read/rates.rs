// SPDX-License-Identifier: Apache-2.0
//! Whether tasks can go on for ever: the rates of synthetic ones balance, and no loop of them
//! blocks; no loop of others waits from the start. What [`crate::sdf`] finds, in words and with its
//! places.

use crate::app::{App, Channel};
use crate::problem::Problem;
use crate::sdf::{self, Flaw, Graph, Task, Until, Wait};

/// Notes what keeps an application from going on for ever; at most one problem.
pub(crate) fn check(app: &App, problems: &mut Vec<Problem>) {
    let (mut graph, mut positions) = Graph::of(app, |_| Task::default());
    forget_scripts(app, &mut graph, &mut positions);
    if !app.synthetic {
        forget_firings(&mut graph);
    }
    let explain = Explain { app, graph: &graph, positions: &positions };
    problems.extend(graph.check().err().map(|flaw| match flaw {
        Flaw::Unbalanced(channel) => explain.unbalanced(channel),
        Flaw::Deadlock(cycle) => explain.blocked(&cycle),
        Flaw::TooLong => explain.too_long(),
    }));
}

/// Scripts have no rates, so nothing is known of the channels to and from them.
fn forget_scripts(app: &App, graph: &mut Graph, positions: &mut Vec<usize>) {
    let is_of_actors = |channel: &sdf::Channel| {
        [channel.from, channel.to].iter().all(|task| app.tasks[*task].script.is_none())
    };
    let mut keep = graph.channels.iter().map(is_of_actors).collect::<Vec<_>>().into_iter();
    positions.retain(|_| keep.next().unwrap_or(true));
    graph.channels.retain(is_of_actors);
}

/// Of tasks with code of their own it is not known what a firing receives and sends: only that they
/// wait for a message where there never was one.
fn forget_firings(graph: &mut Graph) {
    for channel in &mut graph.channels {
        (channel.produce, channel.consume, channel.slots) = (1, 1, None);
    }
}

struct Explain<'a> {
    app: &'a App,
    graph: &'a Graph,
    /// Of the graph's channels in the application.
    positions: &'a [usize],
}

impl Explain<'_> {
    fn label(&self, task: usize) -> String {
        let task = &self.app.tasks[task];
        self.app.label(&task.name, task.index)
    }

    fn channel(&self, number: usize) -> &Channel {
        &self.app.channels[self.positions[number]]
    }

    fn unbalanced(&self, number: usize) -> Problem {
        let Channel { name, span, .. } = self.channel(number);
        let ends = &self.graph.channels[number];
        let (sender, receiver) = (self.label(ends.from), self.label(ends.to));
        let (produce, consume) = (ends.produce, ends.consume);
        Problem::new(format!("the rates of `{name}` cannot be kept up"))
            .at(span.clone(), format!("{produce} by {sender}, {consume} to {receiver} per firing"))
            .help(format!(
                "change `produce` or `consume` of one of the channels between `{sender}` and \
                 `{receiver}`: the others make them fire in another proportion, so this channel \
                 fills up or empties"
            ))
    }

    /// Each task waits for the next, the last for the first.
    fn blocked(&self, cycle: &[Wait]) -> Problem {
        let who = |wait: &Wait| {
            let ends = &self.graph.channels[wait.channel];
            self.label(if wait.until == Until::Message { ends.to } else { ends.from })
        };
        let names: Vec<String> = cycle.iter().chain(cycle.first()).map(who).collect();
        let help = if self.app.synthetic {
            "each waits for the next: give a channel that is empty more `initial` messages, or \
             one that is full more `slots`"
        } else {
            "each waits for the next: give one of these channels `initial = 1`, or use a \
             [[mailbox]] if a task sends before it receives"
        };
        let mut problem = Problem::new(format!("the loop {} blocks", names.join(" → "))).help(help);
        for wait in cycle {
            let Channel { name, span, slots, claims_at_start, .. } = self.channel(wait.channel);
            let words = match wait.until {
                Until::Message => format!("`{name}` is empty: {} waits", who(wait)),
                Until::Slot if *claims_at_start => {
                    format!("`{name}` with {slots} has no room for a firing: {} waits", who(wait))
                }
                Until::Slot => format!("`{name}` is full with {slots}: {} waits", who(wait)),
            };
            problem = problem.at(span.clone(), words);
        }
        problem
    }

    fn too_long(&self) -> Problem {
        let most = crate::sdf::STEPS_MAX;
        Problem::new(format!(
            "the rates come back to where they began only after more than {most} steps"
        ))
        .at(self.app.module.span(), "in this application")
        .help("choose rates with larger common divisors")
    }
}
