// SPDX-License-Identifier: Apache-2.0
//! Tasks of Whimbrel in safe Rust.
//!
//! ```no_run
//! use whimbrel_task::{Error, Input, Output, Task};
//!
//! fn filter(task: &mut Task) -> Result<(), Error> {
//!     let mut samples = Input::<[f32]>::new(task, c"in"); // blocks, as large as app.toml says
//!     let mut filtered = Output::<[f32]>::new(task, c"out");
//!     let mut last = 0.0; // moves with the task
//!
//!     loop {
//!         let Ok(block) = samples.hold(task, None) else {
//!             return Ok(()); // every sender is over
//!         };
//!         let mut slot = filtered.claim(task, None)?;
//!         for (to, from) in slot.iter_mut().zip(&*block) {
//!             last += 0.1 * (from - last);
//!             *to = last;
//!         }
//!         slot.commit(); // sent
//!         drop(block); // released
//!         task.checkpoint(); // here it may leave its core; it goes on here, on another
//!     }
//! }
//! ```
//!
//! The crate of a module is a `cdylib`, begins with `#![no_std]`, panics by `abort`, and names its
//! tasks once: `whimbrel_task::tasks!(filter);`. `docs/rust.md` has all of it.
//!
//! - [`tasks!`] makes functions the entries of tasks, and has a panic end its task alone.
//! - [`Input`] and [`Output`] are typed by what they carry: a [`Message`], or blocks of it.
//! - [`OutSlot`] and [`InSlot`] are messages in place. [`Mutex`], [`Condition`], [`Semaphore`] and
//!   [`AddressLock`] work among tasks of any cores.
//! - [`Kept`] is what a task finds when it is restarted after the death of its kernel.
//! - A timeout of `None` has no end; zero does not wait.
//! - [`sys`] has the types and functions of C that this crate calls. For calls, barriers and
//!   `wb_wait()`, declare more of them.
//!
//! # What may not live across a checkpoint
//!
//! The stack, the heap and the globals move with a task. A slot or a lock there does not compile:
//! some modes of moving would allow it, others and checkpoint images do not. The compiler does not
//! see files that the task opens by C, nor other things of one process.
//!
//! # Why there is no std
//!
//! std keeps thread-local variables: how many panics are under way, the current thread, the keys of
//! hash maps. Each kernel would have its own, so a task that moved would find those of another. A
//! run refuses a module with such variables. [`Heap`] makes `alloc` available.

#![no_std]

mod error;
mod heap;
mod kept;
mod lock;
mod message;
mod port;
pub mod sys;
mod task;
mod text;

pub use error::Error;
pub use heap::Heap;
pub use kept::Kept;
pub use lock::{AddressLock, Condition, LockError, Mutex, MutexGuard, Semaphore};
pub use message::{Carried, Message};
pub use port::{InSlot, Input, OutSlot, Output};
pub use task::{Outcome, Task};
#[doc(hidden)]
pub use task::{panicked, run};
#[doc(hidden)]
pub use text::print;

/// Makes functions of this module the entries of tasks, under their names, and defines what a panic
/// does. A crate has it once.
///
/// A function takes `&mut Task`, and returns nothing, or a [`Result`] whose error ends the run. A
/// panic ends its task alone: its ports close, what it has locked is [`Error::Owner`] to the next
/// task, and the run fails once the other tasks are over.
///
/// ```text
/// whimbrel_task::tasks!(generator, meter);
/// ```
#[macro_export]
macro_rules! tasks {
    ($($name:ident),+ $(,)?) => {
        const _: () = {
            $(
                #[unsafe(no_mangle)]
                extern "C" fn $name(
                    task: ::core::ptr::NonNull<$crate::sys::wb_task>,
                ) -> ::core::ffi::c_int {
                    // SAFETY: the kernel calls it, with the task that runs.
                    unsafe { $crate::run(task, self::$name) }
                }
            )+

            #[panic_handler]
            fn panic(info: &::core::panic::PanicInfo<'_>) -> ! {
                $crate::panicked(info)
            }

            // `core` and `alloc`, as they come with the compiler, name both, for the unwinding that
            // `panic = "abort"` leaves out: nothing calls them.
            #[unsafe(no_mangle)]
            extern "C" fn rust_eh_personality() {}
            #[unsafe(no_mangle)]
            extern "C" fn _Unwind_Resume() {}
        };
    };
}
