// SPDX-License-Identifier: Apache-2.0
//! The `whimbrel` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    whimbrel::main()
}
