// SPDX-License-Identifier: Apache-2.0
//! What each key does.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use whimbrel_model::{POLICIES, PolicyName, millihz};
use whimbrel_run::args::values::rate;
use whimbrel_run::control::Request;
use whimbrel_run::output::thousandths;

use super::model::{Effect, Link, Model, Prompt};
use crate::steer::{bell_request, policy_request};

/// Longest text that may be typed.
const TYPED_MAX: usize = 200;

impl Model {
    /// A key was pressed.
    pub fn key(&mut self, key: KeyEvent) -> Option<Effect> {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return (key.code == KeyCode::Char('c')).then_some(Effect::Quit);
        }
        if self.link != Link::Live {
            return Some(Effect::Quit);
        }
        match std::mem::replace(&mut self.prompt, Prompt::None) {
            Prompt::None => self.command(key.code),
            Prompt::Help => None,
            _ if key.code == KeyCode::Esc => None,
            Prompt::Core(text) => self.core(text, key.code),
            Prompt::Policy(text) => self.policy(text, key.code),
            Prompt::Rate(text) => self.rate(text, key.code),
            Prompt::Channel(text) => self.channel(text, key.code),
        }
    }

    fn command(&mut self, code: KeyCode) -> Option<Effect> {
        self.note.clear();
        match code {
            KeyCode::Char('q') | KeyCode::Esc => return Some(Effect::Quit),
            KeyCode::Up | KeyCode::Char('k') => self.select(-1),
            KeyCode::Down | KeyCode::Char('j') => self.select(1),
            KeyCode::PageUp => self.select(-10),
            KeyCode::PageDown => self.select(10),
            KeyCode::Home => self.select(isize::MIN),
            KeyCode::End => self.select(isize::MAX),
            KeyCode::Char(digit @ '0'..='9') => return self.migrate(u32::from(digit) - 48),
            KeyCode::Char('m') => self.prompt = Prompt::Core(String::new()),
            KeyCode::Char('p') => self.prompt = Prompt::Policy(String::new()),
            KeyCode::Char('c') => self.prompt = Prompt::Channel(String::new()),
            KeyCode::Char('f') => self.prompt = Prompt::Rate(String::new()),
            KeyCode::Char('+' | '=') => return self.step(11, 10),
            KeyCode::Char('-') => return self.step(10, 11),
            KeyCode::Char(' ') => self.pause(),
            KeyCode::Char('?') | KeyCode::F(1) => self.prompt = Prompt::Help,
            _ => {}
        }
        None
    }

    /// One tenth more, or what a tenth more was made of.
    pub fn step(&mut self, times: u64, of: u64) -> Option<Effect> {
        let now = self.millihz();
        if now == 0 {
            self.note = "this run has no frame rate: f sets one".into();
            return None;
        }
        Some(self.ask_rate((now.saturating_mul(times) + of / 2) / of))
    }

    fn ask_rate(&mut self, millihz: u64) -> Effect {
        let millihz = millihz.clamp(1, 1_000_000_000_000);
        self.asked_millihz = Some(millihz);
        let what = format!("{} frames per second", thousandths(millihz));
        Effect::Ask(Request::Rate { millihz }, what)
    }

    fn core(&mut self, text: String, code: KeyCode) -> Option<Effect> {
        if code != KeyCode::Enter {
            self.prompt = Prompt::Core(typed(text, code, |c| c.is_ascii_digit()));
            return None;
        }
        match text.parse() {
            Ok(core) => self.migrate(core),
            Err(_) => self.complain(format!("invalid core `{text}`")),
        }
    }

    fn policy(&mut self, text: String, code: KeyCode) -> Option<Effect> {
        let step = match code {
            KeyCode::Down => 1,
            KeyCode::Up => POLICIES.len() - 1,
            KeyCode::Enter => return self.choose(&text),
            _ => {
                self.prompt = Prompt::Policy(typed(text, code, |c| !c.is_control()));
                return None;
            }
        };
        let here = POLICIES.iter().position(|policy| policy.name == text);
        let start = if step == 1 { 0 } else { POLICIES.len() - 1 };
        let next = here.map_or(start, |here| (here + step) % POLICIES.len());
        self.prompt = Prompt::Policy(POLICIES[next].name.to_owned());
        None
    }

    /// Wants a policy, as `whimbrel policy` is told.
    pub fn choose(&mut self, text: &str) -> Option<Effect> {
        match text.trim().parse::<PolicyName>() {
            Ok(policy) => {
                self.note = format!("policy {policy} is asked for");
                Some(Effect::Ask(policy_request(&policy), format!("policy {policy}")))
            }
            Err(why) => self.complain(why),
        }
    }

    fn rate(&mut self, text: String, code: KeyCode) -> Option<Effect> {
        if code != KeyCode::Enter {
            let part = |c: char| c.is_ascii_digit() || c == '.';
            self.prompt = Prompt::Rate(typed(text, code, part));
            return None;
        }
        self.set_rate(&text)
    }

    /// Wants a frame rate.
    pub fn set_rate(&mut self, text: &str) -> Option<Effect> {
        match rate(text) {
            Ok(rate) => Some(self.ask_rate(millihz(rate))),
            Err(why) => self.complain(format!("frame rate: {why}")),
        }
    }

    fn channel(&mut self, text: String, code: KeyCode) -> Option<Effect> {
        if code != KeyCode::Enter {
            self.prompt = Prompt::Channel(typed(text, code, |c| !c.is_control()));
            return None;
        }
        self.set_channel(&text)
    }

    /// Wants a channel to be as `CHANNEL KEY=VALUE` says.
    pub fn set_channel(&mut self, text: &str) -> Option<Effect> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let settings: Vec<&str> = words.collect();
        if settings.is_empty() {
            return self
                .complain("write CHANNEL KEY=VALUE, as lpf_out doorbell=polling:5ms".into());
        }
        match bell_request(&self.picture().now.channels, name, &settings) {
            Ok((request, what)) => Some(Effect::Ask(request, what)),
            Err(problem) => self.complain(problem.line()),
        }
    }

    fn complain(&mut self, why: String) -> Option<Effect> {
        self.note = why;
        None
    }
}

/// The text after one more key.
fn typed(mut text: String, code: KeyCode, allowed: fn(char) -> bool) -> String {
    match code {
        KeyCode::Backspace => {
            text.pop();
        }
        KeyCode::Char(c) if allowed(c) && text.len() < TYPED_MAX => text.push(c),
        _ => {}
    }
    text
}
