// SPDX-License-Identifier: Apache-2.0
//! The graph of an application. Mailboxes and answers of calls are left out.

use super::{Channel, Graph, Task};
use crate::app::{self, App, Direction, Port};

impl Graph {
    /// The graph of an application's tasks, whose times `time` gives. Also the position in
    /// [`App::channels`] of each of its channels.
    pub fn of(app: &App, time: impl FnMut(&app::Task) -> Task) -> (Self, Vec<usize>) {
        let tasks = app.tasks.iter().map(time).collect();
        let mut ends: Vec<(Option<&Port>, Option<&Port>)> = vec![(None, None); app.channels.len()];
        for port in &app.ports {
            let (out, into) = &mut ends[port.channel];
            match port.direction {
                Direction::Out => out.get_or_insert(port),
                Direction::In => into.get_or_insert(port),
            };
        }
        let mut channels = Vec::new();
        let mut positions = Vec::new();
        for (number, channel) in app.channels.iter().enumerate().filter(|(_, c)| c.flows()) {
            let (Some(out), Some(into)) = ends[number] else { continue };
            positions.push(number);
            channels.push(Channel {
                from: out.task,
                to: into.task,
                produce: out.rate,
                consume: into.rate,
                initial: channel.initial,
                slots: Some(channel.slots),
                claims_at_start: channel.claims_at_start,
            });
        }
        (Self { tasks, channels }, positions)
    }
}
