# SPDX-License-Identifier: Apache-2.0
"""A guest: booted, obeyed line by line, looked at."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import image

PROCESSORS = 4
ALL = "0,1,2,3"
BOOTS, BOOT_SECONDS = 3, 150
SETTLE_SECONDS = 60
# Emulated processors have no side channels to guard, and need no search for the rate of their clock
# nor of their delay loops, which takes each of them a second. One of them starts the kernel; `init`
# brings the others, and says why.
KERNEL_LINE = (
    "console=ttyS0 mitigations=off nokaslr random.trust_cpu=on tsc=reliable lpj=10000000 maxcpus=1"
)


@dataclass
class Result:
    """What a command in the guest said, and how it ended."""

    output: str
    status: int


@dataclass
class Thread:
    """What a computing thread got: where it was longest, its share of the time, the switches."""

    cpu: int
    share: float
    involuntary: int


THREAD = re.compile(r"cpu (\d+) share ([0-9.]+) involuntary (\d+)")
Found = TypeVar("Found")


def until(
    wanted: Callable[[Found], bool], look: Callable[[], Found], seconds: float = 300
) -> Found:
    """Looks until what it finds is as wanted; a processor of the guest may stand still meanwhile.

    Fails with what it found last.
    """
    deadline = time.monotonic() + seconds
    while not wanted(found := look()):
        assert time.monotonic() < deadline, f"not as wanted after {seconds} s: {found}"
        time.sleep(0.05)
    return found


class Guest:
    """A machine of four processors under QEMU's own emulation (no KVM, no network).

    One thread of the host emulates all four: several would spin for each other on a busy host. Its
    clock counts instructions, and follows the host's only while it is idle: what a busy host delays
    takes no longer in the guest, so that no patience of the tool ends.
    """

    def __init__(self, folder: Path, cgroup: str) -> None:
        """Boots it. `cgroup`: v2 (the only hierarchy), v1 (cpusets alone), or none."""
        self.cgroup = cgroup
        self.console = folder / "console.txt"
        self.image, self.disk = image.build(folder), image.disk(folder)
        self.boot()

    def boot(self) -> None:
        """Starts it, and waits until its shell listens; again if it never does.

        QEMU before 8.1 can lose a processor while the kernel rewrites its own code (see `init`).
        """
        for left in reversed(range(BOOTS)):
            self._start()
            try:
                self._until(re.compile(rb"@ready\n"), BOOT_SECONDS)
                return
            except AssertionError as error:
                self.end()
                if not left:
                    raise
                print(f"the guest did not come up and is started again: {error}")

    def _start(self) -> None:
        line = f"{KERNEL_LINE} rig.cgroup={self.cgroup}"
        if self.cgroup == "v2":
            line += " cgroup_no_v1=all"
        self.said = b""
        self.commands = 0
        self.channel, theirs = socket.socketpair()
        with theirs:
            command = [
                *("setpriv", "--pdeathsig", "KILL"),  # no guest outlives its test
                *("qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", "max"),
                *("-icount", "shift=3"),  # 8 ns an instruction
                *("-smp", str(PROCESSORS), "-m", "512M", "-nodefaults", "-display", "none"),
                *("-kernel", str(image.kernel()), "-initrd", str(self.image), "-append", line),
                *("-serial", f"file:{self.console}"),
                *("-chardev", f"socket,id=host,fd={theirs.fileno()}"),
                *("-device", "virtio-serial-pci", "-device", "virtserialport,chardev=host"),
                *("-device", "virtio-rng-pci"),
                *("-drive", f"file={self.disk},if=virtio,format=raw,cache=unsafe"),
            ]
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()])

    def run(self, command: str, seconds: float = 600) -> Result:
        """Runs lines of shell in the guest, in its one shell, without input."""
        self.commands += 1
        text = f"{{ {command}\n}} </dev/null; printf '\\n@%d %d\\n' {self.commands} $?\n"
        self.channel.sendall(text.encode())
        end = re.compile(rb"\n@%d (\d+)\n" % self.commands)
        output, match = self._until(end, seconds)
        return Result(output.decode(errors="replace"), int(match[1]))

    def check(self, command: str, seconds: float = 600) -> str:
        """As `run`, for what must succeed; returns what it said."""
        result = self.run(command, seconds)
        assert result.status == 0, f"{command}: status {result.status}\n{result.output}"
        return result.output

    def spin(self, command: str, wanted: Callable[[list[Thread]], bool]) -> list[Thread]:
        """Runs `rig spin`, by itself or occupied; its threads must get what is wanted."""
        found = THREAD.finditer(self.check(command))
        threads = [Thread(int(m[1]), float(m[2]), int(m[3])) for m in found]
        assert wanted(threads), f"{command}: {threads}"
        return threads

    def status(self) -> dict[str, Any]:
        """What `whimbrel occupy status` says."""
        return json.loads(self.check("whimbrel-occupy status --json"))

    def interrupts(self, cpu: int) -> dict[str, int]:
        """How often each interrupt came on a processor since the boot, by its name."""
        rows = [line.split() for line in self.check("cat /proc/interrupts").splitlines()[1:]]
        return {row[-1]: int(row[1 + cpu]) for row in rows if len(row) > 1 + PROCESSORS}

    def snapshot(self) -> Snapshot:
        """The state of all that an occupation may change."""
        return Snapshot.parse(self.check("rig snapshot"))

    def differences(self, before: Snapshot) -> list[str]:
        """What is not as it was, and stays so: the kernel takes a moment to settle its workers."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while (found := before.differences(self.snapshot())) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found

    def reboot(self) -> None:
        """Starts anew after a loss of power, with what was written to its disk."""
        self.check("sync")
        self.end()
        self.boot()

    def end(self) -> None:
        """Ends the guest, whatever it does."""
        self.process.kill()
        self.process.wait()
        self.channel.close()

    def _until(self, end: re.Pattern[bytes], seconds: float) -> tuple[bytes, re.Match[bytes]]:
        deadline = time.monotonic() + seconds
        while not (match := end.search(self.said)):
            self.channel.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                read = self.channel.recv(1 << 16)
            except TimeoutError:
                read = b""
            if not read:
                console = self.console.read_text(errors="replace")[-2000:]
                said = self.said.decode(errors="replace")[-2000:]
                raise AssertionError(f"the guest said nothing more:\n{said}\nconsole:\n{console}")
            self.said += read
        output, self.said = self.said[: match.start()], self.said[match.end() :]
        return output, match


@dataclass
class Snapshot:
    """What `rig snapshot` printed: a value for each thing."""

    values: dict[str, str]

    @classmethod
    def parse(cls, text: str) -> Snapshot:
        """From its lines; what follows a `#` is for people."""
        lines = [line.split("\t", 1) for line in text.splitlines() if "\t" in line]
        return cls({key: value for key, value in lines})

    def movable_on(self, cpu: int, alone: bool = False) -> list[str]:
        """The tasks that may run on a processor and could be moved; `alone`: on no other."""
        cpus = re.compile(rf"cpus={cpu} " if alone else rf"cpus=[0-9,]*\b{cpu}\b")
        return [
            f"{key} {value}"
            for key, value in self.values.items()
            if key.startswith("task ") and " fixed=0 " in value and cpus.search(value)
        ]

    def differences(self, after: Snapshot) -> list[str]:
        """What is not as it was. A task may come and go, but none may stay narrowed.

        A worker of the kernel that one side saw just born, not yet fixed, has only begun.
        """
        found = []
        for key in sorted(self.values.keys() | after.values.keys()):
            was, now = (side.values.get(key) for side in (self, after))
            if now and key.startswith("task ") and not was:
                if " fixed=0 " in now and f"cpus={ALL} policy=0 " not in now:
                    found.append(f"{key}: new, {now}")
                if "whimbrel" in now:
                    found.append(f"{key}: new, {now}")
            elif key.startswith("task ") and (not now or fixed(was) != fixed(now)):
                continue
            elif (was or "").split(" #")[0] != (now or "").split(" #")[0]:
                found.append(f"{key}: {was} -> {now}")
        return found


def fixed(task: str | None) -> bool:
    """Whether the kernel lets nobody move a task."""
    return " fixed=1 " in (task or "")


def wait_for_guardians(guest: Guest, number: int = 0) -> None:
    """Waits until so many live."""
    living = "pidof occupy-guardian"
    until(lambda pids: len(pids) == number, lambda: guest.run(living).output.split())


@contextmanager
def occupation(guest: Guest, options: str, words: str) -> Iterator[int]:
    """Occupies for a program that runs meanwhile; yields the program's number."""
    command = f"whimbrel-occupy {options} -- sh -c 'echo $$ >/tmp/program; exec \"$@\"' sh {words}"
    guest.check(f"rm -f /tmp/program; {command} >/tmp/said 2>&1 & echo $! >/tmp/tool")
    program = until(
        lambda result: result.output.strip() != "" or result.status != 0,
        lambda: guest.run("cat /tmp/program 2>/dev/null || kill -0 $(cat /tmp/tool) 2>/dev/null"),
    ).output.strip()
    assert program, guest.run("cat /tmp/said").output
    try:
        yield int(program)
    finally:
        guest.run(f"kill -TERM {program}; wait $(cat /tmp/tool)")
        wait_for_guardians(guest)
