# SPDX-License-Identifier: Apache-2.0
"""What docs/policies.md says of the policies is so."""

import re
import shutil
import subprocess
from pathlib import Path

from documents import ROOT, blocks, prose

POLICIES = ROOT / "middleware/src/decide/policy"
INCLUDE = f"-I{ROOT / 'middleware/include'}"
PAGE = ROOT / "docs/policies.md"
EXAMPLE = ROOT / "middleware/test/policy_reserve.c"


def names() -> list[str]:
    return re.findall(r"^WB_POLICY\((\w+)\)$", (POLICIES / "all.h").read_text(), re.MULTILINE)


def parameters(policy: str) -> list[list[str]]:
    """Name, default, least, most and meaning of a policy's parameters, from its source."""
    source = (POLICIES / f"{policy}.c").read_text().replace("WB_PPM", "1000000")
    found = re.findall(r'\{\s*"(\w+)",\s*"([^"]*)",\s*(-?\d+),\s*(-?\d+),\s*(-?\d+)\s*\}', source)
    counted = re.search(r"\.n_params = (\d+)", source)
    assert len(found) == (int(counted[1]) if counted else 0)
    return [[f"`{name}`", value, least, most, help] for name, help, value, least, most in found]


def table(title: str) -> list[list[str]]:
    """The rows of the table of the page that begins with this row."""
    rows = prose(PAGE).split(title + "\n")[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]


def test_the_page_lists_every_policy() -> None:
    listed = [row[0] for row in table("| policy | decides | use it when |")]
    assert listed == [f"`{name}`" for name in names()]


def test_the_page_lists_every_parameter() -> None:
    listed = table("| policy | parameter | default | least | most | meaning |")
    assert listed == [[f"`{name}`", *row] for name in names() for row in parameters(name)]


def test_the_page_quotes_what_a_wrong_decision_is_told() -> None:
    source = (POLICIES / "check.c").read_text()
    told = {words for words in re.findall(r'"(it [^"]*)"', source)}
    quoted = [row[1].split("`")[1] for row in table("| it decided | message |")]
    assert quoted
    assert {re.sub(r"\d+", "#", words) for words in quoted} <= told


def test_the_policy_that_is_shown_is_the_one_that_is_tested() -> None:
    assert EXAMPLE.read_text() in blocks(PAGE, "c")


def test_a_policy_of_ones_own_is_one_file_and_one_line(tmp_path: Path) -> None:
    source = tmp_path / "src/decide"
    shutil.copytree(POLICIES, source / "policy")
    shutil.copytree(POLICIES.parents[1] / "word", tmp_path / "src/word")
    shutil.copy(EXAMPLE, source / "policy/reserve.c")
    listed = source / "policy/all.h"
    line = "WB_POLICY(reserve)\n"
    assert line in PAGE.read_text()
    listed.write_text(listed.read_text().replace("WB_POLICY(spread)", line + "WB_POLICY(spread)"))
    main = tmp_path / "main.c"
    main.write_text(
        '#include "wb/policy.h"\nint main(void)\n{\n'
        '    return wb_policy_find("reserve") == NULL;\n}\n'
    )

    memory = tmp_path / "src/word/mem.c"
    files = [str(path) for path in [main, memory, *(source / "policy").glob("*.c")]]
    program = str(tmp_path / "main")
    subprocess.run(["gcc", "-std=c11", INCLUDE, *files, "-o", program], check=True)
    subprocess.run([program], check=True)


def test_a_module_may_bring_a_policy(tmp_path: Path) -> None:
    module = str(tmp_path / "module.so")
    command = ["gcc", "-std=c11", "-fPIC", "-shared", INCLUDE, str(EXAMPLE), "-o", module]
    subprocess.run(command, check=True)
    symbols = ["nm", "--dynamic", "--defined-only", "--format=just-symbols", module]
    shown = subprocess.run(symbols, check=True, capture_output=True, text=True).stdout.split()
    assert "wb_policy_reserve" in shown
