// SPDX-License-Identifier: Apache-2.0
//! Every test of the crate as one program: it is linked once.

mod arbitrary;
mod boards;
mod common;
mod documents;
mod dot;
mod guests;
mod hardware;
mod hardware_refusals;
mod islands;
mod kernels;
mod keys;
mod locks;
mod modes;
mod papers;
mod plan;
mod platform;
mod refusals;
mod scripts;
mod sdf;
mod services;
mod table;
mod work;
