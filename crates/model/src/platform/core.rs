// SPDX-License-Identifier: Apache-2.0
//! Cores: `[[core]]` and what stands below it.

use toml::Spanned;
use toml::de::DeTable;
use whimbrel_hardware::{Cache, Core, Disturbance, IdleState, Leakage, Mesh, Point};
use whimbrel_hardware::{Scheduling, Transition, Waking};

use super::fabric::{at_node, node};
use super::units::{CELSIUS, MHZ, MW, NS, US, between, celsius, mhz, mw, ns, scaled, source, us};
use crate::problem::{Problem, Span};
use crate::reader::{Node, Reader, boolean, bytes, name};
use crate::reader::{filled, given, subtable, tables, within};

/// Frequencies further apart cannot be emulated.
const SPAN_MAX: u64 = 1000;
/// More than a place word can name.
const CORES_MAX: u32 = 4095;
/// What `scheduling` may say.
const SCHEDULING: &str = "\"cooperative\", \"preemptive\", \"edf\" or \"fair\"";
/// The slice of a fair kernel that says none: Linux has it from eight processors on.
const FAIR_SLICE_PS: u64 = 2_800_000_000;
/// The kind of cores that are all alike.
const KIND: &str = "core";

/// A `[[core]]`: so many cores alike, from a node on.
pub(super) struct Placed {
    core: Core,
    count: u32,
    node: Option<Spanned<(u32, u32)>>,
    place: Span,
}

/// The tables below a `[[core]]`, each as it stands in the file.
struct Below<'t> {
    points: Option<Spanned<Vec<Spanned<DeTable<'t>>>>>,
    transition: Option<Spanned<DeTable<'t>>>,
    idle_states: Option<Spanned<Vec<Spanned<DeTable<'t>>>>>,
    leakage: Option<Spanned<DeTable<'t>>>,
    cache: Option<Spanned<DeTable<'t>>>,
}

impl<'t> Below<'t> {
    fn of(reader: &mut Reader<'t, '_>) -> Self {
        const POINTS: &str = "one [[core.point]] for each operating point";
        let some = |n: &Node<'t>| tables(n).filter(|points| !points.is_empty());
        Self {
            points: reader.required("point", POINTS, some),
            transition: reader.optional("transition", "a table: [core.transition]", subtable),
            idle_states: reader.optional("idle_state", "tables: [[core.idle_state]]", tables),
            leakage: reader.optional("leakage", "a table: [core.leakage]", subtable),
            cache: reader.optional("cache", "a table: [core.cache]", subtable),
        }
    }
}

/// Reads a `[[core]]`. What it gives means something only if there are no problems.
pub(super) fn read(
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Option<Placed> {
    let mut reader = Reader::new("[[core]]", table, place.clone(), problems);
    let count = reader.or("count", "a whole number from 1 to 4095", |n| within(n, 1, CORES_MAX), 1);
    let kind = reader.or("kind", "1 to 31 letters, digits and _", name, KIND.into());
    let off = reader.or("idle", "\"on\" or \"off\"", is_off, false);
    let start = reader.optional("start_mhz", "the frequency of one of its points", mhz);
    let Below { points, transition, idle_states, leakage, cache } = Below::of(&mut reader);
    let node = reader.optional("node", "a node of the mesh: [column, row]", node);
    let (scheduling, slice_ps, tick_ps) = read_turns(table, &mut reader);
    let timer_slack_ps = reader.or("timer_slack_us", US, us, 0);
    reader.optional("source", super::SOURCE, filled);
    reader.finish(());

    let points = read_all(points, problems, |t, at, p| read_point(t, at, off, p), check_points);
    let idle_states = read_all(idle_states, problems, read_idle, check_idle);
    let transition = transition.and_then(|t| read_transition(t.get_ref(), t.span(), problems));
    let leakage = leakage.and_then(|t| read_leakage(t.get_ref(), t.span(), problems));
    let cache = cache.and_then(|t| read_cache(t.get_ref(), t.span(), problems));
    let points = points?;
    let core = Core {
        kind,
        start: find_start(start, &points, problems)?,
        points,
        transition: transition.unwrap_or_default(),
        idle_states: idle_states.unwrap_or_default(),
        leakage,
        cache,
        node: (0, 0),
        scheduling,
        slice_ps,
        tick_ps,
        timer_slack_ps,
        off: false,
        number: None,
    };
    Some(Placed { core, count, node, place })
}

/// Reads tables of one name, and checks how they fit each other; `None`: there are none, or one
/// cannot be read.
fn read_all<T>(
    tables: Option<Spanned<Vec<Spanned<DeTable<'_>>>>>,
    problems: &mut Vec<Problem>,
    read: impl Fn(&DeTable<'_>, Span, &mut Vec<Problem>) -> Option<Spanned<T>>,
    check: impl FnOnce(&[Spanned<T>], &mut Vec<Problem>),
) -> Option<Vec<T>> {
    let tables = tables?.into_inner();
    let mut all = Vec::new();
    for table in &tables {
        all.extend(read(table.get_ref(), table.span(), problems));
    }
    if all.len() < tables.len() {
        return None;
    }
    check(&all, problems);
    Some(all.into_iter().map(Spanned::into_inner).collect())
}

/// Every core with its node: those of one `[[core]]` follow along the rows of the mesh.
pub(super) fn place(
    all: Vec<Placed>,
    mesh: Option<&Mesh>,
    problems: &mut Vec<Problem>,
) -> Option<Vec<Core>> {
    let (mut cores, mut next) = (Vec::new(), 0);
    let nodes = mesh.map_or(CORES_MAX, |mesh| mesh.columns * mesh.rows);
    for Placed { core, count, node, place } in all {
        if let Some(node) = node {
            let (column, row) = at_node(&node, mesh, problems)?;
            next = row * mesh?.columns + column;
        }
        if count > nodes.saturating_sub(next) {
            let message = match mesh {
                Some(_) => "[[core]] has more cores than the mesh has nodes left".into(),
                None => format!("a platform has at most {CORES_MAX} cores"),
            };
            let words = format!("{count} from number {next} on, of {nodes}");
            problems.push(Problem::new(message).at(place, words));
            return None;
        }
        for _ in 0..count {
            let node = mesh.map_or((0, 0), |mesh| (next % mesh.columns, next / mesh.columns));
            cores.push(Core { node, ..core.clone() });
            next += 1;
        }
    }
    Some(cores)
}

fn is_off(node: &Node<'_>) -> Option<bool> {
    match node.get_ref().as_str()? {
        "on" => Some(false),
        "off" => Some(true),
        _ => None,
    }
}

fn scheduling(node: &Node<'_>) -> Option<Scheduling> {
    let word = filled(node)?;
    Scheduling::WORDS.into_iter().find(|(known, _)| *known == word).map(|(_, found)| found)
}

const SOME_US: &str = "a time in microseconds, from 1 to 1e9";

fn some_us(node: &Node<'_>) -> Option<u64> {
    us(node).filter(|time| *time >= 1_000_000)
}

/// How tasks take turns: `scheduling`, `slice_us` and `tick_us`.
fn read_turns(table: &DeTable<'_>, reader: &mut Reader<'_, '_>) -> (Scheduling, u64, u64) {
    let scheduling = reader.optional("scheduling", SCHEDULING, scheduling);
    let slice = reader.optional("slice_us", SOME_US, some_us);
    let tick = reader.optional("tick_us", SOME_US, some_us);
    // What goes with a word that is none is not known.
    let is_known = scheduling.is_some() || !table.contains_key("scheduling");
    let scheduling = given(&scheduling);
    let mut problems = Vec::new();
    let slice_ps = check_slice(slice.filter(|_| is_known), scheduling, &mut problems);
    let tick_ps = check_tick(tick.filter(|_| is_known), scheduling, &mut problems);
    reader.note(problems);
    (scheduling, slice_ps, tick_ps)
}

/// Turns are what equally urgent tasks take, and only a kernel that preempts ends one.
fn check_slice(
    slice: Option<Spanned<u64>>,
    scheduling: Scheduling,
    problems: &mut Vec<Problem>,
) -> u64 {
    let is_fair = scheduling == Scheduling::Fair;
    let Some(slice) = slice else { return if is_fair { FAIR_SLICE_PS } else { 0 } };
    if scheduling != Scheduling::Preemptive && !is_fair {
        let message = "`slice_us` of [[core]] needs `scheduling = \"preemptive\"` or `\"fair\"`";
        let words = match scheduling {
            Scheduling::Edf => "the earliest deadline goes first, without turns",
            _ => "nothing ends a turn before the task waits",
        };
        problems.push(Problem::new(message).at(slice.span(), words));
    }
    slice.into_inner()
}

/// Others end slices when they are over.
fn check_tick(
    tick: Option<Spanned<u64>>,
    scheduling: Scheduling,
    problems: &mut Vec<Problem>,
) -> u64 {
    let Some(tick) = tick else { return 0 };
    if scheduling != Scheduling::Fair {
        let message = "`tick_us` of [[core]] needs `scheduling = \"fair\"`";
        let words = "no other kernel waits for its tick to end a slice";
        problems.push(Problem::new(message).at(tick.span(), words));
    }
    tick.into_inner()
}

fn find_start(
    start: Option<Spanned<u64>>,
    points: &[Point],
    problems: &mut Vec<Problem>,
) -> Option<usize> {
    let Some(start) = start else { return points.len().checked_sub(1) };
    let position = points.iter().position(|point| point.hz == *start.get_ref());
    if position.is_none() {
        let message = "`start_mhz` of [[core]] is the frequency of none of its points";
        problems.push(Problem::new(message).at(start.span(), "not this frequency"));
    }
    position
}

fn read_point(
    table: &DeTable<'_>,
    place: Span,
    off: bool,
    problems: &mut Vec<Problem>,
) -> Option<Spanned<Point>> {
    let mut reader = Reader::new("[[core.point]]", table, place.clone(), problems);
    let volts = |n: &Node<'_>| u32::try_from(scaled(n, 1e6, 1e5, 1e8)?).ok();
    let hz = reader.must("mhz", MHZ, mhz).into_inner();
    let active = reader.required("active_mw", MW, mw);
    let active_uw = given(&active);
    let idle_uw = reader.or("idle_mw", MW, mw, active_uw);
    let fixed = reader.optional("static_mw", MW, mw);
    let microvolts = reader.or("volts", "a voltage, from 0.1 to 100", volts, 0);
    reader.optional("source", super::SOURCE, filled);
    let most = if off { active_uw } else { active_uw.min(idle_uw) };
    let idle_uw = if off { 0 } else { idle_uw };
    let point = Point { hz, microvolts, active_uw, idle_uw, static_uw: given(&fixed) };
    let point = reader.finish(Spanned::new(place, point));

    if let Some(fixed) = fixed.filter(|fixed| active.is_some() && *fixed.get_ref() > most) {
        let message = "`static_mw` of [[core.point]] is a part of `active_mw` and `idle_mw`";
        problems.push(Problem::new(message).at(fixed.span(), "more than the whole"));
    }
    point
}

fn check_points(points: &[Spanned<Point>], problems: &mut Vec<Problem>) {
    for pair in points.windows(2) {
        let (low, high) = (pair[0].get_ref(), pair[1].get_ref());
        if low.hz >= high.hz {
            let problem = Problem::new("the points of [[core]] must be of rising frequency");
            let problem = problem.at(pair[1].span(), "not above the one before");
            problems.push(problem.help("write them from the lowest frequency to the highest"));
        } else if high.microvolts > 0 && low.microvolts > high.microvolts {
            let problem = Problem::new("the voltage of [[core]] falls at a higher frequency");
            problems.push(problem.at(pair[1].span(), "less `volts` than the one before"));
        }
    }
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    if last.get_ref().hz / first.get_ref().hz > SPAN_MAX {
        let message = "the frequencies of [[core]] are more than a thousandfold apart";
        problems.push(Problem::new(message).at(first.span(), "too low beside the highest"));
    }
}

fn read_idle(
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Option<Spanned<IdleState>> {
    let mut reader = Reader::new("[[core.idle_state]]", table, place.clone(), problems);
    let state = IdleState {
        name: reader.must("name", "1 to 31 letters, digits and _", name).into_inner(),
        power_uw: reader.must("power_mw", MW, mw).into_inner(),
        enter_ps: reader.or("enter_us", US, us, 0),
        exit_ps: reader.or("exit_us", US, us, 0),
        after_ps: reader.or("after_us", US, us, 0),
        loses_cache: reader.or("loses_cache", "true or false", boolean, false),
        waking: Waking {
            ring_ps: reader.or("ring_us", US, us, 0),
            switch_ps: reader.or("switch_us", US, us, 0),
            refill_ps: reader.or("refill_us", US, us, 0),
        },
    };
    source(&mut reader);
    reader.finish(Spanned::new(place, state))
}

fn check_idle(states: &[Spanned<IdleState>], problems: &mut Vec<Problem>) {
    for pair in states.windows(2) {
        let (shallow, deep) = (pair[0].get_ref(), pair[1].get_ref());
        if deep.after_ps <= shallow.after_ps || deep.after_ps < shallow.after_ps + shallow.enter_ps
        {
            let message = "the idle states of [[core]] must follow each other in time";
            let problem =
                Problem::new(message).at(pair[1].span(), "before the one above is entered");
            problems.push(problem.help("`after_us` counts from when the core became idle"));
        } else if deep.power_uw > shallow.power_uw {
            let problem = Problem::new("the idle states of [[core]] must be of falling power");
            let problem = problem.at(pair[1].span(), "more than the one above");
            problems.push(problem.help("write them from the shallowest to the deepest"));
        }
    }
}

fn read_transition(
    table: &DeTable<'_>,
    place: Span,
    problems: &mut Vec<Problem>,
) -> Option<Transition> {
    let mut reader = Reader::new("[core.transition]", table, place, problems);
    let energy = |n: &Node<'_>| scaled(n, 1e6, 0.0, 1e15);
    let transition = Transition {
        time_ps: reader.must("time_us", US, us).into_inner(),
        energy_pj: reader.or("energy_uj", "an energy in microjoules, from 0 to 1e9", energy, 0),
    };
    source(&mut reader);
    reader.finish(transition)
}

fn read_leakage(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<Leakage> {
    let mut reader = Reader::new("[core.leakage]", table, place, problems);
    let slope = "degrees for a factor of e, from 1 to 1000";
    let leakage = Leakage {
        reference_mc: reader.must("reference_c", CELSIUS, celsius).into_inner(),
        slope_c: reader.must("slope_c", slope, |n| between(n, 1.0, 1e3)).into_inner(),
    };
    source(&mut reader);
    reader.finish(leakage)
}

fn read_cache(table: &DeTable<'_>, place: Span, problems: &mut Vec<Problem>) -> Option<Cache> {
    let mut reader = Reader::new("[core.cache]", table, place, problems);
    let size = reader.must("size", "a size as \"16KiB\", from 1 byte to \"1024GiB\"", |n| {
        bytes(n).filter(|size| (1..=1 << 40).contains(size))
    });
    let line_bytes = reader
        .must("line_bytes", "a whole number from 1 to 4096", |n| within(n, 1, 4096))
        .into_inner();
    let part = |n: &Node<'_>| u32::try_from(scaled(n, 1e6, 1.0, 1e6)?).ok();
    let cache = Cache {
        bytes: *size.get_ref(),
        line_bytes,
        miss_ps: reader.must("miss_ns", NS, ns).into_inner(),
        far_ps: reader.or("far_ns", NS, ns, 0),
        disturbance: Disturbance {
            part_ppm: reader.or("disturbed", "a part, above 0 and at most 1", part, 0),
            mean_ps: reader.or("disturbed_us", US, us, 0),
        },
    };
    source(&mut reader);
    let cache = reader.finish(cache);
    // Each of the two is 0 if it cannot be read.
    if (1..u64::from(line_bytes)).contains(size.get_ref()) {
        let problem = Problem::new("`size` of [core.cache] is less than a line");
        problems.push(problem.at(size.span(), format!("a line has {line_bytes} bytes")));
    }
    check_disturbance(table, problems);
    cache
}

/// Both keys or none.
fn check_disturbance(table: &DeTable<'_>, problems: &mut Vec<Problem>) {
    let (written, missing) = match (table.get("disturbed"), table.get("disturbed_us")) {
        (Some(part), None) => (part, "disturbed_us"),
        (None, Some(mean)) => (mean, "disturbed"),
        _ => return,
    };
    let message = format!("[core.cache] is disturbed, and has no `{missing}`");
    let help = "`disturbed` is how many, `disturbed_us` how long: write both, or none";
    problems.push(Problem::new(message).at(written.span(), "not without the other").help(help));
}
