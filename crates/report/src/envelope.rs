// SPDX-License-Identifier: Apache-2.0
//! A value over time, in no more points than a page can hold.
//!
//! Points are kept as they were until there are too many. From then on those that lie in one bin
//! of time become one, with the lowest, the highest and the last value of them, and the mean over
//! the time until the next point.

use serde::Serialize;

use crate::columns::{encode, signed};

const FIRST_WIDTH_NS: u64 = 1024;

/// From `at` on, in nanoseconds since the start of the run, the value is `last`; it was between
/// `low` and `high` until the next point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Point {
    at: u64,
    low: i64,
    high: i64,
    last: i64,
    /// The sum of values times how long they held, until the next point.
    area: i128,
}

/// A value over time.
#[derive(Debug, Clone)]
pub struct Envelope {
    points: Vec<Point>,
    width_ns: u64,
    limit: usize,
    /// The time up to which `area` of the last point counts.
    counted: u64,
}

/// As the page takes it: columns. Those of bins are absent when the points are those of the run.
#[derive(Debug, Serialize)]
pub struct EnvelopeData {
    at: String,
    last: String,
    #[serde(flatten)]
    bins: Option<Bins>,
}

#[derive(Debug, Serialize)]
struct Bins {
    low: String,
    high: String,
    mean: String,
}

impl Envelope {
    /// None yet, and never more than `limit`, which is at least 2.
    pub fn new(limit: usize) -> Self {
        Self { points: Vec::new(), width_ns: 0, limit: limit.max(2), counted: 0 }
    }

    /// Whether nothing was ever pushed.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The value from this time on, which is not before the last one.
    pub fn push(&mut self, at: u64, value: i64) {
        self.count_until(at);
        let point = Point { at, low: value, high: value, last: value, area: 0 };
        add(&mut self.points, point, self.width_ns);
        while self.points.len() > self.limit {
            self.width_ns = (self.width_ns * 2).max(FIRST_WIDTH_NS);
            let fine = std::mem::take(&mut self.points);
            for point in fine {
                add(&mut self.points, point, self.width_ns);
            }
        }
    }

    fn count_until(&mut self, at: u64) {
        if let Some(point) = self.points.last_mut() {
            point.area += i128::from(point.last) * i128::from(at.saturating_sub(self.counted));
        }
        self.counted = self.counted.max(at);
    }

    /// As the page takes it, of a run that ended at `end`.
    pub fn data(mut self, end: u64) -> EnvelopeData {
        self.count_until(end);
        let points = &self.points;
        let column = |of: fn(&Point) -> i64| encode(points.iter().map(of));
        let ends = points.iter().skip(1).map(|next| next.at).chain([self.counted]);
        let means = points.iter().zip(ends).map(|(point, end)| point.mean(end));
        let bins = (self.width_ns > 0).then(|| Bins {
            low: column(|point| point.low),
            high: column(|point| point.high),
            mean: encode(means),
        });
        EnvelopeData { at: column(|point| signed(point.at)), last: column(|p| p.last), bins }
    }
}

impl Point {
    /// The mean until `end`, the time of the next point.
    fn mean(&self, end: u64) -> i64 {
        let time = i128::from(end.saturating_sub(self.at));
        let mean = self.area.checked_div(time).and_then(|mean| i64::try_from(mean).ok());
        mean.unwrap_or(self.last)
    }
}

fn add(points: &mut Vec<Point>, point: Point, width_ns: u64) {
    match points.last_mut() {
        Some(known) if width_ns > 0 && known.at / width_ns == point.at / width_ns => {
            known.low = known.low.min(point.low);
            known.high = known.high.max(point.high);
            known.last = point.last;
            known.area += point.area;
        }
        _ => points.push(point),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_stay_as_they_were() {
        let mut depth = Envelope::new(10);
        for at in 0..10 {
            depth.push(at * 7, signed(at));
        }
        assert_eq!((depth.points.len(), depth.width_ns), (10, 0));
        assert!(depth.data(70).bins.is_none());
    }

    #[test]
    fn many_points_keep_their_extremes_and_the_last_value() {
        let mut depth = Envelope::new(64);
        for at in 0..100_000_u64 {
            let value = if at == 5_000 { 99 } else { signed(at % 3) };
            depth.push(at * 500, value);
        }
        assert!(depth.points.len() <= 64 && depth.points.len() > 16);
        assert_eq!(depth.points.iter().map(|point| point.high).max(), Some(99));
        assert_eq!(depth.points.iter().map(|point| point.low).min(), Some(0));
        assert_eq!(depth.points.last().unwrap().last, 0);
        let (area, end) = (depth.points.iter().map(|point| point.area).sum::<i128>(), 50_000_000);
        assert!((49_000_000..51_000_000).contains(&area), "a mean of about 1: {area}");
        assert!(depth.data(end).bins.is_some());
    }

    #[test]
    fn the_mean_of_a_point_counts_how_long_values_held() {
        let mut power = Envelope::new(2);
        for (at, value) in [(0, 10), (900, 20), (5000, 7)] {
            power.push(at, value);
        }
        power.count_until(9000);
        let means = [power.points[0].mean(5000), power.points[1].mean(9000)];
        assert_eq!(means, [(900 * 10 + 4100 * 20) / 5000, 7]);
    }
}
