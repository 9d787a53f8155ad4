// SPDX-License-Identifier: Apache-2.0
//! Manual pages, and completions for shells: `make install` has the command write them. And the
//! reference of the command line, docs/cli.md: `make keys` has the command write that.

use std::env;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Arg, Command, CommandFactory};

use crate::cli::Cli;

/// The options that ask for them. They are not of the command line that people use, and each stands
/// alone, with the prefix or the file to write.
const OPTION: &str = "--write-pages";
const REFERENCE: &str = "--write-reference";
/// The scripts of shells, each with the place below a prefix where its shell looks for it.
const SCRIPTS: [(&str, &str); 3] = [
    ("share/bash-completion/completions/whimbrel", include_str!("complete/whimbrel.bash")),
    ("share/fish/vendor_completions.d/whimbrel.fish", include_str!("complete/whimbrel.fish")),
    ("share/zsh/site-functions/_whimbrel", include_str!("complete/whimbrel.zsh")),
];

/// Writes what the arguments of this process ask for, if they do.
pub fn called() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    let option = arguments.next()?;
    let path = PathBuf::from(arguments.next()?);
    let written = if option == OPTION {
        write(&path)
    } else if option == REFERENCE {
        fs::write(&path, reference())
    } else {
        return None;
    };
    Some(match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::from(2)
        }
    })
}

fn write(prefix: &Path) -> io::Result<()> {
    let manual = prefix.join("share/man/man1");
    fs::create_dir_all(&manual)?;
    clap_mangen::generate_to(Cli::command(), &manual)?;
    for (place, script) in SCRIPTS {
        let file = prefix.join(place);
        file.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(file, script)?;
    }
    Ok(())
}

/// The head of docs/cli.md.
const HEAD: &str = "\
# The command line

This page lists every verb and option of the command `whimbrel`. `whimbrel VERB --help` prints the
same. `make keys` writes this page from the declarations by which the command reads its arguments.

";

/// The reference of the command line in Markdown, for a page in docs/.
fn reference() -> String {
    let mut command = Cli::command();
    command.build();
    let mut page = String::from(HEAD);
    add_text(&mut page, &command);
    page += "| verb | what it does |\n|---|---|\n";
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let (name, about) = (verb.get_name(), verb.get_about().unwrap_or_default());
        let _ = writeln!(page, "| [{name}](#whimbrel-{name}) | {} |", prose(&about.to_string()));
    }
    add_end(&mut page, &command);
    add_verbs(&mut page, &command, "##");
    page
}

/// A section for each verb, and below it for each of its own verbs.
fn add_verbs(page: &mut String, of: &Command, level: &str) {
    for verb in of.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let _ = write!(page, "\n{level} {}\n\n", verb.get_bin_name().unwrap_or_default());
        add_text(page, verb);
        let usage = verb.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage:").lines().map(str::trim).collect::<Vec<_>>();
        let _ = writeln!(page, "```\n{}\n```", usage.join("\n"));

        let mut headings: Vec<&str> = vec!["Arguments", "Options"];
        headings.extend(verb.get_arguments().filter_map(Arg::get_help_heading));
        let mut done: Vec<&str> = Vec::new();
        for heading in headings {
            if done.contains(&heading) {
                continue;
            }
            done.push(heading);
            let items: String = verb
                .get_arguments()
                .filter(|arg| heading_of(arg) == heading && arg.get_id() != "help")
                .map(item)
                .collect();
            if !items.is_empty() {
                let _ = write!(page, "\n**{heading}**\n\n{items}");
            }
        }
        add_end(page, verb);
        add_verbs(page, verb, "###");
    }
}

fn heading_of(arg: &Arg) -> &str {
    let own = if arg.is_positional() { "Arguments" } else { "Options" };
    arg.get_help_heading().unwrap_or(own)
}

/// What a verb does, in paragraphs.
fn add_text(page: &mut String, of: &Command) {
    let about = of.get_long_about().or(of.get_about()).unwrap_or_default().to_string();
    let _ = write!(page, "{}\n\n", sentence(about.trim()));
}

/// What its help ends with, such as examples.
fn add_end(page: &mut String, of: &Command) {
    let end = of.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    for (heading, lines) in end.split("\n\n").filter_map(|part| part.split_once(":\n")) {
        let lines: Vec<_> =
            lines.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
        let _ = write!(page, "\n**{heading}**\n\n```\n{}\n```\n", lines.join("\n"));
    }
}

/// One argument as an item of a list.
fn item(arg: &Arg) -> String {
    let mut text = String::from("- ");
    if let Some(short) = arg.get_short() {
        let _ = write!(text, "`-{short}`, ");
    }
    let _ = write!(text, "`{arg}`:");
    let help = arg.get_long_help().or(arg.get_help()).unwrap_or_default().to_string();
    for paragraph in help.split("\n\n") {
        let _ = write!(text, " {}", sentence(paragraph));
    }
    let takes = arg.get_action().takes_values();
    let values: Vec<_> = arg.get_possible_values().into_iter().filter(|_| takes).collect();
    if !values.is_empty() && !arg.is_hide_possible_values_set() {
        let each = values.iter().map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        });
        let _ = write!(text, " Values: {}.", each.collect::<Vec<_>>().join(", "));
    }
    let shown = takes && !arg.is_hide_default_value_set();
    for default in arg.get_default_values().iter().filter(|_| shown) {
        let _ = write!(text, " Default: `{}`.", default.to_string_lossy());
    }
    for alias in arg.get_visible_aliases().unwrap_or_default() {
        let _ = write!(text, " Alias: `--{alias}`.");
    }
    text + "\n"
}

/// The same with a full stop: clap takes it from a help of one line.
fn sentence(text: &str) -> String {
    let end = if text.ends_with(['.', ':']) { "" } else { "." };
    format!("{}{end}", prose(text))
}

/// A text of the help as Markdown, with links to the documents that it names.
fn prose(text: &str) -> String {
    let text = text.replace('<', "\\<");
    let mut parts = text.split("docs/");
    let mut done = String::from(parts.next().unwrap_or_default());
    for part in parts {
        let (name, rest) = part.split_once(".md").unwrap_or((part, ""));
        let _ = write!(done, "[docs/{name}.md]({name}.md){rest}");
    }
    done
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
        for (file, _) in SCRIPTS {
            let text = fs::read_to_string(folder.path().join(file)).unwrap();
            assert!(text.contains(crate::complete::OPTION), "{file}");
        }
    }
}
