// SPDX-License-Identifier: Apache-2.0
//! The cores: busy and polling, frequency, temperature.

use ratatui::text::{Line, Span};
use whimbrel_run::protocol::CoreStatus;

use super::{Palette, bar, percent};
use crate::top::model::Model;

/// Cells of a bar.
const BAR: (usize, usize) = (8, 40);
/// More cores than this stand side by side.
const STACKED: usize = 8;
/// What one takes then.
const CELL: usize = 20;

/// A line for each core, or for several when there are many.
pub fn lines(model: &Model, palette: Palette, width: usize) -> Vec<Line<'static>> {
    let cores = &model.picture().now.cores;
    if cores.len() > STACKED && width >= 2 * CELL {
        let all: Vec<Vec<Span<'static>>> =
            (0..cores.len()).map(|core| short(model, palette, core)).collect();
        return all.chunks(width / CELL).map(|row| Line::from(row.concat())).collect();
    }
    let texts: Vec<Texts> = cores.iter().map(|core| texts(model, core)).collect();
    let taken = texts.iter().map(|of| of.before.chars().count() + of.after.chars().count());
    let bar = width.saturating_sub(taken.max().unwrap_or(0)).clamp(BAR.0, BAR.1);
    let line = |(core, texts)| Line::from(long(model, palette, core, texts, bar));
    texts.into_iter().enumerate().map(line).collect()
}

fn short(model: &Model, palette: Palette, core: usize) -> Vec<Span<'static>> {
    let (busy, _) = model.picture().core_load(core);
    let mut spans = vec![Span::raw(format!("core {core:<2} "))];
    spans.extend(load_bar(model, palette, core, CELL - 16));
    spans.push(Span::raw(format!(" {} ", percent(busy))));
    spans
}

/// What stands before and after the bar of a core.
struct Texts {
    before: String,
    after: String,
}

fn texts(model: &Model, core: &CoreStatus) -> Texts {
    let (busy, polling) = model.picture().core_load(core.core as usize);
    let kernel = model.portrait.kernels.iter().find(|kernel| kernel.core == core.core);
    let cpu = kernel.map_or_else(String::new, |kernel| match &kernel.guest {
        Some(board) => format!(" {board}:{}", kernel.cpu),
        None => format!(" cpu {:<3}", kernel.cpu),
    });
    let after = format!(" {} busy {} polling{}", percent(busy), percent(polling), sensors(core));
    Texts { before: format!("core {:<3}{cpu} ", core.core), after }
}

fn long(
    model: &Model,
    palette: Palette,
    core: usize,
    texts: Texts,
    bar: usize,
) -> Vec<Span<'static>> {
    let mut spans = vec![Span::raw(texts.before)];
    spans.extend(load_bar(model, palette, core, bar));
    spans.push(Span::raw(texts.after));
    match model.picture().now.cores[core].state.as_str() {
        "up" => {}
        "dead" => spans.insert(1, Span::styled("dead ", palette.bad())),
        state => spans.insert(1, Span::styled(format!("{state} "), palette.warning())),
    }
    spans
}

fn load_bar(model: &Model, palette: Palette, core: usize, width: usize) -> Vec<Span<'static>> {
    let (busy, polling) = model.picture().core_load(core);
    let style = if busy > 0.95 { palette.bad() } else { palette.good() };
    bar(width, &[(busy, '█', style), (polling, '▒', palette.warning())])
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn sensors(core: &CoreStatus) -> String {
    let mut text = String::new();
    if core.hz > 0 {
        text += &format!("  {:.2} GHz", core.hz as f64 / 1e9);
    }
    if let Some(temperature_mc) = core.temperature_mc {
        text += &format!("  {:.1} °C", f64::from(temperature_mc) / 1000.0);
    }
    text
}
