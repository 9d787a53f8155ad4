// SPDX-License-Identifier: Apache-2.0
//! Platforms as `platforms/*.toml` describe them. See `docs/platform-toml.md`.

use toml::Spanned;
use toml::de::DeTable;

use crate::manifest::{document, filled, tables, whole_table, within};
use crate::problem::{Problem, Problems, Span};
use crate::reader::{Node, Reader, name, number, text};

/// The hardware that an application runs on, or that is emulated.
#[derive(Debug, Clone, PartialEq)]
pub struct Platform {
    /// Its name.
    pub name: String,
    /// One line about it; empty if there is none.
    pub description: String,
    /// Every core; empty: those of the machine it runs on, as they are.
    pub cores: Vec<Core>,
}

/// One core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Core {
    /// Its operating points, from the lowest frequency to the highest.
    pub points: Vec<Point>,
    /// The position of the one it begins at.
    pub start: usize,
}

/// An operating point of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Its frequency.
    pub hz: u64,
    /// Its power in tasks, in microwatts.
    pub active_uw: u32,
    /// Its power without, in microwatts.
    pub idle_uw: u32,
}

/// How operating points are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Frequency {
    /// They are not.
    #[default]
    None,
    /// Tasks run for their part of the time.
    Emulate,
    /// By Linux.
    Cpufreq,
}

impl Frequency {
    /// The word of the plan, and of `--frequency`.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Emulate => "emulate",
            Self::Cpufreq => "cpufreq",
        }
    }
}

const MHZ: &str = "a frequency in megahertz, from 0.001 to 1e6";
const MW: &str = "a power in milliwatts, from 0 to 4e6";
/// Frequencies further apart cannot be emulated.
const SPAN_MAX: u64 = 1000;
/// More than a place word can name.
const CORES_MAX: u32 = 4095;

impl Platform {
    /// Reads the text of a platform.
    ///
    /// # Errors
    /// Text that is no TOML, tables or keys that do not exist or are missing, values of a wrong
    /// type or out of range: all of them at once.
    pub fn parse(source: &str) -> Result<Self, Problems> {
        let document = document(source)?;
        let mut problems = Vec::new();
        match read(&document, &mut problems) {
            Some(platform) if problems.is_empty() => Ok(platform),
            _ => Err(problems.into()),
        }
    }
}

fn read(document: &DeTable<'_>, problems: &mut Vec<Problem>) -> Option<Platform> {
    let mut top = Reader::new("the file", document, 0..0, problems);
    let platform = top.required("platform", "the table with the platform's name", whole_table);
    let cores = top.optional("core", "tables: [[core]]", tables);
    top.finish();

    let (name, description) =
        platform.and_then(|table| read_head(table.get_ref(), table.span(), problems))?;
    let mut all = Vec::new();
    for table in cores.map(Spanned::into_inner).unwrap_or_default() {
        let (count, core) = read_core(table.get_ref(), table.span(), problems)?;
        all.extend(std::iter::repeat_n(core, count as usize));
    }
    Some(Platform { name, description, cores: all })
}

fn read_head(
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Option<(String, String)> {
    let mut reader = Reader::new("[platform]", table, place, problems);
    let name = reader.required("name", "1 to 31 letters, digits and _", name);
    let description = reader.optional("description", "one line of text", text);
    reader.finish();
    Some((name?.into_inner(), description.map(Spanned::into_inner).unwrap_or_default()))
}

fn read_core(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<(u32, Core)> {
    let mut reader = Reader::new("[[core]]", table, place.clone(), problems);
    let count = reader.optional("count", "from 1 to 4095", |n| within(n, 1, CORES_MAX));
    let idle = reader.optional("idle", "\"on\" or \"off\"", |n| {
        filled(n).filter(|idle| idle == "on" || idle == "off")
    });
    let start = reader.optional("start_mhz", "the frequency of one of its points", hz);
    let tables = reader.required("point", "one [[core.point]] for each operating point", |n| {
        tables(n).filter(|points| !points.is_empty())
    });
    reader.finish();

    let off = idle.is_some_and(|idle| idle.get_ref() == "off");
    let mut points = Vec::new();
    for table in tables?.into_inner() {
        let point = read_point(table.get_ref(), table.span(), off, problems)?;
        points.push(Spanned::new(table.span(), point));
    }
    check_order(&points, problems);
    let points: Vec<Point> = points.into_iter().map(Spanned::into_inner).collect();
    let start = match start {
        Some(start) => match points.iter().position(|point| point.hz == *start.get_ref()) {
            Some(position) => position,
            None => {
                let message = "`start_mhz` of [[core]] is the frequency of none of its points";
                problems.push(Problem::new(message).at(start.span(), "not this frequency"));
                return None;
            }
        },
        None => points.len() - 1,
    };
    Some((count.map_or(1, Spanned::into_inner), Core { points, start }))
}

fn read_point(
    table: &DeTable<'_>,
    place: Span,
    off: bool,
    problems: &mut Vec<Problem>,
) -> Option<Point> {
    let mut reader = Reader::new("[[core.point]]", table, place, problems);
    let hz = reader.required("mhz", MHZ, hz);
    let active = reader.required("active_mw", MW, microwatts);
    let idle = reader.optional("idle_mw", MW, microwatts);
    reader.finish();
    let active_uw = active?.into_inner();
    let idle_uw = if off { 0 } else { idle.map_or(active_uw, Spanned::into_inner) };
    Some(Point { hz: hz?.into_inner(), active_uw, idle_uw })
}

fn check_order(points: &[Spanned<Point>], problems: &mut Vec<Problem>) {
    for pair in points.windows(2) {
        if pair[0].get_ref().hz >= pair[1].get_ref().hz {
            let problem = Problem::new("the points of [[core]] must be of rising frequency");
            let problem = problem.at(pair[1].span(), "not above the one before");
            problems.push(problem.help("write them from the lowest frequency to the highest"));
        }
    }
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    if last.get_ref().hz / first.get_ref().hz > SPAN_MAX {
        let message = "the frequencies of [[core]] are more than a thousandfold apart";
        problems.push(Problem::new(message).at(first.span(), "too low beside the highest"));
    }
}

fn hz(node: &Node<'_>) -> Option<u64> {
    scaled(node, 1e6, 1e3, 1e12)
}

fn microwatts(node: &Node<'_>) -> Option<u32> {
    u32::try_from(scaled(node, 1e3, 0.0, 4e9)?).ok()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it lies between two numbers that fit"
)]
fn scaled(node: &Node<'_>, scale: f64, least: f64, most: f64) -> Option<u64> {
    let value = (number(node)? * scale).round();
    (least..=most).contains(&value).then_some(value as u64)
}
