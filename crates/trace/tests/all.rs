// SPDX-License-Identifier: Apache-2.0
//! Every test of the crate as one program: it is linked once.

mod btf;
mod common;
mod export;
mod perfetto;
mod recorded;
mod vcd;
