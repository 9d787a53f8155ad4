// SPDX-License-Identifier: Apache-2.0
//! Scripts: what becomes of their events, and which of them make no sense.

use crate::common::{build, errors, plan_of};
use insta::assert_snapshot;
use whimbrel_model::{Cycles, Verb};

/// An application of scripts; what is common to them, and the script of `a`.
fn app(common: &str, script: &str) -> String {
    format!("[app]\nname = \"s\"\n\n{common}\n[[task]]\nname = \"a\"\nscript = [{script}]\n")
}

const MUTEXES: &str =
    "[[mutex]]\nname = \"m\"\n[[mutex]]\nname = \"n\"\n[[condition]]\nname = \"c\"\n";

/// Another task with a script.
fn and(text: &str, script: &str) -> String {
    format!("{text}\n[[task]]\nname = \"b\"\nscript = [{script}]\n")
}

fn verbs(text: &str) -> Vec<Verb> {
    let app = build(text, &[]).unwrap();
    app.scripts[0].events.iter().map(|event| event.verb).collect()
}

#[test]
fn a_loop_is_two_events_that_name_each_other() {
    let text = app("", "{ loop = 3, do = [{ run = 5 }, { loop = 2, do = [{ yield = true }] }] }");
    let script = &build(&text, &[]).unwrap().scripts[0];
    let others: Vec<_> = script.events.iter().map(|event| (event.object, event.other)).collect();
    assert_eq!(
        verbs(&text),
        [Verb::Loop, Verb::Run, Verb::Loop, Verb::Yield, Verb::End, Verb::End, Verb::Exit]
    );
    assert_eq!((others[0], others[5]), ((0, Some(5)), (0, Some(0))));
    assert_eq!((others[2], others[4]), ((1, Some(4)), (1, Some(2))));
    let firing: Vec<bool> = script.events.iter().map(|event| event.is_firing).collect();
    assert_eq!(firing, [true, false, false, false, false, true, false]);
}

#[test]
fn turns_of_phases_are_firings_or_those_of_outer_loops_or_the_whole() {
    let firings = |script: &str| {
        let script = build(&app("", script), &[]).unwrap().scripts[0].clone();
        let loops = script.events.into_iter().filter(|event| event.verb == Verb::Loop);
        loops.map(|event| (event.is_firing, event.amount)).collect::<Vec<_>>()
    };
    assert_eq!(firings("{ run = 5 }, { sleep = \"1ms\" }"), [(true, 1)]);
    assert_eq!(
        firings("{ loop = 4, do = [{ loop = 2, do = [{ run = 5 }] }] }"),
        [(true, 4), (false, 2)]
    );
    let phases = "{ loop = \"forever\", do = [{ phase = \"p\", loop = 2, do = [{ run = 5 }] }] }";
    assert_eq!(firings(phases), [(false, 0), (true, 2)]);
}

#[test]
fn the_cycles_of_a_firing_are_those_of_a_turn_on_average() {
    let cycles = |script: &str| {
        build(&app("", script), &[]).unwrap().tasks[0].work.clone().map(|work| work.cycles)
    };
    assert_eq!(cycles("{ run = 5 }, { loop = 2, do = [{ run = 20 }] }"), Some(Cycles::Every(22)));
    let phases = "{ loop = \"forever\", do = [{ phase = \"p\", loop = 3, do = [{ run = 10 }] }, \
                  { phase = \"q\", loop = 1, do = [{ run = 50 }] }] }";
    assert_eq!(cycles(phases), Some(Cycles::Every(20)));
    let kinds = "{ run = { host = 10, dsp = 2 } }, { run = 1 }, { run = { dsp = 4 } }";
    assert_eq!(cycles(kinds), Some(Cycles::ByKind(vec![("dsp".into(), 7)])));
    assert_eq!(cycles("{ sleep = \"1ms\" }"), Some(Cycles::Every(1)));
    // Twice 2^63 firings are more than a number counts: as many as it can.
    let phase = |name| format!("{{ phase = \"{name}\", loop = 2147483648, do = [{{ run = 5 }}] }}");
    let many = format!("{}, {}", phase("p"), phase("q"));
    let many = format!("{{ loop = 2147483648, do = [{{ loop = 2, do = [{many}] }}] }}");
    assert_eq!(cycles(&many), Some(Cycles::Every(1)));
}

#[test]
fn a_script_has_the_period_of_the_timer_that_ends_its_turns() {
    let period = |script: &str| build(&app("", script), &[]).unwrap().scripts[0].period_ns();
    let turn = "{ loop = \"forever\", do = [{ run = 5 }, { timer = \"2ms\" }] }";
    assert_eq!(period(turn), Some(2_000_000));
    assert_eq!(period("{ loop = 3, do = [{ run = 5 }, { sleep = \"2ms\" }] }"), None);
    assert_eq!(period(&format!("{turn}, {turn}").replace("\"forever\"", "2")), None);
    let inner = "{ loop = 3, do = [{ loop = 2, do = [{ timer = \"2ms\" }] }] }";
    assert_eq!(period(inner), None);
}

#[test]
fn timers_are_numbered_by_their_names_and_shared_if_they_are_declared() {
    let text = app(
        "[[timer]]\nname = \"all\"\n",
        "{ timer = \"1ms\" }, { timer = \"2ms\", name = \"t\" }, { timer = \"3us\" }, \
         { timer = \"0ns\", name = \"all\", mode = \"absolute\" }",
    );
    let script = &build(&text, &[]).unwrap().scripts[0];
    let timers: Vec<_> = script.events.iter().filter(|event| event.verb == Verb::Timer).collect();
    let objects: Vec<u32> = timers.iter().map(|event| event.object).collect();
    assert_eq!((objects, script.timers), (vec![0, 1, 0, 0], 2));
    assert_eq!((timers[3].other, timers[3].is_absolute), (Some(0), true));
    assert_eq!(timers[2].amount, 3000);
}

#[test]
fn only_what_a_script_says_is_a_checkpoint_if_it_says_any() {
    let checkpoints = |script: &str| {
        let script = build(&app("", script), &[]).unwrap().scripts[0].clone();
        script.events.iter().filter(|event| event.is_checkpoint).count()
    };
    assert_eq!(checkpoints("{ run = 1 }, { run = 1 }"), 3); // and the end of the whole
    assert_eq!(checkpoints("{ run = 1 }, { checkpoint = true }, { run = 1 }"), 1);
}

#[test]
fn a_plan_has_scripts_and_what_they_have_in_common() {
    let text = app(
        MUTEXES,
        "{ lock = \"m\" }, { run = { host = 7 } }, { wait = \"c\", mutex = \"m\" }, \
                    { unlock = \"m\" }, { migrate = [1, 0] }, { priority = 3 }, { suspend = true }",
    );
    let plan = plan_of(&and(&text, "{ broadcast = \"c\" }, { resume = \"a\" }"));
    assert_snapshot!(serde_json::to_string_pretty(&(&plan.objects, &plan.scripts)).unwrap());
    assert_eq!((plan.tasks[0].script, plan.tasks[1].script), (1, 2));
    assert_eq!(plan.tasks[0].entry.name, "scripted");
}

fn refused(text: &str, words: &[&str]) {
    let said = errors(text, &[]);
    for word in words {
        assert!(said.contains(word), "{word}: {said}");
    }
}

#[test]
fn what_is_no_event_is_told_with_what_was_meant() {
    for (script, words) in [
        ("{ rum = 5 }", ["unknown event `rum` of a script", "write `run`"]),
        ("{ sleep = 5 }", ["must be a time as", "not this number"]),
        ("{ sleep = \"5 min\" }", ["must be a time as", "\"1.5ms\""]),
        ("{ run = 0 }", ["cannot take 0 cycles", "from 1 to 2^48"]),
        ("{ run = \"load\" }", ["`cycles` has no value", "load"]),
        ("{ run = 5, sleep = \"1ms\" }", ["the event `run` has no key `sleep`", "unknown key"]),
        ("5", ["consists of events", "{ run = 20000 }"]),
        ("{ }", ["is empty", "{ run = 20000 }"]),
        ("", ["the script of `a` is empty", "this task"]),
        ("{ yield = false }", ["must be true", "a boolean"]),
        ("{ loop = 0, do = [{ run = 1 }] }", ["how often", "\"forever\""]),
        ("{ loop = \"often\", do = [{ run = 1 }] }", ["how often", "\"forever\""]),
        ("{ loop = 2 }", ["a loop has no `do`", "an array of events"]),
        ("{ do = [{ run = 1 }] }", ["a loop has no `loop`", "\"forever\""]),
        ("{ loop = 2, do = [] }", ["must be an array of events", "not this array"]),
        ("{ timer = \"1ms\", mode = \"late\" }", ["\"relative\" or \"absolute\"", "this text"]),
        ("{ wait = \"c\" }", ["the event `wait` has no `mutex`", "that it holds"]),
        ("{ priority = 32 }", ["from 0 to 31", "not this number"]),
        ("{ memory = 0 }", ["a size as", "from 1"]),
        ("{ send = \"out\", count = 0 }", ["number of messages", "from 1"]),
        ("{ migrate = [] }", ["must be a whole number from 0", "array of them"]),
    ] {
        refused(&app("", script), &words);
    }
}

#[test]
fn what_is_not_declared_is_told_with_what_was_meant() {
    refused(&app(MUTEXES, "{ lock = \"mm\" }"), &["no mutex is called `mm`", "name = \"mm\""]);
    refused(&app(MUTEXES, "{ signal = \"m\" }"), &["no condition is called `m`"]);
    refused(&app("", "{ barrier = \"b\" }"), &["add [[barrier]] with name = \"b\""]);
    refused(&app("", "{ resume = \"b\" }"), &["`b` never suspends itself", "suspend = true"]);
    refused(&app("", "{ send = \"out\" }"), &["`a` has no port `out`", "from = \"a.out\""]);
    let twice = "[[mutex]]\nname = \"m\"\n";
    refused(&app(&twice.repeat(2), "{ run = 1 }"), &["two mutexes are called `m`", "the second"]);
    let semaphore = "[[semaphore]]\nname = \"s\"\ninitial = 3\nmost = 2\n";
    refused(&app(semaphore, "{ take = \"s\" }"), &["begins with more than its most"]);
}

#[test]
fn a_script_gives_back_what_it_locks() {
    for (script, words) in [
        ("{ lock = \"m\" }, { lock = \"m\" }", ["locks `m`, which it holds", "here again"]),
        ("{ unlock = \"m\" }", ["unlocks `m`, which it does not hold", "lock it before"]),
        ("{ lock = \"m\" }, { run = 1 }", ["ends holding `m`", "unlock it before"]),
        ("{ lock = \"m\" }, { exit = true }", ["ends holding `m`", "and ends here"]),
        (
            "{ wait = \"c\", mutex = \"m\" }, { signal = \"c\" }",
            ["waits with `m`", "does not hold"],
        ),
        ("{ loop = 2, do = [{ lock = \"m\" }] }, { unlock = \"m\" }", ["each turn", "keeps `m`"]),
        ("{ lock = \"m\" }, { loop = 2, do = [{ unlock = \"m\" }] }", ["each turn", "gives back"]),
    ] {
        refused(&app(MUTEXES, script), &words);
    }
    let ends = errors(&app(MUTEXES, "{ lock = \"m\" }, { exit = true }"), &[]);
    assert_eq!(ends.matches("ends holding `m`").count(), 1, "{ends}");
    let in_loop = "{ loop = 2, do = [{ lock = \"m\" }, { exit = true }] }";
    assert!(!errors(&app(MUTEXES, in_loop), &[]).contains("each turn"));
}

#[test]
fn a_script_without_an_end_may_hold_what_it_locks() {
    let waits = "{ lock = \"m\" }, { loop = \"forever\", do = [{ wait = \"c\", mutex = \"m\" }] }";
    let once = waits.replace("{ lock = \"m\" }", "{ loop = 1, do = [{ lock = \"m\" }] }");
    for script in [waits.to_owned(), once, format!("{{ loop = 2, do = [{waits}] }}")] {
        let text = and(&app(MUTEXES, &script), "{ signal = \"c\" }");
        assert!(build(&text, &[]).is_ok(), "{}", errors(&text, &[]));
    }
}

#[test]
fn what_would_wait_or_turn_for_ever_is_refused() {
    let forever = "{ loop = \"forever\", do = [{ lock = \"m\" }, { unlock = \"m\" }] }";
    refused(&app(MUTEXES, forever), &["has no end and takes no time", "say how often"]);
    let wait = "{ lock = \"m\" }, { wait = \"c\", mutex = \"m\" }, { unlock = \"m\" }";
    refused(&app(MUTEXES, wait), &["no task signals `c`", "broadcast"]);
    refused(&app("", "{ suspend = true }"), &["no task resumes `a`", "resume"]);
    let semaphore = "[[semaphore]]\nname = \"s\"\n";
    refused(&app(semaphore, "{ take = \"s\" }"), &["no task gives `s`", "`initial`"]);
    let barrier = "[[barrier]]\nname = \"b\"\ntasks = 3\n";
    refused(&app(barrier, "{ barrier = \"b\" }"), &["for 3 tasks, and 1 wait", "tasks = 1"]);
    let after = "{ loop = \"forever\", do = [{ run = 1 }] }, { run = 2 }";
    refused(&app("", after), &["never comes here", "this has no end"]);
    for before in [
        "{ exit = true }",
        "{ loop = \"forever\", do = [{ run = 1 }, { exit = true }] }",
        "{ loop = 2, do = [{ run = 1 }, { exit = true }] }",
        "{ loop = 2, do = [{ loop = \"forever\", do = [{ run = 1 }] }] }",
    ] {
        refused(&app("", &format!("{before}, {{ run = 2 }}")), &["never comes here"]);
    }
    refused(&app("", "{ run = 2 }, { delay = \"1ms\" }"), &["not its first event"]);
    let deep = format!("{}{{ run = 1 }}{}", "{ loop = 2, do = [".repeat(9), "] }".repeat(9));
    refused(&app("", &deep), &["more than 8 loops"]);
    let nested =
        "{ phase = \"p\", loop = 2, do = [{ phase = \"q\", loop = 2, do = [{ run = 1 }] }] }";
    refused(&app("", nested), &["a phase within a phase"]);
}

const M_THEN_N: &str = "{ lock = \"m\" }, { lock = \"n\" }, { unlock = \"n\" }, { unlock = \"m\" }";
const N_THEN_M: &str = "{ lock = \"n\" }, { lock = \"m\" }, { unlock = \"m\" }, { unlock = \"n\" }";

#[test]
fn locks_in_different_orders_are_refused_with_both_places() {
    assert_snapshot!(errors(&and(&app(MUTEXES, M_THEN_N), N_THEN_M), &[]));
}

#[test]
fn locks_in_one_order_or_by_one_task_or_under_another_are_no_deadlock() {
    assert!(build(&and(&app(MUTEXES, M_THEN_N), M_THEN_N), &[]).is_ok());
    let both = format!("{M_THEN_N}, {N_THEN_M}");
    assert!(build(&app(MUTEXES, &both), &[]).is_ok());
    let several = app(MUTEXES, &both).replace("name = \"a\"", "name = \"a\"\ncount = 2");
    refused(&several, &["locked in different orders"]);
    let guarded = |script| format!("{{ lock = \"g\" }}, {script}, {{ unlock = \"g\" }}");
    let common = format!("{MUTEXES}[[mutex]]\nname = \"g\"\n");
    let text = and(&app(&common, &guarded(M_THEN_N)), &guarded(N_THEN_M));
    assert!(build(&text, &[]).is_ok(), "{}", errors(&text, &[]));
}

#[test]
fn a_script_is_all_that_its_task_says_of_its_work() {
    let with =
        |key: &str| app("", "{ run = 1 }").replace("name = \"a\"", &format!("name = \"a\"\n{key}"));
    for key in ["cycles = 5", "periodic = true", "period_us = 5", "firings = 5", "traffic = 5"] {
        refused(&with(key), &["`a` has a script, and", "this key"]);
    }
    let module = with("").replace("name = \"s\"", "name = \"s\"\nmodule = \"m.so\"");
    refused(&module, &["the application a module", "leave `module` out"]);
}

#[test]
fn a_script_that_moves_a_task_that_may_not_is_refused() {
    let pinned = app("", "{ loop = 2, do = [{ run = 1 }, { migrate = 1 }] }")
        .replace("name = \"a\"", "name = \"a\"\nmigratable = false");
    refused(&pinned, &["`a` moves, and has `migratable = false`", "migrate = 1", "leave one"]);
}

const CHANNEL: &str = "[[channel]]\nfrom = \"a.out\"\nto = \"b.in\"\nslot_bytes = 8\n";

#[test]
fn actors_and_scripts_may_be_mixed_and_only_actors_have_rates() {
    let actor = "\n[[task]]\nname = \"b\"\ncycles = 5\n";
    let text = app("", "{ loop = 3, do = [{ send = \"out\", count = 2 }] }") + actor + CHANNEL;
    assert!(build(&format!("{text}consume = 3\n"), &[]).is_ok());
    refused(&format!("{text}produce = 3\n"), &["has no rates", "count = 2"]);
    refused(&format!("{text}claim = \"start\"\n"), &["no rule"]);
}

#[test]
fn the_channels_of_a_script_are_used_as_they_lead() {
    let pair = |a: &str, b: &str| and(&app("", a), b) + CHANNEL;
    assert!(build(&pair("{ send = \"out\" }", "{ receive = \"in\" }"), &[]).is_ok());
    refused(&pair("{ run = 1 }", "{ receive = \"in\" }"), &["never sends to `out`"]);
    refused(&pair("{ send = \"out\" }", "{ run = 1 }"), &["never receives from `in`"]);
    let turned = pair("{ receive = \"out\" }", "{ receive = \"in\" }");
    refused(&turned, &["`a` only sends through `out`"]);
}

#[test]
fn the_messages_of_a_script_since_its_image_fit_its_channel() {
    let with = |slots: u32, script: &str| {
        let images = and(&app("", "{ send = \"out\" }"), script)
            .replace("name = \"b\"", "name = \"b\"\ncheckpoint_every = 3");
        format!("{images}{CHANNEL}slots = {slots}\n")
    };
    let some = "{ loop = 2, do = [{ receive = \"in\", count = 4 }] }";
    assert!(build(&with(13, some), &[]).is_ok());
    refused(&with(12, some), &["cannot keep the messages of 3 checkpoints", "more than 12 slots"]);
    let marked = format!("{some}, {some}, {{ checkpoint = true }}");
    assert!(build(&with(49, &marked), &[]).is_ok());
    refused(&with(48, &marked), &["more than 48 slots"]);
    let inner = format!("{{ loop = \"forever\", do = [{some}, {{ checkpoint = true }}] }}");
    assert!(build(&with(25, &inner), &[]).is_ok());
    refused(&with(24, &inner), &["more than 24 slots"]);
    let endless = "{ checkpoint = true }, { loop = \"forever\", do = [{ receive = \"in\" }] }";
    refused(&with(32768, endless), &["add { checkpoint = true } to the loop"]);
}
