# SPDX-License-Identifier: Apache-2.0
"""`make install` and `make uninstall`: what is installed runs, wherever it lies."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = "share/whimbrel/manifest"
APP = """\
[app]
name = "mine"
module = "mine.so"

[[task]]
name = "bird"
period_us = 5000
restart = true

[[task]]
name = "watcher"
restart = true

[[channel]]
from = "bird.out"
to = "watcher.in"
slot_bytes = 4
"""
MAKEFILE = """\
NAME := mine
SOURCES := hello watcher
STANDARD := gnu11
include $(shell pkg-config --variable=module_mk whimbrel)
"""
CLIENT = """\
#include <stdio.h>
#include <wb/status.h>
#include <whimbrel_client.h>

int main(void)
{
    return puts(wb_status_text(WB_OK)) < 0;
}
"""
PROJECT = """\
cmake_minimum_required(VERSION 3.20)
project(mine C)
find_package(whimbrel 0.2 REQUIRED)
add_library(mine MODULE hello.c watcher.c)
set_target_properties(mine PROPERTIES PREFIX "")
target_link_libraries(mine PRIVATE whimbrel::module)
add_executable(client client.c)
target_link_libraries(client PRIVATE whimbrel::client)
"""


def environment(**more: str | Path) -> dict[str, str]:
    """That of another terminal, not of the `make` that runs these tests."""
    without = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "BUILT", "BUILD", "WHIMBREL_LIBEXEC")
    kept = {name: value for name, value in os.environ.items() if name not in without}
    return kept | {name: str(value) for name, value in more.items()}


def ended(*words: str | Path, cwd: Path = ROOT, **more: str | Path) -> str:
    """What a command prints, which succeeds."""
    run = subprocess.run(
        words, cwd=cwd, env=environment(**more), capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def script(verb: str, prefix: Path) -> subprocess.CompletedProcess[str]:
    """What `make VERB` calls, without the time that make takes to read the project's rules."""
    words = [ROOT / "tools/install/install.sh", verb, prefix]
    return subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)


def install(prefix: Path) -> None:
    done = script("install", prefix)
    assert done.returncode == 0, done.stdout + done.stderr


def files(folder: Path) -> dict[str, int]:
    """Each file and folder below one, and when it was changed."""
    return {str(path.relative_to(folder)): path.lstat().st_mtime_ns for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed tree, in a folder with spaces."""
    place = tmp_path_factory.mktemp("a folder")
    said = ended("make", "install", f"DESTDIR={place}")
    assert said.startswith(f"Whimbrel is installed: {place}/usr/local/bin/whimbrel")
    return place / "usr/local"


@pytest.fixture
def whimbrel(prefix: Path, tmp_path: Path) -> Path:
    """The installed command, through a link."""
    link = tmp_path / "whimbrel"
    link.symlink_to(prefix / "bin/whimbrel")
    return link


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """An application outside of the tree."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("hello.c", "watcher.c"):
        shutil.copy(ROOT / "apps/hello" / name, folder)
    (folder / "app.toml").write_text(APP)
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "client.c").write_text(CLIENT)
    return folder


def moves(whimbrel: Path, app: Path, *options: str) -> list[dict[str, Any]]:
    words = [whimbrel, "run", app, "--cores", "0,0", "--quiet", "--json", "--move", "bird=1@100ms"]
    return json.loads(ended(*words, *options, cwd=app.parent))["migrations"]


def test_the_installed_command_finds_all_that_it_needs(prefix: Path, whimbrel: Path) -> None:
    before = files(prefix)
    hello = prefix / "share/whimbrel/apps/hello/app.toml"
    assert [one["status"] for one in moves(whimbrel, hello)] == ["ok"]
    simulated = json.loads(ended(whimbrel, "sim", hello, "--platform", "smp2", "--json"))
    assert simulated["app"]["name"] == "hello"
    (found,) = [
        one
        for one in json.loads(ended(whimbrel, "doctor", "--json"))
        if one["what"] == "whimbrel-linux"
    ]
    assert found["found"] == str(prefix / "libexec/whimbrel/whimbrel-linux")
    rows = json.loads(ended(whimbrel, "bench", "switch", "--quick", "--json"))
    assert rows[0]["bench"] == "switch"
    assert files(prefix) == before


def test_two_versions_use_their_own_parts(prefix: Path) -> None:
    other = prefix.with_name("other")
    shutil.copytree(prefix, other, copy_function=os.link)
    (other / "share/whimbrel/platforms/smp2.toml").rename(
        other / "share/whimbrel/platforms/only_here.toml"
    )
    hello = prefix / "share/whimbrel/apps/hello/app.toml"
    words = ["sim", hello, "--duration", "10ms", "--platform"]
    ended(other / "bin/whimbrel", *words, "only_here")
    ended(prefix / "bin/whimbrel", *words, "smp2")
    failed = subprocess.run(
        [prefix / "bin/whimbrel", *words, "only_here"], capture_output=True, check=False
    )
    assert failed.returncode == 2


def test_an_application_outside_of_the_tree_is_built_by_module_mk(
    prefix: Path, whimbrel: Path, mine: Path, tmp_path: Path
) -> None:
    # Names with spaces are beyond make.
    (tmp_path / "prefix").symlink_to(prefix)
    ended("make", "-j2", cwd=mine, PKG_CONFIG_PATH=tmp_path / "prefix/lib/pkgconfig")
    assert (mine / "mine.so").is_file()
    app = mine / "app.toml"
    assert [one["status"] for one in moves(whimbrel, app)] == ["ok"]
    assert [one["status"] for one in moves(whimbrel, app, "--mode", "recreate")] == ["ok"]


CRATE = """\
[package]
name = "mine"
version = "0.1.0"
edition = "2024"

[lib]
crate-type = ["cdylib"]

[dependencies]
whimbrel-task = { path = "@TASK@" }

[profile.release]
panic = "abort"
"""
TASKS = """\
#![no_std]
#![forbid(unsafe_code)]
use whimbrel_task::{Error, Input, Output, Task, tasks};

tasks!(bird, watcher);

fn bird(task: &mut Task) -> Result<(), Error> {
    let mut out = Output::<u32>::new(task, c"out");
    (0..20).try_for_each(|n| out.send(&n, None))
}

fn watcher(task: &mut Task) {
    let mut birds = Input::<u32>::new(task, c"in");
    let mut sum = 0;
    while let Ok(n) = birds.receive(None) {
        sum += n;
    }
    assert_eq!(sum, 190);
}
"""


def test_an_application_in_rust_is_built_with_the_installed_crate(
    prefix: Path, whimbrel: Path, mine: Path
) -> None:
    crate = prefix / "share/whimbrel/crates/task"
    assert "workspace" not in (crate / "Cargo.toml").read_text()
    (mine / "Cargo.toml").write_text(CRATE.replace("@TASK@", str(crate)))
    (mine / "src").mkdir()
    (mine / "src/lib.rs").write_text(TASKS)
    ended("cargo", "build", "--offline", "--release", "--target-dir", "build", cwd=mine)
    shutil.copy(mine / "build/release/libmine.so", mine / "mine.so")
    assert "20 frames" in ended(whimbrel, "sim", mine / "app.toml")


def test_pkg_config_has_what_a_compiler_is_told(prefix: Path, whimbrel: Path, mine: Path) -> None:
    tell = 'eval "cc $1 $(pkg-config --cflags --libs $2)"'
    of = {"cwd": mine, "PKG_CONFIG_PATH": prefix / "lib/pkgconfig"}
    options = "-D_GNU_SOURCE -fPIC -shared -Wl,-z,now -o mine.so hello.c watcher.c"
    ended("sh", "-c", tell, "-", options, "whimbrel", **of)
    assert [one["status"] for one in moves(whimbrel, mine / "app.toml")] == ["ok"]
    ended("sh", "-c", tell, "-", "-o client client.c", "whimbrel-client", **of)
    assert ended(mine / "client") == "done\n"
    version = ended(whimbrel, "--version").split()[1]
    assert ended("pkg-config", "--modversion", "whimbrel", **of).strip() == version


@pytest.mark.skipif(not shutil.which("cmake"), reason="cmake is missing")
def test_cmake_finds_the_package(prefix: Path, whimbrel: Path, mine: Path) -> None:
    (mine / "CMakeLists.txt").write_text(PROJECT)
    ended("cmake", "-S", mine, "-B", mine, f"-DCMAKE_PREFIX_PATH={prefix}")
    ended("cmake", "--build", mine)
    assert [one["status"] for one in moves(whimbrel, mine / "app.toml")] == ["ok"]
    assert ended(mine / "client") == "done\n"


def test_a_program_in_rust_names_the_folder_of_the_client(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    client = prefix / "share/whimbrel/clients/rust"
    (tmp_path / "Cargo.toml").write_text(
        '[package]\nname = "scope"\nversion = "0.1.0"\nedition = "2024"\n\n'
        f'[dependencies]\nwhimbrel-client = {{ path = "{client}" }}\n'
    )
    (tmp_path / "src/main.rs").write_text(
        'use whimbrel_client::Client;\n\nfn main() {\n    println!("{}", size_of::<Client>());\n}\n'
    )
    ended("cargo", "check", "--quiet", "--offline", cwd=tmp_path)
    assert not (client / "target").exists()


def test_each_verb_has_a_page_and_the_shell_completes_it(prefix: Path) -> None:
    pages = {path.name for path in (prefix / "share/man/man1").iterdir()}
    assert {"whimbrel.1", "whimbrel-run.1", "whimbrel-occupy-status.1"} <= pages
    script = prefix / "share/bash-completion/completions/whimbrel"
    ask = f"source '{script}'; completed() {{ COMP_WORDS=($@); COMP_CWORD=$(($# - 1)); "
    ask += f"_whimbrel '{prefix}/bin/whimbrel' ${{@: -1}}; echo ${{COMPREPLY[@]}}; }}; "
    ask += "completed whimbrel mig; completed whimbrel sim --platform mps"
    assert ended("bash", "-c", ask) == "migrate\nmpsoc3\n"


def test_another_version_is_replaced_and_taken_away_without_a_trace(tmp_path: Path) -> None:
    prefix = tmp_path / "with spaces"
    own = prefix / "share/man/man1/another.1"
    own.parent.mkdir(parents=True)
    own.write_text("of another program")
    before = set(files(prefix))

    install(prefix)
    # A file that only an older version had, and a marker of that version.
    old = prefix / "share/whimbrel/apps/old/old.c"
    old.parent.mkdir()
    old.write_text("")
    manifest = prefix / MANIFEST
    lines = "share/whimbrel/apps/old/old.c\nshare/whimbrel/apps/old/\n"
    manifest.write_text(lines + manifest.read_text())
    (prefix / "lib/pkgconfig/whimbrel.pc").write_text("Version: 0.0.1\n")
    install(prefix)
    assert not old.parent.exists()
    assert "0.0.1" not in (prefix / "lib/pkgconfig/whimbrel.pc").read_text()
    assert "apps/old" not in manifest.read_text()

    done = script("uninstall", prefix)
    assert done.returncode == 0, done.stderr
    assert set(files(prefix)) == before
    again = script("uninstall", prefix)
    assert again.returncode != 0
    assert "there is no Whimbrel below" in again.stderr


def test_a_prefix_that_was_made_goes_with_what_is_in_it(tmp_path: Path) -> None:
    prefix = tmp_path / "made"
    for verb in ("install", "install", "uninstall"):
        done = script(verb, prefix)
        assert done.returncode == 0, done.stderr
        assert prefix.exists() == (verb == "install")


def test_a_folder_that_cannot_be_written_is_refused_with_a_cure() -> None:
    done = script("install", Path("/proc/nowhere/usr"))
    assert done.returncode != 0
    assert "error: /proc/nowhere/usr cannot be made" in done.stderr
    assert "make install PREFIX=$HOME/.local" in done.stderr
