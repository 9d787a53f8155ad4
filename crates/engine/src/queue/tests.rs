// SPDX-License-Identifier: Apache-2.0
//! The queue against a sorted list.

use proptest::prelude::*;

use super::key::Orders;
use super::{Handle, NEVER, Queue};

/// What the queue must do, in the plainest way.
#[derive(Default)]
struct Sorted(Vec<(u64, u32, Handle)>);

impl Sorted {
    /// Behind those of the same time.
    fn push(&mut self, time: u64, payload: u32, handle: Handle) {
        let place = self.0.partition_point(|event| event.0 <= time);
        self.0.insert(place, (time, payload, handle));
    }

    fn pop(&mut self) -> Option<(u64, u32)> {
        (!self.0.is_empty()).then(|| self.0.remove(0)).map(|event| (event.0, event.1))
    }

    fn cancel(&mut self, handle: Handle) -> Option<u32> {
        let place = self.0.iter().position(|event| event.2 == handle)?;
        Some(self.0.remove(place).1)
    }

    fn peek_time(&self) -> u64 {
        self.0.first().map_or(NEVER, |event| event.0)
    }
}

#[derive(Debug, Clone)]
enum QueueOp {
    Push(u64),
    Pop,
    Exchange(u64),
    /// One of the handles so far, also of events that are over.
    Cancel(prop::sample::Index),
    /// Only events whose payload this number does not divide.
    Retain(u32),
    SaveAndRestore,
}

/// More pushes than pops, and few different times, so that ties are common.
fn steps() -> impl Strategy<Value = Vec<QueueOp>> {
    let step = prop_oneof![
        8 => (0..50_u64).prop_map(QueueOp::Push),
        1 => any::<u64>().prop_map(QueueOp::Push),
        4 => Just(QueueOp::Pop),
        4 => (0..50_u64).prop_map(QueueOp::Exchange),
        1 => Just(QueueOp::Exchange(NEVER)),
        3 => any::<prop::sample::Index>().prop_map(QueueOp::Cancel),
        1 => (2..5_u32).prop_map(QueueOp::Retain),
        1 => Just(QueueOp::SaveAndRestore),
    ];
    prop::collection::vec(step, 0..400)
}

fn restored(queue: &Queue<u32>) -> Queue<u32> {
    serde_json::from_str(&serde_json::to_string(queue).unwrap()).unwrap()
}

/// Whether a queue does in all these steps what the list does.
fn follow(steps: Vec<QueueOp>) -> Result<(), TestCaseError> {
    let (mut queue, mut sorted, mut handles) = (Queue::new(), Sorted::default(), Vec::new());
    for (payload, step) in (0..).zip(steps) {
        match step {
            QueueOp::Push(time) => {
                let handle = queue.push(time, payload);
                sorted.push(time, payload, handle);
                handles.push(handle);
            }
            QueueOp::Pop => prop_assert_eq!(queue.pop(), sorted.pop()),
            QueueOp::Exchange(time) => {
                sorted.push(time, payload, Handle::from_number(0));
                prop_assert_eq!(Some(queue.exchange(time, payload)), sorted.pop());
            }
            QueueOp::Cancel(_) if handles.is_empty() => {}
            QueueOp::Cancel(which) => {
                let handle = *which.get(&handles);
                prop_assert_eq!(queue.cancel(handle), sorted.cancel(handle));
            }
            QueueOp::Retain(factor) => {
                queue.retain(|payload| payload % factor != 0);
                sorted.0.retain(|event| event.1 % factor != 0);
            }
            QueueOp::SaveAndRestore => queue = restored(&queue),
        }
        prop_assert_eq!(queue.peek_time(), sorted.peek_time());
        prop_assert_eq!(queue.len(), sorted.0.len());
        assert_parted(&queue);
    }
    while let Some(event) = sorted.pop() {
        prop_assert_eq!(queue.pop(), Some(event));
    }
    prop_assert!(queue.is_empty());
    Ok(())
}

/// Every key of the front is less than every one of the heap.
fn assert_parted(queue: &Queue<u32>) {
    let keys = queue.front.keys().unwrap();
    assert!(keys.is_sorted_by(|later, key| later > key), "the front is not sorted");
    assert_eq!(keys[0], queue.heap.first(), "another key is behind the front");
    assert!(queue.is_sound());
}

/// As many waves as it takes to fill the front, to fill the heap behind it, and to empty both.
fn waves() -> impl Strategy<Value = Vec<QueueOp>> {
    let wave = (prop_oneof![1..8_usize, 20..50_usize, 80..150_usize], steps(), 0..3_usize);
    let events = |(pushes, steps, pops): (usize, Vec<QueueOp>, usize)| {
        // Few times, so that those of one time lie on both sides.
        let times = steps.len() as u64 % 9 + 1;
        let pushed = (0..pushes as u64).map(move |n| QueueOp::Push(n * 7 % times));
        let popped = std::iter::repeat_n(QueueOp::Pop, pushes * pops / 2);
        pushed.chain(steps.into_iter().take(60)).chain(popped).collect::<Vec<QueueOp>>()
    };
    prop::collection::vec(wave.prop_map(events), 1..6).prop_map(|waves| waves.concat())
}

proptest! {
    #[test]
    fn it_does_what_a_sorted_list_does(steps in steps()) {
        follow(steps)?;
    }

    #[test]
    fn it_does_so_while_it_fills_and_empties(steps in waves()) {
        follow(steps)?;
    }
}

/// A queue with so many events of the same time, and their handles.
fn alike(events: u32) -> (Queue<u32>, Vec<Handle>) {
    let mut queue = Queue::new();
    let handles = (0..events).map(|payload| queue.push(7, payload)).collect();
    (queue, handles)
}

fn payloads(mut queue: Queue<u32>) -> Vec<u32> {
    std::iter::from_fn(|| queue.pop()).map(|event| event.1).collect()
}

#[test]
fn a_full_front_spills_and_an_empty_one_is_filled_in_order() {
    for events in [31, 32, 48, 100, 200] {
        let (queue, _) = alike(events);
        assert_eq!(queue.heap.len() > 0, events > 31);
        assert_eq!(payloads(queue), (0..events).collect::<Vec<u32>>());
    }
}

#[test]
fn an_event_is_cancelled_in_the_front_and_in_the_heap() {
    let (mut queue, handles) = alike(40);
    let (behind, first) = (queue.front.len(), 0);
    assert!(behind < 40);
    for place in [behind, first, 39, behind - 1] {
        assert_eq!(queue.cancel(handles[place]), Some(place as u32));
        assert_eq!(queue.cancel(handles[place]), None);
        assert_parted(&queue);
    }
    let left: Vec<u32> =
        (1..39).filter(|n| ![behind, behind - 1].contains(&(*n as usize))).collect();
    assert_eq!(payloads(queue), left);
}

#[test]
fn an_event_is_exchanged_across_the_boundary() {
    for events in [1, 31, 32, 40, 100] {
        let (mut queue, _) = alike(events);
        let mut taken: Vec<u32> = (0..events).map(|n| queue.exchange(7, events + n).1).collect();
        taken.extend(payloads(queue));
        assert_eq!(taken, (0..2 * events).collect::<Vec<u32>>());
    }
}

#[test]
fn a_queue_restored_in_the_midst_goes_on_alike() {
    let (mut queue, handles) = alike(60);
    for _ in 0..queue.front.len() - 2 {
        queue.pop();
    }
    let mut other = restored(&queue);
    for queue in [&mut queue, &mut other] {
        queue.push(7, 60);
        queue.push(6, 61);
        queue.cancel(handles[50]);
    }
    assert_eq!(payloads(queue), payloads(other));
}

#[test]
fn events_of_one_time_happen_in_the_order_of_their_pushes() {
    assert_eq!(payloads(alike(100).0), (0..100).collect::<Vec<u32>>());
}

#[test]
fn an_event_that_happened_cannot_be_cancelled_even_if_its_slot_is_taken_again() {
    let mut queue = Queue::new();
    let first = queue.push(1, 'a');
    assert_eq!(queue.pop(), Some((1, 'a')));
    let second = queue.push(2, 'b');
    assert_eq!(queue.cancel(first), None);
    assert_eq!(queue.cancel(second), Some('b'));
    assert_eq!(queue.cancel(second), None);
}

#[test]
fn an_empty_queue_never_has_an_event() {
    let mut queue: Queue<u32> = Queue::new();
    assert_eq!((queue.peek_time(), queue.pop(), queue.is_empty()), (NEVER, None, true));
    queue.push(5, 0);
    queue.pop();
    assert_eq!((queue.peek_time(), queue.pop(), queue.is_empty()), (NEVER, None, true));
}

#[test]
fn an_event_at_the_end_of_time_is_still_there() {
    let mut queue = Queue::new();
    queue.push(NEVER, 1);
    assert_eq!((queue.peek_time(), queue.is_empty()), (NEVER, false));
    assert_eq!(queue.pop(), Some((NEVER, 1)));
}

#[test]
fn a_queue_that_was_as_full_before_allocates_nothing() {
    let mut queue = Queue::with_capacity(64);
    let capacities = |queue: &Queue<u32>| (queue.heap.capacity(), queue.slots.capacity());
    let before = capacities(&queue);
    for round in 0..1000_u64 {
        let handles: Vec<Handle> = (0..64).map(|n| queue.push(round * 64 + 63 - n, 0)).collect();
        handles.into_iter().step_by(3).for_each(|handle| assert!(queue.cancel(handle).is_some()));
        while queue.pop().is_some() {}
    }
    assert_eq!(capacities(&queue), before);
}

#[test]
#[should_panic(expected = "as many as 2^44 events in one run")]
fn a_queue_that_has_numbered_all_its_events_refuses_to_repeat_a_number() {
    let mut queue = Queue { orders: Orders::last(), ..Queue::new() };
    assert_eq!(queue.push(1, 0).number() >> 20, (1 << 44) - 1);
    queue.push(1, 0);
}

#[test]
#[should_panic(expected = "more than 2^20 events at once")]
fn a_queue_that_is_full_says_so() {
    let mut queue = Queue::with_capacity(1 << 20);
    for time in 0..=1 << 20 {
        queue.push(time, ());
    }
}
