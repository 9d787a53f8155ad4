// SPDX-License-Identifier: Apache-2.0
//! Task graphs of TGFF and models of APP4MC as applications, and what a person is told of them.

use insta::assert_snapshot;
use whimbrel_import::{Options, together};

use crate::common::{build, import as application, shown};
use crate::import::{errors, imported, refused};

fn toml_of(path: &str, text: &str) -> String {
    let imported = application(path, text, &Options::default());
    imported.unwrap_or_else(|problems| panic!("{}", shown(path, text, problems))).toml
}

fn warnings(path: &str, text: &str) -> Vec<String> {
    let warnings = application(path, text, &Options::default()).unwrap().warnings;
    warnings.into_iter().map(|warning| warning.message).collect()
}

#[test]
fn graphs_of_tgff_take_the_times_and_sizes_of_their_types() {
    assert_snapshot!(imported("camera.tgff", 1_000_000_000));
}

#[test]
fn a_model_of_app4mc_has_periods_activations_and_labels() {
    assert_snapshot!(imported("engine.amxmi", 1_000_000_000));
}

#[test]
fn a_benchmark_of_real_processors_is_in_seconds_and_has_types_that_some_cannot_run() {
    let text = "@HYPERPERIOD 0.0009\n@COMMUN_QUANT 0 {\n0 4E3\n}\n@TASK_GRAPH 0\n{\nPERIOD 0.0009
        TASK src TYPE 45 host 0\r\nTASK filt-r TYPE 3 HOST 1\nARC a FROM src to filt-r TYPE 0 }
        @PROC 0 {\n# price buffered\n33 1\n#-----\n# type version valid task_time preempt_time
        # Text Processing\n3 0 0 0 150E-6\n45 0 1 1e-05 1e-6\n}
        @PROC 1 {\n# type version valid task_time preempt_time
        3 0 0 5 1e-6\n3 1 1 0.0005 1e-6\n45 0 1 1e-05 1e-6\n}";
    let toml = toml_of("a.tgff", text);
    assert!(toml.contains("a unit of their time is a second"), "{toml}");
    assert!(toml.contains("name = \"src\"\nperiod_us = 900\ncycles = 10000\n"), "{toml}");
    assert!(toml.contains("name = \"filt_r\"\ncycles = 500000\n"), "{toml}");
    assert!(toml.contains("slot_bytes = 4000\n"), "{toml}");
    let told = [
        "`@HYPERPERIOD` has no meaning here",
        "host of a TASK has no meaning here",
        "`filt-r` is called `filt_r` here",
        "HOST of a TASK has no meaning here",
        "the times of `@PROC 0` are left out",
        "`preempt_time` of `@PROC 1` left out",
    ];
    assert_eq!(warnings("a.tgff", text), told);
    build(&toml, &[]).unwrap();
}

#[test]
fn tables_of_tgff_need_no_names_of_columns() {
    let graph =
        "@TASK_GRAPH 0 { APERIODIC\nTASK a TYPE 0\nTASK b TYPE 1\nARC x FROM a TO b TYPE 2\n}\n";
    for (table, cycles) in [
        ("@PE 0 {\n5\n0 0 3.5\n1 0 4\n}", "3500"),
        ("@PE 0 {\n0 7\n1 4\n}", "7000"),
        ("@COMMUN 0 {\n# type version exec_time\n0 0 34\n1 0 2\n}", "34000"),
        ("@PE 0 {\n# type version e-time\n0 0 3\n1 0 2\n}\n@LINK 0 {\n0 0 1\n1 0 1\n}", "3000"),
    ] {
        let toml = toml_of("a.tgff", &format!("{graph}{table}"));
        assert!(toml.contains(&format!("name = \"a\"\ncycles = {cycles}\n")), "{table}: {toml}");
    }
    let bits = "@COMMUN_QUANT 0 {\n# type bits\n2 65\n}\n@PE 0 {\n0 7\n1 4\n}";
    assert!(toml_of("a.tgff", &format!("{graph}{bits}")).contains("slot_bytes = 9\n"));
    let told = warnings("a.tgff", &format!("{graph}{}", bits.replace("2 65", "3 65")));
    let size = "no table has the size of arcs of type 2";
    assert_eq!(told, ["a graph without PERIOD begins again as soon as it can", size]);
}

#[test]
fn every_kind_of_bad_tgff_is_refused_in_words() {
    for (from, to, words) in [
        ("TASK_GRAPH 0 {", "TASK_GRAPH 0", "`PERIOD` is in no block"),
        ("@TASK_GRAPH 0 {", "{", "this brace opens no block"),
        ("PERIOD 300", "PERIOD 300 }", "`TASK` is in no block"),
        ("PERIOD 300", "PERIOD -1", "`-1` is not a number above 0"),
        ("PERIOD 300", "PERIOD", "this PERIOD has no number"),
        ("PERIOD 300", "PERIOD 1e9\nPERIODIC", "write `APERIODIC`"),
        ("PERIOD 300", "PERIOD 1e10", "`period_us` must be a number from 1 to 1e9"),
        ("src\tTYPE 0", "src\tTYPE x", "`x` is not a whole number from 0 up"),
        ("src\tTYPE 0", "src\tTYPE 9", "no table has the time of type 9"),
        ("src\tTYPE 0", "src", "this TASK has no TYPE"),
        ("TASK left", "TASK src", "two tasks are called `src`"),
        ("FROM src", "FROM scr", "write `src`"),
        ("FROM src", "OF src", "this ARC has no FROM"),
        ("20.25", "1e20", "`cycles` must be a whole number"),
        (
            "exec_time  power\n  0    0        20.25",
            "power\n 0 0 2",
            "no table has the time of type 2",
        ),
        ("  3  1.5\n}", "  3  1.5", "this block has no end"),
    ] {
        let told = errors("camera.tgff", from, to);
        assert!(told.contains(words), "{to}: {told}");
        assert!(told.contains("camera.tgff:"), "{to}: {told}");
    }
    assert!(refused("a.tgff", "").contains("the file has no graph"));
    assert!(refused("a.tgff", "@TASK_GRAPH 0 { }").contains("the graph has no node"));
}

#[test]
fn a_model_in_several_files_is_one_and_each_is_told_of_at_its_lines() {
    let whole = include_str!("files/engine.amxmi");
    let (head, rest) = whole.split_once("  <stimuliModel>").unwrap();
    let files = [
        ("engine.amxmi", format!("{head}</am:Amalthea>")),
        (
            "times.amxmi",
            format!("{}  <stimuliModel>{rest}", &whole[..whole.find("  <common").unwrap()]),
        ),
    ];
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    let (toml, told) = together(&files, &Options::default()).unwrap();
    assert_eq!(toml, toml_of("engine.amxmi", whole));
    let (last, warning) = told.last().unwrap();
    assert_eq!((*last, warning.message.as_str()), (1, "`EventStimulus` has no meaning here"));
    let at = warning.labels[0].offset();
    assert!(files[1].1[at..].starts_with(b"<stimuli xsi:type=\"am:EventStimulus\""));
    let alone = together(&files[..1], &Options::default()).unwrap_err();
    assert!(
        alone.iter().any(|(_, problem)| problem.message == "no stimulus is called `Timer 5ms`")
    );
    let cut = [files[0], ("times.amxmi", &files[1].1[..300])];
    let told = together(&cut, &Options::default()).unwrap_err();
    assert_eq!((told[0].0, told[0].1.message.as_str()), (1, "this is not XML"));
}

#[test]
fn models_of_older_versions_of_app4mc_are_read_as_those_of_today() {
    let text = "<xmi:XMI xmlns:xmi='http://www.omg.org/XMI'><am:Amalthea
        xmlns:am='http://amalthea.itea2.org/model/0.8.2'
        xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><swModel>
        <tasks xmi:id='_t' name='T' stimuli='_p'><callGraph>
          <graphEntries xsi:type='am:CallSequence'><calls xsi:type='am:TaskRunnableCall'
            runnable='_r'/><calls xsi:type='am:TaskRunnableCall' runnable='a.b.Q?type=Runnable'/>
          </graphEntries></callGraph></tasks>
        <runnables xmi:id='_r' name='R'><runnableItems xsi:type='am:RunnableInstructions'>
          <default xsi:type='am:InstructionsDeviation'><deviation>
            <lowerBound xsi:type='am:LongObject' value='100'/>
            <upperBound xsi:type='am:LongObject' value='300'/></deviation></default>
          </runnableItems></runnables>
        <runnables name='Q'><activityGraph><items xsi:type='am:ExecutionNeed'>
          <default key='Instructions'><value xsi:type='am:NeedConstant' value='44'/></default>
          </items></activityGraph></runnables></swModel>
        <stimuliModel><stimuli xsi:type='am:Periodic' xmi:id='_p' name='P'>
          <recurrence value='2' unit='s'/></stimuli></stimuliModel></am:Amalthea></xmi:XMI>";
    let toml = toml_of("a.amxmi", text);
    assert!(toml.contains("name = \"T\"\nperiod_us = 2000000\ncycles = 244\n"), "{toml}");
    assert_eq!(warnings("a.amxmi", text), ["ticks that vary are always their mean"]);
}

#[test]
fn tasks_that_read_what_each_other_write_go_on_for_ever() {
    let task = |name: &str, ms: u32, reads: &str, writes: &str| {
        format!(
            "<tasks name='{name}' stimuli='s{ms}'><activityGraph>
               <items xsi:type='am:LabelAccess' data='{reads}' access='read'/>
               <items xsi:type='am:Ticks'><default value='900000'/></items>
               <items xsi:type='am:LabelAccess' data='{writes}' access='write'/>
             </activityGraph></tasks>"
        )
    };
    let stimulus = |ms: u32| {
        format!(
            "<stimuli xsi:type='am:PeriodicStimulus' name='s{ms}'>\
             <recurrence value='{ms}' unit='ms'/></stimuli>"
        )
    };
    let text = format!(
        "<am:Amalthea xmlns:am='am' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>
         <swModel>{}{}</swModel><stimuliModel>{}{}</stimuliModel></am:Amalthea>",
        task("a", 4, "y", "x"),
        task("b", 6, "x", "y"),
        stimulus(4),
        stimulus(6)
    );
    let toml = toml_of("a.amxmi", &text);
    // Of 12 ms: three of a, two of b; the first of each goes on with what was there before.
    let channel = "from = \"a.to_b\"\nto = \"b.from_a\"\nslots = 14\nslot_bytes = 1\ninitial = 4\n\
                   produce = 2\nconsume = 3\n";
    assert!(toml.contains(channel), "{toml}");
    let back = "initial = 4\nproduce = 3\nconsume = 2\n";
    assert!(toml.contains(back), "{toml}");
    build(&toml, &[]).unwrap();
    let odd =
        text.replace("name='s6'><recurrence value='6'", "name='s6'><recurrence value='6.000001'");
    let told = warnings("a.amxmi", &odd);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("the labels from `"), "{told:?}");
}

#[test]
fn every_kind_of_bad_model_is_refused_in_words() {
    for (from, to, words) in [
        ("<am:Amalthea ", "<am:Amalthee ", "this is not XML"),
        ("</am:Amalthea>", "", "this is not XML"),
        ("runnable=\"Filter?", "runnable=\"Filtre?", "write `Filter`"),
        ("runnable=\"Filter?", "runnable=\"%?", "no runnable is called `%`"),
        ("Timer%205ms?", "Timer%206ms?", "write `Timer 5ms`"),
        ("<recurrence value=\"5\" unit=\"ms\"/>", "", "`Timer 5ms` has no period"),
        ("value=\"5\" unit=\"ms\"", "value=\"5\" unit=\"h\"", "`Timer 5ms` has no period"),
        ("value=\"5\" unit=\"ms\"", "value=\"-5\" unit=\"ms\"", "`Timer 5ms` has no period"),
        ("value=\"2000\"", "value=\"many\"", "these ticks have no number"),
        ("value=\"2000\"", "value=\"1e30\"", "`Sense 5ms` computes too long"),
        (
            "am:SemaphoreAccess",
            "am:RunnableCall\" runnable=\"ReadPedal",
            "`ReadPedal` calls itself",
        ),
    ] {
        let told = errors("engine.amxmi", from, to);
        assert!(told.contains(words), "{to}: {told}");
    }
    assert!(refused("a.amxmi", "<sdf3/>").contains("not a model of APP4MC: its root is <sdf3>"));
    assert!(refused("a.amxmi", "<Amalthea/>").contains("the model has no task that is activated"));
    let deep = format!(
        "<Amalthea xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><swModel>\
         <tasks name='t'><callGraph>{}{}</callGraph></tasks></swModel></Amalthea>",
        "<items xsi:type='am:Group'>".repeat(200),
        "</items>".repeat(200)
    );
    assert!(refused("a.amxmi", &deep).contains("this is nested too deep"));
}
