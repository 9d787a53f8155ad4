// SPDX-License-Identifier: Apache-2.0
//! The table of the table policy: for each range of frame rates a mapping of the tasks, and a
//! frequency of the cores. See `docs/policies.md`.

use serde_json::json;
use toml::Spanned;
use toml::de::DeValue;

use crate::app::App;
use crate::plan::{POINT_OFF, TableRow, millihz};
use crate::problem::{Problem, Problems, Span, none_or, suggestion};
use crate::reader::{Node, core_list, list, number, text};
use crate::schema::Shape::{self, Number, Tables};
use crate::schema::{self, Noted, Read, parse, table};

table! {
    /// A file whose tables have the right shape.
    pub struct Table {
        /// A range of frame rates.
        row = [] => rows: must Vec<RowTable>,
            Tables("one [[row]] for each range of frame rates", &RowTable::TABLE);
        check check_order;
    }
}

table! {
    /// A mapping of the tasks, and a frequency of the cores.
    pub(crate) struct RowTable {
        /// The highest frame rate at which the row holds.
        frame_rate = 450 => frame_rate: must f64, Number("frames per second", 1e-3, 1e9);
        /// Tasks with the core of each, or an array of cores for those of a `count`.
        mapping = { lpf = 0, bpf = [0, 0, 0], sum = 0 } => mapping: or Mapping,
            Shape::Other(
                "a table, for example { bpf = [0, 0, 1], sum = 1 }",
                "dict[str, int | tuple[int, ...]]",
                || {
                    let core = json!({ "type": ["integer", "array"] });
                    json!({ "type": "object", "additionalProperties": core })
                },
            ),
            otherwise "each task on the `core` of its [[task]]";
        /// The frequency of every core in MHz, or an array of one for each, or of "off".
        frequency_mhz = [266, 133] => frequency_mhz: optional Frequencies,
            Shape::Other(
                "a frequency in MHz, more than 0 and at most 1e6, or an array of one, or \"off\", \
                 per core",
                "Number | tuple[Number | str, ...]",
                || json!({ "type": ["number", "array"] }),
            ),
            otherwise "the highest";
    }
}

/// Names of tasks, each with a core or one for each of its tasks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mapping(Vec<(Spanned<String>, OfTask)>);

/// A core, or one for each.
type OfTask = Spanned<Vec<Spanned<u32>>>;

/// In megahertz; `None`: the core is off.
type Frequency = Option<f64>;

/// One for all cores, or one for each.
#[derive(Debug, Clone)]
pub(crate) struct Frequencies(Vec<Spanned<Frequency>>);

impl Table {
    /// The keys of a table's file.
    pub const KEYS: schema::Table = Self::TABLE;

    /// Reads the text of a table.
    ///
    /// # Errors
    /// Text that is no TOML, keys that do not exist or are missing, values of a wrong type or out
    /// of range, rates that do not ascend: all of them at once.
    pub fn parse(source: &str) -> Result<Self, Problems> {
        parse(source)
    }

    /// The frame rates ascend.
    fn check_order(&self, noted: &mut Noted<'_>) {
        for pair in self.rows.get_ref().windows(2) {
            let (before, after) = (&pair[0].frame_rate, &pair[1].frame_rate);
            if millihz(*after.get_ref()) <= millihz(*before.get_ref()) {
                let problem = Problem::new("the frame rates of a table ascend")
                    .help("write the rows from the lowest frame rate to the highest");
                let problem = problem.at(after.span(), "not above the row before");
                noted.problems.push(problem.at(before.span(), "the row before"));
            }
        }
    }

    /// The rows for an application on cores whose operating points have these frequencies, in
    /// hertz from the lowest; none are known of a core with an empty list.
    ///
    /// # Errors
    /// Tasks, cores or frequencies that do not exist, a core for each of a wrong number of tasks,
    /// a pinned task that is to move.
    pub fn rows(&self, app: &App, points_hz: &[Vec<u64>]) -> Result<Vec<TableRow>, Problems> {
        let mut problems = Vec::new();
        let mut row = |row: &RowTable| {
            let points = row.points(points_hz, &mut problems);
            let cores = row.cores(app, points_hz.len(), &mut problems);
            problems.extend(row.on_off(app, &points, &cores));
            TableRow { rate_millihz: millihz(*row.frame_rate.get_ref()), points, cores }
        };
        let rows: Vec<TableRow> = self.rows.get_ref().iter().map(&mut row).collect();
        // One core for several tasks is wrong for each of them.
        problems.dedup();
        none_or(problems, || rows)
    }
}

impl RowTable {
    fn cores(&self, app: &App, n_cores: usize, problems: &mut Vec<Problem>) -> Vec<u32> {
        let mut cores: Vec<u32> = app.tasks.iter().map(|task| *task.core.get_ref()).collect();
        for (name, wanted) in &self.mapping.0 {
            let task = name.get_ref();
            let count = app.count(task);
            let wanted_cores = wanted.get_ref();
            if count == 0 {
                problems.push(unknown_task(app, name));
            } else if wanted_cores.len() != 1 && wanted_cores.len() != count {
                let message =
                    format!("`{task}` has {} cores for {count} tasks", wanted_cores.len());
                let problem = Problem::new(message).at(wanted.span(), "these cores");
                problems.push(problem.help("name one core for all of them, or one for each"));
            } else {
                let of_name = app.tasks.iter().zip(&mut cores).filter(|(t, _)| t.name == *task);
                for ((known, core), wanted) in of_name.zip(wanted_cores.iter().cycle()) {
                    problems.extend(refusal(known.migratable, task, *core, wanted, n_cores));
                    *core = *wanted.get_ref();
                }
            }
        }
        cores
    }

    fn points(&self, points_hz: &[Vec<u64>], problems: &mut Vec<Problem>) -> Vec<u32> {
        let highest = |known: &Vec<u64>| position(known.len().saturating_sub(1));
        let Some(written) = &self.frequency_mhz else {
            return points_hz.iter().map(highest).collect();
        };
        let (wanted, cores) = (&written.get_ref().0, points_hz.len());
        if wanted.len() != 1 && wanted.len() != cores {
            let message = format!("{} frequencies for {cores} cores", wanted.len());
            let problem = Problem::new(message).at(written.span(), "these frequencies");
            problems.push(problem.help("write one for all cores, or one for each"));
            return Vec::new();
        }
        let mut points = Vec::new();
        for ((core, known), mhz) in points_hz.iter().enumerate().zip(wanted.iter().cycle()) {
            let Some(frequency) = mhz.get_ref() else {
                points.push(POINT_OFF);
                continue;
            };
            let hz = millihz(frequency * 1e3);
            match known.iter().position(|point| *point == hz) {
                Some(point) => points.push(position(point)),
                None => {
                    problems.push(unknown_frequency(core, known, *frequency, mhz.span()));
                    if wanted.len() == 1 {
                        break;
                    }
                }
            }
        }
        points
    }
}

impl RowTable {
    /// A task on a core that is off.
    fn on_off(&self, app: &App, points: &[u32], cores: &[u32]) -> Option<Problem> {
        let is_off = |core: u32| points.get(core as usize) == Some(&POINT_OFF);
        let at = cores.iter().position(|core| is_off(*core))?;
        let (task, core) = (&app.tasks[at], cores[at]);
        let label = app.label(&task.name, task.index);
        let frequencies = &self.frequency_mhz.as_ref()?.get_ref().0;
        let place = frequencies[core as usize % frequencies.len()].span();
        let problem = Problem::new(format!("core {core} is off, and `{label}` belongs on it"));
        let problem = problem.at(place, "this core");
        Some(problem.help("map the task to another core, or give this one a frequency"))
    }
}

fn position(point: usize) -> u32 {
    u32::try_from(point).unwrap_or(u32::MAX)
}

fn refusal(
    migratable: bool,
    task: &str,
    start: u32,
    wanted: &Spanned<u32>,
    n_cores: usize,
) -> Option<Problem> {
    let core = *wanted.get_ref();
    if core as usize >= n_cores {
        let problem = Problem::new(format!("core {core} does not exist"));
        let problem = problem.at(wanted.span(), "this core");
        return Some(problem.help(format!("name one of cores 0 to {}", n_cores - 1)));
    }
    (!migratable && core != start).then(|| {
        let message = format!("`{task}` may not move, and starts on core {start}");
        let problem = Problem::new(message).at(wanted.span(), "this core");
        problem.help("leave it out, or take `migratable = false` off its [[task]]")
    })
}

fn unknown_task(app: &App, name: &Spanned<String>) -> Problem {
    let task = name.get_ref();
    let known = app.tasks.iter().filter(|task| task.index == 0).map(|task| task.name.as_str());
    let help = suggestion(task, known.clone(), || {
        format!("name one of its tasks: {}", known.collect::<Vec<_>>().join(", "))
    });
    let problem = Problem::new(format!("{} has no task `{task}`", app.name));
    problem.at(name.span(), "this task").help(help)
}

fn unknown_frequency(core: usize, known: &[u64], mhz: f64, place: Span) -> Problem {
    let message = format!("core {core} has no operating point of {mhz} MHz");
    #[expect(clippy::cast_precision_loss, reason = "frequencies have less than 53 bits")]
    let megahertz = |hz: &u64| format!("{}", *hz as f64 / 1e6);
    let help = if known.is_empty() {
        "its frequencies are not known: leave `frequency_mhz` out, or name a platform that has them"
            .to_owned()
    } else {
        let all: Vec<String> = known.iter().map(megahertz).collect();
        format!("it has points of {} MHz", all.join(", "))
    };
    Problem::new(message).at(place, "this frequency").help(help)
}

impl Read for Mapping {
    fn read(_: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
        let one = |(key, node): (&Spanned<_>, &Node<'_>)| {
            let key: &Spanned<std::borrow::Cow<'_, str>> = key;
            let name = Spanned::new(key.span(), key.get_ref().clone().into_owned());
            Some((name, Spanned::new(node.span(), core_list(node)?)))
        };
        Some(Self(node.get_ref().as_table()?.iter().map(one).collect::<Option<_>>()?))
    }
}

impl Read for Frequencies {
    fn read(_: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
        let frequency = |n: &Node<'_>| number(n).filter(|mhz| *mhz > 0.0 && *mhz <= 1e6);
        let of_core = |n: &Node<'_>| match text(n).as_deref() {
            Some("off") => Some(None),
            _ => frequency(n).map(Some),
        };
        let all = match node.get_ref() {
            DeValue::Array(_) => list(node, of_core).filter(|all| !all.is_empty()),
            _ => frequency(node).map(|mhz| vec![Spanned::new(node.span(), Some(mhz))]),
        };
        all.map(Self)
    }
}
