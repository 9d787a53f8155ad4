// SPDX-License-Identifier: Apache-2.0
//! Locks, conditions and semaphores among tasks of any cores: globals of the module.

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr;
use core::sync::atomic::AtomicU32;
use core::time::Duration;

use crate::error::{Error, nanoseconds};
use crate::message::Message;
use crate::sys;
use crate::task::Task;

const fn queue() -> sys::wb_wait_queue {
    sys::wb_wait_queue { holder: AtomicU32::new(0), waited: AtomicU32::new(0) }
}

// ---- Mutexes ------------------------------------------------------------------------------------

/// A value that one task at a time uses, wherever it runs.
///
/// ```no_run
/// # use whimbrel_task::{Error, Mutex, Task};
/// static TOTAL: Mutex<u64> = Mutex::new(0);
///
/// fn count(task: &mut Task) -> Result<(), Error> {
///     *TOTAL.lock(task, None)? += 1;
///     task.checkpoint();
///     Ok(())
/// }
/// ```
///
/// It does not live across a checkpoint:
///
/// ```compile_fail,E0502
/// # use whimbrel_task::{Error, Mutex, Task};
/// # static TOTAL: Mutex<u64> = Mutex::new(0);
/// fn count(task: &mut Task) -> Result<(), Error> {
///     let mut total = TOTAL.lock(task, None)?;
///     task.checkpoint(); // the mutex is locked
///     *total += 1;
///     Ok(())
/// }
/// ```
///
/// What it guards is a [`Message`]: a block of one task's heap would be invalid once that task has
/// ended.
pub struct Mutex<T> {
    mutex: UnsafeCell<sys::wb_mutex>,
    value: UnsafeCell<T>,
}

// SAFETY: the holder alone uses the value, which is plain data.
unsafe impl<T: Message> Sync for Mutex<T> {}

impl<T: Message> Mutex<T> {
    /// One that nobody holds.
    pub const fn new(value: T) -> Self {
        let mutex = UnsafeCell::new(sys::wb_mutex { queue: queue() });
        Self { mutex, value: UnsafeCell::new(value) }
    }

    /// Locks it. The task that holds it is as urgent as this one meanwhile.
    ///
    /// # Errors
    ///
    /// [`LockError::Owner`]: it is locked, but its last holder ended, or was killed, with it.
    /// [`LockError::Failed`]: [`Error::Empty`] with a timeout of zero, [`Error::Timeout`], or
    /// [`Error::Invalid`] if this task holds it.
    pub fn lock<'a>(
        &'a self,
        _: &'a Task,
        timeout: Option<Duration>,
    ) -> Result<MutexGuard<'a, T>, LockError<'a, T>> {
        // SAFETY: the caller is a task, and the mutex lies where all kernels see it.
        let status = unsafe { sys::wb_mutex_lock(self.mutex.get(), nanoseconds(timeout)) };
        match Error::check(status) {
            Ok(()) => Ok(MutexGuard { mutex: self, task: PhantomData }),
            Err(Error::Owner) => {
                Err(LockError::Owner(MutexGuard { mutex: self, task: PhantomData }))
            }
            Err(error) => Err(LockError::Failed(error)),
        }
    }
}

impl<T> fmt::Debug for Mutex<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Mutex").finish_non_exhaustive()
    }
}

/// A mutex that is locked, until it is dropped.
#[must_use = "it is unlocked when it is dropped"]
pub struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    task: PhantomData<&'a Task>,
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the task holds the mutex, so nobody else uses the value.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in deref().
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the caller is the task that holds it.
        unsafe { sys::wb_mutex_unlock(self.mutex.mutex.get()) };
    }
}

impl<T: fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(to)
    }
}

/// Why a mutex was not locked, or not as it should be.
#[derive(Debug)]
pub enum LockError<'a, T> {
    /// It is locked, and what it guards may be half changed.
    Owner(MutexGuard<'a, T>),
    /// It is not locked.
    Failed(Error),
}

impl<T> From<LockError<'_, T>> for Error {
    /// Unlocks it again.
    fn from(error: LockError<'_, T>) -> Self {
        match error {
            LockError::Owner(_) => Self::Owner,
            LockError::Failed(error) => error,
        }
    }
}

// ---- Addresses ----------------------------------------------------------------------------------

/// A lock of an address, until it is dropped. The task is not moved meanwhile; each of 256
/// addresses may be locked often, and none is forgotten.
#[must_use = "it is unlocked when it is dropped"]
#[derive(Debug)]
pub struct AddressLock<'a> {
    address: *const (),
    task: PhantomData<&'a Task>,
}

impl<'a> AddressLock<'a> {
    /// Locks the address of `what`, which it does not touch.
    ///
    /// # Errors
    ///
    /// As of [`Mutex::lock`], and [`Error::NoMemory`] after 256 addresses. After
    /// [`Error::Owner`] it is not locked any more.
    pub fn new<T>(_: &'a Task, what: &T, timeout: Option<Duration>) -> Result<Self, Error> {
        let address = ptr::from_ref(what).cast();
        // SAFETY: the caller is a task; the address is but a name.
        let status = unsafe { sys::wb_lock(address, nanoseconds(timeout)) };
        let lock = Self { address: address.cast(), task: PhantomData };
        match Error::check(status) {
            Ok(()) => Ok(lock),
            Err(Error::Owner) => Err(Error::Owner),
            Err(error) => {
                core::mem::forget(lock);
                Err(error)
            }
        }
    }
}

impl Drop for AddressLock<'_> {
    fn drop(&mut self) {
        // SAFETY: the caller is the task that locked it.
        unsafe { sys::wb_unlock(self.address.cast()) };
    }
}

// ---- Conditions ---------------------------------------------------------------------------------

/// Tasks wait here until another says that what a mutex guards has changed.
pub struct Condition(UnsafeCell<sys::wb_condition>);

// SAFETY: its functions are for tasks of all cores.
unsafe impl Sync for Condition {}

impl Condition {
    /// One that nobody waits for.
    #[must_use]
    pub const fn new() -> Self {
        Self(UnsafeCell::new(sys::wb_condition { queue: queue(), waiters: AtomicU32::new(0) }))
    }

    /// Unlocks the mutex, waits for a signal, and locks the mutex again, whatever is returned. What
    /// it guards may have changed again by then.
    ///
    /// # Errors
    ///
    /// [`Error::Timeout`] without a signal; [`Error::Owner`]: another task ended with the mutex, so
    /// what it guards may be half changed.
    pub fn wait<T>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        timeout: Option<Duration>,
    ) -> Result<(), Error> {
        let mutex = guard.mutex.mutex.get();
        // SAFETY: the caller is a task, and holds the mutex.
        let status = unsafe { sys::wb_condition_wait(self.0.get(), mutex, nanoseconds(timeout)) };
        Error::check(status)
    }

    /// Wakes the most urgent task that waits.
    pub fn signal(&self, _: &Task) {
        // SAFETY: the caller is a task.
        unsafe { sys::wb_condition_signal(self.0.get()) }
    }

    /// Wakes all tasks that wait.
    pub fn broadcast(&self, _: &Task) {
        // SAFETY: the caller is a task.
        unsafe { sys::wb_condition_broadcast(self.0.get()) }
    }
}

impl Default for Condition {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Condition").finish_non_exhaustive()
    }
}

// ---- Semaphores ---------------------------------------------------------------------------------

/// Permits that tasks take, and that any task gives.
pub struct Semaphore(UnsafeCell<sys::wb_semaphore>);

// SAFETY: its functions are for tasks of all cores.
unsafe impl Sync for Semaphore {}

impl Semaphore {
    /// One with `value` permits that never has more than `most`.
    ///
    /// # Panics
    ///
    /// If `most` is 0, or less than `value`.
    #[must_use]
    pub const fn new(value: u32, most: u32) -> Self {
        assert!(most != 0 && value <= most);
        let value = AtomicU32::new(value);
        Self(UnsafeCell::new(sys::wb_semaphore { queue: queue(), value, most }))
    }

    /// Takes a permit. It is nobody's: if the task ends, it is not given back.
    ///
    /// # Errors
    ///
    /// [`Error::Empty`] with a timeout of zero, [`Error::Timeout`].
    pub fn take(&self, _: &Task, timeout: Option<Duration>) -> Result<(), Error> {
        // SAFETY: the caller is a task.
        Error::check(unsafe { sys::wb_semaphore_take(self.0.get(), nanoseconds(timeout)) })
    }

    /// The same, but only polls: for a permit that another core gives soon.
    ///
    /// # Errors
    ///
    /// As of [`take`](Self::take).
    pub fn spin(&self, _: &Task, timeout: Option<Duration>) -> Result<(), Error> {
        // SAFETY: the caller is a task.
        Error::check(unsafe { sys::wb_semaphore_spin(self.0.get(), nanoseconds(timeout)) })
    }

    /// Gives a permit, and wakes the most urgent task that waits for one.
    ///
    /// # Errors
    ///
    /// [`Error::Full`] if there are as many as there may be.
    pub fn give(&self, _: &Task) -> Result<(), Error> {
        // SAFETY: the caller is a task.
        Error::check(unsafe { sys::wb_semaphore_give(self.0.get()) })
    }
}

impl fmt::Debug for Semaphore {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Semaphore").finish_non_exhaustive()
    }
}
