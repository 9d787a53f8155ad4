# SPDX-License-Identifier: Apache-2.0
"""What else lives on a machine: services with cpusets of their own, tasks that are pinned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from machine import Guest, until

FOLDERS = {"v2": "/sys/fs/cgroup", "v1": "/sys/fs/cgroup/cpuset"}
# Bound to the processor that is occupied, to others, to both; and with priorities.
PINNED = ["taskset 8", "taskset 3", "taskset c", "rig as 0 7", "rig as 1 5", "rig as 3 0"]


@contextmanager
def pinned(guest: Guest) -> Iterator[None]:
    """Sleeping tasks whose affinities and priorities are not the usual ones."""
    starts = "; ".join(
        f"{how} sleep 100000 >/dev/null 2>&1 & echo $! >>/tmp/pinned" for how in PINNED
    )
    guest.check(starts)
    until(
        lambda names: names == ["sleep"] * len(PINNED),
        lambda: guest.check("for pid in $(cat /tmp/pinned); do cat /proc/$pid/comm; done").split(),
    )
    try:
        yield
    finally:
        guest.check("kill $(cat /tmp/pinned); wait $(cat /tmp/pinned); rm /tmp/pinned")


@contextmanager
def service(guest: Guest, name: str, cpus: str, exclusive: bool = False) -> Iterator[None]:
    """A set of another tool's with a sleeping task in it; nothing where there are no sets."""
    root = FOLDERS.get(guest.cgroup)
    if not root:
        yield
        return
    own = f"{root}/{name}"
    lines = [f"echo +cpuset >{root}/cgroup.subtree_control" if guest.cgroup == "v2" else ":"]
    lines += [f"mkdir {own}", f"echo {cpus} >{own}/cpuset.cpus", f"echo 0 >{own}/cpuset.mems"]
    if exclusive:
        kind = {"v2": f"echo root >{own}/cpuset.cpus.partition"}
        lines += [kind.get(guest.cgroup, f"echo 1 >{own}/cpuset.cpu_exclusive")]
    lines += [f"{{ sleep 100001 >/dev/null 2>&1 & echo $! >/tmp/{name}; }}"]
    lines += [f"cat /tmp/{name} >{own}/cgroup.procs"]
    guest.check(" && ".join(lines))
    try:
        yield
    finally:
        guest.check(f"kill $(cat /tmp/{name}); rm /tmp/{name}")
        guest.check(f"until rmdir {own} 2>/dev/null; do usleep 50000; done")
        if guest.cgroup == "v2":
            guest.check(f"[ -d {root}/*/ ] || echo -cpuset >{root}/cgroup.subtree_control")
