// SPDX-License-Identifier: Apache-2.0
//! From the state of the view to the cells of a terminal. Pure: the same state, size and colours
//! give the same picture.

mod channels;
mod cores;
mod frame;
mod log;
mod popup;
mod tasks;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use whimbrel_text::word;

use super::model::{Link, Model, Prompt};

/// Smaller than this, nothing sensible can be shown.
const SMALLEST: (u16, u16) = (20, 5);

/// The styles of the view. Colours are the terminal's own sixteen, and none of them says anything
/// that a word does not say as well.
#[derive(Debug, Clone, Copy)]
pub struct Palette {
    /// Whether there are colours at all.
    pub colours: bool,
}

impl Palette {
    fn colour(self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }

    fn good(self) -> Style {
        self.colour(Color::Green)
    }

    fn warning(self) -> Style {
        self.colour(Color::Yellow)
    }

    fn bad(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    fn title(self) -> Style {
        self.colour(Color::Cyan).add_modifier(Modifier::BOLD)
    }
}

/// How many lines each part has, its title included.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Heights {
    head: u16,
    cores: u16,
    tasks: u16,
    channels: u16,
    log: u16,
}

impl Heights {
    /// What there is room for, if the parts want so many lines. Tasks come first, then cores, the
    /// log and the channels; many cores leave two thirds to the others, what is left over is the
    /// log's.
    fn new(height: u16, [head, cores, tasks, channels, log]: [u16; 5]) -> Self {
        let mut left = height.saturating_sub(1); // the last line is for answers and questions
        let mut take = |most: u16, least: u16| {
            let lines = if left >= least { most.min(left) } else { 0 };
            left -= lines;
            lines
        };
        let mut heights = Self { head: take(head, 1), ..Self::default() };
        heights.tasks = take(tasks.min(4), 2);
        heights.cores = take(cores.min(2), 1);
        heights.log = take(if log > 1 { log.min(3) } else { 0 }, 2);
        heights.channels = take(channels.min(2), 2);
        heights.cores += take(cores.min(height / 3).saturating_sub(heights.cores), 1);
        heights.tasks += take(tasks.saturating_sub(heights.tasks), 1);
        if heights.channels > 0 {
            heights.channels += take(channels.saturating_sub(heights.channels), 1);
        }
        heights.log += take(u16::MAX, if heights.log > 0 { 1 } else { 2 });
        heights
    }
}

/// Draws the view.
pub fn draw(model: &Model, palette: Palette, area: Rect, buffer: &mut Buffer) {
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let text = format!("{}: too small", model.run);
        put(buffer, area, &[Line::from(text)]);
        return;
    }
    let width = usize::from(area.width);
    let head = frame::head(model, palette, width);
    let cores = cores::lines(model, palette, width);
    let channels = channels::lines(model, palette, width);
    let tasks = model.picture().now.tasks.len() + 1;
    let log = model.picture().log.len() + 1;
    let wanted = [head.len(), cores.len(), tasks, channels.len(), log];
    let heights = Heights::new(area.height, wanted.map(|n| u16::try_from(n).unwrap_or(999)));

    let mut rest = Rect { height: area.height - 1, ..area };
    let mut part = |lines: &[Line<'_>], height: u16| {
        put(buffer, Rect { height: height.min(rest.height), ..rest }, lines);
        rest.y += height;
        rest.height = rest.height.saturating_sub(height);
    };
    part(&head, heights.head);
    part(&cores, heights.cores);
    part(&tasks::lines(model, palette, width, heights.tasks.into()), heights.tasks);
    part(&channels, heights.channels);
    part(&log::lines(model, palette, heights.log.into()), heights.log);

    let last = Rect { y: area.bottom() - 1, height: 1, ..area };
    put(buffer, last, &[frame::foot(model, palette, width)]);
    match &model.prompt {
        Prompt::Help => popup::help(palette, area, buffer),
        Prompt::Policy(text) => popup::policies(text, palette, area, buffer),
        _ => {}
    }
}

fn put(buffer: &mut Buffer, area: Rect, lines: &[Line<'_>]) {
    for (y, line) in (area.top()..area.bottom()).zip(lines) {
        let mut line = line.clone();
        for span in &mut line.spans {
            // The names in it are an application's, or what a run says they are.
            span.content = word(&span.content).into_owned().into();
        }
        buffer.set_line(area.x, y, &line, area.width);
    }
}

/// The title of a part.
fn title(palette: Palette, text: impl Into<String>) -> Line<'static> {
    Line::from(Span::styled(text.into(), palette.title()))
}

/// A bar of `width` cells; each part has a size, from 0 to 1, and what it is made of.
fn bar(width: usize, parts: &[(f64, char, Style)]) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let (mut sum, mut drawn) = (0.0, 0);
    for (size, cell, style) in parts {
        sum += size;
        let end = cells(sum, width).max(drawn);
        spans.push(Span::styled(cell.to_string().repeat(end - drawn), *style));
        drawn = end;
    }
    spans.push(Span::raw("·".repeat(width - drawn)));
    spans
}

/// How many of so many cells a part fills.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the width of a bar"
)]
fn cells(part: f64, width: usize) -> usize {
    ((part * width as f64).round() as usize).min(width)
}

/// Text to the left of a column of this width; of one that is too long the end is shown.
fn left(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return format!("{text:<width$}");
    }
    let end: String = text.chars().skip(length + 1 - width.max(1)).collect();
    format!("…{end}")
}

/// Text to the right of a column of this width.
fn right(text: &str, width: usize) -> String {
    format!("{text:>width$}")
}

/// In per cent, with one digit after the point where there is little.
fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent < 9.95 { format!("{percent:>4.1} %") } else { format!("{percent:>4.0} %") }
}

/// How it stands with the run, in a word.
fn link_word(model: &Model) -> &str {
    match &model.link {
        Link::Over { how, .. } => how,
        Link::Live if model.pauses() => "paused",
        Link::Live => "running",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_gets_more_than_there_is_and_tasks_come_first() {
        for height in SMALLEST.1..60 {
            for cores in [1, 2, 8, 40] {
                let heights = Heights::new(height, [2, cores, 7, 5, 9]);
                let Heights { head, cores, tasks, channels, log } = heights;
                assert!(head + cores + tasks + channels + log < height, "{height}");
                assert!(tasks >= 2, "{height}: {heights:?}");
            }
        }
        let large = Heights::new(40, [2, 2, 7, 5, 9]);
        assert_eq!(large, Heights { head: 2, cores: 2, tasks: 7, channels: 5, log: 23 });
        let quiet = Heights::new(12, [2, 2, 7, 5, 1]);
        assert_eq!(quiet, Heights { head: 2, cores: 2, tasks: 5, channels: 2, log: 0 });
    }

    #[test]
    fn a_bar_is_as_wide_as_it_shall_be_whatever_its_parts_are() {
        let style = Style::new();
        let shown = |parts: &[(f64, char, Style)]| {
            bar(10, parts).iter().map(|span| span.content.to_string()).collect::<String>()
        };
        assert_eq!(shown(&[(0.3, '█', style), (0.21, '▒', style)]), "███▒▒·····");
        assert_eq!(shown(&[(1.0, '█', style), (1.0, '▒', style)]), "██████████");
        assert_eq!(shown(&[(0.0, '█', style)]), "··········");
    }

    #[test]
    fn of_a_name_that_is_too_long_the_end_is_shown() {
        assert_eq!(left("demodulator_bpf_1", 8), "…r_bpf_1");
        assert_eq!(left("lpf", 5), "lpf  ");
    }
}
