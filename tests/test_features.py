# SPDX-License-Identifier: Apache-2.0
"""A feature that only some commands of `make` ask for is found: its crate is compiled again."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tools"))

from rust_features import compiled_again, compiled_again_in  # noqa: E402

MACROS = (
    "0 ours v1.0.0 (/here) \n1 derive v1.0.0 (proc-macro) \n2 syn v3.0.0 {}\n1 plain v2.0.0 {}\n"
)


def test_of_two_sets_of_features_both_are_found() -> None:
    found = compiled_again(
        {"make build": MACROS.format("full", "std"), "make demo": MACROS.format("", "std")}
    )
    assert found == {("syn v3.0.0", True): {"full": ["make build"], "": ["make demo"]}}


def test_of_another_processor_only_the_macros_count() -> None:
    found = compiled_again(
        {"make build": MACROS.format("full", "std"), "make test-aarch64": MACROS.format("", "")}
    )
    assert list(found) == [("syn v3.0.0", True)]


@pytest.mark.parametrize(
    ("asked", "without", "crate"),
    [
        ('["derive", "unstable-ext", "wrap_help"]', '["derive", "wrap_help"]', "clap"),
        ('["extra-traits", "full", "visit-mut"]', '["full"]', "syn"),
    ],
)
def test_a_manifest_that_asks_for_less_is_found(
    tmp_path: Path, asked: str, without: str, crate: str
) -> None:
    for folder in ("crates", "clients/rust", "tools"):  # tools: crates/.cargo names a program of it
        shutil.copytree(ROOT / folder, tmp_path / folder)
    file = tmp_path / "crates/Cargo.toml"
    text = file.read_text()
    assert asked in text
    file.write_text(text.replace(asked, without))
    found = compiled_again_in(tmp_path / "crates")
    assert crate in {name.split()[0] for name, _ in found}
