// SPDX-License-Identifier: Apache-2.0
//! Cores: `[[core]]` and what stands below it.

use toml::Spanned;
use whimbrel_hardware::{Cache, Core, Disturbance, IdleState, Leakage, Mesh, Point};
use whimbrel_hardware::{Migration, OwnCosts, Scheduling, Transition, Waking};

use super::fabric::at_node;
use super::keys::{CacheTable, CoreTable, Idle, IdleTable, PointTable};
use crate::problem::Problem;
use crate::reader::given;
use crate::schema::{Noted, Tried};

/// Frequencies further apart cannot be emulated.
const SPAN_MAX: u64 = 1000;
/// More than a place word can name.
const CORES_MAX: u32 = 4095;
/// The slice of a fair kernel that says none: Linux has it from eight processors on.
const FAIR_SLICE_PS: u64 = 2_800_000_000;
impl CoreTable {
    pub(super) fn check(&self, noted: &mut Noted<'_>) {
        let problems = &mut noted.problems;
        // What goes with a word that is none is not known.
        if self.scheduling.is_some() || !self.keys.contains_key("scheduling") {
            check_slice(self.slice.as_ref(), given(&self.scheduling), problems);
            check_tick(self.tick.as_ref(), given(&self.scheduling), problems);
            self.check_migration(problems);
        }
        if self.points.get_ref().is_empty() {
            let message = "`point` of [[core]] must be one [[core.point]] for each operating point";
            problems.push(
                Problem::new(message)
                    .help("write a [[core.point]] with `mhz` for each")
                    .at(self.points.span(), "not this array"),
            );
        }
        let read = self.points.get_ref().iter().filter_map(|point| point.get_ref().read.as_ref());
        read.for_each(|point| check_static(point, given(&self.idle) == Idle::Off, problems));
        let Some(points) = self.points() else { return check_idle(&self.idle_states, problems) };
        check_points(&points, problems);
        check_idle(&self.idle_states, problems);
        if let (Some(start), None) = (&self.start, self.start(&points)) {
            let message = "`start_mhz` of [[core]] is the frequency of none of its points";
            problems.push(
                Problem::new(message)
                    .help("write the `mhz` of one of its points")
                    .at(start.span(), "not this frequency"),
            );
        }
    }

    /// Several cores share a scheduler, which goes by urgency alone.
    fn check_migration(&self, problems: &mut Vec<Problem>) {
        let shared = self.migration.as_ref().filter(|it| *it.get_ref() != Migration::None);
        let Some(migration) = shared else { return };
        let scheduling = given(&self.scheduling);
        let (message, help, at, words) = if self.count < 2 {
            let help = "raise `count`: the cores of one [[core]] share the scheduler";
            (
                "`migration` of [[core]] needs `count` of at least 2",
                help,
                migration.span(),
                "one core",
            )
        } else if !matches!(scheduling, Scheduling::Preemptive | Scheduling::Edf) {
            let message =
                "`migration` of [[core]] needs `scheduling = \"preemptive\"` or `\"edf\"`";
            let words = match scheduling {
                Scheduling::Fair => "tasks share one core by their weights, not several",
                _ => "a cooperative kernel does not take a core from a task",
            };
            (message, "leave it out, or change `scheduling`", migration.span(), words)
        } else if let Some(slice) = &self.slice {
            let words = "a shared scheduler has no time slices";
            (
                "`slice_us` of [[core]] needs `migration = \"none\"`",
                "leave it out",
                slice.span(),
                words,
            )
        } else {
            return;
        };
        problems.push(Problem::new(message).help(help).at(at, words));
    }

    /// Its points; `None`: they are not known.
    fn points(&self) -> Option<Vec<Spanned<&PointTable>>> {
        let all = self.points.get_ref().iter();
        all.map(|point| {
            let Tried { read, is_right } = point.get_ref();
            read.as_ref().filter(|_| *is_right).map(|read| Spanned::new(point.span(), read))
        })
        .collect()
    }

    /// The position of the point at which it begins.
    fn start(&self, points: &[Spanned<&PointTable>]) -> Option<usize> {
        let Some(start) = &self.start else { return points.len().checked_sub(1) };
        points.iter().position(|point| point.get_ref().hz.get_ref() == start.get_ref())
    }

    /// What acts cost on it alone.
    fn own(&self) -> OwnCosts {
        let acts = self.costs.as_ref().map(|it| it.get_ref().clone()).unwrap_or_default();
        OwnCosts(acts.into_iter().map(|(name, it)| (name, it.into())).collect())
    }

    fn core(&self) -> Core {
        let scheduling = given(&self.scheduling);
        let fair_slice_ps = if scheduling == Scheduling::Fair { FAIR_SLICE_PS } else { 0 };
        let off = given(&self.idle) == Idle::Off;
        let points = self.points().unwrap_or_default();
        let states = self.idle_states.iter().map(|state| state.get_ref().clone().into());
        let leakage = self.leakage.clone().map(Spanned::into_inner);
        let cache = self.cache.clone().map(Spanned::into_inner);
        let transition = self.transition.clone().map(Spanned::into_inner);
        Core {
            kind: self.kind.clone(),
            start: self.start(&points).unwrap_or_default(),
            points: points.iter().map(|point| point.get_ref().point(off)).collect(),
            transition: transition
                .map(|it| Transition { time_ps: it.time_ps.into_inner(), energy_pj: it.energy_pj })
                .unwrap_or_default(),
            idle_states: states.collect(),
            leakage: leakage.map(|it| Leakage {
                reference_mc: it.reference_mc.into_inner(),
                slope_c: it.slope_c.into_inner(),
            }),
            cache: cache.map(Cache::from),
            node: (0, 0),
            scheduling,
            migration: given(&self.migration),
            group: 0,
            slice_ps: self.slice.as_ref().map_or(fair_slice_ps, |slice| *slice.get_ref()),
            tick_ps: given(&self.tick),
            timer_slack_ps: self.timer_slack_ps,
            off: false,
            own: self.own(),
            number: None,
        }
    }
}

impl PointTable {
    fn point(&self, off: bool) -> Point {
        let active_uw = *self.active_uw.get_ref();
        let idle_uw = self.idle_uw.as_ref().map_or(active_uw, |idle| *idle.get_ref());
        Point {
            hz: *self.hz.get_ref(),
            microvolts: self.microvolts,
            active_uw,
            idle_uw: if off { 0 } else { idle_uw },
            static_uw: given(&self.static_uw),
        }
    }
}

impl From<IdleTable> for IdleState {
    fn from(it: IdleTable) -> Self {
        Self {
            name: it.name.into_inner(),
            power_uw: it.power_uw.into_inner(),
            enter_ps: it.enter_ps,
            exit_ps: it.exit_ps,
            after_ps: it.after_ps,
            loses_cache: it.loses_cache,
            waking: Waking {
                ring_ps: it.ring_ps,
                switch_ps: it.switch_ps,
                refill_ps: it.refill_ps,
            },
        }
    }
}

impl From<CacheTable> for Cache {
    fn from(it: CacheTable) -> Self {
        Self {
            bytes: it.bytes.into_inner(),
            line_bytes: it.line_bytes.into_inner(),
            miss_ps: it.miss_ps.into_inner(),
            far_ps: it.far_ps,
            disturbance: Disturbance { part_ppm: it.part_ppm, mean_ps: it.mean_ps },
        }
    }
}

/// Every core with its node: those of one `[[core]]` follow along the rows of the mesh.
pub(super) fn place(
    all: Vec<Spanned<CoreTable>>,
    mesh: Option<&Mesh>,
    problems: &mut Vec<Problem>,
) -> Option<Vec<Core>> {
    let (mut cores, mut next, mut groups) = (Vec::new(), 0, 0);
    let nodes = mesh.map_or(CORES_MAX, |mesh| mesh.columns * mesh.rows);
    for table in all {
        let (place, table) = (table.span(), table.into_inner());
        let (mut core, count) = (table.core(), table.count);
        if core.migration != Migration::None {
            groups += 1;
            core.group = groups;
        }
        if let Some(node) = table.node {
            let (column, row) = at_node(&node, mesh, problems)?;
            next = row * mesh?.columns + column;
        }
        if count > nodes.saturating_sub(next) {
            let message = match mesh {
                Some(_) => "[[core]] has more cores than the mesh has nodes left".into(),
                None => format!("a platform has at most {CORES_MAX} cores"),
            };
            let words = format!("{count} from number {next} on, of {nodes}");
            problems.push(
                Problem::new(message).help("lower `count`, or leave cores out").at(place, words),
            );
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

/// Turns are what equally urgent tasks take, and only a kernel that preempts ends one.
fn check_slice(slice: Option<&Spanned<u64>>, scheduling: Scheduling, problems: &mut Vec<Problem>) {
    let is_ended = matches!(scheduling, Scheduling::Preemptive | Scheduling::Fair);
    let Some(slice) = slice.filter(|_| !is_ended) else { return };
    let message = "`slice_us` of [[core]] needs `scheduling = \"preemptive\"` or `\"fair\"`";
    let words = match scheduling {
        Scheduling::Edf => "the earliest deadline goes first, without turns",
        _ => "nothing ends a turn before the task waits",
    };
    problems.push(
        Problem::new(message).help("leave it out, or change `scheduling`").at(slice.span(), words),
    );
}

/// Others end slices when they are over.
fn check_tick(tick: Option<&Spanned<u64>>, scheduling: Scheduling, problems: &mut Vec<Problem>) {
    let Some(tick) = tick.filter(|_| scheduling != Scheduling::Fair) else { return };
    let message = "`tick_us` of [[core]] needs `scheduling = \"fair\"`";
    let words = "no other kernel waits for its tick to end a slice";
    problems.push(
        Problem::new(message).help("leave it out, or change `scheduling`").at(tick.span(), words),
    );
}

fn check_static(point: &PointTable, off: bool, problems: &mut Vec<Problem>) {
    let active = *point.active_uw.get_ref();
    let idle = point.idle_uw.as_ref().map_or(active, |idle| *idle.get_ref());
    let most = if off { active } else { active.min(idle) };
    if let Some(fixed) = point.static_uw.as_ref().filter(|fixed| *fixed.get_ref() > most) {
        let message = "`static_mw` of [[core.point]] is a part of `active_mw` and `idle_mw`";
        problems
            .push(Problem::new(message).help("lower it").at(fixed.span(), "more than the whole"));
    }
}

fn check_points(points: &[Spanned<&PointTable>], problems: &mut Vec<Problem>) {
    for pair in points.windows(2) {
        let (low, high) = (pair[0].get_ref(), pair[1].get_ref());
        if low.hz.get_ref() >= high.hz.get_ref() {
            let problem = Problem::new("the points of [[core]] must be of rising frequency");
            let problem = problem.at(pair[1].span(), "not above the one before");
            problems.push(problem.help("write them from the lowest frequency to the highest"));
        } else if high.microvolts > 0 && low.microvolts > high.microvolts {
            let problem = Problem::new("the voltage of [[core]] falls at a higher frequency")
                .help("write a voltage that is not below the one before");
            problems.push(problem.at(pair[1].span(), "less `volts` than the one before"));
        }
    }
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    if last.get_ref().hz.get_ref() / first.get_ref().hz.get_ref() > SPAN_MAX {
        let message = "the highest frequency of [[core]] exceeds a thousand times the lowest";
        problems.push(
            Problem::new(message)
                .help("raise it, or lower the highest")
                .at(first.span(), "the lowest"),
        );
    }
}

fn check_idle(states: &[Spanned<IdleTable>], problems: &mut Vec<Problem>) {
    for pair in states.windows(2) {
        let (shallow, deep) = (pair[0].get_ref(), pair[1].get_ref());
        if deep.after_ps <= shallow.after_ps || deep.after_ps < shallow.after_ps + shallow.enter_ps
        {
            let message = "the idle states of [[core]] must follow each other in time";
            let problem =
                Problem::new(message).at(pair[1].span(), "before the one above is entered");
            problems.push(problem.help("count `after_us` from when the core became idle"));
        } else if deep.power_uw.get_ref() > shallow.power_uw.get_ref() {
            let problem = Problem::new("the idle states of [[core]] must be of falling power");
            let problem = problem.at(pair[1].span(), "more than the one above");
            problems.push(problem.help("write them from the shallowest to the deepest"));
        }
    }
}

impl CacheTable {
    pub(super) fn check(&self, noted: &mut Noted<'_>) {
        let (size, line_bytes) = (&self.bytes, *self.line_bytes.get_ref());
        if *size.get_ref() < u64::from(line_bytes) {
            let problem = Problem::new("`size` of [core.cache] is less than a line")
                .help("raise `size`, or lower `line`");
            let words = format!("a line has {line_bytes} bytes");
            noted.problems.push(problem.at(size.span(), words));
        }
        // Both keys or none.
        let (written, missing) = match (self.keys.get("disturbed"), self.keys.get("disturbed_us")) {
            (Some(part), None) => (part, "disturbed_us"),
            (None, Some(mean)) => (mean, "disturbed"),
            _ => return,
        };
        let message = format!("[core.cache] is disturbed, and has no `{missing}`");
        let help = "write both, or none: `disturbed` is how many, `disturbed_us` how long";
        let problem = Problem::new(message).at(written.clone(), "not without the other");
        noted.problems.push(problem.help(help));
    }
}
