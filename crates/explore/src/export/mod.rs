// SPDX-License-Identifier: Apache-2.0
//! The files that are written of an exploration: see docs/explore.md.

#[cfg(feature = "parquet")]
mod columnar;
mod summary;
mod tabular;

#[cfg(feature = "parquet")]
pub use columnar::parquet;
#[cfg(feature = "parquet")]
pub(crate) use columnar::part;
pub(crate) use summary::VERSION;
pub use summary::json;
pub(crate) use summary::per_second;
pub use tabular::{csv, table};
