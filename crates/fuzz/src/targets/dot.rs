// SPDX-License-Identifier: Apache-2.0
//! A graph in DOT, as an application.

pub fn read(data: &[u8]) {
    crate::shared::import("fuzz.dot", data);
}
