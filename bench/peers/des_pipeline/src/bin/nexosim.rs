// SPDX-License-Identifier: Apache-2.0
//! The pipeline on NeXosim, on one thread: a model for each stage, which schedules its own end of
//! service, and credits that travel back for the slots of the next queue.

use std::collections::VecDeque;
use std::time::Duration;

use des_pipeline::{PERIOD, SERVICE, SLOTS, report};
use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::{EventSinkReader, Output, SinkState, event_slot};
use nexosim::simulation::{Mailbox, SimInit};
use nexosim::time::MonotonicTime;
use serde::{Deserialize, Serialize};

/// One unit of time.
const UNIT: Duration = Duration::from_secs(1);

/// Makes frames; a frame is the time at which it was made.
#[derive(Serialize, Deserialize)]
struct Source {
    out: Output<MonotonicTime>,
    left: u64,
    credits: usize,
    held: Option<MonotonicTime>,
}

#[Model]
impl Source {
    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>) {
        self.make((), cx).await;
    }

    #[nexosim(schedulable)]
    async fn make(&mut self, _: (), cx: &Context<Self>) {
        self.held = Some(cx.time());
        self.put(cx).await;
    }

    /// The first stage has a free slot again.
    async fn credit(&mut self, _: (), cx: &Context<Self>) {
        self.credits += 1;
        self.put(cx).await;
    }

    async fn put(&mut self, cx: &Context<Self>) {
        if self.credits == 0 {
            return;
        }
        let Some(frame) = self.held.take() else { return };
        self.credits -= 1;
        self.left -= 1;
        self.out.send(frame).await;
        if self.left > 0 {
            cx.schedule_event(UNIT * PERIOD, schedulable!(Self::make), ()).expect("it is later");
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Stage {
    service: Duration,
    out: Output<MonotonicTime>,
    credit: Output<()>,
    queue: VecDeque<MonotonicTime>,
    frame: Option<MonotonicTime>,
    /// It is done with its frame, and the next queue is full.
    waits: bool,
    /// Free slots of the next stage; the last stage has no next one.
    credits: usize,
    left: u64,
    latency: Output<Duration>,
    is_last: bool,
}

#[Model]
impl Stage {
    fn new(at: usize, frames: u64) -> Self {
        Stage {
            service: UNIT * SERVICE[at],
            out: Output::default(),
            credit: Output::default(),
            queue: VecDeque::with_capacity(SLOTS),
            frame: None,
            waits: false,
            credits: SLOTS,
            left: frames,
            latency: Output::default(),
            is_last: at + 1 == SERVICE.len(),
        }
    }

    async fn put(&mut self, frame: MonotonicTime, cx: &Context<Self>) {
        self.queue.push_back(frame);
        self.begin(cx).await;
    }

    /// The next stage has a free slot again.
    async fn credited(&mut self, _: (), cx: &Context<Self>) {
        self.credits += 1;
        if self.waits {
            self.pass(cx).await;
        }
    }

    #[nexosim(schedulable)]
    async fn done(&mut self, _: (), cx: &Context<Self>) {
        self.pass(cx).await;
    }

    async fn begin(&mut self, cx: &Context<Self>) {
        if self.frame.is_some() {
            return;
        }
        self.frame = self.queue.pop_front();
        if self.frame.is_some() {
            cx.schedule_event(self.service, schedulable!(Self::done), ()).expect("it is later");
            self.credit.send(()).await;
        }
    }

    async fn pass(&mut self, cx: &Context<Self>) {
        self.waits = !self.is_last && self.credits == 0;
        if self.waits {
            return;
        }
        let Some(frame) = self.frame.take() else { return };
        self.left -= 1;
        if !self.is_last {
            self.credits -= 1;
            self.out.send(frame).await;
        } else if self.left == 0 {
            self.latency.send(cx.time().duration_since(frame)).await;
        }
        self.begin(cx).await;
    }
}

fn simulate(frames: u64) -> Result<f64, Box<dyn std::error::Error>> {
    let mut source = Source { out: Output::default(), left: frames, credits: SLOTS, held: None };
    let source_box = Mailbox::new();
    let mut stages: Vec<Stage> = (0..SERVICE.len()).map(|at| Stage::new(at, frames)).collect();
    let boxes: Vec<Mailbox<Stage>> = stages.iter().map(|_| Mailbox::new()).collect();
    source.out.connect(Stage::put, &boxes[0]);
    stages[0].credit.connect(Source::credit, &source_box);
    for at in 1..stages.len() {
        stages[at - 1].out.connect(Stage::put, &boxes[at]);
        stages[at].credit.connect(Stage::credited, &boxes[at - 1]);
    }
    let (sink, mut latency) = event_slot(SinkState::Enabled);
    stages[SERVICE.len() - 1].latency.connect_sink(sink);

    let mut bench = SimInit::with_num_threads(1).add_model(source, source_box, "source");
    for (at, (stage, mailbox)) in stages.into_iter().zip(boxes).enumerate() {
        bench = bench.add_model(stage, mailbox, &format!("stage_{at}"));
    }
    let mut simulation = bench.init(MonotonicTime::EPOCH)?;
    simulation.run()?;
    Ok(latency.try_read().ok_or("no frame came through")?.as_secs_f64())
}

fn main() {
    report(simulate)
}
