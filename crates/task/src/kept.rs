// SPDX-License-Identifier: Apache-2.0
//! What a task keeps for its next life.

use core::fmt;

use crate::error::Error;
use crate::message::Message;
use crate::sys;
use crate::task::Task;

/// In the task's heap, behind its state pointer.
#[repr(C)]
struct Block<T> {
    bytes: usize,
    value: T,
}

/// A value that the next life of a task finds, if app.toml has `restart = true` and its kernel is
/// killed. Everything else begins anew.
///
/// ```no_run
/// # use whimbrel_task::{Error, Kept, Output, Task};
/// fn counter(task: &mut Task) -> Result<(), Error> {
///     let mut out = Output::<u32>::new(task, c"out");
///     let next = Kept::new(task, 0)?;
///
///     while next.get() < 100 {
///         out.send(&next.get(), None)?; // may come twice: the receiver drops a second one
///         next.set(next.get() + 1);
///         task.checkpoint();
///     }
///     Ok(())
/// }
/// ```
///
/// A task has one. If the kernel is killed within [`set`](Self::set), a value larger than a number
/// may be half new.
pub struct Kept<T> {
    block: *mut Block<T>,
}

impl<T: Message> Kept<T> {
    const ALIGN: () = assert!(align_of::<Block<T>>() <= 16, "the heap aligns to 16 bytes");

    /// What the life before has left, or `first`.
    ///
    /// # Errors
    ///
    /// [`Error::NoMemory`]: the task's heap is full.
    ///
    /// # Panics
    ///
    /// If the task keeps a value of another size already.
    #[track_caller]
    pub fn new(task: &mut Task, first: T) -> Result<Self, Error> {
        let () = Self::ALIGN;
        // SAFETY: `task` is the one that runs.
        let mut block: *mut Block<T> = unsafe { sys::wb_task_state(task.as_ptr()) }.cast();
        if block.is_null() {
            // SAFETY: it has no conditions.
            block = unsafe { sys::malloc(size_of::<Block<T>>()) }.cast();
            if block.is_null() {
                return Err(Error::NoMemory);
            }
            // SAFETY: the block is new, and large enough. It is complete before it is the state: a
            // kernel that is killed in between leaves none.
            unsafe {
                block.write(Block { bytes: size_of::<T>(), value: first });
                sys::wb_task_set_state(task.as_ptr(), block.cast());
            }
        }
        // SAFETY: every block that is a task's state begins with its size.
        assert!(unsafe { (*block).bytes } == size_of::<T>(), "the task keeps another value");
        Ok(Self { block })
    }

    /// The value.
    #[must_use]
    pub fn get(&self) -> T {
        // SAFETY: the block is there until the task ends, no reference to it is ever made, and
        // whatever it contains is a T.
        unsafe { (*self.block).value }
    }

    /// Replaces the value.
    pub fn set(&self, value: T) {
        // SAFETY: as in get().
        unsafe { (*self.block).value = value }
    }
}

impl<T: Message + fmt::Debug> fmt::Debug for Kept<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_tuple("Kept").field(&self.get()).finish()
    }
}
