// SPDX-License-Identifier: Apache-2.0
//! A workload of rt-app, as an application.

pub fn read(data: &[u8]) {
    crate::shared::import("fuzz.json", data);
}
