// SPDX-License-Identifier: Apache-2.0
//! The keys of our files, each declared once.
//!
//! [`table!`](table) takes the keys of one table: an example, what it takes, its default, and one
//! sentence. From it come the struct that the rest of the crate uses, the code that reads it, the
//! messages about it, the list in `docs/`, the JSON Schema and the class of Python.

mod macros;
mod read;
mod shape;
mod write;

pub(crate) use macros::{table, words};
pub(crate) use read::{Limited, Noted, Read, Standing, TableReader, Tabular, Tried};
pub(crate) use read::{parse, parse_limited};
pub(crate) use shape::{FILLED, LINE, NAME};
pub use shape::{Key, Only, Shape, Table};
pub use write::{key_list, python};
