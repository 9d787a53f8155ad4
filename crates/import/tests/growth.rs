// SPDX-License-Identifier: Apache-2.0
//! Reading a graph takes time and memory by its size: a file of some hundred kilobytes from a
//! stranger is read or refused, and does not hold up the machine.
//!
//! Time is the processor's, of this thread, so another load of the machine does not count; memory
//! is what this thread has asked for, at the most at a time.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use whimbrel_import::{Options, together};

/// Four times the edges may take this many times as long. It is 16 times if each is compared with
/// all others, and 4 if none is.
const GROWTH_MOST: u32 = 9;
const TRIES: usize = 4;
/// What a file of a quarter of a megabyte may take.
const PEAK_MOST: isize = 192 << 20;
/// As large as the file that took gigabytes.
const PATHOLOGICAL: usize = 252_000;

struct Counting;

thread_local! {
    static NOW: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // A thread that ends may give back memory when these have gone already.
    let _ = NOW.try_with(|now| {
        now.set(now.get() + bytes);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now.get())));
    });
}

fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

// SAFETY: the system's allocator does it all; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(signed(layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-signed(layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        count(signed(bytes) - signed(layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.realloc(at, layout, bytes) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Debug)]
struct Cost {
    time: Duration,
    peak: isize,
    read: bool,
}

/// The processor's time that this thread has had.
fn now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes one time, to `time`.
    let done = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(done, 0);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}

/// What it takes to read a file.
fn read(path: &str, text: &str) -> Cost {
    let before = NOW.get();
    PEAK.set(before);
    let start = now();
    let read = together(&[(path, text.as_bytes())], &Options::default());
    let time = now() - start;
    Cost { time, peak: PEAK.get() - before, read: read.is_ok() }
}

/// An edge for each number: the two nodes that it connects.
type Edge = fn(usize) -> (usize, usize);

const SHAPES: [(&str, Edge); 5] = [
    ("chain", |n| (n, n + 1)),
    ("chain from its end", |n| (100_000 - n, 99_999 - n)),
    ("star", |n| (0, n + 1)),
    ("star to its middle", |n| (n + 1, 0)),
    ("pairs", |n| (2 * n, 2 * n + 1)),
];

fn dot(edges: usize, edge: Edge) -> String {
    let mut text = "digraph { node [cycles=7];\n".to_owned();
    for (from, to) in (0..edges).map(edge) {
        writeln!(text, "n{from} -> n{to} [bytes=8, colour=red];").unwrap();
    }
    text + "}\n"
}

fn strict_dot(edges: usize, edge: Edge) -> String {
    format!("strict {}", dot(edges, edge))
}

fn graphml(edges: usize, edge: Edge) -> String {
    let mut text =
        "<graphml><key id=\"d\" for=\"node\" attr.name=\"cycles\"><default>7</default></key>\
                    <graph edgedefault=\"directed\">\n"
            .to_owned();
    let nodes: BTreeSet<usize> = (0..edges).map(edge).flat_map(|(from, to)| [from, to]).collect();
    nodes.iter().for_each(|node| writeln!(text, "<node id=\"n{node}\"/>").unwrap());
    for (from, to) in (0..edges).map(edge) {
        writeln!(text, "<edge source=\"n{from}\" target=\"n{to}\"/>").unwrap();
    }
    text + "</graph></graphml>\n"
}

#[test]
fn four_times_the_edges_take_four_times_as_long_and_as_much_memory() {
    let edges = 1000;
    for (name, path, text) in [
        ("DOT", "a.dot", dot as fn(usize, Edge) -> String),
        ("strict DOT", "a.dot", strict_dot),
        ("GraphML", "a.graphml", graphml),
    ] {
        for (shape, edge) in SHAPES {
            let (few, many) = (text(edges, edge), text(4 * edges, edge));
            // Which of a few comes nearest to what it takes when nothing is in its way.
            let least = |text: &str| {
                let all = (0..TRIES).map(|_| read(path, text));
                all.min_by_key(|cost| cost.time).unwrap()
            };
            let (few, many) = (least(&few), least(&many));
            eprintln!("{name}, {shape}: {edges} edges: {few:?}, {}: {many:?}", 4 * edges);
            assert!(few.read && many.read, "{name}, {shape}");
            assert!(many.time <= GROWTH_MOST * few.time, "{name}, {shape}: {few:?}, {many:?}");
            assert!(many.peak <= 6 * few.peak, "{name}, {shape}: {few:?}, {many:?}");
        }
    }
}

/// Groups in each other on both sides of an arrow, as deep as they may be.
fn products() -> String {
    let mut text = "{a}->{b}".to_owned();
    while text.len() < 2000 {
        text = format!("{{{text}}}->{{c{} d}}", text.len());
    }
    let mut all = "digraph { node [cycles=1] edge [bytes=8, tokens=1, slots=2];".to_owned();
    while all.len() + text.len() < PATHOLOGICAL {
        all += &text;
        all.push(';');
    }
    all + "}"
}

/// One group after the other, each connected with the next, which says again what was said.
fn repeated() -> String {
    let group: String = (0..250).map(|n| format!("n{n} ")).collect();
    let mut all = "strict digraph { node [cycles=1]; {}".to_owned();
    while all.len() + group.len() < PATHOLOGICAL {
        write!(all, "->{{{group}}}").unwrap();
    }
    all + "}"
}

/// One name again and again.
fn doubled() -> String {
    let group = "a ".repeat(250);
    let mut all = "strict digraph { node [cycles=1]; {}".to_owned();
    while all.len() + group.len() < PATHOLOGICAL {
        write!(all, "->{{{group}}}").unwrap();
    }
    all + "}"
}

/// Many defaults, which each of many nodes and edges has.
fn defaults(opened: bool) -> String {
    let mut all = "digraph { node [cycles=1".to_owned();
    (0..8000).for_each(|n| write!(all, ",k{n}={n}").unwrap());
    all += "] edge [bytes=1";
    (0..8000).for_each(|n| write!(all, ",k{n}={n}").unwrap());
    all += "];";
    for n in 0.. {
        if all.len() >= PATHOLOGICAL {
            return all + "}";
        }
        if opened { write!(all, "{{n{n}}};") } else { write!(all, "n{n}->m;") }.unwrap();
    }
    unreachable!("a text has an end")
}

/// Many tasks that call a runnable which reads and writes many labels.
fn labels(tasks: usize) -> String {
    let mut all = "<Amalthea xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><stimuliModel>\
                   <stimuli xsi:type='a:PeriodicStimulus' name='s'><recurrence value='1' unit='s'/>\
                   </stimuli></stimuliModel><swModel>"
        .to_owned();
    for n in 0..tasks {
        write!(
            all,
            "<tasks name='t{n}' stimuli='s'><callGraph><items xsi:type='a:RunnableCall' \
                     runnable='r'/></callGraph></tasks>"
        )
        .unwrap();
    }
    all += "<runnables name='r'><callGraph>";
    for n in 0.. {
        if all.len() >= PATHOLOGICAL {
            return all + "</callGraph></runnables></swModel></Amalthea>";
        }
        write!(all, "<items xsi:type='a:LabelAccess' data='l{n}'/>").unwrap();
    }
    unreachable!("a text has an end")
}

/// Types that no table has, each of many tasks and arcs.
fn types() -> String {
    let mut all = "@PE 0 {\n0 0 1\n}\n".to_owned();
    for n in 0.. {
        if all.len() >= PATHOLOGICAL {
            return all;
        }
        writeln!(
            all,
            "@TASK_GRAPH {n} {{ PERIOD 5\nTASK a TYPE 0\nARC b FROM a TO a TYPE {n} }}\n\
                       @COMMUN_QUANT {n} {{\n# type quantity e{n}\n{n} 5\n}}"
        )
        .unwrap();
    }
    unreachable!("a text has an end")
}

#[test]
fn a_quarter_of_a_megabyte_is_read_or_refused_in_bounded_memory_and_time() {
    // What a chain of as many bytes takes.
    let plain = read("a.dot", &dot(PATHOLOGICAL / 38, |n| (n, n + 1)));
    eprintln!("a plain one: {plain:?}");
    for (name, path, text) in [
        ("products of groups", "a.dot", products()),
        ("the same edges again", "a.dot", repeated()),
        ("the same name again", "a.dot", doubled()),
        ("defaults of nodes and edges", "a.dot", defaults(false)),
        ("defaults of groups", "a.dot", defaults(true)),
        ("labels of some tasks", "a.amxmi", labels(20)),
        ("labels of many tasks", "a.amxmi", labels(1000)),
        ("types without a table", "a.tgff", types()),
    ] {
        let cost = read(path, &text);
        eprintln!("{name}, {} bytes: {cost:?}", text.len());
        assert!(cost.peak <= PEAK_MOST, "{name}: {cost:?}");
        assert!(cost.time <= 10 * plain.time, "{name}: {cost:?}, and a plain one {plain:?}");
    }
}
