// SPDX-License-Identifier: Apache-2.0
//! The tasks and channels of an application as Graphviz draws them: the colour of a task is its
//! core, a mailbox is a node of its own.

use std::fmt::Write;

use crate::app::{App, Channel, Cycles, Direction, Period, Port, Task, Work};

/// For the cores in turn, light enough for black text: Brewer's Set3, of which neighbours differ.
const COLOURS: [&str; 12] = [
    "#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69", "#fccde5",
    "#d9d9d9", "#bc80bd", "#ccebc5", "#ffed6f",
];

/// The text of a graph in the language DOT.
pub fn dot(app: &App) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write(app, &mut text);
    text
}

fn write(app: &App, text: &mut String) -> std::fmt::Result {
    writeln!(text, "digraph {} {{", quoted(&app.name))?;
    writeln!(text, "  graph [rankdir=LR, fontname=\"sans-serif\"]")?;
    writeln!(text, "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"]")?;
    writeln!(text, "  edge [fontname=\"sans-serif\", fontsize=10]")?;
    if !app.description.is_empty() {
        writeln!(text, "  label={}", quoted(&app.description))?;
    }
    for (number, task) in app.tasks.iter().enumerate() {
        let colour = COLOURS[*task.core.get_ref() as usize % COLOURS.len()];
        let label = quoted(&task_label(app, task));
        let outline = if task.migratable { "" } else { ", penwidth=3" };
        writeln!(text, "  task{number} [label={label}, fillcolor=\"{colour}\"{outline}]")?;
    }
    for (number, channel) in app.channels.iter().enumerate() {
        if channel.mailbox {
            let label = quoted(&format!("{}\n{}", channel.name, size(channel)));
            let look = "shape=cylinder, style=filled, fillcolor=white";
            writeln!(text, "  mailbox{number} [label={label}, {look}]")?;
        }
        edges(app, number, text)?;
    }
    writeln!(text, "}}")
}

/// The arrow of a channel, or those to and from a mailbox.
fn edges(app: &App, number: usize, text: &mut String) -> std::fmt::Result {
    let channel = &app.channels[number];
    let ends = |direction| {
        let bound = app.ports.iter().filter(move |port| port.channel == number);
        bound.filter(move |port| port.direction == direction)
    };
    if channel.mailbox {
        for port in ends(Direction::Out) {
            writeln!(text, "  task{} -> mailbox{number}", port.task)?;
        }
        for port in ends(Direction::In) {
            writeln!(text, "  mailbox{number} -> task{}", port.task)?;
        }
        return Ok(());
    }
    for (from, to) in ends(Direction::Out).zip(ends(Direction::In)) {
        let label = quoted(&channel_label(channel, from, to));
        writeln!(text, "  task{} -> task{} [label={label}]", from.task, to.task)?;
    }
    Ok(())
}

fn task_label(app: &App, task: &Task) -> String {
    let name = app.label(&task.name, task.index);
    let mut label = format!("{name}\ncore {}, priority {}", task.core.get_ref(), task.priority);
    match task.period {
        Period::None => {}
        Period::Frame => label.push_str("\nonce per frame"),
        Period::Own(ns) => label.push_str(&format!("\nevery {} µs", ns / 1000.0)),
    }
    if let Some(work) = &task.work {
        label.push_str(&format!("\n{}", cycles(work)));
    }
    label
}

fn cycles(work: &Work) -> String {
    match &work.cycles {
        Cycles::Every(cycles) => format!("{cycles} cycles"),
        Cycles::ByKind(kinds) => {
            let kinds = kinds.iter().map(|(kind, cycles)| format!("{kind}: {cycles} cycles"));
            kinds.collect::<Vec<_>>().join("\n")
        }
    }
}

fn channel_label(channel: &Channel, from: &Port, to: &Port) -> String {
    let mut label = size(channel);
    if (from.rate, to.rate) != (1, 1) {
        label.push_str(&format!("\n{} → {} per firing", from.rate, to.rate));
    }
    if channel.initial > 0 {
        label.push_str(&format!("\n{} at the start", channel.initial));
    }
    if channel.claims_at_start {
        label.push_str("\nclaimed at the start");
    }
    label
}

fn size(channel: &Channel) -> String {
    format!("{} × {} B", channel.slots, channel.slot_bytes)
}

/// A text as DOT takes it: quotes and backslashes escaped, a new line as `\n`.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
