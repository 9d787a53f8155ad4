// SPDX-License-Identifier: Apache-2.0
//! The engine as C sees it: `kernels/sim/engine.h` says what each function does.
//!
//! The C side keeps the promises of that header: a pointer is one that [`engine_new`] gave out and
//! [`engine_free`] has not taken back, and one thread uses it.

use std::ffi::{CStr, c_char};
use std::{ptr, slice};

use whimbrel_hardware::{Charge, Description};

use crate::engine::{Engine, Event};
use crate::queue::Handle;

/// The least that 64 looks at the clock in a row take: a tenth of a microsecond.
const LOOK_PS: u64 = 100_000;

/// What C reads and writes without a call; the engine itself lies behind it.
#[repr(C)]
pub struct Shared {
    now_ps: u64,
    next_ps: u64,
    engine: Engine,
}

impl Shared {
    #[inline]
    fn renew(&mut self) {
        self.next_ps = self.engine.next_ps();
    }
}

/// An event as C has it.
#[repr(C)]
pub struct CEvent {
    kind: u32,
    index: u32,
}

/// Writes a reason for C, cut to its room.
fn explain(error: *mut c_char, room: usize, text: &str) {
    if error.is_null() || room == 0 {
        return;
    }
    let n = text.len().min(room - 1);
    // SAFETY: C gives `room` bytes at `error`; n + 1 of them are written.
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr(), error.cast(), n);
        *error.add(n) = 0;
    }
}

/// # Safety
/// `json` is a C string; `error` has room for `error_bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_new(
    json: *const c_char,
    error: *mut c_char,
    error_bytes: usize,
) -> *mut Shared {
    // SAFETY: the caller's promise.
    let json = unsafe { CStr::from_ptr(json) }.to_bytes();
    match serde_json::from_slice::<Description>(json) {
        Ok(description) => {
            let engine = Engine::new(&description);
            Box::into_raw(Box::new(Shared { now_ps: 0, next_ps: u64::MAX, engine }))
        }
        Err(wrong) => {
            explain(error, error_bytes, &wrong.to_string());
            ptr::null_mut()
        }
    }
}

/// # Safety
/// As the module says; nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_free(shared: *mut Shared) {
    if !shared.is_null() {
        // SAFETY: it came from a Box in engine_new(), and C frees it once.
        drop(unsafe { Box::from_raw(shared) });
    }
}

/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_push(shared: *mut Shared, at_ps: u64, event: CEvent) -> u64 {
    // SAFETY: as the module says.
    let shared = unsafe { &mut *shared };
    let CEvent { kind, index } = event;
    let handle = shared.engine.push(at_ps, Event { kind, index });
    shared.renew();
    handle.number()
}

/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_cancel(shared: *mut Shared, handle: u64) -> bool {
    // SAFETY: as the module says.
    let shared = unsafe { &mut *shared };
    let cancelled = shared.engine.cancel(Handle::from_number(handle));
    shared.renew();
    cancelled
}

/// # Safety
/// As the module says; `event` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_pop(shared: *mut Shared, event: *mut CEvent) -> bool {
    // SAFETY: as the module says.
    let shared = unsafe { &mut *shared };
    let Some((at_ps, Event { kind, index })) = shared.engine.pop() else { return false };
    shared.now_ps = at_ps;
    shared.renew();
    // SAFETY: the caller's promise.
    unsafe { event.write(CEvent { kind, index }) };
    true
}

/// # Safety
/// As the module says; `event` may be read and written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_exchange(shared: *mut Shared, at_ps: u64, event: *mut CEvent) {
    // SAFETY: as the module says, and the caller's promise.
    let (shared, event) = unsafe { (&mut *shared, &mut *event) };
    let CEvent { kind, index } = *event;
    let (next_ps, Event { kind, index }) = shared.engine.exchange(at_ps, Event { kind, index });
    shared.now_ps = next_ps;
    shared.renew();
    *event = CEvent { kind, index };
}

/// # Safety
/// As the module says; `to` has `room` bytes, or `room` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_save(shared: *mut Shared, to: *mut u8, room: usize) -> usize {
    // SAFETY: as the module says.
    let shared = unsafe { &mut *shared };
    let bytes = shared.engine.save(shared.now_ps);
    if bytes.len() <= room {
        // SAFETY: the caller's promise.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }
    bytes.len()
}

/// # Safety
/// As the module says; `from` has `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_restore(
    shared: *mut Shared,
    from: *const u8,
    bytes: usize,
) -> bool {
    // SAFETY: as the module says, and the caller's promise.
    let (shared, from) = unsafe { (&mut *shared, slice::from_raw_parts(from, bytes)) };
    let Some((now_ps, engine)) = Engine::restore(from) else { return false };
    shared.now_ps = now_ps;
    shared.engine = engine;
    shared.renew();
    true
}

/// Declares functions that only ask the machine: `name(arguments) -> type = |engine, now| value`.
macro_rules! ask {
    ($(
        $name:ident($($argument:ident: $type:ty),*) -> $out:ty =
            |$engine:ident, $now:ident| $value:expr;
    )*) => {
        $(
            /// # Safety
            /// As the module says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(shared: *mut Shared $(, $argument: $type)*) -> $out {
                // SAFETY: as the module says.
                let shared = unsafe { &mut *shared };
                #[allow(unused_variables)]
                let $now = shared.now_ps;
                let $engine = &mut shared.engine;
                $value
            }
        )*
    };
}

ask! {
    engine_cores() -> u32 = |e, now| e.hardware.cores() as u32;
    engine_events() -> u64 = |e, now| e.events();
    engine_action(core: u32, action: u32, units: u32) -> u64 =
        |e, now| e.action_ps(now, core as usize, action as usize, u64::from(units));
    engine_free_charges(core: u32) -> u32 = |e, now| e.free(core as usize);
    engine_compute(core: u32, cycles: u64) -> u64 =
        |e, now| e.hardware.compute_ps(core as usize, cycles);
    engine_transfer(core: u32, bytes: u64) -> u64 =
        |e, now| e.transfer_ps(now, core as usize, bytes);
    engine_switch(core: u32) -> u64 = |e, now| e.hardware.cost_ps(core as usize, Charge::SWITCH, 1);
    engine_refill(core: u32, task: u32, working_bytes: u64) -> u64 =
        |e, now| e.hardware.refill(now, core as usize, task, working_bytes);
    engine_forget(core: u32, task: u32) -> () = |e, now| e.hardware.forget(core as usize, task);
    engine_copy(core: u32, bytes: u64) -> u64 =
        |e, now| e.hardware.copy_ps(now, core as usize, bytes);
    engine_load(core: u32, bytes: u64) -> u64 =
        |e, now| e.hardware.cost_ps(core as usize, Charge::LOAD, bytes);
    engine_ring(core: u32) -> u64 = |e, now| e.hardware.cost_ps(core as usize, Charge::RING, 1);
    engine_notice(from: u32, to: u32) -> u64 =
        |e, now| e.notice_ps(now, from as usize, to as usize) - now;
    engine_answer(core: u32) -> u64 = |e, now| e.hardware.cost_ps(core as usize, Charge::RUNG, 1);
    engine_look(core: u32) -> u64 =
        |e, now| e.hardware.cost_ps(core as usize, Charge::CLOCK, 1).max(LOOK_PS);
    engine_idle(core: u32) -> () = |e, now| e.hardware.rest(now, core as usize);
    engine_wake(core: u32) -> u64 = |e, now| e.hardware.wake(now, core as usize);
    engine_set_point(core: u32, point: u32) -> u64 =
        |e, now| e.hardware.set_point(now, core as usize, point as usize);
    engine_power_uw(core: u32, at_ps: u64) -> u32 =
        |e, now| e.hardware.power_uw(at_ps, core as usize) as u32;
    engine_next_passage(core: u32, after_ps: u64) -> u64 =
        |e, now| e.hardware.next_passage_ps(core as usize, after_ps).unwrap_or(u64::MAX);
    engine_energy_uj(core: u32) -> u64 = |e, now| e.energy_uj(now, core as usize);
    engine_total_uj() -> u64 = |e, now| e.total_uj(now);
    engine_temperature_mc(core: u32) -> i32 =
        |e, now| e.hardware.temperature_mc(core as usize).unwrap_or(i32::MIN);
    engine_blocks() -> u32 = |e, now| e.hardware.network().map_or(0, |n| n.blocks().len() as u32);
    engine_block_mc(block: u32) -> i32 =
        |e, now| e.hardware.network().map_or(i32::MIN, |n| n.block_mc(block as usize));
    engine_sink_mc() -> i32 = |e, now| e.hardware.network().map_or(i32::MIN, |n| n.sink_mc());
    engine_heat() -> u64 = |e, now| e.heat(now).unwrap_or(u64::MAX);
}
