// SPDX-License-Identifier: Apache-2.0
//! Two applications as one: what is named alike in both gets another name.

use std::collections::BTreeMap;

use super::{Draft, Event};
use crate::names::Names;

/// New names by old ones, for each kind of thing.
#[derive(Default)]
struct Renamed {
    tasks: BTreeMap<String, String>,
    mutexes: BTreeMap<String, String>,
    conditions: BTreeMap<String, String>,
    barriers: BTreeMap<String, String>,
    semaphores: BTreeMap<String, String>,
    timers: BTreeMap<String, String>,
}

impl Draft {
    /// This application and another beside it, under the name of this one.
    pub fn join(mut self, mut other: Self) -> Self {
        let names = |draft: &Self| draft.tasks.iter().map(|task| task.name.clone()).collect();
        let first = |pairs: &[(String, u32)]| pairs.iter().map(|(name, _)| name.clone()).collect();
        let new = Renamed {
            tasks: renamed(names(&self), names(&other)),
            mutexes: renamed(self.mutexes.clone(), other.mutexes.clone()),
            conditions: renamed(self.conditions.clone(), other.conditions.clone()),
            barriers: renamed(first(&self.barriers), first(&other.barriers)),
            semaphores: renamed(first(&self.semaphores), first(&other.semaphores)),
            timers: renamed(self.timers.clone(), other.timers.clone()),
        };
        new.apply(&mut other);
        self.source = format!("{} {}", self.source, other.source);
        self.tasks.extend(other.tasks);
        self.channels.extend(other.channels);
        self.mutexes.extend(other.mutexes);
        self.conditions.extend(other.conditions);
        self.barriers.extend(other.barriers);
        self.semaphores.extend(other.semaphores);
        self.timers.extend(other.timers);
        self
    }
}

fn renamed(taken: Vec<String>, others: Vec<String>) -> BTreeMap<String, String> {
    let mut names = Names::default();
    for name in taken {
        names.unique(&name);
    }
    others.into_iter().map(|name| (name.clone(), names.unique(&name))).collect()
}

fn set(name: &mut String, new: &BTreeMap<String, String>) {
    if let Some(new) = new.get(name) {
        name.clone_from(new);
    }
}

impl Renamed {
    fn apply(&self, draft: &mut Draft) {
        for task in &mut draft.tasks {
            set(&mut task.name, &self.tasks);
            self.events(&mut task.script);
        }
        for channel in &mut draft.channels {
            set(&mut channel.from.0, &self.tasks);
            set(&mut channel.to.0, &self.tasks);
        }
        draft.mutexes.iter_mut().for_each(|name| set(name, &self.mutexes));
        draft.conditions.iter_mut().for_each(|name| set(name, &self.conditions));
        draft.barriers.iter_mut().for_each(|(name, _)| set(name, &self.barriers));
        draft.semaphores.iter_mut().for_each(|(name, _)| set(name, &self.semaphores));
        draft.timers.iter_mut().for_each(|name| set(name, &self.timers));
    }

    fn events(&self, events: &mut [Event]) {
        for event in events {
            match event {
                Event::Lock(name) | Event::Unlock(name) => set(name, &self.mutexes),
                Event::Wait { condition, mutex } => {
                    set(condition, &self.conditions);
                    set(mutex, &self.mutexes);
                }
                Event::Signal(name) | Event::Broadcast(name) => set(name, &self.conditions),
                Event::Barrier(name) => set(name, &self.barriers),
                Event::Take(name) | Event::Give(name) => set(name, &self.semaphores),
                Event::Timer { name: Some(name), .. } => set(name, &self.timers),
                Event::Loop { body, .. } => self.events(body),
                _ => {}
            }
        }
    }
}
