// SPDX-License-Identifier: Apache-2.0
//! What is drawn, and what keys do, of a run that a test makes up.

use insta::assert_snapshot;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Color;
use serde_json::{Value, json};
use whimbrel_run::control::{Reply, Request};

use super::draw::{Palette, draw};
use super::model::{Effect, Link, Model, Prompt};
use super::{Input, fold};

const NAMES: [&str; 6] = ["lpf", "demodulator", "bpf.0", "bpf.1", "bpf.2", "sum"];

fn task(position: usize, core: u32, busy_ns: u64) -> Value {
    let (name, index) = NAMES[position].split_once('.').unwrap_or((NAMES[position], "0"));
    json!({
        "task": name, "index": index.parse::<u32>().unwrap(), "core": core,
        "state": if position == 0 { "running" } else { "blocked" }, "busy_ns": busy_ns,
        "polling_ns": 0, "runs": 1, "jobs": 50, "misses": if position == 5 { 3 } else { 0 },
        "worst_late_ns": 1_500_000, "migrations": 2, "refused": 1, "restarts": 0,
        "heap_bytes": 70_000, "heap_peak_bytes": 80_000, "mode": "handoff", "load_ppm": 0,
        "reserved_bytes": 0, "context_bytes": 0, "images": 0, "damaged": 0, "replayed": 0,
        "skipped": 0, "shared_bytes": 0, "shared_peak_bytes": 0, "shared_left": 0
    })
}

fn channel(name: &str, depth: u32, high: u32, low: Option<u32>) -> Value {
    json!({
        "channel": name, "slots": 14, "depth": depth, "high": high, "low": low,
        "sent": 100, "received": 100, "bytes": 6400
    })
}

/// The totals so many seconds after the start, with each task's core.
fn status(second: u64, cores: [u32; 6]) -> Reply {
    let ns = second * 1_000_000_000;
    let core = |core: u32, busy: u64, hz: u64, temperature: Option<i32>| {
        json!({
            "core": core, "state": "up", "busy_ns": ns * busy / 100, "polling_ns": ns / 10,
            "switches": 1, "sleeps": 1, "notes": 1, "hz": hz, "temperature_mc": temperature,
            "load_ppm": 0, "energy_uj": 0, "points": []
        })
    };
    let task = |position: usize| task(position, cores[position], ns * position as u64 / 20);
    let mut channels = vec![
        channel("lpf_demodulator", 3, 9, Some(1)),
        channel("demodulator_bpf_0", 14, 14, Some(0)),
    ];
    channels[0]["received"] = json!(second * 50);
    channels.extend((0..3).map(|i| channel(&format!("bpf_sum_{i}"), i, 10, None)));
    let status = json!({
        "time_ns": 1_000_000_000 + ns, "live": 6,
        "cores": [core(0, 62, 1_200_000_000, Some(48_500)), core(1, 7, 0, None)],
        "tasks": (0..6).map(task).collect::<Vec<_>>(), "channels": channels,
        "policy": "balance", "coordinator": 0, "rate_millihz": 50_000, "energy_source": "",
        "machine_energy_uj": 0
    });
    Reply::Status(serde_json::from_value(status).unwrap())
}

fn portrait() -> Reply {
    let portrait = json!({"watching": {
        "app": "fm_radio", "frame_rate": 50.0, "start_ns": 1_000_000_000_u64,
        "kernels": [{"core": 0, "cpu": 2, "pid": 10}, {"core": 1, "cpu": 3, "pid": 11}],
        "tasks": NAMES.map(|name| (name, true)), "sinks": [[0]]
    }});
    serde_json::from_value(portrait).unwrap()
}

fn happened() -> Vec<Reply> {
    let moved = |status: &str, at: u64| {
        json!({"migration": {
            "task": "demodulator", "index": 0, "source": 0, "target": 1, "status": status,
            "request_ns": 1_000_000_000 + at, "parked_ns": 1_009_000_000 + at,
            "attached_ns": 1_009_046_000 + at, "running_ns": 1_009_046_800 + at,
            "output_ns": 0, "copied_ns": 0, "bytes": 0, "mode": "handoff", "by": "policy"
        }})
    };
    let died = json!({"core_died": {
        "core": 1, "pid": 11, "signal": 9, "detected_ns": 3_200_000_000_u64, "by": "pidfd",
        "running": "", "lost": 0, "restarted": 1, "resumed": 0, "moved": 2
    }});
    let advice = json!({"advice": {
        "time_ns": 3_100_000_000_u64, "policy": "mine", "core": 0,
        "text": "it moved task 7, of which there are 6: ignored"
    }});
    let all = [moved("ok", 400_000_000), died, advice, moved("timeout", 600_000_000)];
    all.into_iter().map(|reply| serde_json::from_value(reply).unwrap()).collect()
}

fn model() -> Model {
    let mut model = Model::new("fm_radio-1");
    model.take(portrait());
    happened().into_iter().for_each(|reply| model.take(reply));
    model.take(status(1, [0; 6]));
    model.take(status(2, [0, 1, 0, 0, 0, 0]));
    model
}

#[test]
fn a_core_of_a_guest_is_named_by_its_board() {
    let mut model = model();
    model.portrait.kernels[1].guest = Some("desk".into());
    let picture = picture(&model, 100, 30);
    assert!(picture.contains("core 0   cpu 2 "), "{picture}");
    assert!(picture.contains("core 1   desk:3 "), "{picture}");
}

fn terminal(model: &Model, width: u16, height: u16, colours: bool) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let palette = Palette { colours };
    terminal.draw(|frame| draw(model, palette, frame.area(), frame.buffer_mut())).unwrap();
    terminal
}

fn picture(model: &Model, width: u16, height: u16) -> String {
    terminal(model, width, height, true).backend().to_string()
}

fn press(model: &mut Model, keys: &str) -> Option<Effect> {
    let code = |c| match c {
        '\n' => KeyCode::Enter,
        '\x1b' => KeyCode::Esc,
        '\x08' => KeyCode::Backspace,
        'v' => KeyCode::Down,
        '^' => KeyCode::Up,
        c => KeyCode::Char(c),
    };
    let mut effect = None;
    for key in keys.chars() {
        effect = model.key(code(key).into());
    }
    effect
}

fn rate_of(millihz: u64, words: &str) -> Option<Effect> {
    Some(Effect::Ask(Request::Rate { millihz }, format!("{words} frames per second")))
}

fn moves(task: &str, index: u32, label: &str, core: u32) -> Option<Effect> {
    let request = Request::Migrate { task: task.into(), index, core, timeout_ms: 1000 };
    Some(Effect::Ask(request, format!("{label} to core {core}")))
}

#[test]
fn what_a_run_calls_its_tasks_reaches_no_terminal_as_more_than_a_name() {
    let mut model = model();
    let obeyed = ["\u{1b}]0;t\u{7}", "\u{202e}", "\u{9b}31m", "a\nb"];
    for ((label, _), evil) in model.portrait.tasks.iter_mut().zip(obeyed) {
        *label = evil.to_owned();
    }
    model.run = "r\u{1b}[2J".to_owned();
    model.note = "\u{2066}n".to_owned();
    for shown in [picture(&model, 100, 30), super::plain::text(&model, Rect::new(0, 0, 100, 30))] {
        let obeyed = |c: char| c != '\n' && whimbrel_text::word(&c.to_string()) != c.to_string();
        assert_eq!(shown.chars().find(|c| obeyed(*c)), None, "{shown:?}");
        assert!(shown.contains("?]0;t?") && shown.contains("r?[2J"), "{shown}");
    }
}

#[test]
fn the_view_fits_a_terminal_of_every_size() {
    let model = model();
    assert_snapshot!("view_80x24", picture(&model, 80, 24));
    assert_snapshot!("view_120x40", picture(&model, 120, 40));
    assert_snapshot!("view_40x12", picture(&model, 40, 12));
    for width in 1..100 {
        for height in 1..30 {
            picture(&model, width, height);
        }
    }
}

#[test]
fn a_view_without_colours_says_the_same() {
    let model = model();
    let plain = terminal(&model, 80, 24, false);
    assert_eq!(plain.backend().to_string(), picture(&model, 80, 24));
    let cells = &plain.backend().buffer().content;
    assert!(cells.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    let coloured = terminal(&model, 80, 24, true);
    let mut colours = coloured.backend().buffer().content.iter().map(|cell| cell.fg);
    assert!(!colours.any(|colour| matches!(colour, Color::Rgb(..) | Color::Indexed(_))));
}

#[test]
fn keys_and_policies_are_shown_above_the_view() {
    let mut model = model();
    press(&mut model, "?");
    assert_snapshot!("help", picture(&model, 80, 24));
    press(&mut model, "xp^");
    assert_snapshot!("policies", picture(&model, 80, 24));
}

#[test]
fn many_cores_and_tasks_stay_in_their_places_and_the_selected_one_is_seen() {
    let mut model = Model::new("large-1");
    let Reply::Status(mut status) = status(2, [0; 6]) else { panic!() };
    for number in 0..30 {
        let mut core = status.cores[0].clone();
        core.core = number + 2;
        status.cores.push(core);
        let mut task = status.tasks[1].clone();
        (task.core, task.index) = (number + 2, number);
        status.tasks.push(task);
    }
    model.take(Reply::Status(status));
    model.key(KeyCode::End.into());
    assert_snapshot!("view_large", picture(&model, 80, 24));
}

#[test]
fn a_task_is_selected_where_it_is_shown_and_keeps_the_selection_when_it_moves() {
    let mut model = model();
    // Core 0 has lpf, the three bpf and sum, core 1 the demodulator.
    assert_eq!(press(&mut model, "jv1"), moves("bpf", 1, "bpf.1", 1));
    model.take(status(3, [0, 1, 0, 1, 0, 0]));
    assert_eq!(press(&mut model, "0"), moves("bpf", 1, "bpf.1", 0));
    assert_eq!(press(&mut model, "k1"), moves("demodulator", 0, "demodulator", 1));
    assert_eq!(press(&mut model, "kkkkkkkk0"), moves("lpf", 0, "lpf", 0));
    assert_eq!(press(&mut model, "jjjjjjjjj0"), moves("bpf", 1, "bpf.1", 0));
}

#[test]
fn a_core_of_several_digits_is_typed_and_one_that_does_not_exist_is_refused() {
    let mut model = model();
    assert_eq!(press(&mut model, "m71\x08"), None);
    assert_eq!(model.prompt, Prompt::Core("7".into()));
    assert_eq!(press(&mut model, "\n"), None);
    assert_eq!(model.note, "core 7 does not exist");
    assert_eq!(press(&mut model, "m01\n"), moves("lpf", 0, "lpf", 1));
    assert_eq!(press(&mut model, "m\n"), None);
    assert_eq!(model.note, "invalid core ``");
    assert_eq!(press(&mut model, "m1\x1b"), None);
    assert_eq!(model.prompt, Prompt::None);
    assert_eq!(press(&mut model, "2"), None);
    assert_eq!(model.note, "core 2 does not exist");
}

#[test]
fn a_policy_is_chosen_from_the_list_or_typed() {
    let mut model = model();
    let chosen = |name: &str, settings: &[&str], words: &str| {
        let settings = settings.iter().map(|setting| (*setting).into()).collect();
        let request = Request::Policy { name: name.into(), settings };
        Some(Effect::Ask(request, format!("policy {words}")))
    };
    assert_eq!(press(&mut model, "pvvv\n"), chosen("spread", &[], "spread"));
    assert_eq!(press(&mut model, "p^\n"), chosen("leakage", &[], "leakage"));
    let typed = chosen("balance", &["k=2"], "balance:k=2");
    assert_eq!(press(&mut model, "pbalance:k=2\n"), typed);
    assert_eq!(press(&mut model, "pnone\n"), chosen("", &[], "none"));
    assert_eq!(press(&mut model, "pa b\n"), None);
    assert!(model.note.contains("invalid policy `a b`"), "{}", model.note);
}

#[test]
fn the_frame_rate_goes_up_and_down_by_a_tenth_or_to_what_is_typed() {
    let mut model = model();
    assert_eq!(press(&mut model, "+"), rate_of(55_000, "55"));
    assert_eq!(press(&mut model, "+"), rate_of(60_500, "60.5"));
    assert_eq!(press(&mut model, "-"), rate_of(55_000, "55"));
    model.answer(false, "refused".into());
    assert_eq!(press(&mut model, "-"), rate_of(45_455, "45.455"));
    assert_eq!(press(&mut model, "f37.5\n"), rate_of(37_500, "37.5"));
    assert_eq!(press(&mut model, "f0\n"), None);
    assert!(model.note.starts_with("frame rate: write"), "{}", model.note);

    let mut model = Model::new("hello-1");
    assert_eq!(press(&mut model, "+"), None);
    assert_eq!(model.note, "this run has no frame rate: f sets one");
    assert_eq!(press(&mut model, "1"), None);
}

#[test]
fn a_view_that_pauses_stays_as_it_is_and_then_shows_the_present() {
    let mut model = model();
    press(&mut model, " ");
    let paused = picture(&model, 80, 24);
    assert!(paused.contains("paused"));
    model.take(status(7, [1; 6]));
    happened().into_iter().for_each(|reply| model.take(reply));
    assert_eq!(picture(&model, 80, 24), paused);
    press(&mut model, " ");
    assert!(picture(&model, 80, 24).contains("7.0 s  running"));
}

#[test]
fn after_the_end_the_last_figures_stay_until_a_key_is_pressed() {
    let mut model = model();
    press(&mut model, " m");
    let Reply::Status(last) = status(9, [0; 6]) else { panic!() };
    let ended = json!({"ended": {"ok": true, "how": "finished", "status": last}});
    model.take(serde_json::from_value(ended).unwrap());
    let shown = picture(&model, 80, 24);
    assert!(shown.contains("9.0 s  finished"), "{shown}");
    assert!(shown.contains("fm_radio-1: finished. Press any key to leave."), "{shown}");
    assert_eq!(fold(&mut model, Input::Lost("its command was killed".into())), None);
    assert_eq!(model.link, Link::Over { ok: true, how: "finished".into() });
    assert_eq!(press(&mut model, "x"), Some(Effect::Quit));
}

#[test]
fn a_run_that_is_killed_is_over_as_well() {
    let mut model = model();
    assert_eq!(fold(&mut model, Input::Lost("its command was killed".into())), None);
    assert!(picture(&model, 80, 24).contains("fm_radio-1: its command was killed."));
    assert_eq!(press(&mut model, "x"), Some(Effect::Quit));
}

#[test]
fn q_escape_control_c_and_signals_leave() {
    let control_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    for input in [Input::Key(KeyCode::Char('q').into()), Input::Key(control_c), Input::Leave] {
        assert_eq!(fold(&mut model(), input), Some(Effect::Quit));
    }
    assert_eq!(press(&mut model(), "\x1b"), Some(Effect::Quit));
    let mut asking = model();
    press(&mut asking, "f");
    assert_eq!(fold(&mut asking, Input::Key(control_c)), Some(Effect::Quit));
}

#[test]
fn an_answer_is_shown_until_the_next_key() {
    let mut model = model();
    fold(&mut model, Input::Answer(false, "not moved lpf to core 1: it may not move".into()));
    assert!(picture(&model, 80, 24).contains("lpf to core 1: it may not move"));
    press(&mut model, "j");
    assert!(!picture(&model, 80, 24).contains("it may not move"));
}
