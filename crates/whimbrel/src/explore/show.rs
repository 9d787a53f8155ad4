// SPDX-License-Identifier: Apache-2.0
//! What people see of an exploration: a bar while it goes on, and the fronts.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use whimbrel_explore::{Entry, Exploration, Method, Progress, RateResult, Space, System, Words};
use whimbrel_run::output::{Column, columns, thousandths};

/// Progress on standard error.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    rates: usize,
}

impl Bar {
    /// Begins one; nothing is shown without a terminal, or if it is to be quiet.
    pub fn new(space: &Space, quiet: bool) -> Self {
        let shown = !quiet && io::stderr().is_terminal();
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, rates: space.rates().len() }
    }

    /// Shows how far it is.
    pub fn show(&self, progress: Progress) {
        let (known, style) = match progress.total {
            Some(total) => (total, "{bar:30} {pos}/{len}  {per_sec}  {msg}  {eta} left"),
            None => (0, "{spinner} {pos}  {per_sec}  {msg}"),
        };
        // The templates are ours: a wrong one is seen at the first look.
        if let Ok(style) = ProgressStyle::with_template(style) {
            self.bar.set_style(style);
        }
        if known > 0 {
            self.bar.set_length(known);
        }
        self.bar.set_position(progress.done);
        let rate = match self.rates {
            1 => String::new(),
            _ => format!(" at {} fps", thousandths(progress.rate_millihz)),
        };
        self.bar.set_message(format!("front of {}{rate}", progress.front));
    }

    /// Takes it off the screen.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// The fronts, each with what was explored for it.
pub fn tables(system: &System, found: &Exploration) -> String {
    let one = |rate: &RateResult| format!("{}{}", head(rate), front(system, rate));
    found.rates.iter().map(one).collect::<Vec<_>>().join("\n")
}

fn head(rate: &RateResult) -> String {
    let at = match rate.rate_millihz {
        0 => String::new(),
        millihz => format!("{} frames per second: ", thousandths(millihz)),
    };
    let method = match rate.method {
        Method::Exhaustive => "",
        Method::Genetic => " found by search",
    };
    let mut head = format!("{at}{} candidates ran{method}", rate.ran);
    if rate.bounded > 0 {
        head.push_str(&format!(", {} could not be better", rate.bounded));
    }
    if let Some((_, why)) = &rate.first_failed {
        head.push_str(&format!(", {} could not run ({why})", rate.failed));
    }
    if !rate.complete {
        head.push_str(", not all");
    }
    head + "\n"
}

fn front(system: &System, rate: &RateResult) -> String {
    let words = Words(system);
    let front: Vec<&Entry> = rate.front.iter().collect();
    columns(&[
        Column::of(">id", &front, |entry| entry.id.to_string()),
        Column::of(">energy mJ", &front, |entry| format!("{:.3}", entry.outcome.energy_mj)),
        Column::of(">misses", &front, |entry| entry.outcome.misses.to_string()),
        Column::of(">latency ms", &front, |entry| {
            entry.outcome.latency_ms.map_or("-".into(), |ms| format!("{ms:.3}"))
        }),
        Column::of(">cores", &front, |entry| entry.outcome.cores.to_string()),
        Column::of("MHz", &front, |entry| words.points(&entry.candidate)),
        Column::of(">slots", &front, |entry| words.slots(&entry.candidate)).when(rate.varies.slots),
        Column::of("channels", &front, |entry| words.ways(&entry.candidate)).when(rate.varies.ways),
        Column::of("policy", &front, |entry| entry.candidate.policy.clone())
            .when(rate.varies.policy),
        Column::of("mapping", &front, |entry| words.mapping(&entry.candidate)),
    ])
}
