// SPDX-License-Identifier: Apache-2.0
//! The terminal: taken for the view, and given back as it was on every way out. Dropping does it on
//! an orderly return and while a panic unwinds, a hook before a panic's message is written, and
//! signals end the view in order.

use std::io;
use std::sync::mpsc::Sender;
use std::thread;

use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::{DefaultTerminal, Frame};
use signal_hook::iterator::Signals;
use whimbrel_run::signals;

use super::Input;

/// The terminal while the view has it.
#[derive(Debug)]
pub struct Terminal(DefaultTerminal);

impl Terminal {
    /// Takes the terminal.
    ///
    /// # Errors
    /// There is none, or it has gone.
    pub fn open() -> io::Result<Self> {
        // Something may be changed already when it fails.
        ratatui::try_init().map(Self).inspect_err(|_| restore())
    }

    /// Draws one picture.
    ///
    /// # Errors
    /// The terminal has gone.
    pub fn draw(&mut self, picture: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.0.draw(picture).map(|_| ())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The cursor is hidden as long as pictures are drawn.
        let _ = self.0.show_cursor();
        restore();
    }
}

fn restore() {
    // It fails only when the terminal has gone, and then there is nothing to restore.
    let _ = ratatui::try_restore();
}

/// Passes on what the user types, as long as anybody wants it.
pub fn keys(to: Sender<Input>) {
    thread::spawn(move || {
        loop {
            let input = match event::read() {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => Input::Key(key),
                Ok(Event::Resize(..)) => Input::Resized,
                Ok(_) => continue,
                Err(_) => Input::Leave,
            };
            let last = matches!(input, Input::Leave);
            if to.send(input).is_err() || last {
                return;
            }
        }
    });
}

/// Makes the signals that would end the process end the view.
///
/// # Errors
/// The system refuses.
pub fn signals(to: &Sender<Input>) -> io::Result<()> {
    let mut signals = Signals::new(signals::ending())?;
    let to = to.clone();
    thread::spawn(move || {
        for _ in signals.forever() {
            if to.send(Input::Leave).is_err() {
                return;
            }
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::env::current_exe;
    use std::process::Command;

    use super::*;

    #[test]
    #[ignore = "the next test runs it, on a separate terminal"]
    fn panics() {
        let _terminal = Terminal::open().unwrap();
        panic!("while the view has the terminal");
    }

    #[test]
    fn a_panic_gives_the_terminal_back_before_it_says_what_is_wrong() {
        let test = "top::terminal::tests::panics --exact --ignored --nocapture";
        let script = format!("{} {test}; stty -a", current_exe().unwrap().display());
        let mut command = Command::new("script");
        let output = command.args(["-qec", &script, "/dev/null"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let place = |text: &str| said.find(text).unwrap_or_else(|| panic!("no {text}: {said}"));
        assert!(place("\x1b[?1049h") < place("\x1b[?1049l"), "{said}");
        assert!(place("\x1b[?1049l") < place("while the view has the terminal"), "{said}");
        assert!(said.contains(" icanon") && !said.contains("-icanon"), "{said}");
    }
}
