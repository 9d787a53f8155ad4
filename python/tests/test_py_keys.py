# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas by which editors complete files say what the command takes."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]


def files(head: str) -> list[Path]:
    """Every file of the project with such a table."""
    listed = subprocess.run(["git", "ls-files", "*.toml"], cwd=ROOT, capture_output=True, text=True)
    every = [ROOT / name for name in listed.stdout.splitlines()]
    templates = ROOT / "crates/whimbrel/src/new"
    every = [path for path in every if not path.is_relative_to(templates)]
    every = [path for path in every if path.name != "published.toml"]
    return [path for path in every if head in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("of", "head", "least"),
    [("app", "[app]", 15), ("board", "[board]", 2), ("platform", "[platform]", 9)],
)
def test_every_file_of_the_project_fits_its_schema(
    command: Any, of: str, head: str, least: int
) -> None:
    schema = json.loads(command("schema", of))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    found = files(head)
    assert len(found) >= least
    for path in found:
        wrong = [error.message for error in validator.iter_errors(tomllib.loads(path.read_text()))]
        assert wrong == [], path


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"prioritty": 4}, "prioritty"),
        ({"priority": 32}, "maximum of 31"),
        ({"stack": "32kb"}, "32kb"),
        ({"mode": "copy"}, "copy"),
        ({"name": None}, "None"),
        ({"spread": 0}, "0"),
        ({"cores": [1]}, "[1] is too short"),
        ({"script": [{"lock": 5}]}, "'lock': 5"),
        ({"script": [{"loop": 2, "do": [{"run": 1, "name": "a"}]}]}, "'name': 'a'"),
    ],
)
def test_a_wrong_key_or_value_is_wrong_by_the_schema(
    command: Any, wrong: dict[str, Any], said: str
) -> None:
    schema = json.loads(command("schema", "app"))
    file = {"app": {"name": "a"}, "task": [{"name": "b", **wrong}]}
    (error,) = jsonschema.Draft7Validator(schema).iter_errors(file)
    assert said in error.message
