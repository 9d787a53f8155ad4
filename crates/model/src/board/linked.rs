// SPDX-License-Identifier: Apache-2.0
//! Files as constant data in C, for an image whose board has none: `launcher/plan/linked.h`.

use std::fmt::Write;

use crate::in_c::text;

/// How many bytes are on a line.
const LINE: usize = 16;

/// What follows the tables of a plan: the files by the paths that parameters have. Nothing if there
/// are none.
pub fn linked(files: &[(String, Vec<u8>)]) -> String {
    let mut c = String::new();
    if files.is_empty() {
        return c;
    }
    c.push_str("\n#include \"linked.h\"\n");
    for (i, (_, data)) in files.iter().enumerate() {
        // C has no empty arrays.
        let _ = write!(c, "\nstatic const unsigned char file_{i}[{}] = {{", data.len().max(1));
        // C has no empty initialisers, either.
        for line in if data.is_empty() { &[0] } else { &data[..] }.chunks(LINE) {
            c.push_str("\n   ");
            for byte in line {
                let _ = write!(c, " {byte},");
            }
        }
        c.push_str("\n};\n");
    }
    c.push_str("\nconst struct linked_file wb_board_files[] = {\n");
    for (i, (path, data)) in files.iter().enumerate() {
        let _ = writeln!(c, "    {{ {}, file_{i}, {} }},", text(path), data.len());
    }
    let _ = write!(c, "}};\nconst size_t wb_board_n_files = {};\n", files.len());
    c
}
