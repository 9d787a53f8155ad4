// SPDX-License-Identifier: Apache-2.0
//! `whimbrel new`: a small application in a folder of its own, from the files in `new`.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use miette::Severity;
use whimbrel_model::{Problem, Source, is_name};
use whimbrel_run::board;
use whimbrel_run::failure::{Answer, Failure, Outcome, show};
use whimbrel_run::helpers;
use whimbrel_run::load::usable_cpus;
use whimbrel_run::output::print;

use crate::cli::{Language, NewArgs};
use crate::doctor::find_program;

/// A file of an application: its name and its text, with `@NAME@`, `@WHIMBREL@`, `@ROOT@` and
/// `@BOARD@` for what is not known before.
type File = (&'static str, &'static str);

/// What an application in one language is made of, besides [`COMMON`].
struct Template {
    files: &'static [File],
    /// The variable of make that names its compiler, and make's default.
    compiler: (&'static str, &'static str),
    /// The packages of Debian that build it.
    packages: &'static str,
    /// Whether images of boards can contain it.
    on_boards: bool,
}

impl Template {
    /// Its files with placeholders replaced.
    fn filled(&self, values: &[(&str, &str)]) -> Vec<(&'static str, String)> {
        let fill = |text: &str| {
            values.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
        };
        COMMON.iter().chain(self.files).map(|(name, text)| (*name, fill(text))).collect()
    }
}

/// The files that are the same in every language.
const COMMON: &[File] = &[
    ("app.toml", include_str!("new/common/app.toml")),
    ("test.sh", include_str!("new/common/test.sh")),
    (".gitignore", include_str!("new/common/gitignore")),
];

const C: Template = Template {
    files: &[
        ("tasks.c", include_str!("new/c/tasks.c")),
        ("Makefile", include_str!("new/c/Makefile")),
        ("README.md", include_str!("new/c/README.md")),
        (".clangd", include_str!("new/c/clangd")),
    ],
    compiler: ("CC", "cc"),
    packages: "gcc make",
    on_boards: true,
};

const CPP: Template = Template {
    files: &[
        ("tasks.cc", include_str!("new/cpp/tasks.cc")),
        ("Makefile", include_str!("new/cpp/Makefile")),
        ("README.md", include_str!("new/cpp/README.md")),
        (".clangd", include_str!("new/cpp/clangd")),
    ],
    compiler: ("CXX", "g++"),
    packages: "g++ make",
    on_boards: false,
};

const RUST: Template = Template {
    files: &[
        ("Cargo.toml", include_str!("new/rust/Cargo.toml")),
        ("src/lib.rs", include_str!("new/rust/lib.rs")),
        ("Makefile", include_str!("new/rust/Makefile")),
        ("README.md", include_str!("new/rust/README.md")),
    ],
    compiler: ("CARGO", "cargo"),
    packages: "cargo make",
    on_boards: false,
};

const fn template(language: Language) -> &'static Template {
    match language {
        Language::C => &C,
        Language::Cpp => &CPP,
        Language::Rust => &RUST,
    }
}

/// The board of an application that names none.
const BOARD: &str = "vexpress_a9";

/// The task of every template that moves, and how.
const MOVING: &str = "--shuttle filter=1,0@200ms";

/// Words of C, C++ and Rust, and names of Rust's own crates: a function or a crate cannot be called
/// so.
const RESERVED: &str = "\
    Self abstract alignas alignof alloc and and_eq as asm async auto await become bitand bitor \
    bool box break case catch char class co_await co_return co_yield compl concept const \
    const_cast consteval constexpr constinit continue core crate decltype default delete do \
    double dyn dynamic_cast else enum explicit export extern false final float fn for friend \
    gen goto if impl in inline int let long loop macro main match mod move mut mutable \
    namespace new noexcept not not_eq nullptr operator or or_eq override priv private \
    proc_macro protected pub ref register reinterpret_cast requires restrict return self short \
    signed sizeof static static_assert static_cast std struct super switch template test this \
    thread_local throw trait true try type typedef typeid typename typeof union unsafe \
    unsigned unsized use using virtual void volatile wchar_t where while xor xor_eq yield";

/// Makes an application, or says where the rules are that its Makefile includes.
///
/// # Errors
/// A name or a board is wrong, the folder exists, or it cannot be written; nothing is left of it
/// then.
pub fn new(args: &NewArgs) -> Outcome {
    let root = helpers::root()?;
    let Some(folder) = args.folder.as_deref().filter(|_| !args.module_mk) else {
        print(&format!("{}\n", root.join("apps/module.mk").display()))?;
        return Ok(Answer::Yes);
    };
    let template = template(args.language);
    let name = name(folder)?;
    let board = board_of(args, template)?;
    let whimbrel = own_command()?;
    for place in [&root, &whimbrel] {
        check_place(place)?;
    }
    let shown_root = root.display().to_string();
    let whimbrel = whimbrel.display().to_string();
    let values =
        [("@NAME@", name), ("@WHIMBREL@", &whimbrel), ("@ROOT@", &shown_root), ("@BOARD@", &board)];
    let files = template.filled(&values);
    make(folder, &files)?;

    warn_of_missing(template);
    let word = quoted(folder);
    print(&format!(
        "{word} is made. Build it, run it while a task moves, and test it:\n  \
         make -C {word}\n  \
         {whimbrel} run {word} {MOVING}{}\n  \
         make -C {word} test\n",
        on_one_processor(),
    ))?;
    Ok(Answer::Yes)
}

/// The application's name.
///
/// # Errors
/// It is none that app.toml takes, or a word of a language.
fn name(folder: &Path) -> Result<&str, Problem> {
    let shown = Path::new(folder.file_name().unwrap_or(folder.as_os_str())).display().to_string();
    let name = folder.file_name().and_then(OsStr::to_str);
    let name = name.filter(|name| is_name(name) && name.starts_with(char::is_alphabetic));
    let Some(name) = name else {
        return Err(Problem::new(format!("invalid name `{shown}` for an application")).help(
            "write a letter, then letters, digits and _, at most 31 characters, for example radio",
        ));
    };
    if RESERVED.split(' ').any(|word| word == name) {
        let message = format!("invalid name `{name}` for an application: it is a reserved word");
        let help = format!("write another name, for example my_{name}");
        return Err(Problem::new(message).help(help));
    }
    Ok(name)
}

/// The board that the README names, as sh takes it from any folder.
///
/// # Errors
/// It does not exist, or cannot run what is made.
fn board_of(args: &NewArgs, template: &Template) -> Result<String, Failure> {
    let Some(wanted) = args.board.as_deref() else { return Ok(BOARD.to_owned()) };
    if !template.on_boards {
        let message = "--board does not support this language: images of boards are built from C";
        return Err(Problem::new(message).help("leave out --board, or use --lang c").into());
    }
    board::read(wanted, "--board")?;
    let path = board::is_path(wanted).then(|| std::path::absolute(wanted).ok()).flatten();
    Ok(path.map_or_else(|| wanted.to_owned(), |path| quoted(&path)))
}

/// How this command is called: `whimbrel` where the shell finds this one, otherwise its path.
///
/// # Errors
/// The place of this command is not known.
fn own_command() -> Result<PathBuf, Problem> {
    let here = env::current_exe().and_then(|exe| exe.canonicalize()).map_err(|error| {
        Problem::new(format!("the place of this command is not known: {error}"))
            .help("mount /proc, and try again")
    })?;
    let found = find_program("whimbrel", &env::var_os("PATH").unwrap_or_default());
    let is_found = found.and_then(|path| path.canonicalize().ok()).as_deref() == Some(&here);
    Ok(if is_found { PathBuf::from("whimbrel") } else { here })
}

/// Whether make, sh and YAML take a path as it is.
fn is_plain(path: &Path) -> bool {
    let allowed = |c: char| c.is_alphanumeric() || "/._-+@,=~".contains(c);
    path.to_str().is_some_and(|path| path.chars().all(allowed))
}

/// # Errors
/// A Makefile cannot contain this path of Whimbrel.
fn check_place(path: &Path) -> Result<(), Problem> {
    if is_plain(path) {
        return Ok(());
    }
    let message = format!("a Makefile cannot contain the path {} of Whimbrel", path.display());
    Err(Problem::new(message).help(
        "move or install Whimbrel to a path of letters, digits and /._-+@,=~, without spaces",
    ))
}

/// A path as sh takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if is_plain(path) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// The folder that contains it.
fn above(folder: &Path) -> &Path {
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
    above.unwrap_or(Path::new("."))
}

/// Makes the folder with its files, or nothing.
///
/// # Errors
/// It exists, or cannot be written.
fn make(folder: &Path, files: &[(&str, String)]) -> Result<(), Problem> {
    let shown = folder.display();
    fs::create_dir(folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Problem::new(format!("{shown} exists already"))
            .help("write another name: the folder must be a new one"),
        io::ErrorKind::NotFound if !above(folder).is_dir() => {
            Problem::new(format!("the folder {} does not exist", above(folder).display()))
                .help(format!("make it first: mkdir -p {}", quoted(above(folder))))
        }
        _ => Problem::new(format!("the folder {shown} cannot be made: {error}"))
            .help("name a place that you may write to"),
    })?;
    let written = files.iter().try_for_each(|(name, text)| {
        let path = folder.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    });
    written.map_err(|error| {
        // It is this command's own: nothing was there before.
        let _ = fs::remove_dir_all(folder);
        Problem::new(format!("the files of {shown} cannot be written: {error}"))
            .help("name a place with room that you may write to")
    })
}

/// Warns if what was made cannot be built here.
fn warn_of_missing(template: &Template) {
    let (variable, default) = template.compiler;
    let compiler = env::var(variable).unwrap_or_default();
    let compiler = compiler.split_whitespace().next().unwrap_or(default);
    let path = env::var_os("PATH").unwrap_or_default();
    let missing: Vec<&str> = ["make", compiler]
        .into_iter()
        .filter(|program| find_program(program, &path).is_none())
        .collect();
    if !missing.is_empty() {
        let message = format!("the application cannot be built: not found: {}", missing.join(", "));
        let help =
            format!("install what is missing, for example: apt install {}", template.packages);
        let warning = Problem { severity: Severity::Warning, ..Problem::new(message).help(help) };
        show(&Source::new("", "").report(warning));
    }
}

/// The option by which two kernels share the only processor.
fn on_one_processor() -> String {
    match usable_cpus().as_deref() {
        Ok([only]) => format!(" --cores {only},{only}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn a_name_is_one_for_app_toml_c_and_rust() {
        for good in ["radio", "Radio_2", "a/b/radio", "radio/", "/r", &"x".repeat(31)] {
            assert!(name(Path::new(good)).is_ok(), "{good}");
        }
        let long = "x".repeat(32);
        for bad in ["", ".", "..", "a/..", "/", "2radio", "_", "my radio", "rädio", "int", &long] {
            assert!(name(Path::new(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_template_has_what_a_project_has_and_no_placeholder_that_stays() {
        let values = ["@NAME@", "@WHIMBREL@", "@ROOT@", "@BOARD@"].map(|from| (from, "x"));
        for language in Language::value_variants() {
            let files = template(*language).filled(&values);
            for wanted in ["app.toml", "Makefile", "test.sh", "README.md", ".gitignore"] {
                assert!(files.iter().any(|(name, _)| *name == wanted), "{wanted}");
            }
            for (name, text) in files {
                let mut after = text.split('@').skip(1);
                assert!(!after.any(|text| text.starts_with(char::is_uppercase)), "{name}");
            }
        }
    }

    #[test]
    fn a_path_that_sh_would_split_is_quoted() {
        assert_eq!(quoted(Path::new("a/radio")), "a/radio");
        assert_eq!(quoted(Path::new("it's/radio")), r"'it'\''s/radio'");
    }
}
