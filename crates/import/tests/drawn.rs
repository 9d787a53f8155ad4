// SPDX-License-Identifier: Apache-2.0
//! Graphs in GraphML and DOT as applications, and what a person is told of them.

use insta::assert_snapshot;
use whimbrel_import::Options;

use crate::common::{import as application, shown};
use crate::import::{errors, imported, refused};

fn toml_of(path: &str, text: &str) -> String {
    let imported = application(path, text, &Options::default());
    imported.unwrap_or_else(|problems| panic!("{}", shown(path, text, problems))).toml
}

#[test]
fn a_graph_that_networkx_wrote_is_an_application() {
    assert_snapshot!(imported("sobel.graphml", 1));
}

#[test]
fn a_graph_that_graphviz_laid_out_is_an_application() {
    assert_snapshot!(imported("mp3.dot", 1));
}

#[test]
fn nodes_of_yed_are_called_by_their_labels_and_its_groups_are_no_tasks() {
    let text = r#"<graphml xmlns:y="http://www.yworks.com/xml/graphml">
        <key attr.name="cycles" attr.type="int" for="node" id="d1"><default>70</default></key>
        <key attr.name="Beschreibung" attr.type="string" for="graph" id="d0"/>
        <key for="node" id="d6" yfiles.type="nodegraphics"/>
        <graph edgedefault="directed" id="G"><data key="d0" xml:space="preserve"/>
        <node id="n0" yfiles.foldertype="group"><data key="d6"/><graph id="n0:">
          <node id="n0::n0"><data key="d1">90</data>
            <data key="d6"><y:ShapeNode><y:Geometry height="30"/>
              <y:NodeLabel alignment="center">read er<y:LabelModel/></y:NodeLabel></y:ShapeNode>
            </data></node></graph></node>
        <node id="n1"><data key="d6"><y:ShapeNode/></data></node>
        <edge id="e0" source="n0::n0" target="n1"/>
        </graph><data key="d6"><y:Resources/></data></graphml>"#;
    let toml = toml_of("a.graphml", text);
    assert!(toml.contains("name = \"read_er\"\ncycles = 90\n"), "{toml}");
    assert!(toml.contains("name = \"n1\"\ncycles = 70\n"), "{toml}");
    assert!(toml.contains("from = \"read_er.to_n1\"\nto = \"n1.from_read_er\""), "{toml}");
}

#[test]
fn what_dot_can_say_is_understood() {
    let text = "STRICT DIGRAPH { node [cycles=7]; a:out:n -> {b; c [cycles=8]} -> d [tokens=1]
        subgraph s { edge [bytes=9] node [cycles=5] e -> a; e; } a -> b [\"slots\"=\"4\" + \"0\"];
        x = y; graph [rankdir=LR]; }";
    let toml = toml_of("a.gv", text);
    for (name, cycles) in [("a", 7), ("b", 7), ("c", 8), ("d", 7), ("e", 5)] {
        assert!(toml.contains(&format!("name = \"{name}\"\ncycles = {cycles}\n")), "{toml}");
    }
    // A strict graph has one edge from a to b, of which both statements speak.
    assert_eq!(toml.matches("from = \"a.to_b\"").count(), 1, "{toml}");
    assert!(toml.contains("slots = 40\nslot_bytes = 64\ninitial = 1\nclaim = \"start\""), "{toml}");
    assert!(toml.contains("slot_bytes = 9\n"), "{toml}");
}

#[test]
fn a_node_that_stands_twice_in_a_group_has_one_edge() {
    let toml = toml_of("a.dot", "digraph { node [cycles=7] {a {a; b} a} -> c }");
    assert_eq!(toml.matches("[[channel]]").count(), 2, "{toml}");
}

#[test]
fn phases_of_a_drawn_graph_become_scripts() {
    let text = "digraph { a [cycles=\"5,0,2*3\"] a -> b [produce=\"2,2*0,1\"] b [cycles=4] }";
    let toml = toml_of("a.dot", text);
    assert!(toml.contains("{ run = 5 },\n    { send = \"to_b\", count = 2 },\n"), "{toml}");
    let text = "digraph { a [cycles=\"5,1\", working_set=9] }";
    let imported = application("a.dot", text, &Options::default()).unwrap();
    let told = shown("a.dot", text, imported.warnings);
    assert!(told.contains("`working_set` of `a` is left out"), "{told}");
    let told = refused("a.dot", "digraph { a [cycles=\"5,1\", period_us=9] }");
    assert!(told.contains("`a` has a period or `firings`, and phases"), "{told}");
}

#[test]
fn attributes_without_a_meaning_are_told_once() {
    let text = "digraph { a [cycles=1, colour=red, cycle=3]; b [cycles=1, colour=red, shape=box] }";
    let imported = application("a.dot", text, &Options::default()).unwrap();
    assert_snapshot!(shown("a.dot", text, imported.warnings));
}

#[test]
fn every_kind_of_bad_dot_is_refused_in_words() {
    for (text, words) in [
        ("", "it wants `digraph`"),
        ("graph { a -- b }", "the edges of this graph have no direction"),
        ("digraph { a -- b }", "it wants `->`"),
        ("digraph { a -> }", "it wants a node"),
        ("digraph { a [cycles] }", "it wants `=` after an attribute"),
        ("digraph { a [cycles=] }", "it wants a value"),
        ("digraph { a [cycles=1", "the text ends here"),
        ("digraph { a [cycles=1] } digraph {}", "a file has one graph"),
        ("digraph { a = }", "it wants a value"),
        ("digraph { a: }", "it wants a port"),
        ("digraph { \"a\" + b }", "a text in quotes after `+`"),
        ("digraph { \"a }", "this text has no end"),
        ("digraph { a /* }", "this comment has no end"),
        ("digraph { % }", "no word with '%'"),
        ("digraph { }", "the graph has no node"),
        ("digraph { a }", "`a` has no `cycles`"),
        ("digraph { a [cycles=fast] }", "`cycles` must be a whole number from 0 to"),
        ("digraph { a [cycles=1.5] }", "`cycles` must be a whole number from 0 to"),
        ("digraph { a [cycles=1, core=4095] }", "`core` must be a whole number from 0 to 4094"),
        ("digraph { a [cycles=1, priority=-1] }", "`priority` must be a whole number from 0"),
        ("digraph { a [cycles=1, period_us=0] }", "`period_us` must be a number from 1 to 1e9"),
        ("digraph { a [cycles=1] a -> a [rate=0] }", "`rate` must be more than 0"),
        ("digraph { a [cycles=1] a -> a [slots=0] }", "`slots` must be a whole number from 1"),
        ("digraph { a [cycles=1] a -> a [slots=2, tokens=3] }", "would have 2 slots"),
        ("digraph { a [cycles=1] a -> a [rate=1, produce=2] }", "stand side by side"),
        ("digraph { a [cycles=1] a -> a [produce=2] }", "change a `produce` or `consume`"),
        ("digraph { a [cycles=\"1,2\"] a -> a }", "give the channel more `tokens`"),
    ] {
        let told = refused("a.dot", text);
        assert!(told.contains(words), "{text}: {told}");
        assert!(text.is_empty() || told.contains("a.dot:1:"), "{text}: {told}");
    }
    let deep = format!("digraph {}", "{".repeat(100_000));
    assert!(refused("a.dot", &deep).contains("nested too deep"));
    let many: String = (0..300).map(|n| format!("n{n};")).collect();
    let many = format!("digraph {{ node [cycles=1] {{{many}}} -> {{{many}}} }}");
    assert!(refused("a.dot", &many).contains("more than 65536 edges"));
}

#[test]
fn every_kind_of_bad_graphml_is_refused_in_words() {
    for (from, to, words) in [
        ("</graphml>", "", "this is not XML"),
        ("edgedefault=\"directed\"", "edgedefault=\"undirected\"", "this edge has no direction"),
        ("source=\"camera\"", "source=\"kamera\"", "write `camera`"),
        ("<node id=\"split\"", "<node id=\"camera\"", "two nodes have the id `camera`"),
        ("<node id=\"split\"", "<node", "<node> has no `id`"),
        ("<data key=\"d8\">4", "<data key=\"d98\">4", "no <key> has the id `d98`"),
        (">40000<", ">many<", "`cycles` must be a whole number"),
        (">40000<", "> -1 <", "`cycles` must be a whole number"),
        (">16384<", ">-1<", "`working_set` must be a whole number"),
        ("<data key=\"d1\">2000</data>", "", "`split` has no `cycles`"),
        ("<data key=\"d8\">4", "<data key=\"d8\">3", "the rates of"),
        ("<node id=\"split\">", "<hyperedge/><node id=\"split\">", "more than two nodes"),
    ] {
        let told = errors("sobel.graphml", from, to);
        assert!(told.contains(words), "{to}: {told}");
        assert!(told.contains("sobel.graphml:"), "{to}: {told}");
    }
    assert!(refused("a.graphml", "<graphml/>").contains("<graphml> has no <graph>"));
    let deep = "<node id='a'><graph>".repeat(102);
    let end = "</graph></node>".repeat(102);
    let deep = format!("<graphml><graph>{deep}{end}</graph></graphml>");
    assert!(refused("a.graphml", &deep).contains("nested too deep"));
}

#[test]
fn a_place_that_ends_within_a_character_of_a_long_line_is_shown() {
    let dots = format!("<!--{}-->", ".".repeat(3000));
    let key = "<key id=\"d0\" for=\"node\" attr.name=\"cycles\"/>";
    let node = "<node id=\"a\"><data key=\"d0\">&lt;éé</data></node>";
    let graph = format!("<graph edgedefault=\"directed\">{node}</graph>");
    let told = refused("a.graphml", &format!("<graphml>{dots}{key}{graph}{dots}</graphml>"));
    assert!(told.contains("`cycles` must be a whole number"), "{told}");
    assert!(told.contains(">&lt;éé</data>") && told.len() < 2000, "{told}");
    let told = refused("a.xml", &format!("<é:x xmlns:é=\"u\"/>{dots}"));
    assert!(
        told.contains("not an SDF3 file: its root is <x>") && told.contains("<é:x xmlns"),
        "{told}"
    );
    assert!(told.len() < 2000, "{told}");
}

#[test]
fn a_name_that_fills_a_file_is_refused() {
    let long = "n".repeat(256);
    let dot = format!("digraph {{ {long} [cycles=1] }}");
    assert!(refused("a.dot", &dot).contains("the name of a node has more than 255 bytes"));
}
