# SPDX-License-Identifier: Apache-2.0
"""A guest: booted, obeyed line by line, looked at."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import image

PROCESSORS = 4
ALL = "0,1,2,3"
BOOT_SECONDS = 60
# Emulated processors have no side channels to guard, and need no search for their clock's rate.
KERNEL_LINE = "console=ttyS0 quiet mitigations=off nokaslr random.trust_cpu=on tsc=reliable"


@dataclass
class Result:
    """What a command in the guest said, and how it ended."""

    output: str
    status: int


class Guest:
    """A machine of four processors under QEMU's own emulation (no KVM, no network)."""

    def __init__(self, folder: Path, cgroup: str) -> None:
        """Boots it. `cgroup`: v2 (the only hierarchy), v1 (cpusets alone), or none."""
        self.console = folder / "console.txt"
        self.said = b""
        self.commands = 0
        line = f"{KERNEL_LINE} rig.cgroup={cgroup}"
        if cgroup == "v2":
            line += " cgroup_no_v1=all"
        self.channel, theirs = socket.socketpair()
        with theirs:
            command = [
                *("setpriv", "--pdeathsig", "KILL"),  # no guest outlives its test
                *("qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max"),
                *("-smp", str(PROCESSORS), "-m", "512M", "-nodefaults", "-display", "none"),
                *("-kernel", str(image.kernel()), "-initrd", str(image.build(folder))),
                *("-append", line, "-serial", f"file:{self.console}"),
                *("-chardev", f"socket,id=host,fd={theirs.fileno()}"),
                *("-device", "virtio-serial-pci", "-device", "virtserialport,chardev=host"),
                *("-device", "virtio-rng-pci"),
                *("-drive", f"file={image.disk(folder)},if=virtio,format=raw,cache=unsafe"),
            ]
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        try:
            self.wait_ready()
        except BaseException:
            self.end()
            raise

    def wait_ready(self) -> None:
        """Waits until the guest's shell listens: after the boot, and after a reboot."""
        self._until(re.compile(rb"@ready\n"), BOOT_SECONDS)

    def run(self, command: str, seconds: float = 60) -> Result:
        """Runs lines of shell in the guest, in its one shell, without input."""
        self.commands += 1
        text = f"{{ {command}\n}} </dev/null; printf '\\n@%d %d\\n' {self.commands} $?\n"
        self.channel.sendall(text.encode())
        end = re.compile(rb"\n@%d (\d+)\n" % self.commands)
        output, match = self._until(end, seconds)
        return Result(output.decode(errors="replace"), int(match[1]))

    def check(self, command: str, seconds: float = 60) -> str:
        """As `run`, for what must succeed; returns what it said."""
        result = self.run(command, seconds)
        assert result.status == 0, f"{command}: status {result.status}\n{result.output}"
        return result.output

    def snapshot(self) -> Snapshot:
        """The state of all that an occupation may change."""
        return Snapshot.parse(self.check("rig snapshot"))

    def reboot(self) -> None:
        """Starts anew, at once, as after a loss of power but with the disk written."""
        self.channel.sendall(b"sync; reboot -f\n")
        self.wait_ready()

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

    def differences(self, after: Snapshot) -> list[str]:
        """What is not as it was. A task may come and go, but none may stay narrowed."""
        found = []
        for key in sorted(self.values.keys() | after.values.keys()):
            was, now = (side.values.get(key) for side in (self, after))
            if now and key.startswith("task ") and not was:
                if " fixed=0 " in now and f"cpus={ALL} policy=0 " not in now:
                    found.append(f"{key}: new, {now}")
                if "whimbrel" in now:
                    found.append(f"{key}: new, {now}")
            elif key.startswith("task ") and not now:
                continue
            elif (was or "").split(" #")[0] != (now or "").split(" #")[0]:
                found.append(f"{key}: {was} -> {now}")
        return found
