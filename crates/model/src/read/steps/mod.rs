// SPDX-License-Identifier: Apache-2.0
//! Scripts as they are written, and what they have in common: `[[mutex]]` and its like.

mod step;
mod time;

pub(crate) use step::{Lines, Step, What, steps};

use toml::Spanned;
use toml::de::DeTable;

use crate::app::ObjectKind;
use crate::problem::{Problem, Span};
use crate::reader::{Reader, each, name, tables, within};

/// A `[[mutex]]`, `[[condition]]`, `[[barrier]]`, `[[semaphore]]` or `[[timer]]`.
#[derive(Debug, Clone)]
pub(crate) struct ObjectTable {
    pub kind: ObjectKind,
    pub name: Spanned<String>,
    pub value: u32,
    pub most: u32,
    pub span: Span,
}

/// A binary semaphore says `most = 1`.
const MOST: u32 = i32::MAX.unsigned_abs();
const KINDS: [(&str, &str, ObjectKind); 5] = [
    ("mutex", "tables: [[mutex]]", ObjectKind::Mutex),
    ("condition", "tables: [[condition]]", ObjectKind::Condition),
    ("barrier", "tables: [[barrier]]", ObjectKind::Barrier),
    ("semaphore", "tables: [[semaphore]]", ObjectKind::Semaphore),
    ("timer", "tables: [[timer]]", ObjectKind::Timer),
];

/// Reads those of a file; `top` is the file.
pub(crate) fn objects<'t>(
    top: &mut Reader<'t, '_>,
) -> Vec<(ObjectKind, Vec<Spanned<DeTable<'t>>>)> {
    let read = |(key, wanted, kind)| {
        let found = top.optional(key, wanted, tables);
        (kind, found.map(Spanned::into_inner).unwrap_or_default())
    };
    KINDS.map(read).into()
}

/// What their tables say.
pub(crate) fn read_objects(
    found: Vec<(ObjectKind, Vec<Spanned<DeTable<'_>>>)>,
    problems: &mut Vec<Problem>,
) -> Vec<ObjectTable> {
    let mut all = Vec::new();
    for (kind, tables) in found {
        let tables = Some(Spanned::new(0..0, tables));
        all.extend(each(tables, |table, place| read_object(kind, table, place, problems)));
    }
    all
}

fn read_object(
    kind: ObjectKind,
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Option<ObjectTable> {
    let title = format!("[[{}]]", word(kind));
    let mut reader = Reader::new(&title, table, place.clone(), problems);
    let name = reader.must("name", "1 to 31 letters, digits and _", name);
    let (mut value, mut most) = (0, 0);
    match kind {
        ObjectKind::Barrier => {
            let tasks = "a whole number of tasks, from 1 to 131071";
            value = reader.must("tasks", tasks, |n| within(n, 1, (1 << 17) - 1)).into_inner();
        }
        ObjectKind::Semaphore => {
            let permits = "a whole number of permits, from 0 to 2147483647";
            value = reader.or("initial", permits, |n| within(n, 0, MOST), 0);
            let limit = "a whole number of permits, from 1 to 2147483647";
            most = reader.or("most", limit, |n| within(n, 1, MOST), MOST);
        }
        ObjectKind::Mutex | ObjectKind::Condition | ObjectKind::Timer => {}
    }
    reader.finish(ObjectTable { kind, name, value, most, span: place })
}

/// What a person calls them.
pub(crate) fn word(kind: ObjectKind) -> &'static str {
    KINDS.iter().find(|(_, _, known)| *known == kind).map_or("", |(word, _, _)| word)
}
