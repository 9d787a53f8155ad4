// SPDX-License-Identifier: Apache-2.0
//! The task that runs: where it may move, its time and its parameters.

use core::cell::Cell;
use core::ffi::{CStr, c_int};
use core::fmt::Display;
use core::panic::PanicInfo;
use core::ptr::{self, NonNull};
use core::sync::atomic::Ordering;
use core::time::Duration;

use crate::error::{Error, nanoseconds};
use crate::sys;
use crate::text::{STDERR, Text};

/// A task knows so many of its ports.
const PORTS: usize = 256;

/// The running task, which [`tasks!`](crate::tasks) hands to its function.
///
/// Methods that take `&mut self` are where the task may leave its core. Slots and locks borrow the
/// task, so they end before.
#[derive(Debug)]
pub struct Task {
    task: NonNull<sys::wb_task>,
    /// Bits of the ports that are in use, in the order in which `wb_port_next()` has them.
    opened: Cell<[u64; PORTS / 64]>,
}

impl Task {
    pub(crate) fn as_ptr(&self) -> *mut sys::wb_task {
        self.task.as_ptr()
    }

    /// Marks a point where the task may be moved to another core, or give way to a more urgent one.
    ///
    /// Without a request it costs a load, a test and a branch. Local variables, the heap and
    /// globals are the same before and after. Files that the task has opened are not: they belong
    /// to the process that it leaves.
    ///
    /// A slot or a lock does not live across it:
    ///
    /// ```compile_fail,E0502
    /// # use whimbrel_task::{Error, Output, Task};
    /// fn tone(task: &mut Task) -> Result<(), Error> {
    ///     let mut out = Output::<f32>::new(task, c"out");
    ///     let mut slot = out.claim(task, None)?;
    ///     *slot = 0.5;
    ///     task.checkpoint(); // the slot is not committed
    ///     slot.commit();
    ///     Ok(())
    /// }
    /// ```
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as in C: it is in the loop of each task")]
    pub fn checkpoint(&mut self) {
        // Relaxed is enough, as in wb/wb.h: the word only says "look"; the look itself acquires.
        // SAFETY: the kernel has the word, and it is only read here.
        if unsafe { sys::wb_kernel_need_resched.load(Ordering::Relaxed) } != 0 {
            // SAFETY: this is a task, and its own context.
            unsafe { sys::wb_checkpoint_enter() }
        }
    }

    /// Ends one job of a periodic task, and sleeps until the next release; true when the job met
    /// its deadline. A task with `move = "waits"` may be moved meanwhile.
    pub fn period_wait(&mut self) -> bool {
        // SAFETY: `task` is the one that runs.
        unsafe { sys::wb_period_wait(self.as_ptr()) }
    }

    /// Sleeps until [`now`](Self::now) has come to `time`. May be moved as in `period_wait`.
    pub fn sleep_until(&mut self, time: Duration) {
        // SAFETY: this is a task.
        unsafe { sys::wb_sleep_until(nanoseconds(Some(time))) }
    }

    /// Moves this task to another core, at once.
    ///
    /// # Errors
    ///
    /// Those of `wb_migrate()`: the task has stayed where it was.
    pub fn migrate(&mut self, core: u32, timeout: Option<Duration>) -> Result<(), Error> {
        // SAFETY: `task` is the one that runs.
        Error::check(unsafe { sys::wb_migrate(self.as_ptr(), core, nanoseconds(timeout)) })
    }

    /// Lets tasks of the same or a higher priority run first. The task stays on its core.
    pub fn yield_now(&self) {
        // SAFETY: this is a task.
        unsafe { sys::wb_yield() }
    }

    /// Computes one firing: true when the caller is to compute really, as in `wb_compute()`.
    #[must_use]
    pub fn compute(&self) -> bool {
        // SAFETY: `task` is the one that runs.
        unsafe { sys::wb_compute(self.as_ptr()) }
    }

    /// The time of the run, on one clock for all cores.
    #[must_use]
    pub fn now(&self) -> Duration {
        // SAFETY: it may be called anywhere.
        Duration::from_nanos(unsafe { sys::wb_now_ns() })
    }

    /// True once the run should end: sources stop producing and return.
    #[must_use]
    pub fn stopping(&self) -> bool {
        // SAFETY: `task` is the one that runs.
        unsafe { sys::wb_stopping(self.as_ptr()) }
    }

    /// The task's name in app.toml.
    #[must_use]
    pub fn name(&self) -> &str {
        // SAFETY: the name is text, and stays as it is until the run ends.
        unsafe { CStr::from_ptr(sys::wb_task_name(self.as_ptr())) }.to_str().unwrap_or_default()
    }

    /// The position among the tasks that one `count = N` made, from 0.
    #[must_use]
    pub fn index(&self) -> u32 {
        // SAFETY: `task` is the one that runs.
        unsafe { sys::wb_task_index(self.as_ptr()) }
    }

    /// The core that the task is on.
    #[must_use]
    pub fn core(&self) -> u32 {
        // SAFETY: `task` is the one that runs.
        unsafe { sys::wb_task_core(self.as_ptr()) }
    }

    /// How often the task has been moved.
    #[must_use]
    pub fn migrations(&self) -> u64 {
        // SAFETY: `task` is the one that runs.
        unsafe { sys::wb_task_migrations(self.as_ptr()) }
    }

    /// How often the application has a source fire; 0: until the run stops.
    #[must_use]
    pub fn firings(&self) -> u64 {
        // SAFETY: `task` is the one that runs.
        unsafe { sys::wb_task_firings(self.as_ptr()) }
    }

    /// How many channels are bound to the port `name`.
    #[must_use]
    pub fn port_count(&self, name: &CStr) -> u32 {
        // SAFETY: `task` is the one that runs, and `name` ends with a 0.
        unsafe { sys::wb_port_count(self.as_ptr(), name.as_ptr()) }
    }

    /// A parameter of `[params]`, or of `--set`, as text.
    #[must_use]
    pub fn param_text(&self, key: &CStr) -> Option<&CStr> {
        // SAFETY: the text stays as it is until the run ends.
        unsafe {
            let text = sys::wb_param_text(self.app(), key.as_ptr(), ptr::null());
            (!text.is_null()).then(|| CStr::from_ptr(text))
        }
    }

    /// The same as a number; `fallback` when it is missing or no number.
    #[must_use]
    pub fn param_number(&self, key: &CStr, fallback: f64) -> f64 {
        // SAFETY: `key` ends with a 0.
        unsafe { sys::wb_param_number(self.app(), key.as_ptr(), fallback) }
    }

    /// Element `index` of a parameter that is an array of numbers; `fallback` past its end.
    #[must_use]
    pub fn param_element(&self, key: &CStr, index: u32, fallback: f64) -> f64 {
        // SAFETY: `key` ends with a 0.
        unsafe { sys::wb_param_element(self.app(), key.as_ptr(), index, fallback) }
    }

    fn app(&self) -> *const sys::wb_app {
        // SAFETY: `task` is the one that runs.
        unsafe { sys::wb_task_app(self.as_ptr()) }
    }

    /// Notes that a port is in use. Two handles of one port could end each other's slots.
    #[track_caller]
    pub(crate) fn open(&self, port: *const sys::wb_port, name: &CStr) {
        let mut last = ptr::null_mut();
        let position = (0..PORTS).find(|_| {
            // SAFETY: `task` is the one that runs, and `last` a port of it, or NULL.
            last = unsafe { sys::wb_port_next(self.as_ptr(), last) };
            last.cast_const() == port
        });
        let Some(at) = position else {
            panic!("a task in Rust has at most {PORTS} ports");
        };
        let mut opened = self.opened.get();
        assert!(opened[at / 64] >> (at % 64) & 1 == 0, "port {name:?} is in use already");
        opened[at / 64] |= 1 << (at % 64);
        self.opened.set(opened);
    }
}

/// What the function of a task may return: nothing, or a [`Result`] whose error ends the run.
pub trait Outcome {
    #[doc(hidden)]
    fn end(self, task: &Task) -> c_int;
}

impl Outcome for () {
    fn end(self, _: &Task) -> c_int {
        0
    }
}

impl<E: Display> Outcome for Result<(), E> {
    fn end(self, task: &Task) -> c_int {
        let Err(error) = self else {
            return 0;
        };
        let text = Text::<256>::of(format_args!("{error}"));
        // SAFETY: `task` is the one that runs, and the text is copied.
        unsafe { sys::wb_task_fail(task.as_ptr(), text.as_c_str().as_ptr()) }
    }
}

/// What a kernel calls, by way of [`tasks!`](crate::tasks).
///
/// # Safety
///
/// `task` is the one that runs, and the caller is its entry.
#[doc(hidden)]
pub unsafe fn run<R: Outcome>(task: NonNull<sys::wb_task>, entry: fn(&mut Task) -> R) -> c_int {
    let mut task = Task { task, opened: Cell::default() };
    entry(&mut task).end(&task)
}

/// Ends the task that panics, with its message, and no other.
///
/// Nothing is unwound: slots that it wrote are not sent, and what it had locked is the next one's
/// with [`Error::Owner`].
#[doc(hidden)]
pub fn panicked(info: &PanicInfo<'_>) -> ! {
    let message = info.message();
    let text = match info.location() {
        Some(at) => Text::<256>::of(format_args!("panicked at {at}: {message}")),
        None => Text::of(format_args!("panicked: {message}")),
    };
    let why = text.as_c_str();
    // SAFETY: it may be called anywhere.
    let Some(task) = NonNull::new(unsafe { sys::wb_task_self() }) else {
        text.write_to(STDERR);
        // SAFETY: it has no conditions.
        unsafe { sys::abort() }
    };
    // SAFETY: this task runs, and its name is text.
    let name = unsafe { CStr::from_ptr(sys::wb_task_name(task.as_ptr())) };
    let name = name.to_str().unwrap_or_default();
    Text::<512>::of(format_args!("task {name} {}\n", why.to_str().unwrap_or_default()))
        .write_to(STDERR);
    // SAFETY: this task runs, and the text is copied.
    unsafe { sys::wb_task_exit(task.as_ptr(), why.as_ptr()) }
}
