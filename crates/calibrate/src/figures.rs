// SPDX-License-Identifier: Apache-2.0
//! A figure of real runs beside the simulated one, and what can be said of how far they are apart.
//!
//! A few runs do not tell the median of all, only where it lies: between two of them, by the
//! binomial distribution, whatever that of the figures is (H. David, H. Nagaraja, "Order
//! Statistics", 3rd edition, 2003, section 7.1). A simulated figure in that interval is not wrong
//! by anything that these runs can tell.

use serde::Serialize;
use whimbrel_run::benchmark::median;

/// An error up to this is no error.
pub const LIMIT_PERCENT: f64 = 15.0;
/// How sure an interval is to be, if there are runs enough.
const CONFIDENCE: f64 = 0.95;

/// A figure of one run: what, in which unit, and how much.
pub type Read = (String, &'static str, f64);

/// One figure, measured and simulated.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// What.
    pub what: String,
    /// In which unit.
    pub unit: &'static str,
    /// The median over real runs.
    pub real: f64,
    /// In virtual time.
    pub simulated: f64,
    /// Between which two of the real figures the median of all such runs lies.
    pub interval: [f64; 2],
    /// The highest real one beyond the lowest, in percent of the median; `null`: that is 0.
    pub spread_percent: Option<f64>,
    /// The simulated one beyond the real one, in percent of the real one; `null`: that is 0, or the
    /// machine was busy, and there is none.
    pub error_percent: Option<f64>,
    /// What that is; `null`: there is none.
    pub verdict: Option<Verdict>,
}

/// What an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// At most 15 %.
    Within,
    /// More, and no more than the real runs leave open.
    Open,
    /// More.
    Off,
}

/// Medians of what real runs have, beside the simulated; what only one side has is left out. Runs
/// on a busy machine have no error.
pub fn compare(scenario: &str, runs: &[Vec<Read>], simulated: &[Read], busy: bool) -> Vec<Figure> {
    let figures = simulated.iter().filter_map(|(what, unit, simulated)| {
        let same = runs.iter().flatten().filter(|(name, ..)| name == what);
        let mut all: Vec<f64> = same.map(|(_, _, value)| *value).collect();
        all.sort_unstable_by(f64::total_cmp);
        let (low, high) = (*all.first()?, *all.last()?);
        let interval = interval(&all);
        let real = median(all)?;
        let percent = |part: f64| (real != 0.0).then(|| part / real * 100.0);
        let error_percent = percent(simulated - real).filter(|_| !busy);
        Some(Figure {
            what: format!("{scenario}: {what}"),
            unit,
            real,
            simulated: *simulated,
            interval,
            spread_percent: percent(high - low),
            error_percent,
            verdict: error_percent.map(|percent| judge(percent, *simulated, interval)),
        })
    });
    figures.collect()
}

fn judge(error_percent: f64, simulated: f64, [low, high]: [f64; 2]) -> Verdict {
    if error_percent.abs() <= LIMIT_PERCENT {
        Verdict::Within
    } else if (low..=high).contains(&simulated) {
        Verdict::Open
    } else {
        Verdict::Off
    }
}

/// How likely the median is outside of what lies between the figure of a rank, from 1, and the one
/// as far from the other end, of so many.
fn outside(rank: usize, of: usize) -> f64 {
    let (mut ways, mut below, mut all) = (1.0, 0.0, 0.0);
    #[expect(clippy::cast_precision_loss, reason = "a few runs")]
    for k in 0..=of {
        below += if k < rank { ways } else { 0.0 };
        all += ways;
        ways = ways * (of - k) as f64 / (k + 1) as f64;
    }
    2.0 * below / all
}

/// The rank of the lower end of an interval, from 1: the narrowest that is sure enough, else the
/// widest.
fn rank(of: usize) -> usize {
    (1..=of / 2).rev().find(|rank| outside(*rank, of) <= 1.0 - CONFIDENCE).unwrap_or(1)
}

/// How sure the interval of so many runs is.
pub fn confidence(runs: usize) -> f64 {
    if runs < 2 { 0.0 } else { 1.0 - outside(rank(runs), runs) }
}

/// Of figures in their order.
fn interval(sorted: &[f64]) -> [f64; 2] {
    let rank = rank(sorted.len());
    let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
    [at(rank - 1), at(sorted.len().saturating_sub(rank))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Vec<Vec<Read>> {
        values.iter().map(|value| vec![("x".into(), "µs", *value)]).collect()
    }

    fn one(real: &[f64], simulated: f64, busy: bool) -> Figure {
        compare("s", &of(real), &[("x".into(), "µs", simulated)], busy).remove(0)
    }

    #[test]
    fn an_error_is_against_the_median_of_the_real_runs() {
        let figure = one(&[100.0, 90.0, 1.0], 81.0, false);
        assert_eq!((figure.real, figure.error_percent), (90.0, Some(-10.0)));
        assert_eq!((figure.what.as_str(), figure.verdict), ("s: x", Some(Verdict::Within)));
    }

    #[test]
    fn beside_a_real_zero_there_is_no_error_in_percent() {
        assert_eq!(one(&[0.0], 1.0, false).error_percent, None);
    }

    #[test]
    fn what_only_the_simulation_has_is_left_out() {
        assert_eq!(compare("s", &of(&[1.0]), &[("y".into(), "µs", 1.0)], false), []);
        assert_eq!(compare("s", &[], &[("x".into(), "µs", 1.0)], false), []);
    }

    #[test]
    fn on_a_busy_machine_there_is_no_error_and_the_spread_says_how_steady_it_was() {
        let figure = one(&[100.0, 90.0, 110.0], 81.0, true);
        assert_eq!((figure.spread_percent, figure.error_percent), (Some(20.0), None));
        assert_eq!(figure.verdict, None);
    }

    #[test]
    fn the_interval_of_nine_runs_is_from_the_second_to_the_eighth() {
        // 2 * (1 + 9) / 512 is outside.
        assert!((confidence(9) - 0.9609).abs() < 1e-4, "{}", confidence(9));
        let figure = one(&[9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 8.0, false);
        assert_eq!((figure.interval, figure.real), ([2.0, 8.0], 5.0));
        assert_eq!(figure.verdict, Some(Verdict::Open));
        assert_eq!(
            one(&[9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 8.1, false).verdict,
            Some(Verdict::Off)
        );
    }

    #[test]
    fn of_a_few_runs_it_is_all_of_them_and_less_sure() {
        assert!((confidence(3) - 0.75).abs() < 1e-9);
        assert_eq!(one(&[3.0, 1.0, 2.0], 9.0, false).interval, [1.0, 3.0]);
        assert_eq!((confidence(1), one(&[3.0], 9.0, false).interval), (0.0, [3.0, 3.0]));
        assert!(confidence(25) >= 0.95 && confidence(6) > 0.95);
    }
}
