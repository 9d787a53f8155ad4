// SPDX-License-Identifier: Apache-2.0
//! Ports typed by what they carry, and slots that are written and read in place.

use core::ffi::{CStr, c_void};
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};
use core::ptr;
use core::time::Duration;

use crate::error::{Error, nanoseconds};
use crate::message::{Carried, Message};
use crate::sys;
use crate::task::Task;

/// What inputs and outputs have in common.
struct Port<T: Carried + ?Sized> {
    port: *mut sys::wb_port,
    carries: PhantomData<*mut T>,
}

impl<T: Carried + ?Sized> Port<T> {
    const ONE_BYTES: usize = {
        assert!(align_of::<T::One>() <= 64, "slots are aligned to 64 bytes");
        assert!(size_of::<T::One>() > 0, "a message has a size");
        size_of::<T::One>()
    };

    #[track_caller]
    fn find(task: &Task, name: &CStr, index: u32, is_input: bool) -> Self {
        let find = if T::IS_BLOCK { sys::wb_port_find_room } else { sys::wb_port_find };
        // SAFETY: `task` is the one that runs, and `name` ends with a 0.
        let port = unsafe { find(task.as_ptr(), name.as_ptr(), index, Self::ONE_BYTES) };
        // SAFETY: the port was found: where there is none, the run has ended.
        let is_so = unsafe { sys::wb_port_is_input(port) } == is_input;
        assert!(is_so, "port {name:?} is an {}put", if is_input { "out" } else { "in" });
        task.open(port, name);
        Self { port, carries: PhantomData }
    }

    fn room(&self) -> usize {
        // SAFETY: it is a port of the task that runs, as below.
        unsafe { sys::wb_port_slot_bytes(self.port) as usize / Self::ONE_BYTES }
    }

    fn messages(&self) -> u64 {
        // SAFETY: as above.
        unsafe { sys::wb_port_messages(self.port) }
    }

    fn rate(&self) -> u32 {
        // SAFETY: as above.
        unsafe { sys::wb_port_rate(self.port) }
    }

    fn close(&self) {
        // SAFETY: as above; whoever closes it gives its handle away.
        unsafe { sys::wb_port_close(self.port) }
    }
}

macro_rules! common {
    ($port:ident, $is_input:literal, $moved:literal) => {
        impl<T: Carried + ?Sized> $port<T> {
            /// Finds a port of this task, once: a second handle of it panics. If app.toml has no
            /// such port, or its slots have another size, the run ends with an error that says so.
            #[track_caller]
            pub fn new(task: &Task, name: &CStr) -> Self {
                Self::with_index(task, name, 0)
            }

            /// The same, of the port `name` with several channels.
            #[track_caller]
            pub fn with_index(task: &Task, name: &CStr, index: u32) -> Self {
                Self::of(Port::find(task, name, index, $is_input))
            }

            /// How many elements a message has; 1 unless it is a block `[T]`.
            #[must_use]
            pub fn room(&self) -> usize {
                self.port.room()
            }

            #[doc = concat!("How many messages were ", $moved, " since the start.")]
            #[must_use]
            pub fn messages(&self) -> u64 {
                self.port.messages()
            }

            /// How many messages pass in each firing of the task, as app.toml says; 1 where it
            /// says nothing.
            #[must_use]
            pub fn rate(&self) -> u32 {
                self.port.rate()
            }

            /// Closes the port before its task ends.
            pub fn close(self) {
                self.port.close();
            }
        }

        impl<T: Carried + ?Sized> fmt::Debug for $port<T> {
            fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.debug_struct(stringify!($port)).field("messages", &self.messages()).finish()
            }
        }
    };
}

// ---- Outputs ------------------------------------------------------------------------------------

/// A port that sends `T`, or blocks `[T]`.
pub struct Output<T: Carried + ?Sized> {
    port: Port<T>,
    /// A slot that is claimed and not committed; null: there is none.
    claimed: *mut c_void,
}

common!(Output, false, "sent");

impl<T: Carried + ?Sized> Output<T> {
    fn of(port: Port<T>) -> Self {
        Self { port, claimed: ptr::null_mut() }
    }

    /// Takes the next free slot, to be written in place. Its old content is that of any message.
    ///
    /// # Errors
    ///
    /// [`Error::Full`] with a timeout of zero, [`Error::Timeout`]; [`Error::Gone`] when the
    /// receiver is over.
    pub fn claim<'a>(
        &'a mut self,
        _: &'a Task,
        timeout: Option<Duration>,
    ) -> Result<OutSlot<'a, T>, Error> {
        if self.claimed.is_null() {
            // SAFETY: a port of the task that runs; `claimed` is written on success.
            Error::check(unsafe {
                sys::wb_port_claim(self.port.port, &raw mut self.claimed, nanoseconds(timeout))
            })?;
        }
        Ok(OutSlot { output: self })
    }

    fn commit(&mut self) {
        self.claimed = ptr::null_mut();
        // SAFETY: a port of the task that runs. It succeeds: this slot was claimed.
        unsafe { sys::wb_port_commit(self.port.port) };
    }
}

impl<T: Message> Output<T> {
    /// Copies one message in.
    ///
    /// # Errors
    ///
    /// Those of [`claim`](Self::claim), with the channel unchanged.
    pub fn send(&mut self, message: &T, timeout: Option<Duration>) -> Result<(), Error> {
        if self.claimed.is_null() {
            let from = ptr::from_ref(message).cast();
            // SAFETY: a port of the task that runs, whose slots have the size of T.
            return Error::check(unsafe {
                sys::wb_port_send(self.port.port, from, nanoseconds(timeout))
            });
        }
        // SAFETY: the slot is the task's, is aligned to 64 bytes and has the size of T.
        unsafe { self.claimed.cast::<T>().write(*message) };
        self.commit();
        Ok(())
    }
}

/// A slot to write in. [`commit`](Self::commit) sends it; one that is dropped is not sent, and is
/// the next one that its port claims.
#[must_use = "a slot is sent by its commit()"]
pub struct OutSlot<'a, T: Carried + ?Sized> {
    output: &'a mut Output<T>,
}

impl<T: Carried + ?Sized> OutSlot<'_, T> {
    /// Sends it.
    pub fn commit(self) {
        self.output.commit();
    }

    fn at(&self) -> *mut T {
        T::at(self.output.claimed, self.output.room())
    }
}

impl<T: Carried + ?Sized> Deref for OutSlot<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the slot is the task's until it is committed, aligned to 64 bytes, and has room
        // for that; and whatever it contains is a T.
        unsafe { &*self.at() }
    }
}

impl<T: Carried + ?Sized> DerefMut for OutSlot<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in deref().
        unsafe { &mut *self.at() }
    }
}

impl<T: Carried + ?Sized> fmt::Debug for OutSlot<'_, T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("OutSlot").finish_non_exhaustive()
    }
}

// ---- Inputs -------------------------------------------------------------------------------------

/// A port that receives `T`, or blocks `[T]`.
pub struct Input<T: Carried + ?Sized> {
    port: Port<T>,
}

common!(Input, true, "taken");

impl<T: Carried + ?Sized> Input<T> {
    fn of(port: Port<T>) -> Self {
        Self { port }
    }

    /// Takes the next message, to be read in place. It is released when the slot is dropped.
    ///
    /// # Errors
    ///
    /// [`Error::Empty`] with a timeout of zero, [`Error::Timeout`]; [`Error::Gone`] when there is
    /// none and every sender is over.
    pub fn hold<'a>(
        &'a mut self,
        _: &'a Task,
        timeout: Option<Duration>,
    ) -> Result<InSlot<'a, T>, Error> {
        let mut slot = ptr::null();
        // SAFETY: a port of the task that runs; `slot` is written on success.
        Error::check(unsafe {
            sys::wb_port_hold(self.port.port, &raw mut slot, nanoseconds(timeout))
        })?;
        let message = T::at(slot.cast_mut(), self.room()).cast_const();
        Ok(InSlot { input: self, message })
    }
}

impl<T: Message> Input<T> {
    /// Copies the oldest message out, and frees its slot.
    ///
    /// # Errors
    ///
    /// Those of [`hold`](Self::hold).
    pub fn receive(&mut self, timeout: Option<Duration>) -> Result<T, Error> {
        let mut message = MaybeUninit::<T>::uninit();
        // SAFETY: a port of the task that runs, whose slots have the size of T.
        Error::check(unsafe {
            sys::wb_port_receive(self.port.port, message.as_mut_ptr().cast(), nanoseconds(timeout))
        })?;
        // SAFETY: the message was copied there, and whatever it contains is a T.
        Ok(unsafe { message.assume_init() })
    }
}

/// A message in its slot, until it is dropped.
pub struct InSlot<'a, T: Carried + ?Sized> {
    input: &'a mut Input<T>,
    message: *const T,
}

impl<T: Carried + ?Sized> Deref for InSlot<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the slot stays as it is until it is released, is aligned to 64 bytes, and has so
        // much; and whatever it contains is a T.
        unsafe { &*self.message }
    }
}

impl<T: Carried + ?Sized> Drop for InSlot<'_, T> {
    fn drop(&mut self) {
        // SAFETY: a port of the task that runs. It succeeds: a slot of it is held.
        unsafe { sys::wb_port_release(self.input.port.port) };
    }
}

impl<T: Carried + ?Sized> fmt::Debug for InSlot<'_, T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("InSlot").finish_non_exhaustive()
    }
}
