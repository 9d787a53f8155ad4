// SPDX-License-Identifier: Apache-2.0
//! Members of the plan, each declared once.
//!
//! [`members!`](members) takes the members of one object. From it come the struct that is written
//! as JSON, the rows by which `launcher/protocol/parse.c` reads it, the constant tables of boards,
//! and the list in `docs/kernels-linux-protocol.md`.

mod macros;
mod rows;
mod tables;

pub(crate) use macros::members;
pub use rows::{member_list, parse_rows};
pub(crate) use tables::{Tables, text};

/// An object of the plan.
#[derive(Debug)]
pub struct Object {
    /// What it is called.
    pub name: &'static str,
    /// What it is, in one sentence with a space before it.
    pub says: &'static str,
    /// Its struct in C.
    pub tag: &'static str,
    /// The struct that parse.c fills, if that is another.
    pub parsed: Option<&'static str>,
    /// Where ours lies in that: members elsewhere are for parse.c alone.
    pub within: &'static str,
    /// Whether others point to it.
    pub is_pointed_to: bool,
    /// Its members.
    pub members: &'static [Member],
}

/// A member of it.
#[derive(Debug)]
pub struct Member {
    /// Its name in JSON.
    pub name: &'static str,
    /// What it means, in one sentence with a space before it.
    pub says: &'static str,
    /// The field of the struct.
    pub path: &'static str,
    /// Whether it must be there; if not, it stands for 0, false, or nothing.
    pub needed: bool,
    /// The most that it may be, in C.
    pub most: Option<&'static str>,
    /// What it is.
    pub kind: Kind,
}

/// What a member is.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// One of parse.c's kinds without more: UINT32, TEXT.
    Plain(&'static str),
    /// A word: the name of the enumeration, each word with its constant.
    Word(&'static str, &'static [(&'static str, &'static str)]),
    /// An object.
    Object(&'static Object),
    /// Elements of a kind.
    List(&'static Kind),
    /// The members of another object, as if they were its own.
    Flat(&'static Object),
    /// What parse.c takes by a function of its own.
    By(&'static str),
}

/// A type of the plan that C has as well.
pub(crate) trait InC {
    /// How parse.c takes it.
    const KIND: Kind;
    /// The type of an array's element.
    const TYPE: &'static str = "";

    /// An initialiser; `None`: it is what C takes a member to be that is not there. What it points
    /// to is declared before, by a name that begins so.
    fn initialiser(&self, tables: &mut Tables, name: &str) -> Option<String>;

    /// The designated initialisers of a field with it.
    fn fields(&self, tables: &mut Tables, name: &str, path: &str, to: &mut Vec<String>) {
        to.extend(self.initialiser(tables, name).map(|value| format!(".{path} = {value}")));
    }
}

/// Whether a helper takes a member to be so that is not there: plans of many tasks are long.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
