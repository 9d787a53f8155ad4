// SPDX-License-Identifier: Apache-2.0
//! The engine as C sees it: `kernels/sim/engine.h` says what each function does.
//!
//! The C side keeps the promises of that header: a pointer is one that [`engine_new`] gave out and
//! [`engine_free`] has not taken back, and one thread uses it.

use std::ffi::{CStr, c_char};
use std::{ptr, slice};

use whimbrel_hardware::{Charge, Description, Residency};

use crate::engine::{Engine, Event};
use crate::ledger::Ledger;
use crate::queue::Handle;

/// The least that 64 looks at the clock in a row take: a tenth of a microsecond.
const LOOK_PS: u64 = 100_000;

/// What C reads and writes without a call; the engine itself lies behind it.
#[repr(C)]
pub struct Shared {
    now_ps: u64,
    next_ps: u64,
    /// The first of `ledgers`.
    cores: *mut Ledger,
    ledgers: Vec<Ledger>,
    engine: Engine,
}

impl Shared {
    fn new(now_ps: u64, engine: Engine) -> Self {
        let mut ledgers = Ledger::all(&engine.hardware, now_ps);
        let next_ps = engine.next_ps();
        Shared { now_ps, next_ps, cores: ledgers.as_mut_ptr(), ledgers, engine }
    }

    /// The models, with what C knows of a core told.
    fn folded(&mut self, core: usize) -> &mut Engine {
        self.ledgers[core].fold(&mut self.engine.hardware, core, self.now_ps);
        &mut self.engine
    }

    /// The same for all cores; and the time.
    fn all_folded(&mut self) -> (u64, &mut Engine) {
        for core in 0..self.ledgers.len() {
            self.folded(core);
        }
        (self.now_ps, &mut self.engine)
    }

    fn begin(&mut self, now_ps: u64) {
        self.now_ps = now_ps;
        self.engine.hardware.begin(now_ps);
        self.ledgers = Ledger::all(&self.engine.hardware, now_ps);
        self.cores = self.ledgers.as_mut_ptr();
    }

    /// Nothing at a point that the core does not have.
    fn residency(&mut self, core: usize, point: usize) -> Residency {
        let now_ps = self.now_ps;
        self.folded(core).residency(now_ps, core, point)
    }

    fn set_point(&mut self, core: usize, point: usize) -> u64 {
        let now_ps = self.now_ps;
        let ps = self.folded(core).hardware.set_point(now_ps, core, point);
        self.ledgers[core].follow(&self.engine.hardware, core);
        ps
    }

    /// The engine at this time, for what may take the interconnect.
    #[inline]
    fn at_now(&mut self) -> &mut Engine {
        self.engine.hardware.advance(self.now_ps);
        &mut self.engine
    }

    #[inline]
    fn renew(&mut self) {
        self.next_ps = self.engine.next_ps();
    }
}

/// `ENGINE_NOTHING` in C.
const NOTHING: Event = Event::MAX;

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
        Ok(description) => Box::into_raw(Box::new(Shared::new(0, Engine::new(&description)))),
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
pub unsafe extern "C" fn engine_push(shared: *mut Shared, at_ps: u64, event: Event) -> u64 {
    // SAFETY: as the module says.
    let shared = unsafe { &mut *shared };
    let handle = shared.engine.push(at_ps, event);
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
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_pop(shared: *mut Shared) -> Event {
    // SAFETY: as the module says.
    let shared = unsafe { &mut *shared };
    let Some((at_ps, event)) = shared.engine.pop() else { return NOTHING };
    shared.now_ps = at_ps;
    shared.renew();
    event
}

/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_exchange(shared: *mut Shared, at_ps: u64, event: Event) -> Event {
    // SAFETY: as the module says.
    let shared = unsafe { &mut *shared };
    let (next_ps, next) = shared.engine.exchange(at_ps, event);
    shared.now_ps = next_ps;
    shared.renew();
    next
}

/// # Safety
/// As the module says; `keeps` is a function that does not unwind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_retain(shared: *mut Shared, keeps: extern "C" fn(Event) -> bool) {
    // SAFETY: as the module says.
    let shared = unsafe { &mut *shared };
    shared.engine.retain(|event| keeps(event));
    shared.renew();
}

/// # Safety
/// As the module says; `to` has `room` bytes, or `room` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_save(shared: *mut Shared, to: *mut u8, room: usize) -> usize {
    // SAFETY: as the module says.
    let shared = unsafe { &mut *shared };
    let (now_ps, engine) = shared.all_folded();
    let bytes = engine.save(now_ps);
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
    let Some((now_ps, engine)) = shared.engine.restore(from) else { return false };
    *shared = Shared::new(now_ps, engine);
    true
}

/// # Safety
/// As the module says; `from` has `bytes` bytes, and `cores` one value for each core.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn engine_adopt(
    shared: *mut Shared,
    from: *const u8,
    bytes: usize,
    cores: *const bool,
) -> bool {
    // SAFETY: as the module says, and the caller's promise.
    let (shared, from) = unsafe { (&mut *shared, slice::from_raw_parts(from, bytes)) };
    // SAFETY: the caller's promise.
    let cores = unsafe { slice::from_raw_parts(cores, shared.ledgers.len()) };
    let Some((now_ps, later)) = shared.engine.restore(from) else { return false };
    for (core, adopted) in cores.iter().enumerate() {
        if *adopted {
            shared.engine.hardware.adopt(&later.hardware, core);
        }
    }
    shared.now_ps = now_ps;
    shared.ledgers = Ledger::all(&shared.engine.hardware, now_ps);
    shared.cores = shared.ledgers.as_mut_ptr();
    true
}

/// Declares functions: `name(arguments) -> type = |shared| value`.
macro_rules! export {
    ($(
        $name:ident($($argument:ident: $type:ty),*) -> $out:ty = |$shared:ident| $value:expr;
    )*) => {
        $(
            /// # Safety
            /// As the module says.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name(shared: *mut Shared $(, $argument: $type)*) -> $out {
                // SAFETY: as the module says.
                let $shared = unsafe { &mut *shared };
                $value
            }
        )*
    };
}

export! {
    engine_cores() -> u32 = |s| s.engine.hardware.cores() as u32;
    engine_begin(now_ps: u64) -> () = |s| s.begin(now_ps);
    engine_action(at_ps: u64, core: u32, action: u32, units: u32) -> u64 =
        |s| s.at_now().action_ps(at_ps, core as usize, action as usize, u64::from(units));
    engine_free_charges(core: u32) -> u32 = |s| s.engine.free(core as usize);
    engine_transfer(at_ps: u64, core: u32, bytes: u64) -> u64 =
        |s| s.at_now().hardware.transfer_after(0, at_ps, core as usize, bytes);
    engine_transfer_delay(core: u32) -> u64 =
        |s| s.engine.hardware.transfer_delay(s.now_ps, core as usize);
    engine_switch(core: u32) -> u64 =
        |s| s.engine.hardware.switch(core as usize);
    engine_refill(at_ps: u64, core: u32, task: u32, working_bytes: u64) -> u64 =
        |s| s.at_now().hardware.refill(at_ps, core as usize, task, working_bytes);
    engine_far(core: u32, bytes: u64) -> u64 =
        |s| s.engine.hardware.far_ps(core as usize, bytes);
    engine_forget(core: u32, task: u32) -> () = |s| s.engine.hardware.forget(core as usize, task);
    engine_copy(at_ps: u64, core: u32, bytes: u64) -> u64 =
        |s| s.at_now().hardware.copy_ps(at_ps, core as usize, bytes);
    engine_load(core: u32, bytes: u64) -> u64 =
        |s| s.engine.hardware.cost_ps(core as usize, Charge::LOAD, bytes);
    engine_ring(from: u32, to: u32) -> u64 =
        |s| s.engine.hardware.ring_cost_ps(s.now_ps, from as usize, to as usize);
    engine_notice(from: u32, to: u32) -> u64 =
        |s| s.engine.notice_ps(s.now_ps, from as usize, to as usize) - s.now_ps;
    engine_answer(core: u32) -> u64 = |s| s.engine.hardware.cost_ps(core as usize, Charge::RUNG, 1);
    engine_interrupt(core: u32) -> u64 =
        |s| s.engine.hardware.cost_ps(core as usize, Charge::INTERRUPT, 1);
    engine_scheduling(core: u32) -> u32 = |s| s.engine.hardware.scheduling(core as usize) as u32;
    engine_migration(core: u32) -> u32 = |s| s.engine.hardware.migration(core as usize) as u32;
    engine_group(core: u32) -> u32 = |s| s.engine.hardware.group(core as usize);
    engine_slice(core: u32) -> u64 = |s| s.engine.hardware.slice_ps(core as usize);
    engine_tick(core: u32) -> u64 = |s| s.engine.hardware.tick_ps(core as usize);
    engine_timer_slack(core: u32) -> u64 = |s| s.engine.hardware.timer_slack_ps(core as usize);
    engine_look(core: u32) -> u64 =
        |s| s.engine.hardware.cost_ps(core as usize, Charge::CLOCK, 1).max(LOOK_PS);
    engine_rest(core: u32) -> () = |s| s.engine.hardware.rest(s.now_ps, core as usize);
    engine_rouse(core: u32) -> u64 = |s| s.engine.hardware.wake(s.now_ps, core as usize);
    engine_is_off(core: u32) -> bool = |s| s.engine.hardware.state(core as usize).is_off();
    engine_turn_off(core: u32, off: bool) -> () = |s| {
        let now_ps = s.now_ps;
        s.folded(core as usize).hardware.turn_off(now_ps, core as usize, off);
        s.ledgers[core as usize].follow(&s.engine.hardware, core as usize);
    };
    engine_set_point(core: u32, point: u32) -> u64 =
        |s| s.set_point(core as usize, point as usize);
    engine_draw_uw(core: u32, at_ps: u64) -> u32 =
        |s| s.engine.hardware.power_uw(at_ps, core as usize) as u32;
    engine_passage_after(core: u32, after_ps: u64) -> u64 =
        |s| s.engine.hardware.next_passage_ps(core as usize, after_ps).unwrap_or(u64::MAX);
    engine_active_ps(core: u32, point: u32) -> u64 =
        |s| s.residency(core as usize, point as usize).active_ps;
    engine_idle_ps(core: u32, point: u32) -> u64 =
        |s| s.residency(core as usize, point as usize).idle_ps;
    engine_energy_uj(core: u32) -> u64 = |s| {
        let now_ps = s.now_ps;
        s.folded(core as usize).energy_uj(now_ps, core as usize)
    };
    engine_total_uj() -> u64 = |s| {
        let (now_ps, engine) = s.all_folded();
        engine.total_uj(now_ps)
    };
    engine_temperature_mc(core: u32) -> i32 =
        |s| s.engine.hardware.temperature_mc(core as usize).unwrap_or(i32::MIN);
    engine_blocks() -> u32 = |s| s.engine.hardware.network().map_or(0, |n| n.blocks().len() as u32);
    engine_block_mc(block: u32) -> i32 =
        |s| s.engine.hardware.network().map_or(i32::MIN, |n| n.block_mc(block as usize));
    engine_sink_mc() -> i32 = |s| s.engine.hardware.network().map_or(i32::MIN, |n| n.sink_mc());
    engine_heat() -> u64 = |s| {
        let (now_ps, engine) = s.all_folded();
        let next_ps = engine.heat(now_ps).unwrap_or(u64::MAX);
        for (core, ledger) in s.ledgers.iter_mut().enumerate() {
            ledger.follow(&s.engine.hardware, core);
        }
        next_ps
    };
}
