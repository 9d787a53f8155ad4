// SPDX-License-Identifier: Apache-2.0
//! Puts back the frequencies that a run has set (`--frequency cpufreq`) and could not put back
//! itself, from the journal that its helper wrote before it changed anything.

use std::fs;
use std::io;
use std::path::Path;

/// The journal in a run's folder: a line `PATH VALUE` for each attribute of sysfs.
pub const JOURNAL: &str = "frequencies";

/// Writes every value back, and removes the journal. Without one there is nothing to do.
///
/// # Errors
/// An attribute does not take its former value.
pub(super) fn restore(folder: &Path) -> io::Result<()> {
    let journal = folder.join(JOURNAL);
    let text = match fs::read_to_string(&journal) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    // The last line has no end when a crash cut it short; nothing was changed then.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let values: Vec<(&str, &str)> =
        whole.lines().filter_map(|line| line.rsplit_once(' ')).collect();
    // Twice, because a limit may be refused before the other moved.
    for (path, value) in values.iter().chain(&values) {
        let _ = fs::write(path, value);
    }
    for (path, value) in values {
        if fs::read_to_string(path)?.trim_end() != value {
            return Err(io::Error::other(format!("{path} does not take {value} back")));
        }
    }
    fs::remove_file(journal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(journal: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let text = journal.replace("HERE", folder.path().to_str().unwrap());
        fs::write(folder.path().join(JOURNAL), text).unwrap();
        fs::write(folder.path().join("min"), "1200\n").unwrap();
        folder
    }

    #[test]
    fn every_value_is_put_back_and_the_journal_goes() {
        let folder = folder("HERE/min 800\n");
        restore(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("min")).unwrap(), "800");
        assert!(!folder.path().join(JOURNAL).exists());
        restore(folder.path()).unwrap();
    }

    #[test]
    fn a_line_that_was_cut_short_is_left_out() {
        let folder = folder("HERE/min 800\nHERE/mi");
        restore(folder.path()).unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("min")).unwrap(), "800");
    }

    #[test]
    fn what_cannot_be_put_back_stays_in_the_journal() {
        let folder = folder("HERE/none/max 800\n");
        assert!(restore(folder.path()).is_err());
        assert!(folder.path().join(JOURNAL).exists());
    }
}
