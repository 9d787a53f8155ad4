// SPDX-License-Identifier: Apache-2.0
//! The lines of a file: blocks in braces, each a graph or a table.

use crate::notes::Notes;
use whimbrel_model::{Problem, Span, suggestion};

/// All of a file that is read.
#[derive(Debug, Default)]
pub(super) struct File<'a> {
    pub graphs: Vec<Graph<'a>>,
    pub tables: Vec<Table<'a>>,
}

/// A `@TASK_GRAPH`.
#[derive(Debug)]
pub(super) struct Graph<'a> {
    pub at: Span,
    pub period: Option<Number>,
    pub tasks: Vec<Task<'a>>,
    pub arcs: Vec<Arc<'a>>,
}

#[derive(Debug)]
pub(super) struct Task<'a> {
    pub name: Word<'a>,
    pub kind: u64,
}

#[derive(Debug)]
pub(super) struct Arc<'a> {
    pub name: Word<'a>,
    pub from: Word<'a>,
    pub to: Word<'a>,
    pub kind: u64,
}

/// Any other block: rows of numbers, whose columns a comment names.
#[derive(Debug)]
pub(super) struct Table<'a> {
    /// As `@PE 0`.
    pub label: String,
    pub at: Span,
    /// In small letters; none, if no comment names them.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<f64>>,
    /// A row that says something of the table itself, before the columns are named, or is no row.
    pub other: Option<Span>,
    /// The first row.
    first: Option<Word<'a>>,
}

#[derive(Debug, Clone)]
pub(super) struct Word<'a> {
    pub text: &'a str,
    pub at: Span,
}

#[derive(Debug, Clone)]
pub(super) struct Number {
    pub value: f64,
    pub at: Span,
}

/// What a line of a graph begins with.
const KEYWORDS: [&str; 6] =
    ["PERIOD", "APERIODIC", "TASK", "ARC", "HARD_DEADLINE", "SOFT_DEADLINE"];

/// Reads a whole file, with a problem for each line that cannot be.
pub(super) fn parse<'a>(text: &'a str, notes: &mut Notes) -> File<'a> {
    let mut parser = Parser { file: File::default(), inside: Inside::None, title: Vec::new() };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (code, comment) = line.split_once('#').unwrap_or((line, ""));
        parser.comment(comment);
        parser.line(words(code, at), notes);
        at += line.len();
    }
    if matches!(parser.inside, Inside::None) {
        parser.say_alone(notes);
    } else {
        let begin = parser.title.first().map_or(0..0, |word| word.at.clone());
        let problem = Problem::new("this block has no end").at(begin, "it begins here");
        notes.refuse(problem.help("add `}` behind its last line"));
    }
    if parser.file.graphs.is_empty() && notes.problems.is_empty() {
        let problem = Problem::new("the file has no graph");
        notes.refuse(problem.help("add a block `@TASK_GRAPH 0 {` with a TASK on each line"));
    }
    parser.file
}

/// The words of a line; a brace is one.
fn words(line: &str, at: usize) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut start = None;
    for (place, sign) in line.char_indices().chain([(line.len(), ' ')]) {
        let splits = sign.is_whitespace() || "{}".contains(sign);
        if let Some(from) = start.filter(|_| splits) {
            words.push(Word { text: &line[from..place], at: at + from..at + place });
            start = None;
        }
        if "{}".contains(sign) {
            words.push(Word { text: &line[place..=place], at: at + place..at + place + 1 });
        } else if !splits {
            start.get_or_insert(place);
        }
    }
    words
}

enum Inside {
    None,
    Graph,
    Table,
}

struct Parser<'a> {
    file: File<'a>,
    inside: Inside,
    /// The words before the last brace that opened, or those of the last line outside of blocks.
    title: Vec<Word<'a>>,
}

impl<'a> Parser<'a> {
    fn comment(&mut self, comment: &str) {
        let mut columns =
            comment.trim_matches(['#', '-', ' ', '\t', '\r', '\n']).split_whitespace();
        let first = columns.next().unwrap_or_default().to_ascii_lowercase();
        let Inside::Table = self.inside else { return };
        if let (Some(table), "type" | "task_type") = (self.file.tables.last_mut(), first.as_str()) {
            table.columns = [first].into_iter().chain(columns.map(str::to_lowercase)).collect();
            table.rows.clear();
            table.other = table.other.take().or(table.first.take().map(|word| word.at));
        }
    }

    fn line(&mut self, words: Vec<Word<'a>>, notes: &mut Notes) {
        let mut statement = Vec::new();
        for word in words {
            match word.text {
                "{" => {
                    self.statement(std::mem::take(&mut statement), notes);
                    self.open(&word, notes);
                }
                "}" => {
                    self.statement(std::mem::take(&mut statement), notes);
                    self.close(&word, notes);
                }
                _ => statement.push(word),
            }
        }
        self.statement(statement, notes);
    }

    fn open(&mut self, brace: &Word<'a>, notes: &mut Notes) {
        let Some(name) = self.title.first().filter(|_| matches!(self.inside, Inside::None)) else {
            let problem =
                Problem::new("this brace opens no block").at(brace.at.clone(), "this one");
            notes.refuse(problem.help("write `@TASK_GRAPH 0 {`, and close each block by `}`"));
            return;
        };
        let at = name.at.clone();
        if name.text.eq_ignore_ascii_case("@TASK_GRAPH") {
            let (tasks, arcs) = (Vec::new(), Vec::new());
            self.file.graphs.push(Graph { at, period: None, tasks, arcs });
            self.inside = Inside::Graph;
        } else {
            let title: Vec<&str> = self.title.iter().map(|word| word.text).collect();
            let (label, columns, rows) = (title.join(" "), Vec::new(), Vec::new());
            self.file.tables.push(Table { label, at, columns, rows, other: None, first: None });
            self.inside = Inside::Table;
        }
    }

    fn close(&mut self, brace: &Word<'a>, notes: &mut Notes) {
        if matches!(self.inside, Inside::None) {
            let problem =
                Problem::new("this brace closes no block").at(brace.at.clone(), "this one");
            notes.refuse(problem.help("remove it"));
        }
        self.inside = Inside::None;
        self.title.clear();
    }

    fn statement(&mut self, words: Vec<Word<'a>>, notes: &mut Notes) {
        let Some(first) = words.first() else { return };
        match self.inside {
            Inside::Graph => self.of_graph(&words, notes),
            Inside::Table => {
                let Some(table) = self.file.tables.last_mut() else { return };
                table.first.get_or_insert_with(|| first.clone());
                match words.iter().map(|word| word.text.parse().ok()).collect() {
                    Some(row) => table.rows.push(row),
                    None => table.other = table.other.take().or(Some(first.at.clone())),
                }
            }
            Inside::None if first.text.starts_with('@') => {
                self.say_alone(notes);
                self.title = words;
            }
            Inside::None => {
                let problem = Problem::new(format!("`{}` is in no block", first.text));
                let help = "write it into a block, for example `@TASK_GRAPH 0 {`";
                notes.refuse(problem.at(first.at.clone(), "this line").help(help));
            }
        }
    }

    /// What was on a line outside of blocks and opened none.
    fn say_alone(&mut self, notes: &mut Notes) {
        if let Some(name) = std::mem::take(&mut self.title).first() {
            let warning = Problem::new(format!("`{}` has no meaning here", name.text));
            notes.warn(warning.at(name.at.clone(), "left out"));
        }
    }

    fn of_graph(&mut self, words: &[Word<'a>], notes: &mut Notes) {
        let Some(graph) = self.file.graphs.last_mut() else { return };
        let line = Line { words, keyword: words[0].text.to_ascii_uppercase() };
        match line.keyword.as_str() {
            "PERIOD" => graph.period = line.number(notes),
            "APERIODIC" => {}
            "TASK" => {
                let (name, kind) = (line.word(1, "a name", notes), line.kind(notes));
                if let (Some(name), Some(kind)) = (name, kind) {
                    graph.tasks.push(Task { name, kind });
                }
                line.say_others(&["TYPE"], notes);
            }
            "ARC" => {
                let name = line.word(1, "a name", notes);
                let (from, to) = (line.after("FROM", notes), line.after("TO", notes));
                let kind = line.kind(notes);
                if let (Some(name), Some(from), Some(to), Some(kind)) = (name, from, to, kind) {
                    graph.arcs.push(Arc { name, from, to, kind });
                }
                line.say_others(&["FROM", "TO", "TYPE"], notes);
            }
            "HARD_DEADLINE" | "SOFT_DEADLINE" => {
                let warning = Problem::new(format!("{} has no meaning here", line.keyword));
                notes.warn(warning.at(words[0].at.clone(), "left out"));
            }
            _ => {
                let problem = Problem::new(format!("a graph has no line `{}`", words[0].text));
                let help = suggestion(&line.keyword, KEYWORDS, || {
                    format!("write one of {}", KEYWORDS.join(", "))
                });
                notes.refuse(problem.at(words[0].at.clone(), "unknown").help(help));
            }
        }
    }
}

/// A line of a graph: a keyword, a name, and words in pairs.
struct Line<'l, 'a> {
    words: &'l [Word<'a>],
    keyword: String,
}

impl<'a> Line<'_, 'a> {
    fn word(&self, number: usize, wanted: &str, notes: &mut Notes) -> Option<Word<'a>> {
        let word = self.words.get(number).cloned();
        if word.is_none() {
            let problem = Problem::new(format!("this {} has no {wanted}", self.keyword));
            let help = match self.keyword.as_str() {
                "TASK" => "write `TASK name TYPE 0`",
                "ARC" => "write `ARC name FROM task TO task TYPE 0`",
                _ => "write `PERIOD 300`",
            };
            notes.refuse(problem.at(self.words[0].at.clone(), "this line").help(help));
        }
        word
    }

    /// The word behind another.
    fn after(&self, key: &str, notes: &mut Notes) -> Option<Word<'a>> {
        let mut pairs = self.words.iter().skip(2).step_by(2);
        let number = pairs.position(|word| word.text.eq_ignore_ascii_case(key));
        let number = number.map_or(self.words.len(), |pair| 3 + 2 * pair);
        self.word(number, key, notes)
    }

    fn kind(&self, notes: &mut Notes) -> Option<u64> {
        let word = self.after("TYPE", notes)?;
        let kind = word.text.parse().ok();
        kind.or_else(|| wrong(&word, "a whole number from 0 up", notes))
    }

    fn number(&self, notes: &mut Notes) -> Option<Number> {
        let word = self.word(1, "number", notes)?;
        match word.text.parse::<f64>().ok().filter(|value| *value > 0.0 && value.is_finite()) {
            Some(value) => Some(Number { value, at: word.at }),
            None => wrong(&word, "a number above 0", notes),
        }
    }

    fn say_others(&self, known: &[&str], notes: &mut Notes) {
        for word in self.words.iter().skip(2).step_by(2) {
            if !known.iter().any(|known| word.text.eq_ignore_ascii_case(known)) {
                let message = format!("{} of a {} has no meaning here", word.text, self.keyword);
                notes.warn(Problem::new(message).at(word.at.clone(), "left out"));
            }
        }
    }
}

fn wrong<T>(word: &Word<'_>, wanted: &str, notes: &mut Notes) -> Option<T> {
    let problem = Problem::new(format!("`{}` is not {wanted}", word.text));
    notes.refuse(problem.at(word.at.clone(), "this one").help(format!("write {wanted}")));
    None
}
