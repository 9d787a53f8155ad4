# SPDX-License-Identifier: Apache-2.0
"""A Gymnasium environment: an agent that learns decides on moves and operating points.

    import gymnasium

    env = gymnasium.make(
        "whimbrel.gym:Whimbrel-v0", application="apps/fm_radio/app.toml", platform="mpsoc3"
    )

docs/python.md has the observations, the actions and the rewards.
"""

from __future__ import annotations

import json
import math
from binascii import unhexlify
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, Literal, TypeAlias, get_args

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded

from . import _words
from ._native import _core
from ._words import Time
from .errors import InputError, PolicyError, RunError
from .model import Application, Platform, path_of
from .policies import place_of

Array = np.ndarray[Any, np.dtype[Any]]
Reward = Mapping[str, float] | Callable[[dict[str, Any]], float]
Actions: TypeAlias = Literal["moves", "mapping", "points", "both"]
Changes = str | Iterable[str] | Callable[[np.random.Generator], Iterable[str]]

# What the simulator tells in each period (`seen` of docs/kernels-linux-protocol.md).
RUN = ("now_ns", "rate_millihz")
CORE = ("up", "point", "busy_ppm", "load_ppm", "temperature_mc", "energy_uj")
TASK = (
    *("core", "last_core", "movable", "not_on", "load_ppm"),
    *("here_ns", "away_ns", "migration_ns", "jobs", "misses"),
)
_SEEN, _NO_TEMPERATURE = b'{"seen":"', -(1 << 31)

_WEIGHTS = {"misses": 1.0, "energy": 0.001, "temperature": 0.0}
# Of a normalised observation: what is 1, of the first columns of a core, and of `movable` and
# `load_ppm` of a task.
_CORE_SCALE = np.array([1, 1, 1e6, 1e6, 125_000])
_TASK_SCALE = np.array([1, 1e6])
# What is a half, of times, and of the frame rate.
_TASK_HALF = np.array([1e9, 1e9, 1e6])
_RATE_HALF = 100e3

_OPTIONS: _words.Texts = {
    "agent_period": _words.time,
    "map": _words.mapping,
    "frame_rate": _words.number,
    "frame_rate_changes": _words.repeated,
    "core_count": _words.integer,
    "set": _words.set_options,
    "compute": _words.text,
    "mode": _words.text,
}


class Environment(gymnasium.Env[Any, Any]):
    """A simulation that stands still between two decisions.

    With room for C cores and T tasks an observation is an array of float32 of the shape
    (1 + 5 C + T (C + 5),), from 0 to 1. With `raw` it is a dict of arrays of int64: "run" of the
    shape (2,), with the columns `RUN`; "cores", (C, 6), `CORE`; and "tasks", (T, 10), `TASK`. The
    names of these columns end with their units.

    `info` is a dict: `time_s` since the start; `jobs`, `misses` and `energy_mj` since the last
    step; `temperature_c` of the hottest core, if it is known; and at the end of an episode `ended`,
    the reason.

    Args:
        application: The application, or the path of its app.toml.
        platform: The hardware, or its name, or the path of its file.
        duration: Virtual time after which an episode is truncated, in seconds, a `timedelta`, or
            text such as "500ms".
        agent_period: Virtual time of a step, in the same form.
        actions: "moves": one move or none; "mapping": a core for each task; "points": an operating
            point for each core; "both": one move, and operating points.
        reward: Weights of what is bad, such as `{"misses": 1, "energy": 0.001, "temperature": 0}`
            for each missed deadline, millijoule and degree Celsius of the hottest core; or a
            function from the `info` of a step to its reward.
        raw: Observations are the numbers of the simulator, not normalised.
        tasks, cores: How many the spaces have room for; default: those of the simulation. One agent
            can so be trained on several applications.
        frame_rate_changes: Changes of the frame rate, such as "900@2s"; or a function that draws
            them for an episode from its random numbers.
        map, frame_rate, core_count, set, compute, mode: As in `whimbrel.simulate`.
        render_mode: "ansi", or None.

    Raises:
        InputError: An argument is invalid, or the spaces are too small for the simulation.

    Examples:
        >>> with whimbrel.gym.Environment(player, fast, duration=1) as env:
        ...     observation, info = env.reset(seed=1)
        ...     observation.shape, env.action_space
        ((39,), Discrete(9))
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 10}  # noqa: RUF012

    def __init__(
        self,
        application: Application | str | PathLike[str],
        platform: Platform | str | PathLike[str] = "mpsoc3",
        *,
        duration: Time = 10,
        agent_period: Time = "100ms",
        actions: Actions = "moves",
        reward: Reward | None = None,
        raw: bool = False,
        tasks: int | None = None,
        cores: int | None = None,
        frame_rate_changes: Changes = (),
        map: str | Mapping[str, int | list[int]] | None = None,
        frame_rate: float | None = None,
        core_count: int | None = None,
        set: Mapping[str, Any] | None = None,
        compute: _words.Compute | None = "model",
        mode: _words.Mode | None = None,
        render_mode: Literal["ansi"] | None = None,
    ) -> None:
        self._changes = frame_rate_changes
        if callable(frame_rate_changes):
            frame_rate_changes = ()
        self._given = _words.given(_OPTIONS, locals())
        self._described = application, platform  # whose files live as long as they
        self._given["app"] = [path_of("application", application, Application)]
        self._given["platform"] = [path_of("platform", platform, Platform)]
        self._duration_ns = round(_words.seconds("duration", duration) * 1e9)
        # More than an episode: a task may keep its core for long.
        self._given["max_time"] = [f"{2 * self._duration_ns + 3600 * 10**9}ns"]
        self._given |= {"policy": ["asked:numbers=1"], "seed": ["0"]}
        self._steps, self._told = _core.Steps(self._given), self._given
        plan = json.loads(self._steps.plan())["plan"]
        self._names = [f"{task['name']}.{task.get('index') or 0}" for task in plan["tasks"]]
        self._points = [core.get("points") or [] for core in plan["cores"]]
        self._kinds = np.array([core.get("kind") or 0 for core in plan["cores"]])
        self._is_warm = bool(json.loads(plan["platform"]).get("thermal"))
        self._reward = _reward(reward, self._is_warm)
        self._n_tasks = _room("tasks", tasks, len(self._names))
        self._n_cores = _room("cores", cores, len(self._points))
        last_points = [len(points) - 1 for points in self._points]
        self._places = _Places(last_points, len(self._names), self._n_cores, self._n_tasks)
        self._raw = raw
        self.observation_space = self._observations()
        self.action_space = self._choices(actions)
        self._actions = actions
        if render_mode not in (None, "ansi"):
            raise InputError(f"render_mode= is {render_mode!r}", "give 'ansi' or None")
        self.render_mode = render_mode
        self._state = "not begun"  # or "under way", "over", "closed"
        self._start_ns = 0
        numbers = len(RUN) + len(CORE) * len(self._points) + len(TASK) * len(self._names)
        self._seen: Array = np.zeros(numbers, np.int64)
        # Those of jobs, misses and energy, each a column.
        self._totals = np.zeros((numbers, 3), np.int64)
        _, of_cores, of_tasks = self._split(np.arange(numbers))
        self._totals[of_tasks[:, TASK.index("jobs")], 0] = 1
        self._totals[of_tasks[:, TASK.index("misses")], 1] = 1
        self._totals[of_cores[:, CORE.index("energy_uj")], 2] = 1

    # ---- Spaces ---------------------------------------------------------------------------------

    def _observations(self) -> spaces.Space[Any]:
        cores, tasks = self._n_cores, self._n_tasks
        if not self._raw:
            return spaces.Box(0.0, 1.0, (self._places.size,), np.float32)

        def numbers(*shape: int) -> spaces.Box:
            return spaces.Box(_NO_TEMPERATURE, 1 << 62, shape, np.int64)

        return spaces.Dict(
            {
                "run": numbers(len(RUN)),
                "cores": numbers(cores, len(CORE)),
                "tasks": numbers(tasks, len(TASK)),
            }
        )

    def _choices(self, actions: str) -> spaces.Space[Any]:
        if actions not in get_args(Actions):
            cure = f"give one of {', '.join(get_args(Actions))}"
            raise InputError(f"actions= is {actions!r}", cure)
        moves = 1 + self._n_tasks * self._n_cores
        absent = [1] * (self._n_cores - len(self._points))
        points = [1 + len(points) for points in self._points] + absent
        if actions == "moves":
            return spaces.Discrete(moves)
        if actions == "mapping":
            return spaces.MultiDiscrete([1 + self._n_cores] * self._n_tasks)
        return spaces.MultiDiscrete(points if actions == "points" else [moves, *points])

    def action_masks(self) -> Array:
        """Which moves can be carried out now: a truth for each action of `actions="moves"`.

        Returns:
            An array of bool of the shape (1 + T C,), with room for T tasks and C cores.

        Examples:
            >>> with whimbrel.gym.Environment(player, fast, duration=1) as env:
            ...     observation, info = env.reset(seed=1)
            ...     env.action_masks().shape
            (9,)
        """
        tasks, cores = len(self._names), len(self._points)
        _, of_cores, of_tasks = self._split(self._seen)
        fits = (of_tasks[:, TASK.index("not_on"), None] >> self._kinds & 1) == 0
        there = of_tasks[:, 0, None] == np.arange(cores)
        movable = of_tasks[:, TASK.index("movable"), None] != 0
        masks = np.zeros((self._n_tasks, self._n_cores), bool)
        masks[:tasks, :cores] = fits & ~there & movable & (of_cores[:, 0] != 0)
        return np.concatenate(([True], masks.ravel()))

    # ---- Episodes -------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begins an episode: the first observation is that of the first period.

        Args:
            seed: The seed of this episode, as that of `whimbrel.simulate`; and of the episodes
                after it, whose seeds are drawn.
            options: `frame_rate` and `frame_rate_changes` of this episode alone.

        Returns:
            The observation and `info`.

        Raises:
            InputError: An option is invalid.
            RunError: The simulation did not start, or ended before its first period.

        Examples:
            >>> with whimbrel.gym.Environment(player, fast, duration=1) as env:
            ...     observation, info = env.reset(seed=1)
            ...     float(info["time_s"])
            0.2
        """
        super().reset(seed=seed)
        if seed is None:
            seed = int(self.np_random.integers(1 << 32))
        self._leave()
        given = self._given | self._drawn(options or {})
        if given != self._told:
            self._steps.change(given)
            self._told = given
        line = self._begin(seed)
        self._start_ns = int(json.loads(line)["started"]["start_ns"])
        ended = self._listen(None)
        self._state = "over" if ended else "under way"
        if ended:
            why = f"the run ended before its first period: {ended}"
            raise RunError(why, "shorten agent_period=")
        return self._observation(), self._info(self._seen)

    def _drawn(self, options: dict[str, Any]) -> dict[str, list[str]]:
        unknown = options.keys() - {"frame_rate", "frame_rate_changes"}
        if unknown:
            cure = "give frame_rate or frame_rate_changes"
            raise InputError(f"options= has {min(unknown)!r}, which is unknown", cure)
        changes = options.get("frame_rate_changes", self._changes)
        if callable(changes):
            changes = list(changes(self.np_random))
        values = {"frame_rate": options.get("frame_rate"), "frame_rate_changes": changes}
        return _words.given({name: _OPTIONS[name] for name in values}, values)

    def _begin(self, seed: int) -> bytes:
        """Begins a simulation; gives what it says first."""
        self._steps.begin(seed)
        line = self._ask()
        if not line:
            # It has gone after the run before: what stays of a module, another must not find.
            self._steps.begin(seed, anew=True)
            line = self._ask()
        if b'{"started"' not in line:
            why = json.loads(line)["error"]["text"] if line else self._steps.last_words()
            self._stop()
            raise RunError(f"the simulation did not start: {why}")
        return line

    def _leave(self) -> None:
        """Ends a simulation that is under way; the simulator waits for the next one."""
        if self._state == "under way":
            line = self._ask('{"kill":{}}\n')
            while line and not line.startswith(b'{"end"'):
                line = self._ask()
        self._state = "not begun"

    def _ask(self, line: str | None = None) -> bytes:
        """Tells the simulator a line, and gives its next one."""
        try:
            return self._steps.ask(line)
        except BaseException:
            # Ctrl-C: what it says now would be taken for the answer to the next line.
            self._stop()
            raise

    def _stop(self) -> None:
        self._steps.end()
        self._state = "over"

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Decides, and lets a period pass.

        Args:
            action: An element of `action_space`: see docs/python.md.

        Returns:
            The observation; the reward; whether the application has ended or blocks; whether the
            episode has reached its `duration`; and `info`.

        Raises:
            InputError: The action is outside the space; the simulation stands where it stood.
            PolicyError: The function for the reward raised, or returned no number.
            ResetNeeded: There is no episode, or it has ended.
            RunError: The simulation failed, or its process was killed: `reset` begins anew.

        Examples:
            >>> with whimbrel.gym.Environment(player, fast, duration=1) as env:
            ...     first = env.reset(seed=1)
            ...     observation, reward, terminated, truncated, info = env.step(0)
            ...     terminated, truncated
            (False, False)
        """
        if self._state != "under way":
            raise ResetNeeded(f"the episode is {self._state}: call reset() before step()")
        if not self.action_space.contains(action):
            cure = "give a number of the space, as action_space.sample() does"
            raise InputError(f"the action {action!r} is outside {self.action_space}", cure)
        before = self._seen
        ended = self._listen(self._decision(action))
        info = self._info(before)
        passed_ns = int(self._seen[0]) - self._start_ns
        truncated = not ended and passed_ns >= self._duration_ns
        if ended or truncated:
            info["ended"] = ended or "duration"
        reward = self._rewarded(info)
        observation = self._observation()
        if truncated:
            self._leave()
        if ended or truncated:
            self._state = "over"
        return observation, reward, bool(ended), truncated, info

    @property
    def pid(self) -> int | None:
        """The number of the simulator's process; None: there is none."""
        return self._steps.pid

    def close(self) -> None:
        """Ends the simulator.

        Examples:
            >>> env = whimbrel.gym.Environment(player, fast)
            >>> env.close()
            >>> env.pid is None
            True
        """
        self._steps.end()
        self._state = "closed"

    # ---- The simulator --------------------------------------------------------------------------

    def _decision(self, action: Any) -> str:
        cores = len(self._points)
        moves: list[tuple[int, int]] = []
        points: Iterable[int] = ()
        if self._actions == "moves":
            moves = self._move(int(action))
        elif self._actions == "mapping":
            moves = [(task, int(core) - 1) for task, core in enumerate(action) if core > 0]
        elif self._actions == "points":
            points = action
        else:
            moves, points = self._move(int(action[0])), action[1:]
        told_moves = ",".join(
            f'{{"task":{task},"core":{core}}}'
            for task, core in moves
            if task < len(self._names) and core < cores
        )
        told_points = ",".join(
            f'{{"core":{core},"point":{point - 1}}}'
            for core, point in enumerate(points)
            if point > 0
        )
        return f'{{"decision":{{"moves":[{told_moves}],"points":[{told_points}]}}}}\n'

    def _move(self, action: int) -> list[tuple[int, int]]:
        return [divmod(action - 1, self._n_cores)] if action else []

    def _listen(self, line: str | None) -> str:
        """Tells a line, and listens to what is seen next; gives how the simulation ended, if so."""
        answer = self._ask(line)
        while not answer.startswith(_SEEN):
            if not answer:
                why = self._steps.last_words()
                self._stop()
                raise RunError(f"the simulator is gone: {why}", "call reset() to start another")
            if answer.startswith((b'{"error"', b'{"end"')):
                return self._ended(json.loads(answer))
            answer = self._ask()
        self._seen = np.frombuffer(unhexlify(answer[len(_SEEN) : -3]), "<i8")
        return ""

    def _ended(self, told: dict[str, Any]) -> str:
        """Takes the totals of a simulation that has ended."""
        error = told.get("error")
        while "end" not in told:
            line = self._ask()
            told = json.loads(line) if line else {"end": None}
        self._state = "over"
        if error is not None and error["kind"] != "deadlock":
            why = f"the simulation failed: {error['text']}"
            raise RunError(why, "call reset() to start another")
        if told["end"] is None:
            self._stop()
            return "the simulator is gone"
        status = told["end"]["status"]
        self._seen = self._seen.copy()
        run, cores, tasks = self._split(self._seen)
        run[0] = status["time_ns"]
        cores[:, CORE.index("energy_uj")] = [core["energy_uj"] for core in status["cores"]]
        for name in ("jobs", "misses"):
            tasks[:, TASK.index(name)] = [task[name] for task in status["tasks"]]
        return f"deadlock: {error['text']}" if error else "end"

    def _split(self, numbers: Array) -> tuple[Array, Array, Array]:
        return _split(numbers, len(self._points))

    # ---- What an agent gets ---------------------------------------------------------------------

    def _observation(self) -> Any:
        if self._raw:
            run, cores, tasks = self._split(self._seen)
            whole = {
                "cores": np.zeros((self._n_cores, len(CORE)), np.int64),
                "tasks": np.zeros((self._n_tasks, len(TASK)), np.int64),
            }
            whole["cores"][: len(cores)] = cores
            whole["tasks"][: len(tasks)] = tasks
            return {"run": run.copy(), **whole}
        observation = np.zeros(self._places.size, np.float32)
        places = self._places
        observation[places.parts_to] = self._seen[places.parts] * places.scale
        rising = self._seen[places.rising]
        observation[places.rising_to] = rising / (rising + places.half)
        observation[places.cores_to + self._seen[places.cores]] = 1
        return np.clip(observation, 0, 1, out=observation)

    def _info(self, before: Array) -> dict[str, Any]:
        """What has passed since then."""
        jobs, misses, energy_uj = ((self._seen - before) @ self._totals).tolist()
        info = {
            "time_s": (int(self._seen[0]) - self._start_ns) / 1e9,
            "jobs": jobs,
            "misses": misses,
            "energy_mj": energy_uj / 1e3,
        }
        if self._is_warm:
            hottest = self._split(self._seen)[1][:, CORE.index("temperature_mc")].max()
            info["temperature_c"] = int(hottest) / 1e3
        return info

    def _rewarded(self, info: dict[str, Any]) -> float:
        if isinstance(self._reward, dict):
            weights = self._reward
            bad = weights["misses"] * info["misses"] + weights["energy"] * info["energy_mj"]
            if weights["temperature"]:
                bad += weights["temperature"] * info["temperature_c"]
            return -float(bad)
        try:
            reward = float(self._reward(info))
        except Exception as error:
            self._leave()
            cure = place_of(error, self._reward, "the info of a step")
            why = f"the function for the reward raised {type(error).__name__}: {error}"
            raise PolicyError(why, cure) from error
        if not math.isfinite(reward):
            self._leave()
            raise PolicyError(f"the function for the reward returned {reward}", "return a number")
        return reward

    def render(self) -> Any:
        """The cores with their frequencies and tasks, as text; None without a `render_mode`.

        Examples:
            >>> with whimbrel.gym.Environment(player, fast, render_mode="ansi") as env:
            ...     first = env.reset(seed=1)
            ...     env.render().splitlines()[1]
            'core 0 800 MHz 54 %: source.0 work.0 work.1 sink.0'
        """
        if self.render_mode is None:
            return None
        run, cores, tasks = self._split(self._seen)
        lines = [f"{(int(run[0]) - self._start_ns) / 1e9:.3f} s"]
        for number, core in enumerate(cores):
            points = self._points[number]
            mhz = f" {points[core[1]]['hz'] / 1e6:g} MHz" if points else ""
            known = zip(self._names, tasks, strict=True)
            there = [name for name, task in known if task[0] == number]
            lines.append(f"core {number}{mhz} {core[2] / 1e4:.0f} %: {' '.join(there)}")
        return "\n".join(lines)


def _split(numbers: Array, cores: int) -> tuple[Array, Array, Array]:
    """What is seen of the run, of cores and of tasks."""
    run, rest = numbers[: len(RUN)], numbers[len(RUN) :]
    split = len(CORE) * cores
    return run, rest[:split].reshape(-1, len(CORE)), rest[split:].reshape(-1, len(TASK))


class _Places:
    """Where the numbers that are seen go in a normalised observation."""

    def __init__(
        self, last_points: list[int], tasks: int, room_cores: int, room_tasks: int
    ) -> None:
        cores = len(last_points)
        seen = np.arange(len(RUN) + len(CORE) * cores + len(TASK) * tasks)
        _, of_cores, of_tasks = _split(seen, cores)
        begin, width = 1 + room_cores * len(_CORE_SCALE), room_cores + len(_TASK_SCALE) + 3
        self.size = begin + room_tasks * width
        to_cores = np.arange(1, begin).reshape(room_cores, -1)[:cores]
        to_tasks = np.arange(begin, self.size).reshape(room_tasks, width)[:tasks]
        # In parts of the most that there can be.
        scale = np.ones((cores, len(_CORE_SCALE))) * _CORE_SCALE
        scale[:, CORE.index("point")] = np.maximum(last_points, 1)
        parts = of_tasks[:, [TASK.index("movable"), TASK.index("load_ppm")]]
        self.parts = np.concatenate((of_cores[:, : len(_CORE_SCALE)].ravel(), parts.ravel()))
        split = room_cores + len(_TASK_SCALE)
        self.parts_to = np.concatenate((to_cores.ravel(), to_tasks[:, room_cores:split].ravel()))
        self.scale = 1 / np.concatenate((scale.ravel(), np.tile(_TASK_SCALE, tasks)))
        # What has no end: half is as much as this.
        times = of_tasks[:, TASK.index("here_ns") : TASK.index("jobs")]
        self.rising = np.concatenate(([RUN.index("rate_millihz")], times.ravel()))
        self.rising_to = np.concatenate(([0], to_tasks[:, split:].ravel()))
        self.half = np.concatenate(([_RATE_HALF], np.tile(_TASK_HALF, tasks)))
        # One of so many.
        self.cores = of_tasks[:, TASK.index("core")]
        self.cores_to = to_tasks[:, 0]


def _room(name: str, wanted: int | None, there: int) -> int:
    """How many there is room for."""
    if wanted is None:
        return there
    number = int(_words.integer(name, wanted))
    if number < there:
        cure = f"give {name}={there} or more, or omit it"
        raise InputError(f"the simulation has {there} {name}, and the space only {number}", cure)
    return number


def _reward(reward: Reward | None, warm: bool) -> dict[str, float] | Callable[..., Any]:
    """The whole weights, or the function."""
    if callable(reward):
        return reward
    if reward is not None and not isinstance(reward, Mapping):
        raise _words.wrong("reward", reward, "weights such as {'misses': 1}, or a function")
    weights = dict(_WEIGHTS)
    for name, weight in (reward or {}).items():
        if name not in weights:
            known = ", ".join(weights)
            raise InputError(f"reward= has {name!r}, which is unknown", f"give weights of {known}")
        weights[name] = float(_words.number(f"reward[{name!r}]", weight))
        if not math.isfinite(weights[name]):
            raise InputError(f"reward[{name!r}]= is {weight}", "give a finite number")
    if weights["temperature"] and not warm:
        cure = "choose a platform with [thermal], or omit the weight"
        raise InputError("reward= has a weight of the temperature, which is not known", cure)
    return weights


gymnasium.register("Whimbrel-v0", entry_point="whimbrel.gym:Environment")
