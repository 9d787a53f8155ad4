#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds crates that are compiled more than once because the features asked for differ.

Cargo compiles a crate again for each set of features. Those of a crate depend on which packages a
command of cargo names, so the manifests ask for features, and for crates that they do not use, that
make the sets alike. Prints every crate of others whose sets are not, and exits with 1 if there is
any.
"""

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

CRATES = Path(__file__).resolve().parent.parent / "crates"
BUILT, TESTED = ("whimbrel", "whimbrel-engine"), ("whimbrel", "whimbrel-run", "whimbrel-calibrate")
FOREIGN = "aarch64-unknown-linux-gnu"


def words(option: str, packages: tuple[str, ...]) -> list[str]:
    return [word for package in packages for word in (option, package)]


# What `make build` and `make test` have compiled into one folder, but for the readers of libFuzzer.
COMMANDS = {
    "make build": ["--edges", "no-dev", *words("--package", BUILT)],
    "make demo": ["--edges", "no-dev", "--package", "whimbrel", "--no-default-features"],
    "make test-rust": words("--package", TESTED),
    "make test-crates": ["--workspace", *words("--exclude", TESTED)],
    "make test-aarch64": ["--edges", "no-dev", "--package", "whimbrel-engine", "--target", FOREIGN],
}

LINE = re.compile(r"(\d+) (\S+ v\S+)( \(proc-macro\))?( \(/.*?\))? ?(\S*)")

# By crate, and whether it is compiled for macros: its features, and who asks for them.
Found = dict[tuple[str, bool], dict[str, list[str]]]


def features(tree: str) -> set[tuple[str, bool, str]]:
    """The crates of others in a tree of `cargo tree --prefix depth`, and their features."""
    found, macro_depth = set(), sys.maxsize
    for depth, crate, macro, own, asked in map(parts, filter(None, tree.splitlines())):
        if depth <= macro_depth:
            macro_depth = depth if macro else sys.maxsize
        if not own:
            found.add((crate, depth >= macro_depth, asked))
    return found


def parts(line: str) -> tuple[int, str, bool, bool, str]:
    matched = LINE.match(line)
    if matched is None:
        raise ValueError(f"`cargo tree` says what is not understood: {line}")
    depth, crate, macro, own, asked = matched.groups()
    return int(depth), crate, bool(macro), bool(own), asked.replace("(*)", "")


def compiled_again(trees: Mapping[str, str]) -> Found:
    """What is compiled with several sets of features by these commands."""
    found: Found = {}
    for command, tree in trees.items():
        for crate, is_macro, asked in sorted(features(tree)):
            # For another processor all but the macros are compiled anyway.
            if is_macro or FOREIGN not in COMMANDS[command]:
                found.setdefault((crate, is_macro), {}).setdefault(asked, []).append(command)
    return {crate: sets for crate, sets in found.items() if len(sets) > 1}


def tree_of(options: list[str], crates: Path) -> str:
    command = ["cargo", "tree", "--locked", "--prefix=depth", "--format= {p} {f}"]
    return subprocess.check_output([*command, *options], cwd=crates, text=True)


def compiled_again_in(crates: Path) -> Found:
    return compiled_again({name: tree_of(options, crates) for name, options in COMMANDS.items()})


def main() -> int:
    found = compiled_again_in(CRATES)
    for (crate, is_macro), sets in found.items():
        print(f"{crate}{' of macros' if is_macro else ''} is compiled {len(sets)} times:")
        for asked, commands in sets.items():
            print(f"  {asked or 'without features'}: {', '.join(commands)}")
    if found:
        print("help: add the features that are missing to crates/Cargo.toml, or to a manifest")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
