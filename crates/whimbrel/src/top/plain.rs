// SPDX-License-Identifier: Apache-2.0
//! `whimbrel top --once`: the view as plain text.

use std::env;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use whimbrel_run::control::Watch;
use whimbrel_run::failure::{Answer, Outcome};
use whimbrel_run::output::print;

use super::draw::{Palette, draw};
use super::model::{Link, Model};
use crate::steer::unreachable;

/// What the view is as large as when nobody says anything else.
const SIZE: (u16, u16) = (80, 24);

/// Prints one picture, of the first interval from now on.
///
/// # Errors
/// The run has gone.
pub fn once(watch: &mut Watch, mut model: Model) -> Outcome {
    model.selected = usize::MAX;
    while model.totals < 2 && model.link == Link::Live {
        let reply = watch.next(false).map_err(|error| unreachable(&model.run, &error))?;
        model.take(reply);
    }
    let size = |name: &str, usual| {
        let given = env::var(name).ok().and_then(|text| text.parse().ok());
        given.filter(|size| (1..=1000).contains(size)).unwrap_or(usual)
    };
    let area = Rect::new(0, 0, size("COLUMNS", SIZE.0), size("LINES", SIZE.1));
    print(&text(&model, area))?;
    Ok(Answer::Yes)
}

/// The picture without its last line, which is for keys.
pub fn text(model: &Model, area: Rect) -> String {
    let mut buffer = Buffer::empty(Rect { height: area.height + 1, ..area });
    draw(model, Palette { colours: false }, buffer.area, &mut buffer);
    let mut text = String::new();
    for y in area.top()..area.bottom() {
        let line: String = (area.left()..area.right()).map(|x| buffer[(x, y)].symbol()).collect();
        text += line.trim_end();
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
