// SPDX-License-Identifier: Apache-2.0
//! What is drawn of an application, and that Graphviz takes it.

use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

use crate::common::{RADIO, build, radio_with};
use insta::assert_snapshot;
use proptest::prelude::*;
use whimbrel_model::dot;

const SYNTHETIC: &str = r#"
[app]
name = "rates"
description = 'a "quoted" \ text'

[[task]]
name = "source"
period_us = 62.5
cycles = { arm9 = 1000, dsp = 200 }

[[task]]
name = "sink"
core = 3
cycles = 40

[[channel]]
from = "source.out"
to = "sink.in"
slot_bytes = 8
produce = 3
consume = 2
initial = 4

[[channel]]
from = "sink.back"
to = "source.back"
slot_bytes = 8
produce = 2
consume = 3
initial = 3
"#;

/// Takes a text apart as the grammar of DOT has it: words, quoted texts, and single characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = if first == '"' {
            let mut escaped = true;
            let close = rest.char_indices().find(|(_, c)| {
                let closes = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                closes
            });
            close.expect("an open quote").0 + 1
        } else if first.is_alphanumeric() {
            rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())
        } else if rest.starts_with("->") {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(rest[..end].to_owned());
        rest = rest[end..].trim_start();
    }
    tokens
}

/// Checks `digraph "name" { … }` with statements `id [ -> id ] [ "[" id = value, … "]" ]` and
/// `id = value`; gives the number of nodes and of arrows.
fn check(text: &str) -> (usize, usize) {
    let all = tokens(text);
    let value = |token: &str| token.starts_with('"') || token.chars().all(char::is_alphanumeric);
    assert_eq!((all[0].as_str(), all[2].as_str()), ("digraph", "{"), "{text}");
    let (mut at, mut nodes, mut arrows) = (3, 0, 0);
    while all[at] != "}" {
        let name = &all[at];
        assert!(name.chars().all(char::is_alphanumeric), "{name} in {text}");
        match all[at + 1].as_str() {
            "=" => {
                assert!(value(&all[at + 2]), "{text}");
                at += 3;
                continue;
            }
            "->" => {
                arrows += 1;
                at += 3;
            }
            _ => {
                nodes += usize::from(!["graph", "node", "edge"].contains(&name.as_str()));
                at += 1;
            }
        }
        if all[at] != "[" {
            continue;
        }
        while all[at] != "]" {
            assert!(["[", ","].contains(&all[at].as_str()), "{text}");
            assert!(all[at + 2] == "=" && value(&all[at + 3]), "{text}");
            at += 4;
        }
        at += 1;
    }
    assert_eq!(at, all.len() - 1, "{text}");
    (nodes, arrows)
}

/// Lets Graphviz draw it, where it is installed.
fn draw(text: &str) {
    let command =
        Command::new("dot").arg("-Tsvg").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = match command {
        Err(error) if error.kind() == ErrorKind::NotFound => return,
        child => child.unwrap(),
    };
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.starts_with(b"<?xml"), "{text}");
}

#[test]
fn counted_tasks_are_nodes_of_their_own_and_a_mailbox_is_one() {
    let text = dot(&build(RADIO, &[]).unwrap());
    assert_eq!(check(&text), (5, 4 + 4));
    draw(&text);
    assert_snapshot!(text);
}

#[test]
fn rates_initial_messages_cycles_and_periods_are_shown() {
    let text = dot(&build(SYNTHETIC, &[]).unwrap());
    assert_eq!(check(&text), (2, 2));
    draw(&text);
    assert_snapshot!(text);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_description_is_one_text_of_the_graph(description in "[^\\p{Cc}]{0,20}") {
        let quoted = description.replace('\\', "\\\\").replace('"', "\\\"");
        let line = format!("memory = \"128KiB\"\ndescription = \"{quoted}\"");
        let text = dot(&build(&radio_with("memory = \"128KiB\"", &line), &[]).unwrap());
        prop_assert_eq!(check(&text), (5, 8));
    }
}
