# SPDX-License-Identifier: Apache-2.0
"""Figure 6 and the shares of tasks of acquaviva2008, in the simulator."""

from __future__ import annotations

from figures import PUBLISHED, RATES_HZ, TASKS, stated6
from published import Row, row
from systems import ENDLESS, Bench, Table, operating_points, platform, radio
from whimbrel.plot.chart import Axis, Plot

SECONDS = 10
NEVER = "1000s"
LOWEST_MHZ, LOWEST_MW = operating_points()[0]


# ---- Shares -------------------------------------------------------------------------------------


def shares(run: Table) -> list[Row]:
    """Of the time that tasks compute on one core, what each takes."""
    total = sum(task["busy_ns"] for task in run["tasks"])
    rows = []
    for task in run["tasks"]:
        name = task["task"] if task["task"] != "bpf" else f"bpf {task['index']}"
        paper = PUBLISHED["section63"]["share_percent"][task["task"]]
        note = "theirs add up to 94 %, the rest is the system; ours are of the tasks alone"
        rows.append(row(f"shares: {name}", paper, 100 * task["busy_ns"] / total, "%", note))
    return rows


def simulated_shares(bench: Bench) -> list[Row]:
    """The radio on one core at its lowest frequency."""
    pace = ["--frame-rate", str(PUBLISHED["section63"]["one_core_lowest_fps"]), "--duration", "2s"]
    return shares(bench.sim(radio(), platform([LOWEST_MHZ], False), *ENDLESS, *pace))


# ---- Figure 6 -----------------------------------------------------------------------------------


def synthetic(tasks: int) -> Table:
    """Tasks that do next to nothing, often."""
    task = {"name": "idler", "count": tasks, "periodic": True, "cycles": 1000}
    return {"app": {"name": "idlers", "frame_rate": 500}, "task": [task]}


def active_percent(bench: Bench, tasks: int, *options: str) -> float:
    """Of its time that the core did anything: one that is idle is shut down."""
    pace = ["--duration", f"{SECONDS}s"]
    run = bench.sim(synthetic(tasks), platform([LOWEST_MHZ], True), *pace, *options)
    return run["energy"]["cores_uj"] / (LOWEST_MW * 1000 * SECONDS) * 100


def overheads(bench: Bench) -> dict[tuple[str, int], dict[int, float]]:
    """Percent of the core by daemon and number of tasks, and by invocations per second."""
    mapping = {"frame_rate": 500, "mapping": {"idler": 0}, "frequency_mhz": LOWEST_MHZ}
    table = bench.write("table.toml", {"row": [mapping]})
    found: dict[tuple[str, int], dict[int, float]] = {}
    for tasks in TASKS:
        without = active_percent(bench, tasks, "--agent-period", NEVER)
        agent, coordinator = {}, {}
        for hz in RATES_HZ:
            period = f"{1000 // hz}ms"
            reports = active_percent(bench, tasks, "--agent-period", period)
            decides = active_percent(bench, tasks, "--agent-period", period, "--table", table)
            agent[hz], coordinator[hz] = reports - without, decides - reports
        found["agent", tasks], found["coordinator", tasks] = agent, coordinator
    return found


def figure6(found: dict[tuple[str, int], dict[int, float]]) -> tuple[list[Row], list[Plot]]:
    """Rows and plots beside those of Linux."""
    most = PUBLISHED["figure6"]["agent_most_percent"]
    rows, plots = [], []
    for letter, name in (("a", "coordinator"), ("b", "agent")):
        title = f"Figure 6 ({letter}), simulated: {name}, share of a core of {LOWEST_MHZ} MHz"
        plot = Plot(title, Axis("invocations per second", True), Axis("share, %", True))
        for tasks in TASKS:
            shares_of = found[name, tasks]
            plot.add(f"{tasks} tasks", [(float(hz), share) for hz, share in shares_of.items()])
            for hz, share in shares_of.items():
                what = f"figure 6 ({letter}), simulated: {name}, {hz} Hz, {tasks} tasks"
                note = "what the core is active more than without it"
                if name == "agent":
                    note += "; the platform's cost of a report is from this figure"
                rows.append(row(what, stated6(name, hz, tasks), share, "%", note))
        plot.limit(f"stated for the agent: < {most} %", most)
        plots.append(plot)
    return rows, plots
