// SPDX-License-Identifier: Apache-2.0
//! Every test of the crate as one program: it is linked once.

mod common;
mod export;
mod parts;
mod refusals;
mod search;
mod symmetry;
mod vector;
