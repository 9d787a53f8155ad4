// SPDX-License-Identifier: Apache-2.0
//! The journal: what there is, and what every changed setting was before.
//!
//! A line is written before the changes that it tells of, so that after a kill at any instant each
//! setting is as the journal says it was, or as it says it was to be. What is decided together is
//! one line, for what a task was before may follow from its parent's change: half of that would be
//! wrong. The file lives in memory (`/run`) and holds only state that a reboot voids: the first
//! line names the boot. A kill does not lose what was written, so nothing is flushed to a disk.
//!
//! What it says is done with our rights, and it has what makes a task the program's: only this user
//! may read or write it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::folder::Folder;
use crate::linux::kernel::{Kernel, Linux};
use crate::settings::Setting;
use crate::{Error, Occupation};

/// What happened to a setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Change {
    pub setting: Setting,
    /// The occupation that a task belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u32>,
    /// What it would be without any occupation.
    pub before: String,
    /// What it was when this was written.
    pub from: String,
    /// What it was then made.
    pub to: String,
    /// What else it was made earlier.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub past: BTreeSet<String>,
    /// How often it has moved back by itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub back: u32,
    /// Somebody else had changed it.
    #[serde(skip)]
    pub foreign: bool,
}

impl Change {
    /// One that nobody else has a part in.
    pub fn new(setting: Setting, before: String, from: String, to: String) -> Self {
        Self { setting, of: None, before, from, to, past: BTreeSet::new(), back: 0, foreign: false }
    }

    /// Whether it has this value from us; else somebody else has changed it.
    pub fn explains(&self, value: &str) -> bool {
        [&self.before, &self.from, &self.to].into_iter().any(|known| known == value)
    }

    /// Whether a task that it has made may have this from it; that may have been some time ago.
    pub fn handed_down(&self, value: &str) -> bool {
        self.explains(value) || self.past.contains(value)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// What the file tells of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Line {
    /// The machine's `boot_id`: the first line, alone.
    Boot(String),
    /// An occupation that began or has changed.
    Occupation(Box<Occupation>),
    /// A change that follows.
    Change(Change),
    /// The tasks of this occupation are no longer its.
    Released(u32),
    /// The same, and it has ended.
    Ended(u32),
}

/// A line of the file: a kill leaves all of it or nothing.
#[derive(Deserialize)]
#[serde(untagged)]
enum Together {
    Many(Vec<Line>),
    One(Line),
}

impl Together {
    fn lines(self) -> Vec<Line> {
        match self {
            Self::Many(lines) => lines,
            Self::One(line) => vec![line],
        }
    }
}

/// The journal in memory and on disk.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: Folder,
    name: String,
    boot: String,
    file: Option<File>,
    lines: usize,
    occupations: Vec<Occupation>,
    changes: BTreeMap<Setting, Change>,
    outlived: bool,
}

/// A journal with more lines than this that no longer matter, and more than matter, is written
/// anew.
const STALE: usize = 1000;

impl Journal {
    /// Reads it; one of another boot is dropped, and so is a last line that a kill cut short.
    pub fn load(folder: &Folder, name: &str, boot: &str) -> Result<Self, Error> {
        let path = folder.path().join(name);
        let fails = |error| Error::File { path: path.clone(), error };
        let mut journal = Self {
            folder: folder.again().map_err(fails)?,
            name: name.to_owned(),
            boot: boot.to_owned(),
            file: None,
            lines: 0,
            occupations: Vec::new(),
            changes: BTreeMap::new(),
            outlived: false,
        };
        let mut bytes = Vec::new();
        match folder.read(name).and_then(|mut file| file.read_to_end(&mut bytes)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(journal),
            read => read.map_err(fails)?,
        };
        let text = String::from_utf8_lossy(&bytes);
        let complete = text.rfind('\n').map_or(0, |end| end + 1);
        let wrong = |line: &str| Error::Text { path: path.clone(), text: line.to_owned() };
        let parse = |line| {
            let together = serde_json::from_str(line).map_err(|_| wrong(line));
            together.map(Together::lines)
        };
        let mut texts = text[..complete].lines();
        // What follows in a journal of another boot may be anything: it was not flushed to a disk.
        let first = texts.next().map(parse).transpose()?;
        if first != Some(vec![Line::Boot(boot.to_owned())]) {
            journal.outlived = first.is_some();
            journal.delete()?;
            return Ok(journal);
        }
        let lines = texts.map(parse).collect::<Result<Vec<_>, _>>()?.concat();
        journal.lines = lines.len() + 1;
        lines.into_iter().for_each(|line| journal.take(line));
        if complete < text.len() {
            journal.cut(complete)?;
        }
        Ok(journal)
    }

    /// The occupations, by number.
    pub fn occupations(&self) -> &[Occupation] {
        &self.occupations
    }

    /// Whether there was one of another boot, which is dropped.
    pub fn outlived(&self) -> bool {
        self.outlived
    }

    /// One of them.
    pub fn occupation(&self, id: u32) -> Option<&Occupation> {
        self.occupations.iter().find(|occupation| occupation.id == id)
    }

    /// What happened to a setting, if anything did.
    pub fn change(&self, setting: &Setting) -> Option<&Change> {
        self.changes.get(setting)
    }

    /// All settings that were changed.
    pub fn changes(&self) -> impl Iterator<Item = &Change> {
        self.changes.values()
    }

    /// Whether there is anything to undo.
    pub fn is_empty(&self) -> bool {
        self.occupations.is_empty() && self.changes.is_empty()
    }

    /// Writes what belongs together; what it tells of may be done afterwards.
    pub fn append(&mut self, mut lines: Vec<Line>) -> Result<(), Error> {
        lines.retain(|line| match line {
            Line::Change(change) => self.changes.get(&change.setting) != Some(change),
            _ => true,
        });
        if lines.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        if self.lines == 0 {
            text += &written(&Line::Boot(self.boot.clone()));
            self.lines = 1;
        }
        text += &written(&lines);
        self.put(&text).map_err(|error| self.fails(error))?;
        self.lines += lines.len();
        lines.into_iter().for_each(|line| self.take(line));
        Ok(())
    }

    /// Forgets settings for good; the file tells of them until it is written anew.
    pub fn forget(&mut self, gone: impl Fn(&Setting) -> bool) -> Result<(), Error> {
        self.changes.retain(|setting, _| !gone(setting));
        if self.is_empty() {
            return self.delete();
        }
        let matter = self.changes.len() + self.occupations.len();
        if self.lines < 2 * matter + STALE {
            return Ok(());
        }
        self.rewrite().map_err(|error| self.fails(error))?;
        self.lines = matter + 1;
        Ok(())
    }

    fn put(&mut self, text: &str) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(self.folder.append(&self.name)?);
        }
        let file = self.file.as_mut().expect("it was opened above");
        file.write_all(text.as_bytes())
    }

    /// By a new file that takes the old one's place, so that a kill leaves one of the two.
    fn rewrite(&mut self) -> io::Result<()> {
        let occupations = self.occupations.iter().cloned().map(Box::new).map(Line::Occupation);
        let changes = self.changes.values().cloned().map(Line::Change);
        let boot = std::iter::once(Line::Boot(self.boot.clone()));
        let text: String =
            boot.chain(occupations).chain(changes).map(|line| written(&line)).collect();
        let new = format!("{}.new", self.name);
        self.folder.anew(&new)?.write_all(text.as_bytes())?;
        self.folder.rename(&new, &self.name)?;
        self.file = None;
        Ok(())
    }

    fn delete(&mut self) -> Result<(), Error> {
        self.file = None;
        self.lines = 0;
        self.folder.remove(&self.name).map_err(|error| self.fails(error))
    }

    fn cut(&self, bytes: usize) -> Result<(), Error> {
        let file = self.folder.append(&self.name);
        file.and_then(|file| file.set_len(bytes as u64)).map_err(|error| self.fails(error))
    }

    fn fails(&self, error: io::Error) -> Error {
        Error::File { path: self.folder.path().join(&self.name), error }
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Boot(_) => {}
            Line::Change(change) => {
                self.changes.insert(change.setting.clone(), change);
            }
            Line::Occupation(new) => {
                self.occupations.retain(|occupation| occupation.id != new.id);
                self.occupations.push(*new);
                self.occupations.sort_by_key(|occupation| occupation.id);
            }
            Line::Released(id) => self.release(id),
            Line::Ended(id) => {
                self.release(id);
                self.occupations.retain(|occupation| occupation.id != id);
            }
        }
    }

    fn release(&mut self, id: u32) {
        self.changes.values_mut().filter(|change| change.of == Some(id)).for_each(|change| {
            change.of = None;
        });
    }
}

/// Puts the frequencies back that a journal of changes without occupations tells of, and removes
/// it. Without one, or with one of another boot, there is nothing to do. `sys` is where sysfs is.
///
/// # Errors
/// An attribute does not take its former value; or the journal is not understood or tells of
/// anything but cpufreq's attributes, and then nothing has been changed.
pub fn undo(folder: &Folder, name: &str, sys: &Path) -> io::Result<()> {
    let kernel = Linux::default();
    let boot = kernel.read(Path::new("/proc/sys/kernel/random/boot_id"))?;
    let mut journal = Journal::load(folder, name, boot.trim()).map_err(io::Error::other)?;
    let changes: Vec<&Change> = journal.changes().collect();
    if let Some(other) = changes.iter().find(|change| !of_cpufreq(&change.setting, sys)) {
        let path = folder.path().join(name);
        let what = other.setting.name();
        let why = format!("{}: {what} is not an attribute of frequencies", path.display());
        return Err(io::Error::other(why));
    }
    // Twice, because a value may be refused before another is back: a lower limit above the upper.
    for change in changes.iter().chain(&changes) {
        let _ = change.setting.write(&kernel, &change.before);
    }
    for Change { setting, before, .. } in changes {
        if setting.read(&kernel)? != *before {
            return Err(io::Error::other(format!("{setting:?} does not take {before} back")));
        }
    }
    journal.forget(|_| true).map_err(io::Error::other)
}

/// Whether it is one of the attributes that a run may set (kernels/linux/cpufreq.c).
fn of_cpufreq(setting: &Setting, sys: &Path) -> bool {
    let Setting::Word(path) = setting else { return false };
    let Ok(below) = path.strip_prefix(sys.join("devices/system/cpu")) else { return false };
    let Some(parts) = below.to_str().map(|below| below.split('/').collect::<Vec<_>>()) else {
        return false;
    };
    let [cpu, "cpufreq", attribute] = parts[..] else { return false };
    let number = cpu.strip_prefix("cpu").unwrap_or_default();
    let known = ["scaling_min_freq", "scaling_max_freq", "scaling_governor", "scaling_setspeed"];
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) && known.contains(&attribute)
}

fn written(line: &impl Serialize) -> String {
    serde_json::to_string(line).expect("a line has only texts and numbers") + "\n"
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use proptest::prelude::*;

    use super::{Change, Journal, Line, STALE, of_cpufreq};
    use crate::folder::Folder;
    use crate::settings::Setting;
    use crate::{Error, TaskId};

    fn change(tid: i32, to: &str) -> Change {
        let setting = Setting::Task(TaskId { tid, start: 5 });
        Change::new(setting, "0-3".to_owned(), "0-3".to_owned(), to.to_owned())
    }

    fn path(folder: &tempfile::TempDir) -> PathBuf {
        folder.path().join("journal")
    }

    fn load(path: &Path, boot: &str) -> Result<Journal, Error> {
        Journal::load(&Folder::open(path.parent().unwrap()).unwrap(), "journal", boot)
    }

    proptest! {
        #[test]
        fn a_journal_that_was_cut_short_tells_what_was_written_before(cut in 0_usize..2000) {
            let folder = tempfile::tempdir().unwrap();
            let path = path(&folder);
            let mut journal = load(&path, "one").unwrap();
            let lines = (0..10).map(|tid| Line::Change(change(tid, "0")));
            journal.append(lines.collect()).unwrap();
            let text = fs::read_to_string(&path).unwrap();
            prop_assert_eq!(load(&path, "one").unwrap().changes().count(), 10);
            let cut = cut % text.len();
            fs::write(&path, &text[..cut]).unwrap();

            let mut journal = load(&path, "one").unwrap();
            // All or nothing: what is decided together is known together.
            prop_assert_eq!(journal.changes().count(), 0);
            // What comes then is not glued to the broken line.
            journal.append(vec![Line::Change(change(99, "1"))]).unwrap();
            let journal = load(&path, "one").unwrap();
            prop_assert_eq!(journal.change(&change(99, "").setting), Some(&change(99, "1")));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\{\"boot\":\"one\"\\}\n[{}a-z\":0-9,\n]{0,60}") {
            let folder = tempfile::tempdir().unwrap();
            fs::write(path(&folder), text).unwrap();
            let _ = load(&path(&folder), "one");
        }
    }

    #[test]
    fn a_journal_of_another_boot_is_dropped_whatever_follows() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(&folder);
        let mut journal = load(&path, "one").unwrap();
        journal.append(vec![Line::Change(change(1, "0"))]).unwrap();
        assert!(!load(&path, "one").unwrap().is_empty());
        let text = fs::read_to_string(&path).unwrap() + "\0\0\n";
        fs::write(&path, text).unwrap();
        assert!(load(&path, "one").is_err());
        let other = load(&path, "two").unwrap();
        assert!(other.is_empty() && other.outlived() && !path.exists());
    }

    #[test]
    fn a_long_journal_is_written_anew_and_says_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(&folder);
        let mut journal = load(&path, "one").unwrap();
        for round in 0..STALE {
            let to = (round % 3).to_string();
            journal
                .append(vec![Line::Change(change(1, &to)), Line::Change(change(2, &to))])
                .unwrap();
        }
        let long = fs::metadata(&path).unwrap().len();
        journal.forget(|setting| *setting == change(2, "").setting).unwrap();
        assert!(fs::metadata(&path).unwrap().len() < long / 100);
        let again = load(&path, "one").unwrap();
        assert!(again.changes().eq(journal.changes()));
        assert_eq!(again.changes().count(), 1);
        journal.forget(|_| true).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn a_journal_is_its_users_alone_also_when_it_is_written_anew() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = path(&folder);
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let mut journal = load(&path, "one").unwrap();
        journal.append(vec![Line::Change(change(1, "0"))]).unwrap();
        assert_eq!(mode(), 0o600);
        journal.rewrite().unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, PermissionsExt::from_mode(0o622)).unwrap();
        let why = load(&path, "one").unwrap_err().to_string();
        assert!(why.contains("not a regular file that only this user may write"), "{why}");
    }

    #[test]
    fn only_attributes_of_cpufreq_are_a_runs_to_put_back() {
        let is = |path: &str| of_cpufreq(&Setting::Word(path.into()), Path::new("/sys"));
        let of = |rest: &str| format!("/sys/devices/system/cpu/{rest}");
        assert!(is(&of("cpu0/cpufreq/scaling_governor")));
        assert!(is(&of("cpu17/cpufreq/scaling_max_freq")));
        for other in [
            "/etc/passwd".to_owned(),
            of("cpu0/online"),
            of("cpu/cpufreq/scaling_governor"),
            of("cpu0/cpufreq/scaling_driver"),
            of("cpu0/cpufreq/../scaling_governor"),
            of("cpu0/cpufreq/../../../../../../etc/scaling_governor"),
            of("../cpu/cpu0/cpufreq/scaling_governor"),
        ] {
            assert!(!is(&other), "{other}");
        }
        let list = Setting::List(of("cpu0/cpufreq/scaling_governor").into());
        assert!(!of_cpufreq(&list, Path::new("/sys")));
    }
}
