// SPDX-License-Identifier: Apache-2.0
//! Builds the image of a board: the application's sources, its plan as C, and the board's own code,
//! by CMake.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::fs::{FlockOperation, flock};
use whimbrel_model::{App, Board, Problem, Source};

use crate::failure::Failure;
use crate::helpers;

/// The program's name in CMake; its file is NAME.elf of the application.
const TARGET: &str = "image";
/// How much of what a compiler says is shown.
const LINES_SHOWN: usize = 12;

/// What an image is made of.
#[derive(Debug)]
pub struct Parts<'a> {
    /// The application.
    pub app: &'a App,
    /// Its file.
    pub source: &'a Source,
    /// The folder of the file.
    pub folder: &'a Path,
    /// Its plan as C.
    pub tables: &'a str,
    /// Whether the board is a guest of a run on this machine.
    pub is_guest: bool,
}

/// What an application's Makefile says of its sources.
#[derive(Debug)]
struct Sources {
    options: String,
    files: Vec<PathBuf>,
}

/// Builds an image, and copies it to `to`: another run may build the next one meanwhile.
///
/// # Errors
/// The board has no way to build one, a tool or a source is missing, or a compiler refuses.
pub fn build(
    board: (&Board, &Path),
    parts: &Parts<'_>,
    to: &Path,
    say: impl Fn(&str),
) -> Result<(), Failure> {
    let (Board { name, cmake, settings: own, .. }, here) = board;
    let Some(cmake) = cmake else {
        let problem = Problem::new(format!("the board {name} does not say how images are built"));
        let help = "name one with --image, or the folder of a CMakeLists.txt with `cmake`";
        return Err(problem.help(help).into());
    };
    let sources = sources(parts)?;
    let of_guest = if parts.is_guest { ".guest" } else { "" };
    let folder = name.replace(':', "_") + of_guest;
    let folder = helpers::images()?.join(folder);
    say(&format!("building the image of {} in {}", parts.app.name, folder.display()));
    let unwritable = |error: io::Error| {
        Problem::new(format!("the folder {} cannot be written: {error}", folder.display()))
            .help("build the image elsewhere, and name it with --image: see docs/run-on-a-board.md")
    };
    let lock = fs::create_dir_all(&folder).and_then(|()| File::create(folder.join("lock")));
    let lock = lock.map_err(unwritable)?;
    flock(&lock, FlockOperation::LockExclusive).map_err(|error| unwritable(error.into()))?;
    let tables = folder.join("plan.c");
    write_if_changed(&tables, parts.tables).map_err(unwritable)?;

    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(here.join(cmake)).arg("-B").arg(&folder);
    configure.args(settings(&parts.app.name, &tables, &sources));
    configure.args(own.iter().map(|setting| format!("-D{setting}")));
    configure.args(parts.is_guest.then_some("-DWHIMBREL_GUEST=ON"));
    run(&mut configure, parts, &folder)?;
    let mut build = Command::new("cmake");
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    build.arg("--build").arg(&folder).args(["--target", TARGET, "--parallel", &jobs.to_string()]);
    run(&mut build, parts, &folder)?;
    fs::copy(folder.join(format!("{}.elf", parts.app.name)), to).map_err(unwritable)?;
    Ok(())
}

/// What CMake is told of the application.
fn settings(name: &str, tables: &Path, sources: &Sources) -> Vec<String> {
    let files: Vec<String> = sources.files.iter().map(|file| file.display().to_string()).collect();
    vec![
        "-DCMAKE_BUILD_TYPE=RelWithDebInfo".into(),
        format!("-DWHIMBREL_APP_NAME={name}"),
        format!("-DWHIMBREL_APP_TABLES={}", tables.display()),
        format!("-DWHIMBREL_APP_SOURCES={}", files.join(";")),
        format!("-DWHIMBREL_APP_OPTIONS={}", sources.options),
    ]
}

/// A file that has not changed keeps its time, and what is made of it stays.
fn write_if_changed(path: &Path, text: &str) -> io::Result<()> {
    match fs::read(path) {
        Ok(old) if old == text.as_bytes() => Ok(()),
        _ => fs::write(path, text),
    }
}

/// Asks the application's Makefile; that of tasks which exist only as TOML is ours.
fn sources(parts: &Parts<'_>) -> Result<Sources, Failure> {
    let folder = if parts.app.synthetic {
        helpers::root()?.join("apps/synthetic")
    } else {
        parts.folder.to_owned()
    };
    let unknown = |why: &str| {
        let message = format!("the sources of `{}` are not known: {why}", parts.app.name);
        let problem = Problem::new(message).at(parts.app.module.span(), "of this module");
        Failure::Reports(vec![parts.source.report(problem.help(
            "include apps/module.mk, which has the target `sources`, in the Makefile next to \
             app.toml; or name an image with --image: see docs/run-on-a-board.md",
        ))])
    };
    if !folder.join("Makefile").is_file() {
        return Err(unknown(&format!("there is no {}", folder.join("Makefile").display())));
    }
    let asked = Command::new("make")
        .args(["--silent", "--no-print-directory", "-C"])
        .arg(&folder)
        .arg("sources")
        .env_remove("MAKEFLAGS")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| unknown(&format!("make cannot be started: {error}")))?;
    if !asked.status.success() {
        return Err(unknown(text(&asked.stderr).lines().last().unwrap_or("make fails")));
    }
    let said = text(&asked.stdout);
    let (options, files) = said.split_once('\n').unwrap_or((&said, ""));
    let files = files.lines().map(|file| folder.join(file)).collect();
    Ok(Sources { options: options.to_owned(), files })
}

fn run(command: &mut Command, parts: &Parts<'_>, folder: &Path) -> Result<(), Failure> {
    // A jobserver that this command inherits is not there for its children.
    let ended = command.env_remove("MAKEFLAGS").stdin(Stdio::null()).output();
    let Output { status, stdout, stderr } = ended.map_err(|error| {
        Problem::new(format!("cmake cannot be started: {error}"))
            .help("install it with `make setup`, or name an image with --image")
    })?;
    if status.success() {
        return Ok(());
    }
    let said = text(&stderr) + &text(&stdout);
    if is_of_another_place(&said) {
        let problem = Problem::new(format!("the build in {} was made elsewhere", folder.display()))
            .help(format!("delete {}: the folder has been copied or moved", folder.display()));
        return Err(problem.into());
    }
    Err(refused(&said, parts))
}

/// CMake keeps where its folders are: a copy of them cannot be built again.
fn is_of_another_place(said: &str) -> bool {
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    said.contains("where CMakeCache.txt was created")
        || said.contains("does not match the source") && said.contains("used to generate cache")
}

/// One error for what the tools said. A function that is missing is shown where it is asked for.
fn refused(said: &str, parts: &Parts<'_>) -> Failure {
    let undefined = |line: &str| {
        let words = ["required symbol `", "undefined reference to `"];
        let (_, rest) = words.iter().find_map(|words| line.split_once(words))?;
        let symbol = rest.split_once('\'')?.0;
        parts.app.tasks.iter().find(|task| task.entry.get_ref() == symbol)
    };
    if let Some(task) = said.lines().find_map(undefined) {
        let entry = task.entry.get_ref();
        let elsewhere = if parts.is_guest { ", or keep the task on this machine" } else { "" };
        let problem = Problem::new(format!("the application has no function `{entry}`"))
            .at(task.entry.span(), "the entry of this task")
            .help(format!(
                "define `int {entry}(struct wb_task *self)` without `static` in a source that the \
                 Makefile names for boards, or change `entry`{elsewhere}"
            ));
        return Failure::Reports(vec![parts.source.report(problem)]);
    }
    let name = &parts.app.name;
    Problem::new(format!("the image of `{name}` cannot be built:\n{}", telling(said)))
        .help("see docs/run-on-a-board.md: the words are those of the tools that build it")
        .into()
}

/// What a compiler, a linker or CMake complains of, without what a build says of itself.
fn telling(said: &str) -> String {
    let complains = |line: &&str| {
        [
            "error:",
            "undefined reference",
            "required symbol",
            "multiple definition",
            "overflowed",
            "CMake Error",
        ]
        .iter()
        .any(|words| line.contains(words))
            && !line.starts_with("collect2:")
    };
    let mut lines: Vec<&str> = said.lines().filter(complains).collect();
    lines.dedup();
    if lines.is_empty() {
        lines = said.lines().filter(|line| !line.trim().is_empty()).collect();
        lines.drain(..lines.len().saturating_sub(LINES_SHOWN));
    } else if lines.iter().any(|line| line.starts_with("CMake Error")) {
        // What it is about is in the paragraph below.
        lines = said.lines().skip_while(|line| !line.starts_with("CMake Error")).collect();
    }
    lines.truncate(LINES_SHOWN);
    lines.join("\n")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{is_of_another_place, telling};

    #[test]
    fn a_build_that_was_copied_is_known_by_the_words_of_cmake() {
        let said = "CMake Error: The current CMakeCache.txt directory /b/CMakeCache.txt is \
                    different than the directory /a where\nCMakeCache.txt was created.";
        assert!(is_of_another_place(said));
        assert!(!is_of_another_place("CMake Error at CMakeLists.txt:3 (message): no FreeRTOS"));
    }

    #[test]
    fn of_a_build_that_fails_only_the_complaints_are_told() {
        let said = "[ 2%] Building C object a.obj\n\
                    a.c:63: undefined reference to `pread'\n\
                    a.c:63: undefined reference to `pread'\n\
                    collect2: error: ld returned 1 exit status\n\
                    gmake: *** [Makefile:164: image] Error 2\n";
        assert_eq!(telling(said), "a.c:63: undefined reference to `pread'");
        let said = "CMake Error at CMakeLists.txt:44 (message):\n  it is missing\n";
        assert_eq!(telling(said), said.trim_end());
        assert_eq!(telling("gmake: *** No rule\n\n"), "gmake: *** No rule");
    }
}
