# SPDX-License-Identifier: Apache-2.0
"""The whole SoC: a program that tries each part, and images that cannot run."""

import os
import socket
import struct
import subprocess
from pathlib import Path

import pytest
from model import MODEL, program, run_model

# Of an ELF header: for 32-bit RISC-V, with one segment behind it.
ELF = b"\x7fELF\x01\x01\x01" + bytes(9)


def image(tmp_path: Path, machine: int, address: int, size: int) -> Path:
    header = struct.pack("<HHIIIIIHHHHHH", 2, machine, 1, address, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    segment = struct.pack("<IIIIIIII", 1, 0, address, address, 0, size, 7, 16)
    path = tmp_path / "image.elf"
    path.write_bytes(ELF + header + segment)
    return path


@pytest.mark.parametrize("order", ["strict", "tso"])
@pytest.mark.parametrize("wait_states", [0, 4, 10])
def test_every_part_works_with_two_cores(wait_states: int, order: str) -> None:
    options = ["--wait-states", str(wait_states), "--store-order", order]
    done = run_model(program("boot"), *options, stdin=b"anna\n")
    lines = done.stdout.decode().splitlines()
    assert [line for line in lines if line.startswith("FAILED")] == []
    assert len([line for line in lines if line.startswith("ok ")]) == 15
    assert lines[-1] == "name? anna"
    assert done.stderr == b"next to the line\n"
    assert done.returncode == 0


def test_descriptor_3_is_the_serial_line_and_its_end_is_the_end() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = f'exec 3<&{theirs.fileno()}; exec "$0" "$1"'
        model = subprocess.Popen(
            ["bash", "-c", command, MODEL, program("boot")], pass_fds=[theirs.fileno()]
        )
        theirs.close()
        text = b""
        while not text.endswith(b"name? "):
            text += ours.recv(4096)
        ours.shutdown(socket.SHUT_RDWR)
        assert model.wait(timeout=600) == 0


def test_a_program_without_an_end_runs_out_of_cycles() -> None:
    assert run_model(program("boot"), cycles=1000).returncode == 124


@pytest.mark.parametrize(
    ("machine", "address", "size", "words"),
    [
        (8, 0x8000_0000, 16, "not for a 32-bit RISC-V"),
        (243, 0x8000_0000, 32 << 20, "does not fit the RAM of 16384 KiB"),
        (243, 0x1000_0000, 16, "does not fit the RAM of 16384 KiB"),
    ],
)
def test_an_image_that_cannot_run_is_refused_in_one_line(
    tmp_path: Path, machine: int, address: int, size: int, words: str
) -> None:
    done = run_model(image(tmp_path, machine, address, size))
    assert done.returncode == 2
    assert words in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_what_is_no_image_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("not a program")
    done = run_model(path)
    assert (done.returncode, b"not an ELF file" in done.stderr) == (2, True)
    done = run_model(tmp_path / os.sep / "nowhere")
    assert (done.returncode, b"cannot be read" in done.stderr) == (2, True)


@pytest.mark.parametrize(("options", "good"), [([], 11), (["--host-files"], 19)])
def test_the_line_the_guard_written_code_and_files_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], good: int
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_model(program("devices"), *options, stdin=b"hello")
    lines = done.stdout.decode().splitlines()
    assert [line for line in lines if line.startswith("FAILED")] == []
    assert len([line for line in lines if line.startswith("ok ")]) == good
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == ({"made.bin": b"\0\0\0hello"} if options else {})
    sent = int(next(line.split()[0] for line in lines if line.endswith(" sent")))
    assert lines[4] == "." * sent
    assert done.returncode == 0
