// SPDX-License-Identifier: Apache-2.0
//! A trace of Perfetto, as an application.

pub fn read(data: &[u8]) {
    crate::shared::import("fuzz.pftrace", data);
}
