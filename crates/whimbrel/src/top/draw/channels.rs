// SPDX-License-Identifier: Apache-2.0
//! The channels: how many messages are in each, and the marks.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use whimbrel_run::protocol::ChannelStatus;

use super::{Palette, bar, left, title};
use crate::top::model::Model;

/// What one channel takes at least.
const CELL: usize = 38;
/// Cells of a bar.
const BAR: usize = 7;

/// The title, and as many channels beside each other as there is room for.
pub fn lines(model: &Model, palette: Palette, width: usize) -> Vec<Line<'static>> {
    let channels = &model.picture().now.channels;
    if channels.is_empty() {
        return Vec::new();
    }
    let columns = (width / CELL).max(1);
    let cell = width / columns;
    let mut lines = vec![title(
        palette,
        "channel: █ messages in it, ░ up to its high mark; low and high marks",
    )];
    let most = channels.iter().map(|channel| channel.slots).max().unwrap_or(0);
    let digits = most.to_string().len();
    for row in channels.chunks(columns) {
        let spans = row.iter().flat_map(|channel| channel_cell(palette, channel, cell, digits));
        lines.push(Line::from(spans.collect::<Vec<_>>()));
    }
    lines
}

fn channel_cell(
    palette: Palette,
    channel: &ChannelStatus,
    width: usize,
    digits: usize,
) -> Vec<Span<'static>> {
    let ChannelStatus { depth, slots, high, .. } = channel;
    let part = |messages: u32| f64::from(messages) / f64::from((*slots).max(1));
    let style = if depth >= slots { palette.warning() } else { palette.good() };
    let low = channel.low.map_or_else(|| "-".into(), |low| low.to_string());
    let numbers = format!(" {depth:>digits$}/{slots:<digits$} {low:>digits$}..{high:<digits$} ");

    let name = width.saturating_sub(BAR + 1 + numbers.chars().count());
    let mut spans = vec![Span::raw(left(&channel.channel, name)), Span::raw(" ")];
    let above = (part(*high) - part(*depth)).max(0.0);
    spans.extend(bar(BAR, &[(part(*depth), '█', style), (above, '░', Style::new())]));
    spans.push(Span::raw(numbers));
    spans
}
