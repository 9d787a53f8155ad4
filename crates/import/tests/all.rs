// SPDX-License-Identifier: Apache-2.0
//! Every test of the crate as one program: it is linked once.

mod common;
mod drawn;
mod growth;
mod import;
mod models;
mod rtapp;
mod traces;
