# SPDX-License-Identifier: Apache-2.0
"""What migration costs a FreeRTOS kernel and its application: instructions, bytes and lines."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from command import ROOT, Failed
from published import Row, row

sys.path += [str(ROOT / "tests/boards"), str(ROOT / "tools")]

import emulated
import freertos_size

PUBLISHED = tomllib.loads((Path(__file__).parent / "published.toml").read_text())
INCLUDE = ROOT / "kernels/freertos/include"
ADDITIONS = [INCLUDE / "freertos_tasks_c_additions.h", INCLUDE / "freertos_guards.h"]
# Listing 1 of the paper, without and with its checkpoint.
LOOP = """
#include "wb/wb.h"
void foo(void);
void looptask(void);
void looptask(void)
{{
    for (;;)
        for (int i = 0; i < 1000; i++) {{
            foo();
            {checkpoint}
        }}
}}
"""


def make(target: str) -> None:
    """Makes one target of the project."""
    done = subprocess.run(["make", "-s", target], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"make {target}: {done.stderr}")


def counted(case: str) -> str:
    """What a case of the conformance suite prints on the board, its instructions counted."""
    run = emulated.run("=" + case, mode=emulated.INSTRUCTIONS)
    if run.status != 0:
        raise Failed(f"{case}: {run.text}")
    return run.text


def text_of(folder: Path, checkpoint: str) -> tuple[int, int]:
    """Bytes and instructions of listing 1 for a Cortex-A9."""
    source, made = folder / "loop.c", folder / "loop.o"
    source.write_text(LOOP.format(checkpoint=checkpoint))
    include = ["-I", str(ROOT / "middleware/include")]
    options = ["-std=c11", "-O3", "-mcpu=cortex-a9", *include, "-c", str(source), "-o", str(made)]
    subprocess.run(["arm-none-eabi-gcc", *options], check=True)
    dump = ["arm-none-eabi-objdump", "-d", str(made)]
    listed = subprocess.run(dump, check=True, capture_output=True, text=True).stdout
    instructions = re.findall(r"^ +[0-9a-f]+:\t[0-9a-f]{8} \t(?!\.word)", listed, re.MULTILINE)
    return freertos_size.text(made), len(instructions)


def added(folder: Path) -> tuple[int, int]:
    """Bytes and instructions that a checkpoint adds to listing 1."""
    without, with_one = text_of(folder, ""), text_of(folder, "wb_checkpoint();")
    return with_one[0] - without[0], with_one[1] - without[1]


def hand_off() -> list[Row]:
    """The three parts of table I, and a poll."""
    make("build/boards/vexpress_a9/conform")
    said = counted("a_hand_off_takes_as_long_for_a_large_task_as_for_a_small_one")
    total, *parts = map(int, re.search(r"median (\d+), .*parts (\d+) (\d+) (\d+)", said).groups())
    poll = re.search(
        r"idle checkpoint: (\S+)", counted("an_idle_checkpoint_takes_three_instructions")
    )
    paper = PUBLISHED["table1"]
    note = "a hand-off between two quiet kernels, medians; the paper has milliseconds"
    names = ("detach", "move", "attach", "total")
    return [
        *(
            row(f"hand-off: {name}", f"{paper[name]} ms", ours, "instructions", note)
            for name, ours in zip(names, (*parts, total), strict=True)
        ),
        row(
            "poll when nothing is asked",
            PUBLISHED["size"]["poll_instructions"],
            float(poll[1]),
            "instructions",
            "beside the same loop without it",
        ),
    ]


def sizes(folder: Path) -> list[Row]:
    """What the application and the kernel gain."""
    paper = PUBLISHED["size"]
    size, instructions = added(folder)
    library = sum(map(freertos_size.code_lines, freertos_size.kernel()))
    what = "its listing 1 with a checkpoint, -O3; what moves is the library's"
    return [
        row("application: added", paper["application_bytes"], size, "bytes", what),
        row("application: added", paper["application_instructions"], instructions, "", what),
        row(
            "library",
            paper["library_lines"],
            library,
            "lines",
            "of code, without comments, loader and launcher; the middleware is counted apart",
        ),
        row(
            "in the kernel's own file",
            paper["kernel_lines"],
            sum(map(freertos_size.code_lines, ADDITIONS)),
            "lines",
            "by FreeRTOS's own hook: no line of FreeRTOS is changed",
        ),
    ]


def costs(folder: Path) -> list[Row]:
    """Every row."""
    return hand_off() + sizes(folder)
