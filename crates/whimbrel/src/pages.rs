// SPDX-License-Identifier: Apache-2.0
//! Manual pages, and completions for shells: `make install` has the command write them.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;

/// The option that asks for them. It is not of the command line that people use, and stands alone.
const OPTION: &str = "--write-pages";
/// The shells, each with the place below a prefix where its completions belong.
const SHELLS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions"),
    (Shell::Fish, "share/fish/vendor_completions.d"),
    (Shell::Zsh, "share/zsh/site-functions"),
];

/// Writes them below a prefix, if the arguments of this process are `--write-pages PREFIX`.
pub fn called() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    let asked = arguments.next().is_some_and(|first| first == OPTION);
    let prefix = PathBuf::from(arguments.next().filter(|_| asked)?);
    Some(match write(&prefix) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{OPTION} {}: {error}", prefix.display());
            ExitCode::from(2)
        }
    })
}

fn write(prefix: &Path) -> io::Result<()> {
    let manual = prefix.join("share/man/man1");
    fs::create_dir_all(&manual)?;
    clap_mangen::generate_to(Cli::command(), &manual)?;
    for (shell, place) in SHELLS {
        let place = prefix.join(place);
        fs::create_dir_all(&place)?;
        let file = clap_complete::generate_to(shell, &mut Cli::command(), "whimbrel", &place)?;
        if shell == Shell::Bash {
            // bash-completion looks for a file of the command's own name.
            fs::rename(file, place.join("whimbrel"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_has_a_page_and_each_shell_its_completions() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        for verb in Cli::command().get_subcommands() {
            let page = format!("share/man/man1/whimbrel-{}.1", verb.get_name());
            let page = fs::read_to_string(folder.path().join(page)).unwrap();
            // A hyphen is escaped in roff.
            let name = format!("whimbrel-{}", verb.get_name()).replace('-', "\\-");
            assert!(page.contains(&name), "{page}");
        }
        for file in [
            "bash-completion/completions/whimbrel",
            "fish/vendor_completions.d/whimbrel.fish",
            "zsh/site-functions/_whimbrel",
        ] {
            let text = fs::read_to_string(folder.path().join("share").join(file)).unwrap();
            assert!(text.contains("migrate"), "{file}");
            assert!(!text.contains(OPTION), "{file}");
        }
    }
}
