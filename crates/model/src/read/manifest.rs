// SPDX-License-Identifier: Apache-2.0
//! The file as it is written: every key present and of its type, nothing yet compared with
//! anything else. See `docs/app-toml.md`.

use toml::Spanned;

use super::keys::{AppTable, ChannelTable, FileTable, MailboxTable, NamedTable};
use super::keys::{FlowKeys, ServiceTable, SlotKeys, TaskTable};
use super::steps::{Lines, ObjectTable};
use crate::app::{ObjectKind, Param};
use crate::problem::{Problems, Span};
use crate::schema::{self, Limited};

/// An `app.toml` whose tables have the right shape.
#[derive(Debug, Clone)]
pub struct Manifest {
    pub(crate) app: AppTable,
    pub(crate) params: Vec<Param>,
    pub(crate) tasks: Vec<TaskTable>,
    pub(crate) links: Vec<LinkTable>,
    pub(crate) services: Vec<ServiceTable>,
    pub(crate) objects: Vec<ObjectTable>,
    pub(crate) lines: Lines,
    /// Keys that some kernels refuse.
    pub(crate) limited: Vec<Limited>,
}

impl TaskTable {
    /// Which of some keys it has, and where.
    pub fn has<'t>(&'t self, keys: &'t [&str]) -> impl Iterator<Item = (&'t str, Span)> {
        keys.iter().filter_map(|key| Some((*key, self.keys.get(*key)?.clone())))
    }
}

/// A `[[channel]]`, or a `[[mailbox]]` with its many senders.
#[derive(Debug, Clone)]
pub(crate) struct LinkTable {
    pub mailbox: bool,
    pub from: Vec<Spanned<String>>,
    pub slots: SlotKeys,
    pub flow: FlowKeys,
}

impl From<ChannelTable> for LinkTable {
    fn from(ChannelTable { from, slots, flow }: ChannelTable) -> Self {
        Self { mailbox: false, from: vec![from], slots, flow }
    }
}

impl From<MailboxTable> for LinkTable {
    fn from(MailboxTable { from, slots }: MailboxTable) -> Self {
        Self { mailbox: true, from: from.into_inner(), slots, flow: FlowKeys::default() }
    }
}

impl Manifest {
    /// The keys of an app.toml.
    pub const KEYS: schema::Table = FileTable::TABLE;

    /// Reads the text of an `app.toml`.
    ///
    /// # Errors
    /// Text that is no TOML, tables or keys that do not exist or are missing, values of a wrong
    /// type or out of range: all of them at once.
    pub fn parse(source: &str) -> Result<Self, Problems> {
        let (file, limited): (FileTable, _) = schema::parse_limited(source)?;
        let channels = file.channels.into_iter().map(LinkTable::from);
        let links = channels.chain(file.mailboxes.into_iter().map(LinkTable::from)).collect();
        let object =
            |kind, name, (value, most), span| ObjectTable { kind, name, value, most, span };
        let named = |kind, all: Vec<NamedTable>| {
            all.into_iter().map(move |it| object(kind, it.name, (0, 0), it.span))
        };
        let barriers = file
            .barriers
            .into_iter()
            .map(|it| object(ObjectKind::Barrier, it.name, (it.value.into_inner(), 0), it.span));
        let semaphores = file
            .semaphores
            .into_iter()
            .map(|it| object(ObjectKind::Semaphore, it.name, (it.value, it.most), it.span));
        let objects = named(ObjectKind::Mutex, file.mutexes)
            .chain(named(ObjectKind::Condition, file.conditions))
            .chain(barriers)
            .chain(semaphores)
            .chain(named(ObjectKind::Timer, file.timers));
        Ok(Self {
            app: file.app.into_inner(),
            params: file.params,
            tasks: file.tasks.into_inner(),
            links,
            services: file.services,
            objects: objects.collect(),
            lines: Lines::of(source),
            limited,
        })
    }
}
