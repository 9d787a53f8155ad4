# SPDX-License-Identifier: Apache-2.0
"""The package of Debian, in a root that has nothing else: what it needs is declared, the page on
installing it tells the truth, and nothing is left of it.

The commands are those of docs/install.md. They run without a network.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.append(str(ROOT / "tests"))

from documents import blocks  # noqa: E402

BARE = Path(os.environ.get("BARE_ROOT", ROOT / "build/bare.tar"))
USER = "visitor"
ON_BOARD = ["cmake", "gcc-arm-none-eabi", "libnewlib-arm-none-eabi", "qemu-system-arm"]
ENVIRONMENT = [
    "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
    "DEBIAN_FRONTEND=noninteractive",
    "LC_ALL=C.UTF-8",
]
# What apt and dpkg keep of their own work.
LEDGERS = ("dev", "proc", "tmp", "var/cache", "var/lib/apt", "var/lib/dpkg", "var/log", "root")


def package() -> Path:
    """The one of this version."""
    version = re.search(r'^version = "(.*)"', (ROOT / "crates/Cargo.toml").read_text(), re.M)
    assert version
    (found,) = (ROOT / "build").glob(f"whimbrel_{version[1]}_*.deb")
    return found


class Machine:
    """One that runs until it is stopped, or its test ends in whichever way."""

    def __init__(self, folder: Path) -> None:
        words = [HERE / "machine.sh", BARE, folder]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        assert self.process.stdout.readline() == "ready\n"
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        self.first = children.read_text().strip()
        self.root = Path(f"/proc/{self.first}/root")

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()

    def does(self, *words: str) -> str:
        """What a command prints there, which succeeds."""
        enter = ["nsenter", "--target", self.first, "--mount", "--pid", "--root", "--wd"]
        enter += [] if os.geteuid() == 0 else ["--user"]
        run = subprocess.run(
            [*enter, "env", "-i", *ENVIRONMENT, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 0, f"{words}\n{run.stdout}\n{run.stderr}"
        return run.stdout

    def visitor_does(self, script: str) -> str:
        """What a script prints that an ordinary user runs in a folder of his own."""
        login = ["runuser", "-u", USER, "--", "env", f"HOME=/home/{USER}", "sh", "-ec"]
        return self.does(*login, f"cd\n{script}")

    def names(self) -> set[str]:
        """Each file and folder, but for what packages' tools write about themselves."""
        listed = self.does("find", "/", "-xdev", "-printf", "%P\\n").splitlines()
        return {name for name in listed if not name.startswith(LEDGERS)}

    def installs(self, *options: str) -> None:
        self.does("apt-get", "install", "-qqy", *options, f"/home/{USER}/{package().name}")


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Machine]:
    """A machine with apt and an ordinary user, and the package in his folder."""
    machine = Machine(tmp_path)
    machine.does("useradd", "--create-home", USER)
    shutil.copy(package(), machine.root / "home" / USER)
    yield machine
    machine.stop()


def moved(text: str) -> list[str]:
    return [one["status"] for one in json.loads(text)["migrations"]]


def test_lintian_has_nothing_to_say() -> None:
    words = ["lintian", "--allow-root", "--fail-on", "error,warning", package()]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout == ""


def test_the_command_needs_what_the_package_depends_on_and_leaves_nothing(bare: Machine) -> None:
    before = bare.names()
    bare.installs("--no-install-recommends")
    examples = "/usr/share/whimbrel/apps"
    run = f"whimbrel run {examples}/hello/app.toml --quiet --json --move bird=1@100ms"
    assert moved(bare.visitor_does(run)) == ["ok"]
    radio = f"{examples}/fm_radio/app.toml --set output=/home/{USER}/radio.wav"
    summary = json.loads(
        bare.visitor_does(f"whimbrel sim {radio} --duration 1s --json --record run")
    )
    assert summary["app"]["name"] == "fm_radio"
    bare.visitor_does("whimbrel report run --output run.html; grep -q '<html' run.html")

    home = {name for name in bare.names() if name.startswith(f"home/{USER}")}
    bare.does("apt-get", "purge", "-qqy", "whimbrel")
    assert bare.names() - home == before - home
    assert "whimbrel" not in bare.does("dpkg-query", "-W")


def test_the_page_leads_from_the_package_to_an_application_that_migrates(bare: Machine) -> None:
    (walk,) = [text for text in blocks(ROOT / "docs/install.md", "sh") if "apt install" in text]
    install, *commands = walk.splitlines()
    assert install == f"sudo apt install ./{package().name}"
    since = time.monotonic()
    bare.does("sh", "-c", f"cd /home/{USER} && {install.removeprefix('sudo ')} --yes")
    installed = bare.names()
    printed = bare.visitor_does("\n".join(["exec 2>&1", *commands]))
    took_s = time.monotonic() - since
    print(f"{len(commands) + 1} commands, {took_s:.0f} s")
    assert len(commands) + 1 <= 5
    assert "200 samples, none lost" in printed
    bare.visitor_does("make -C radio test")
    moves = bare.visitor_does(
        f"whimbrel run radio --quiet --json {commands[-1].split(maxsplit=3)[3]}"
    )
    # The last move may have come when the application ended.
    assert set(moved(moves)) - {"ended"} == {"ok"}
    assert all(name.startswith(f"home/{USER}/") for name in bare.names() - installed)

    bare.does("apt-get", "purge", "-qqy", "whimbrel")
    assert not [name for name in bare.names() if "whimbrel" in name and not name.startswith("home")]


@pytest.mark.skipif("DEB_ON_BOARD" not in os.environ, reason="fetches 400 MB: make soak")
def test_the_application_runs_on_an_emulated_board(bare: Machine) -> None:
    bare.installs()
    bare.does("apt-get", "install", "-qqy", "--no-install-recommends", *ON_BOARD)
    cargo = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    (freertos,) = cargo.glob("registry/src/*/freertos-next-*/FreeRTOS-Kernel")
    shutil.copytree(freertos, bare.root / "opt/freertos")
    options = "--board vexpress_a9 --shuttle filter=1,0@200ms --quiet --json"
    path = "FREERTOS_KERNEL_PATH=/opt/freertos"
    text = bare.visitor_does(f"whimbrel new radio >/dev/null; {path} whimbrel run radio {options}")
    assert set(moved(text)) - {"ended"} == {"ok"}
