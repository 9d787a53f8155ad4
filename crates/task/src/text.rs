// SPDX-License-Identifier: Apache-2.0
//! Text without a heap, and a way out for it that keeps nothing back.

use core::ffi::{CStr, c_int};
use core::fmt::{self, Write};

use crate::sys;

const STDOUT: c_int = 1;
pub(crate) const STDERR: c_int = 2;

/// A text of at most `N - 1` bytes, and a 0 for C; what does not fit is cut off.
pub(crate) struct Text<const N: usize> {
    bytes: [u8; N],
    used: usize,
}

impl<const N: usize> Text<N> {
    pub(crate) fn of(said: fmt::Arguments<'_>) -> Self {
        let mut text = Self { bytes: [0; N], used: 0 };
        // An error is that of a foreign Display: what came before it is kept.
        let _ = text.write_fmt(said);
        text
    }

    /// Up to the first 0, if the text has one of its own.
    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }

    pub(crate) fn write_to(&self, file: c_int) {
        let mut left = &self.bytes[..self.used];
        while !left.is_empty() {
            // SAFETY: it reads so many bytes of `left`.
            let written = unsafe { sys::write(file, left.as_ptr().cast(), left.len()) };
            match usize::try_from(written) {
                Ok(n) if n > 0 => left = &left[n..],
                _ => return,
            }
        }
    }
}

impl<const N: usize> Write for Text<N> {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = (N - 1 - self.used).min(more.len());
        // A character is kept whole or not at all.
        let taken = (0..=room).rev().find(|&at| more.is_char_boundary(at)).unwrap_or_default();
        self.bytes[self.used..self.used + taken].copy_from_slice(&more.as_bytes()[..taken]);
        self.used += taken;
        Ok(())
    }
}

/// Writes to standard output, and keeps nothing back: what `println!` calls.
#[doc(hidden)]
pub fn print(said: fmt::Arguments<'_>) {
    Text::<512>::of(said).write_to(STDOUT);
}

/// Prints a line of up to 510 bytes to standard output, at the task's core.
///
/// It is written before the call returns. A buffer, such as that of C's `printf()`, would stay in
/// the process that the task leaves.
#[macro_export]
macro_rules! println {
    ($($said:tt)*) => {
        $crate::print(::core::format_args!("{}\n", ::core::format_args!($($said)*)))
    };
}
