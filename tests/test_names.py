# SPDX-License-Identifier: Apache-2.0
"""Identifiers of C use the field's terms: a word that a term has replaced does not come back."""

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
    "guest": "pending",
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
# Words of other things, and names of tests, which are sentences.
APART = {"is_killed_from_outside", "lives_on"}
PLAIN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|TEST\(\w+\)', re.DOTALL
)


def sources() -> list[Path]:
    command = ["git", "ls-files", *(f"{folder}/*.[chS]" for folder in FOLDERS)]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split() if "third_party" not in name]


def test_no_identifier_has_a_word_that_a_term_has_replaced() -> None:
    wrong = []
    for path in sources():
        text = PLAIN.sub(" ", path.read_text(encoding="utf-8"))
        for name in sorted(set(re.findall(r"\b[A-Za-z_]\w*\b", text)) - APART):
            old = TERMS.keys() & set(name.lower().split("_"))
            wrong += [f"{path.relative_to(ROOT)}: {name}: write {TERMS[word]}" for word in old]
    assert sources()
    assert wrong == []
