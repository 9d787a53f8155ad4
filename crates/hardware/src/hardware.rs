// SPDX-License-Identifier: Apache-2.0
//! All models of one platform, by the index of a core.
//!
//! The caller has the events and the clock: it asks how long something takes and comes back when it
//! is over. Every `now_ps` must be at least that of the call before, whichever core it was for;
//! power states may lag behind (a core that computes is settled when it stops).

use std::mem;

use serde::{Deserialize, Serialize};

use crate::cache::{Cache, Reuse};
use crate::core_state::{CoreState, Residency};
use crate::cost::{Charge, Table};
use crate::description::{Core, Description, IdleState, Migration, Point, Scheduling, Waking};
use crate::doorbell::Doorbell;
use crate::fabric::Fabric;
use crate::heat::Heat;
use crate::memory::{Memory, Traffic};
use crate::mesh::Node;
use crate::power::{Draw, draw};
use crate::thermal::Network;
use crate::time::{Clock, SECOND_PS};

/// Nobody gets to what begins after 201 days: virtual time ends before.
const LAST_PS: u64 = 201 * 24 * 3600 * SECOND_PS;

/// What cores that are alike have in common, so that a thousand of them share one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Class {
    /// Any of them, without what is each one's own.
    core: Core,
    /// For each of its points.
    tables: Vec<PointTable>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PointTable {
    clock: Clock,
    costs: Table,
}

/// A core and what is its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Tile {
    class: u32,
    state: CoreState,
    /// What it still owes for having slept; its `ring_ps` was paid by who rang.
    woken: Waking,
    cache: Option<Cache>,
    private: Option<Memory>,
    node: Node,
    /// Its number on the platform that it is a part of.
    number: usize,
}

/// The hardware of a platform. Saved and restored as a whole.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hardware {
    classes: Vec<Class>,
    tiles: Vec<Tile>,
    fabric: Fabric,
    internal: Option<Memory>,
    doorbell: Doorbell,
    heat: Option<Heat>,
}

impl Hardware {
    /// Builds every model; all cores are idle at time 0.
    ///
    /// # Panics
    /// When the description does not keep what its fields promise: a core without a point, a
    /// frequency, width or bandwidth of 0, a memory or block of a core that does not exist.
    pub fn new(description: &Description) -> Self {
        let mut classes: Vec<Class> = Vec::new();
        let thermal = description.thermal.as_ref();
        let heat = thermal.map(|thermal| Heat::new(thermal, description.cores.len()));
        let tiles = description.cores.iter().enumerate().map(|(number, core)| {
            let class = class_of(&mut classes, core, description);
            let temperature_mc = heat.as_ref().and_then(|heat| heat.temperature_mc(number));
            let draw = classes[class].draw(core.start, temperature_mc);
            let mut state =
                CoreState::new(core.points.len(), core.idle_states.len(), core.start, draw);
            state.turn_off(0, core.off, &core.idle_states);
            let number_there = core.number.map_or(number, |number| number as usize);
            Tile {
                class: u32::try_from(class).expect("fewer classes than cores"),
                state,
                woken: Waking::default(),
                cache: core.cache.as_ref().map(|cache| Cache::new(cache, number_there as u64)),
                private: Memory::private_of(description, number),
                number: number_there,
                node: core.node,
            }
        });
        let tiles: Vec<Tile> = tiles.collect();
        Self {
            fabric: Fabric::new(description),
            internal: description.internal().map(Memory::new),
            classes,
            tiles,
            doorbell: Doorbell::new(&description.doorbell),
            heat,
        }
    }

    /// Whether this may be a later state of the same hardware: what is fixed is equal, and what
    /// moves has its shape. What was saved and read back is asked before it is gone on with.
    #[must_use]
    pub fn is_state_of(&self, like: &Self) -> bool {
        let tile = |(own, like): (&Tile, &Tile)| {
            (own.class, own.number, own.node) == (like.class, like.number, like.node)
                && own.private == like.private
                && own.state.is_state_of(&like.state)
                && match (&own.cache, &like.cache) {
                    (Some(own), Some(like)) => own.is_state_of(like),
                    (own, like) => own.is_none() && like.is_none(),
                }
        };
        let heat = match (&self.heat, &like.heat) {
            (Some(own), Some(like)) => own.is_state_of(like),
            (own, like) => own.is_none() && like.is_none(),
        };
        heat && self.classes == like.classes
            && (self.internal, self.doorbell) == (like.internal, like.doorbell)
            && self.tiles.len() == like.tiles.len()
            && self.tiles.iter().zip(&like.tiles).all(tile)
            && self.fabric.is_state_of(&like.fabric)
    }

    /// Takes the state of a core from a later state of the same hardware, in which other cores did
    /// nothing that this one would have noticed.
    pub fn adopt(&mut self, later: &Self, core: usize) {
        self.tiles[core].clone_from(&later.tiles[core]);
    }

    /// How many cores there are.
    pub fn cores(&self) -> usize {
        self.tiles.len()
    }

    /// The kind of a core.
    pub fn kind(&self, core: usize) -> &str {
        &self.class(core).core.kind
    }

    /// When the kernel of a core takes it from a task.
    pub fn scheduling(&self, core: usize) -> Scheduling {
        self.class(core).core.scheduling
    }

    /// When a task of a core's group may go on on another core of it.
    pub fn migration(&self, core: usize) -> Migration {
        self.class(core).core.migration
    }

    /// The group of cores with which a core shares its scheduler; 0: none.
    pub fn group(&self, core: usize) -> u32 {
        self.class(core).core.group
    }

    /// After how many picoseconds a task gives way to others that are as urgent; 0: when it waits.
    pub fn slice_ps(&self, core: usize) -> u64 {
        self.class(core).core.slice_ps
    }

    /// How often a fair kernel looks whether a slice is over; 0: when it is.
    pub fn tick_ps(&self, core: usize) -> u64 {
        self.class(core).core.tick_ps
    }

    /// By how many picoseconds later than it should a task's sleep ends.
    pub fn timer_slack_ps(&self, core: usize) -> u64 {
        self.class(core).core.timer_slack_ps
    }

    /// The operating points of a core, from the lowest frequency to the highest.
    pub fn points(&self, core: usize) -> impl ExactSizeIterator<Item = &Point> {
        self.class(core).core.points.iter()
    }

    /// The state of a core: its point, energy and residencies, up to when it was last settled.
    pub fn state(&self, core: usize) -> &CoreState {
        &self.tiles[core].state
    }

    /// The clock of a core at its present frequency.
    pub fn clock(&self, core: usize) -> Clock {
        self.table(core).clock
    }

    /// How long `units` of a charge take on a core at its present frequency, in picoseconds.
    #[inline]
    pub fn cost_ps(&self, core: usize, charge: Charge, units: u64) -> u64 {
        self.table(core).costs.ps(charge, units)
    }

    /// True if a charge takes no time on a core at any of its points.
    pub fn is_free(&self, core: usize, charge: Charge) -> bool {
        self.class(core).tables.iter().all(|table| table.costs.is_free(charge))
    }

    /// True if a core's cache has to be warmed up.
    pub fn has_cache(&self, core: usize) -> bool {
        self.tiles[core].cache.is_some()
    }

    /// True if a core's first switch or firing after a sleep takes longer.
    pub fn has_waking_costs(&self, core: usize) -> bool {
        let states = self.idle_states(core).iter();
        states.map(|state| state.waking).any(|w| w.switch_ps != 0 || w.refill_ps != 0)
    }

    /// True if who rings a core that sleeps pays for it.
    pub fn has_ring_costs(&self) -> bool {
        let states = self.classes.iter().flat_map(|class| &class.core.idle_states);
        states.into_iter().any(|state| state.waking.ring_ps != 0)
    }

    /// How long a core takes to switch to another task, in picoseconds.
    #[inline]
    pub fn switch(&mut self, core: usize) -> u64 {
        let slept_ps = mem::take(&mut self.tiles[core].woken.switch_ps);
        self.cost_ps(core, Charge::SWITCH, 1).saturating_add(slept_ps)
    }

    /// How long a core takes to ring another, in picoseconds.
    pub fn ring_cost_ps(&self, now_ps: u64, from: usize, to: usize) -> u64 {
        let waking = self.tiles[to].state.waking(now_ps, self.idle_states(to));
        let asleep_ps = waking.map_or(0, |waking| waking.ring_ps);
        self.cost_ps(from, Charge::RING, 1).saturating_add(asleep_ps)
    }

    /// True if every ring is noticed when it is rung.
    pub fn rings_at_once(&self) -> bool {
        !self.fabric.delays_rings() && self.doorbell.is_instant()
    }

    /// True if there is a memory that messages go to.
    pub fn has_memory_of_messages(&self) -> bool {
        self.fabric.has_memory() || self.internal.is_some()
    }

    /// How long a core takes to copy a message into or out of internal memory, in picoseconds:
    /// nobody is in its way.
    #[inline]
    pub fn internal_ps(&self, core: usize, charge: Charge, bytes: u64) -> u64 {
        let access_ps = self.internal.map_or(0, |memory| memory.access_ps(bytes));
        self.cost_ps(core, charge, bytes).saturating_add(access_ps)
    }

    /// A core has work. Returns after how many picoseconds it runs: leaving its idle state.
    #[inline]
    pub fn wake(&mut self, now_ps: u64, core: usize) -> u64 {
        let tile = &mut self.tiles[core];
        let idle_states = &self.classes[tile.class as usize].core.idle_states;
        if let Some(cache) = &mut tile.cache {
            if tile.state.has_lost_cache(now_ps, idle_states) {
                cache.clear();
            }
        }
        if let Some(waking) = tile.state.waking(now_ps, idle_states) {
            tile.woken = waking;
        }
        tile.state.wake(now_ps, idle_states)
    }

    /// Switches an idle core off, or on again; its cache is empty then.
    pub fn turn_off(&mut self, now_ps: u64, core: usize, off: bool) {
        let tile = &mut self.tiles[core];
        tile.state.turn_off(now_ps, off, &self.classes[tile.class as usize].core.idle_states);
        if let Some(cache) = &mut tile.cache {
            cache.clear();
        }
    }

    /// A core has no more work.
    #[inline]
    pub fn rest(&mut self, now_ps: u64, core: usize) {
        let tile = &mut self.tiles[core];
        tile.state.rest(now_ps, &self.classes[tile.class as usize].core.idle_states);
    }

    /// What a core without idle states did until now, in picoseconds: see [`CoreState::account`].
    pub fn account(&mut self, now_ps: u64, core: usize, spent: Residency, is_idle: bool) {
        self.tiles[core].state.account(now_ps, spent, is_idle);
    }

    /// Brings a core to another of its points. Returns for how many picoseconds it does nothing.
    pub fn set_point(&mut self, now_ps: u64, core: usize, point: usize) -> u64 {
        let temperature_mc = self.temperature_mc(core);
        let tile = &mut self.tiles[core];
        let class = &self.classes[tile.class as usize];
        let draw = class.draw(point, temperature_mc);
        let Core { transition, idle_states, .. } = &class.core;
        tile.state.set_point(now_ps, point, draw, transition, idle_states)
    }

    /// What a core draws now, in microwatts; of an idle one also at a moment since it became so.
    pub fn power_uw(&self, now_ps: u64, core: usize) -> u64 {
        self.tiles[core].state.power_uw(now_ps, self.idle_states(core))
    }

    /// When the power of an idle core next changes by itself, after `after_ps`; `None`: never.
    pub fn next_passage_ps(&self, core: usize, after_ps: u64) -> Option<u64> {
        self.tiles[core].state.next_passage_ps(after_ps, self.idle_states(core))
    }

    /// Lets the time of every core begin at `now_ps`, when nothing has happened yet.
    pub fn begin(&mut self, now_ps: u64) {
        for tile in &mut self.tiles {
            tile.state.begin(now_ps);
        }
    }

    /// Accounts for the energy and residencies of a core until now.
    pub fn settle_core(&mut self, now_ps: u64, core: usize) {
        let tile = &mut self.tiles[core];
        tile.state.settle(now_ps, &self.classes[tile.class as usize].core.idle_states);
    }

    /// The same for every core.
    pub fn settle(&mut self, now_ps: u64) {
        for core in 0..self.tiles.len() {
            self.settle_core(now_ps, core);
        }
    }

    /// Moves bytes between a core and globally visible memory, from `at_ps` on. Returns when it is
    /// over by what is known: `at_ps` where there is no shared memory. Calls that come later may
    /// begin earlier.
    #[inline]
    pub fn transfer(&mut self, at_ps: u64, core: usize, bytes: u64) -> u64 {
        let tile = &self.tiles[core];
        self.fabric.transfer(at_ps, tile.number, tile.node, bytes)
    }

    /// No transfer begins before `now_ps` any more. Nothing depends on it but how much of what may
    /// still happen has to be kept in mind.
    #[inline]
    pub fn advance(&mut self, now_ps: u64) {
        self.fabric.advance(now_ps);
    }

    /// By how much later the last transfer of a core is over, by what is known at `now_ps`, than
    /// was told by [`Hardware::transfer`] or here: others came since. Nothing where they cannot
    /// delay it any more: anywhere but on a bus that is shared by turns.
    #[inline]
    pub fn transfer_delay(&mut self, now_ps: u64, core: usize) -> u64 {
        self.fabric.delay(now_ps, self.tiles[core].number)
    }

    /// How long a core needs for bytes of its private memory, in picoseconds.
    #[inline]
    pub fn local_ps(&self, core: usize, bytes: u64) -> u64 {
        self.tiles[core].private.map_or(0, |memory| memory.access_ps(bytes))
    }

    /// How long a core copies between its private memory and globally visible memory, in
    /// picoseconds: it reads the one and writes the other.
    pub fn copy_ps(&mut self, at_ps: u64, core: usize, bytes: u64) -> u64 {
        let own_ps = self.cost_ps(core, Charge::COPY, bytes) + self.local_ps(core, bytes);
        self.transfer_after(own_ps, at_ps, core, bytes)
    }

    /// What a core does by itself for so long, and then the transfer that this was for.
    #[inline]
    pub fn transfer_after(&mut self, own_ps: u64, at_ps: u64, core: usize, bytes: u64) -> u64 {
        match at_ps.saturating_add(own_ps) {
            begin_ps if begin_ps < LAST_PS => self.transfer(begin_ps, core, bytes) - at_ps,
            _ => own_ps,
        }
    }

    /// A core switches to a task with a working set of so many bytes. Returns for how many
    /// picoseconds it fetches what is missing from its cache, what happens besides then, and for
    /// how long it is slower after a sleep.
    pub fn refill(&mut self, at_ps: u64, core: usize, task: u32, working_bytes: u64) -> u64 {
        let tile = &mut self.tiles[core];
        let slept_ps = mem::take(&mut tile.woken.refill_ps);
        let Some(cache) = &mut tile.cache else { return slept_ps };
        let missing = cache.switch(task, working_bytes);
        let besides_ps = slept_ps.saturating_add(cache.disturbed_ps(missing));
        let (own_ps, bytes) = (cache.miss_ps(missing), cache.bytes(missing));
        self.transfer_after(besides_ps.saturating_add(own_ps), at_ps, core, bytes)
    }

    /// For how much longer a core reads bytes of a message that another has written, in
    /// picoseconds.
    pub fn far_ps(&self, core: usize, bytes: u64) -> u64 {
        self.tiles[core].cache.as_ref().map_or(0, |cache| cache.far_ps(bytes))
    }

    /// A task has left a core for another: what it left in the cache is stale.
    pub fn forget(&mut self, core: usize, task: u32) {
        if let Some(cache) = &mut self.tiles[core].cache {
            cache.forget(task);
        }
    }

    /// What tasks found in a core's cache; all zeros without one.
    pub fn reuse(&self, core: usize) -> Reuse {
        self.tiles[core].cache.as_ref().map_or_else(Reuse::default, Cache::reuse)
    }

    /// What has crossed the interconnect; all zeros without one.
    pub fn traffic(&self) -> Traffic {
        self.fabric.traffic()
    }

    /// One core rings another. Returns when the ring arrives; what both ends pay is
    /// [`Charge::RING`] and [`Charge::RUNG`].
    pub fn ring(&self, now_ps: u64, from: usize, to: usize) -> u64 {
        let way_ps = self.fabric.ring_ps(self.tiles[from].node, self.tiles[to].node);
        self.doorbell.arrival_ps(now_ps) + way_ps
    }

    /// When a core notices what arrived at `arrival_ps`: one that is active, then.
    pub fn notice(&self, core: usize, arrival_ps: u64) -> u64 {
        match self.tiles[core].state.idle_since() {
            Some(since_ps) => self.doorbell.notice_ps(arrival_ps, since_ps),
            None => arrival_ps,
        }
    }

    /// How cores ring each other.
    pub fn doorbell(&self) -> Doorbell {
        self.doorbell
    }

    /// When [`Hardware::heat`] is due next; `None` without a floorplan.
    pub fn heat_due_ps(&self) -> Option<u64> {
        self.heat.as_ref().map(Heat::due_ps)
    }

    /// Computes temperatures for the moment that is due, and lets leakage follow them. Every core
    /// is settled until then. Nothing without a floorplan.
    pub fn heat(&mut self) {
        let Some(due_ps) = self.heat_due_ps() else { return };
        self.settle(due_ps);
        let Some(heat) = &mut self.heat else { return };
        heat.step(|core| self.tiles[core].state.energy_aj());
        for (core, tile) in self.tiles.iter_mut().enumerate() {
            let class = &self.classes[tile.class as usize];
            let draw = class.draw(tile.state.point(), heat.temperature_mc(core));
            tile.state.set_draw(due_ps, draw, &class.core.idle_states);
        }
    }

    /// The temperature of a core: of the hottest of its blocks; `None` if it has none.
    pub fn temperature_mc(&self, core: usize) -> Option<i32> {
        self.heat.as_ref().and_then(|heat| heat.temperature_mc(core))
    }

    /// The floorplan and the temperatures of all blocks; `None` without one.
    pub fn network(&self) -> Option<&Network> {
        self.heat.as_ref().map(Heat::network)
    }

    fn class(&self, core: usize) -> &Class {
        &self.classes[self.tiles[core].class as usize]
    }

    fn idle_states(&self, core: usize) -> &[IdleState] {
        &self.class(core).core.idle_states
    }

    #[inline]
    fn table(&self, core: usize) -> &PointTable {
        let tile = &self.tiles[core];
        &self.classes[tile.class as usize].tables[tile.state.point()]
    }
}

impl Class {
    fn new(core: Core, description: &Description) -> Self {
        let (costs, doorbell) = core.own.over(&description.costs, &description.doorbell);
        let table = |point: &Point| PointTable {
            clock: Clock::new(point.hz),
            costs: Table::new(&costs, &doorbell, point.hz),
        };
        Self { tables: core.points.iter().map(table).collect(), core }
    }

    fn draw(&self, point: usize, temperature_mc: Option<i32>) -> Draw {
        draw(&self.core.points[point], self.core.leakage.as_ref(), temperature_mc)
    }
}

/// The class of a core: an existing one if it is alike in all that classes have.
fn class_of(classes: &mut Vec<Class>, core: &Core, description: &Description) -> usize {
    let plain = Core { start: 0, off: false, number: None, ..core.clone() };
    let key = Core { cache: None, node: (0, 0), ..plain };
    classes.iter().position(|known| known.core == key).unwrap_or_else(|| {
        classes.push(Class::new(key, description));
        classes.len() - 1
    })
}
