// SPDX-License-Identifier: Apache-2.0
//! A report as one picture, SVG that needs nothing else: gaps by length, and interrupts by line,
//! before and during.

use super::noise::{Bucket, Noise};
use super::report::{Group, Report, Row, number};
use super::svg::{Anchor, Svg};

const WIDTH: f64 = 760.0;
/// Where bars begin, right of names, and where the longest ends.
const LEFT: f64 = 240.0;
const RIGHT: f64 = 680.0;
/// Heights: of the title and what the colours mean; of the picture of gaps with all that belongs to
/// it; of one line of interrupts.
const HEAD: f64 = 60.0;
const GAPS: f64 = 280.0;
const LINE: f64 = 32.0;
/// How thick a bar is.
const BAR: f64 = 12.0;
/// Most letters of a name that fit beside its bars.
const NAME: usize = 34;
/// Most lengths that fit below the bars.
const LENGTHS: usize = 9;
const WHEN: [(&str, &str); 2] = [("before", "#c4451c"), ("during", "#1b6ca8")];

impl Report {
    /// The picture. Gaps are in it if a spinning thread has looked for them; they are on a
    /// logarithmic scale, interrupts on a linear one, both in times per second.
    pub fn plot(&self) -> String {
        let mut svg = Svg::default();
        svg.text((WIDTH / 2.0, 22.0), Anchor::Middle, &self.title());
        for ((when, colour), x) in WHEN.into_iter().zip([LEFT, LEFT + 90.0]) {
            svg.bar((x, 36.0), (BAR, BAR), colour);
            svg.text((x + BAR + 6.0, 46.0), Anchor::Start, when);
        }
        let noises = [self.noise_before.as_ref(), self.noise_during.as_ref()];
        let mut top = HEAD;
        if noises.iter().any(Option::is_some) {
            heading(&mut svg, top, "gaps of a spinning thread per second, by their length");
            gaps(&mut svg, top, noises);
            top += GAPS;
        }
        heading(&mut svg, top, "interrupts per second, by line");
        let bottom = interrupts(&mut svg, top + 36.0, self);
        svg.document(WIDTH, bottom + 20.0)
    }
}

fn heading(svg: &mut Svg, top: f64, words: &str) {
    svg.text((LEFT, top + 20.0), Anchor::Start, words);
}

/// Bars upwards: how many gaps of each length there were in a second.
fn gaps(svg: &mut Svg, top: f64, noises: [Option<&Noise>; 2]) {
    let (ceiling, floor) = (top + 40.0, top + GAPS - 50.0);
    let buckets = || noises.into_iter().flatten().flat_map(|noise| &noise.buckets);
    let first = buckets().map(|bucket| bucket.from_us).min();
    let last = buckets().map(|bucket| bucket.from_us).max();
    let (Some(first), Some(last)) = (first, last) else {
        return svg.text((LEFT, ceiling), Anchor::Start, "there were none");
    };
    let to_y = scale(svg, noises, ceiling, floor);
    let lengths: Vec<u64> = starts().filter(|from| (first..=last).contains(from)).collect();
    let slot = (RIGHT - LEFT) / count(lengths.len());
    let width = (slot / 2.0 - 2.0).min(BAR);
    for (at, from) in lengths.iter().enumerate() {
        let middle = LEFT + slot * (count(at) + 0.5);
        if at % lengths.len().div_ceil(LENGTHS) == 0 {
            svg.text((middle, floor + 16.0), Anchor::Middle, &length(*from));
        }
        for ((noise, (_, colour)), x) in noises.iter().zip(WHEN).zip([middle - width, middle]) {
            let rate = noise.map_or(0.0, |noise| rate_of(noise, *from));
            if rate > 0.0 {
                svg.bar((x, to_y(rate)), (width, floor - to_y(rate)), colour);
            }
        }
    }
    let axis = "from this length to the double";
    svg.text((f64::midpoint(LEFT, RIGHT), floor + 34.0), Anchor::Middle, axis);
}

/// Draws the scale of rates, and tells where a rate is on it.
fn scale(
    svg: &mut Svg,
    noises: [Option<&Noise>; 2],
    ceiling: f64,
    floor: f64,
) -> impl Fn(f64) -> f64 + use<> {
    let rates = |noise: &Noise| noise.buckets.iter().map(|b| rate(noise, b)).collect::<Vec<_>>();
    let rates = noises.into_iter().flatten().flat_map(rates).filter(|rate| *rate > 0.0);
    let (least, most) = rates.fold((f64::MAX, f64::MIN), |(a, b), rate| (a.min(rate), b.max(rate)));
    // It begins a bit below the least, so that its bar is to be seen.
    let (low, high) = ((least.log10() - 0.2).floor(), most.log10().ceil());
    let to_y = move |rate: f64| floor - (floor - ceiling) * (rate.log10() - low) / (high - low);
    let mut decade = low;
    while decade <= high {
        let rate = 10_f64.powf(decade);
        svg.rule((LEFT, RIGHT), to_y(rate));
        svg.text((LEFT - 8.0, to_y(rate) + 4.0), Anchor::End, &format!("{rate}"));
        decade += 1.0;
    }
    to_y
}

/// Bars to the right; returns where they end.
fn interrupts(svg: &mut Svg, top: f64, report: &Report) -> f64 {
    let rates = |row: &Row| [row.before.unwrap_or(0.0), row.during];
    let most = report.of(Group::Interrupts).flat_map(rates).fold(f64::MIN_POSITIVE, f64::max);
    let mut top = top;
    for row in report.of(Group::Interrupts) {
        svg.text((LEFT - 8.0, top + BAR + 4.0), Anchor::End, &shortened(&row.name));
        for ((rate, (_, colour)), y) in rates(row).into_iter().zip(WHEN).zip([top, top + BAR]) {
            let width = (RIGHT - LEFT) * rate / most;
            if rate > 0.0 {
                svg.bar((LEFT, y), (width, BAR), colour);
            }
            svg.text((LEFT + width + 6.0, y + 10.0), Anchor::Start, &number(rate));
        }
        top += LINE;
    }
    top
}

/// Where buckets begin.
fn starts() -> impl Iterator<Item = u64> {
    std::iter::once(0).chain((0..u64::BITS).map(|bits| 1 << bits))
}

fn rate_of(noise: &Noise, from_us: u64) -> f64 {
    let bucket = noise.buckets.iter().find(|bucket| bucket.from_us == from_us);
    bucket.map_or(0.0, |bucket| rate(noise, bucket))
}

#[expect(clippy::cast_precision_loss, reason = "a rate is not exact anyway")]
fn rate(noise: &Noise, bucket: &Bucket) -> f64 {
    bucket.count as f64 * 1e9 / noise.watched_ns.max(1) as f64
}

#[expect(clippy::cast_precision_loss, reason = "of bars in a picture")]
fn count(number: usize) -> f64 {
    number as f64
}

fn length(us: u64) -> String {
    if us < 1000 { format!("{us} µs") } else { format!("{}.{} ms", us / 1000, us % 1000 / 100) }
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}
