// SPDX-License-Identifier: Apache-2.0
//! What is shown above the view for a while: the keys, and the choice of a policy.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Widget};

use whimbrel_model::{POLICIES, Policy};

use super::Palette;

const HELP: [&str; 12] = [
    "↑ ↓ or k j   select a task",
    "0 to 9       move it to this core",
    "m            move it to a core with more digits",
    "p            let another policy decide",
    "+ -          a tenth more or fewer frames per second",
    "f            another frame rate",
    "c            another doorbell or batch of a channel",
    "space        freeze or continue the picture",
    "q            leave; the run continues",
    "",
    "core: █ busy ▒ polling.  log: away is the time on no",
    "core, after the time until its checkpoint.",
];

/// The keys.
pub fn help(palette: Palette, area: Rect, buffer: &mut Buffer) {
    let lines = HELP.iter().map(|line| Line::from(*line)).collect();
    show("keys", lines, palette, area, buffer);
}

/// The policies, and what is typed.
pub fn policies(text: &str, palette: Palette, area: Rect, buffer: &mut Buffer) {
    let chosen = Style::new().add_modifier(Modifier::REVERSED);
    let line = |policy: &Policy| {
        let style = if policy.name == text { chosen } else { Style::new() };
        Line::from(Span::styled(format!("{:<24}", policy.name), style))
    };
    let mut lines: Vec<Line<'static>> = POLICIES.iter().map(line).collect();
    lines.push(Line::from("or type NAME:KEY=VALUE,…"));
    lines.push(Line::from("`none` ends their work"));
    lines.push(Line::from("Enter sets, Esc leaves"));
    show("policy", lines, palette, area, buffer);
}

fn show(title: &str, lines: Vec<Line<'static>>, palette: Palette, area: Rect, buffer: &mut Buffer) {
    let size = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
    let width = size(lines.iter().map(Line::width).max().unwrap_or(0) + 4).min(area.width);
    // The last line of the view stays to be seen: what is typed stands there.
    let height = size(lines.len() + 2).min(area.height - 1);
    let x = area.x + (area.width - width) / 2;
    let y = area.y + (area.height - 1 - height) / 2;
    let inside = Rect { x, y, width, height };
    Clear.render(inside, buffer);
    let block = Block::bordered().title(format!(" {title} ")).border_style(palette.title());
    let padded: Vec<Line<'static>> = lines
        .into_iter()
        .map(|mut line| {
            line.spans.insert(0, Span::raw(" "));
            line
        })
        .collect();
    Paragraph::new(padded).block(block).render(inside, buffer);
}
