// SPDX-License-Identifier: Apache-2.0
//! XML read strictly: each element says which attributes and children it takes.

mod doctype;

use std::borrow::Cow;
use std::str::FromStr;

use roxmltree::{Document, Error, Node, ParsingOptions};

use super::notes::Notes;
use whimbrel_model::{Problem, Span, nearest};

/// An element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'a, 'x> {
    node: Node<'a, 'x>,
    /// Where places of its document are counted from.
    base: usize,
}

/// The text of a document whose elements can be read: without its document type declaration.
pub(super) fn document(text: &str) -> Result<Cow<'_, str>, Problem> {
    Ok(doctype::passed_over(text)?.map_or(Cow::Borrowed(text), Cow::Owned))
}

/// The elements of such a text.
pub(super) fn parse(text: &str) -> Result<Document<'_>, Problem> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|error| {
        let at = place(text, error.pos());
        let help = match &error {
            Error::UnknownEntityReference(..) => {
                "write the text that it stands for: entities of entities and of other files are \
                 not read"
            }
            Error::UnknownNamespace(..) => {
                "declare the prefix, for example by `xmlns:y=\"urn:y\"` of the root"
            }
            _ => "correct the text there, or take another file",
        };
        Problem::new("this is not XML").help(help).at(at, error.to_string())
    })
}

/// The byte of a line and a column, which counts characters from 1.
fn place(text: &str, at: roxmltree::TextPos) -> Span {
    let line = text.split_inclusive('\n').take(at.row.saturating_sub(1) as usize).map(str::len);
    let start = line.sum::<usize>().min(text.len());
    let column = text[start..].char_indices().nth(at.col.saturating_sub(1) as usize);
    let start = column.map_or(text.len(), |(column, _)| start + column);
    start..start
}

impl<'a, 'x> Element<'a, 'x> {
    /// The element of a whole document.
    pub fn root(document: &'a Document<'x>, base: usize) -> Self {
        Self { node: document.root_element(), base }
    }

    fn placed(self, at: Span) -> Span {
        at.start + self.base..at.end + self.base
    }

    /// Its name.
    pub fn name(self) -> &'a str {
        self.node.tag_name().name()
    }

    /// Where its name stands.
    pub fn at(self) -> Span {
        let start = self.node.range().start;
        let tag = &self.node.document().input_text()[start..];
        let end = tag.find(|sign: char| sign.is_whitespace() || "/>".contains(sign));
        self.placed(start..start + end.unwrap_or(tag.len()))
    }

    /// Notes every attribute, child and text that is not of these; what is in `ignored` may stand
    /// there and is told once.
    pub fn takes(
        self,
        attributes: &[&str],
        children: &[&str],
        ignored: &[&str],
        notes: &mut Notes,
    ) {
        let own = self.node.attributes().filter(|attribute| attribute.namespace().is_none());
        for attribute in own.filter(|attribute| !attributes.contains(&attribute.name())) {
            let at = self.placed(attribute.range());
            self.unexpected("attribute", attribute.name(), at, attributes, notes);
        }
        for child in self.elements() {
            if ignored.contains(&child.name()) {
                let warning = Problem::new(format!("<{}> has no meaning here", child.name()));
                notes.warn(warning.at(child.at(), "left out"));
            } else if !children.contains(&child.name()) {
                self.unexpected("element", child.name(), child.at(), children, notes);
            }
        }
        for text in self.node.children().filter(Node::is_text) {
            if text.text().is_some_and(|text| !text.trim().is_empty()) {
                let problem = Problem::new(format!("<{}> takes no text", self.name()))
                    .help("remove this text");
                notes.refuse(problem.at(self.placed(text.range()), "this text"));
            }
        }
    }

    fn unexpected(self, what: &str, name: &str, at: Span, known: &[&str], notes: &mut Notes) {
        let help = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("write `{meant}`"),
            None if known.is_empty() => format!("it takes no {what}"),
            None => format!("it takes {}", known.join(", ")),
        };
        let problem = Problem::new(format!("<{}> has no {what} `{name}`", self.name()));
        notes.refuse(problem.at(at, "unknown").help(help));
    }

    /// Its children that are elements.
    pub fn elements(self) -> impl Iterator<Item = Self> {
        let children = self.node.children().filter(Node::is_element);
        children.map(move |node| Self { node, ..self })
    }

    /// Its children of a name, but for those of another vocabulary.
    pub fn each(self, name: &'static str) -> impl Iterator<Item = Self> {
        let own = self.namespace();
        let foreign =
            move |child: Self| own.is_some() && child.namespace().is_some_and(|of| own != Some(of));
        self.elements().filter(move |child| child.name() == name && !foreign(*child))
    }

    fn namespace(self) -> Option<&'a str> {
        self.node.tag_name().namespace()
    }

    /// Its child of a name, of which there may be one.
    pub fn only(self, name: &'static str, notes: &mut Notes) -> Option<Self> {
        let mut all = self.each(name);
        let first = all.next();
        for more in all {
            let problem = Problem::new(format!("<{}> has a second <{name}>", self.name()));
            notes.refuse(problem.at(more.at(), "this one").help("keep one"));
        }
        first
    }

    /// The text in it, without space around, and its place; where it has none, its own.
    pub fn content(self) -> (String, Span) {
        let texts: Vec<Node<'_, '_>> = self.node.children().filter(Node::is_text).collect();
        let text: String = texts.iter().filter_map(Node::text).collect();
        let (trimmed, start) = (text.trim(), text.len() - text.trim_start().len());
        let at = texts.first().map(|first| first.range().start + start);
        let at = at.filter(|_| !trimmed.is_empty());
        // An escaped sign is longer in the file: the place then ends early.
        (trimmed.to_owned(), at.map_or_else(|| self.at(), |at| at..at + trimmed.len()))
    }

    /// The text of an attribute without space around, and its place, if it is there.
    pub fn text(self, name: &str) -> Option<(&'a str, Span)> {
        let attribute = self.node.attribute_node(name)?;
        Some((attribute.value().trim(), self.placed(attribute.range_value())))
    }

    /// Its attributes without a prefix: names, texts and places.
    pub fn attributes(self) -> impl Iterator<Item = (&'a str, &'a str, Span)> {
        let own = self.node.attributes().filter(|attribute| attribute.namespace().is_none());
        own.map(move |one| (one.name(), one.value(), self.placed(one.range())))
    }

    /// The text by which XMI knows it, and its place.
    pub fn identity(self) -> Option<(&'a str, Span)> {
        let mut all = self.node.attributes();
        let id = all.find(|one| one.name() == "id" && one.namespace().is_some())?;
        Some((id.value(), self.placed(id.range_value())))
    }

    /// The type that an attribute of XML Schema gives it, without its prefix.
    pub fn kind(self) -> &'a str {
        let schema = "http://www.w3.org/2001/XMLSchema-instance";
        let kind = self.node.attribute((schema, "type")).unwrap_or_default().trim();
        kind.rsplit(':').next().unwrap_or_default()
    }

    /// Whether an attribute says yes, in one of the four words of XML Schema, if it is there.
    pub fn boolean(self, name: &str, notes: &mut Notes) -> Option<bool> {
        let (text, at) = self.text(name)?;
        match text {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => {
                let message = format!("`{name}` of <{}> must be true or false", self.name());
                let help = "write true, false, 1 or 0";
                notes.refuse(Problem::new(message).help(help).at(at, "not this"));
                None
            }
        }
    }

    /// The text of an attribute that must be there.
    pub fn needs(self, name: &str, notes: &mut Notes) -> Option<(&'a str, Span)> {
        let text = self.text(name);
        if text.is_none() {
            let problem = Problem::new(format!("<{}> has no `{name}`", self.name()))
                .help(format!("add `{name}`"));
            notes.refuse(problem.at(self.at(), "this one"));
        }
        text
    }

    /// The whole number of an attribute that must be there.
    pub fn number<T: FromStr>(self, name: &str, wanted: &str, notes: &mut Notes) -> Option<T> {
        let (text, at) = self.needs(name, notes)?;
        let number = text.trim().parse().ok();
        if number.is_none() {
            let message = format!("`{name}` of <{}> must be {wanted}", self.name());
            notes.refuse(Problem::new(message).help(format!("write {wanted}")).at(at, "not this"));
        }
        number
    }
}
