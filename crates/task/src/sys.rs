// SPDX-License-Identifier: Apache-2.0
//! Functions of `wb/wb.h` as they are, which describes each of them: what this crate calls, and
//! what it leaves to tasks with `unsafe`. A test compares all of it with the header.

#![expect(missing_docs, reason = "wb/wb.h describes them")]

use core::ffi::{c_char, c_int, c_void};
use core::marker::{PhantomData, PhantomPinned};
use core::sync::atomic::AtomicU32;

pub const WB_FOREVER: u64 = u64::MAX;

pub const WB_OK: c_int = 0;
pub const WB_ERR_FULL: c_int = -1;
pub const WB_ERR_EMPTY: c_int = -2;
pub const WB_ERR_TIMEOUT: c_int = -3;
pub const WB_ERR_INVAL: c_int = -4;
pub const WB_ERR_GONE: c_int = -5;
pub const WB_ERR_BUSY: c_int = -6;
pub const WB_ERR_HELD: c_int = -7;
pub const WB_ERR_PINNED: c_int = -8;
pub const WB_ERR_NOMEM: c_int = -9;
pub const WB_ERR_OWNER: c_int = -10;
pub const WB_ERR_UNABLE: c_int = -11;
pub const WB_ERR_DENIED: c_int = -12;

// What only C looks into: neither moved nor shared between tasks by Rust.
#[repr(C)]
pub struct wb_app([u8; 0], PhantomData<(*mut u8, PhantomPinned)>);
#[repr(C)]
pub struct wb_port([u8; 0], PhantomData<(*mut u8, PhantomPinned)>);
#[repr(C)]
pub struct wb_task([u8; 0], PhantomData<(*mut u8, PhantomPinned)>);

#[repr(C)]
pub struct wb_wait_queue {
    pub holder: AtomicU32,
    pub waited: AtomicU32,
}

#[repr(C)]
pub struct wb_semaphore {
    pub queue: wb_wait_queue,
    pub value: AtomicU32,
    pub most: u32,
}

#[repr(C)]
pub struct wb_mutex {
    pub queue: wb_wait_queue,
}

#[repr(C)]
pub struct wb_condition {
    pub queue: wb_wait_queue,
    pub waiters: AtomicU32,
}

const _: () = assert!(size_of::<wb_wait_queue>() == 8);
const _: () = assert!(size_of::<wb_semaphore>() == 16);
const _: () = assert!(size_of::<wb_mutex>() == 8);
const _: () = assert!(size_of::<wb_condition>() == 12);

unsafe extern "C" {
    pub static wb_kernel_need_resched: AtomicU32;
    pub fn wb_status_text(status: c_int) -> *const c_char;

    pub fn wb_checkpoint_enter();
    pub fn wb_now_ns() -> u64;
    pub fn wb_compute(task: *mut wb_task) -> bool;
    pub fn wb_task_firings(task: *const wb_task) -> u64;
    pub fn wb_task_is_periodic(task: *const wb_task) -> bool;
    pub fn wb_yield();
    pub fn wb_sleep_until(time_ns: u64);
    pub fn wb_period_wait(task: *mut wb_task) -> bool;
    pub fn wb_stopping(task: *const wb_task) -> bool;
    pub fn wb_task_self() -> *mut wb_task;
    pub fn wb_task_name(task: *const wb_task) -> *const c_char;
    pub fn wb_task_index(task: *const wb_task) -> u32;
    pub fn wb_task_core(task: *const wb_task) -> u32;
    pub fn wb_task_migrations(task: *const wb_task) -> u64;
    pub fn wb_migrate(task: *mut wb_task, core: u32, timeout_ns: u64) -> c_int;
    pub fn wb_task_state(task: *const wb_task) -> *mut c_void;
    pub fn wb_task_set_state(task: *mut wb_task, state: *mut c_void);
    pub fn wb_task_fail(task: *mut wb_task, text: *const c_char) -> !;
    pub fn wb_task_exit(task: *mut wb_task, text: *const c_char) -> !;

    pub fn wb_task_app(task: *const wb_task) -> *mut wb_app;
    pub fn wb_param_text(
        app: *const wb_app,
        key: *const c_char,
        fallback: *const c_char,
    ) -> *const c_char;
    pub fn wb_param_number(app: *const wb_app, key: *const c_char, fallback: f64) -> f64;
    pub fn wb_param_element(
        app: *const wb_app,
        key: *const c_char,
        index: u32,
        fallback: f64,
    ) -> f64;

    pub fn wb_port_find(
        task: *mut wb_task,
        name: *const c_char,
        index: u32,
        bytes: usize,
    ) -> *mut wb_port;
    pub fn wb_port_find_room(
        task: *mut wb_task,
        name: *const c_char,
        index: u32,
        bytes: usize,
    ) -> *mut wb_port;
    pub fn wb_port_count(task: *const wb_task, name: *const c_char) -> u32;
    pub fn wb_port_next(task: *mut wb_task, last: *const wb_port) -> *mut wb_port;
    pub fn wb_port_is_input(port: *const wb_port) -> bool;
    pub fn wb_port_rate(port: *const wb_port) -> u32;
    pub fn wb_port_slot_bytes(port: *const wb_port) -> u32;
    pub fn wb_port_messages(port: *const wb_port) -> u64;
    pub fn wb_port_send(port: *mut wb_port, message: *const c_void, timeout_ns: u64) -> c_int;
    pub fn wb_port_receive(port: *mut wb_port, message: *mut c_void, timeout_ns: u64) -> c_int;
    pub fn wb_port_claim(port: *mut wb_port, slot: *mut *mut c_void, timeout_ns: u64) -> c_int;
    pub fn wb_port_commit(port: *mut wb_port) -> c_int;
    pub fn wb_port_hold(port: *mut wb_port, slot: *mut *const c_void, timeout_ns: u64) -> c_int;
    pub fn wb_port_release(port: *mut wb_port) -> c_int;
    pub fn wb_port_close(port: *mut wb_port);

    pub fn wb_semaphore_take(semaphore: *mut wb_semaphore, timeout_ns: u64) -> c_int;
    pub fn wb_semaphore_spin(semaphore: *mut wb_semaphore, timeout_ns: u64) -> c_int;
    pub fn wb_semaphore_give(semaphore: *mut wb_semaphore) -> c_int;
    pub fn wb_mutex_lock(mutex: *mut wb_mutex, timeout_ns: u64) -> c_int;
    pub fn wb_mutex_unlock(mutex: *mut wb_mutex) -> c_int;
    pub fn wb_lock(address: *const c_void, timeout_ns: u64) -> c_int;
    pub fn wb_unlock(address: *const c_void) -> c_int;
    pub fn wb_condition_wait(
        condition: *mut wb_condition,
        mutex: *mut wb_mutex,
        timeout_ns: u64,
    ) -> c_int;
    pub fn wb_condition_signal(condition: *mut wb_condition);
    pub fn wb_condition_broadcast(condition: *mut wb_condition);
}

// Of the C library. The loader of a module sends the calls of the heap to the task's own.
unsafe extern "C" {
    pub(crate) fn abort() -> !;
    pub(crate) fn write(file: c_int, bytes: *const c_void, count: usize) -> isize;
    pub(crate) fn aligned_alloc(align: usize, bytes: usize) -> *mut c_void;
    pub(crate) fn malloc(bytes: usize) -> *mut c_void;
    pub(crate) fn realloc(block: *mut c_void, bytes: usize) -> *mut c_void;
    pub(crate) fn free(block: *mut c_void);
}
