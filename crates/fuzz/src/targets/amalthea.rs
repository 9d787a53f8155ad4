// SPDX-License-Identifier: Apache-2.0
//! A model of APP4MC, as an application.

pub fn read(data: &[u8]) {
    crate::shared::import("fuzz.amxmi", data);
}
