// SPDX-License-Identifier: Apache-2.0
//! Traces of Linux as applications, and what a person is told of them.

use std::fs;

use insta::assert_snapshot;
use proptest::prelude::*;
use whimbrel_import::{Format, Options};

use crate::common::{Imported, import as application, plan_of, sample_path, shown};

/// An MP3 player of rt-app in a guest; see the README beside it.
fn sample() -> Vec<u8> {
    fs::read(sample_path("mp3.pftrace")).unwrap()
}

fn of(threads: &str, window_ns: (u64, u64)) -> Options {
    let threads = threads.split_terminator(',').map(Into::into).collect();
    Options { threads, window_ns, ..Options::default() }
}

fn imported(options: &Options) -> Imported {
    application("mp3.pftrace", sample(), options)
        .unwrap_or_else(|problems| panic!("{}", shown("mp3.pftrace", "", problems)))
}

fn refused(bytes: &[u8], options: &Options) -> String {
    let problems = application("mp3.pftrace", bytes, options).expect_err("must be refused");
    shown("mp3.pftrace", "", problems)
}

const ALL: (u64, u64) = (0, u64::MAX);

#[test]
fn threads_repeat_their_runs_and_wait_for_each_other() {
    let short = of("AudioTick,AudioOut,AudioTrack", (0, 62_000_000));
    let made = imported(&short);
    assert_snapshot!(format!("{}\n{}", made.toml, shown("mp3.pftrace", "", made.warnings)));
}

#[test]
fn all_threads_of_an_application_have_a_plan() {
    let made = imported(&of("AudioTick,AudioOut,AudioTrack,mp3.decoder,96", ALL));
    assert!(made.warnings.is_empty(), "{:?}", made.warnings);
    let plan = plan_of(&made.toml);
    assert_eq!(plan.tasks.len(), 5);
    assert!(plan.tasks.iter().all(|task| task.script > 0));
    assert!(made.toml.contains("name = \"OMXCall_mp3_decoder\""), "{}", made.toml);
}

#[test]
fn threads_that_are_not_chosen_well_are_told_which_there_are() {
    let told = refused(&sample(), &Options::default());
    assert!(told.contains("the threads of the application are not given"), "{told}");
    assert!(told.contains("AudioOut (93) 82 ms"), "{told}");
    let told = refused(&sample(), &of("AudioTick,AudioOt", ALL));
    assert!(told.contains("no thread of the trace is called `AudioOt`"), "{told}");
    assert!(told.contains("write `AudioOut`"), "{told}");
    assert!(refused(&sample(), &of("4711", ALL)).contains("the busiest are"));
}

#[test]
fn a_thread_that_is_named_twice_is_one_task() {
    let once = imported(&of("AudioOut", ALL)).toml;
    for threads in ["AudioOut,AudioOut", "93,AudioOut", "AudioOut,93"] {
        assert_eq!(imported(&of(threads, ALL)).toml, once, "{threads}");
    }
}

#[test]
fn windows_and_files_without_anything_are_refused_in_words() {
    let late = of("AudioTick", (1 << 40, u64::MAX));
    assert!(refused(&sample(), &late).contains("nothing happens in this window"));
    let short = of("AudioOut", (0, 1000));
    assert!(refused(&sample(), &short).contains("does nothing in this window"));
    let told = refused(b"# tracer: nop", &of("a", ALL));
    assert!(told.contains("this is not a Perfetto trace: byte 0"), "{told}");
    assert!(refused(b"", &Options::default()).contains("it has no `sched_switch`"));
}

#[test]
fn a_trace_whose_recorder_was_killed_is_read_to_there() {
    let whole = sample();
    for end in [whole.len() / 4, whole.len() / 2, whole.len() - 1] {
        let cut = application("a.pftrace", &whole[..end], &of("AudioOut", ALL)).unwrap();
        let told = shown("a.pftrace", "", cut.warnings);
        assert!(
            told.contains("the trace ends in the middle of the packet at byte "),
            "{end}: {told}"
        );
        assert!(cut.toml.contains("name = \"AudioOut\""), "{end}: {}", cut.toml);
    }
}

#[test]
fn the_ends_of_the_names_of_traces_are_known() {
    for name in ["a.pftrace", "a.perfetto-trace", "a.perfetto_trace"] {
        assert_eq!(Format::of(name), Some(Format::Perfetto));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_trace_is_refused_or_read_but_never_panics(
        at in any::<prop::sample::Index>(), cut in 0..60_usize,
        insert in proptest::collection::vec(any::<u8>(), 0..8),
    ) {
        let mut bytes = sample();
        let at = at.index(bytes.len());
        bytes.splice(at..(at + cut).min(bytes.len()), insert);
        let options = of("AudioTick,AudioOut,mp3.decoder", ALL);
        if let Err(problems) = application("mp3.pftrace", &bytes, &options) {
            prop_assert!(!shown("mp3.pftrace", "", problems).is_empty());
        }
    }
}
