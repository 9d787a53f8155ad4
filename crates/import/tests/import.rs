// SPDX-License-Identifier: Apache-2.0
//! Files of rt-app and SDF3 as applications, and what a person is told of them.

use std::fs;

use crate::common::{build, import as application, plan_of, sample_path, shown};
use insta::assert_snapshot;
use num_rational::Ratio;
use proptest::prelude::*;
use whimbrel_import::{Format, Options};
use whimbrel_model::sdf::{Graph, Task};

const FILES: [&str; 10] = [
    "player.json",
    "periodic.json",
    "every.json",
    "cd2dat.xml",
    "h263.xml",
    "csdf.xml",
    "sobel.graphml",
    "mp3.dot",
    "camera.tgff",
    "engine.amxmi",
];

fn sample(file: &str) -> String {
    fs::read_to_string(sample_path(file)).unwrap()
}

/// The text of the application, and the warnings as a person sees them.
pub fn imported(file: &str, hz: u64) -> String {
    let text = sample(file);
    let imported = application(file, &text, &Options { hz, ..Options::default() }).unwrap();
    format!("{}\n{}", imported.toml, shown(file, &text, imported.warnings))
}

/// The errors of a sample with one text of it replaced by another, which must be there.
pub fn errors(file: &str, from: &str, to: &str) -> String {
    let text = sample(file);
    assert!(text.contains(from), "{from}");
    refused(file, &text.replacen(from, to, 1))
}

pub fn refused(file: &str, text: &str) -> String {
    shown(file, text, application(file, text, &Options::default()).expect_err("must be refused"))
}

#[test]
fn a_graph_keeps_its_rates() {
    assert_snapshot!(imported("cd2dat.xml", 1));
}

#[test]
fn a_graph_keeps_its_tokens_buffers_and_times_by_type_of_processor() {
    assert_snapshot!(imported("h263.xml", 1));
}

#[test]
fn what_is_made_of_every_sample_is_an_application_with_a_plan() {
    for file in FILES {
        let toml = application(file, sample(file), &Options::default()).unwrap().toml;
        let app = build(&toml, &[]).unwrap_or_else(|problems| {
            panic!("{file}: {}", shown("app.toml", &toml, problems));
        });
        assert!(app.synthetic && app.models_compute(), "{file}");
        let plan = plan_of(&toml);
        assert_eq!(plan.tasks.len(), app.tasks.len(), "{file}");
        assert!(plan.tasks.iter().all(|t| t.work.is_some() || t.script > 0), "{file}");
    }
}

#[test]
fn a_converter_of_the_literature_is_as_fast_as_its_slowest_stage_with_all_its_firings() {
    // Bhattacharyya, Murthy and Lee 1999: 147, 147, 98, 28, 32 and 160 firings.
    let text = sample("cd2dat.xml");
    let toml = application("cd2dat.xml", &text, &Options::default()).unwrap().toml;
    let cycles = |task: &whimbrel_model::Task| {
        task.work.as_ref().unwrap().cycles.on("any").expect("the same on every kind")
    };
    let app = build(&toml, &[]).unwrap();
    let (graph, _) = Graph::of(&app, |task| Task { time: cycles(task), period: 0 });
    assert_eq!(graph.repetitions(), Ok(vec![147, 147, 98, 28, 32, 160]));
    // 147 firings of 20 cycles in the first stage, 98 of 30 in the second: more than in others.
    assert_eq!(graph.periods().unwrap()[1], Ratio::new(20, 1));
    assert_eq!(graph.periods().unwrap()[5], Ratio::new(147 * 20, 160));
}

#[test]
fn what_is_unknown_in_a_graph_is_shown_where_it_stands() {
    assert_snapshot!(errors("cd2dat.xml", "srcActor=\"s4\"", "srcActor=\"S4\" tokens=\"2\""));
}

#[test]
fn phases_are_of_cyclo_static_graphs_alone() {
    assert_snapshot!(errors("cd2dat.xml", "rate=\"8\"", "rate=\"8,0\""));
    let told = errors("cd2dat.xml", "type=\"sdf\"", "type=\"fsmsadf\"");
    assert!(told.contains("graphs of type `fsmsadf` are not supported"), "{told}");
    let told = errors("cd2dat.xml", "<sdfProperties>", "<csdf/><sdfProperties>");
    assert!(told.contains("<sdf> and <csdf> stand side by side"), "{told}");
}

#[test]
fn actors_with_phases_become_scripts() {
    assert_snapshot!(imported("csdf.xml", 1));
}

#[test]
fn the_room_of_a_buffer_goes_back_to_a_script() {
    let end = "</csdfProperties>";
    let size = "<channelProperties channel='alpha'><bufferSize sz='9'/></channelProperties>";
    let text = sample("csdf.xml").replace(end, &format!("{size}{end}"));
    let text = text.replace("'d1'", "'d_1'").replace("rate='1,1'", "rate='2*1'");
    assert_snapshot!(application("csdf.xml", &text, &Options::default()).unwrap().toml);
}

#[test]
fn overlapping_firings_with_phases_take_turns() {
    let text = sample("csdf.xml").replace("name='d2'", "name='d2' size='4'");
    let text = text.replace(
        "dstActor='b' dstPort='p2' initialTokens='1'",
        "dstActor='b' dstPort='p2' initialTokens='2'",
    );
    let imported = application("csdf.xml", &text, &Options::default()).unwrap();
    assert_snapshot!(format!("{}\n{}", imported.toml, shown("csdf.xml", &text, imported.warnings)));
}

#[test]
fn the_state_of_an_actor_with_phases_is_left_out_and_that_is_said() {
    let time = "<executionTime time='2,2'/>";
    let state = "<memory><stateSize max='80'/></memory>";
    let text = sample("csdf.xml").replace(time, &format!("{time}{state}"));
    let imported = application("csdf.xml", &text, &Options::default()).unwrap();
    assert!(!imported.toml.contains("working_set"), "{}", imported.toml);
    let told = shown("csdf.xml", &text, imported.warnings);
    assert!(told.contains("`stateSize` of `b` is left out"), "{told}");
}

#[test]
fn channels_that_need_more_slots_than_there_are_have_the_most_with_a_warning() {
    let text = sample("csdf.xml").replace("rate='6,6'", "rate='6000,6000'");
    let imported = application("csdf.xml", &text, &Options::default()).unwrap();
    assert!(imported.toml.contains("slots = 32768\n"), "{}", imported.toml);
    let told = shown("csdf.xml", &text, imported.warnings);
    assert!(told.contains("`alpha` has 32768 slots, the maximum"), "{told}");
    let more = sample("csdf.xml").replace("rate='6,6'", "rate='32000,32000'");
    assert!(refused("csdf.xml", &more).contains("`alpha` would have"));
}

#[test]
fn a_cyclo_static_graph_that_stops_says_where() {
    assert_snapshot!(errors("csdf.xml", "dstPort='p2' initialTokens='1'", "dstPort='p2'"));
}

#[test]
fn every_kind_of_bad_phases_is_refused_in_words() {
    for (from, to, words) in [
        ("rate='3,1'", "rate='0,0'", "at least one of them more than 0"),
        ("rate='3,1'", "rate='3,,1'", "for example `1,0,3*2`"),
        ("rate='3,1'", "rate='3,x*1'", "for example `1,0,3*2`"),
        ("rate='3,1'", "rate='3,0*1'", "for example `1,0,3*2`"),
        ("rate='3,1'", "rate='32769,1'", "from 1 to 32768"),
        ("rate='3,1'", "rate='1000000*2'", "for example `1,0,3*2`"),
        ("time='1,3'", "time='1,-3'", "`time` of <executionTime> must be"),
        ("rate='1,1'", "rate='1,2'", "the rates of `d1` cannot be kept up"),
        ("name='p1' rate='2,4'", "name='p1' rate='32768*2,1'", "65536 phases"),
    ] {
        let told = errors("csdf.xml", from, to);
        assert!(told.contains(words), "{to}: {told}");
    }
    let long = sample("csdf.xml").replace("rate='4,2'", "rate='32749,32719'");
    let told = refused("csdf.xml", &long.replace("rate='6,6'", "rate='32713,32707'"));
    assert!(told.contains("an iteration has more than 1048576 firings"), "{told}");
}

#[test]
fn every_kind_of_bad_graph_is_refused_in_words() {
    for (from, to, words) in [
        ("</sdf3>", "", "this is not XML"),
        ("<sdf3 type", "<sdf4 type", "this is not XML"),
        ("rate=\"7\"", "rate=\"0\"", "`rate` of <port> must be from 1 to 32768"),
        ("type=\"out\"", "type=\"both\"", "`type` of <port> must be in or out"),
        ("type=\"out\" rate=\"1\"", "type=\"in\" rate=\"1\"", "is not of type `out`"),
        ("srcActor=\"s1\"", "srcActor=\"cd\"", "has a second channel"),
        ("dstPort=\"in\"", "dstPort=\"inn\"", "no port is called `inn`"),
        ("name=\"s2\"", "name=\"s1\"", "two are called `s1`"),
        ("name=\"b\"", "name=\"a\"", "two are called `a`"),
        ("<port name=\"in\" type=\"in\" rate=\"3\"/>", "", "no port is called `in`"),
        ("<channel name=\"e\"", "<chanel name=\"e\"", "write `channel`"),
        ("dstPort=\"in\"/>", "dstPort=\"in\" initialTokens=\"x\"/>", "`initialTokens`"),
        ("dstPort=\"in\"/>", "dstPort=\"in\" initialTokens=\"40000\"/>", "would have 41029 slots"),
        ("<executionTime time=\"90\"/>", "", "<processor> has no <executionTime>"),
        ("time=\"90\"", "time=\"-90\"", "`time` of <executionTime> must be"),
        ("time=\"90\"", "time=\"281474976710657\"", "`time` of <executionTime> must be"),
        ("actor=\"s3\"", "actor=\"s5\"", "no actor is called `s5`"),
        ("<actorProperties actor=\"s3\">", "<actorProperties actor=\"s2\">", "two times on `p`"),
        ("<applicationGraph name=\"cd2dat\">", "<applicationGraph>words", "takes no text"),
    ] {
        let told = errors("cd2dat.xml", from, to);
        assert!(told.contains(words), "{to}: {told}");
    }
    assert!(refused("a.xml", "<sdf3 type='sdf'/>").contains("has no <applicationGraph>"));
    assert!(refused("a.xml", "<graph/>").contains("not an SDF3 file: its root is <graph>"));
    let empty = "<sdf3><applicationGraph><sdf/><sdfProperties/></applicationGraph></sdf3>";
    assert!(refused("a.xml", empty).contains("the graph has no actor"));
    let none = "<sdf3><applicationGraph/></sdf3>";
    assert!(refused("a.xml", none).contains("<applicationGraph> has no <sdf>"));
}

/// Two actors, of which the first fires as often at once as the buffer between them has room for.
fn buffered(rate: u32, size: &str) -> String {
    format!(
        "<sdf3><applicationGraph><sdf>\
         <actor name='a'><port name='o' type='out' rate='{rate}'/></actor>\
         <actor name='b'><port name='i' type='in' rate='{rate}'/></actor>\
         <channel name='c' srcActor='a' srcPort='o' dstActor='b' dstPort='i'/></sdf>\
         <sdfProperties>\
         <actorProperties actor='a'><processor type='p' default='true'><executionTime time='9'/>\
         </processor></actorProperties>\
         <actorProperties actor='b'><processor type='p' default='true'><executionTime time='9'/>\
         </processor></actorProperties>\
         <channelProperties channel='c'>{size}</channelProperties>\
         </sdfProperties></applicationGraph></sdf3>"
    )
}

#[test]
fn graphs_whose_actors_fire_too_often_at_once_are_refused_in_words() {
    let told = |rate, size| {
        let text = buffered(rate, size);
        application("a.xml", &text, &Options::default())
            .map_or_else(|problems| shown("a.xml", &text, problems), |imported| imported.toml)
    };
    assert!(told(1, "<bufferSize sz='3'/>").contains("\"a_2\""));
    assert!(told(1, "").contains("the number of simultaneous firings of `a` is unlimited"));
    assert!(told(1, "<bufferSize sz='40000'/>").contains("`c` would have 40000 slots"));
    assert!(told(1, "<bufferSize sz='9000'/>").contains("has up to 9000 simultaneous firings"));
}

#[test]
fn the_end_of_the_name_of_a_file_tells_its_format() {
    assert_eq!(Format::of("a/b.c/graph.xml"), Some(Format::Xml));
    assert_eq!(Format::of("graph.graphml"), Some(Format::Xml));
    assert_eq!(Format::of("graph.gv"), Some(Format::Dot));
    assert_eq!(Format::of("load.json"), Some(Format::RtApp));
    assert_eq!(Format::of("app.toml"), None);
    assert!(refused("app.toml", "").contains("of no format that is known"));
}

#[test]
fn nesting_without_an_end_is_refused() {
    assert!(refused("a.json", &"[".repeat(100_000)).contains("nested too deep"));
    let hidden = format!("{{\"a\" : /* \" ]]] */ {}", "[".repeat(100_000));
    assert!(refused("a.json", &hidden).contains("nested too deep"));
    assert!(refused("a.xml", &"<a>".repeat(100_000)).contains("this is not XML"));
}

#[test]
fn files_that_are_compressed_are_refused_in_words() {
    for path in ["a.json", "a.xml", "a.amxmi", "a.tgff", "a.pftrace"] {
        for mark in [&b"\x1f\x8b\x08"[..], b"PK\x03\x04", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd"] {
            let told = application(path, mark, &Options::default()).unwrap_err();
            assert_eq!(told[0].message, "this file is compressed", "{path}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_refused_or_read_but_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        open in 0..4_usize,
    ) {
        let (path, start) = [
            ("a.json", "{\"tasks\":"),
            ("a.xml", "<sdf3>"),
            ("a.graphml", "<graphml><graph>"),
            ("a.dot", "digraph {"),
        ][open];
        for text in [String::from_utf8_lossy(&bytes).into_owned(),
                     format!("{start}{}", String::from_utf8_lossy(&bytes))] {
            if let Err(problems) = application(path, &text, &Options::default()) {
                prop_assert!(!shown(path, &text, problems).is_empty());
            }
        }
    }

    #[test]
    fn a_damaged_file_is_refused_or_read_but_never_panics(
        file in 0..FILES.len(), at in any::<prop::sample::Index>(), cut in 0..60_usize,
        insert in "[a-z0-9_ .:;+#\"\\[\\]{}<>/=*,é-]{0,8}"
    ) {
        let text = sample(FILES[file]);
        let at = at.index(text.len());
        let end = (at + cut).min(text.len());
        let text = format!("{}{insert}{}", &text[..at], &text[end..]);
        match application(FILES[file], &text, &Options::default()) {
            Ok(imported) => prop_assert!(imported.toml.contains("[app]")),
            Err(problems) => prop_assert!(!shown(FILES[file], &text, problems).is_empty()),
        }
    }
}
