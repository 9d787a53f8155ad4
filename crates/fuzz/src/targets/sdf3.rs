// SPDX-License-Identifier: Apache-2.0
//! A graph of SDF3, as an application.

pub fn read(data: &[u8]) {
    crate::shared::import("fuzz.xml", data);
}
