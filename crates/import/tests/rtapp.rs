// SPDX-License-Identifier: Apache-2.0
//! Files of rt-app as applications of scripts, and what a person is told of them.

use std::fs;

use crate::common::{build, import as application, sample_path, shown, told};
use insta::assert_snapshot;
use whimbrel_import::{Options, together};

fn sample(file: &str) -> String {
    fs::read_to_string(sample_path(file)).unwrap()
}

/// The text of the application, and the warnings as a person sees them.
fn imported(file: &str, text: &str, hz: u64) -> String {
    let imported = application(file, text, &Options { hz, ..Options::default() })
        .unwrap_or_else(|problems| panic!("{}", shown(file, text, problems)));
    format!("{}\n{}", imported.toml, shown(file, text, imported.warnings))
}

/// The script of task `t`, with `'` for `"`, without line breaks.
fn script(task: &str) -> String {
    let text = format!("{{'tasks':{{'t':{{{task}}}}}}}").replace('\'', "\"");
    let toml = imported("a.json", &text, 1_000_000_000);
    let (_, script) = toml.split_once("script = [").unwrap();
    let (script, _) = script.split_once("\n]").unwrap();
    script.split_whitespace().collect::<Vec<_>>().join(" ").replace('"', "'")
}

fn refused(text: &str) -> String {
    shown("a.json", text, application("a.json", text, &Options::default()).expect_err(text))
}

#[test]
fn threads_that_wake_each_other_become_scripts() {
    assert_snapshot!(imported("player.json", &sample("player.json"), 1_200_000_000));
}

#[test]
fn threads_keep_their_phases_priorities_places_and_numbers() {
    assert_snapshot!(imported("periodic.json", &sample("periodic.json"), 1_000_000_000));
}

#[test]
fn every_event_of_the_grammar_has_its_place_in_a_script() {
    assert_snapshot!(imported("every.json", &sample("every.json"), 1_000_000_000));
}

#[test]
fn every_event_is_done_in_its_order() {
    for (task, expected) in [
        ("'run':1,'run':2,'sleep':3,'run7':4", "run = 1000 }, { run = 2000 }, { sleep = '3us'"),
        ("'runtime':5,'mem':64,'run':1", "runtime = '5us' }, { memory = 64 }, { run = 1000"),
        ("'sleep':0,'timer':{'period':9},'run':0", "sleep = '0ms' }, { timer = '9us', name"),
        (
            "'lock':'m','run':1,'signal':'c','wait':{'ref':'c','mutex':'m'},'unlock':'m'",
            "lock = 'm' }, { run = 1000 }, { signal = 'c' }, { wait = 'c', mutex = 'm' }, \
             { unlock = 'm' }",
        ),
        (
            "'lock':'m','sync':{'ref':'c','mutex':'m'},'unlock':'m','yield'",
            "lock = 'm' }, { signal = 'c' }, { wait = 'c', mutex = 'm' }, { unlock = 'm' }, \
             { yield = true }",
        ),
        ("'barrier':'b','run':1", "barrier = 'b' }, { run = 1000 }"),
        (
            "'suspend','run':1,'resume':'t'",
            "lock = 't' }, { wait = 't', mutex = 't' }, { unlock = 't' }, { run = 1000 }, \
             { lock = 't' }, { broadcast = 't' }, { unlock = 't' }",
        ),
        ("'delay':7,'run':1", "delay = '7us' }, { loop = 'forever', do = [ { run = 1000 }"),
    ] {
        let script = script(task);
        assert!(script.contains(expected), "{task}: {script}");
    }
}

#[test]
fn memory_is_read_and_written_by_bytes_and_chased_by_pointers() {
    for (event, expected) in [
        ("'memrun':{'type':'write','size':9,'count':64}", "{ memory = 64 }"),
        ("'memrun0':{'type':'chase','stride':64,'pattern':'random','count':5}", "{ memory = 40 }"),
        (
            "'memrun':{'type':'read','count':3000000000}",
            "{ loop = 2, do = [ { memory = 1073741824 }, ] }, { memory = 852516352 }",
        ),
    ] {
        let script = script(&format!("{event},'sleep':1"));
        assert!(script.contains(expected), "{event}: {script}");
    }
}

#[test]
fn semaphores_are_taken_and_given_and_are_none_of_a_fork() {
    let text = r#"{"tasks":{"a":{"sem_post":"b","run":1,"sem_post_2":"b","fork":"b","sleep":9},
        "b":{"instance":0,"loop":1,"sem_wait":"b","run":1}}}"#;
    let toml = imported("a.json", text, 1);
    assert!(toml.contains("{ give = \"b\" },\n    { run = 1 },\n    { give = \"b\" }"), "{toml}");
    assert!(toml.contains("{ take = \"b_2\" },"), "{toml}");
    assert_eq!(toml.matches("[[semaphore]]").count(), 2, "{toml}");
    build(toml.split("\n  ⚠").next().unwrap(), &[]).unwrap();
    let lost = imported("a.json", r#"{"tasks":{"a":{"sem_post":"s","run":1}}}"#, 1);
    assert!(lost.contains("nothing waits for `s`"), "{lost}");
}

#[test]
fn keys_that_rt_app_passes_over_are_warnings_in_the_order_of_the_file() {
    let text = r#"{"comment":"x","global":{"logstats":false,"ftrace":"loop","frequency":[1]},
        "tasks":{"a":{"numa":{},"phases":{"p":{"delay":7,"run":1,"sleep":2}},"note":true}}}"#;
    let told = application("a.json", text, &Options::default()).unwrap().warnings;
    let told: Vec<&str> = told.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        told,
        [
            "`comment` of the file has no meaning here",
            "`logstats`, `ftrace`, `frequency` of `global` left out",
            "`numa` of `a` has no meaning here",
            "`delay` of `a` has no meaning here",
            "`note` of `a` has no meaning here",
        ]
    );
    let told = imported("a.json", &text.replace("logstats", "calibrations"), 1);
    assert!(told.contains("write `calibration`"), "{told}");
    let kind =
        r#"{"resources":{"m":{"type":"KIND"}},"tasks":{"a":{"run":1,"lock":"m","unlock":"m"}}}"#;
    let told = imported("a.json", &kind.replace("KIND", "barrier"), 1);
    assert!(told.contains("resources of type `barrier` have no meaning here"), "{told}");
    assert!(refused(&kind.replace("KIND", "mutexx")).contains("`type` must be mutex, wait"));
    let misspelt = text.replace("comment", "resource");
    assert!(refused(&misspelt).contains("the file has no key `resource`"));
}

#[test]
fn phases_keep_their_loops_places_and_priorities() {
    let phases = "'cpus':[2],'loop':3,'phases':{'a':{'loop':9,'run':1,'cpus':[0,1]},\
        'b':{'run':2,'priority':-20},'b':{'loop':-1,'run':3}}";
    assert_eq!(
        script(phases),
        "{ loop = 3, do = [ { migrate = [0, 1] }, \
         { phase = 'a', loop = 9, do = [ { run = 1000 }, ] }, { migrate = [2] }, \
         { priority = 8 }, { phase = 'b', loop = 1, do = [ { run = 2000 }, ] }, \
         { migrate = [2] }, { phase = 'b_2', loop = 'forever', do = [ { run = 3000 }, ] }, ] },"
    );
}

#[test]
fn a_loop_of_a_task_without_phases_ends_and_that_is_said() {
    let text = r#"{ "tasks" : { "a" : { "loop" : 3, "run" : 1 } } }"#;
    let toml = imported("a.json", text, 1_000_000_000);
    assert!(toml.contains("{ loop = 3, do = ["), "{toml}");
    assert!(toml.contains("rt-app 1.0 repeats it forever"), "{toml}");
}

#[test]
fn timers_that_are_not_unique_are_shared_by_all_that_name_them() {
    let own = r#"{"tasks":{"a":{"instance":2,"timer":{"ref":"unique1","period":5}},
        "b":{"timer":{"ref":"tick","period":5}}}}"#;
    assert!(!imported("a.json", own, 1).contains("[[timer]]"));
    let shared = own.replace("unique1", "tick");
    let toml = imported("a.json", &shared, 1);
    assert!(toml.contains("[[timer]]\nname = \"tick\""), "{toml}");
    let mode = shared.replacen("\"period\":5", "\"period\":5,\"mode\":\"absolute\"", 1);
    let toml = imported("a.json", &mode, 1);
    assert_eq!(toml.matches("mode = \"absolute\"").count(), 2, "{toml}");
}

#[test]
fn every_instance_comes_to_a_barrier() {
    let text = r#"{"tasks":{"a":{"instance":2,"run":1,"barrier":"x y"},"b":{"barrier":"x y"}}}"#;
    let toml = imported("a.json", text, 1);
    assert!(toml.contains("[[barrier]]\nname = \"x_y\"\ntasks = 3"), "{toml}");
}

#[test]
fn a_fork_is_a_task_that_waits_to_be_forked() {
    let text =
        r#"{"tasks":{"a":{"run":1,"fork":"b","sleep":9},"b":{"instance":0,"loop":1,"run":5}}}"#;
    let toml = imported("a.json", text, 1_000_000_000);
    let script = "name = \"b_forked\"\npriority = 8\nscript = [\n  \
        { loop = \"forever\", do = [\n    { take = \"b\" },\n";
    assert!(toml.contains(script) && toml.contains("{ give = \"b\" }"), "{toml}");
    assert!(!toml.contains("name = \"b\"\npriority"), "{toml}");
}

#[test]
fn what_is_forked_sleeps_for_its_delay_and_comes_to_barriers_and_timers() {
    let text = r#"{"tasks":{
        "a":{"fork":"b","barrier":"x","sleep":9},
        "b":{"instance":0,"loop":1,"delay":7,"barrier":"x","run":5,
            "timer":{"ref":"tick","period":5}},
        "c":{"instance":0,"run":1,"barrier":"y"},
        "d":{"fork":"d","run":1,"delay":7,"timer":{"ref":"tock","period":5}}}}"#;
    let toml = application("a.json", text, &Options::default()).unwrap().toml;
    assert!(toml.contains("{ take = \"b\" },\n    { sleep = \"7us\" },"), "{toml}");
    assert!(toml.contains("[[barrier]]\nname = \"x\"\ntasks = 2\n"), "{toml}");
    assert!(!toml.contains("name = \"y\"") && !toml.contains("name = \"c\""), "{toml}");
    assert!(toml.contains("[[timer]]\nname = \"tock\"\n"), "{toml}");
    assert!(!toml.contains("[[timer]]\nname = \"tick\"\n"), "{toml}");
    assert!(toml.contains("script = [\n  { delay = \"7us\" },"), "{toml}");
    build(&toml, &[]).unwrap_or_else(|problems| panic!("{}", shown("app.toml", &toml, problems)));
}

#[test]
fn a_thread_without_instances_is_left_out_with_those_that_only_it_forks() {
    let text = r#"{"tasks":{
        "a":{"run":1,"fork":"b","sleep":9},
        "b":{"instance":0,"loop":1,"run":5,"fork":"c"},
        "c":{"instance":0,"loop":1,"run":5},
        "d":{"instance":0,"run":1,"fork":"e","fork":"f","barrier":"x"},
        "e":{"instance":0,"loop":1,"run":5,"resume":"y"},
        "f":{"run":5,"sleep":9}}}"#;
    let imported = application("a.json", text, &Options::default()).unwrap();
    let toml = imported.toml;
    let warnings = shown("a.json", text, imported.warnings);
    for name in ["a", "b_forked", "c_forked", "f"] {
        assert!(toml.contains(&format!("name = \"{name}\"\n")), "{name}: {toml}");
    }
    assert!(!toml.contains("name = \"d") && !toml.contains("name = \"e"), "{toml}");
    assert!(!toml.contains("f_forked") && !toml.contains("[[barrier]]"), "{toml}");
    for name in ["d", "e"] {
        assert!(warnings.contains(&format!("`{name}` has no instance and is left out")));
    }
    build(&toml, &[]).unwrap_or_else(|problems| panic!("{}", shown("app.toml", &toml, problems)));
}

#[test]
fn who_waits_for_a_thread_without_instances_waits_for_ever() {
    let text = r#"{"tasks":{"a":{"run":1,"suspend"},"b":{"instance":0,"run":1,"resume":"a"}}}"#;
    assert!(refused(text).contains("nothing ever signals `a`"));
    let text = r#"{"tasks":{"a":{"instance":0,"run":1}}}"#;
    assert!(refused(text).contains("no task has an instance"));
}

#[test]
fn a_thread_may_hold_a_mutex_through_a_last_phase_without_an_end() {
    let text = r#"{"tasks":{"a":{"loop":1,"phases":{"p":{"lock":"m","run":1},"q":{"loop":-1,
        "wait":{"ref":"c","mutex":"m"},"run":1}}},"b":{"sleep":9,"signal":"c"}}}"#;
    for text in [text, &text.replace("{\"loop\":1,", "{")] {
        let toml = application("a.json", text, &Options::default()).unwrap().toml;
        assert!(build(&toml, &[]).is_ok(), "{toml}");
    }
}

#[test]
fn the_yield_of_a_task_with_deadlines_ends_its_job() {
    let script = script("'policy':'SCHED_DEADLINE','dl-period':10,'runtime':5,'yield':''");
    assert!(script.contains("runtime = '5us' }, { timer = '10us', name = 'dl_period' }"));
}

#[test]
fn a_wait_without_its_mutex_takes_it_and_that_is_said() {
    let text = r#"{"tasks":{"a":{"sync":{"ref":"c","mutex":"m"}}}}"#;
    let toml = imported("a.json", text, 1);
    assert!(toml.contains("{ lock = \"m\" },\n    { signal = \"c\" },"), "{toml}");
    assert!(toml.contains("`m` is locked for this wait"), "{toml}");
}

#[test]
fn a_given_calibration_computes_whole_loops_as_rt_app_does() {
    let run = |loop_ns: u64| {
        let text = format!(
            r#"{{ "tasks" : {{ "a" : {{ "run" : 1 }} }},
                "global" : {{ "calibration" : {loop_ns} }} }}"#
        );
        imported("a.json", &text, 1_000_000_000)
    };
    assert!(run(150).contains("run = 900 "));
    assert!(run(1).contains("run = 1000 "));
}

#[test]
fn a_key_that_only_begins_like_an_event_is_one_and_that_is_said() {
    let toml = imported("a.json", r#"{"tasks":{"a":{"runA":1}}}"#, 1_000_000_000);
    assert!(toml.contains("{ run = 1000 }") && toml.contains("`runA` is `run`"), "{toml}");
}

#[test]
fn files_of_the_grammar_before_use_their_resources_in_order() {
    let text = r#"{
        "resources" : { "m" : { "type" : "mutex" }, "g" : { "type" : "mutex" },
            "w" : { "type" : "wait" }, "s" : { "type" : "signal", "target" : "w" } },
        "tasks" : {
            "a" : { "exec" : 50, "period" : 90, "lock_order" : ["m", "s"],
                "resources" : { "m" : { "duration" : 20 }, "s" : { "access" : ["g"] } } },
            "b" : { "exec" : 10, "period" : 90, "sleep" : false, "lock_order" : ["w"],
                "resources" : { "w" : { "access" : ["g"] } } }
        }
    }"#;
    assert_snapshot!(imported("a.json", text, 1_000_000_000));
}

#[test]
fn in_files_of_the_old_grammar_a_signal_has_a_target() {
    let text = r#"{
        "resources" : { "s" : { "type" : "signal", "target" : "c" }, "c" : { "type" : "wait" } },
        "tasks" : {
            "a" : { "run" : 1, "signal" : "s", "sleep" : 9 },
            "b" : { "lock":"m", "wait" : { "ref" : "c", "mutex" : "m" }, "unlock":"m", "run" : 1 }
        }
    }"#;
    let toml = imported("a.json", text, 1);
    assert!(toml.contains("{ signal = \"c\" }"), "{toml}");
}

#[test]
fn files_that_were_cut_into_pieces_are_one() {
    let global = r#"{"global":{"calibration":150}}"#;
    let [a, b] = ["{ \"suspend\" : \"x\", \"run\" : 1 }", "{ \"run\" : 2, \"resume\" : \"x\" }"]
        .map(|task| format!("{{\"tasks\":{{\"t\":{task}}}}}"));
    let files = [("g.json", global), ("a.json", &a), ("b.json", &b)];
    let files = files.map(|(path, text)| (path, text.as_bytes()));
    let (toml, warnings) = together(&files, &Options::default()).unwrap();
    assert!(toml.contains("name = \"g\"") && toml.contains("name = \"t_2\""), "{toml}");
    assert!(toml.contains("run = 900") && toml.contains("broadcast = \"x\""), "{toml}");
    let files_of_warnings: Vec<_> = warnings.iter().map(|(file, _)| *file).collect();
    assert_eq!(files_of_warnings, [2], "its task is called t_2 here");

    let wrong = b.replace("\"run\" : 2", "\"rum\" : 2");
    let problems =
        together(&[files[0], ("w.json", wrong.as_bytes())], &Options::default()).unwrap_err();
    let (file, problem) = &problems[0];
    assert_eq!((*file, problem.labels[0].offset()), (1, wrong.find("\"rum\"").unwrap()));
}

#[test]
fn files_of_different_tools_stand_beside_each_other() {
    let (json, xml) = (sample("player.json"), sample("cd2dat.xml"));
    let files = [("cd2dat.xml", &xml), ("player.json", &json), ("again.xml", &xml)];
    let files = files.map(|(path, text)| (path, text.as_bytes()));
    let (toml, _) = together(&files, &Options::default()).unwrap();
    assert!(toml.contains("[app]\nname = \"cd2dat\""), "{toml}");
    for part in ["name = \"AudioTick\"", "name = \"cd\"", "name = \"cd_2\"", "from = \"cd_2."] {
        assert!(toml.contains(part), "{part}");
    }
}

#[test]
fn what_is_unknown_is_shown_where_it_stands() {
    let text = sample("periodic.json");
    let text = text.replacen("\"instance\" : 2", "\"instances\" : 2, \"rum\" : 3", 1);
    assert_snapshot!(refused(&text));
}

#[test]
fn everything_that_is_wrong_in_a_file_is_told_at_once() {
    let wrong = "\"instance\" : -2,\n\t\t\t\"loop\" : 0,\n\t\t\t\"loop\" : 1,\n\t\t\t\
        \"barrier\",\n\t\t\t\"sleep\" : \"long\"";
    assert_snapshot!(refused(&sample("periodic.json").replacen("\"instance\" : 2", wrong, 1)));
}

#[test]
fn every_kind_of_bad_text_is_refused_in_words() {
    for (text, words) in [
        ("", "the file is empty"),
        ("[1]", "the file is not an object"),
        ("{ 'tasks' ", "this is never closed"),
        ("{ 'tasks' : {'a':{'run':1} 'b':{}}}", "a comma should be before this"),
        ("{ tasks : 1 }", "a key in quotation marks should be here"),
        ("{ 'tasks' : }", "a value should be here"),
        ("{} {}", "this follows the object that the file is"),
        ("{ 'a' : /* ", "this is not JSON"),
        ("{}", "the file has no `tasks`"),
        ("{'tasks':{}}", "no task has an instance"),
        ("{'tasks':3}", "`tasks` must be an object"),
        ("{'tasks'}", "has no value"),
        ("{'tasks':{'a':{'run':1}},'global':{'calibration':true}}", "`calibration` must be"),
    ] {
        let told = refused(&text.replace('\'', "\""));
        assert!(told.contains(words), "{text}: {told}");
    }
    let problems = application("a.json", [b'{', 0xff], &Options::default()).unwrap_err();
    assert_eq!(told(&problems), "this is not UTF-8");
}

#[test]
fn every_kind_of_bad_task_is_refused_in_words() {
    for (task, words) in [
        ("", "`a` has no events"),
        ("'phases':{}", "`a` has no events"),
        ("'run':-1", "`run` must be a whole number from 0 to 2^64 - 1"),
        ("'run':1000000001", "at most 1000000000 microseconds"),
        ("'run'", "has no value"),
        ("'mem':2000000000", "at most 1 GiB"),
        ("'run':1,'cpus':2", "`cpus` must be an array"),
        ("'run':1,'cpus':[]", "`cpus` must be an array"),
        ("'run':1,'policy':'NONE'", "`policy` must be SCHED_OTHER"),
        ("'run':1,'priority':20", "write a number that its policy takes: -20 to 19"),
        ("'timer':{'ref':'x'}", "`timer` has no `period`"),
        ("'timer':{'ref':'x','period':0.5}", "`period` must be a whole number"),
        ("'timer':{'period':1,'mode':'x'}", "`mode` must be \"relative\" or"),
        ("'wait':{'mutex':'x'}", "`wait` has no `ref`"),
        ("'sync':{'ref':'x','mutexes':'x'}", "write `mutex`"),
        ("'run':1,'fork':'b'", "no task is called `b`"),
        ("'suspend':''", "nothing ever signals `a`"),
        ("'run':1,'phases':{'p':{'run':1}}", "phases and events"),
        ("'phases':{'p':{'run':1,'loop':-1,'polcy':1}}", "a phase has no key `polcy`"),
        ("'sem_post':1", "`sem_post` must be a text"),
        ("'run':1,'sem_wait':'s'", "nothing ever posts `s`"),
        ("'memrun':5", "`memrun` must be an object"),
        ("'memrun':{'type':'seek','count':5}", "`type` must be \"read\", \"write\" or \"chase\""),
        ("'memrun':{'type':'read'}", "`memrun` has no `count`"),
        ("'memrun':{'count':4294967296}", "`count` must be at most 4294967295"),
        ("'memrun':{'count':1,'strike':8}", "`memrun` has no key `strike`"),
        ("'mem':1000", "`a` has no end and takes no time"),
        ("'resume':'a'", "`a` has no end and takes no time"),
        ("'phases':{'p':{'run':1},'q':{'yield','loop':-1}}", "`q` has no end and takes no time"),
        ("'run':1,'lock':'m','lock':'m'", "`m` is locked by a task that holds it"),
        ("'run':1,'lock':'m','resume':'m','unlock':'m'", "`m` is locked by a task that holds it"),
        ("'run':1,'unlock':'m'", "`m` is unlocked by a task without it"),
        ("'run':1,'lock':'m'", "`a` does not leave `m` as it was"),
        ("'phases':{'p':{'run':1,'lock':'m','loop':2}}", "a loop of `p` does not leave `m`"),
        ("'run':1,'barrier':'b','barrier':'b'", "`a` waits at `b` in two places"),
        ("'run':1,'resources':1", ""),
        ("'exec':9,'lock_order':['m']", "no resource is called `m`"),
        ("'exec':9,'lock_order':'m'", "`lock_order` must be an array of names"),
    ] {
        let text = format!("{{'tasks':{{'a':{{{task}}}}}}}").replace('\'', "\"");
        if words.is_empty() {
            assert!(imported("a.json", &text, 1).contains("`resources` of `a` has no meaning"));
            continue;
        }
        let told = refused(&text);
        assert!(told.contains(words), "{text}: {told}");
    }
    let fast = Options { hz: 1 << 40, ..Options::default() };
    let text = r#"{"tasks":{"a":{"run":1000000000}}}"#;
    let told = shown("a.json", text, application("a.json", text, &fast).unwrap_err());
    assert!(told.contains("this computes too long"), "{told}");
}

#[test]
fn a_task_whose_only_event_is_wrong_is_not_told_to_have_none() {
    let said = refused(r#"{"tasks":{"t":{"run":-1}}}"#);
    assert!(said.contains("`run` must be a whole number from 0 to 2^64 - 1"), "{said}");
    assert!(!said.contains("has no events"), "{said}");
}

#[test]
fn two_places_far_apart_in_one_line_are_shown_without_what_is_between_them() {
    let between = "x".repeat(50_000);
    let twice = format!("'calibration':1,'logdir':'{between}','calibration':2");
    let text = format!("{{'global':{{{twice}}},'tasks':{{'t':{{'run':1}}}}}}").replace('\'', "\"");
    let told = refused(&text);
    assert!(told.contains("`calibration` is given twice"), "{told}");
    assert!(told.contains("─ the first") && told.contains("─ the second"), "{told}");
    assert_eq!(told.matches("a.json:1:").count(), 2, "{told}");
    assert!(told.len() < 2000, "{told}");
}
