// SPDX-License-Identifier: Apache-2.0
//! A graph in GraphML, as an application.

#![no_main]

whimbrel_fuzz::target!(read);

fn read(data: &[u8]) {
    whimbrel_fuzz::import("fuzz.graphml", data);
}
