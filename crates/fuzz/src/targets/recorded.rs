// SPDX-License-Identifier: Apache-2.0
//! A recorded run: a summary up to the first zero, then the stream of core 0. It is written in the
//! format of each viewer, and as a page.

use std::fs;

use crate::shared::{FOLDER, Nowhere};
use whimbrel_report::page;
use whimbrel_trace::{Format, Recorded, export};

pub fn read(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (summary, stream) = (FOLDER.join("summary.json"), FOLDER.join("core-0.events"));
    if end > 0 {
        fs::write(&summary, &data[..end]).unwrap();
    } else {
        let _ = fs::remove_file(&summary);
    }
    fs::write(stream, data.get(end + 1..).unwrap_or_default()).unwrap();
    let Ok(run) = Recorded::open(FOLDER.as_path()) else { return };
    for format in Format::ALL {
        let _ = export(&run, format, &mut Nowhere::default(), &mut |_| {});
    }
    let odd = run.merged().oddities();
    let _ = run.damage(&odd);
    let _ = page(&[FOLDER.as_path()], &[]);
}
