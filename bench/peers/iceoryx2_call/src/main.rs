// SPDX-License-Identifier: Apache-2.0
//! A request of 160 bytes and its response over iceoryx2, between two threads that poll, each on a
//! processor of its own: `iceoryx2_call CPU OTHER_CPU`. The server copies the request into the
//! response; the client copies in and out.

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::request_response::PortFactory;

const WARM_UP: u32 = 1000;
const BATCH: u32 = 16;
const SAMPLES: u32 = 5000;
const BYTES: usize = 160;

#[derive(Debug, Clone, Copy, ZeroCopySend)]
#[repr(C)]
struct Block {
    bytes: [u8; BYTES],
}

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn pin(cpu: usize) {
    // SAFETY: a set of processors may be all zero, and the number is checked by the macro's array.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        assert_eq!(
            libc::sched_setaffinity(0, size_of_val(&set), &set),
            0,
            "no processor {cpu}"
        );
    }
}

/// A request at a time, as a caller that waits makes them.
fn service(name: &ServiceName) -> Outcome<PortFactory<ipc::Service, Block, (), Block, ()>> {
    let node = NodeBuilder::new().create::<ipc::Service>()?;
    let service = node
        .service_builder(name)
        .request_response::<Block, Block>()
        .max_clients(1)
        .max_servers(1)
        .max_response_buffer_size(1)
        .open_or_create()?;
    Ok(service)
}

fn serve(name: &ServiceName, cpu: usize, ready: &AtomicBool, over: &AtomicBool) -> Outcome<()> {
    pin(cpu);
    let server = service(name)?.server_builder().create()?;
    ready.store(true, Ordering::Release);
    while !over.load(Ordering::Relaxed) {
        if let Some(request) = server.receive()? {
            request
                .loan_uninit()?
                .write_payload(*request.payload())
                .send()?;
        }
    }
    Ok(())
}

fn call(name: &ServiceName, cpu: usize, ready: &AtomicBool) -> Outcome<Vec<f64>> {
    pin(cpu);
    let client = service(name)?.client_builder().create()?;
    let mut block = Block { bytes: [7; BYTES] };
    let mut samples = Vec::new();
    while !ready.load(Ordering::Acquire) {}
    for sample in 0..(WARM_UP + SAMPLES) {
        let from = Instant::now();
        for _ in 0..BATCH {
            let pending = client.loan_uninit()?.write_payload(block).send()?;
            block = loop {
                if let Some(response) = pending.receive()? {
                    break *response.payload();
                }
            };
        }
        if sample >= WARM_UP {
            samples.push(from.elapsed().as_nanos() as f64 / f64::from(BATCH));
        }
    }
    assert_eq!(block.bytes, [7; BYTES], "the response is the request");
    Ok(samples)
}

fn main() -> Outcome<()> {
    set_log_level(LogLevel::Error);
    let cpus: Vec<usize> = std::env::args()
        .skip(1)
        .map(|cpu| cpu.parse())
        .collect::<Result<_, _>>()?;
    let [cpu, other] = cpus[..] else {
        return Err("usage: iceoryx2_call CPU OTHER_CPU".into());
    };
    let name: ServiceName = format!("whimbrel/{}", std::process::id())
        .as_str()
        .try_into()?;
    let (ready, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut samples = std::thread::scope(|scope| {
        let server = scope.spawn(|| serve(&name, other, &ready, &over));
        let samples = call(&name, cpu, &ready);
        over.store(true, Ordering::Relaxed);
        server.join().map_err(|_| "the server has failed")??;
        samples
    })?;
    samples.sort_unstable_by(f64::total_cmp);
    let at = |part: usize| samples[samples.len() * part / 100];
    println!(
        "{{\"peer\": \"iceoryx2 0.7.0\", \"call_ns\": {:.1}, \"p90\": {:.1}, \"n\": {}}}",
        at(50),
        at(90),
        samples.len()
    );
    Ok(())
}
