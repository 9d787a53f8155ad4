// SPDX-License-Identifier: Apache-2.0
//! Services: a mailbox for the requests of all callers, and a channel back to each of them. Their
//! ports have the service's name: element 0 is for requests, the others are for answers.

use toml::Spanned;

use super::{Element, End, Wiring, bytes, doorbell};
use crate::app::{Channel, Direction, NotifyPolicy, Param};
use crate::problem::Problem;
use crate::read::keys::{Nearness, ServiceTable};
use crate::reader::given;

/// `WB_CALL_HEAD_BYTES` of the middleware: what lies before the data of a request or an answer.
const HEAD_BYTES: u32 = 32;
const DATA_MAX: u32 = (1 << 30) - HEAD_BYTES;
/// Of a mailbox.
const SLOTS_MAX: u32 = 1 << 15;

/// Lays out a `[[service]]`.
pub(super) fn connect(
    wiring: &mut Wiring<'_>,
    table: &ServiceTable,
    params: &[Param],
) -> Result<(), Problem> {
    let name = table.name.get_ref();
    let server = server(wiring, table)?;
    let callers = callers(wiring, table)?;
    let requests = SlotSettings {
        slot_bytes: HEAD_BYTES + bytes(&table.request_bytes, params, "request_bytes", DATA_MAX)?,
        notify: doorbell(table.request_doorbell.as_ref(), "request_doorbell")?,
        internal: given(&table.request_memory) == Nearness::Internal,
    };
    let answers = SlotSettings {
        slot_bytes: HEAD_BYTES + bytes(&table.answer_bytes, params, "answer_bytes", DATA_MAX)?,
        notify: doorbell(table.answer_doorbell.as_ref(), "answer_doorbell")?,
        internal: given(&table.answer_memory) == Nearness::Internal,
    };
    let slots = room_for_all(table, callers.len())?;

    for element in std::iter::once(&server).chain(&callers) {
        wiring.reserve(element)?;
    }
    let mailbox = wiring.unique_name(name, "");
    wiring.channels.push(Channel {
        name: mailbox,
        mailbox: true,
        ..requests.channel(table, slots)
    });
    for caller in &callers {
        wiring.attach(caller, Direction::Out, 0);
    }
    wiring.attach(&server, Direction::In, 0);
    for (number, caller) in (1..).zip(&callers) {
        let Element { end, number: element } = caller;
        let of_several = if end.count > 1 { format!("_{element}") } else { String::new() };
        let back = wiring.unique_name(&format!("{name}_{}", end.task), &of_several);
        // One more: what a caller that begins anew is sent for its former life.
        let channel = answers.channel(table, table.calls + 1);
        wiring.channels.push(Channel { name: back, answers: true, ..channel });
        wiring.attach(&server, Direction::Out, number);
        wiring.attach(caller, Direction::In, 1);
    }
    Ok(())
}

fn server<'a>(wiring: &Wiring<'_>, table: &'a ServiceTable) -> Result<Element<'a>, Problem> {
    let end = end(wiring, table, &table.task)?;
    if end.count == 1 {
        return Ok(Element { end, number: 0 });
    }
    let message = format!("a service is one task, but `{}` is {}", end.task, end.count);
    let problem = Problem::new(message).at(end.span, "this task");
    Err(problem.help("write one [[service]] for a task without `count`"))
}

/// All of them, each once.
fn callers<'a>(wiring: &Wiring<'_>, table: &'a ServiceTable) -> Result<Vec<Element<'a>>, Problem> {
    let name = table.name.get_ref();
    let mut all: Vec<Element<'_>> = Vec::new();

    for written in table.callers.get_ref() {
        let end = end(wiring, table, written)?;
        if written.get_ref() == table.task.get_ref() {
            let message = format!("`{}` would wait for itself", end.task);
            let problem = Problem::new(message).at(end.span, "this caller");
            let problem = problem.at(table.task.span(), "it serves");
            return Err(problem.help(format!("let another task serve `{name}`, or call it")));
        }
        if let Some(first) = all.iter().map(|one| &one.end).find(|known| known.task == end.task) {
            let problem = Problem::new(format!("`{}` calls `{name}` twice", end.task));
            let problem = problem.at(end.span, "the second").at(first.span.clone(), "the first");
            return Err(problem.help("name each caller once"));
        }
        all.extend((0..end.count).map(|number| Element { end: end.clone(), number }));
    }
    Ok(all)
}

fn end<'a>(
    wiring: &Wiring<'_>,
    table: &'a ServiceTable,
    written: &'a Spanned<String>,
) -> Result<End<'a>, Problem> {
    let (task, port) = (written.get_ref(), table.name.get_ref());
    wiring.tasks_of(task, port, written.span(), "this task", str::to_owned)
}

fn room_for_all(table: &ServiceTable, callers: usize) -> Result<u32, Problem> {
    let all = u32::try_from(callers).ok().and_then(|n| n.checked_mul(table.calls));
    all.filter(|slots| *slots <= SLOTS_MAX).ok_or_else(|| {
        let (name, calls) = (table.name.get_ref(), table.calls);
        let message = format!("`{name}` has {callers} callers with {calls} calls each");
        let problem = Problem::new(message).at(table.name.span(), "this service");
        problem.help(format!("lower `calls`: {SLOTS_MAX} may be outstanding in all"))
    })
}

/// What the channels of one direction have in common.
struct SlotSettings {
    slot_bytes: u32,
    notify: NotifyPolicy,
    internal: bool,
}

impl SlotSettings {
    fn channel(&self, table: &ServiceTable, slots: u32) -> Channel {
        Channel {
            slots,
            slot_bytes: self.slot_bytes,
            notify: self.notify,
            internal: self.internal,
            span: table.name.span(),
            ..Channel::default()
        }
    }
}
