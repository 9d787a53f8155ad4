// SPDX-License-Identifier: Apache-2.0
//! `whimbrel top`: shows a run while it goes on, and steers it.
//!
//! Threads only read: the terminal's keys, signals, and what the run says. Here they come together,
//! one after the other: each changes the model, and the model is drawn.

mod draw;
mod keys;
mod link;
mod model;
mod picture;
mod plain;
mod terminal;
mod web;

#[cfg(test)]
mod tests;

use std::env;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, Receiver};

use ratatui::crossterm::event::KeyEvent;
use whimbrel_model::Problem;
use whimbrel_run::control::{self, Reply, Request, Watch};
use whimbrel_run::failure::{Answer, Outcome};
use whimbrel_run::output::print_json;
use whimbrel_run::rundir::{FoundRun, SOCKET};
use whimbrel_text::has_colours;

use crate::cli::TopArgs;
use crate::steer::{find, find_only, other_version, request, unreachable};
use draw::{Palette, draw};
use model::{Effect, Model};
use terminal::Terminal;

/// What can be done without such a terminal.
const OTHERWISE: &str =
    "use `--once` to print the view as text, `--json` for the totals, or `--web` for a browser";
/// So many inputs may come between two pictures.
const AT_ONCE: usize = 1000;

/// What comes together here.
#[derive(Debug)]
pub enum Input {
    /// The run has said something.
    Reply(Box<Reply>),
    /// The run is out of reach, and why.
    Lost(String),
    /// What was asked for has happened, or not, in words.
    Answer(bool, String),
    /// A key was pressed.
    Key(KeyEvent),
    /// The terminal has another size.
    Resized,
    /// A signal, or the terminal has gone.
    Leave,
}

/// Shows a run.
///
/// # Errors
/// No such run, several of them, or no terminal to show it on.
pub fn top(args: &TopArgs) -> Outcome {
    let run = args.run.as_deref().map_or_else(find_only, find)?;
    if args.json {
        return totals(&run);
    }
    let show = !args.once && !args.web;
    if show && !io::stdout().is_terminal() {
        return Err(Problem::new("standard output is not a terminal").help(OTHERWISE).into());
    }
    if show && env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb") {
        let problem = Problem::new("this terminal (TERM) cannot place a cursor");
        return Err(problem.help(OTHERWISE).into());
    }
    let failed = |error| unreachable(&run.name, &error);
    let mut watch = control::watch(&run.path.join(SOCKET), args.interval).map_err(failed)?;
    let mut model = Model::new(&run.name);
    match watch.next(false).map_err(failed)? {
        Reply::Refused(why) => {
            let problem = Problem::new(format!("the run `{}` refuses: {why}", run.name));
            return Err(problem.help("use `--once` or `--json`, or end another `top`").into());
        }
        reply => model.take(reply),
    }
    match (args.web, args.once) {
        (true, _) => web::serve(run, watch, model, args.port),
        (_, true) => plain::once(&mut watch, model),
        _ => stay(&run, watch, model),
    }
}

fn totals(run: &FoundRun) -> Outcome {
    match request(run, &Request::Status)? {
        Reply::Status(status) => print_json(&status)?,
        _ => return Err(other_version().into()),
    }
    Ok(Answer::Yes)
}

fn stay(run: &FoundRun, watch: Watch, mut model: Model) -> Outcome {
    let (sender, inputs) = mpsc::channel();
    let unusable =
        |error| Problem::new(format!("the terminal cannot be used: {error}")).help(OTHERWISE);
    terminal::signals(&sender).map_err(unusable)?;
    link::listen(run.name.clone(), watch, sender.clone());
    let mut terminal = Terminal::open().map_err(unusable)?;
    terminal::keys(sender.clone());

    let palette = Palette { colours: has_colours(&io::stdout()) };
    loop {
        let drawn = terminal.draw(|frame| {
            draw(&model, palette, frame.area(), frame.buffer_mut());
        });
        // A terminal that cannot be written to has gone, and nobody looks any more.
        if drawn.is_err() {
            return Ok(Answer::Yes);
        }
        for effect in take(&mut model, &inputs) {
            match effect {
                Effect::Quit => return Ok(Answer::Yes),
                Effect::Ask(request, what) => link::perform(run, request, what, sender.clone()),
            }
        }
    }
}

/// Waits for something to happen, and takes in all that has.
fn take(model: &mut Model, inputs: &Receiver<Input>) -> Vec<Effect> {
    let first = inputs.recv().unwrap_or(Input::Leave);
    let all = std::iter::once(first).chain(inputs.try_iter()).take(AT_ONCE);
    all.filter_map(|input| fold(model, input)).collect()
}

fn fold(model: &mut Model, input: Input) -> Option<Effect> {
    match input {
        Input::Reply(reply) => model.take(*reply),
        Input::Lost(why) => model.over(false, why),
        Input::Answer(ok, text) => model.answer(ok, text),
        Input::Key(key) => return model.key(key),
        Input::Resized => {}
        Input::Leave => return Some(Effect::Quit),
    }
    None
}
