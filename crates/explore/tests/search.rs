// SPDX-License-Identifier: Apache-2.0
//! What is found is what is there, whatever the number of threads, and also if it was ended and
//! gone on with.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{
    Analytic, SECOND_NS, Weighed, core, files, options, run, run_with, space, system,
};
use whimbrel_explore::{
    Budget, Candidate, Choices, Core, Evaluate, Exploration, Failure, Front, Method, Objective,
    Options, Outcome, PointChoice, SlotChoice, Space, Store, StoreError, Surroundings, System,
    WayChoice, explore,
};

fn three_cores() -> Vec<Core> {
    vec![core(0, &[100, 200, 400]); 3]
}

/// A radio: 2 + 6 tasks, of which three are alike, at a load of 0.45 of a core.
fn radio() -> System {
    let groups = [("lpf", 1, 40), ("demodulator", 1, 60), ("bpf", 3, 20), ("sum", 1, 20)];
    system(&groups, three_cores())
}

fn slots(slots: &[u32]) -> Vec<SlotChoice> {
    vec![SlotChoice { channel: None, slots: slots.to_vec() }]
}

fn front(exploration: &Exploration) -> Vec<Vec<f64>> {
    let objectives = options().objectives;
    let entries = exploration.rates[0].front.iter();
    let mut points: Vec<Vec<f64>> =
        entries.map(|e| objectives.iter().map(|o| o.of(&e.outcome)).collect()).collect();
    points.sort_by(|a, b| a.partial_cmp(b).unwrap());
    points
}

/// The front of everything in the space, without any bound.
fn true_front(space: &Space, evaluate: &Analytic) -> Vec<Vec<f64>> {
    let mut front = Front::default();
    for candidate in space.collect(space.rates()[0], usize::MAX).0 {
        let outcome = evaluate.outcome(&candidate);
        let point: Vec<f64> = options().objectives.iter().map(|o| o.of(&outcome)).collect();
        front.offer(point.clone(), point);
    }
    let mut points: Vec<Vec<f64>> = front.members().cloned().collect();
    points.sort_by(|a, b| a.partial_cmp(b).unwrap());
    points
}

#[test]
fn an_exhaustive_exploration_finds_the_front_of_the_whole_space() {
    let system = radio();
    let choices = Choices { slots: slots(&[1, 2, 14]), ..Choices::default() };
    let (space, evaluate) = (space(&system, &choices), Analytic::new(&system));
    let found = run(&space, &evaluate, &options()).unwrap();
    let rate = &found.rates[0];
    assert_eq!((rate.method, rate.complete), (Method::Exhaustive, true));
    assert_eq!(front(&found), true_front(&space, &evaluate));
    let all = space.collect(1000, usize::MAX).0.len() as u64;
    assert_eq!(rate.ran as u64 + rate.bounded, all);
    assert!(rate.bounded > 0, "the bound should have spared something of {all}");
}

#[test]
fn no_outcome_is_below_what_was_known_before() {
    let system = radio();
    let choices = Choices { slots: slots(&[1, 14]), ..Choices::default() };
    let (space, evaluate) = (space(&system, &choices), Analytic::new(&system));
    let objectives = options().objectives;
    let mut tight = 0;
    for candidate in space.collect(1000, usize::MAX).0 {
        let outcome = evaluate.outcome(&candidate);
        let floor = space.floor(&candidate, &objectives);
        for (objective, floor) in objectives.iter().zip(&floor) {
            let value = objective.of(&outcome);
            assert!(*floor <= value, "{objective:?}: {value} below {floor} of {candidate:?}");
        }
        tight += usize::from(floor[0] > 0.5 * outcome.energy_mj);
    }
    assert!(tight > 0);
}

#[test]
fn an_application_that_may_end_has_no_bound_on_its_energy() {
    let endless = space(&radio(), &Choices::default());
    let ending = space(&System { endless: false, ..radio() }, &Choices::default());
    for candidate in endless.collect(1000, usize::MAX).0 {
        assert!(endless.floor(&candidate, &[Objective::Energy])[0] > 0.0);
        assert_eq!(ending.floor(&candidate, &[Objective::Energy]), [0.0]);
    }
}

#[test]
fn a_policy_that_has_cores_off_has_no_bound_on_its_energy() {
    let of = |policy: &str| {
        let policies = vec![policy.parse().unwrap()];
        let space = space(&radio(), &Choices { policies, ..Choices::default() });
        let candidate = space.collect(1000, 1).0.remove(0);
        space.floor(&candidate, &[Objective::Energy])[0]
    };
    assert!(of("consolidate") > 0.0);
    assert!(of("leakage").abs() < f64::EPSILON);
}

#[test]
fn a_search_finds_most_of_the_front_with_a_part_of_the_runs() {
    let system = radio();
    let choices = Choices { slots: slots(&[1, 2, 4, 14]), ..Choices::default() };
    let (space, evaluate) = (space(&system, &choices), Analytic::new(&system));
    let size = space.collect(1000, usize::MAX).0.len();
    let options = Options { limit: size - 1, budget: Budget::Runs(size as u64 / 3), ..options() };
    let found = run(&space, &evaluate, &options).unwrap();
    assert_eq!(found.rates[0].method, Method::Genetic);
    assert!(found.ran() * 3 <= size + 3);
    let (truth, found) = (true_front(&space, &evaluate), front(&found));
    let hit = truth.iter().filter(|point| found.contains(point)).count();
    assert!(hit * 10 >= truth.len() * 8, "{hit} of {} points of the front", truth.len());
}

#[test]
fn a_search_of_a_small_space_ends_by_itself() {
    let system = system(&[("a", 1, 10), ("b", 1, 10)], vec![core(0, &[100, 200]); 2]);
    let (space, evaluate) = (space(&system, &Choices::default()), Analytic::new(&system));
    let found = run(&space, &evaluate, &Options { limit: 1, ..options() }).unwrap();
    assert_eq!(found.rates[0].method, Method::Genetic);
    assert!(found.complete());
    assert_eq!(front(&found), true_front(&space, &evaluate));
}

#[test]
fn the_result_depends_on_the_seed_and_not_on_the_number_of_threads() {
    let system = radio();
    let choices = Choices { slots: slots(&[1, 2, 4, 14]), ..Choices::default() };
    let space = space(&system, &choices);
    let with = |threads: usize, seed: u64, limit: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let budget = Budget::Runs(400);
        let options = Options { seed, limit, budget, ..options() };
        files(&system, &pool.install(|| run(&space, &Analytic::new(&system), &options)).unwrap())
    };
    for limit in [10, 20_000] {
        let one = with(1, 7, limit);
        assert!(one == with(3, 7, limit));
        assert!(one == with(8, 7, limit));
    }
    assert!(with(1, 7, 10) != with(1, 8, 10));
}

/// FNV-1a.
fn digest(bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    bytes
        .iter()
        .fold(start, |sum: u64, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// Where a generation is chosen from all that ran, pieces of which are no longer in memory.
#[test]
fn a_search_of_mappings_and_points_gives_the_same_files_as_when_memory_had_all() {
    let names: Vec<String> = (0..12).map(|n| format!("t{n}")).collect();
    let groups: Vec<_> = names.iter().map(|name| (name.as_str(), 1, 20)).collect();
    let system = system(&groups, (0..3).map(|alike| core(alike, &[100, 200, 300])).collect());
    let choices = Choices {
        points: PointChoice::Auto,
        slots: slots(&[1, 2, 14]),
        policies: vec!["static".parse().unwrap(), "balance".parse().unwrap()],
        rates_millihz: vec![1000, 1500],
        ..Choices::default()
    };
    let space = space(&system, &choices);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    // explore.csv, front.json and evaluated.jsonl.
    let of_default = [0x9900_e86a_2534_bb04, 0xc77b_c06f_ed5f_bf6d, 0x6ec2_5d4f_2ef7_f396];
    let of_equal = [0x5773_0bec_864e_2842, 0x2b46_6f25_d81c_0f70, 0xcd1b_33e8_f449_43ed];
    for (objectives, digests) in
        [(options().objectives, of_default), (vec![Objective::Cores], of_equal)]
    {
        let path = folder.path().join(format!("{}.jsonl", objectives.len()));
        let options = Options { limit: 1, budget: Budget::Runs(5000), objectives, ..options() };
        let evaluate = Weighed(Analytic::new(&system));
        let mut store = Store::create(&path, "it").unwrap();
        let stop = AtomicBool::new(false);
        let found = pool.install(|| run_with(&space, &evaluate, &options, &mut store, &stop));
        let (rows, _, front) = files(&system, &found.unwrap());
        let journal = std::fs::read(&path).unwrap();
        assert_eq!([&rows, front.as_bytes(), &journal].map(digest), digests);
    }
}

/// Misses a deadline as soon as any core is slower than this.
struct Slowest<'s>(&'s Analytic, Vec<u64>);

impl Evaluate for Slowest<'_> {
    fn run(&self, candidate: &Candidate) -> Result<Outcome, Failure> {
        let mut outcome = self.0.outcome(candidate);
        self.0.runs.fetch_add(1, Ordering::Relaxed);
        let slow = |core: &usize| {
            let points = &self.0.system.cores[*core].points;
            points[candidate.points[*core] as usize].hz < self.1[*core] * 1_000_000
        };
        outcome.misses = u64::from(candidate.cores().iter().any(slow));
        Ok(outcome)
    }
}

#[test]
fn the_lowest_points_without_a_miss_are_found_by_halving() {
    let mhz: Vec<u64> = (1..=64).map(|n| n * 10).collect();
    let system = system(&[("a", 1, 1), ("b", 1, 2)], vec![core(0, &mhz), core(1, &mhz)]);
    let choices = Choices { points: PointChoice::Auto, cores: vec![2], ..Choices::default() };
    let (space, analytic) = (space(&system, &choices), Analytic::new(&system));
    for needed in [[10, 640], [370, 20], [10, 10], [640, 640], [130, 290]] {
        analytic.runs.store(0, Ordering::Relaxed);
        let found = run(&space, &Slowest(&analytic, needed.to_vec()), &options()).unwrap();
        let best = found.rates[0].best.as_ref().unwrap();
        let at: Vec<u64> = (0..2).map(|c| mhz[best.candidate.points[c] as usize]).collect();
        assert_eq!(at, needed);
        // Two mappings, each with a probe at the top and six halvings of 64 points on each core.
        assert!(analytic.runs.load(Ordering::Relaxed) <= 2 * 13);
    }
}

#[test]
fn what_misses_deadlines_at_the_highest_points_is_not_slowed_down() {
    let system = system(&[("a", 1, 1)], vec![core(0, &[10, 20, 30])]);
    let choices = Choices { points: PointChoice::Auto, ..Choices::default() };
    let (space, analytic) = (space(&system, &choices), Analytic::new(&system));
    let found = run(&space, &Slowest(&analytic, vec![1000]), &options()).unwrap();
    assert_eq!((found.ran(), found.rates[0].best.as_ref()), (1, None));
}

#[test]
fn each_frame_rate_has_a_front_of_its_own() {
    let system = radio();
    let rates = vec![500, 1000, 2000];
    let choices = Choices { rates_millihz: rates.clone(), ..Choices::default() };
    let (space, evaluate) = (space(&system, &choices), Analytic::new(&system));
    let found = run(&space, &evaluate, &options()).unwrap();
    assert_eq!(found.rates.iter().map(|r| r.rate_millihz).collect::<Vec<_>>(), rates);
    assert!(found.rates.iter().all(|rate| !rate.front.is_empty()));
    assert!(found.entries().enumerate().all(|(at, entry)| entry.unwrap().id == at));
    let least = |rate: usize| found.rates[rate].best.as_ref().unwrap().outcome.energy_mj;
    assert!(least(0) < least(1) && least(1) < least(2));
}

#[test]
fn an_exploration_that_was_ended_goes_on_and_runs_nothing_twice() {
    let system = radio();
    let choices = Choices { slots: slots(&[1, 14]), ..Choices::default() };
    let space = space(&system, &choices);
    let folder = tempfile::tempdir().unwrap();
    for limit in [10, 20_000] {
        let options = Options { limit, budget: Budget::Runs(600), ..options() };
        let path = folder.path().join(format!("{limit}.jsonl"));
        let whole = run(&space, &Analytic::new(&system), &options).unwrap();

        let mut store = Store::create(&path, "radio").unwrap();
        let ended = Analytic { stop_after: Some(100), ..Analytic::new(&system) };
        let part = run_with(&space, &ended, &options, &mut store, &ended.stop).unwrap();
        assert!(!part.complete());
        assert!((100..200).contains(&part.ran()));
        drop(store);
        // A line that was being written when the machine went off.
        let mut text = std::fs::read_to_string(&path).unwrap();
        text.push_str("{\"candidate\":{\"rate_mil");
        std::fs::write(&path, text).unwrap();

        let mut store = Store::resume(&path, "radio").unwrap();
        let known = store.len() as u64;
        let again = Analytic::new(&system);
        let rest = run_with(&space, &again, &options, &mut store, &AtomicBool::new(false)).unwrap();
        assert!(files(&system, &rest) == files(&system, &whole), "the result is another one");
        let ran = whole.ran() as u64;
        assert_eq!(again.runs.load(Ordering::Relaxed) + known, ran);
        drop(store);
        assert_eq!(Store::resume(&path, "radio").unwrap().len() as u64, ran);
    }
}

#[test]
fn a_file_of_something_else_or_with_a_damaged_line_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("evaluated.jsonl");
    drop(Store::create(&path, "radio").unwrap());
    assert!(matches!(Store::resume(&path, "video"), Err(StoreError::Other)));
    assert!(matches!(Store::create(&path, "radio"), Err(StoreError::Io(_))));
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("nonsense\n");
    std::fs::write(&path, text).unwrap();
    let refused = Store::resume(&path, "radio").unwrap_err();
    assert!(refused.to_string().starts_with("line 2 is invalid"), "{refused}");
    std::fs::write(&path, "").unwrap();
    assert!(Store::resume(&path, "radio").is_err());
}

#[test]
fn a_budget_of_runs_is_kept_and_said_to_have_cut_the_result() {
    let system = radio();
    let (space, evaluate) = (space(&system, &Choices::default()), Analytic::new(&system));
    let found =
        run(&space, &evaluate, &Options { budget: Budget::Runs(100), ..options() }).unwrap();
    assert_eq!((found.ran(), found.complete()), (100, false));
    let late = Options { budget: Budget::Time(Duration::ZERO), ..options() };
    let found = run(&space, &evaluate, &late).unwrap();
    assert_eq!((found.ran(), found.complete()), (0, false));
}

#[test]
fn a_budget_of_runs_is_kept_where_points_are_searched() {
    let system = radio();
    let choices = Choices { points: PointChoice::Auto, ..Choices::default() };
    let space = space(&system, &choices);
    let with = |threads: usize, limit: usize, runs: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = Options { limit, budget: Budget::Runs(runs), ..options() };
        let evaluate = Analytic::new(&system);
        let found = pool.install(|| run(&space, &evaluate, &options).unwrap());
        (found, evaluate.runs.into_inner())
    };
    for limit in [10, 20_000] {
        for runs in [1, 7, 64, 100, 257] {
            let (found, ran) = with(1, limit, runs);
            assert_eq!((found.ran() as u64, ran), (runs, runs));
            assert!(!found.complete());
            let (again, ran_again) = with(4, limit, runs);
            assert!((files(&system, &found), ran) == (files(&system, &again), ran_again));
        }
    }
    let (whole, ran) = with(2, 20_000, 1_000_000);
    assert!(whole.complete() && with(2, 20_000, ran).0.complete());
    assert!(!with(2, 20_000, ran - 1).0.complete());
}

/// Fails for some candidates.
struct Failing<'s>(&'s Analytic, fn(&Candidate) -> Option<Failure>);

impl Evaluate for Failing<'_> {
    fn run(&self, candidate: &Candidate) -> Result<Outcome, Failure> {
        (self.1)(candidate).map_or_else(|| self.0.run(candidate), Err)
    }
}

#[test]
fn a_candidate_that_cannot_run_is_noted_and_the_others_go_on() {
    let system = radio();
    let choices = Choices { slots: slots(&[1, 14]), ..Choices::default() };
    let (space, analytic) = (space(&system, &choices), Analytic::new(&system));
    let deadlocks: fn(&Candidate) -> Option<Failure> =
        |c| (c.slots[0] == 1).then(|| Failure::Candidate("deadlock".into()));
    for limit in [10, 20_000] {
        let options = Options { limit, ..options() };
        let found = run(&space, &Failing(&analytic, deadlocks), &options).unwrap();
        let rate = &found.rates[0];
        assert!(rate.failed > 0 && rate.first_failed.as_ref().unwrap().1 == "deadlock");
        assert!(
            !rate.front.is_empty() && found.entries().all(|e| e.unwrap().candidate.slots[0] == 14)
        );
    }
}

#[test]
fn an_exploration_in_which_nothing_can_run_says_so_at_once() {
    let system = radio();
    let (space, analytic) = (space(&system, &Choices::default()), Analytic::new(&system));
    let broken: fn(&Candidate) -> Option<Failure> = |_| Some(Failure::Fatal("no simulator".into()));
    let failed = run(&space, &Failing(&analytic, broken), &options()).unwrap_err();
    assert_eq!(failed, "no simulator");
}

#[test]
fn everybody_who_watches_hears_of_every_candidate_once() {
    let system = radio();
    let (space, evaluate) = (space(&system, &Choices::default()), Analytic::new(&system));
    let heard: Mutex<BTreeMap<u64, u64>> = Mutex::default();
    let watch = |progress: whimbrel_explore::Progress| {
        assert_eq!(progress.rate_millihz, 1000);
        heard.lock().unwrap().insert(progress.done, progress.total.unwrap());
    };
    let (mut store, stop) = (Store::default(), AtomicBool::new(false));
    let around = Surroundings { stop: &stop, watch: &watch };
    let found = explore(&space, &evaluate, &mut store, &options(), around).unwrap();
    let heard = heard.into_inner().unwrap();
    assert_eq!(heard.len(), found.ran());
    let (last, total) = heard.last_key_value().unwrap();
    assert!(last <= total && *total == space.collect(1000, usize::MAX).0.len() as u64);
}

#[test]
fn with_a_tolerance_a_front_has_one_of_those_that_are_about_as_good() {
    let mhz: Vec<u64> = (0..20).map(|step| 200 + 10 * step).collect();
    let system = system(&[("a", 1, 40), ("b", 1, 60)], vec![core(0, &mhz)]);
    let (space, evaluate) = (space(&system, &Choices::default()), Analytic::new(&system));
    let objectives = vec![Objective::Energy, Objective::EnergyPerTask, Objective::Latency];
    let exact = Options { objectives, ..options() };
    let all = run(&space, &evaluate, &exact).unwrap();
    let near = Options { tolerance: vec![0.2, 0.2, 0.2], ..exact };
    let few = run(&space, &evaluate, &near).unwrap();
    let ids = |found: &Exploration| -> Vec<usize> {
        found.rates[0].front.iter().map(|entry| entry.id).collect()
    };
    let (all_ids, few_ids) = (ids(&all), ids(&few));
    assert!(few_ids.len() < all_ids.len() && !few_ids.is_empty(), "{few_ids:?} {all_ids:?}");
    assert!(few_ids.iter().all(|id| all_ids.contains(id)));
    let entries: Vec<_> = few.entries().map(Result::unwrap).collect();
    for entry in &entries {
        let close = |of: &Objective, id: usize| {
            let member = &entries[id];
            of.of(&member.outcome) <= of.of(&entry.outcome) * 1.2 + 1e-9
        };
        let covered = |id: &&usize| near.objectives.iter().all(|of| close(of, **id));
        assert!(few_ids.iter().any(|id| covered(&id)), "{}", entry.id);
    }
}

#[test]
fn objectives_that_are_not_asked_for_do_not_count() {
    let system = radio();
    let space = Space::new(system.clone(), &Choices::default(), SECOND_NS).unwrap();
    let options = Options { objectives: vec![Objective::Cores], ..options() };
    let found = run(&space, &Analytic::new(&system), &options).unwrap();
    let front = &found.rates[0].front;
    assert_eq!((front.len(), front[0].outcome.cores), (1, 1));
}

#[test]
fn every_way_through_a_channel_is_a_candidate_unless_it_does_not_fit() {
    let system = radio();
    let name = system.channels[0].name.clone();
    let ways = |list: &str, slots: &[u32]| Choices {
        cores: vec![1],
        points: PointChoice::High,
        slots: vec![SlotChoice { channel: None, slots: slots.to_vec() }],
        ways: vec![WayChoice {
            channel: Some(name.clone()),
            ways: list.split(',').map(|way| way.parse().unwrap()).collect(),
        }],
        ..Choices::default()
    };
    let count = |list: &str, slots: &[u32]| {
        let space = space(&system, &ways(list, slots));
        let (all, complete) = space.collect(1000, 1000);
        assert!(complete);
        all.iter().map(|one| one.ways[0].to_string()).collect::<Vec<_>>()
    };
    let all = count("interrupt,polling:20ms,adaptive:1ms,batch:8:5ms", &[14]);
    assert_eq!(all, ["interrupt", "batch:8:5ms", "polling:20ms", "adaptive:1ms"]);
    assert_eq!(count("interrupt,batch:8:5ms", &[4, 8]).len(), 3, "a batch of 8 in 4 slots");
    // 4096 bytes: 32 slots of 128.
    assert_eq!(count("interrupt,interrupt/internal", &[32, 33]).len(), 3);
}
