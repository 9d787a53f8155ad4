# SPDX-License-Identifier: Apache-2.0
"""The registers of each unit, from its SystemRDL: for the RTL, for C and for the page.

Run as a program, it writes all of them again.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegNode

from bench import RTL

DOCS = RTL.parent / "docs/rtl"
# The line of the licence at the head of this file is also that of what it writes.
LICENCE = Path(__file__).read_text().splitlines()[0].removeprefix("# ")
NAMES = {"hw_rtos": "HW-RTOS", "lock_unit": "Lock Unit"}


def words(name: str) -> str:
    """`SendNowMore` as SEND_NOW_MORE."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()


def access(register: RegNode) -> str:
    return ("r" if register.has_sw_readable else "") + ("w" if register.has_sw_writable else "")


def told(register: RegNode) -> list[FieldNode]:
    """The fields that are not the whole of what a register says."""
    return [field for field in register.fields() if field.get_property("desc")]


def bits(field: FieldNode) -> str:
    return f"{field.low}" if field.width == 1 else f"{field.high}..{field.low}"


@dataclass(frozen=True)
class Unit:
    name: str
    package: Path
    registers: list[RegNode]
    enums: dict[str, tuple[int, list]]  # the width and the members of each, by its name

    # ---- SystemVerilog ---------------------------------------------------------------------------

    def localparams(self, registers: list[RegNode]) -> list[str]:
        longest = max(len(register.inst_name) for register in registers)
        return [
            f"  localparam logic [11:0] Reg{register.inst_name:<{longest}} = "
            f"12'h{register.raw_address_offset:03X};  // {access(register):<2}  "
            f"{register.get_property('name')}"
            for register in registers
        ]

    def enumeration(self, name: str) -> list[str]:
        width, members = self.enums[name]
        names = [f"{name.title()}{member.name}" for member in members]
        longest = max(map(len, names))
        lines = [f"  typedef enum logic [{width - 1}:0] {{"]
        for one, member in zip(names, members, strict=True):
            comma = " " if member is members[-1] else ","
            comment = f"  // {member.rdl_name}" if member.rdl_name else ""
            lines.append(f"    {one:<{longest}} = {width}'d{member.value}{comma}{comment}".rstrip())
        return ["", *lines, f"  }} {name}_e;"]

    def systemverilog(self) -> str:
        lines = ["  // Byte offsets within the unit.", *self.localparams(self.single())]
        if arrays := self.arrays():
            lines += [
                "",
                "  // Of task or port n, at n words from here.",
                *self.localparams(arrays),
            ]
        for name in self.enums:
            lines += self.enumeration(name)
        return "\n".join(lines)

    def single(self) -> list[RegNode]:
        return [register for register in self.registers if not register.is_array]

    def arrays(self) -> list[RegNode]:
        return [register for register in self.registers if register.is_array]

    # ---- C ---------------------------------------------------------------------------------------

    def macro(self, *names: str) -> str:
        return "_".join([self.name, *map(words, names)]).upper()

    def define(self, *names: str, value: str) -> str:
        return f"#define {self.macro(*names)} {value}"

    def masks(self) -> list[str]:
        """Of fields of one bit; of a wider one, how far it is from bit 0."""
        lines = []
        for register in self.registers:
            fields = [field for field in register.fields() if field.width == 1 or field.low > 0]
            lines += [""] if len(fields) > 0 else []
            for field in fields:
                names = (register.inst_name, field.inst_name)
                if field.width == 1:
                    lines.append(self.define(*names, value=f"0x{1 << field.low:X}U"))
                else:
                    lines.append(self.define(*names, "Shift", value=f"{field.low}"))
        return lines

    def members(self, name: str) -> list[str]:
        head = f"{self.name}_{name}"
        values = [
            f"    {head.upper()}_{words(member.name)} = {member.value}"
            for member in self.enums[name][1]
        ]
        return ["", f"enum {head} {{", ",\n".join(values), "};"]

    def header(self) -> str:
        guard = f"{self.name.upper()}_REGS_H"
        offsets = [
            [self.define(r.inst_name, value=f"0x{r.raw_address_offset:03X}U") for r in registers]
            for registers in (self.single(), self.arrays())
        ]
        known = NAMES[self.name]
        lines = [
            f"// {LICENCE}",
            f"// The registers of the {known} for C, from {self.name}.rdl: make rtl-registers.",
            "// Offsets are in bytes from the unit's address, which is the same for every core.",
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            *offsets[0],
        ]
        if offsets[1]:
            lines += ["", "// Of task or port n, at 4 * n bytes from here.", *offsets[1]]
        lines += [*self.masks(), "", "#ifndef __ASSEMBLER__"]
        for name in self.enums:
            lines += self.members(name)
        return "\n".join([*lines, "", "#endif", "", "#endif", ""])

    # ---- The page --------------------------------------------------------------------------------

    def page(self) -> str:
        lines = ["| offset | register | access | meaning |", "|---|---|---|---|"]
        for register in self.registers:
            offset = f"`0x{register.raw_address_offset:03x}`" + " + 4n" * register.is_array
            meaning = register.get_property("desc") or register.get_property("name")
            lines.append(f"| {offset} | `{register.inst_name}` | {access(register)} | {meaning} |")
        if fields := {r.inst_name: told(r) for r in self.registers if told(r)}:
            lines += ["", "| register | bits |", "|---|---|"]
        for name, those in fields.items():
            text = "; ".join(f"{bits(field)}: {field.get_property('desc')}" for field in those)
            lines.append(f"| `{name}` | {text} |")
        for name, (_, members) in self.enums.items():
            lines += ["", f"| {name} | meaning |", "|---|---|"]
            lines += [
                f"| `{name.title()}{member.name}` ({member.value}) | {member.rdl_desc} |"
                for member in members
            ]
        return "\n".join(lines)

    def files(self) -> dict[Path, str]:
        """What is in each file that has the registers: a header, and parts of two others."""
        page, source = DOCS / f"{self.name}.md", f"{self.name}.rdl: make rtl-registers"
        return {
            self.package.with_name(f"{self.name}_regs.h"): self.header(),
            self.package: part(
                self.package, f"  // {source}", "  // end of registers", self.systemverilog()
            ),
            page: part(
                page, f"<!-- {source} -->", "<!-- end of registers -->", f"\n{self.page()}\n"
            ),
        }


def part(file: Path, begin: str, end: str, content: str) -> str:
    """A file with other lines between two of its own."""
    head, rest = file.read_text().split(f"{begin}\n")
    tail = rest.split(f"{end}\n")[1]
    return f"{head}{begin}\n{content}\n{end}\n{tail}"


def unit(name: str, package: str) -> Unit:
    compiler = RDLCompiler()
    compiler.compile_file(str(RTL / name / f"{name}.rdl"))
    top = compiler.elaborate().top
    assert isinstance(top, AddrmapNode)
    registers = list(top.registers())
    enums = {}
    for register in registers:
        for field in register.fields():
            if encoded := field.get_property("encode"):
                enums[encoded.type_name] = (field.width, list(encoded))
    return Unit(name, RTL / name / f"{package}.sv", registers, enums)


def units() -> list[Unit]:
    return [unit("hw_rtos", "rtos_pkg"), unit("lock_unit", "lock_pkg")]


if __name__ == "__main__":
    for one in units():
        for file, text in one.files().items():
            file.write_text(text)
            print(file.relative_to(RTL.parent))
