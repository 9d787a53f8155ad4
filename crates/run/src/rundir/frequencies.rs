// SPDX-License-Identifier: Apache-2.0
//! Puts back the frequencies that a run has set (`--frequency cpufreq`) and could not put back
//! itself, from the journal that its helper wrote before it changed anything.

use std::io;

use whimbrel_occupy::folder::Folder;

use crate::load::sysfs;

/// The journal in a run's folder, in the form of that of `occupy`.
pub const JOURNAL: &str = "frequencies";

/// Writes every value back, and removes the journal. Without one there is nothing to do.
///
/// # Errors
/// An attribute does not take its former value.
pub(super) fn restore(folder: &Folder) -> io::Result<()> {
    whimbrel_occupy::undo(folder, JOURNAL, &sysfs())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::path::PathBuf;

    use super::*;

    const MIN: &str = "devices/system/cpu/cpu0/cpufreq/scaling_min_freq";

    /// A run's folder with a journal as kernels/linux/cpufreq.c writes it, and a made-up sysfs.
    struct Run {
        around: tempfile::TempDir,
        folder: Folder,
    }

    impl Run {
        fn new(journal: &str) -> Self {
            let around = tempfile::tempdir().unwrap();
            let folder = Folder::open_in(around.path(), "run").unwrap();
            let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
            let text = format!("{{\"boot\":\"{}\"}}\n{journal}", boot.trim());
            let text = text.replace("HERE", around.path().to_str().unwrap());
            folder.anew(JOURNAL).unwrap().write_all(text.as_bytes()).unwrap();
            let run = Self { around, folder };
            fs::create_dir_all(run.at(MIN).parent().unwrap()).unwrap();
            fs::write(run.at(MIN), "1200\n").unwrap();
            run
        }

        fn at(&self, path: &str) -> PathBuf {
            self.around.path().join(path)
        }

        fn read(&self, path: &str) -> String {
            fs::read_to_string(self.at(path)).unwrap()
        }

        fn restore(&self) -> io::Result<()> {
            whimbrel_occupy::undo(&self.folder, JOURNAL, self.around.path())
        }
    }

    fn line(path: &str) -> String {
        format!(
            "{{\"change\":{{\"setting\":{{\"word\":\"HERE/{path}\"}},\"before\":\"800\",\
             \"from\":\"800\",\"to\":\"\"}}}}\n"
        )
    }

    #[test]
    fn every_value_is_put_back_and_the_journal_goes() {
        let run = Run::new(&line(MIN));
        run.restore().unwrap();
        assert_eq!(run.read(MIN), "800");
        assert!(!run.folder.path().join(JOURNAL).exists());
        run.restore().unwrap();
        restore(&run.folder).unwrap();
    }

    #[test]
    fn a_line_that_was_cut_short_is_left_out() {
        let run = Run::new(&format!("{}{{\"change\":{{\"th", line(MIN)));
        run.restore().unwrap();
        assert_eq!(run.read(MIN), "800");
    }

    #[test]
    fn what_cannot_be_put_back_stays_in_the_journal() {
        let run = Run::new(&line(&MIN.replace("cpu0", "cpu7")));
        assert!(run.restore().is_err());
        assert!(run.folder.path().join(JOURNAL).exists());
    }

    #[test]
    fn a_journal_of_anything_but_frequencies_changes_nothing() {
        let run = Run::new(&(line(MIN) + &line("precious")));
        fs::write(run.at("precious"), "kept").unwrap();
        let why = run.restore().unwrap_err().to_string();
        assert!(why.contains("precious is not an attribute of frequencies"), "{why}");
        assert_eq!([run.read("precious"), run.read(MIN)], ["kept", "1200\n"]);
        // The journal itself may be a link, where it was somebody else's to make.
        fs::remove_file(run.folder.path().join(JOURNAL)).unwrap();
        std::os::unix::fs::symlink(run.at("precious"), run.folder.path().join(JOURNAL)).unwrap();
        assert!(run.restore().is_err());
        assert_eq!(run.read("precious"), "kept");
    }
}
