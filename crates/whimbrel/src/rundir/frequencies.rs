// SPDX-License-Identifier: Apache-2.0
//! Puts back the frequencies that a run has set (`--frequency cpufreq`) and could not put back
//! itself, from the journal that its helper wrote before it changed anything.

use std::io;
use std::path::Path;

/// The journal in a run's folder, in the form of that of `occupy`.
pub const JOURNAL: &str = "frequencies";

/// Writes every value back, and removes the journal. Without one there is nothing to do.
///
/// # Errors
/// An attribute does not take its former value.
pub(super) fn restore(folder: &Path) -> io::Result<()> {
    whimbrel_occupy::undo(&folder.join(JOURNAL))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A journal as kernels/linux/cpufreq.c writes it.
    fn folder(journal: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        let text = format!("{{\"boot\":\"{}\"}}\n{journal}", boot.trim());
        let text = text.replace("HERE", folder.path().to_str().unwrap());
        fs::write(folder.path().join(JOURNAL), text).unwrap();
        fs::write(folder.path().join("min"), "1200\n").unwrap();
        folder
    }

    const MIN: &str = "{\"change\":{\"setting\":{\"word\":\"HERE/min\"},\"before\":\"800\",\
                       \"from\":\"800\",\"to\":\"\"}}\n";

    fn min(folder: &tempfile::TempDir) -> String {
        fs::read_to_string(folder.path().join("min")).unwrap()
    }

    #[test]
    fn every_value_is_put_back_and_the_journal_goes() {
        let folder = folder(MIN);
        restore(folder.path()).unwrap();
        assert_eq!(min(&folder), "800");
        assert!(!folder.path().join(JOURNAL).exists());
        restore(folder.path()).unwrap();
    }

    #[test]
    fn a_line_that_was_cut_short_is_left_out() {
        let folder = folder(&format!("{MIN}{{\"change\":{{\"th"));
        restore(folder.path()).unwrap();
        assert_eq!(min(&folder), "800");
    }

    #[test]
    fn what_cannot_be_put_back_stays_in_the_journal() {
        let folder = folder(&MIN.replace("min", "none"));
        assert!(restore(folder.path()).is_err());
        assert!(folder.path().join(JOURNAL).exists());
    }
}
