// SPDX-License-Identifier: Apache-2.0
//! Dataflow graphs in the simulator: where nothing but computing takes time and every task has a
//! core to itself, the time of an iteration is the maximum cycle mean of the graph, exactly.

use std::fmt::Write;
use std::fs;

use crate::common::Place;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use whimbrel_model::sdf::{Graph, Task};
use whimbrel_model::{App, Cycles, Manifest};

/// Until every cycle of the graphs below has come into its period.
const WARM_UP: u64 = 200;
/// A multiple of every length of a period that they have, in iterations.
const WINDOW: u64 = 720;
const SEND: u16 = 5;

/// Tasks by repetitions in an iteration and cycles of a firing, and channels by two ends, a
/// factor of their rates, messages at the start, and slots more than are needed.
#[derive(Debug, Clone)]
struct Drawn {
    tasks: Vec<(u64, u64)>,
    channels: Vec<(usize, usize, u64, u64, u64)>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let tasks = prop::collection::vec((1..=3u64, 1..=60u64), 2..=5);
    tasks.prop_flat_map(|tasks| {
        let n = tasks.len();
        let more = prop::collection::vec((0..n, 0..n, 1..=2u64, 0..=2u64, 0..=3u64), 0..=2);
        let line = prop::collection::vec((1..=2u64, 0..=2u64, 0..=3u64), n - 1);
        (Just(tasks), line, more).prop_map(|(tasks, line, more)| {
            let line = (0..).zip(line).map(|(i, (k, d, s))| (i, i + 1, k, d, s));
            let channels = line.chain(more.into_iter().filter(|c| c.0 != c.1)).collect();
            Drawn { tasks, channels }
        })
    })
}

/// The application in which the first task fires so many iterations.
fn app_toml(drawn: &Drawn, iterations: u64) -> String {
    let mut toml = String::from("[app]\nname = \"graph\"\n");
    let gcd = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    for (n, (repetitions, cycles)) in drawn.tasks.iter().enumerate() {
        let is_source = drawn.channels.iter().all(|channel| channel.1 != n);
        let _ = write!(toml, "\n[[task]]\nname = \"t{n}\"\ncore = {n}\ncycles = {cycles}\n");
        if is_source {
            let _ = writeln!(toml, "firings = {}", repetitions * iterations);
        }
    }
    for &(from, to, factor, initial, more) in &drawn.channels {
        let (a, b) = (drawn.tasks[from].0, drawn.tasks[to].0);
        let (produce, consume) = (factor * b / gcd(a, b), factor * a / gcd(a, b));
        // A channel against the line needs messages for a whole iteration, or nothing begins.
        let initial = if from > to { a * produce + initial } else { initial };
        let slots = produce + consume + initial + more;
        let _ = write!(
            toml,
            "\n[[channel]]\nfrom = \"t{from}.o{to}\"\nto = \"t{to}.i{from}\"\nslots = {slots}\n\
             slot_bytes = 8\ninitial = {initial}\nproduce = {produce}\nconsume = {consume}\n"
        );
    }
    toml
}

/// When the last task of a stream has sent or received, in nanoseconds: times of one kind of event
/// on one channel, by the stream of a core.
fn times(stream: &[u8], channel: u32) -> Vec<u64> {
    let record = |raw: &[u8]| {
        let kind = u16::from_le_bytes(raw[8..10].try_into().unwrap());
        let object = u32::from_le_bytes(raw[16..20].try_into().unwrap());
        let time = u64::from_le_bytes(raw[..8].try_into().unwrap());
        (kind == SEND && object == channel).then_some(time)
    };
    stream[32..].chunks_exact(24).filter_map(record).collect()
}

#[test]
fn the_period_of_a_dataflow_graph_is_its_maximum_cycle_mean() {
    let place = Place::new();
    let platform = place.path("p.toml");
    fs::write(
        &platform,
        "[platform]\nname = \"free\"\n[[core]]\ncount = 5\n\
         [[core.point]]\nmhz = 1000\nactive_mw = 1\n",
    )
    .unwrap();
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(
        Config {
            cases: 40,
            failure_persistence: None,
            max_global_rejects: 4000,
            ..Config::default()
        },
        rng,
    );
    let checked = std::cell::Cell::new(0);
    let result = runner.run(&drawn(), |drawn| {
        // One with a source ends by itself, so that it needs no time to be stopped at.
        prop_assume!(drawn.channels.iter().all(|channel| channel.1 != 0));
        let toml = app_toml(&drawn, WARM_UP + 2 * WINDOW);
        let path = place.path("app.toml");
        fs::write(&path, &toml).unwrap();
        let manifest = Manifest::parse(&toml).expect("what is drawn is well-formed");
        let Ok(app) = App::build(&manifest, &[], &place.path(""), &place.path("")) else {
            // It cannot go on: refused, as it has to be.
            return Err(TestCaseError::reject("deadlock"));
        };
        let (graph, _) = Graph::of(&app, |task| match &task.work.as_ref().unwrap().cycles {
            Cycles::Every(time) => Task { time: *time, period: 0 },
            Cycles::ByKind(_) => unreachable!("every kind is alike"),
        });
        let channel = graph.channels[0];
        let (period, sender) = (graph.periods().unwrap()[channel.from], channel.from);
        let firings = graph.repetitions().unwrap()[sender];

        let record = place.path("record");
        let words = ["sim", path.to_str().unwrap(), "--platform", platform.to_str().unwrap()];
        let more = ["--json", "--quiet", "--record", record.to_str().unwrap()];
        place.json(&[&words[..], &more[..]].concat(), 0);
        let stream = fs::read(record.join(format!("core-{sender}.events"))).unwrap();
        fs::remove_dir_all(&record).unwrap();

        let sent = times(&stream, 0);
        let per_iteration = usize::try_from(firings).unwrap() * channel.produce as usize;
        let at = |iteration: u64| sent[usize::try_from(iteration).unwrap() * per_iteration];
        let took = u128::from(at(WARM_UP + WINDOW) - at(WARM_UP));
        let expected = period * u128::from(WINDOW * firings);
        prop_assert_eq!(num(took), expected, "{}", toml);
        checked.set(checked.get() + 1);
        Ok(())
    });
    result.unwrap();
    assert_eq!(checked.get(), 40);
}

fn num(value: u128) -> num_rational::Ratio<u128> {
    num_rational::Ratio::from_integer(value)
}
