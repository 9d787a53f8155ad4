// SPDX-License-Identifier: Apache-2.0
//! What a simulation or an exploration was made of, in the folder of its result: what it takes to
//! repeat it.
//!
//! `experiment.json` has the options, and `inputs/` the files that they name, each in a folder.
//! In the options their paths are relative to the result's folder.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use whimbrel_model::{App, Problem, Setting};
use whimbrel_text::cure;

use super::{simulated_file, utf8};
use crate::args::{PLATFORM, SimArgs};
use crate::atomic_file;
use crate::files::named;
use crate::fingerprint::fingerprint_of;

/// The file that says how to repeat it.
pub const EXPERIMENT: &str = "experiment.json";
/// The folder of what it reads.
const INPUTS: &str = "inputs";
const VERSION: u32 = 1;
/// What is copied at most, in bytes: all of it is held in memory until the run has ended.
const MOST: u64 = 256 << 20;

/// How a simulation or an exploration is repeated.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Experiment {
    /// Of this format.
    version: u32,
    /// The version of Whimbrel that made the result.
    pub whimbrel: String,
    /// What makes it: `sim` or `explore`.
    pub verb: String,
    /// Why it cannot be repeated; `None`: it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<String>,
    /// The options, as the verb has them.
    options: Value,
    /// Parameters of the application that are files: their names, and where it found them.
    pub files: Vec<(String, String)>,
    /// Those that the run has written: their names and the fingerprints of what is in them.
    pub outputs: Vec<(String, String)>,
    /// What the result of an exploration says of its options.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Value>,
    /// The files, by their paths in the folder.
    #[serde(skip)]
    copies: Vec<(PathBuf, Vec<u8>)>,
}

impl Experiment {
    /// What the options of a simulation name, as it is before the run.
    pub fn of_sim(args: &SimArgs, app: &App, module: &Path) -> Self {
        Self::of("sim", args.clone(), |kept, args| kept.gather_sim(args, app, module))
    }

    /// The same of another verb, whose options `gather` changes to name what it keeps.
    pub fn of<A: Serialize>(
        verb: &str,
        mut args: A,
        gather: impl FnOnce(&mut Self, &mut A) -> Result<(), String>,
    ) -> Self {
        let mut kept = Self {
            version: VERSION,
            whimbrel: env!("CARGO_PKG_VERSION").into(),
            verb: verb.into(),
            why_not: None,
            options: Value::Null,
            files: Vec::new(),
            outputs: Vec::new(),
            settings: None,
            copies: Vec::new(),
        };
        let options = gather(&mut kept, &mut args)
            .and_then(|()| serde_json::to_value(args).map_err(|error| error.to_string()));
        match options {
            Ok(options) => kept.options = options,
            Err(why) => (kept.why_not, kept.copies) = (Some(why), Vec::new()),
        }
        kept
    }

    fn gather_sim(&mut self, args: &mut SimArgs, app: &App, module: &Path) -> Result<(), String> {
        if args.resume.is_some() {
            return Err("it was resumed from a saved simulation".into());
        }
        (args.candidate, args.save, args.common.record) = (None, None, None);
        (args.common.json, args.common.brief, args.common.quiet) = (false, false, true);
        let layout = &mut args.common.layout;
        if layout.moving.policy.as_ref().is_some_and(|policy| policy.name == "asked") {
            return Err("its policy is a function of Python".into());
        }
        let platform = args.platform.get_or_insert_with(|| PLATFORM.into());
        self.gather(&mut layout.app, platform, &mut layout.set, app, module)?;
        if let Some(table) = &mut layout.moving.table {
            *table = self.keep("table", None, table)?;
        }
        Ok(())
    }

    /// Keeps the application, its module, the files that its parameters name, and the platform.
    ///
    /// # Errors
    /// Why they cannot be kept.
    pub fn gather(
        &mut self,
        files: &mut [PathBuf],
        platform: &mut String,
        set: &mut Vec<Setting>,
        app: &App,
        module: &Path,
    ) -> Result<(), String> {
        for (place, file) in files.iter_mut().enumerate() {
            // Files of the same name stay apart; the module is beside the first.
            let folder = if place == 0 { "app".into() } else { format!("app{place}") };
            *file = self.keep(&folder, None, &named(file))?;
        }
        self.keep("app", Some(app.module.get_ref()), module)?;
        let file = simulated_file(platform).map_err(|_| "its platform is gone".to_owned())?;
        *platform = self.keep("platform", None, &file)?.to_string_lossy().into_owned();
        for param in app.params.iter().filter(|param| app.paths.contains(&param.key)) {
            if !param.text.is_empty() {
                let value = self.keep_parameter(&param.key, &param.text)?;
                set.retain(|setting| setting.key != param.key);
                set.push(Setting { key: param.key.clone(), value });
            }
        }
        Ok(())
    }

    /// Keeps a file in a folder of `inputs`, by its own name or another; gives its path there.
    fn keep(&mut self, folder: &str, name: Option<&str>, file: &Path) -> Result<PathBuf, String> {
        let own = file.file_name().unwrap_or_default();
        let name = Path::new(name.map_or(own, AsRef::as_ref));
        let path = Path::new(INPUTS).join(folder).join(name);
        let whole = || format!("it reads {}", file.display());
        if !is_below(&path) {
            return Err(format!("{}, which is outside of the application's folder", whole()));
        }
        let about = fs::metadata(file).map_err(|error| format!("{}: {error}", whole()))?;
        let held: u64 = self.copies.iter().map(|(_, contents)| contents.len() as u64).sum();
        if !about.is_file() {
            return Err(format!("{}, which is not a file", whole()));
        }
        if held + about.len() > MOST {
            return Err(format!("{}, and more than {} MiB in all", whole(), MOST >> 20));
        }
        let contents = fs::read(file).map_err(|error| format!("{}: {error}", whole()))?;
        self.copies.push((path.clone(), contents));
        Ok(path)
    }

    /// Keeps what a parameter names, if it is there; gives its path in the folder.
    fn keep_parameter(&mut self, key: &str, text: &str) -> Result<String, String> {
        let file = Path::new(text);
        if text == "-" || text.contains("://") {
            return Err(format!("its parameter {key} is {text}"));
        }
        let folder = format!("files/{key}");
        let path = if file.exists() {
            self.keep(&folder, None, file)?
        } else {
            let name = file.file_name().unwrap_or_default();
            Path::new(INPUTS).join(folder).join(name)
        };
        self.files.push((key.into(), text.into()));
        Ok(path.to_string_lossy().into_owned())
    }

    /// Writes it into the folder of the result, after the run. What the run has written is no
    /// input.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(mut self, folder: &Path) -> Result<(), Problem> {
        for (key, text) in &self.files {
            let begin = Path::new(INPUTS).join("files").join(key);
            let before = self.copies.iter().position(|(path, _)| path.starts_with(&begin));
            let Ok(now) = fs::read(text) else { continue };
            if before.is_none_or(|place| self.copies[place].1 != now) {
                self.outputs.push((key.clone(), fingerprint_of(&now)));
                before.map(|place| self.copies.remove(place));
            }
        }
        let unwritten = |path: &Path, error: &io::Error| {
            let message = format!("{} cannot be written: {error}", path.display());
            Problem::new(message).help(cure(error))
        };
        for (path, contents) in &self.copies {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(folder))
                .and_then(|()| fs::write(&path, contents))
                .map_err(|error| unwritten(&path, &error))?;
        }
        atomic_file::save(&folder.join(EXPERIMENT), |file| {
            file.write_all(&serde_json::to_vec_pretty(&self)?)
        })
    }

    /// Reads that of a folder.
    ///
    /// # Errors
    /// There is none, or one that cannot be repeated.
    pub fn read(folder: &Path) -> Result<Self, Problem> {
        let path = folder.join(EXPERIMENT);
        let wrong = |why: String| Problem::new(format!("{}: {why}", path.display()));
        let text = fs::read(&path).map_err(|error| {
            let help = "name a folder that `whimbrel sim --record` or `whimbrel explore -o` made";
            wrong(error.to_string()).help(help)
        })?;
        let read: Self = serde_json::from_slice(&text).map_err(|error| {
            wrong(format!("is not an experiment: {error}"))
                .help("restore the file, or record the run again")
        })?;
        match read.why_not {
            _ if !read.files.iter().all(|(key, _)| is_below(Path::new(key))) => {
                Err(wrong("names files outside of its folder".into())
                    .help("use only folders whose origin you know"))
            }
            _ if read.version != VERSION => {
                let message =
                    format!("is of format {}, and this command knows {VERSION}", read.version);
                Err(wrong(message).help(format!("install Whimbrel {}", read.whimbrel)))
            }
            Some(why) => Err(wrong(format!("cannot be repeated: {why}"))
                .help("repeat it by hand, with the options in its summary.json")),
            None => Ok(read),
        }
    }

    /// Copies the inputs into a new folder, and gives the options.
    ///
    /// # Errors
    /// An input is gone, or the options are of another version.
    pub fn unpack<A: DeserializeOwned>(&self, from: &Path, to: &Path) -> Result<A, Problem> {
        let (from_inputs, inputs) = (from.join(INPUTS), to.join(INPUTS));
        let copied = copy(&from_inputs, &inputs).and_then(|()| {
            let folders = self.files.iter().map(|(key, _)| inputs.join("files").join(key));
            folders.into_iter().try_for_each(fs::create_dir_all)
        });
        copied.map_err(|error| {
            let message = format!("{} cannot be copied: {error}", from_inputs.display());
            Problem::new(message).help(cure(&error))
        })?;
        serde_json::from_value(self.options.clone()).map_err(|error| {
            let message = format!("{}: {error}", from.join(EXPERIMENT).display());
            Problem::new(message).help(format!("install Whimbrel {}", self.whimbrel))
        })
    }

    /// A simulation's options once more, with everything in a new folder.
    ///
    /// # Errors
    /// As [`Experiment::unpack`].
    pub fn sim_args(&self, from: &Path, to: &Path) -> Result<SimArgs, Problem> {
        let mut args: SimArgs = self.unpack(from, to)?;
        let layout = &mut args.common.layout;
        let platform = args.platform.get_or_insert_with(|| PLATFORM.into());
        self.place(&mut layout.app, platform, &mut layout.set, to);
        layout.moving.table.iter_mut().for_each(|table| *table = placed(table, to));
        args.common.record = Some(to.join("run"));
        utf8(to)?;
        Ok(args)
    }

    /// Has options name what is in a new folder.
    pub fn place(
        &self,
        files: &mut [PathBuf],
        platform: &mut String,
        set: &mut [Setting],
        to: &Path,
    ) {
        files.iter_mut().for_each(|file| *file = placed(file, to));
        let text = |path: &str| placed(Path::new(path), to).to_string_lossy().into_owned();
        *platform = text(platform);
        for setting in
            set.iter_mut().filter(|set| self.files.iter().any(|(key, _)| *key == set.key))
        {
            setting.value = text(&setting.value);
        }
    }

    /// Where a parameter's file is in a folder to which [`Experiment::unpack`] has copied.
    pub fn file_in(&self, folder: &Path, key: &str) -> Option<PathBuf> {
        let (_, text) = self.files.iter().find(|(known, _)| known == key)?;
        Some(folder.join(INPUTS).join("files").join(key).join(Path::new(text).file_name()?))
    }
}

/// Where a file is in a new folder. A stranger's experiment may name any path.
fn placed(path: &Path, to: &Path) -> PathBuf {
    to.join(if is_below(path) { path } else { Path::new(INPUTS) })
}

/// Whether a path leads nowhere but down.
fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// Copies the files of a folder, and of those in it. Links are not followed.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &to)?;
        } else if kind.is_file() {
            io::copy(&mut File::open(entry.path())?, &mut File::create(to)?)?;
        }
    }
    Ok(())
}
