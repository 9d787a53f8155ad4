// SPDX-License-Identifier: Apache-2.0
//! One iteration, step by step: every message received, every computing, every message sent is a
//! node; an edge with `delay` d says that its end in iteration n + d comes after its start in
//! iteration n. This is the expansion to a homogeneous graph, for tasks that send and receive
//! message by message.

use super::{Channel, Flaw, Graph, Until, Wait};

/// More steps than this are refused: some 250 MB.
pub(crate) const STEPS_MAX: u64 = 1 << 20;

/// What an edge stands for.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The order of one task.
    Order,
    /// At a channel.
    At(Wait),
}

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub from: usize,
    pub to: usize,
    /// Time from the one to the other, at least.
    pub time: u64,
    /// In iterations.
    pub delay: u64,
    kind: Kind,
}

/// The expanded graph.
#[derive(Debug)]
pub(super) struct Hsdf {
    /// The task of each node.
    pub tasks: Vec<usize>,
    pub edges: Vec<Edge>,
    /// How often each task fires.
    pub repetitions: Vec<u64>,
}

/// The channels of a task, by number.
#[derive(Debug, Clone, Default)]
struct Ports {
    into: Vec<usize>,
    out: Vec<usize>,
}

/// The nodes at the two ends of a channel, in the order of its messages.
#[derive(Debug, Clone, Default)]
struct Ends {
    claimed: Vec<usize>,
    sent: Vec<usize>,
    received: Vec<usize>,
    freed: Vec<usize>,
}

impl Hsdf {
    /// Expands a graph.
    pub fn of(graph: &Graph) -> Result<Self, Flaw> {
        let repetitions = graph.repetitions()?;
        check_size(graph, &repetitions)?;
        let mut hsdf = Self { tasks: Vec::new(), edges: Vec::new(), repetitions };
        let mut ends = vec![Ends::default(); graph.channels.len()];
        let mut ports = vec![Ports::default(); graph.tasks.len()];
        for (number, channel) in graph.channels.iter().enumerate() {
            ports[channel.to].into.push(number);
            ports[channel.from].out.push(number);
        }
        for (task, ports) in ports.iter().enumerate() {
            hsdf.task(graph, task, ports, &mut ends);
        }
        for (number, (channel, ends)) in graph.channels.iter().zip(&ends).enumerate() {
            hsdf.channel(number, channel, ends);
        }
        Ok(hsdf)
    }

    /// All firings of a task, one after the other.
    fn task(&mut self, graph: &Graph, task: usize, ports: &Ports, ends: &mut [Ends]) {
        let start = self.tasks.len();
        let mut releases = Vec::new();
        let mut last = None;

        for _ in 0..self.repetitions[task] {
            if graph.tasks[task].period > 0 {
                // A release waits for the release before it, not for the firing before it.
                releases.push(self.node(task));
            }
            let first = self.tasks.len();
            let time = self.firing(graph, task, ports, ends);
            let end = self.tasks.len() - 1;
            if let Some(release) = releases.last() {
                self.follow(*release, first, 0, 0);
            }
            if let Some((before, time)) = last {
                self.follow(before, first, time, 0);
            }
            last = Some((end, time));
        }
        let first = start + usize::from(!releases.is_empty());
        if let Some((end, time)) = last {
            self.follow(end, first, time, 1);
        }
        for (position, release) in releases.iter().enumerate() {
            let next = (position + 1) % releases.len();
            let delay = u64::from(next == 0);
            self.follow(*release, releases[next], graph.tasks[task].period, delay);
        }
    }

    /// The steps of one firing. Returns the time from the last of them to its end.
    fn firing(&mut self, graph: &Graph, task: usize, ports: &Ports, ends: &mut [Ends]) -> u64 {
        let (first, mut time) = (self.tasks.len(), 0);
        let channels = &graph.channels;
        let early = |number: &&usize| channels[**number].claims_at_start;

        for &number in &ports.into {
            let steps = self.steps(task, first, channels[number].consume, &mut time);
            ends[number].received.extend(steps);
        }
        for &number in ports.out.iter().filter(early) {
            let steps = self.steps(task, first, channels[number].produce, &mut time);
            ends[number].claimed.extend(steps);
        }
        self.step(task, first, 0);
        time = graph.tasks[task].time;
        for &number in &ports.out {
            let steps = self.steps(task, first, channels[number].produce, &mut time);
            ends[number].sent.extend(steps);
        }
        for &number in ports.into.iter().filter(early) {
            let steps = self.steps(task, first, channels[number].consume, &mut time);
            ends[number].freed.extend(steps);
        }
        time
    }

    /// The next so many steps of a firing, the first of them after `time`, which is over then.
    fn steps(
        &mut self,
        task: usize,
        first: usize,
        count: u32,
        time: &mut u64,
    ) -> std::ops::Range<usize> {
        let start = self.tasks.len();
        for _ in 0..count {
            self.step(task, first, std::mem::take(time));
        }
        start..self.tasks.len()
    }

    fn node(&mut self, task: usize) -> usize {
        self.tasks.push(task);
        self.tasks.len() - 1
    }

    /// The next step of a firing that began with `first`, `time` after the one before it.
    fn step(&mut self, task: usize, first: usize, time: u64) {
        let node = self.node(task);
        if node > first {
            self.follow(node - 1, node, time, 0);
        }
    }

    fn follow(&mut self, from: usize, to: usize, time: u64, delay: u64) {
        self.edges.push(Edge { from, to, time, delay, kind: Kind::Order });
    }

    /// Message n is received after it is sent, and has a slot after message n - slots is freed:
    /// received, and that slot claimed by sending, unless both have steps of their own.
    fn channel(&mut self, number: usize, channel: &Channel, ends: &Ends) {
        let count = ends.sent.len();
        let initial = count_of(channel.initial);

        for (n, to) in ends.received.iter().enumerate() {
            let (from, delay) = earlier(n, initial, count);
            self.wait(ends.sent[from], *to, delay, Wait { channel: number, until: Until::Message });
        }
        let Some(slots) = channel.slots else { return };
        let free = count_of(slots.saturating_sub(channel.initial));
        let (freed, claimed) = match channel.claims_at_start {
            true => (&ends.freed, &ends.claimed),
            false => (&ends.received, &ends.sent),
        };
        for (n, to) in claimed.iter().enumerate() {
            let (from, delay) = earlier(n, free, count);
            self.wait(freed[from], *to, delay, Wait { channel: number, until: Until::Slot });
        }
    }

    fn wait(&mut self, from: usize, to: usize, delay: u64, wait: Wait) {
        self.edges.push(Edge { from, to, time: 0, delay, kind: Kind::At(wait) });
    }

    /// The nodes in an order in which one iteration can happen.
    ///
    /// # Errors
    /// [`Flaw::Deadlock`] when there is none.
    pub fn order(&self) -> Result<Vec<usize>, Flaw> {
        let now = || self.edges.iter().enumerate().filter(|(_, edge)| edge.delay == 0);
        let mut waits = vec![0_usize; self.tasks.len()];
        let mut after = vec![Vec::new(); self.tasks.len()];
        for (number, edge) in now() {
            waits[edge.to] += 1;
            after[edge.from].push(number);
        }
        let mut order: Vec<usize> =
            (0..self.tasks.len()).filter(|node| waits[*node] == 0).collect();
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            for &number in &after[node] {
                let to = self.edges[number].to;
                waits[to] -= 1;
                if waits[to] == 0 {
                    order.push(to);
                }
            }
        }
        if order.len() == self.tasks.len() { Ok(order) } else { Err(self.deadlock(&waits)) }
    }

    /// Goes from a task that waits to the one that it waits for, until one comes again. What holds
    /// a task up is the first of its steps that waits: those after it wait for that one, too.
    fn deadlock(&self, waits: &[usize]) -> Flaw {
        let mut first = vec![None; self.repetitions.len()];
        for node in (0..waits.len()).rev().filter(|node| waits[*node] > 0) {
            first[self.tasks[node]] = Some(node);
        }
        let mut holder = vec![None; first.len()];
        for edge in self.edges.iter().filter(|edge| edge.delay == 0 && waits[edge.from] > 0) {
            let task = self.tasks[edge.to];
            if let (Kind::At(wait), true) = (edge.kind, first[task] == Some(edge.to)) {
                holder[task] = Some((self.tasks[edge.from], wait));
            }
        }
        let mut seen = vec![false; first.len()];
        let mut at = holder.iter().position(Option::is_some).unwrap_or_default();
        while let Some((next, _)) = holder[at].filter(|_| !std::mem::replace(&mut seen[at], true)) {
            at = next;
        }
        let (start, mut cycle) = (at, Vec::new());
        while let Some((next, wait)) = holder[at] {
            cycle.push(wait);
            at = next;
            if at == start {
                break;
            }
        }
        Flaw::Deadlock(cycle)
    }
}

/// Which of `count` messages in an iteration is `distance` before message `n`, and how many
/// iterations earlier it is.
fn earlier(n: usize, distance: usize, count: usize) -> (usize, u64) {
    let back = distance.saturating_sub(n).div_ceil(count);
    (n + back * count - distance, back as u64)
}

fn count_of(number: u32) -> usize {
    number as usize
}

fn check_size(graph: &Graph, repetitions: &[u64]) -> Result<(), Flaw> {
    // Two for a release and the computing.
    let mut steps: u64 = 0;
    let mut add = |task: usize, each: u32| {
        let more = repetitions[task].checked_mul(u64::from(each)).ok_or(Flaw::TooLong)?;
        steps = steps.checked_add(more).filter(|sum| *sum <= STEPS_MAX).ok_or(Flaw::TooLong)?;
        Ok(())
    };
    (0..graph.tasks.len()).try_for_each(|task| add(task, 2))?;
    for channel in &graph.channels {
        let steps = if channel.claims_at_start { 2 } else { 1 };
        add(channel.from, channel.produce.saturating_mul(steps))?;
        add(channel.to, channel.consume.saturating_mul(steps))?;
    }
    Ok(())
}
