# SPDX-License-Identifier: Apache-2.0
"""The tables of app.toml as dataclasses. `make keys` makes this file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Number = int | float
Amount = int | float | str  # a number, or an expression of parameters
Param = str | int | float | bool | list[float]


@dataclass(frozen=True, kw_only=True)
class App:
    """What all its tasks have in common: `[app]` of docs/app-toml.md."""

    name: str
    """The application's name."""
    module: str | None = None
    """The shared object, beside app.toml or in the build folder; default: none: tasks are
    synthetic."""
    compute: str | None = None
    """Whether tasks compute, or only take the time of their cycles; "real" or "model"; default:
    "real", without a module "model"."""
    frame_rate: Amount | None = None
    """Frames per second: a number, or numbers and parameters joined by +, * and /; default:
    none."""
    memory: int | str | None = None
    """Memory for wb_app_alloc; at most 64GiB; default "64KiB"."""
    shared: int | str | None = None
    """Memory for wb_shared_malloc; at most 1GiB; default "1MiB"."""
    description: str | None = None
    """One line about the application; default: none."""
    paths: tuple[str, ...] | None = None
    """Parameters that are paths; default: none."""
    kinds: tuple[str, ...] | None = None
    """The kinds of the cores of a run on this machine, the last for all that follow; --kinds
    replaces them; default: "host" for all."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A task, or `count` of them: `[[task]]` of docs/app-toml.md."""

    name: str
    """The task's name."""
    entry: str | None = None
    """The function that the task runs; default: the task's name."""
    count: int | None = None
    """The number of such tasks: 3 makes bpf 0, 1 and 2; 1 to 4096; default 1."""
    core: int | tuple[int, ...] | None = None
    """The core where the task starts; with `count`, may be an array; 0 to 4094; default: 0."""
    cores: tuple[int, ...] | None = None
    """The cores that share the task: the one that is free runs it; 0 to 31; default: `core`
    alone; rv32_soc:hardware only."""
    priority: int | None = None
    """Larger is more urgent; equals take turns when one waits; 0 to 31; default 8."""
    nice: int | None = None
    """The share of a "fair" core, a quarter more for each step below; -20 to 19; default 0;
    simulator only."""
    stack: int | str | None = None
    """The size of the stack; at least 16KiB, but for boards; 1KiB to 1GiB; default "64KiB"."""
    heap: int | str | None = None
    """The size of the heap; at most 64GiB; default "256KiB"."""
    migratable: bool | None = None
    """Whether the task may move; default true."""
    restart: bool | None = None
    """Whether the task starts again if its kernel dies while it runs; without, it is lost;
    default false."""
    mode: str | None = None
    """How the task moves; "handoff", "replicate" or "recreate"; default "handoff"."""
    move: str | None = None
    """Where the task moves when it is asked to; "waits": also where it waits; "checkpoints" or
    "waits"; default "checkpoints"."""
    checkpoint_every: int | None = None
    """The checkpoints from one image of the task to the next; 0: no images; 0 to 4294967295;
    default 0."""
    on_crash: str | None = None
    """With images: messages since the last one are processed again, or left out; "replay" or
    "skip"; default "replay"."""
    periodic: bool | None = None
    """One job per frame: released at the frame rate; default false."""
    period_us: Number | None = None
    """Instead of `periodic`: a period of the task's own; 1 to 1e9; default: none."""
    arrival: str | None = None
    """With `period_us`; "sporadic": that is the least time between two releases; "periodic" or
    "sporadic"; default "periodic"."""
    mean_gap_us: Number | None = None
    """With "sporadic": the mean time between two releases beyond the period; more than 0, at
    most 1e9."""
    jitter_us: Number | None = None
    """With a period: the most that a job begins after its release; 0 to 1e9; default 0."""
    deadline_frames: Number | None = None
    """The time until a job is late, in periods; needs a period; more than 0, at most 1e6;
    default 1.0."""
    offset_frames: Number | None = None
    """The first release, in periods after the start; needs a period; 0 to 1e6; default 0."""
    client: bool | None = None
    """Whether the task stands for a process beside the run, and has ports alone; default false;
    Linux only."""
    kinds: tuple[str, ...] | None = None
    """The kinds of cores that the task runs on; default: all, or those of `cycles`."""
    cycles: Amount | dict[str, Amount] | None = None
    """The cycles of a firing, by kind of core, or one for every kind; default: not known."""
    distribution: str | None = None
    """How cycles vary; "constant", "uniform", "normal" or "exponential"; default "constant"."""
    spread: Number | None = None
    """Half the width of "uniform", or the deviation of "normal" (at most 0.333333), relative;
    more than 0, at most 1."""
    working_set: int | str | None = None
    """Memory that a firing comes back to, for the cost of a cold cache; at most 1024GiB;
    default 0."""
    traffic: int | str | None = None
    """Bytes over the interconnect in each firing, in addition to its messages; at most 1024GiB;
    default 0."""
    firings: int | None = None
    """The number of firings after which a source ends; 1 to 2^64 - 1; default: when the run
    stops."""
    script: tuple[dict[str, Any], ...] | None = None
    """What the task does, one event after the other, instead of `cycles`; default: none."""


@dataclass(frozen=True, kw_only=True)
class Mutex:
    """What scripts lock: `[[mutex]]` of docs/app-toml.md."""

    name: str
    """The name by which scripts call it."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What scripts wait for and signal: `[[condition]]` of docs/app-toml.md."""

    name: str
    """The name by which scripts call it."""


@dataclass(frozen=True, kw_only=True)
class Barrier:
    """Where scripts wait for each other: `[[barrier]]` of docs/app-toml.md."""

    name: str
    """The name by which scripts call it."""
    tasks: int
    """The tasks that wait at it: as many as name it; 1 to 131071."""


@dataclass(frozen=True, kw_only=True)
class Semaphore:
    """What scripts take and give: `[[semaphore]]` of docs/app-toml.md."""

    name: str
    """The name by which scripts call it."""
    initial: int | None = None
    """The permits at the start; 0 to 2147483647; default 0."""
    most: int | None = None
    """The most permits: a `give` beyond is lost; 1 to 2147483647; default 2147483647."""


@dataclass(frozen=True, kw_only=True)
class Timer:
    """A timer that several scripts use; others are each task's own: `[[timer]]` of
    docs/app-toml.md."""

    name: str
    """The name by which scripts call it."""


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A channel between two tasks: `[[channel]]` of docs/app-toml.md."""

    from_: str
    """The port that sends: TASK.PORT; where a task has a `count`, a channel for each."""
    to: str
    """The port that receives: TASK.PORT."""
    slots: int | None = None
    """The messages that fit; 1 to 32768; default 14."""
    slot_bytes: Amount
    """The size of a message, at most 1 GiB: numbers and parameters with + * and /."""
    doorbell: str | None = None
    """How the receiver is told of messages: or "polling:20ms", "adaptive:1ms"; default
    "interrupt"."""
    batch: str | None = None
    """With "interrupt": the messages, or the time after the first, that wake the receiver;
    default: for each."""
    memory: str | None = None
    """Where the slots lie; "external" or "internal"; default "external"."""
    initial: int | None = None
    """Zeroed messages present at the start; 0 to 4294967295; default 0."""
    produce: int | None = None
    """Messages that a firing of a synthetic sender puts; 1 to 32768; default 1."""
    consume: int | None = None
    """Messages that a firing of a synthetic receiver takes; 1 to 32768; default 1."""
    claim: str | None = None
    """When a firing of a synthetic sender claims room; "send" or "start"; default "send"."""


@dataclass(frozen=True, kw_only=True)
class Mailbox:
    """A channel with many senders: `[[mailbox]]` of docs/app-toml.md."""

    from_: tuple[str, ...]
    """The ports that send."""
    to: str
    """The port that receives: TASK.PORT."""
    slots: int | None = None
    """The messages that fit; 1 to 32768; default 14."""
    slot_bytes: Amount
    """The size of a message, at most 1 GiB: numbers and parameters with + * and /."""
    doorbell: str | None = None
    """How the receiver is told of messages: or "polling:20ms", "adaptive:1ms"; default
    "interrupt"."""
    batch: str | None = None
    """With "interrupt": the messages, or the time after the first, that wake the receiver;
    default: for each."""
    memory: str | None = None
    """Where the slots lie; "external" or "internal"; default "external"."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """A task that others call: `[[service]]` of docs/app-toml.md."""

    name: str
    """The name by which callers and the service open it."""
    task: str
    """The task that serves."""
    callers: tuple[str, ...]
    """The tasks that may call it."""
    request_bytes: Amount
    """The most that a request carries, at most 1 GiB less 32 bytes."""
    answer_bytes: Amount
    """The most that an answer carries, at most 1 GiB less 32 bytes."""
    calls: int | None = None
    """The calls that each caller may have outstanding (`WB_CALLS_MAX`); 1 to 32; default 4."""
    request_doorbell: str | None = None
    """How the service is told of requests, as `doorbell` of a channel; default "interrupt"."""
    answer_doorbell: str | None = None
    """How callers are told of answers; default "interrupt"."""
    request_memory: str | None = None
    """Where requests lie, as `memory` of a channel; "external" or "internal"; default
    "external"."""
    answer_memory: str | None = None
    """Where answers lie; "external" or "internal"; default "external"."""
