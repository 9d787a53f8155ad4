// SPDX-License-Identifier: Apache-2.0
//! Links the targets with libFuzzer, which `FUZZ_RUNTIME` names.

fn main() {
    println!("cargo::rerun-if-env-changed=FUZZ_RUNTIME");
    if let Ok(runtime) = std::env::var("FUZZ_RUNTIME") {
        for part in [&runtime, "-lstdc++", "-lm"] {
            println!("cargo::rustc-link-arg-bins={part}");
        }
    }
}
