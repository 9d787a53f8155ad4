# SPDX-License-Identifier: Apache-2.0
"""The Gymnasium environment: what an agent sees and does, what it learns, and what goes wrong."""

from __future__ import annotations

import gc
import math
import os
import signal
import warnings
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
import whimbrel
import whimbrel.gym
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from whimbrel import Move, SetPoint, Snapshot
from whimbrel.gym import CORE, RUN, TASK, Environment

ENDLESS = {"output": "", "plays": 10**6}


@pytest.fixture
def env(player: whimbrel.Application) -> Iterator[Environment]:
    with Environment(player, duration=2, raw=True) as made:
        yield made


def of(observation: dict[str, Any], name: str) -> list[int]:
    """A column of what is seen of tasks or cores."""
    table, names = ("tasks", TASK) if name in TASK else ("cores", CORE)
    return [int(one) for one in observation[table][:, names.index(name)]]


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("actions", ["moves", "mapping", "points", "both"])
def test_the_checker_of_gymnasium_finds_nothing(
    player: whimbrel.Application, actions: str, raw: bool
) -> None:
    made = gymnasium.make(
        "Whimbrel-v0", application=player, platform="mpsoc3", actions=actions, raw=raw, duration=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ResourceWarning)  # copies of the application end with it
        # It is not made by its name again, which would start one for each mode of rendering.
        check_env(made.unwrapped, skip_render_check=True)
    made.close()


def played(player: whimbrel.Application, seed: int) -> list[Any]:
    with Environment(player, duration=1, actions="both") as made:
        made.action_space.seed(5)
        steps: list[Any] = [made.reset(seed=seed)]
        while len(steps) == 1 or not steps[-1][3]:
            steps.append(made.step(made.action_space.sample()))
    return [(step[0].tolist(), *step[1:]) for step in steps]


def test_a_seed_gives_one_episode_and_another_seed_another(player: whimbrel.Application) -> None:
    assert played(player, 1) == played(player, 1) != played(player, 2)


def test_an_agent_sees_and_does_what_a_policy_in_python_does(
    player: whimbrel.Application, env: Environment
) -> None:
    """Move for move, also in a run that is simulated by a simulator that has run before."""
    seen: list[Snapshot] = []

    def decide(snapshot: Snapshot) -> list[Move]:
        seen.append(snapshot)
        return [Move(1 + len(seen) % 2, 1 + len(seen) % 2)] if len(seen) < 4 else []

    run = whimbrel.simulate(player, duration=2, policy=decide, seed=7, compute="model")
    for _ in range(2):
        observation, info = env.reset(seed=7)
        misses, jobs = info["misses"], info["jobs"]
        for number, snapshot in enumerate(seen, 1):
            assert observation["run"].tolist() == [snapshot.now_ns, snapshot.rate_millihz]
            for name in TASK[: TASK.index("migration_ns") + 1]:
                assert of(observation, name) == [getattr(task, name) for task in snapshot.tasks]
            for name in ("up", "point", "busy_ppm"):
                assert of(observation, name) == [getattr(core, name) for core in snapshot.cores]
            place = 1 + number % 2
            if number == len(seen):
                break
            action = 1 + place * 3 + place if number < 4 else 0
            observation, _, _, _, info = env.step(action)
            misses, jobs = misses + info["misses"], jobs + info["jobs"]
        assert of(observation, "core") == [task["core"] for task in run.tasks.to_pylist()]
    assert 0 < jobs <= sum(task["jobs"] for task in run.tasks.to_pylist())
    assert misses == run.misses


def test_operating_points_are_set_and_cost_less(player: whimbrel.Application) -> None:
    with Environment(player, actions="points", raw=True) as made:
        made.reset(seed=1)
        high = made.step(np.zeros(3, int))[4]["energy_mj"]
        made.step(np.ones(3, int))
        observation, _, _, _, info = made.step(np.zeros(3, int))
        assert of(observation, "point") == [0, 0, 0]
        assert info["energy_mj"] < high / 2


def test_masks_are_of_moves_that_are_carried_out(env: Environment) -> None:
    env.reset(seed=1)
    masks = env.action_masks()
    stays = [0, *(1 + task * 3 + core for task in range(4) for core in (1, 2))]
    assert masks.nonzero()[0].tolist() == stays
    env.step(1 + 1 * 3 + 2)
    assert not env.action_masks()[1 + 1 * 3 + 2] and env.action_masks()[1 + 1 * 3]
    assert env.action_space.contains(env.action_space.sample(masks.astype(np.int8)))


def test_a_normalised_observation_is_the_raw_one_in_parts(player: whimbrel.Application) -> None:
    with Environment(player) as flat, Environment(player, raw=True, cores=3, tasks=4) as raw:
        (numbers, _), (seen, _) = flat.reset(seed=3), raw.reset(seed=3)
        for action in (1 + 1 * 3 + 2, 0):
            numbers, seen = flat.step(action)[0], raw.step(action)[0]
    assert numbers.shape == (1 + 3 * 5 + 4 * (3 + 5),)
    cores, tasks = numbers[1:16].reshape(3, 5), numbers[16:].reshape(4, 8)
    assert cores[:, 0].tolist() == [1, 1, 1] and cores[:, 1].tolist() == [1, 1, 1]
    assert cores[:, 2].tolist() == pytest.approx([busy / 1e6 for busy in of(seen, "busy_ppm")])
    assert cores[:, 4].tolist() == [0, 0, 0]  # no temperature
    assert tasks[:, :3].argmax(axis=1).tolist() == of(seen, "core") == [0, 2, 0, 0]
    here = [ns / (ns + 1e9) for ns in of(seen, "here_ns")]
    assert tasks[:, 5].tolist() == pytest.approx(here)


def test_a_space_has_room_for_a_larger_simulation(player: whimbrel.Application) -> None:
    with Environment(player, tasks=6, cores=4, raw=True) as made:
        observation, _ = made.reset(seed=1)
        assert observation["tasks"].shape == (6, len(TASK))
        assert observation["cores"].shape == (4, len(CORE))
        assert not observation["tasks"][4:].any() and not made.action_masks()[1 + 4 * 4 :].any()
        # A move of a task that is not there, or to such a core, is none.
        for action in (1 + 5 * 4, 1 + 1 * 4 + 3):
            observation, *_ = made.step(action)
            assert of(observation, "core")[:4] == [0, 0, 0, 0]


def test_an_episode_is_truncated_at_the_duration(env: Environment) -> None:
    env.reset(seed=1)
    steps = [env.step(0)]
    while not steps[-1][3]:
        steps.append(env.step(0))
    assert steps[-1][2:4] == (False, True) and steps[-1][4]["ended"] == "duration"
    assert len(steps) == 18 and steps[-1][4]["time_s"] == 2
    with pytest.raises(ResetNeeded, match="the episode is over"):
        env.step(0)
    assert env.reset(seed=1)[1]["time_s"] == 0.2


def test_an_application_that_ends_or_blocks_terminates() -> None:
    tasks = (
        whimbrel.Task(name="a", cycles=1000, period_us=1000, firings=300),
        whimbrel.Task(name="b", cycles=1000),
    )
    channels = (whimbrel.Channel(from_="a.out", to="b.in", slots=2, slot_bytes=8),)
    short = whimbrel.Application(name="short", tasks=tasks, channels=channels)
    turn = '{{ delay = "150ms" }}, {{ loop = 2, do = [{{ take = "{}" }}, {{ give = "{}" }}] }}'
    script = '[[task]]\nname = "{}"\nscript = [{}]\n'
    blocks = whimbrel.Application.parse(
        '[app]\nname = "blocks"\n[[semaphore]]\nname = "s"\n[[semaphore]]\nname = "t"\n'
        + script.format("a", turn.format("s", "t"))
        + script.format("b", turn.format("t", "s"))
    )
    for app, ended in ((short, "end"), (blocks, "deadlock: ")):
        with Environment(app, agent_period="50ms") as made:
            made.reset(seed=1)
            steps = [made.step(0)]
            while not steps[-1][2]:
                steps.append(made.step(0))
            assert steps[-1][4]["ended"].startswith(ended) and not steps[-1][3]
            jobs = sum(step[4]["jobs"] for step in steps)
            assert jobs <= 300 and (app is blocks) == (jobs == 0)
            made.reset(seed=1)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_several_are_taken_together(player: whimbrel.Application, mode: str) -> None:
    made = gymnasium.make_vec(
        "Whimbrel-v0", num_envs=2, vectorization_mode=mode, application=player, duration=1
    )
    observations, _ = made.reset(seed=[3, 3])
    for _ in range(12):  # over the end of an episode
        observations, rewards, _, _, _ = made.step(np.array([2, 2]))
    assert observations[0].tolist() == observations[1].tolist() and rewards[0] == rewards[1]
    made.close()


def test_temperatures_are_part_of_the_reward(player: whimbrel.Application) -> None:
    cold = {"misses": 0, "energy": 0, "temperature": 1}
    with Environment(player, "mesh64", reward=cold, core_count=2) as made:
        made.reset(seed=1)
        _, reward, _, _, info = made.step(0)
        assert 0 < info["temperature_c"] == -reward


def test_changes_of_the_frame_rate_are_drawn_for_each_episode(radio: whimbrel.Application) -> None:
    def changes(random: np.random.Generator) -> list[str]:
        return [f"{random.integers(100, 1000)}@150ms"]

    with Environment(radio, set=ENDLESS, frame_rate_changes=changes, raw=True) as made:
        drawn = [int(made.reset(seed=seed)[0]["run"][1]) for seed in (1, 1, 2, None)]
        assert drawn[0] == drawn[1] and len({*drawn}) == 3
        fixed = made.reset(seed=1, options={"frame_rate_changes": "77@150ms"})[0]
        assert fixed["run"][RUN.index("rate_millihz")] == 77_000


# ---- Learning -----------------------------------------------------------------------------------

CAMERA = whimbrel.Application(
    name="camera",
    frame_rate=60,
    tasks=(
        whimbrel.Task(name="source", cycles=50_000, periodic=True),
        whimbrel.Task(name="work", count=2, cycles=600_000, distribution="uniform", spread=0.2),
        whimbrel.Task(name="sink", cycles=50_000, periodic=True, offset_frames=8),
    ),
    channels=(
        whimbrel.Channel(from_="source.out", to="work.in", slots=14, slot_bytes=64),
        whimbrel.Channel(from_="work.out", to="sink.in", slots=14, slot_bytes=64),
    ),
)
CAMERA_RUN: dict[str, Any] = {"map": "work.0=1,work.1=2", "duration": 6}
WEIGHTS = {"misses": 1, "energy": 0.001}


def load(random: np.random.Generator) -> list[str]:
    """Frame rates that rise and fall every three seconds or so, to what nearly fills two cores."""
    period, phase, most = random.uniform(2.5, 3.5), random.uniform(0, 1), random.uniform(560, 620)
    times = np.arange(0.2, 6, 0.1)
    wave = np.clip(0.5 + 1.5 * np.sin(2 * np.pi * (times / period + phase)), 0, 1)
    rates = zip(times, 60 + (most - 60) * wave, strict=True)
    return [f"{rate:.0f}@{at:.3f}s" for at, rate in rates]


def point(policy: np.ndarray[Any, Any], load_ppm: int, busy_ppm: int) -> int:
    """The operating point for all cores, linear in the load and the busy time of the busiest."""
    return int(np.clip(policy @ (1, load_ppm / 1e6, busy_ppm / 1e6), 0, 8))


def total(env: Environment, policy: np.ndarray[Any, Any], seed: int) -> float:
    """The reward of an episode."""
    observation, _ = env.reset(seed=seed)
    rewards, over = 0.0, False
    while not over:
        busiest = max(of(observation, "load_ppm")), max(of(observation, "busy_ppm"))
        observation, reward, _, over, _ = env.step(np.full(3, 1 + point(policy, *busiest)))
        rewards += reward
    return rewards


def learned(env: Environment) -> np.ndarray[Any, Any]:
    """What the cross-entropy method finds: draws policies around the best of those before."""
    random = np.random.default_rng(2)
    mean, spread = np.array([5.0, 5.0, 0.0]), np.array([3.0, 5.0, 5.0])
    for _ in range(5):
        policies = random.normal(mean, spread, (10, 3))
        rewards = [sum(total(env, policy, 100 + load) for load in range(2)) for policy in policies]
        best = policies[np.argsort(rewards)[-3:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.3
    return np.asarray(mean)


def test_a_policy_learns_to_need_less_energy_than_balance() -> None:
    """Without a missed deadline, on loads that it was not trained on."""
    with Environment(
        CAMERA, actions="points", raw=True, reward=WEIGHTS, frame_rate_changes=load, **CAMERA_RUN
    ) as made:
        policy = learned(made)

    def decide(seen: Snapshot) -> list[SetPoint]:
        busiest = (max(c.load_ppm for c in seen.cores), max(c.busy_ppm for c in seen.cores))
        return [SetPoint(core, point(policy, *busiest)) for core in range(3)]

    for seed in range(5):
        changes = load(np.random.default_rng(seed))
        ours, balance = (
            whimbrel.simulate(
                CAMERA, policy=by, seed=seed, frame_rate_changes=changes, **CAMERA_RUN
            )
            for by in (decide, "balance")
        )
        assert ours.misses <= balance.misses == 0
        assert ours.energy_mj < 0.8 * balance.energy_mj


# ---- What goes wrong ----------------------------------------------------------------------------


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"tasks": 3}, "the simulation has 4 tasks, and the space only 3"),
    ({"cores": 2}, "the simulation has 3 cores, and the space only 2"),
    ({"reward": {"misses": math.nan}}, "reward['misses']= is nan"),
    ({"reward": {"energy": math.inf}}, "reward['energy']= is inf"),
    ({"reward": {"latency": 1}}, "reward= has 'latency'"),
    ({"reward": {"temperature": 1}}, "the temperature, which is not known"),
    ({"actions": "all"}, "give one of moves, mapping, points, both"),
    ({"render_mode": "human"}, "render_mode= is 'human'"),
    ({"duration": -1}, "duration= is -1 s"),
    ({"agent_period": "soon"}, "agent_period="),
    ({"platform": "mpsoc4"}, "mpsoc4"),
    ({"core_count": 9}, "core_count="),
]


@pytest.mark.parametrize(("given", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_makes_no_sense_is_refused_before_anything_starts(
    player: whimbrel.Application, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(whimbrel.InputError) as told:
        Environment(player, **given)
    assert said in str(told.value) and told.value.cure


@pytest.mark.parametrize(("given"), [{"reward": 3}, {"tasks": "4"}, {"reward": {"misses": "1"}}])
def test_a_wrong_type_is_one(player: whimbrel.Application, given: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Environment(player, **given)


@pytest.mark.parametrize("action", [13, -1, 1.5, None, "1", np.array([1, 2]), math.nan])
def test_an_action_outside_the_space_changes_nothing(env: Environment, action: Any) -> None:
    env.reset(seed=1)
    before = env.step(0)[4]["time_s"]
    with pytest.raises(whimbrel.InputError, match="outside Discrete") as told:
        env.step(action)
    assert told.value.cure
    assert env.step(0)[4]["time_s"] == pytest.approx(before + 0.1)


def test_a_step_needs_an_episode(env: Environment) -> None:
    with pytest.raises(ResetNeeded, match="not begun: call reset"):
        env.step(0)
    env.reset(seed=1)
    env.close()
    with pytest.raises(ResetNeeded, match="closed: call reset"):
        env.step(0)
    with pytest.raises(whimbrel.InputError, match="'speed', which is unknown"):
        env.reset(options={"speed": 3})
    with pytest.raises(whimbrel.InputError):
        env.reset(options={"frame_rate_changes": "fast"})
    assert env.reset(seed=1)[1]["time_s"] == 0.2


def gone(pid: int | None) -> bool:
    try:
        os.kill(pid or 0, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_policy_that_raises_leaves_no_process(player: whimbrel.Application) -> None:
    with pytest.raises(ZeroDivisionError), Environment(player) as made:
        made.reset(seed=1)
        pid = made.pid
        assert not gone(pid)
        made.step(1 // 0)
    assert gone(pid) and made.pid is None


def test_a_reward_that_raises_or_is_no_number_is_told_with_its_place(
    player: whimbrel.Application,
) -> None:
    for function, said in ((lambda _: 1 / 0, "ZeroDivisionError"), (lambda _: math.nan, "nan")):
        with Environment(player, reward=function) as made:
            made.reset(seed=1)
            with pytest.raises(whimbrel.PolicyError, match=said) as told:
                made.step(0)
            assert said == "nan" or "test_py_gym.py, line" in str(told.value.cure)
            made.reset(seed=1)


def test_a_simulator_that_is_killed_is_told_and_replaced(env: Environment) -> None:
    for _ in range(2):
        env.reset(seed=1)
        os.kill(env.pid or 0, signal.SIGKILL)
        with pytest.raises(whimbrel.RunError, match="SIGKILL") as told:
            env.step(0)
        assert told.value.cure == "call reset() to start another"
        with pytest.raises(ResetNeeded):
            env.step(0)
    # One that is killed while it waits for the next episode is replaced without a word.
    env.reset(seed=1)
    os.kill(env.pid or 0, signal.SIGKILL)
    assert env.reset(seed=1)[1]["time_s"] == 0.2


def test_an_episode_that_is_interrupted_leaves_no_answer_for_the_next(
    player: whimbrel.Application,
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with Environment(player, duration="100h", agent_period="10s", raw=True) as made:
        first = made.reset(seed=1)[0]
        before = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            with pytest.raises(KeyboardInterrupt):
                while True:
                    made.step(0)
        finally:
            signal.signal(signal.SIGALRM, before)
        again = made.reset(seed=1)[0]
    assert all(np.array_equal(again[of], first[of]) for of in first)


def test_a_forked_process_leaves_the_simulator_alone(player: whimbrel.Application) -> None:
    made = Environment(player)
    made.reset(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # there are threads
        child = os.fork()
    if child == 0:
        del made
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert made.step(0)[4]["jobs"] > 0
    pid = made.pid
    del made
    gc.collect()
    assert gone(pid)


def test_it_is_drawn_as_text(player: whimbrel.Application) -> None:
    with Environment(player, render_mode="ansi") as made:
        made.reset(seed=1)
        made.step(1 + 1 * 3 + 2)
        made.step(0)
        text = made.render()
    assert text.splitlines()[0] == "0.400 s"
    assert "core 0 500 MHz" in text and text.endswith("work.0")
