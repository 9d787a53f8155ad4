// SPDX-License-Identifier: Apache-2.0
//! Graphs in GraphML and DOT as applications, and what a person is told of them.

use std::fs;

use insta::assert_snapshot;
use whimbrel_import::Options;

use crate::common::{import as application, sample_path, shown};
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

/// A graph in GraphML of two nodes and an edge, `head` before its elements.
fn graphml(head: &str, directed: &str, cycles: &str) -> String {
    format!(
        "{head}<graphml><key id='c' for='node' attr.name='cycles' attr.type='int'/>\n<graph \
         edgedefault='undirected'><node id='mic'><data key='c'>{cycles}</data></node>\n<node \
         id='fft'><data key='c'><![CDATA[ 9 ]]></data></node><edge source=' mic' target='fft' \
         directed='{directed}'/></graph></graphml>"
    )
}

#[test]
fn a_direction_is_any_boolean_of_xml_schema() {
    let whole = toml_of("a.graphml", &graphml("", "true", "4"));
    assert!(whole.contains("from = \"mic.to_fft\""), "{whole}");
    for way in ["1", " true ", "\n1\t"] {
        assert_eq!(toml_of("a.graphml", &graphml("", way, "4")), whole, "{way}");
    }
    for way in ["0", "false", " 0"] {
        let told = refused("a.graphml", &graphml("", way, "4"));
        assert!(told.contains("this edge has no direction"), "{told}");
        assert!(told.contains("write `directed=\"true\"` of each edge"), "{told}");
    }
    for way in ["yes", "TRUE", ""] {
        let told = refused("a.graphml", &graphml("", way, "4"));
        assert!(told.contains("`directed` of <edge> must be true or false"), "{told}");
    }
}

#[test]
fn document_types_are_passed_over_and_only_plain_entities_stand_for_their_text() {
    let whole = toml_of("a.graphml", &graphml("", "1", "400"));
    for head in [
        "<!DOCTYPE graphml>",
        "<?xml version='1.0'?>\n<!-- <!DOCTYPE --> <!DOCTYPE graphml SYSTEM 'http://none/a.dtd'>",
        "<!DOCTYPE graphml PUBLIC \"-//x//[\" 'file:///etc/passwd' [ ] >",
        "<!DOCTYPE graphml [<!ELEMENT graphml ANY><!ATTLIST a b CDATA 'a>b]'><?x ]> ?>\n\
         <!-- ]> --><!NOTATION n SYSTEM 'n'><!ENTITY % p SYSTEM 'p'> %p; <!ENTITY e SYSTEM 'e'>]>",
    ] {
        assert_eq!(toml_of("a.graphml", &graphml(head, "1", "400")), whole, "{head}");
    }
    let own = "<!DOCTYPE g [ %é; <!ENTITY four '4&#48;'><!-- x --> <!ENTITY z \"0\" > ]>";
    assert_eq!(toml_of("a.graphml", &graphml(own, "1", "&four;&z;")), whole);
    for entity in ["SYSTEM '/etc/hostname'", "PUBLIC 'a' 'b'", "'&four;'", "'<data/>'"] {
        let head = format!("<!DOCTYPE g [<!ENTITY four '4'><!ENTITY e {entity}>]>");
        let told = refused("a.graphml", &graphml(&head, "1", "&e;"));
        assert!(told.contains("unknown entity reference 'e'"), "{told}");
        assert!(told.contains("write the text that it stands for"), "{told}");
    }
    let lol: String = (1..9)
        .map(|n| format!("<!ENTITY l{n} '{}'>", format!("&l{};", n - 1).repeat(99)))
        .collect();
    let told = refused(
        "a.graphml",
        &graphml(&format!("<!DOCTYPE g [<!ENTITY l0 'l'>{lol}]>"), "1", "&l8;"),
    );
    assert!(told.contains("unknown entity reference 'l8'"), "{told}");
    let head = format!("<!DOCTYPE g [<!ENTITY l '{}'>]>", "1".repeat(1 << 16));
    let told = refused("a.graphml", &graphml(&head, "1", &"&l;".repeat(1 << 9)));
    assert!(told.contains("stand for too much text"), "{told}");
    for open in
        ["<!DOCTYPE", "<!DOCTYPE g [", "<!DOCTYPE g [<!ENTITY a '", "<!DOCTYPE[<!ENTITY a 'b'>]>"]
    {
        let told = refused("a.graphml", open);
        assert!(told.contains("this document type declaration has no end"), "{open}: {told}");
    }
    let sdf3 = fs::read_to_string(sample_path("cd2dat.xml")).unwrap();
    let (first, rest) = sdf3.split_once("?>").unwrap();
    let typed = format!("{first}?><!DOCTYPE sdf3 SYSTEM 'sdf3.dtd'>{rest}");
    assert_eq!(toml_of("cd2dat.xml", &typed), toml_of("cd2dat.xml", &sdf3));
}

#[test]
fn keys_are_found_by_their_ids_and_what_they_are_for() {
    let text = "<g:graphml xmlns:g='urn:g' xmlns:x='urn:x'>
        <g:key id='v' for='node' attr.name='cycles'><g:default>7</g:default></g:key>
        <g:key id='v' for='edge' attr.name='bytes'><g:default>16</g:default></g:key>
        <g:key id='t' for='all' attr.name='tokens'><g:default>2</g:default></g:key>
        <g:key id='core' for='node'/> <g:key id='w' for='edge' attr.name='priority'/>
        <g:graph edgedefault=' directed '><g:node id='a'><g:data key='v'>1e3</g:data>
            <g:data key='w'>3</g:data><x:graph/></g:node>
          <g:node id='b'><g:data key='v'>NaN</g:data><g:data key='core'>1.0E0</g:data>
            <g:port name='p'/></g:node>
          <g:edge source='a' target='b' targetport='p'/>
          <g:edge source='b' target='a'><g:data key='v'>32</g:data></g:edge>
        </g:graph></g:graphml>";
    let toml = toml_of("a.graphml", text);
    assert!(toml.contains("name = \"a\"\npriority = 3\ncycles = 1000\n"), "{toml}");
    assert!(toml.contains("name = \"b\"\ncore = 1\ncycles = 7\n"), "{toml}");
    assert!(toml.contains("slot_bytes = 16\ninitial = 2\n"), "{toml}");
    assert!(toml.contains("slot_bytes = 32\ninitial = 2\n"), "{toml}");
    let told = application("a.graphml", text, &Options::default()).unwrap().warnings;
    let told: Vec<&str> = told.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(told, ["the <key> `w` is not for a node", "ports have no meaning here"]);
}

#[test]
fn what_a_group_has_is_left_out_and_no_edge_ends_at_it() {
    let text = "<graphml><key id='cycles' for='node'/><graph edgedefault='directed'><node id='g'>
        <data key='cycles'>5</data><graph edgedefault='directed'><node id='a'>
        <data key='cycles'>5</data></node></graph></node><edge source='a' target='a'/>
        </graph></graphml>";
    let warnings = application("a.graphml", text, &Options::default()).unwrap().warnings;
    let told = shown("a.graphml", text, warnings);
    assert!(told.contains("`cycles` of a group has no meaning here"), "{told}");
    let told = refused("a.graphml", &text.replace("target='a'", "target='g'"));
    assert!(told.contains("name one of the nodes in this group"), "{told}");
}

#[test]
fn texts_in_other_encodings_are_read_and_shown() {
    let text = graphml("<?xml version='1.0' encoding='UTF-16'?>\r\n", "1", "4").replace("fft", "é");
    let whole = toml_of("a.graphml", &text);
    let wide = |order: fn(u16) -> [u8; 2], mark: &str| -> Vec<u8> {
        format!("{mark}{text}").encode_utf16().flat_map(order).collect()
    };
    let latin = |text: &str| text.chars().map(|c| u8::try_from(c).unwrap()).collect::<Vec<u8>>();
    for bytes in [
        wide(u16::to_le_bytes, "\u{feff}"),
        wide(u16::to_be_bytes, "\u{feff}"),
        wide(u16::to_le_bytes, ""),
        wide(u16::to_be_bytes, ""),
        format!("\u{feff}{text}").into_bytes(),
        latin(&text.replace("UTF-16", "ISO-8859-1")),
    ] {
        assert_eq!(application("a.graphml", &bytes, &Options::default()).unwrap().toml, whole);
        let cut = application("a.graphml", &bytes[..bytes.len() - 4], &Options::default());
        assert!(cut.unwrap_err()[0].message.contains("this is not XML"));
    }
    let odd = [wide(u16::to_le_bytes, "\u{feff}"), vec![b'x']].concat();
    let told = application("a.graphml", &odd, &Options::default()).unwrap_err();
    assert!(told[0].message.contains("this is not UTF-8"));
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
