// SPDX-License-Identifier: Apache-2.0
//! The engine of a saved simulation: what is taken of one can be gone on with.

use std::sync::LazyLock;

use whimbrel_engine::engine::Engine;
use whimbrel_model::Platform;

const EVENTS_MOST: usize = 64;

/// Whose state it is: the platform of the corpus.
static FRESH: LazyLock<Engine> = LazyLock::new(|| {
    let platform = Platform::parse(include_str!("../../../../platforms/smp2.toml")).unwrap();
    Engine::new(&platform.description().unwrap())
});

pub fn read(data: &[u8]) {
    let Some((now_ps, mut engine)) = FRESH.restore(data) else { return };
    let _ = engine.save(now_ps);
    let handle = engine.push(now_ps, 1);
    engine.push(now_ps, 2);
    engine.cancel(handle);
    for _ in 0..EVENTS_MOST {
        if engine.pop().is_none() {
            break;
        }
    }
}
