// SPDX-License-Identifier: Apache-2.0
//! What ran as Parquet while others run.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::common::{Analytic, Weighed, core, options, run_with, space, system};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use whimbrel_explore::{
    Budget, Candidate, Choices, Evaluate, Failure, Objective, Options, Outcome, PointChoice, Space,
    Store, System, parquet, remove_parts,
};

/// The number of the run at which something is done: a part has 4096 rows.
const LATE: u64 = 5000;

/// Of each of two frame rates.
const CANDIDATES: usize = 3_usize.pow(8);

/// Does something at one run, which may end everything.
struct At<'a> {
    of: &'a dyn Evaluate,
    runs: AtomicU64,
    late: &'a (dyn Fn() -> Result<(), Failure> + Sync),
}

impl Evaluate for At<'_> {
    fn run(&self, candidate: &Candidate) -> Result<Outcome, Failure> {
        if self.runs.fetch_add(1, Ordering::Relaxed) + 1 == LATE {
            (self.late)()?;
        }
        self.of.run(candidate)
    }
}

/// Eight tasks on three unlike cores, all of whose mappings run.
fn setup() -> (System, Space, Options) {
    let names: Vec<String> = (0..8).map(|n| format!("t{n}")).collect();
    let groups: Vec<_> = names.iter().map(|name| (name.as_str(), 1, 1)).collect();
    let system = system(&groups, (0..3).map(|alike| core(alike, &[300])).collect());
    let rates_millihz = vec![1000, 2000];
    let space = space(&system, &Choices { rates_millihz, ..Choices::default() });
    // Of the time nothing is known before.
    let options = Options { objectives: vec![Objective::Time], ..options() };
    (system, space, options)
}

/// The contents of a folder's files, by their paths.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// The rows of a file as a reader of Parquet has them, without the columns that parts lack.
fn rows(path: &Path) -> Vec<Vec<(String, Field)>> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let all = reader.get_row_iter(None).unwrap().map(|row| {
        let columns = row.unwrap().into_columns();
        columns.into_iter().filter(|(name, _)| name != "id" && name != "pareto").collect()
    });
    all.collect()
}

#[test]
fn parts_have_the_rows_of_the_whole_file_while_others_run() {
    let (system, space, options) = setup();
    let folder = tempfile::tempdir().unwrap();
    let parts = folder.path().join("explore.parts");
    let early = Mutex::new(Vec::new());
    let late = || {
        *early.lock().unwrap() =
            contents(&parts).keys().map(|path| (path.clone(), rows(path))).collect();
        Ok(())
    };
    let at = At { of: &Analytic::new(&system), runs: AtomicU64::new(0), late: &late };
    let mut store = Store::create(&folder.path().join("evaluated.jsonl"), "it").unwrap();
    let found = run_with(&space, &at, &options, &mut store, &AtomicBool::new(false)).unwrap();
    let whole = folder.path().join("explore.parquet");
    parquet(&system, &found, "it", File::create(&whole).unwrap()).unwrap();
    let whole = rows(&whole);
    assert_eq!(whole.len(), 2 * CANDIDATES);

    let early = early.into_inner().unwrap();
    let [(first, early)] = &early[..] else { panic!("{} parts", early.len()) };
    assert_eq!(first.file_name().unwrap(), "part-00000.parquet");
    assert_eq!(early.len(), 4096);
    let text = |rows: &[Vec<_>]| rows.iter().map(|row| format!("{row:?}")).collect::<Vec<_>>();
    let mut of_parts = Vec::new();
    for path in contents(&parts).keys() {
        of_parts.extend(rows(path));
    }
    assert_eq!(of_parts[..4096], early[..]);
    let (mut of_parts, mut whole) = (text(&of_parts), text(&whole));
    of_parts.sort();
    whole.sort();
    assert!(of_parts == whole);

    remove_parts(folder.path()).unwrap();
    assert!(!parts.exists());
    remove_parts(folder.path()).unwrap();
}

#[test]
fn an_exploration_that_was_ended_leaves_whole_parts_and_makes_them_anew() {
    let (system, space, options) = setup();
    let explored = |store: &mut Store, late: &(dyn Fn() -> Result<(), Failure> + Sync)| {
        let at = At { of: &Analytic::new(&system), runs: AtomicU64::new(0), late };
        run_with(&space, &at, &options, store, &AtomicBool::new(false)).map(|found| found.ran())
    };
    let end = || Err(Failure::Fatal("no more".into()));
    let folder = tempfile::tempdir().unwrap();
    let (journal, parts) =
        (folder.path().join("evaluated.jsonl"), folder.path().join("explore.parts"));
    explored(&mut Store::create(&journal, "it").unwrap(), &end).unwrap_err();
    let left = contents(&parts);
    assert_eq!(left.keys().map(|path| rows(path).len()).collect::<Vec<_>>(), [4096]);

    // What a process leaves that is killed, and a part that nobody overwrites.
    fs::write(parts.join(".tmp"), "PAR1").unwrap();
    fs::write(parts.join("part-00099.parquet"), "PAR1").unwrap();
    let mut store = Store::resume(&journal, "it").unwrap();
    assert!(!parts.exists());
    assert_eq!(explored(&mut store, &|| Ok(())), Ok(2 * CANDIDATES));
    let resumed = contents(&parts);
    assert_eq!(resumed.len(), 4);
    assert!(left.iter().all(|(path, bytes)| resumed[path] == *bytes));

    remove_parts(folder.path()).unwrap();
    fs::remove_file(&journal).unwrap();
    explored(&mut Store::create(&journal, "it").unwrap(), &|| Ok(())).unwrap();
    assert!(contents(&parts) == resumed);
}

#[test]
fn a_search_of_mappings_and_points_leaves_parts_while_it_runs() {
    let names: Vec<String> = (0..24).map(|n| format!("t{n}")).collect();
    let groups: Vec<_> = names.iter().map(|name| (name.as_str(), 1, 1)).collect();
    let system = system(&groups, (0..3).map(|alike| core(alike, &[100, 200, 300])).collect());
    let space = space(&system, &Choices { points: PointChoice::Auto, ..Choices::default() });
    let objectives = vec![Objective::Energy, Objective::Latency];
    let options = Options { limit: 1, budget: Budget::Runs(6000), objectives, ..options() };
    let folder = tempfile::tempdir().unwrap();
    let early = Mutex::new(Vec::new());
    let late = || {
        let parts = contents(&folder.path().join("explore.parts"));
        *early.lock().unwrap() = parts.keys().map(|path| rows(path).len()).collect();
        Ok(())
    };
    let of = Weighed(Analytic::new(&system));
    let at = At { of: &of, runs: AtomicU64::new(0), late: &late };
    let mut store = Store::create(&folder.path().join("evaluated.jsonl"), "it").unwrap();
    let found = run_with(&space, &at, &options, &mut store, &AtomicBool::new(false)).unwrap();
    assert_eq!((found.ran(), &early.into_inner().unwrap()[..1]), (6000, &[4096][..]));
}
