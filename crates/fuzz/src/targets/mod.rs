// SPDX-License-Identifier: Apache-2.0
//! A function on bytes for each target.

mod amalthea;
mod app;
mod board;
mod client;
mod control;
mod dot;
mod explore;
mod graphml;
mod lines;
mod link;
mod perfetto;
mod platform;
mod recorded;
mod rtapp;
mod saved;
mod sdf3;
mod table;
mod tgff;

/// The targets by their names.
pub const ALL: &[(&str, crate::Target)] = &[
    ("amalthea", amalthea::read),
    ("app", app::read),
    ("board", board::read),
    ("client-rust", client::read),
    ("control", control::read),
    ("dot", dot::read),
    ("explore", explore::read),
    ("graphml", graphml::read),
    ("lines", lines::read),
    ("link-rust", link::read),
    ("perfetto", perfetto::read),
    ("platform", platform::read),
    ("recorded", recorded::read),
    ("rtapp", rtapp::read),
    ("saved", saved::read),
    ("sdf3", sdf3::read),
    ("table", table::read),
    ("tgff", tgff::read),
];
