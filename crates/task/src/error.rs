// SPDX-License-Identifier: Apache-2.0
//! Outcomes other than success: `enum wb_status` of C.

use core::ffi::{CStr, c_int};
use core::fmt;
use core::time::Duration;

use crate::sys;

/// Why a call did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[repr(i32)]
pub enum Error {
    /// There is no room now.
    Full = sys::WB_ERR_FULL,
    /// There is nothing to take now.
    Empty = sys::WB_ERR_EMPTY,
    /// The time allowed has passed.
    Timeout = sys::WB_ERR_TIMEOUT,
    /// An argument is invalid.
    Invalid = sys::WB_ERR_INVAL,
    /// The other end has ended.
    Gone = sys::WB_ERR_GONE,
    /// Another migration of the task is under way.
    Busy = sys::WB_ERR_BUSY,
    /// The task holds something that cannot move with it.
    Held = sys::WB_ERR_HELD,
    /// The task may not move.
    Pinned = sys::WB_ERR_PINNED,
    /// The memory set aside for it is used up.
    NoMemory = sys::WB_ERR_NOMEM,
    /// Its last holder ended with it, so what it guards may be half changed.
    Owner = sys::WB_ERR_OWNER,
    /// The kernels of this run cannot do it.
    Unable = sys::WB_ERR_UNABLE,
    /// It belongs to another user.
    Denied = sys::WB_ERR_DENIED,
}

impl Error {
    /// The outcome of a function of C; a status of a later version is `Invalid`.
    pub(crate) fn check(status: c_int) -> Result<(), Self> {
        Err(match status {
            sys::WB_OK.. => return Ok(()),
            sys::WB_ERR_FULL => Self::Full,
            sys::WB_ERR_EMPTY => Self::Empty,
            sys::WB_ERR_TIMEOUT => Self::Timeout,
            sys::WB_ERR_GONE => Self::Gone,
            sys::WB_ERR_BUSY => Self::Busy,
            sys::WB_ERR_HELD => Self::Held,
            sys::WB_ERR_PINNED => Self::Pinned,
            sys::WB_ERR_NOMEM => Self::NoMemory,
            sys::WB_ERR_OWNER => Self::Owner,
            sys::WB_ERR_UNABLE => Self::Unable,
            sys::WB_ERR_DENIED => Self::Denied,
            _ => Self::Invalid,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: it returns static text for any number.
        let text = unsafe { CStr::from_ptr(sys::wb_status_text(*self as c_int)) };
        to.write_str(text.to_str().unwrap_or_default())
    }
}

impl core::error::Error for Error {}

/// A timeout as C has it; `None` has no end, zero does not wait.
pub(crate) fn nanoseconds(timeout: Option<Duration>) -> u64 {
    timeout
        .map_or(sys::WB_FOREVER, |time| u64::try_from(time.as_nanos()).unwrap_or(sys::WB_FOREVER))
}
