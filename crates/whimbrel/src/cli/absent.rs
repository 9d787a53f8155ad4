// SPDX-License-Identifier: Apache-2.0
//! The options of a verb that this command was built without: any, so that its use is told as that.

use std::ffi::OsString;

use clap::Args;

/// Not in this build; `make build` builds all of it.
#[derive(Debug, Args)]
pub struct AbsentArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _any: Vec<OsString>,
}
