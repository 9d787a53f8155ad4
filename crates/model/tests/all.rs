// SPDX-License-Identifier: Apache-2.0
//! Every test of the crate as one program: it is linked once.

mod arbitrary;
mod boards;
mod common;
mod documents;
mod dot;
mod drawn;
mod growth;
mod hardware;
mod hardware_refusals;
mod import;
mod keys;
mod locks;
mod modes;
mod papers;
mod plan;
mod platform;
mod refusals;
mod rtapp;
mod scripts;
mod sdf;
mod services;
mod table;
mod traces;
mod work;
