# SPDX-License-Identifier: Apache-2.0
"""Software and hardware have the same map: soc_regs.h has the numbers of the SystemVerilog."""

import re
from pathlib import Path

SOC = Path(__file__).resolve().parents[1]


def c_name(name: str) -> str:
    return "_".join(re.findall(r"[A-Z][a-z]*", name)).upper()


def hardware() -> dict[str, int]:
    """Each base, and each register of a device."""
    found = {}
    for path in ("soc_pkg", "timer", "uart", "system"):
        text = (SOC / f"{path}.sv").read_text()
        for name, value in re.findall(r"(\w+)\s+= \d+'h([0-9A-F_]+);", text):
            unit = "SOC" if path == "soc_pkg" else path.upper()
            found[f"{unit}_{c_name(name.removeprefix('Reg'))}"] = int(value.replace("_", ""), 16)
    return found


def software() -> dict[str, int]:
    text = (SOC / "soc_regs.h").read_text()
    defines = dict(re.findall(r"#define (\w+) (0x\w+)U", text))
    bits = r"UART_STATUS_|UART_CONTROL_"
    return {name: int(value, 0) for name, value in defines.items() if not re.match(bits, name)}


def test_the_header_for_c_has_the_map_of_the_hardware() -> None:
    assert software() == hardware()
    assert len(hardware()) >= 20


def test_the_counters_have_the_order_of_the_events() -> None:
    package = (SOC / "soc_pkg.sv").read_text()
    struct = package[package.index("typedef struct packed") : package.index("} events_t")]
    # The last field of a packed structure is bit 0.
    events = [name.upper() for name in re.findall(r"logic (\w+);", struct)][::-1]
    header = (SOC / "soc_regs.h").read_text()
    assert re.findall(r"SOC_COUNTER_(\w+) = (\d)", header) == [
        (name, str(number)) for number, name in enumerate(events)
    ]
