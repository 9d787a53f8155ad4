// SPDX-License-Identifier: Apache-2.0
//! The serial line to a board, as a socket: a run speaks to all that it starts through one.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::thread;

use rustix::fs::{Mode, OFlags, open};
use rustix::termios::{
    ControlModes, OptionalActions, Termios, ioctl_tiocexcl, tcgetattr, tcsetattr,
};

/// How much is carried at once.
const PIECE: usize = 4096;

/// Opens a serial device with nothing between the bytes and us, at a speed in bits per second.
/// When either end closes, so does the other.
///
/// # Errors
/// It is not there, is no serial line, is in use, or does not know the speed.
pub fn connect(path: &str, baud: u32) -> io::Result<UnixStream> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let device = open(path, flags, Mode::empty())?;
    ioctl_tiocexcl(&device)?;
    let mut settings = tcgetattr(&device)?;
    raw(&mut settings, baud)?;
    tcsetattr(&device, OptionalActions::Flush, &settings)?;
    // Only opening must not wait, for a modem.
    rustix::fs::fcntl_setfl(&device, OFlags::RDWR)?;

    let (ours, theirs) = UnixStream::pair()?;
    let (from_device, to_device) = (File::from(device.try_clone()?), File::from(device));
    let (from_us, to_us) = (theirs.try_clone()?, theirs);
    thread::spawn(move || carry(from_us, to_device));
    thread::spawn(move || {
        let socket = to_us.try_clone();
        carry(from_device, to_us);
        // The device has gone; an error means that the run has, too.
        let _ = socket.map(|socket| socket.shutdown(Shutdown::Both));
    });
    Ok(ours)
}

/// Eight bits without parity, and neither signals nor flow control: lines of text are checked by
/// those who read them.
fn raw(settings: &mut Termios, baud: u32) -> io::Result<()> {
    settings.make_raw();
    settings.control_modes |= ControlModes::CLOCAL | ControlModes::CREAD;
    settings.control_modes &= !(ControlModes::CRTSCTS | ControlModes::CSTOPB);
    Ok(settings.set_speed(baud)?)
}

/// Until either has gone.
fn carry(mut from: impl Read, mut to: impl Write) {
    let mut piece = [0; PIECE];
    loop {
        match from.read(&mut piece) {
            Ok(n) if n > 0 && to.write_all(&piece[..n]).is_ok() => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}
