# SPDX-License-Identifier: Apache-2.0
"""Identifiers use the field's terms: a word that a term has replaced does not come back.

Those of C, of the models of its protocols, and those that decisions name.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from documents import ROOT

FOLDERS = ("boards", "clients", "kernels", "launcher", "middleware")
# A word of identifiers, and the term for what it meant.
TERMS = {
    "attention": "need_resched",
    "bell": "notify (of a channel) or doorbell (between cores)",
    "bells": "notify",
    "bringer": "attach_ops",
    "census": "death_report",
    "complain": "report_error",
    "debt": "overhead",
    "desk": "server",
    "ears": "irq_save, irq_restore",
    "gate": "wait_queue",
    "gates": "wait_queues",
    "granule": "page",
    "granules": "pages",
    "greet": "accept_hello",
    "guess": "estimator",
    "heir": "successor",
    "lives": "incarnation",
    "lonely": "orphaned",
    "mirror": "private_mapping",
    "misfit": "validate, invalid",
    "nudge": "reevaluate",
    "nudged": "must_reevaluate",
    "objection": "validate",
    "outside": "supervisor",
    "pulse": "heartbeat",
    "seat": "participant",
    "seats": "participants",
    "stolen": "irq_time",
    "stuck": "deadlock",
    "trial": "fault",
    "trials": "fault_injection",
    "trouble": "start_error",
    "unback": "unmap",
    "wish": "request",
}
# Words of the models only: C has other things of these names.
TERMS_OF_MODELS = TERMS | {
    "cursor": "claimed",
    "echo": "resend_skip",
    "edge": "committed",
    "note": "pending, pending bit",
}
# Words of other things, and names of tests, which are sentences.
APART = {"is_killed_from_outside", "lives_on"}
PLAIN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|TEST\(\w+\)', re.DOTALL
)


def listed(*patterns: str) -> list[Path]:
    command = ["git", "ls-files", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.split() if "third_party" not in name]


def replaced(path: Path, text: str, terms: dict[str, str]) -> list[str]:
    """The identifiers of a text that have a word that a term has replaced."""
    wrong = []
    for name in sorted(set(re.findall(r"\b[A-Za-z_]\w*\b", text)) - APART):
        old = terms.keys() & set(name.lower().split("_"))
        wrong += [f"{path.relative_to(ROOT)}: {name}: write {terms[word]}" for word in old]
    return wrong


def test_no_identifier_has_a_word_that_a_term_has_replaced() -> None:
    paths = listed(*(f"{folder}/*.[chS]" for folder in FOLDERS))
    texts = ((path, PLAIN.sub(" ", path.read_text(encoding="utf-8"))) for path in paths)
    assert paths
    assert [line for path, text in texts for line in replaced(path, text, TERMS)] == []


def test_no_identifier_of_a_model_has_such_a_word() -> None:
    paths = listed("middleware/model/*.pml")
    texts = ((path, PLAIN.sub(" ", path.read_text(encoding="utf-8"))) for path in paths)
    assert paths
    assert [line for path, text in texts for line in replaced(path, text, TERMS_OF_MODELS)] == []


def test_no_decision_names_an_identifier_with_such_a_word() -> None:
    paths = listed("docs/decisions/*.md", "middleware/model/README.md")
    texts = ((path, path.read_text(encoding="utf-8")) for path in paths)
    names = ((path, " ".join(re.findall(r"`([^`\n]+)`", text))) for path, text in texts)
    assert paths
    assert [line for path, text in names for line in replaced(path, text, TERMS)] == []
