# SPDX-License-Identifier: Apache-2.0
"""docs/freertos.md word by word: its files, its commands, and a task that moves."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import emulated
import pytest

MOVE_MOST = 1000  # instructions, with run-time statistics
GUIDE = (emulated.ROOT / "docs" / "freertos.md").read_text()
PROSE = " ".join(GUIDE.split())


def freertos() -> str:
    """The folder of FreeRTOS that the board was built with."""
    cache = (emulated.BUILD / "CMakeCache.txt").read_text()
    return re.search(r"^FREERTOS_KERNEL_PATH:PATH=(.*)$", cache, re.MULTILINE)[1]


def files() -> dict[str, str]:
    """The files of the guide's project by their names."""
    return dict(re.findall(r"^`(\S+)`:\n\n```\w+\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))


@dataclass
class Project:
    """The guide's project, built."""

    folder: Path
    said: str  # what its program printed


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Follows the guide. A second program of the project counts instructions."""
    folder = tmp_path_factory.mktemp("guide")
    for name, text in files().items():
        (folder / name).write_text(text)
    with (folder / "CMakeLists.txt").open("a") as lists:
        lists.write(
            'add_executable(counts "${WHIMBREL}/kernels/freertos/test/guide.c")\n'
            "target_link_libraries(counts vexpress_a9)\n"
            "target_link_options(counts PRIVATE -Wl,--wrap=board_ring)\n"
        )
    commands = re.search(r"^```sh\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)[1]
    return Project(folder, follow(folder, commands))


def follow(folder: Path, commands: str) -> str:
    """Runs commands in a folder; what they print."""
    surroundings = {"WHIMBREL": str(emulated.ROOT), "FREERTOS_KERNEL_PATH": freertos()}
    ended = subprocess.run(
        ["sh", "-e", "-c", commands],
        cwd=folder,
        env={**os.environ, **surroundings},
        capture_output=True,
        text=True,
        timeout=emulated.LIMIT_S * 5,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def moves(text: str) -> list[tuple[str, str, int]]:
    """The core, the status and the run time in microseconds of each line about a move."""
    found = re.findall(r"looptask is on core (\d): (\w+), after (\d+) us", text)
    return [(core, status, int(us)) for core, status, us in found]


def test_a_project_that_follows_the_guide_sees_a_task_move(project: Project) -> None:
    assert list(files()) == ["CMakeLists.txt", "FreeRTOSConfig.h", "main.c"]
    seen, promised = moves(project.said), moves(GUIDE)
    assert [(core, status) for core, status, _ in seen] == [(c, "done") for c in "1230"]
    assert [us for *_, us in seen] == pytest.approx([us for *_, us in promised], rel=0.02)
    assert project.said.splitlines()[-1] == "it looped"


def counts(project: Project) -> str:
    counts = project.folder / "build" / "counts"
    run = emulated.run(mode=emulated.INSTRUCTIONS, program=counts)
    assert run.status == 0, run.text
    print(run.text)
    return run.text


def test_a_move_of_an_ordinary_task_takes_what_the_guide_says(project: Project) -> None:
    median, longest = re.search(
        r"a move: median (\d+), from \d+ to (\d+)", counts(project)
    ).groups()
    said = re.search(
        r"A move takes (\d+) instructions.*?\(median of 21; the longest took (\d+)\)",
        PROSE,
    ).groups()
    assert [int(median), int(longest)] == pytest.approx([int(n) for n in said], rel=0.02)
    assert int(median) < MOVE_MOST


def test_run_time_and_percentages_are_right_wherever_a_task_runs(project: Project) -> None:
    stays = re.findall(
        r"on core (\d): ran (\d+) us of (\d+) us, (\d+) of (\d+) percent", counts(project)
    )
    assert [core for core, *_ in stays] == list("1230")
    for _, ran, passed, percent, right in stays:
        # It computes all the time, but for what its moves take.
        assert int(ran) == pytest.approx(int(passed), rel=0.01)
        assert abs(int(percent) - int(right)) <= 1


def test_the_guide_has_the_sizes_that_are_linked() -> None:
    said = re.search(
        r"hand-off of ordinary tasks alone.*?: (\S+) KiB.*?with tasks and channels of the "
        r"middleware.*?: (\S+) KiB.*?with everything: (\S+) KiB",
        PROSE,
    ).groups()
    folder = emulated.ROOT / "build" / "freertos_size"
    plain = text_bytes(folder / "plain")
    for link, kib in zip(("ordinary", "channels", "everything"), said, strict=True):
        assert (text_bytes(folder / link) - plain) / 1024 == pytest.approx(float(kib), abs=0.1)


def text_bytes(elf: Path) -> int:
    out = subprocess.run(["arm-none-eabi-size", elf], capture_output=True, text=True, check=True)
    return int(out.stdout.splitlines()[1].split()[0])


def test_a_project_with_static_tasks_and_another_configuration_sees_a_task_move(
    tmp_path: Path,
) -> None:
    # Without a heap; and in `make soak` with one.
    lists = files()["CMakeLists.txt"].replace("FREERTOS_HEAP 5", "FREERTOS_HEAP 4")
    # Its target has a name of the command's own.
    lists = lists.replace(
        "add_executable(demo main.c)",
        'add_executable(application "${WHIMBREL}/kernels/freertos/test/static.c")',
    ).replace("target_link_libraries(demo", "target_link_libraries(application")
    config = configured(
        USE_NEWLIB_REENTRANT="1",
        NUM_THREAD_LOCAL_STORAGE_POINTERS="16",
        MAX_TASK_NAME_LEN="32",
        TOTAL_HEAP_SIZE="0x8000",
    )
    without = (
        re.sub(r"set\(FREERTOS_HEAP.*\n", "", lists),
        config.replace("DYNAMIC_ALLOCATION 1", "DYNAMIC_ALLOCATION 0"),
    )
    commands = re.search(r"^```sh\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)[1]
    commands = commands.replace("build/demo", "build/application")
    commands = commands.replace("cmake -S", "cmake -UFREERTOS_HEAP -S")
    projects = [without] if emulated.LONGER == 1 else [without, (lists, config)]
    for its_lists, its_config in projects:
        (tmp_path / "CMakeLists.txt").write_text(its_lists)
        (tmp_path / "FreeRTOSConfig.h").write_text(its_config)
        assert follow(tmp_path, commands).endswith("it moved\n")


def configured(before: str = "", after: str = "", **settings: str) -> str:
    """The guide's FreeRTOSConfig.h with other settings, and with lines around Whimbrel's."""
    last = '#include "whimbrel_freertos.h"\n'
    lines = [f"#undef config{key}\n#define config{key} {value}" for key, value in settings.items()]
    text = files()["FreeRTOSConfig.h"]
    assert last in text
    return text.replace(last, "\n".join([*lines, before, last, after, ""]))


def compiled(tmp_path: Path, config: str, source: Path) -> subprocess.CompletedProcess[str]:
    """Looks at a source as a project with this FreeRTOSConfig.h has it compiled."""
    (tmp_path / "FreeRTOSConfig.h").write_text(config)
    root, kernel = emulated.ROOT, Path(freertos())
    folders = [
        root / "kernels/freertos/include",
        root / "launcher/api",
        root / "middleware/include",
    ]
    folders += [tmp_path, kernel / "include", kernel / "portable/GCC/ARM_CA9"]
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-a9", "-fsyntax-only"]
    command += ["-DWB_KERNEL_TASK_BYTES=512", "-DprojCOVERAGE_TEST=0"]
    command += [f"-I{folder}" for folder in folders] + [source]
    return subprocess.run(command, capture_output=True, text=True, check=False)


RECORDER = "#undef traceTASK_SWITCHED_IN\n#define traceTASK_SWITCHED_IN() "


def test_a_trace_recorder_that_takes_a_hook_is_told_by_the_compiler(tmp_path: Path) -> None:
    tasks = Path(freertos()) / "tasks.c"
    before = compiled(tmp_path, configured(before=RECORDER), tasks)
    assert before.returncode != 0
    assert "include the recorder after whimbrel_freertos.h" in before.stderr
    after = compiled(tmp_path, configured(after=RECORDER), tasks)
    assert after.returncode != 0
    assert "defined again after whimbrel_freertos.h, which takes it" in after.stderr
    ours = "wb_freertos_in(pxCurrentTCB->pvThreadLocalStoragePointers[WB_FREERTOS_POINTER])"
    both = compiled(tmp_path, configured(after=RECORDER + ours), tasks)
    assert both.returncode == 0, both.stderr


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"NUM_THREAD_LOCAL_STORAGE_POINTERS": "0"}, "Whimbrel takes the last, so give it one"),
        ({"TASK_NOTIFICATION_ARRAY_ENTRIES": "1"}, "Whimbrel takes the last, so give it one"),
        ({"USE_PREEMPTION": "0"}, "Whimbrel's task must get the processor at once, so set it to 1"),
        (
            {
                "USE_TIMERS": "1",
                "TIMER_TASK_PRIORITY": "(configMAX_PRIORITIES - 1)",
                "TIMER_QUEUE_LENGTH": "8",
                "TIMER_TASK_STACK_DEPTH": "512",
            },
            "Whimbrel has the most urgent task: lower configTIMER_TASK_PRIORITY",
        ),
    ],
)
def test_a_configuration_that_does_not_suffice_is_told_by_the_compiler(
    settings: dict[str, str], said: str, tmp_path: Path
) -> None:
    kernel = emulated.ROOT / "kernels/freertos/kernel.c"
    ended = compiled(tmp_path, configured(**settings), kernel)
    assert ended.returncode != 0 and said in ended.stderr
