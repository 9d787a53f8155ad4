# SPDX-License-Identifier: Apache-2.0
"""The tables of app.toml and platform.toml as dataclasses: `make keys`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ._shown import Shown

Number = int | float
Amount = int | float | str  # a number, or an expression of parameters
Param = str | int | float | bool | list[float]


@dataclass(frozen=True, kw_only=True, repr=False)
class App(Shown):
    """Settings of the whole application: `[app]` of docs/app-toml.md."""

    name: str
    """The application's name."""
    module: str | None = None
    """The shared object, in the folder of app.toml or in the build folder; default: none: tasks
    are synthetic."""
    compute: Literal["real", "model"] | None = None
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
    cores: tuple[int | str, ...] | None = None
    """The cores of a run on this machine: processors, and cores of boards that are its guests;
    --cores replaces them; default: all processors that the run may use."""
    kinds: tuple[str, ...] | None = None
    """The kinds of the cores of a run on this machine; the last applies to all further cores;
    --kinds replaces them; default: "host" for all."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Task(Shown):
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
    alone; boards that share tasks only."""
    priority: int | None = None
    """The priority: larger is more urgent; equal tasks take turns when one waits; 0 to 31;
    default 8."""
    nice: int | None = None
    """The share of a "fair" core: each step down adds a quarter; -20 to 19; default 0;
    simulator only; other kernels ignore it."""
    stack: int | str | None = None
    """The size of the stack; at least 16KiB, except on boards; 1KiB to 1GiB; default "64KiB"."""
    heap: int | str | None = None
    """The size of the heap; at most 64GiB; default "256KiB"."""
    migratable: bool | None = None
    """Whether the task may move; default true."""
    restart: bool | None = None
    """Whether the task restarts if its kernel dies while it runs; otherwise it is lost; default
    false."""
    mode: Literal["handoff", "replicate", "recreate", "reenter"] | None = None
    """How the task moves; "handoff", "replicate", "recreate" or "reenter"; default "handoff"."""
    move: Literal["checkpoints", "waits"] | None = None
    """Where a requested migration happens; "waits": also where the task waits; "checkpoints" or
    "waits"; default "checkpoints"."""
    checkpoint_every: int | None = None
    """The checkpoints from one image of the task to the next; 0: no images; 0 to 4294967295;
    default 0."""
    on_crash: Literal["replay", "skip"] | None = None
    """With images: messages since the last image are processed again, or skipped; "replay" or
    "skip"; default "replay"."""
    periodic: bool | None = None
    """One job per frame: released at the frame rate; default false."""
    period_us: Number | None = None
    """Instead of `periodic`: the task's period; 1 to 1e9; default: none."""
    arrival: Literal["periodic", "sporadic"] | None = None
    """With `period_us`: "sporadic" makes it the least time between two releases; "periodic" or
    "sporadic"; default "periodic"."""
    mean_gap_us: Number | None = None
    """With "sporadic": the mean time between two releases beyond the period; more than 0, at
    most 1e9."""
    jitter_us: Number | None = None
    """With a period: the longest time from a release until its job can begin; 0 to 1e9; default
    0."""
    deadline_frames: Number | None = None
    """The time until a job is late, in periods; needs a period; more than 0, at most 1e6;
    default 1.0."""
    offset_frames: Number | None = None
    """The first release, in periods after the start; needs a period; 0 to 1e6; default 0."""
    client: bool | None = None
    """Whether the task is a process outside the run, with ports only; default false; Linux
    only."""
    kinds: tuple[str, ...] | None = None
    """The kinds of cores that the task runs on; default: all, or those of `cycles`."""
    cycles: Amount | dict[str, Amount] | None = None
    """The cycles of a firing: by kind of core, or one number for every kind; default: not
    known."""
    distribution: Literal["constant", "uniform", "normal", "exponential"] | None = None
    """The distribution of the cycles; "constant", "uniform", "normal" or "exponential"; default
    "constant"."""
    spread: Number | None = None
    """Half the width of "uniform", or the deviation of "normal" (at most 0.333333), relative;
    more than 0, at most 1."""
    working_set: int | str | None = None
    """Memory that every firing uses again, for the cost of a cold cache; at most 1024GiB;
    default 0."""
    traffic: int | str | None = None
    """Bytes over the interconnect in each firing, in addition to its messages; at most 1024GiB;
    default 0."""
    firings: int | None = None
    """The number of firings after which a source ends; 1 to 2^64 - 1; default: when the run
    stops."""
    script: tuple[dict[str, Any], ...] | None = None
    """The events of the task in order, instead of `cycles`; default: none."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Mutex(Shown):
    """A mutex that scripts lock: `[[mutex]]` of docs/app-toml.md."""

    name: str
    """The name that scripts use."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Condition(Shown):
    """A condition that scripts wait for and signal: `[[condition]]` of docs/app-toml.md."""

    name: str
    """The name that scripts use."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Barrier(Shown):
    """A barrier at which scripts wait for each other: `[[barrier]]` of docs/app-toml.md."""

    name: str
    """The name that scripts use."""
    tasks: int
    """The number of tasks that wait at it: all that name it; 1 to 131071."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Semaphore(Shown):
    """A semaphore whose permits scripts take and give: `[[semaphore]]` of docs/app-toml.md."""

    name: str
    """The name that scripts use."""
    initial: int | None = None
    """The permits at the start; 0 to 2147483647; default 0."""
    most: int | None = None
    """The most permits: a `give` beyond is lost; 1 to 2147483647; default 2147483647."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Timer(Shown):
    """A timer that several scripts use; any other timer belongs to one task: `[[timer]]` of
    docs/app-toml.md."""

    name: str
    """The name that scripts use."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Channel(Shown):
    """A channel between two tasks: `[[channel]]` of docs/app-toml.md."""

    from_: str
    """The port that sends: TASK.PORT; with a `count`, each task has a channel."""
    to: str
    """The port that receives: TASK.PORT."""
    slots: int | None = None
    """The capacity in messages; 1 to 32768; default 14."""
    slot_bytes: Amount
    """The size of a message, at most 1 GiB: numbers and parameters with + * and /."""
    doorbell: str | None = None
    """How the receiver notices messages: also "polling:20ms" or "adaptive:1ms"; default
    "interrupt"."""
    batch: str | None = None
    """With "interrupt": the messages, or the time after the first, that wake the receiver;
    default: each message."""
    memory: Literal["external", "internal"] | None = None
    """Where the slots lie; "external" or "internal"; default "external"."""
    initial: int | None = None
    """Zeroed messages present at the start; 0 to 4294967295; default 0."""
    produce: int | None = None
    """Messages that a firing of a synthetic sender puts; 1 to 32768; default 1."""
    consume: int | None = None
    """Messages that a firing of a synthetic receiver takes; 1 to 32768; default 1."""
    claim: Literal["send", "start"] | None = None
    """When a firing of a synthetic sender claims room; "send" or "start"; default "send"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Mailbox(Shown):
    """A channel with many senders: `[[mailbox]]` of docs/app-toml.md."""

    from_: tuple[str, ...]
    """The ports that send."""
    to: str
    """The port that receives: TASK.PORT."""
    slots: int | None = None
    """The capacity in messages; 1 to 32768; default 14."""
    slot_bytes: Amount
    """The size of a message, at most 1 GiB: numbers and parameters with + * and /."""
    doorbell: str | None = None
    """How the receiver notices messages: also "polling:20ms" or "adaptive:1ms"; default
    "interrupt"."""
    batch: str | None = None
    """With "interrupt": the messages, or the time after the first, that wake the receiver;
    default: each message."""
    memory: Literal["external", "internal"] | None = None
    """Where the slots lie; "external" or "internal"; default "external"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Service(Shown):
    """A task that others call: `[[service]]` of docs/app-toml.md."""

    name: str
    """The name by which callers and the service open it."""
    task: str
    """The task that serves."""
    callers: tuple[str, ...]
    """The tasks that may call it."""
    request_bytes: Amount
    """The maximum size of a request, at most 1 GiB less 32 bytes."""
    answer_bytes: Amount
    """The maximum size of an answer, at most 1 GiB less 32 bytes."""
    calls: int | None = None
    """The calls that each caller may have outstanding (`WB_CALLS_MAX`); 1 to 32; default 4."""
    request_doorbell: str | None = None
    """How the service notices requests, like `doorbell` of a channel; default "interrupt"."""
    answer_doorbell: str | None = None
    """How callers notice answers; default "interrupt"."""
    request_memory: Literal["external", "internal"] | None = None
    """Where requests lie, like `memory` of a channel; "external" or "internal"; default
    "external"."""
    answer_memory: Literal["external", "internal"] | None = None
    """Where answers lie; "external" or "internal"; default "external"."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Platform(Shown):
    """The platform: `[platform]` of docs/platform-toml.md."""

    name: str
    """The platform's name."""
    description: str | None = None
    """One line about the platform; default: none."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Point(Shown):
    """Its operating points, from the lowest frequency to the highest: `[[core.point]]` of
    docs/platform-toml.md."""

    mhz: Number
    """The frequency, at least a thousandth of the highest; 0.001 to 1e6."""
    volts: Number | None = None
    """The supply voltage; 0.1 to 100; default: not known."""
    active_mw: Number
    """The power while a task runs; 0 to 4e6."""
    idle_mw: Number | None = None
    """The power while no task runs, with `idle = "on"`; 0 to 4e6; default: that of active_mw."""
    static_mw: Number | None = None
    """The part of both that follows temperature: see [core.leakage]; 0 to 4e6; default 0."""
    source: str | None = None
    """The source of its numbers; default: none."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Transition(Shown):
    """The change from one point to another: `[core.transition]` of docs/platform-toml.md."""

    time_us: Number
    """The time for which the core does nothing; 0 to 1e9."""
    energy_uj: Number | None = None
    """The additional energy; 0 to 1e9; default 0."""
    source: str
    """The source of its numbers."""


@dataclass(frozen=True, kw_only=True, repr=False)
class IdleState(Shown):
    """States of an idle core, from the shallowest to the deepest; without any: idle_mw:
    `[[core.idle_state]]` of docs/platform-toml.md."""

    name: str
    """The state's name."""
    power_mw: Number
    """The power in it; 0 to 4e6."""
    enter_us: Number | None = None
    """The time from the decision until its power is reached, at active power; 0 to 1e9; default
    0."""
    exit_us: Number | None = None
    """The time from the doorbell until the core runs, at active power; 0 to 1e9; default 0."""
    after_us: Number | None = None
    """The time without work after which it is entered; 0 to 1e9; default 0."""
    loses_cache: bool | None = None
    """Whether the core's cache is empty after it; default false."""
    ring_us: Number | None = None
    """The additional time to ring a core in this state, after [doorbell.send]; 0 to 1e9;
    default 0."""
    switch_us: Number | None = None
    """The additional time of the first switch after it; 0 to 1e9; default 0."""
    refill_us: Number | None = None
    """The additional time of the first firing after it, as busy time of its task; 0 to 1e9;
    default 0."""
    source: str
    """The source of its numbers."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Leakage(Shown):
    """Power that follows temperature: static_mw * exp((temperature - reference_c) / slope_c):
    `[core.leakage]` of docs/platform-toml.md."""

    reference_c: Number
    """The temperature of the stated power; -273 to 1000."""
    slope_c: Number
    """The degrees for a factor of e; 1 to 1000."""
    source: str
    """The source of its numbers."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Cache(Shown):
    """Warm-up after a switch or a migration: `[core.cache]` of docs/platform-toml.md."""

    size: int | str
    """The size; 1 to 1024GiB."""
    line_bytes: int
    """The size of a line; 1 to 4096."""
    miss_ns: Number
    """The time of a missing line, before its transfer over the bus or mesh; 0 to 1e9."""
    far_ns: Number | None = None
    """The additional time of a line of a message from another core; 0 to 1e9; default 0."""
    disturbed: Number | None = None
    """The part of the warm-ups that take longer, for example under a hypervisor; 1e-6 to 1;
    default: none."""
    disturbed_us: Number | None = None
    """The mean of that additional time, exponentially distributed, as busy time; 0 to 1e9;
    default: none."""
    source: str
    """The source of its numbers."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Cost(Shown):
    """The cost of an action on this core alone; default: tables such as [costs.send]:
    `[core.costs.send]` of docs/platform-toml.md."""

    cycles: Number | None = None
    """Cycles of each action; 0 to 1e15; default 0."""
    cycles_per_unit: Number | None = None
    """Cycles for each unit: see below; 0 to 1e15; default 0."""
    time_us: Number | None = None
    """Time of each action; 0 to 1e9; default 0."""
    source: str
    """The source of its numbers."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Core(Shown):
    """A core, or `count` of them; if there is none: the cores of the machine: `[[core]]` of
    docs/platform-toml.md."""

    count: int | None = None
    """The number of equal cores; 1 to 4095; default 1."""
    kind: str | None = None
    """The kind of core, for which tasks have cycles; default "core"."""
    idle: Literal["on", "off"] | None = None
    """"off": an idle core is shut down and consumes nothing; "on" or "off"; default "on"."""
    start_mhz: Number | None = None
    """The frequency of the operating point at the start of the run; 0.001 to 1e6; default: the
    highest."""
    scheduling: Literal["cooperative", "preemptive", "edf", "fair"] | None = None
    """When the kernel takes the core from a task; "cooperative", "preemptive", "edf" or "fair";
    default "cooperative"; simulator only; other kernels ignore it."""
    migration: Literal["none", "restricted", "full"] | None = None
    """With "preemptive" or "edf": when tasks move between the cores, which then share one
    scheduler; between jobs, or at any time; "none", "restricted" or "full"; default "none";
    simulator only; other kernels ignore it."""
    slice_us: Number | None = None
    """With "preemptive": the time slice of equally urgent tasks; with "fair": the slice that a
    task requests; 1 to 1e9; default: a turn ends when the task waits; "fair": 2800; simulator
    only; other kernels ignore it."""
    tick_us: Number | None = None
    """With "fair": the interval at which the kernel checks whether a slice has ended; 1 to 1e9;
    default: at the end of the slice; simulator only; other kernels ignore it."""
    timer_slack_us: Number | None = None
    """The delay of sleeps, timers and time-outs of tasks with a priority up to 8; 0 to 1e9;
    default 0; simulator only; other kernels ignore it."""
    node: tuple[int, ...] | None = None
    """Its node of the mesh; 0 to 4094; default: the node after that of the core before."""
    source: str | None = None
    """The source of its frequencies and powers; default: none."""
    point: tuple[Point, ...] = ()
    """Its operating points, from the lowest frequency to the highest."""
    transition: Transition | None = None
    """The change from one point to another."""
    idle_state: tuple[IdleState, ...] = ()
    """States of an idle core, from the shallowest to the deepest; without any: idle_mw."""
    leakage: Leakage | None = None
    """Power that follows temperature: static_mw * exp((temperature - reference_c) / slope_c)."""
    cache: Cache | None = None
    """Warm-up after a switch or a migration."""
    costs: dict[str, Cost] | None = None
    """The cost of an action on this core alone; default: tables such as [costs.send]."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Memory(Shown):
    """A memory of all cores, or of one: `[[memory]]` of docs/platform-toml.md."""

    name: str
    """The memory's name."""
    kind: Literal["shared", "private", "scratchpad"]
    """Globally visible memory is the first that is "shared"; "shared", "private" or
    "scratchpad"."""
    core: int | None = None
    """The core of a memory that is not shared; 0 to 4094; default: every core has one."""
    size: int | str
    """The size; 1 to 18446744073709551615."""
    latency_ns: Number
    """The time until a transfer begins; 0 to 1e9."""
    mb_per_s: Number
    """10^6 bytes per second; 0.001 to 1e9."""
    node: tuple[int, ...] | None = None
    """Its node of the mesh; 0 to 4094; default: [0, 0]."""
    source: str
    """The source of its numbers."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Bus(Shown):
    """A bus that all cores share, unless there is a mesh; needs a shared memory: `[bus]` of
    docs/platform-toml.md."""

    arbitration: Literal["fcfs", "tdma"] | None = None
    """First come, first served; or a slot of one burst for each core in turn, used or not;
    "fcfs" or "tdma"; default "fcfs"."""
    mhz: Number
    """The frequency; 0.001 to 1e6."""
    width_bytes: int
    """The bytes per cycle; 1 to 4096."""
    setup_cycles: int | None = None
    """The cycles before each burst; 0 to 1000000; default 0."""
    burst_bytes: int
    """The maximum size of a burst, after which another core has its turn; 1 to 1048576."""
    pj_per_byte: Number | None = None
    """The energy per byte; 0 to 1e6; default 0."""
    source: str
    """The source of its numbers."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Mesh(Shown):
    """Links between neighbours: messages go along their row first, then along the column:
    `[mesh]` of docs/platform-toml.md."""

    columns: int
    """The nodes of a row; 1 to 64."""
    rows: int
    """The nodes of a column; 1 to 64."""
    mhz: Number
    """The frequency of the links; 0.001 to 1e6."""
    width_bytes: int
    """The bytes per cycle; 1 to 4096."""
    hop_cycles: int
    """The cycles in each router; 0 to 1000000."""
    pj_per_byte_hop: Number | None = None
    """The energy per byte and hop; 0 to 1e6; default 0."""
    source: str
    """The source of its numbers."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Doorbell(Shown):
    """The signal from one core to another; without it: an interrupt that costs nothing:
    `[doorbell]` of docs/platform-toml.md."""

    kind: Literal["interrupt", "polling"]
    """How an idle core notices the signal; "interrupt" or "polling"."""
    latency_us: Number | None = None
    """The time until the other core can notice the signal; 0 to 1e9; default 0."""
    interval_us: Number | None = None
    """With "polling": the time between two polls of an idle core; 1e-6 to 1e9."""
    source: str
    """The source of its numbers."""
    send: Cost | None = None
    """The cost of a ring."""
    receive: Cost | None = None
    """The cost of the interrupt's entry and exit, or of one poll."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Thermal(Shown):
    """The thermal model of the die and its heat sink; needs a floorplan: `[thermal]` of
    docs/platform-toml.md."""

    ambient_c: Number
    """The temperature of the surroundings; -273 to 1000."""
    thickness_mm: Number
    """The thickness of the die; 1e-9 to 1e12."""
    conductivity_w_per_m_k: Number
    """The conductivity of the die; 1e-9 to 1e12."""
    capacity_j_per_m3_k: Number
    """The heat capacity of the die; 1e-9 to 1e12."""
    sink_k_per_w: Number
    """The thermal resistance from the whole die to the surroundings; 1e-9 to 1e12."""
    sink_j_per_k: Number
    """The heat capacity of the heat sink; 1e-9 to 1e12."""
    step_ms: Number
    """The time from one computation of temperatures to the next; 0.001 to 1e6."""
    source: str
    """The source of its numbers."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Block(Shown):
    """A rectangle of the floorplan; they do not overlap: `[[block]]` of docs/platform-toml.md."""

    name: str
    """The block's name."""
    core: int | None = None
    """The core whose power heats it; 0 to 4094; default: none."""
    x_mm: Number
    """The left edge; -10000 to 10000."""
    y_mm: Number
    """The lower edge; -10000 to 10000."""
    width_mm: Number
    """The width; 0.001 to 10000."""
    height_mm: Number
    """The height; 0.001 to 10000."""
    columns: int | None = None
    """The number of equal blocks side by side, of the cores that follow; 1 to 64; default 1."""
    rows: int | None = None
    """The number of rows of such blocks; 1 to 64; default 1."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Work(Shown):
    """Measured cycles of one firing of a task; they replace those of the application:
    `[[work]]` of docs/platform-toml.md."""

    app: str
    """The application."""
    task: str
    """One of its tasks."""
    index: int | None = None
    """The index among the tasks of that name; 0 to 4294967295; default: all that no other table
    names."""
    kind: str | None = None
    """The kind of core; default: every kind that no other table names."""
    cycles: int
    """The cycles; 1 to 2^48."""
    working_set: int | str | None = None
    """Memory that every firing uses again; at most 1024GiB; default: that of the application."""
    source: str
    """The source of its numbers."""
