// SPDX-License-Identifier: Apache-2.0
//! The standard library's binary heap, four children without places, a sorted list, a pairing heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::candidate::Keys;

impl Keys for BinaryHeap<Reverse<u128>> {
    const NAME: &str = "binary";

    fn with_capacity(keys: usize) -> Self {
        BinaryHeap::with_capacity(keys)
    }

    fn push(&mut self, key: u128) {
        BinaryHeap::push(self, Reverse(key));
    }

    fn pop(&mut self) -> Option<u128> {
        BinaryHeap::pop(self).map(|key| key.0)
    }

    fn first(&mut self) -> Option<u128> {
        self.peek().map(|key| key.0)
    }
}

/// The engine's heap without the places of its events, and without a front.
pub struct Quaternary(Vec<u128>);

impl Keys for Quaternary {
    const NAME: &str = "4-ary, lazy";

    fn with_capacity(keys: usize) -> Self {
        Quaternary(Vec::with_capacity(keys))
    }

    fn push(&mut self, key: u128) {
        let mut gap = self.0.len();
        self.0.push(key);
        while gap > 0 && key < self.0[(gap - 1) / 4] {
            self.0[gap] = self.0[(gap - 1) / 4];
            gap = (gap - 1) / 4;
        }
        self.0[gap] = key;
    }

    fn pop(&mut self) -> Option<u128> {
        let first = *self.0.first()?;
        let key = self.0.pop()?;
        let mut gap = 0;
        while let Some((least, below)) = self.least_of(gap * 4 + 1) {
            if key < below {
                break;
            }
            self.0[gap] = below;
            gap = least;
        }
        if let Some(held) = self.0.get_mut(gap) {
            *held = key;
        }
        Some(first)
    }

    fn first(&mut self) -> Option<u128> {
        self.0.first().copied()
    }
}

impl Quaternary {
    fn least_of(&self, from: usize) -> Option<(usize, u128)> {
        let less = |a: (usize, u128), b: (usize, u128)| if b.1 < a.1 { b } else { a };
        if let Some(&[a, b, c, d]) = self.0.get(from..from + 4) {
            return Some(less(less((from, a), (from + 1, b)), less((from + 2, c), (from + 3, d))));
        }
        (from..).zip(self.0.get(from..)?.iter().copied()).reduce(less)
    }
}

/// The first at the end.
pub struct Sorted(Vec<u128>);

impl Keys for Sorted {
    const NAME: &str = "sorted";
    const LARGEST: usize = 1024;

    fn with_capacity(keys: usize) -> Self {
        Sorted(Vec::with_capacity(keys))
    }

    fn push(&mut self, key: u128) {
        self.0.push(key);
        let mut gap = self.0.len() - 1;
        while gap > 0 && self.0[gap - 1] < key {
            self.0[gap] = self.0[gap - 1];
            gap -= 1;
        }
        self.0[gap] = key;
    }

    fn pop(&mut self) -> Option<u128> {
        self.0.pop()
    }

    fn first(&mut self) -> Option<u128> {
        self.0.last().copied()
    }
}

/// Fredman, Sedgewick, Sleator and Tarjan 1986, with two passes, in an arena.
pub struct Pairing {
    nodes: Vec<Node>,
    free: Vec<u32>,
    root: u32,
    pairs: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Node {
    key: u128,
    child: u32,
    sibling: u32,
}

const NONE: u32 = u32::MAX;

impl Pairing {
    fn meld(&mut self, a: u32, b: u32) -> u32 {
        let less = self.nodes[a as usize].key < self.nodes[b as usize].key;
        let (parent, child) = if less { (a, b) } else { (b, a) };
        self.nodes[child as usize].sibling = self.nodes[parent as usize].child;
        self.nodes[parent as usize].child = child;
        parent
    }
}

impl Keys for Pairing {
    const NAME: &str = "pairing";

    fn with_capacity(keys: usize) -> Self {
        let vec = || Vec::with_capacity(keys);
        Pairing { nodes: Vec::with_capacity(keys), free: vec(), root: NONE, pairs: vec() }
    }

    fn push(&mut self, key: u128) {
        let node = Node { key, child: NONE, sibling: NONE };
        let at = self.free.pop().unwrap_or(self.nodes.len() as u32);
        match self.nodes.get_mut(at as usize) {
            Some(held) => *held = node,
            None => self.nodes.push(node),
        }
        self.root = if self.root == NONE { at } else { self.meld(self.root, at) };
    }

    fn pop(&mut self) -> Option<u128> {
        let root = self.root;
        let Node { key, mut child, .. } = *self.nodes.get(root as usize)?;
        self.free.push(root);
        while child != NONE {
            let second = self.nodes[child as usize].sibling;
            if second == NONE {
                self.pairs.push(child);
                break;
            }
            let after = self.nodes[second as usize].sibling;
            let pair = self.meld(child, second);
            self.pairs.push(pair);
            child = after;
        }
        self.root = self.pairs.pop().unwrap_or(NONE);
        while let Some(pair) = self.pairs.pop() {
            self.root = self.meld(self.root, pair);
        }
        Some(key)
    }

    fn first(&mut self) -> Option<u128> {
        self.nodes.get(self.root as usize).map(|node| node.key)
    }
}
