#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds circles of modules in Rust crates.

A module uses another when one of its paths leads there: `use crate::a::b`, `super::c`, also in
groups; what stands under #[cfg(test)] does not count, nor does the root of the crate, which
everything is below. A module and those below it may use each other, and these may not be a circle
without it. Prints every other circle, and exits with 1 if there is any.
"""

import argparse
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from circles import circles

Name = tuple[str, ...]

TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|::|[{},;*()\[\]#!=<>&|.+\-/%^?:@$~]|\d+")
SKIPPED = re.compile(
    r"""
      //[^\n]*
    | /\*.*?\*/
    | b?r(?P<hashes>\#*)".*?"(?P=hashes)
    | b?"(?:\\.|[^"\\])*"
    | b?'(?:\\[^']+|[^\\'])'
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass
class Module:
    """One module: what it declares, what it re-exports, and the paths that it uses."""

    name: Name
    children: set[str] = field(default_factory=set)
    aliases: dict[str, Name] = field(default_factory=dict)
    paths: set[Name] = field(default_factory=set)


def tokens(text: str) -> list[str]:
    """The words and signs of a source without comments, strings and characters."""
    return TOKEN.findall(SKIPPED.sub(" ", text))


def closing(words: list[str], at: int) -> int:
    """Where the bracket that opens at `at` is closed."""
    depth = 0
    for place in range(at, len(words)):
        depth += (words[place] in "([{") - (words[place] in ")]}")
        if depth == 0:
            return place
    return len(words) - 1


def without_tests(words: list[str]) -> list[str]:
    """What is left without the items under #[cfg(test)]."""
    kept, at = [], 0
    mark = ["#", "[", "cfg", "(", "test", ")", "]"]
    while at < len(words):
        if words[at : at + len(mark)] != mark:
            kept.append(words[at])
            at += 1
            continue
        at += len(mark)
        while at < len(words) and words[at] not in ("{", ";"):
            at = closing(words, at) + 1 if words[at] in ("(", "[") else at + 1
        if at < len(words) and words[at] == "{":
            at = closing(words, at)
        at += 1
    return kept


def tree(words: list[str], at: int, prefix: Name = ()) -> tuple[list[tuple[Name, str]], int]:
    """The paths of a `use` tree that starts at `at`, each with the name that it gets."""
    found: list[tuple[Name, str]] = []
    path = prefix
    while at < len(words):
        word = words[at]
        if word == "{":
            at += 1
            while at < len(words) and words[at] not in ("}", ";"):
                inner, at = tree(words, at, path)
                found += inner
                at += at < len(words) and words[at] == ","
            return found, at + 1
        if word in (",", "}", ";"):
            break
        if word == "as":
            return [*found, (path, words[at + 1])], at + 2
        if word == "*":
            return [*found, (path, "*")], at + 1
        if word != "::":
            path = (*path, word) if word != "self" or not path else path
        at += 1
    return [*found, (path, path[-1] if path else "")], at


def read(words: list[str], module: Module, modules: dict[Name, Module]) -> list[str]:
    """Notes what a module's words declare and use; returns the names of its files."""
    files, at = [], 0
    while at < len(words):
        word, after = words[at], words[at + 2 : at + 3]
        if word == "mod" and after == [";"]:
            module.children.add(words[at + 1])
            files.append(words[at + 1])
            at += 3
        elif word == "mod" and after == ["{"]:
            end = closing(words, at + 2)
            child = Module((*module.name, words[at + 1]))
            module.children.add(words[at + 1])
            modules[child.name] = child
            read(words[at + 3 : end], child, modules)
            at = end + 1
        elif word == "use" and words[at + 1 : at + 2] != ["<"]:
            named, at = tree(words, at + 1)
            for path, name in named:
                module.paths.add(path)
                if name not in ("*", "_"):
                    module.aliases[name] = path
        elif re.match(r"[A-Za-z_]", word) and words[at + 1 : at + 2] == ["::"]:
            path = (word,)
            while words[at + 1 : at + 2] == ["::"] and re.match(
                r"\w", "".join(words[at + 2 : at + 3])
            ):
                path = (*path, words[at + 2])
                at += 2
            module.paths.add(path)
            at += 1
        else:
            at += 1
    return files


def load(root: Path) -> dict[Name, Module]:
    """Every module below a crate's root file."""
    modules: dict[Name, Module] = {}
    waiting = [((), root)]
    while waiting:
        name, path = waiting.pop()
        module = modules.setdefault(name, Module(name))
        files = read(without_tests(tokens(path.read_text())), module, modules)
        folder = path.parent if path == root or path.name == "mod.rs" else path.with_suffix("")
        for child in files:
            flat, deep = folder / f"{child}.rs", folder / child / "mod.rs"
            waiting += [((*name, child), file) for file in (flat, deep) if file.exists()]
    return modules


def resolve(path: Name, module: Module, modules: dict[Name, Module], depth: int = 0) -> Name | None:
    """The module that a path leads to, or None when it leaves the crate."""
    here = module.name
    first, rest = path[0], path[1:]
    if first == "crate":
        here = ()
    elif first == "self":
        pass
    elif first == "super":
        here = here[:-1]
        while rest and rest[0] == "super":
            here, rest = here[:-1], rest[1:]
    elif first in module.children:
        rest = path
    elif first in module.aliases and module.aliases[first] != path and depth < 8:
        return resolve((*module.aliases[first], *rest), module, modules, depth + 1)
    else:
        return None
    while rest and (*here, rest[0]) in modules:
        here, rest = (*here, rest[0]), rest[1:]
    target = modules[here]
    if rest and not here and module.name and rest[0] in target.aliases and depth < 8:
        # A re-export of the root: what is used is where it comes from.
        return resolve((*target.aliases[rest[0]], *rest[1:]), target, modules, depth + 1) or here
    return here


def uses(modules: dict[Name, Module]) -> dict[Name, set[Name]]:
    """Which modules each one uses."""
    found: dict[Name, set[Name]] = {}
    for name, module in modules.items():
        if not name:
            continue
        targets = {resolve(path, module, modules) for path in module.paths if path}
        found[name] = {target for target in targets if target} - {name}
    return found


def wrong(edges: dict[Name, set[Name]]) -> list[set[Name]]:
    """The circles that are left when those of a module with modules below it are without it."""
    found: list[set[Name]] = []
    for circle in circles(edges):
        top = min(circle, key=len)
        if all(name[: len(top)] == top for name in circle):
            below = circle - {top}
            found += wrong({name: edges[name] & below for name in below})
        else:
            found.append(circle)
    return found


def shown(name: Name) -> str:
    return "::".join(name)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("crates", nargs="*", type=Path, help="folders of crates [all]")
    options = parser.parse_args()
    found = 0
    for crate in options.crates or [*sorted(Path("crates").iterdir()), Path("clients/rust")]:
        for root in (crate / "src/lib.rs", crate / "src/main.rs"):
            if not root.exists():
                continue
            for circle in wrong(uses(load(root))):
                found += 1
                names = ", ".join(sorted(map(shown, circle)))
                print(f"{root}: a circle of {len(circle)} modules: {names}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
