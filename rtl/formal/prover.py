# SPDX-License-Identifier: Apache-2.0
"""Proves the assertions of a module for all inputs and any number of cycles, or refutes one.

Yosys makes the circuit, ABC's `pdr` (property directed reachability) finds an inductive invariant,
which it checks, or a trace that ends where an assertion fails.

What is known after a reset is proved of two copies of a module, which had anything in their
registers and memories before it, and have the same inputs: the two are never seen to differ.
"""

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

FORMAL = Path(__file__).resolve().parent
RTL = FORMAL.parent
sys.path.append(str(RTL / "dv"))

from yosys import BUILD, yosys  # noqa: E402

from bench import LISTS, listed  # noqa: E402

SECONDS = 900  # a proof takes 3 at most, of what is known 12, a long one 40, on an idle processor

READ = """\
read_verilog -sv -formal -DFORMAL {defines} {includes} {files}
{parameters}
hierarchy -check -top {top}
proc
flatten
chformal -assert -remove c:* c:{assertion} %d c:*.{assertion} %d
"""

# What is to be known becomes an output of the module.
EXPOSE = """\
chformal -assert -remove
expose w:*.known_{assertion}
"""

CIRCUIT = """\
opt -fast
async2sync
chformal -assume -early
memory_map -formal
formalff -clk2ff -ff2anyinit
setundef -anyseq
opt -full
"""

# The inputs are those of both; before the reset each holds in its registers what it will. Each
# output of `both` says that one of the module differs.
TWICE = """\
rename -top one
copy one other
miter -equiv -make_outcmp one other both
chtype -set $nex both/t:$eqx
delete -output both/trigger
hierarchy -top both
flatten
opt -full
"""

WRITE = """\
techmap
opt -fast
simplemap
dffunmap
setundef -anyseq
aigmap
opt_clean
write_aiger -I {bad} -zinit -no-startoffset -ywmap names.json -map names.map circuit.aig
"""


@dataclass(frozen=True)
class Proof:
    """A module of rtl/formal, its parameters, and the files of the SoC that it is about."""

    top: str
    parameters: dict[str, int] = field(default_factory=dict)
    soc: tuple[str, ...] = ()
    known: bool = False  # of two copies that were not alike before the reset: `ASSERT_KNOWN


PROOFS = {
    "fair_arbiter": Proof("prove_fair_arbiter"),
    "buffer_of_flops": Proof("prove_buffer"),
    "buffer_in_ram": Proof("prove_buffer", {"InRam": 1}),
    "lock_unit_order": Proof("prove_lock_unit_order"),
    "lock_unit": Proof("prove_lock_unit"),
    "axi_lite_port": Proof("prove_axi_lite_port"),
    "select": Proof("prove_select"),
    "slice": Proof("prove_slice"),
    "slice_of_5_bits": Proof("prove_slice", {"Width": 5}),
    "decode": Proof("prove_decode"),
    "errors": Proof("prove_errors"),
    "sched": Proof("prove_sched"),
    "tasks": Proof("prove_tasks"),
    "ports": Proof("prove_ports"),
    "ports_of_2_words": Proof("prove_ports", {"WordsPerPort": 2}),
    "hw_rtos_of_1_core": Proof("prove_hw_rtos", {"NumCores": 1, "Longest": 2}),
    "hw_rtos": Proof("prove_hw_rtos", {"NumCores": 2, "Longest": 7}),
    # How long an access waits is not proved for more cores: 31 is no bound.
    "hw_rtos_of_4_cores": Proof("prove_hw_rtos", {"NumCores": 4, "Longest": 31}),
}


# What `ASSERT_KNOWN says, of whole units: what is known in one part depends on the others.
DEVICES = ("device_bus", "timer", "byte_fifo", "uart", "counters", "system")
MEMORY = ("bus_arbiter", "ram_bus", "write_buffer", "dcache", "icache")
PROOFS |= {
    "known_tasks": Proof("prove_tasks", known=True),
    "known_hw_rtos": Proof("prove_hw_rtos", {"NumCores": 1}, known=True),
    "known_lock_unit": Proof("prove_lock_unit", known=True),
    "known_axi_lite_port": Proof("prove_axi_lite_port", known=True),
    "known_devices": Proof("prove_devices", {"NumCores": 1}, ("soc_pkg", *DEVICES), known=True),
    "known_memory": Proof("prove_memory", {}, ("soc_pkg", *MEMORY), known=True),
    "known_memory_of_8_lines": Proof(
        "prove_memory", {"WordW": 4}, ("soc_pkg", *MEMORY), known=True
    ),
}

# A smaller size of each is proved too. `make soak` proves these.
LONG = {"hw_rtos_of_4_cores", "slice_of_5_bits", "known_memory_of_8_lines"}


def circuit(proof: Proof, assertion: str, rtl: Path, where: Path) -> dict[int, str]:
    """Makes circuit.aig, and returns the names of its assertions by their numbers."""
    files = listed(rtl / LISTS["axi_lite"].relative_to(RTL))  # that is everything but the SoC
    files += [rtl / f"soc/{name}.sv" for name in proof.soc]
    files.append(FORMAL / f"{proof.top}.sv")
    sets = " ".join(f"-set {name} {value}" for name, value in proof.parameters.items())
    steps = (READ, EXPOSE, CIRCUIT, TWICE, WRITE) if proof.known else (READ, CIRCUIT, WRITE)
    script = "".join(steps).format(
        defines="-DKNOWN" if proof.known else "",
        includes=f"-I{rtl / 'common'} -I{FORMAL}",
        files=" ".join(dict.fromkeys(map(str, files))),
        parameters=f"chparam {sets} {proof.top}" if sets else "",
        assertion=assertion,
        top=proof.top,
        bad="" if proof.known else "-B",  # outputs are what must not be, and assertions what must
    )
    yosys(script, where)
    if proof.known:
        # A constant has a number and no name.
        text = (where / "names.map").read_text()
        found = re.findall(r"^output (\d+) .*known_(\w+)$", text, re.MULTILINE)
        return {int(number): name for number, name in found}
    paths = json.loads((where / "names.json").read_text())["asserts"]
    return {number: path[-1].lstrip("\\").split(".")[-1] for number, path in enumerate(paths)}


def refuted(
    name: str, assertion: str = "*", rtl: Path = RTL, where: Path | None = None
) -> str | None:
    """The assertion that does not hold, or None: those of this name, or all, are proved.

    Raises where ABC cannot tell.
    """
    where = where or BUILD / "rtl/formal" / name
    names = circuit(PROOFS[name], assertion, rtl, where)
    assert names, "nothing to prove"
    # Constraints are folded into the properties: ABC assumes that they have held so far. Of two
    # copies most registers are alike for ever, which `lcorr` sees at once.
    alike = "lcorr;" if PROOFS[name].known else ""
    steps = f"read_aiger circuit.aig; fold; strash; {alike} pdr -T {SECONDS}"
    command = ["berkeley-abc", "-c", steps]
    said = subprocess.run(command, cwd=where, capture_output=True, text=True, check=True).stdout
    (where / "abc.log").write_text(said)
    if re.search(r"^Property proved", said, re.MULTILINE):
        return None
    failed = re.search(r"^Output (\d+) of miter .* was asserted", said, re.MULTILINE)
    if failed is None:
        raise RuntimeError(f"{name}: neither proved nor refuted in {SECONDS} s:\n{said[-1000:]}")
    return names[int(failed[1])]
