# SPDX-License-Identifier: Apache-2.0
"""What is proved of every module, and faults that the proofs find."""

import os
import re
import sys
from pathlib import Path

import pytest
from prover import BUILD, DEVICES, LONG, MEMORY, PROOFS, RTL, refuted

sys.path.append(str(RTL / "dv"))

from mutants import MUTANTS, Mutant, apply

from bench import UNITS

long = pytest.mark.skipif("RTL_LONG" not in os.environ, reason="`make soak` proves it")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=long) if name in LONG else name for name in PROOFS]
)
def test_all_assertions_hold_of(name: str) -> None:
    assert refuted(name) is None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_proof_refutes_what(mutant: Mutant) -> None:
    where = BUILD / "rtl/mutants" / mutant.name
    rtl = apply(mutant, where)
    assert refuted(mutant.proof, mutant.assertion, rtl, where / "proof") == mutant.assertion


def test_the_end_of_a_name_names_no_assertion() -> None:
    with pytest.raises(AssertionError, match="nothing to prove"):
        refuted("fair_arbiter", "TwiceAtMost", where=BUILD / "rtl/formal/no_name")


def test_every_module_has_a_proof() -> None:
    proved = " ".join(file.read_text() for file in Path(__file__).parent.glob("prove_*.sv"))
    modules = {file.stem for unit in (*UNITS, "axi_lite") for file in (RTL / unit).glob("*.sv")}
    # A port of the Lock Unit is proved within it, where its surroundings are. The units with ports
    # of AXI4-Lite are wires between modules that are proved.
    wires = {"hw_rtos_axi_lite", "lock_unit_axi_lite"}
    within = {"lock_unit_port", "lock_pkg", "rtos_pkg", *wires}
    assert {name for name in modules if not re.search(rf"\b{name}\b", proved)} <= within


# What is read of a memory is known once it was written: `ReadsWhatWasWritten`, `InOrder`.
READ = {"flops_1r1w", "ram_1r1w", "hw_rtos_buffer", "hw_rtos_ports", "ram_bus", "dcache", "icache"}
# Answers about a line that may be nobody's: its valid bit lies in the cache that asks, which is
# in the same proof. Bytes of a store are known where the write buffer says so.
OF_THE_ASKED = {"write_buffer.match_o", "dcache.fetch_stored_o", "dcache.bus_wdata_o"}


def test_every_output_is_said_to_be_known() -> None:
    files = [file for folder in ("common", *UNITS) for file in (RTL / folder).glob("*.sv")]
    files.append(RTL / "axi_lite/axi_lite_port.sv")
    not_said = set()
    for file in (*files, *(RTL / f"soc/{name}.sv" for name in (*DEVICES, *MEMORY))):
        text = file.read_text()
        said = " ".join(re.findall(r"`ASSERT_KNOWN.*", text))
        outputs = re.findall(r"^  output [^/]*?(\w+) *,?(?: *//.*)?$", text, re.MULTILINE)
        not_said |= {f"{file.stem}.{one}" for one in outputs if not re.search(rf"\b{one}\b", said)}
    assert not_said == {f"{module}.rdata_o" for module in READ} | OF_THE_ASKED


def test_every_module_that_says_so_is_in_a_proof() -> None:
    says = {file.stem for file in (RTL / "soc").glob("*.sv") if "`ASSERT_KNOWN" in file.read_text()}
    assert says == {*DEVICES, *MEMORY}
