// SPDX-License-Identifier: Apache-2.0
//! Events to come and the hardware they happen on.

use serde::{Deserialize, Serialize};
use whimbrel_hardware::{Charge, Description, Hardware, Residency};

use crate::queue::{Handle, Queue};

/// Of [`Engine::free`]: `CHARGE_REFILL` in C.
pub const FREE_REFILL: u32 = 1 << 30;

/// Of [`Engine::free`]: `CHARGE_NOTICE` in C.
pub const FREE_NOTICE: u32 = 1 << 31;

/// `WB_ACTION_SEND` and `WB_ACTION_RECEIVE` copy their units, which are bytes.
const LAST_COPYING: usize = 1;

/// `WB_INTERNAL` among their units.
const INTERNAL: u64 = 1 << 31;

const AJ_PER_UJ: u128 = 1_000_000_000_000;

fn microjoules(aj: u128) -> u64 {
    u64::try_from(aj / AJ_PER_UJ).unwrap_or(u64::MAX)
}

/// What happens; the number means something to the kernels only.
pub type Event = u64;

/// A simulation, without what is simulated.
#[derive(Debug, Serialize, Deserialize)]
pub struct Engine {
    queue: Queue<Event>,
    /// The hardware.
    pub hardware: Hardware,
}

impl Engine {
    /// An engine at time 0, with nothing to happen.
    #[must_use]
    pub fn new(description: &Description) -> Self {
        Engine {
            queue: Queue::with_capacity(4 * description.cores.len()),
            hardware: Hardware::new(description),
        }
    }

    /// The time of the next event; `u64::MAX` if there is none.
    #[inline]
    #[must_use]
    pub fn next_ps(&self) -> u64 {
        self.queue.peek_time()
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, at_ps: u64, event: Event) -> Handle {
        self.queue.push(at_ps, event)
    }

    /// Takes back an event. False: it has happened.
    #[inline]
    pub fn cancel(&mut self, handle: Handle) -> bool {
        self.queue.cancel(handle).is_some()
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(u64, Event)> {
        self.queue.pop()
    }

    /// Adds an event and takes the next one: as [`Engine::push`] and [`Engine::pop`], in one step.
    #[inline]
    pub fn exchange(&mut self, at_ps: u64, event: Event) -> (u64, Event) {
        self.queue.exchange(at_ps, event)
    }

    /// Takes back each event that `keeps` says no to.
    pub fn retain(&mut self, keeps: impl FnMut(Event) -> bool) {
        self.queue.retain(keeps);
    }

    /// How long `units` of an action (`enum wb_action`) take on a core. What is sent and received
    /// crosses the interconnect.
    #[inline]
    pub fn action_ps(&mut self, at_ps: u64, core: usize, action: usize, units: u64) -> u64 {
        let Some(charge) = Charge::action(action) else { return 0 };
        if action <= LAST_COPYING && units & INTERNAL != 0 {
            return self.hardware.internal_ps(core, charge.internal(), units ^ INTERNAL);
        }
        let own_ps = self.hardware.cost_ps(core, charge, units);
        if action <= LAST_COPYING {
            self.hardware.transfer_after(own_ps, at_ps, core, units)
        } else {
            own_ps
        }
    }

    /// What takes no time on a core at any operating point: bit n for charge n, [`FREE_REFILL`]
    /// if no task has to fill a cache or pay for a sleep, and [`FREE_NOTICE`] if a ring is noticed
    /// at once.
    pub fn free(&self, core: usize) -> u32 {
        let hardware = &self.hardware;
        let free = |charge: &Charge| {
            let copies = charge.number() <= LAST_COPYING && hardware.has_memory_of_messages();
            let besides = match *charge {
                Charge::RELEASE => hardware.far_ps(core, 1) != 0,
                Charge::SWITCH => hardware.has_waking_costs(core),
                Charge::RING => hardware.has_ring_costs(),
                _ => false,
            };
            hardware.is_free(core, *charge) && !copies && !besides
        };
        let charges = Charge::all().filter(free);
        let bits = charges.fold(0, |bits, charge| bits | 1 << charge.number());
        let refills = hardware.has_cache(core) || hardware.has_waking_costs(core);
        let bits = if refills { bits } else { bits | FREE_REFILL };
        if hardware.rings_at_once() { bits | FREE_NOTICE } else { bits }
    }

    /// When a core notices that another rings it now.
    pub fn notice_ps(&self, now_ps: u64, from: usize, to: usize) -> u64 {
        self.hardware.notice(to, self.hardware.ring(now_ps, from, to))
    }

    /// What a core has spent at one of its operating points; nothing at one that it does not have.
    pub fn residency(&mut self, now_ps: u64, core: usize, point: usize) -> Residency {
        self.hardware.settle_core(now_ps, core);
        self.hardware.state(core).points().get(point).copied().unwrap_or_default()
    }

    /// What a core has consumed, in microjoules.
    pub fn energy_uj(&mut self, now_ps: u64, core: usize) -> u64 {
        self.hardware.settle_core(now_ps, core);
        microjoules(self.hardware.state(core).energy_aj())
    }

    /// What all of it has consumed, transfers included, in microjoules.
    pub fn total_uj(&mut self, now_ps: u64) -> u64 {
        self.hardware.settle(now_ps);
        let cores = (0..self.hardware.cores()).map(|core| self.hardware.state(core).energy_aj());
        microjoules(cores.sum::<u128>() + self.hardware.traffic().energy_aj)
    }

    /// Computes the temperatures that are due by now. Returns when to come again.
    pub fn heat(&mut self, now_ps: u64) -> Option<u64> {
        while self.hardware.heat_due_ps().is_some_and(|due_ps| due_ps <= now_ps) {
            self.hardware.heat();
        }
        self.hardware.heat_due_ps()
    }

    /// All of it as bytes, with the time.
    #[must_use]
    pub fn save(&self, now_ps: u64) -> Vec<u8> {
        postcard::to_allocvec(&(now_ps, self)).unwrap_or_default()
    }

    /// The time and the engine that were saved; `None`: they are not those of a simulation of the
    /// same hardware as this one's.
    #[must_use]
    pub fn restore(&self, bytes: &[u8]) -> Option<(u64, Self)> {
        let (now_ps, engine): (u64, Self) = postcard::from_bytes(bytes).ok()?;
        let is_whole = engine.queue.is_sound() && engine.hardware.is_state_of(&self.hardware);
        is_whole.then_some((now_ps, engine))
    }
}

#[cfg(test)]
mod tests {
    use whimbrel_hardware::Doorbell;

    use super::*;

    /// With events in the front, in the heap and in free slots.
    fn busy() -> Engine {
        let mut engine = Engine::new(&Description::default());
        let handles: Vec<Handle> = (0..200).map(|n| engine.push(n * 977 % 1000, n)).collect();
        handles.iter().step_by(7).for_each(|handle| assert!(engine.cancel(*handle)));
        (0..50).for_each(|_| assert!(engine.pop().is_some()));
        engine
    }

    fn rest(engine: &mut Engine) -> Vec<(u64, Event)> {
        std::iter::from_fn(|| engine.pop()).collect()
    }

    #[test]
    fn what_was_saved_goes_on() {
        let mut engine = busy();
        let (now_ps, mut restored) = busy().restore(&engine.save(7)).unwrap();
        assert_eq!((now_ps, rest(&mut restored)), (7, rest(&mut engine)));
    }

    #[test]
    fn damaged_states_are_refused_or_can_be_gone_on_with() {
        let (saved, fresh) = (busy().save(7), Engine::new(&Description::default()));
        let mut refused = 0;
        for at in 0..saved.len() {
            for changed in [0x01, 0x10, 0x80] {
                let mut damaged = saved.clone();
                damaged[at] ^= changed;
                let Some((_, mut engine)) = fresh.restore(&damaged) else {
                    refused += 1;
                    continue;
                };
                engine.push(5, 1);
                assert!(rest(&mut engine).is_sorted_by_key(|event| event.0));
            }
        }
        assert!(refused > saved.len(), "{refused} of {}", 3 * saved.len());
    }

    #[test]
    fn a_state_of_other_hardware_is_refused() {
        let doorbell = Doorbell { latency_ps: 1, ..Doorbell::default() };
        let other = Description { doorbell, ..Description::default() };
        assert!(Engine::new(&other).restore(&busy().save(7)).is_none());
    }
}
