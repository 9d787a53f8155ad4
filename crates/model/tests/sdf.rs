// SPDX-License-Identifier: Apache-2.0
//! What is computed of a dataflow graph, against graphs of the literature, by hand, and against
//! letting small ones run.

use crate::common::{RADIO, build};
use num_rational::Ratio;
use proptest::prelude::*;
use proptest::sample::Index;
use whimbrel_model::sdf::{Channel, Flaw, Graph, Task, Until};

fn tasks(times: &[u64]) -> Vec<Task> {
    times.iter().map(|time| Task { time: *time, period: 0 }).collect()
}

fn channel(from: usize, to: usize, produce: u32, consume: u32) -> Channel {
    Channel { from, to, produce, consume, initial: 0, slots: None, claims_at_start: false }
}

fn ratio(time: u128, firings: u128) -> Ratio<u128> {
    Ratio::new(time, firings)
}

/// The shape of an H.263 decoder, as Stuijk, Geilen and Basten use it (*Exploring trade-offs in
/// buffer requirements and throughput constraints for synchronous dataflow graphs*, DAC 2006): a
/// frame of QCIF has 99 macroblocks of 6 blocks. The times are round numbers.
fn h263() -> Graph {
    let back = Channel { initial: 1, ..channel(3, 0, 1, 1) };
    Graph {
        tasks: tasks(&[26000, 560, 490, 11000]),
        channels: vec![channel(0, 1, 594, 1), channel(1, 2, 1, 1), channel(2, 3, 1, 594), back],
    }
}

#[test]
fn a_decoder_of_the_literature_fires_as_often_as_is_published() {
    assert_eq!(h263().repetitions(), Ok(vec![1, 594, 594, 1]));
}

#[test]
fn the_firings_of_a_loop_come_after_each_other_where_they_must() {
    // The blocks overlap in the pipeline of two tasks: 594 times the longer, once the shorter.
    let time = 26000 + 594 * 560 + 490 + 11000;
    assert_eq!(h263().periods().unwrap()[0], ratio(time, 1));
    assert_eq!(h263().periods().unwrap()[1], ratio(time, 594));
}

#[test]
fn parts_that_no_channel_connects_are_solved_by_themselves() {
    let graph = Graph {
        tasks: tasks(&[7, 1, 5]),
        channels: vec![Channel { slots: Some(6), ..channel(0, 2, 2, 3) }],
    };
    assert_eq!(graph.repetitions(), Ok(vec![3, 1, 2]));
    assert_eq!(graph.periods(), Ok(vec![ratio(7, 1), ratio(1, 1), ratio(21, 2)]));
}

#[test]
fn a_channel_that_fills_up_is_named() {
    let graph =
        Graph { tasks: tasks(&[1, 1]), channels: vec![channel(0, 1, 1, 1), channel(0, 1, 4, 2)] };
    assert_eq!(graph.check(), Err(Flaw::Unbalanced(1)));
}

#[test]
fn a_loop_without_messages_is_a_deadlock_of_empty_channels() {
    let graph =
        Graph { tasks: tasks(&[1, 1]), channels: vec![channel(0, 1, 1, 1), channel(1, 0, 1, 1)] };
    let Err(Flaw::Deadlock(cycle)) = graph.check() else { panic!("it must be found") };
    let mut waits: Vec<_> = cycle.iter().map(|wait| (wait.channel, wait.until)).collect();
    waits.sort_by_key(|(channel, _)| *channel);
    assert_eq!(waits, [(0, Until::Message), (1, Until::Message)]);
}

#[test]
fn a_sender_that_fills_one_channel_while_its_receiver_waits_at_another_is_found() {
    let one = |from, to, rate| Channel { slots: Some(1), ..channel(from, to, rate, rate) };
    let mut graph = Graph {
        tasks: tasks(&[1, 1, 1]),
        channels: vec![one(0, 2, 2), one(0, 1, 1), one(1, 2, 1)],
    };
    assert_eq!(graph.check(), Ok(()));

    // The order of sending and receiving decides: now task 2 waits for the relay first, which
    // waits for task 0, which finds its channel to task 2 full.
    graph.channels.rotate_right(1);
    let Err(Flaw::Deadlock(cycle)) = graph.check() else { panic!("it must be found") };
    let mut waits: Vec<_> = cycle.iter().map(|wait| (wait.channel, wait.until)).collect();
    waits.sort_by_key(|(channel, _)| *channel);
    assert_eq!(waits, [(0, Until::Message), (1, Until::Slot), (2, Until::Message)]);
}

#[test]
fn an_iteration_too_long_to_look_at_is_refused() {
    let most = u32::MAX;
    let graph = Graph { tasks: tasks(&[1, 1]), channels: vec![channel(0, 1, most, most - 1)] };
    assert_eq!(graph.repetitions(), Ok(vec![u64::from(most) - 1, u64::from(most)]));
    assert_eq!(graph.check(), Err(Flaw::TooLong));
}

#[test]
fn a_periodic_source_sets_the_pace_until_a_task_is_slower() {
    let graph = |period, time| Graph {
        tasks: vec![Task { time: 10, period }, Task { time, period: 0 }],
        channels: vec![Channel { slots: Some(4), ..channel(0, 1, 2, 1) }],
    };
    assert_eq!(graph(100, 20).periods(), Ok(vec![ratio(100, 1), ratio(50, 1)]));
    assert_eq!(graph(100, 60).periods(), Ok(vec![ratio(120, 1), ratio(60, 1)]));
    assert_eq!(graph(5, 1).periods(), Ok(vec![ratio(10, 1), ratio(5, 1)]));
}

#[test]
fn one_slot_lets_two_tasks_overlap_and_a_loop_of_one_message_does_not() {
    let forth = Channel { slots: Some(1), ..channel(0, 1, 1, 1) };
    let graph = Graph { tasks: tasks(&[3, 5]), channels: vec![forth] };
    assert_eq!(graph.periods().unwrap()[0], ratio(5, 1));
    let back = Channel { initial: 1, ..channel(1, 0, 1, 1) };
    let graph = Graph { tasks: tasks(&[3, 5]), channels: vec![forth, back] };
    assert_eq!(graph.periods().unwrap()[0], ratio(8, 1));
}

#[test]
fn the_graph_of_an_application_has_its_rates_and_leaves_mailboxes_out() {
    let app = build(RADIO, &[]).unwrap();
    let (graph, positions) = Graph::of(&app, |_| Task { time: 1, period: 0 });
    assert_eq!(positions, [0, 1, 2, 3]);
    assert_eq!(graph.channels[0], Channel { slots: Some(14), ..channel(0, 1, 1, 1) });
    assert_eq!(graph.channels[3], Channel { slots: Some(7), ..channel(2, 3, 1, 1) });
    assert_eq!(graph.check(), Ok(()));
}

/// `a` → `b` with 1000 each: with one slot, `a` begins when `b` has ended, unless a message frees
/// its slot as it is received.
#[test]
fn room_that_a_firing_has_from_its_start_to_its_end_keeps_two_tasks_apart() {
    let graph = |slots, claims_at_start| Graph {
        tasks: tasks(&[1000, 1000]),
        channels: vec![Channel { slots: Some(slots), claims_at_start, ..channel(0, 1, 1, 1) }],
    };
    assert_eq!(graph(1, true).periods(), Ok(vec![ratio(2000, 1); 2]));
    assert_eq!(graph(1, false).periods(), Ok(vec![ratio(1000, 1); 2]));
    assert_eq!(graph(2, true).periods(), Ok(vec![ratio(1000, 1); 2]));
}

#[test]
fn a_firing_that_never_finds_its_whole_room_is_a_deadlock() {
    let channels = vec![Channel { slots: Some(2), ..channel(0, 1, 3, 1) }];
    let mut graph = Graph { tasks: tasks(&[1, 1]), channels };
    assert_eq!(graph.check(), Ok(()));
    graph.channels[0].claims_at_start = true;
    let Err(Flaw::Deadlock(cycle)) = graph.check() else { panic!("it must be found") };
    assert!(cycle.iter().any(|wait| wait.until == Until::Slot), "{cycle:?}");
}

/// What a task does next.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum ActorStep {
    Receive(usize),
    /// A slot, where that is not done by sending.
    Claim(usize),
    Compute(u64),
    Send(usize),
    /// A slot, where that is not done by receiving.
    Free(usize),
}

/// What is in a channel: messages, and slots that are not free.
type Fill = (u32, u32);

/// Takes a step that takes no time; false when it has to wait.
fn step(step: ActorStep, channels: &[Channel], fill: &mut [Fill]) -> bool {
    let early = |number: usize| channels[number].claims_at_start;
    let is_full =
        |number: usize, fill: &[Fill]| fill[number].1 == channels[number].slots.unwrap_or(u32::MAX);
    match step {
        ActorStep::Receive(number) if fill[number].0 == 0 => return false,
        ActorStep::Receive(number) => {
            fill[number].0 -= 1;
            fill[number].1 -= u32::from(!early(number));
        }
        ActorStep::Claim(number) if is_full(number, fill) => return false,
        ActorStep::Claim(number) => fill[number].1 += 1,
        ActorStep::Send(number) if !early(number) && is_full(number, fill) => return false,
        ActorStep::Send(number) => {
            fill[number].0 += 1;
            fill[number].1 += u32::from(!early(number));
        }
        ActorStep::Free(number) => fill[number].1 -= 1,
        ActorStep::Compute(_) => {}
    }
    true
}

/// Runs a graph whose channels are bounded until a state comes again: the time of a firing of each
/// task, or `None` when it gets stuck.
fn run(graph: &Graph) -> Option<Vec<Ratio<u128>>> {
    let steps = |task: usize| {
        let mut steps = Vec::new();
        let into = || graph.channels.iter().enumerate().filter(|(_, c)| c.to == task);
        let out = || graph.channels.iter().enumerate().filter(|(_, c)| c.from == task);
        for (number, channel) in into() {
            steps.extend(vec![ActorStep::Receive(number); channel.consume as usize]);
        }
        for (number, channel) in out().filter(|(_, c)| c.claims_at_start) {
            steps.extend(vec![ActorStep::Claim(number); channel.produce as usize]);
        }
        steps.push(ActorStep::Compute(graph.tasks[task].time));
        for (number, channel) in out() {
            steps.extend(vec![ActorStep::Send(number); channel.produce as usize]);
        }
        for (number, channel) in into().filter(|(_, c)| c.claims_at_start) {
            steps.extend(vec![ActorStep::Free(number); channel.consume as usize]);
        }
        steps
    };
    let programs: Vec<Vec<ActorStep>> = (0..graph.tasks.len()).map(steps).collect();
    let mut fill: Vec<Fill> = graph.channels.iter().map(|c| (c.initial, c.initial)).collect();
    // Where each task is, and how much computing is left.
    let mut at: Vec<(usize, u64)> = vec![(0, 0); programs.len()];
    let mut firings = vec![0_u128; programs.len()];
    let (mut now, mut seen) = (0_u128, std::collections::HashMap::new());
    loop {
        let mut moved = true;
        while std::mem::take(&mut moved) {
            for (task, program) in programs.iter().enumerate() {
                let (at_step, left) = &mut at[task];
                if *left > 0 || !self::step(program[*at_step], &graph.channels, &mut fill) {
                    continue;
                }
                moved = true;
                match program[*at_step] {
                    ActorStep::Compute(time) if time > 0 => *left = time,
                    _ => *at_step += 1,
                }
                if *at_step == program.len() {
                    (*at_step, firings[task]) = (0, firings[task] + 1);
                }
            }
        }
        if let Some((then, before)) =
            seen.insert((fill.clone(), at.clone()), (now, firings.clone()))
        {
            let per = |(after, before): (&u128, u128)| ratio(now - then, after - before);
            return Some(firings.iter().zip(before).map(per).collect());
        }
        let wait = at.iter().map(|(_, left)| *left).filter(|left| *left > 0).min()?;
        now += u128::from(wait);
        for (task, (step, left)) in at.iter_mut().enumerate().filter(|(_, (_, left))| *left > 0) {
            *left -= wait;
            *step += usize::from(*left == 0);
            if *step == programs[task].len() {
                (*step, firings[task]) = (0, firings[task] + 1);
            }
        }
    }
}

/// A connected graph of up to five tasks, balanced by its construction.
fn graphs() -> impl Strategy<Value = Graph> {
    let task = (1..30_u64, 1..4_u32);
    let link = (any::<Index>(), any::<Index>(), 1..3_u32, 0..6_u32, 0..5_u32);
    let tasks = prop::collection::vec(task, 2..6);
    (tasks, prop::collection::vec(link, 0..4), any::<bool>()).prop_flat_map(
        |(tasks, links, early)| {
            let tree = prop::collection::vec((any::<Index>(), 0..4_u32, 0..5_u32), tasks.len() - 1);
            (Just(tasks), Just(links), tree).prop_map(move |(tasks, links, tree)| {
                let counts: Vec<u32> = tasks.iter().map(|(_, count)| *count).collect();
                // Rates against the counts balance: count × rate is the same at both ends.
                // With more than one slot to spare, room is claimed in one way or the other.
                let make = |from: usize, to: usize, factor: u32, initial: u32, more: u32| Channel {
                    from,
                    to,
                    produce: counts[to] * factor,
                    consume: counts[from] * factor,
                    initial,
                    slots: Some(initial + 1 + more),
                    claims_at_start: early && more > 0,
                };
                let mut channels: Vec<Channel> = links
                    .iter()
                    .map(|(from, to, factor, initial, more)| {
                        let (from, to) = (from.index(counts.len()), to.index(counts.len()));
                        make(from, to, *factor, *initial, *more)
                    })
                    .collect();
                channels.extend(tree.iter().enumerate().map(|(child, (parent, initial, more))| {
                    make(parent.index(child + 1), child + 1, 1, *initial, *more)
                }));
                let tasks = tasks.iter().map(|(time, _)| Task { time: *time, period: 0 }).collect();
                Graph { tasks, channels }
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 2000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_graph_runs_exactly_as_fast_as_its_cycles_let_it_or_gets_stuck_where_it_is_said_to(
        graph in graphs()
    ) {
        match (graph.periods(), run(&graph)) {
            (Ok(periods), Some(measured)) => prop_assert_eq!(periods, measured),
            (Err(Flaw::Deadlock(cycle)), None) => {
                prop_assert!(!cycle.is_empty());
                // Each waits for a task that waits itself: the cycle is closed.
                let who = |wait: &whimbrel_model::sdf::Wait| {
                    let channel = &graph.channels[wait.channel];
                    match wait.until {
                        Until::Message => (channel.to, channel.from),
                        Until::Slot => (channel.from, channel.to),
                    }
                };
                for (wait, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
                    prop_assert_eq!(who(wait).1, who(next).0);
                }
            }
            (theory, practice) => prop_assert!(false, "{theory:?} but {practice:?}"),
        }
    }
}
