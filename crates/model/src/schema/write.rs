// SPDX-License-Identifier: Apache-2.0
//! Keys as documents and Python have them.

use std::fmt::Write;

use toml::de::DeTable;

use super::{Key, Shape, Table};

/// Comments of a list of keys begin here, where the line allows it.
const COMMENTS: usize = 31;
/// The longest line of Python.
const COLUMNS: usize = 100;

/// A file with every key that there is, each with an example and what it means.
pub fn key_list(file: &Table) -> String {
    let mut list = String::new();
    tables(&mut list, file, "");
    list.trim_start().to_owned()
}

fn tables(list: &mut String, of: &Table, path: &str) {
    for key in of.all() {
        let path = format!("{path}{}", key.name);
        let (head, below) = match key.shape {
            Shape::Table(_, below) => (format!("[{path}]"), Some(below)),
            Shape::Tables(_, below) => (format!("[[{path}]]"), Some(below)),
            Shape::Each(_, names, below) => (format!("[{path}.{}]", names[0]), Some(below)),
            Shape::Params => (format!("[{path}]"), None),
            _ => continue,
        };
        list.push('\n');
        line(list, &head, &key.about());
        match below {
            Some(below) => {
                for key in below.all().filter(|key| !key.shape.is_table()) {
                    line(list, &format!("{} = {}", key.name, key.example), &key.about());
                }
                tables(list, below, &format!("{path}."));
            }
            None => list.push_str(&entries(key)),
        }
    }
}

fn line(list: &mut String, text: &str, about: &str) {
    let _ = writeln!(list, "{text:COMMENTS$} # {about}");
}

/// An inline table as one of lines.
fn entries(key: &Key) -> String {
    let text = format!("all = {}", key.example);
    let Ok(document) = DeTable::parse(&text) else { return String::new() };
    let all = document.get_ref().get("all").and_then(|all| all.get_ref().as_table());
    let entry = |(key, node): (&toml::Spanned<_>, &toml::Spanned<_>)| {
        let key: &toml::Spanned<std::borrow::Cow<'_, str>> = key;
        format!("{} = {}\n", key.get_ref(), &text[node.span()])
    };
    all.into_iter().flat_map(|all| all.iter().map(entry)).collect()
}

/// Classes of Python for the tables of a file, which a document describes.
pub fn python(file: &Table, document: &str) -> String {
    let mut classes = String::new();
    for key in file.all() {
        class(&mut classes, key, "", document);
    }
    classes
}

fn class(classes: &mut String, of: &Key, path: &str, document: &str) {
    let path = format!("{path}{}", of.name);
    let (table, place) = match of.shape {
        Shape::Table(_, table) => (table, format!("[{path}]")),
        Shape::Tables(_, table) => (table, format!("[[{path}]]")),
        Shape::Each(_, names, table) => (table, format!("[{path}.{}]", names[0])),
        _ => return,
    };
    let mut fields = String::new();
    for key in table.all() {
        let kind = key.shape.python(key.name);
        let underscore = if PYTHON.contains(&key.name) { "_" } else { "" };
        let field = format!("    {}{underscore}: {kind}", key.name);
        let _ = match (key.needed, &key.shape) {
            (_, Shape::Tables(..)) => writeln!(fields, "{field} = ()"),
            (true, _) => writeln!(fields, "{field}"),
            (false, _) => writeln!(fields, "{field} | None = None"),
        };
        docstring(&mut fields, &format!("{}.", key.about()));
        class(classes, key, &format!("{path}."), document);
    }
    let head = "\n\n@dataclass(frozen=True, kw_only=True, repr=False)";
    let head = format!("{head}\nclass {}(Shown):\n", class_of(of.name));
    if classes.contains(&head) {
        return;
    }
    classes.push_str(&head);
    docstring(classes, &format!("{}: `{place}` of {document}.", of.about()));
    classes.push('\n');
    classes.push_str(&fields);
}

/// In lines that are not too long.
fn docstring(to: &mut String, text: &str) {
    let mut line = "    \"\"\"".to_owned();
    for word in text.split_whitespace() {
        if line.len() + word.len() + 4 > COLUMNS {
            let _ = writeln!(to, "{}", line.trim_end());
            line = "    ".to_owned();
        }
        line.push_str(word);
        line.push(' ');
    }
    let _ = writeln!(to, "{}\"\"\"", line.trim_end());
}

/// Names of keys that are words of Python.
const PYTHON: [&str; 1] = ["from"];

/// The class of a table.
fn class_of(name: &str) -> String {
    // These are costs, too.
    let name = if ["costs", "send", "receive"].contains(&name) { "cost" } else { name };
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').map(capital).collect()
}

impl Shape {
    fn is_table(&self) -> bool {
        matches!(self, Self::Table(..) | Self::Tables(..) | Self::Each(..) | Self::Params)
    }

    /// The type of Python.
    fn python(&self, name: &str) -> String {
        match self {
            Self::Text(..) => "str".into(),
            Self::Words(words) => format!("Literal[\"{}\"]", words.join("\", \"")),
            Self::Whole(..) => "int".into(),
            Self::Number(..) | Self::Above(..) | Self::Scaled(..) => "Number".into(),
            Self::Size(..) => "int | str".into(),
            Self::Truth => "bool".into(),
            Self::Amount(_) => "Amount".into(),
            Self::Cycles => "Amount | dict[str, Amount]".into(),
            Self::List(_, of, _) => format!("tuple[{}, ...]", of.python(name)),
            Self::OneOrMore(_, of) => format!("{0} | tuple[{0}, ...]", of.python(name)),
            Self::Table(..) => class_of(name),
            Self::Tables(..) => format!("tuple[{}, ...]", class_of(name)),
            Self::Each(..) => format!("dict[str, {}]", class_of(name)),
            Self::Other(_, python, _) => (*python).into(),
            Self::Params => "dict[str, Param]".into(),
        }
    }
}
