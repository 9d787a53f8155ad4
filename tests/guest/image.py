# SPDX-License-Identifier: Apache-2.0
"""What the guest boots: Debian's kernel, and an image with busybox, `rig` and `whimbrel-occupy`."""

from __future__ import annotations

import lzma
import os
import re
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build/guest"
KERNEL = BUILD / "kernel"
RIG = BUILD / "rig"
OCCUPY = Path(os.environ.get("GUEST_OCCUPY") or BUILD / "whimbrel-occupy")
# In the order in which the guest loads them: buses before devices.
MODULES = [
    "drivers/virtio/virtio_ring",
    "drivers/virtio/virtio",
    "drivers/virtio/virtio_pci_legacy_dev",
    "drivers/virtio/virtio_pci_modern_dev",
    "drivers/virtio/virtio_pci",
    "drivers/char/virtio_console",
    "drivers/block/virtio_blk",
    "drivers/char/hw_random/virtio-rng",
]


def missing() -> str | None:
    """What is needed and is not there; None if a guest can be booted."""
    programs = ["qemu-system-x86_64", "setpriv", "busybox", "cpio", "mke2fs"]
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    absent = [name for name in programs if not shutil.which(name, path=path)]
    absent += [str(file) for file in (OCCUPY, RIG) if not file.exists()]
    if not list(KERNEL.glob("boot/vmlinuz-*")):
        absent.append("a kernel in build/guest")
    return ", ".join(absent) or None


def kernel() -> Path:
    """The kernel's file."""
    return next(KERNEL.glob("boot/vmlinuz-*"))


def module(name: str) -> bytes:
    """The code of a module of the kernel, unpacked."""
    file = next(KERNEL.glob(f"lib/modules/*/kernel/{name}.ko*"))
    code = file.read_bytes()
    return lzma.decompress(code) if file.suffix == ".xz" else code


def libraries(program: Path) -> list[Path]:
    """The libraries of a program, and its loader; none of a static one."""
    said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    return [Path(file) for file in re.findall(r"(/\S+) \(0x", said)]


def build(folder: Path) -> Path:
    """The image of the guest's first file system, made in a folder of the test."""
    tree = folder / "tree"
    (tree / "bin").mkdir(parents=True)
    (tree / "modules").mkdir()
    shutil.copy(HERE / "init", tree / "init")
    busybox = shutil.which("busybox")
    assert busybox
    for name, file in (("busybox", busybox), ("rig", RIG), ("whimbrel-occupy", OCCUPY)):
        shutil.copy(file, tree / "bin" / name)
    for file in libraries(OCCUPY):
        place = tree / file.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, place)
    for number, name in enumerate(MODULES):
        (tree / "modules" / f"{number:02} {Path(name).name}.ko").write_bytes(module(name))
    names = subprocess.run(["find", "."], cwd=tree, check=True, capture_output=True).stdout
    image = folder / "image.cpio"
    with image.open("wb") as out:
        command = ["cpio", "--quiet", "-o", "-H", "newc", "-R", "0:0"]
        subprocess.run(command, cwd=tree, check=True, input=names, stdout=out)
    return image


def disk(folder: Path) -> Path:
    """An empty disk, which keeps its files when the guest starts anew."""
    file = folder / "disk.ext4"
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    mke2fs = shutil.which("mke2fs", path=path)
    assert mke2fs
    subprocess.run(
        [mke2fs, "-q", "-F", "-t", "ext4", "-E", "lazy_itable_init=0", str(file), "16M"],
        check=True,
        capture_output=True,
    )
    return file
