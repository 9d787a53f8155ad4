// SPDX-License-Identifier: Apache-2.0
//! What all formats have in common: counts, names, progress and errors.

use std::fs;
use std::io::{self, Write};

use crate::common::{Folder, about, made_up, of, trace};
use whimbrel_trace::{Error, Event, ExportError, Format, Kind, Recorded, export};

#[test]
fn every_format_says_the_same_of_a_run() {
    let folder = made_up();
    for format in Format::ALL {
        let (_, exported) = trace(&folder, format);
        let counts = [exported.events, exported.slices, exported.arrows, exported.misses];
        assert_eq!(counts, [30, 8, 1, 1], "{format:?}");
        assert!(exported.oddities.is_empty());
    }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let folder = made_up();
    for format in Format::ALL {
        assert!(trace(&folder, format).0 == trace(&folder, format).0, "{format:?}");
    }
}

#[test]
fn a_run_without_a_summary_has_numbers_for_names() {
    let folder = made_up();
    fs::remove_file(folder.path().join("summary.json")).unwrap();
    let text = String::from_utf8(trace(&folder, Format::Btf).0).unwrap();
    assert!(text.contains("100,Core_0,0,T,task_0,0,start\n"), "{text}");
    assert!(text.contains("150,task_0,0,SIG,channel_0,0,write,1\n"), "{text}");
}

#[test]
fn a_large_number_in_a_run_without_a_summary_is_one_name() {
    const LARGE: u32 = (1 << 20) - 1;
    let folder = Folder::new();
    folder.record(
        0,
        &[
            of(1000, 0, Kind::Run, LARGE),
            about(1100, 0, Kind::Send, LARGE, LARGE - 1, 1),
            about(1200, 0, Kind::Block, LARGE, 1 << 28 | 0xffff, 0),
        ],
    );
    for format in Format::ALL {
        let (bytes, exported) = trace(&folder, format);
        assert_eq!((exported.events, exported.oddities.damaged), (3, 0), "{format:?}");
        assert!(bytes.len() < 4096, "{format:?}: {} bytes", bytes.len());
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("channel_1048574"), "{format:?}: {text}");
        assert!(text.contains("task_1048575"), "{format:?}: {text}");
    }
}

#[test]
fn what_the_summary_does_not_know_is_left_out_and_counted() {
    let folder = Folder::new();
    let foreign = [of(2, 0, Kind::Run, 7), about(3, 0, Kind::Send, 0, 9, 1)];
    folder.record(0, &[&[of(1, 0, Kind::Run, 0)][..], &foreign].concat());
    folder.sum_up(&[("only", 0)], &[("one", 4)]);
    for format in Format::ALL {
        let (_, exported) = trace(&folder, format);
        assert_eq!((exported.events, exported.oddities.damaged), (1, 2), "{format:?}");
    }
}

/// A run of many events.
fn long() -> Folder {
    let folder = Folder::new();
    let events: Vec<Event> = (0..200_000).map(|at| of(at, 0, Kind::Run, 0)).collect();
    folder.record(0, &events).sum_up(&[("only", 0)], &[]);
    folder
}

#[test]
fn progress_grows_up_to_what_there_is_to_read() {
    let folder = long();
    let run = Recorded::open(folder.path()).unwrap();
    let mut told = Vec::new();
    export(&run, Format::Vcd, &mut io::sink(), &mut |read| told.push(read)).unwrap();
    assert!(told.len() > 2 && told.is_sorted() && told.last() <= Some(&run.records()), "{told:?}");
}

/// A disk on which only so much fits.
struct Disk(usize);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(self.0);
        self.0 -= fits;
        if fits == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(fits) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_disk_that_is_full_at_any_time_is_an_error() {
    let folder = made_up();
    let run = Recorded::open(folder.path()).unwrap();
    for format in Format::ALL {
        let size = trace(&folder, format).0.len();
        for fits in 0..size {
            let written = export(&run, format, &mut Disk(fits), &mut |_| {});
            assert!(matches!(written, Err(ExportError::Write(_))), "{format:?}, {fits} bytes");
        }
        assert!(export(&run, format, &mut Disk(size), &mut |_| {}).is_ok());
    }
}

#[test]
fn a_stream_that_cannot_be_read_any_more_is_an_error() {
    let folder = made_up();
    let run = Recorded::open(folder.path()).unwrap();
    fs::remove_file(folder.stream(1)).unwrap();
    for format in Format::ALL {
        let written = export(&run, format, &mut io::sink(), &mut |_| {});
        assert!(matches!(written, Err(ExportError::Read(Error::Read { .. }))), "{format:?}");
    }
}
