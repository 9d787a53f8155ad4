// SPDX-License-Identifier: Apache-2.0
//! A terminal for a command under test: a real pseudo-terminal, and what would be seen on it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::common::{PATIENCE, kill};

/// A command on a terminal of 80 by 24; killed when it is dropped.
pub struct Screen {
    keyboard: Option<File>,
    line: OwnedFd,
    modes: Termios,
    parser: Arc<Mutex<vt100::Parser>>,
    child: Child,
}

impl Screen {
    /// Starts the command as the leader of a session that this terminal controls.
    pub fn open(command: &Command) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let line = ioctl_tiocgptpeer(&master, flags).unwrap();
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&line, size).unwrap();
        let modes = tcgetattr(&line).unwrap();

        // The tests may be run with signals ignored that a terminal's programs do not ignore.
        let mut leader = Command::new("env");
        leader.args(["--default-signal=HUP,INT", "setsid", "--ctty"]);
        leader.arg(command.get_program()).args(command.get_args());
        leader.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
        leader.current_dir(command.get_current_dir().unwrap());
        let end = || Stdio::from(line.try_clone().unwrap());
        let child = leader.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();

        let parser = Arc::new(Mutex::new(vt100::Parser::new(24, 80, 0)));
        let keyboard = File::from(master);
        listen(keyboard.try_clone().unwrap(), Arc::clone(&parser));
        Self { keyboard: Some(keyboard), line, modes, parser, child }
    }

    pub fn text(&self) -> String {
        self.parser.lock().unwrap().screen().contents()
    }

    /// Whether anything is in another colour than the terminal's own.
    pub fn has_colours(&self) -> bool {
        let parser = self.parser.lock().unwrap();
        let screen = parser.screen();
        let cells =
            (0..24).flat_map(|row| (0..80).filter_map(move |column| screen.cell(row, column)));
        cells.into_iter().any(|cell| cell.fgcolor() != vt100::Color::Default)
    }

    pub fn shows(&self, text: &str) -> bool {
        self.text().contains(text)
    }

    /// Waits until this is seen.
    pub fn wait_for(&self, text: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.shows(text) {
            assert!(Instant::now() < end, "`{text}` does not appear:\n{}", self.text());
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn press(&self, keys: &str) {
        self.keyboard.as_ref().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    pub fn signal(&self, signal: i32) {
        kill(u64::from(self.child.id()), signal);
    }

    /// Waits for the end.
    pub fn finish(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "it does not end:\n{}", self.text());
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Whether the terminal is as it was before the command.
    pub fn wait_until_restored(&self) {
        let now = tcgetattr(&self.line).unwrap();
        assert_eq!(now.local_modes, self.modes.local_modes);
        assert_eq!(now.input_modes, self.modes.input_modes);
        assert_eq!(now.output_modes, self.modes.output_modes);
        let end = Instant::now() + PATIENCE;
        let taken = |screen: &vt100::Screen| screen.alternate_screen() || screen.hide_cursor();
        while taken(self.parser.lock().unwrap().screen()) {
            assert!(Instant::now() < end, "the screen is not given back:\n{}", self.text());
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // After an orderly end there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen(mut master: File, parser: Arc<Mutex<vt100::Parser>>) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(n @ 1..) = master.read(&mut bytes) {
            parser.lock().unwrap().process(&bytes[..n]);
        }
    });
}
