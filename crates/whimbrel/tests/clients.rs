// SPDX-License-Identifier: Apache-2.0
//! Processes beside a run attach to it; where there are none, their tasks are refused.

use std::thread;

use insta::assert_snapshot;
use whimbrel_client::{Client, Error};

use crate::common::{PATIENCE, Place};

const RELAY: &str = r#"
[app]
name = "relay"
[[task]]
name = "feed"
client = true
[[task]]
name = "scope"
client = true
[[channel]]
from = "feed.out"
to = "scope.in"
slot_bytes = 8
"#;

fn place(text: &str) -> (Place, String) {
    let place = Place::new();
    let path = place.path("app.toml");
    std::fs::write(&path, text).unwrap();
    let app = path.to_str().unwrap().to_owned();
    (place, app)
}

#[test]
fn what_one_client_sends_another_receives_until_the_end() {
    let (place, app) = place(RELAY);
    let mut run = place.start(&[&app, "--cores", "0"]);
    let folder = place.runs().join("relay-1");
    let open = |task, port, index| {
        Client::open(folder.to_str().unwrap(), task, port, index, Some(PATIENCE))
    };

    assert_eq!(open("feed", "out", 1).err(), Some(Error::Invalid));
    let (mut feed, mut scope) = (open("feed", "out", 0).unwrap(), open("scope", "in", 0).unwrap());
    let nothing = scope.receive(&mut [0; 8], Some(PATIENCE / 1000));
    assert_eq!((feed.bytes(), nothing), (8, Err(Error::Timeout)));
    assert_eq!(feed.receive(&mut [0; 8], None), Err(Error::Invalid));
    assert_eq!(feed.send(&[0; 7], None), Err(Error::Invalid));
    let sends = thread::spawn(move || {
        for n in 0..2000_u64 {
            feed.send(&n.to_ne_bytes(), Some(PATIENCE)).unwrap();
        }
        feed.end(Some(PATIENCE)).unwrap();
    });
    let mut message = [0; 8];
    for n in 0..2000_u64 {
        scope.receive(&mut message, Some(PATIENCE)).unwrap();
        assert_eq!(u64::from_ne_bytes(message), n);
    }
    assert_eq!(scope.receive(&mut message, Some(PATIENCE)), Err(Error::Gone));
    sends.join().unwrap();
    assert!(run.finish().status.success());
}

#[test]
fn where_there_are_no_processes_beside_a_run_clients_are_refused() {
    let (place, app) = place(RELAY);
    assert_snapshot!("simulated", place.error(&["sim", &app, "--platform", "smp2"]));
    assert_snapshot!("board", place.error(&["run", &app, "--board", "vexpress_a9"]));
}

#[test]
fn a_client_has_ports_and_nothing_else() {
    let busy = RELAY.replacen("client = true", "client = true\ncycles = 10\nperiod_us = 5.0", 1);
    let (place, app) = place(&(busy + "[[task]]\nname = \"alone\"\nclient = true\n"));
    assert_snapshot!("ports_alone", place.error(&["run", &app]));
}
