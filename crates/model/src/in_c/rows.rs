// SPDX-License-Identifier: Apache-2.0
//! The rows of parse.c, and the list of members in the protocol's document.

use std::fmt::Write;

use super::{Kind, Member, Object};

/// The field with the length of a list.
pub(super) fn count_of(path: &str) -> String {
    let at = path.rfind('.').map_or(0, |dot| dot + 1);
    format!("{}n_{}", &path[..at], &path[at..])
}

/// The tables by which parse.c takes a plan.
pub fn parse_rows(plan: &'static Object) -> String {
    let mut rows = Rows::default();
    rows.object(plan);
    rows.text
}

#[derive(Default)]
struct Rows {
    text: String,
    /// The names of tables that are there.
    known: Vec<String>,
}

impl Rows {
    fn is_new(&mut self, name: &str) -> bool {
        let is_new = !self.known.iter().any(|known| known == name);
        if is_new {
            self.known.push(name.to_owned());
        }
        is_new
    }

    /// An object after what it consists of; gives its name.
    fn object(&mut self, of: &'static Object) -> String {
        let name = object_name(of);
        if !self.is_new(&name) {
            return name;
        }
        let tag = of.parsed.unwrap_or(of.tag);
        let rows: String = flat(of).map(|member| self.row(tag, member)).collect();
        let _ = write!(
            self.text,
            "\nstatic const struct field {name}_fields[] = {{\n{rows}}};\n\
             static const struct object {name}_object = OBJECT_OF({tag}, {name}_fields);\n"
        );
        name
    }

    fn row(&mut self, tag: &str, member: &'static Member) -> String {
        let Member { name, path, .. } = member;
        let (form, of, count) = match member.kind {
            Kind::List(of) => ("LIST", *of, format!("{}, ", list_count(member))),
            kind => ("FIELD", kind, String::new()),
        };
        let (kind, more) = match of {
            Kind::Word(of, all) => ("WORD", format!(".words = {}", self.words(of, all))),
            Kind::Object(of) => {
                let kind = if of.is_pointed_to { "POINTER" } else { "OBJECT" };
                (kind, format!(".object = &{}_object", self.object(of)))
            }
            Kind::By(function) => ("OTHER", format!(".take = {function}")),
            Kind::Plain(kind) => (kind, String::new()),
            Kind::List(_) | Kind::Flat(_) => ("OTHER", String::new()),
        };
        let most = member.most.map(|most| format!(".most = {most}")).unwrap_or_default();
        let needed = if member.needed { "NEEDED" } else { "OPTIONAL" }.to_owned();
        let more: Vec<String> =
            [needed, more, most].into_iter().filter(|it| !it.is_empty()).collect();
        format!("    {form}({tag}, \"{name}\", {kind}, {path}, {count}{}),\n", more.join(", "))
    }

    fn words(&mut self, of: &str, all: &[(&str, &str)]) -> String {
        let name = format!("{}_words", snake(of));
        if self.is_new(&name) {
            let all: String = all
                .iter()
                .map(|(word, constant)| format!("    [{constant}] = \"{word}\",\n"))
                .collect();
            let _ = write!(
                self.text,
                "\nstatic const char *const {name}[] = {{\n{all}    NULL,\n}};\n"
            );
        }
        name
    }
}

fn object_name(of: &Object) -> String {
    let name = snake(of.name);
    name.strip_prefix("plan_").map(str::to_owned).unwrap_or(name)
}

fn list_count(member: &Member) -> String {
    // The counts of a row lie beside it.
    count_of(member.path.strip_prefix("row.").unwrap_or(member.path))
}

/// Its members, those of objects that are no objects of their own among them.
fn flat(of: &'static Object) -> Box<dyn Iterator<Item = &'static Member>> {
    Box::new(of.members.iter().flat_map(|member| match member.kind {
        Kind::Flat(below) => flat(below),
        _ => Box::new(std::iter::once(member)) as Box<dyn Iterator<Item = _>>,
    }))
}

fn snake(name: &str) -> String {
    let mut snake = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// The members of a plan as rows of a table of Markdown, those that must be there in bold.
pub fn member_list(plan: &'static Object) -> String {
    let mut list = String::new();
    describe(&mut list, plan, "");
    list
}

fn describe(list: &mut String, of: &'static Object, path: &str) {
    for member in flat(of) {
        let (kind, many) = match member.kind {
            Kind::List(of) => (*of, "[]"),
            kind => (kind, ""),
        };
        let bold = if member.needed { "**" } else { "" };
        let name = format!("{path}{}{many}", member.name);
        let mut says = member.says.trim().trim_end_matches('.').to_owned();
        if let Kind::Word(_, all) = kind {
            let words: Vec<String> = all.iter().map(|(word, _)| format!("`{word}`")).collect();
            let _ = write!(says, ": {}", words.join(", "));
        }
        if let Some(most) = member.most {
            let _ = write!(says, "; at most {most}");
        }
        let _ = writeln!(list, "| {bold}`{name}`{bold} | {says} |");
        if let Kind::Object(below) = kind {
            describe(list, below, &format!("{name}."));
        }
    }
}
