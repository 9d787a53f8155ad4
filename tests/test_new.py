# SPDX-License-Identifier: Apache-2.0
"""What `whimbrel new` makes is built, run, moved, simulated and tested, wherever Whimbrel is."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from running import WHIMBREL, move_enough
from test_install import ended, environment, files, install

CPU = min(os.sched_getaffinity(0))
MOVING = ("--cores", f"{CPU},{CPU}", "--shuttle", "filter=1,0@100ms", "--json")
# What a folder has besides the files of all languages, when it was built.
OWN = {
    "c": {".clangd", "tasks.c"},
    "c++": {".clangd", "tasks.cc"},
    "rust": {"Cargo.lock", "Cargo.toml", "src/"},
}
RESULT = "200 samples, none lost, sum 4639"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed tree that pkg-config does not know of."""
    prefix = tmp_path_factory.mktemp("installed") / "usr"
    install(prefix)
    return prefix


def make(folder: Path, *words: str, **more: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *words],
        cwd=folder,
        env=environment(**more),
        capture_output=True,
        text=True,
        check=False,
    )


def passes(folder: Path, **more: str | Path) -> None:
    """Its own test; again where the machine had no time for a move."""
    for _ in range(5):
        done = make(folder, "test", **more)
        if done.returncode == 0:
            assert "ok: whimbrel sim\nok: whimbrel run\n" in done.stdout
            return
        assert "comes after move" not in done.stderr, done.stderr
    raise AssertionError(done.stdout + done.stderr)


@pytest.mark.parametrize("language", OWN)
@pytest.mark.parametrize("place", ["on PATH", "by its path", "source tree"])
def test_what_is_made_is_built_run_moved_simulated_and_tested(
    prefix: Path, tmp_path: Path, language: str, place: str
) -> None:
    before = files(prefix)
    command: str | Path = prefix / "bin/whimbrel" if place == "by its path" else WHIMBREL
    path = os.environ["PATH"]
    if place == "on PATH":
        command, path = "whimbrel", f"{prefix / 'bin'}:{path}"
    here = tmp_path / "my work"
    here.mkdir()
    # A program is looked for in the PATH of this process, not in that of the new one.
    start = ["env", command]
    ended(*start, "new", "radio", "--lang", language, cwd=here, PATH=path)
    app = here / "radio"
    if language == "rust":
        (used,) = re.findall(r'path = "(.*?)"', (app / "Cargo.toml").read_text())
        assert (Path(used) / "src/lib.rs").is_file()
    else:
        (used,) = re.findall(r'"-I(.*?)"', (app / ".clangd").read_text())
        assert (Path(used) / "wb/wb.hpp").is_file()
    if place != "source tree":
        assert Path(used).is_relative_to(prefix)
    assert (f"\nWHIMBREL ?= {command}\n") in (app / "Makefile").read_text()

    ended("make", "-C", "radio", "-j2", cwd=here, PATH=path)
    assert (app / "radio.so").is_file()

    def run() -> dict:
        return json.loads(ended(*start, "run", "radio", *MOVING, cwd=here, PATH=path))

    def counted() -> dict:
        summary = run()
        assert [one["received"] for one in summary["channels"]] == [200, 200]
        return summary

    move_enough(counted, 1, "filter")
    simulated = [*start, "sim", "radio", "--shuttle", "filter=1,0@200ms", "--json"]
    summary = json.loads(ended(*simulated, cwd=here, PATH=path))
    # At the time of the fifth the filter may be over.
    assert [one["status"] for one in summary["migrations"]][:4] == ["ok"] * 4
    passes(app, PATH=path)
    if shutil.which("git"):
        ended("git", "init", "--quiet", cwd=app)
        seen = ended("git", "status", "--porcelain", cwd=app)
        wanted = {".gitignore", "Makefile", "README.md", "app.toml", "test.sh"}
        assert {line[3:] for line in seen.splitlines()} == wanted | OWN[language]
    assert files(prefix) == before


def new(language: str, place: Path) -> Path:
    """An application of the source tree's command."""
    ended(WHIMBREL, "new", "radio", "--lang", language, cwd=place)
    return place / "radio"


@pytest.fixture(params=OWN)
def app(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return new(request.param, tmp_path)


@pytest.fixture(params=["c", "c++"])
def app_in_c(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """One that module.mk builds."""
    return new(request.param, tmp_path)


# How a filter sends, and what comes before it for a sample to be lost.
SEND = {
    ".c": ("if (wb_port_send(out, &sample", "if (sample.number == {})\n            continue;"),
    ".cc": ("if (out.send(one)", "if (one.number == {})\n            continue;"),
    ".rs": ("out.send(&sample,", "if sample.number == {} {{\n            continue;\n        }}"),
}


@pytest.mark.parametrize("number", [0, 100, 199])
def test_the_test_fails_if_a_sample_is_lost(app: Path, number: int) -> None:
    (tasks,) = [*app.glob("tasks.*"), *app.glob("src/lib.rs")]
    send, lost = SEND[tasks.suffix]
    text = tasks.read_text()
    assert text.count(send) >= 1
    before, found, after = text.rpartition(send)
    tasks.write_text(before + lost.format(number) + "\n        " + found + after)
    done = make(app, "test")
    assert done.returncode != 0
    said = "199 samples, none lost" if number == 199 else "a sample is missing"
    assert said in done.stderr and "FAILED: whimbrel sim" in done.stderr, done.stderr


def test_the_test_fails_if_nothing_moves(app: Path) -> None:
    manifest = app / "app.toml"
    text = manifest.read_text().replace(
        'name = "filter"\n', 'name = "filter"\nmigratable = false\n'
    )
    manifest.write_text(text)
    done = make(app, "test")
    assert done.returncode != 0
    assert "FAILED: whimbrel sim" in done.stderr


COMPILERS = [("gcc", "g++"), ("clang", "clang++"), ("clang-14", "clang++-14")]


@pytest.mark.parametrize("compilers", COMPILERS, ids=lambda names: names[0])
def test_each_compiler_takes_it_without_a_warning(
    app_in_c: Path, compilers: tuple[str, str]
) -> None:
    if not all(map(shutil.which, compilers)):
        pytest.skip(f"{compilers[0]} is missing")
    cc, cxx = compilers
    done = make(app_in_c, f"CC={cc}", f"CXX={cxx}", "EXTRA=-Wall -Wextra -Werror")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_without_a_compiler_make_names_it_and_what_to_install(
    app_in_c: Path, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "make", "echo", "find", "realpath"):
        (tools / name).symlink_to(shutil.which(name) or "/nowhere")
    done = make(app_in_c, PATH=tools)
    assert done.returncode != 0
    missing = "cc g++" if (app_in_c / "tasks.cc").exists() else "cc"
    assert f"the compiler {missing} is not found: install gcc" in done.stderr
    # What needs none works.
    assert make(app_in_c, "sources", PATH=tools).stdout.endswith(f"{app_in_c}/tasks.c\n")


def test_without_cargo_make_says_what_to_install(tmp_path: Path) -> None:
    done = make(new("rust", tmp_path), "CARGO=/nowhere/cargo")
    assert done.returncode != 0
    assert "/nowhere/cargo is not found: install Rust 1.85 or newer" in done.stderr


def test_without_whimbrel_make_says_how_to_name_it(app_in_c: Path) -> None:
    done = make(app_in_c, "WHIMBREL=/nowhere/whimbrel")
    assert done.returncode != 0
    assert "/nowhere/whimbrel is not found: install Whimbrel, or name its command" in done.stderr


def test_a_module_that_was_not_built_is_named_with_the_make_that_builds_it(app: Path) -> None:
    failed = subprocess.run(
        [WHIMBREL, "sim", app], env=environment(), capture_output=True, text=True, check=False
    )
    assert failed.returncode == 2
    assert f"help: build it with `make -C {app}`" in failed.stderr
