// SPDX-License-Identifier: Apache-2.0
//! Task graphs of TGFF, as an application.

pub fn read(data: &[u8]) {
    crate::shared::import("fuzz.tgff", data);
}
