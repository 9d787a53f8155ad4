// SPDX-License-Identifier: Apache-2.0
//! Graphs in DOT, the language of Graphviz: <https://graphviz.org/doc/info/lang.html>.

mod lexer;
mod parser;

use super::draft::Draft;
use super::graph;
use super::notes::Notes;

/// Reads a whole file.
pub(super) fn read(stem: &str, text: &str, notes: &mut Notes) -> Option<Draft> {
    let drawn =
        lexer::tokens(text).and_then(parser::parse).map_err(|problem| notes.refuse(problem));
    let source = "Made from a graph in DOT.";
    graph::draft(stem, &drawn.ok()?, source, notes)
}
