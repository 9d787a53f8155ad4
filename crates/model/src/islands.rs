// SPDX-License-Identifier: Apache-2.0
//! Islands: cores whose tasks have nothing in common with those of other cores. What happens on
//! one does not depend on another, so a simulation may have each on a processor of its own.

use crate::app::{App, Event, NOTHING, Verb};

impl App {
    /// The island of each core, from 1 in the order of cores; 0: no task runs there. Tasks are of
    /// one island if they share a core, a group of cores, a channel or an object of scripts.
    /// `groups`: of each core, 0: it is in none.
    ///
    /// `None` where tasks may have more in common than the file says: code of a module, processes
    /// beside the run, moves, checkpoint images.
    pub fn islands(&self, groups: &[u32]) -> Option<Vec<u32>> {
        let moves = |event: &Event| event.verb == Verb::Migrate;
        let is_alone = self.synthetic
            && self.tasks.iter().all(|task| {
                !task.client && task.shared_by.is_empty() && task.checkpoint_every == 0
            })
            && !self.scripts.iter().flat_map(|script| &script.events).any(moves);
        is_alone.then(|| self.numbered(groups, &mut self.joined(groups)))
    }

    /// Cores that are joined lead to one of them.
    fn joined(&self, groups: &[u32]) -> Joined {
        let mut joined = Joined((0..groups.len()).collect());
        let mut firsts = vec![None; groups.len() + 1];
        for (core, group) in groups.iter().enumerate().filter(|(_, group)| **group != 0) {
            joined.meet(&mut firsts[*group as usize], core);
        }
        let mut channels = vec![None; self.channels.len()];
        for port in &self.ports {
            joined.meet(&mut channels[port.channel], self.core_of(port.task));
        }
        let mut objects = vec![None; self.objects.len()];
        for (number, task) in self.tasks.iter().enumerate() {
            let script = task.script.map(|script| &self.scripts[script]);
            for object in script.iter().flat_map(|script| &script.events).flat_map(objects_of) {
                joined.meet(&mut objects[object as usize], self.core_of(number));
            }
        }
        joined
    }

    fn numbered(&self, groups: &[u32], joined: &mut Joined) -> Vec<u32> {
        let cores = groups.len();
        let mut has_tasks = vec![false; cores];
        (0..self.tasks.len()).for_each(|task| has_tasks[self.core_of(task)] = true);
        let mut used = vec![false; cores + 1];
        (0..cores).for_each(|core| used[groups[core] as usize] |= has_tasks[core]);
        used[0] = false;
        (0..cores).for_each(|core| has_tasks[core] |= used[groups[core] as usize]);
        let mut numbers = vec![0; cores];
        let mut last = 0;
        let number = |core: usize| {
            if !has_tasks[core] {
                return 0;
            }
            let number = &mut numbers[joined.root(core)];
            if *number == 0 {
                last += 1;
                *number = last;
            }
            *number
        };
        (0..cores).map(number).collect()
    }

    fn core_of(&self, task: usize) -> usize {
        *self.tasks[task].core.get_ref() as usize
    }
}

/// What an event has in common with those of other tasks.
fn objects_of(event: &Event) -> impl Iterator<Item = u32> {
    let (object, other) = match event.verb {
        Verb::Lock
        | Verb::Unlock
        | Verb::Wait
        | Verb::Signal
        | Verb::Broadcast
        | Verb::Barrier
        | Verb::Take
        | Verb::Give => (Some(event.object), event.other),
        Verb::Timer => (None, event.other),
        _ => (None, None),
    };
    object.into_iter().chain(other).filter(|object| *object != NOTHING)
}

/// A forest over cores.
struct Joined(Vec<usize>);

impl Joined {
    fn root(&mut self, mut core: usize) -> usize {
        while self.0[core] != core {
            self.0[core] = self.0[self.0[core]];
            core = self.0[core];
        }
        core
    }

    /// A core has something; so has every other that meets there.
    fn meet(&mut self, first: &mut Option<usize>, core: usize) {
        let (core, first) = (self.root(core), self.root(*first.get_or_insert(core)));
        self.0[core.max(first)] = core.min(first);
    }
}
