// SPDX-License-Identifier: Apache-2.0
//! The first lines, which say how the run goes as a whole, and the last one.

use std::time::Duration;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use whimbrel_run::output::thousandths;

use super::{Palette, link_word};
use crate::top::model::{Link, Model, Prompt};

/// At most this many lines at the top.
const HEAD: usize = 2;

/// The run, its time and state, frames, misses, policy, coordinator.
pub fn head(model: &Model, palette: Palette, width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::default()];
    for (text, style) in facts(model, palette) {
        let last = lines.last().map_or(0, Line::width);
        let gap = if last == 0 { 0 } else { 2 };
        if last + gap + text.chars().count() > width && last > 0 {
            if lines.len() == HEAD {
                break;
            }
            lines.push(Line::default());
        } else if let Some(line) = lines.last_mut() {
            line.push_span(" ".repeat(gap));
        }
        if let Some(line) = lines.last_mut() {
            line.push_span(Span::styled(text, style));
        }
    }
    lines
}

fn facts(model: &Model, palette: Palette) -> Vec<(String, Style)> {
    let picture = model.picture();
    let now = &picture.now;
    let plain = Style::new();
    let time = now.time_ns.saturating_sub(model.portrait.start_ns);
    let seconds = Duration::from_nanos(time).as_secs_f64();
    let (misses, fresh) = picture.misses();

    let (per_s, unit) = picture.done_per_s(&model.portrait);
    let frames = format!("{per_s:.1} {unit}/s");
    let frames = match model.millihz() {
        rate if rate == 0 || unit != "frames" => frames,
        rate => format!("{frames} of {}", thousandths(rate)),
    };
    let late = match fresh {
        0 => format!("{misses} misses"),
        _ => format!("{misses} misses (+{fresh})"),
    };
    let policy = if now.policy.is_empty() { "no policy" } else { &now.policy };
    let mut facts = vec![
        (model.run.clone(), plain.add_modifier(Modifier::BOLD)),
        (format!("{seconds:.1} s"), plain),
        (link_word(model).to_owned(), link_style(model, palette)),
        (frames, plain),
        (late, if fresh > 0 { palette.bad() } else { plain }),
        (format!("{} of {} tasks", now.live, now.tasks.len()), plain),
        (if now.policy.is_empty() { policy.into() } else { format!("policy {policy}") }, plain),
    ];
    if let Some(core) = now.coordinator {
        facts.push((format!("coordinator on core {core}"), plain));
    }
    facts
}

fn link_style(model: &Model, palette: Palette) -> Style {
    match model.link {
        Link::Over { ok: false, .. } => palette.bad(),
        Link::Live if !model.pauses() => palette.good(),
        _ => palette.warning(),
    }
}

/// A question, the latest answer, or the keys.
pub fn foot(model: &Model, palette: Palette, width: usize) -> Line<'static> {
    let task = model.label(model.selected);
    let question = match &model.prompt {
        Prompt::Core(text) => Some(format!("move {task} to core: {text}_")),
        Prompt::Channel(text) => Some(format!("channel and KEY=VALUE: {text}_")),
        Prompt::Rate(text) => Some(format!("frames per second: {text}_")),
        Prompt::Policy(text) => Some(format!("policy: {text}_")),
        Prompt::None | Prompt::Help => None,
    };
    if let Link::Over { how, .. } = &model.link {
        let text = format!("{}: {how}. Press any key to leave.", model.run);
        return Line::from(Span::styled(text, Style::new().add_modifier(Modifier::REVERSED)));
    }
    match question {
        Some(text) => Line::from(Span::styled(text, palette.warning())),
        None if !model.note.is_empty() => Line::from(model.note.clone()),
        None => Line::from(keys(width)),
    }
}

fn keys(width: usize) -> String {
    let all =
        ["? help", "q quit", "↑↓ task", "0-9 move it", "p policy", "+ - f rate", "space pause"];
    let mut line = String::new();
    for key in all {
        let gap = if line.is_empty() { "" } else { "   " };
        if line.chars().count() + gap.len() + key.chars().count() > width {
            break;
        }
        line += gap;
        line += key;
    }
    line
}
