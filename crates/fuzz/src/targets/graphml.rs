// SPDX-License-Identifier: Apache-2.0
//! A graph in GraphML, as an application.

pub fn read(data: &[u8]) {
    crate::shared::import("fuzz.graphml", data);
}
