# SPDX-License-Identifier: Apache-2.0
"""Tasks in Rust by the crate whimbrel-task: they move, what they do wrong ends them, and what the
crate declares is what wb/wb.h does."""

import json
import os
import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from documents import ROOT
from running import WHIMBREL

HERE = ROOT / "tests/rust"
SYS = ROOT / "crates/task/src/sys.rs"
HEADERS = [ROOT / "middleware/include/wb" / name for name in ("wb.h", "status.h")]
CPU = min(os.sched_getaffinity(0))
RUN = ["run", "--cores", f"{CPU},{CPU}"]
SIM = ["sim", "--platform", "smp2"]
APP = (HERE / "app.toml").read_text()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the module."""
    folder = tmp_path_factory.mktemp("rust")
    command = ["cargo", "build", "--quiet", "--offline", "--release", "--target-dir", folder]
    subprocess.run([*command, "--manifest-path", HERE / "Cargo.toml"], check=True)
    (folder / "release/libtasks.so").rename(folder / "tasks.so")
    return folder


def run(place: Path, app: str, words: list[str], *options: str) -> subprocess.CompletedProcess[str]:
    (place / "app.toml").write_text(app)
    command = [str(WHIMBREL), words[0], str(place / "app.toml"), *words[1:], *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


# ---- What is promised ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["handoff", "replicate"])
@pytest.mark.parametrize("words", [RUN, SIM], ids=["linux", "simulator"])
def test_no_message_is_lost_and_no_lock_kept_wherever_the_task_has_moved(
    place: Path, words: list[str], mode: str
) -> None:
    ended = run(place, APP, words, "--json", "--mode", mode)
    assert ended.returncode == 0, ended.stderr
    assert "receiver: 80 of both, 40 moves" in ended.stderr + ended.stdout
    summary = json.loads(ended.stdout[ended.stdout.index("{") :])
    assert [task["migrations"] for task in summary["tasks"]] == [3 * 40, 40]
    samples, blocks = summary["channels"]
    assert (samples["sent"], samples["received"]) == (120, 120)
    assert (blocks["sent"], blocks["received"]) == (40, 40)


@pytest.mark.parametrize("words", [RUN, SIM], ids=["linux", "simulator"])
def test_a_panic_ends_its_task_alone_and_the_run_fails_once_the_others_are_over(
    place: Path, words: list[str]
) -> None:
    ended = run(place, (HERE / "panic.toml").read_text(), words)
    told = ended.stdout + ended.stderr
    why = r"panicked at tasks\.rs:\d+:\d+: index out of bounds: the len is 10 but the index is 42"
    assert ended.returncode == 2, told
    assert re.search(rf"^task faulty {why}$", told, re.MULTILINE), told
    assert re.search(rf"`faulty` ended with an error: {why}", told), told
    assert "steady goes on" in told, told


KILLED = """\
[app]
name = "killed"
module = "tasks.so"

[[task]]
name = "counter"
entry = "{0}"
{1}

[[task]]
name = "reader"
core = 1

[[channel]]
from = "counter.out"
to = "reader.in"
slot_bytes = 4
"""


@pytest.mark.parametrize(
    ("entry", "key", "twice"),
    [("restarts", "restart = true", 1), ("resumes", "checkpoint_every = 5", 0)],
)
def test_a_task_goes_on_with_what_it_has_kept_when_its_kernel_is_killed(
    place: Path, entry: str, key: str, twice: int
) -> None:
    ended = run(place, KILLED.format(entry, key), RUN, "--restart")
    assert ended.returncode == 0, ended.stderr
    assert f"100 numbers, {twice} of them twice" in ended.stderr + ended.stdout


def alone(entry: str) -> str:
    """The sender as another task."""
    return APP.replace('name = "sender"', f'name = "sender"\nentry = "{entry}"')


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("refuser", "`sender` ended the run: the antenna is unplugged"),
        ("stranger", "slot_bytes = 2"),
        ("twice", 'panicked at tasks.rs:\\d+:\\d+: port "out" is in use already'),
    ],
)
def test_what_a_task_does_wrong_is_told_with_its_name(place: Path, entry: str, why: str) -> None:
    ended = run(place, alone(entry).replace("= 24", "= 4"), SIM)
    assert ended.returncode == 2
    assert re.search(why, ended.stderr), ended.stderr


def test_a_module_with_std_is_refused_for_its_thread_local_variables(place: Path) -> None:
    source = '#[unsafe(no_mangle)]\npub extern "C" fn sender() -> i32 {\n    0\n}\n'
    command = ["rustc", "--edition", "2024", "--crate-type", "cdylib", "-O", "-C", "panic=abort"]
    module = ["-C", "lto=fat", "-o", str(place / "std.so"), "-"]
    subprocess.run([*command, *module], input=source, text=True, check=True)
    for words in (RUN, SIM):
        ended = run(place, APP.replace("tasks.so", "std.so"), words)
        assert ended.returncode == 2
        assert "it has thread-local variables" in ended.stderr, ended.stderr


# ---- What is declared ---------------------------------------------------------------------------

NUMBERS = {
    "uint32_t": "u32",
    "uint64_t": "u64",
    "size_t": "usize",
    "double": "f64",
    "bool": "bool",
    "int": "c_int",
    "enum wb_status": "c_int",
    "void": "c_void",
    "char": "c_char",
}


def rust_type(c: str) -> str:
    """A type of C as Rust has it: `const struct wb_port *` is `*const wb_port`."""
    pointers = c.count("*")
    constant = "const" in c
    base = re.sub(r"\s+", " ", re.sub(r"\bconst\b|\*", "", c)).strip()
    named = NUMBERS.get(base, base.removeprefix("struct "))
    if pointers == 0:
        return named
    return "*mut " * (pointers - 1) + ("*const " if constant else "*mut ") + named


def text_of(headers: list[Path]) -> str:
    """The headers without comments and attributes."""
    text = re.sub(r"//[^\n]*", "", "\n".join(path.read_text() for path in headers))
    return re.sub(r"\bWB_MUST_USE ", "", text)


def prototype(name: str, text: str) -> tuple[list[str], str]:
    """The types of a function's arguments and of what it returns, as Rust has them."""
    (found,) = re.findall(rf"^(\w[\w ]*?[ *]+)\b{name}\(([^)]*)\);", text, re.MULTILINE)
    returned = found[0].strip()
    arguments = [] if found[1].strip() == "void" else found[1].split(",")
    types = [rust_type(re.sub(r"\w+\s*$", "", argument)) for argument in arguments]
    if returned.startswith("WB_NORETURN"):
        return types, "!"
    kind = rust_type(returned)
    return types, "" if kind == "c_void" else kind


DECLARED = re.findall(
    r"^    pub fn (wb_\w+)\(([^)]*)\)(?:\s*-> ([^;]+))?;$", SYS.read_text(), re.MULTILINE
)


def test_a_function_in_rust_has_the_arguments_of_its_header() -> None:
    text = text_of(HEADERS)
    assert len(DECLARED) == SYS.read_text().count("pub fn wb_") > 40
    for name, arguments, returned in DECLARED:
        types = [one.split(":")[1].strip() for one in arguments.split(",") if one.strip()]
        assert (types, returned) == prototype(name, text), name


def test_a_status_in_rust_has_the_number_of_its_header() -> None:
    in_c = re.findall(r"^    (WB_\w+) = (-?\d+),", HEADERS[1].read_text(), re.MULTILINE)
    in_rust = re.findall(r"^pub const (WB_\w+): c_int = (-?\d+);", SYS.read_text(), re.MULTILINE)
    assert len(in_c) == 13 and in_rust == in_c


def test_a_struct_in_rust_is_laid_out_as_in_its_header(tmp_path: Path) -> None:
    sizes = re.findall(r"assert!\(size_of::<(wb_\w+)>\(\) == (\d+)\)", SYS.read_text())
    members = []
    for name, inside in re.findall(r"^pub struct (\w+) \{\n(.*?)^\}", SYS.read_text(), re.M | re.S):
        names = re.findall(r"pub (\w+):", inside)
        members += [
            f"offsetof(struct {name}, {a}) < offsetof(struct {name}, {b})"
            for a, b in pairwise(names)
        ]
    claims = [*(f"sizeof(struct {name}) == {size}" for name, size in sizes), *members]
    claims += ["sizeof(wb_kernel_need_resched) == 4", "WB_FOREVER == UINT64_MAX"]
    assert len(sizes) == 4 and len(members) == 4
    source = tmp_path / "layout.c"
    asserts = "\n".join(f'_Static_assert({claim}, "{claim}");' for claim in claims)
    source.write_text(f'#include "wb/wb.h"\n{asserts}\n')
    include = f"-I{ROOT}/middleware/include"
    subprocess.run(["gcc", "-std=c11", include, "-fsyntax-only", source], check=True)
