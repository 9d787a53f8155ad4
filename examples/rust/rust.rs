// SPDX-License-Identifier: Apache-2.0
// How do I write a task in Rust?
//
//     make -C examples/rust &&
//         bin/whimbrel run examples/rust/app.toml --cores 0,1 --shuttle meter=1,0@50ms
//
// With `core` alone: `std` has thread-local variables, of which each kernel would have its own, so
// a run refuses it.
#![no_std]

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

type Task = c_void; // only pointers to it are used
type Port = c_void;

const FOREVER: u64 = u64::MAX;

extern "C" {
    // From wb/wb.h.
    static wb_kernel_need_resched: AtomicU32;
    fn wb_checkpoint_enter();
    fn wb_period_wait(task: *mut Task) -> bool;
    fn wb_task_migrations(task: *const Task) -> u64;
    fn wb_port_find(task: *mut Task, name: *const c_char, index: u32, bytes: usize) -> *mut Port;
    fn wb_port_send(port: *mut Port, message: *const c_void, timeout_ns: u64) -> c_int;
    fn wb_port_receive(port: *mut Port, message: *mut c_void, timeout_ns: u64) -> c_int;
    // From the C library.
    fn dprintf(file: c_int, format: *const c_char, ...) -> c_int;
    fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: abort() has no conditions.
    unsafe { abort() }
}

/// wb_checkpoint(), which is an inline function of C.
unsafe fn checkpoint() {
    if wb_kernel_need_resched.load(Ordering::Relaxed) != 0 {
        wb_checkpoint_enter();
    }
}

/// # Safety
/// The kernel calls it, with the task that runs.
#[no_mangle]
pub unsafe extern "C" fn generator(task: *mut Task) -> c_int {
    let out = wb_port_find(task, c"out".as_ptr(), 0, size_of::<f64>());

    for n in 0..40 {
        let sample = f64::from(n);
        if wb_port_send(out, (&raw const sample).cast(), FOREVER) != 0 {
            return 1;
        }
        wb_period_wait(task);
        checkpoint();
    }
    0
}

/// # Safety
/// As of `generator`.
#[no_mangle]
pub unsafe extern "C" fn meter(task: *mut Task) -> c_int {
    let samples = wb_port_find(task, c"in".as_ptr(), 0, size_of::<f64>());
    let (mut n, mut sum, mut sample) = (0, 0.0, 0.0);

    while wb_port_receive(samples, (&raw mut sample).cast(), FOREVER) == 0 {
        n += 1;
        sum += sample;
        checkpoint();
    }
    let moved = if wb_task_migrations(task) > 0 { c"has moved" } else { c"has not moved" };
    dprintf(1, c"%d samples, sum %.0f, the meter %s\n".as_ptr(), n, sum, moved.as_ptr());
    0
}
