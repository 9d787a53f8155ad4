// SPDX-License-Identifier: Apache-2.0
//! Applications as `app.toml` describes them.
//!
//! Three pure steps, each with everything that is wrong as its error: [`Manifest::parse`] takes the
//! text apart, [`App::build`] checks what the parts say of each other, [`plan()`] lays
//! the application out on a set of cores. Nothing here reads a file or knows a machine.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod app;
mod board;
mod cores;
mod dot;
mod in_c;
mod islands;
mod kernels;
mod mapping;
mod plan;
mod platform;
mod policies;
mod problem;
mod read;
mod reader;
mod schema;
pub mod sdf;
mod transport;

pub use app::{
    App, Channel, Compute, Cycles, Direction, Distribution, Doorbell, Event, HOST_KIND, Mode,
    Moves, NotifyPolicy, Numbers, Object, ObjectKind, OnCrash, Pacing, Param, ParamKind, Period,
    Port, Script, Setting, Task, Verb, Work, check_cores, check_kinds,
};
pub use board::{
    AT_MOST, Board, BoardFiles, GuestStart, Guests, Memory, Start, Variant, check_stacks, hash,
    linked, tables,
};
pub use cores::{CoreList, CoreName, CpuList, ranges};
pub use dot::dot;
pub use in_c::{Object as PlanObject, member_list, parse_rows};
pub use kernels::Kernels;
pub use mapping::{Cores, Mapping, Pin};
pub use plan::{
    At, Command, ContextTransport, DecidedMove, DecidedPoint, Decision, Limit, Moving, NO_POLICY,
    POINT_OFF, Plan, PlanCore, PlanEvent, PlanGuest, PlanOptions, PlanScript, PlanTask, PlanWork,
    PolicyName, SavedFile, TableRow, millihz, plan,
};
pub use platform::{Core, Frequency, Platform, Point};
pub use policies::{Decides, POLICIES, Policy, instead_of_policy};
pub use problem::{Problem, Problems, Source, Span, as_text, nearest, suggestion};
pub use read::{ExprError, Manifest, Table, evaluate};
pub use reader::{from_word, is_name};
pub use schema::{Key, Only, Shape, Table as KeyTable, key_list, python};
pub use transport::{PerChannel, Transport, channels_of};
