// SPDX-License-Identifier: Apache-2.0
//! What whimbrel-task promises: tasks that move to and fro in the middle of it, tasks that panic,
//! and tasks that use a port in a wrong way.
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

use whimbrel_task::{
    AddressLock, Condition, Error, Heap, Input, Kept, LockError, Mutex, Output, Semaphore, Task,
    message, println, tasks,
};

#[global_allocator]
static HEAP: Heap = Heap;

tasks!(
    sender, receiver, faulty, steady, survivor, refuser, stranger, twice, restarts, resumes, reader
);

const ROUNDS: u32 = 40;
const NOT: Option<Duration> = Some(Duration::ZERO);

message! {
    struct Sample {
        number: u64,
        value: [f32; 3],
    }

    struct Total {
        messages: u32,
        twice: u32,
    }
}

static TOTAL: Mutex<Total> = Mutex::new(Total { messages: 0, twice: 0 });
static LEFT_LOCKED: Mutex<u32> = Mutex::new(0);
static DONE: Mutex<u8> = Mutex::new(0);
static IS_DONE: Condition = Condition::new();
static PERMITS: Semaphore = Semaphore::new(0, ROUNDS);

/// To the other core; again where that did not take it in time: its processor may have been busy.
fn hop(task: &mut Task) {
    loop {
        match task.migrate(1 - task.core(), None) {
            Err(Error::Timeout) => {}
            other => return other.unwrap(),
        }
    }
}

fn count(task: &Task) {
    let mut total = TOTAL.lock(task, None).unwrap();
    assert_eq!(total.twice, 2 * total.messages);
    total.messages += 1;
    total.twice += 2;
    assert!(matches!(TOTAL.lock(task, NOT), Err(LockError::Failed(Error::Invalid))));
}

// ---- Tasks that move ----------------------------------------------------------------------------

fn sender(task: &mut Task) -> Result<(), Error> {
    let mut out = Output::<Sample>::new(task, c"out");
    let mut blocks = Output::<[u32]>::new(task, c"blocks");
    let mut numbers = BTreeMap::new();

    for round in 0..ROUNDS {
        let number = u64::from(3 * round);
        out.send(&Sample { number, value: [1.0, 2.0, 3.0] }, None)?;
        hop(task);
        // Not sent, but kept for the next one.
        out.claim(task, None)?.number = u64::MAX;
        hop(task);
        let mut slot = out.claim(task, None)?;
        assert_eq!(slot.number, u64::MAX);
        *slot = Sample { number: number + 1, value: [4.0; 3] };
        slot.commit();
        out.claim(task, None)?.number = u64::MAX;
        out.send(&Sample { number: number + 2, value: [5.0; 3] }, None)?;
        assert_eq!(out.messages(), number + 3);
        hop(task);

        let mut block = blocks.claim(task, None)?;
        assert_eq!(block.len(), 1000);
        block.iter_mut().zip(round..).for_each(|(to, n)| *to = n);
        block.commit();
        count(task);
        numbers.insert(round, format!("round {round}"));
        PERMITS.give(task)?;
        task.checkpoint();
    }
    let texts: Vec<String> = (0..ROUNDS).map(|round| format!("round {round}")).collect();
    assert!(numbers.values().eq(&texts));
    *DONE.lock(task, None)? = 1;
    IS_DONE.broadcast(task);
    assert_eq!(task.migrations(), u64::from(3 * ROUNDS));
    Ok(())
}

fn receiver(task: &mut Task) -> Result<(), Error> {
    let mut samples = Input::<Sample>::new(task, c"in");
    let mut blocks = Input::<[u32]>::new(task, c"blocks");
    let name = String::from(task.name());

    for round in 0..ROUNDS {
        let number = u64::from(3 * round);
        let held = samples.hold(task, None)?;
        assert_eq!((held.number, held.value[2]), (number, 3.0));
        assert!(matches!(AddressLock::new(task, &HEAP, NOT), Ok(_)));
        drop(held);
        hop(task);
        assert_eq!(samples.receive(None)?.number, number + 1);
        assert_eq!(samples.receive(None)?.value, [5.0; 3]);
        assert_eq!(samples.messages(), number + 3);

        let block = blocks.hold(task, None)?;
        assert!(block.iter().copied().eq(round..round + 1000));
        drop(block);
        count(task);
        PERMITS.take(task, None)?;
        task.checkpoint();
    }
    let mut done = DONE.lock(task, None)?;
    while *done == 0 {
        IS_DONE.wait(&mut done, None)?;
    }
    drop(done);
    assert_eq!(samples.receive(None), Err(Error::Gone));
    assert_eq!(PERMITS.take(task, NOT), Err(Error::Empty));
    let total = *TOTAL.lock(task, None)?;
    println!("{name}: {} of both, {} moves", total.messages, task.migrations());
    Ok(())
}

// ---- Tasks that fail ----------------------------------------------------------------------------

/// Panics with a mutex, and with a slot that it has written.
fn faulty(task: &mut Task) -> Result<(), Error> {
    let mut out = Output::<u32>::new(task, c"out");

    out.send(&7, None)?;
    hop(task);
    hop(task);
    let mut guard = LEFT_LOCKED.lock(task, None)?;
    *guard = 1;
    let mut slot = out.claim(task, None)?;
    *slot = 8;
    let numbers: Vec<u32> = (0..10).collect();
    println!("{}", numbers[*guard as usize + task.param_number(c"past", 0.0) as usize]);
    slot.commit();
    Ok(())
}

/// On the core of the faulty one. Ends long after it.
fn steady(task: &mut Task) -> Result<(), Error> {
    let mut over = Input::<u32>::new(task, c"in");

    over.receive(None)?;
    for _ in 0..100 {
        task.checkpoint();
        task.yield_now();
    }
    println!("steady goes on");
    Ok(())
}

fn survivor(task: &mut Task) -> Result<(), Error> {
    let mut samples = Input::<u32>::new(task, c"in");
    let mut over = Output::<u32>::new(task, c"out");

    assert_eq!(samples.receive(None), Ok(7));
    assert_eq!(samples.receive(None), Err(Error::Gone));
    match LEFT_LOCKED.lock(task, None) {
        Err(LockError::Owner(guard)) => assert_eq!(*guard, 1),
        other => panic!("{other:?}"),
    }
    assert_eq!(*LEFT_LOCKED.lock(task, None)?, 1);
    over.send(&1, None)
}

fn refuser(_: &mut Task) -> Result<(), &'static str> {
    Err("the antenna is unplugged")
}

fn stranger(task: &mut Task) -> Result<(), Error> {
    Output::<u16>::new(task, c"out").send(&1, None)
}

fn twice(task: &mut Task) {
    let _first = Output::<u32>::new(task, c"out");
    let _second = Output::<u32>::new(task, c"out");
}

// ---- Tasks whose kernel is killed ---------------------------------------------------------------

static KILLED: AtomicBool = AtomicBool::new(false);

/// Kills the kernel that runs the task, once.
#[allow(unsafe_code)]
fn die() {
    unsafe extern "C" {
        safe fn raise(signal: c_int) -> c_int;
    }
    if !KILLED.swap(true, Ordering::Relaxed) {
        raise(9);
    }
}

/// Goes on with what it has kept.
fn restarts(task: &mut Task) -> Result<(), Error> {
    let mut out = Output::<u32>::new(task, c"out");
    let next = Kept::new(task, 0)?;

    while next.get() < 100 {
        out.send(&next.get(), None)?;
        if next.get() == 50 {
            die();
        }
        next.set(next.get() + 1);
        task.checkpoint();
    }
    Ok(())
}

/// Goes on from its image, with its stack and heap.
fn resumes(task: &mut Task) -> Result<(), Error> {
    let mut out = Output::<u32>::new(task, c"out");
    let mut sent = Vec::new();

    for n in 0..100 {
        task.checkpoint();
        if n == 50 {
            die();
        }
        out.send(&n, None)?;
        sent.push(n);
    }
    assert!(sent.iter().copied().eq(0..100));
    Ok(())
}

fn reader(task: &mut Task) {
    let mut numbers = Input::<u32>::new(task, c"in");
    let (mut n, mut again) = (0, 0);

    while let Ok(number) = numbers.receive(None) {
        if number + 1 == n {
            again += 1;
        } else {
            assert_eq!(number, n);
            n += 1;
        }
        task.checkpoint();
    }
    println!("{n} numbers, {again} of them twice");
}
