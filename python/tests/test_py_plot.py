# SPDX-License-Identifier: Apache-2.0
"""Figures show what the runs and explorations have."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import whimbrel
from plotly.colors import sample_colorscale
from whimbrel import plot
from whimbrel.plot import pages, series

ROOT = Path(__file__).resolve().parents[2]
FORK_JOIN = ROOT / "apps/synthetic/fork_join.toml"
RADIO = ROOT / "apps/fm_radio/app.toml"


@pytest.fixture(scope="module")
def run() -> whimbrel.Run:
    """A run with heat."""
    return whimbrel.simulate(FORK_JOIN, "ca9x4", map={"worker": [0, 1, 2, 3]}, record=True)


@pytest.fixture(scope="module")
def explored() -> whimbrel.Exploration:
    return whimbrel.explore(
        RADIO,
        "mpsoc3",
        frame_rates=[300, 900],
        points="auto",
        pins={"lpf": 0},
        set={"output": ""},
        duration="200ms",
        core_counts=2,
    )


def test_a_timeline_has_the_busy_time_of_every_task(run: whimbrel.Run) -> None:
    spans = series.spans(run, 0, run.seconds)
    shown = sum(span.end - span.begin for span in spans)
    busy = sum(task["busy_ns"] for task in run.tasks.to_pylist()) / 1e9
    assert shown == pytest.approx(busy, rel=0.2)
    assert all(0 <= span.begin < span.end <= run.seconds for span in spans)
    assert {span.task for span in spans} == {"split", "join", *(f"worker.{i}" for i in range(4))}


def test_a_task_has_one_colour_in_the_timeline_and_in_its_legend(
    run: whimbrel.Run, tmp_path: Path
) -> None:
    figure = plot.timeline(run, end=0.05)
    figure.savefig(tmp_path / "timeline.png")
    (axes,) = figure.axes
    bars = {str(one.get_label()): tuple(one.get_facecolor()[0]) for one in axes.collections}
    legend = axes.get_legend()
    assert legend is not None
    for patch, text in zip(legend.get_patches(), legend.get_texts(), strict=True):
        assert tuple(patch.get_facecolor()) == bars[text.get_text()]
    assert len({bars[text.get_text()] for text in legend.get_texts()}) == 6


def test_an_hour_has_no_more_bars_than_an_image_has_columns() -> None:
    long = whimbrel.simulate(FORK_JOIN, "mpsoc3", record=True)
    spans = series.spans(long, 0, long.seconds)
    assert len(spans) <= 2001 * 6


def test_occupancies_end_where_the_channels_do(run: whimbrel.Run) -> None:
    steps = series.occupancies(run, 0, run.seconds)
    for channel in run.channels.to_pylist():
        depths = steps[channel["channel"]][1]
        assert max(depths) == channel["high"] and depths[-1] == channel["depth"]


def test_fronts_are_per_rate(explored: whimbrel.Exploration) -> None:
    rates = series.candidates(explored)
    assert [of_rate.rate for of_rate in rates] == [300, 900]
    assert sum(len(of_rate.front) for of_rate in rates) == explored.front.num_rows
    figure = plot.pareto(explored)
    assert [axes.get_title() for axes in figure.axes] == [of_rate.called for of_rate in rates]


def test_energy_by_rate_is_mean_power_and_energy_per_frame(explored: whimbrel.Exploration) -> None:
    found = series.least_energy(explored)
    assert found.rates == [300, 900]
    for of_rate, power_mw, frame_mj in zip(
        explored.rates, found.power_mw, found.frame_mj, strict=True
    ):
        outcomes = [one["outcome"] for one in of_rate["front"]]
        kept = [one for one in outcomes if one["misses"] == 0]
        best = min(kept, key=lambda one: one["energy_mj"])
        assert power_mw == pytest.approx(best["energy_mj"] / best["time_ms"] * 1e3)
        assert frame_mj == pytest.approx(best["energy_mj"] / best["frames"])
        # The last frames drain when the sources have ended.
        assert 0.8 < best["frames"] / (of_rate["rate"] * best["time_ms"] / 1e3) <= 1
    above, below = plot.energy_by_rate(explored).axes
    assert list(above.lines[0].get_ydata()) == found.power_mw
    assert list(below.lines[0].get_ydata()) == found.frame_mj
    assert (above.get_ylabel(), below.get_ylabel()) == ("mean power, mW", "energy per frame, mJ")


def test_every_figure_is_written(
    run: whimbrel.Run, explored: whimbrel.Exploration, tmp_path: Path
) -> None:
    figures = {
        "timeline": plot.timeline(run, end=0.05),
        "occupancy": plot.occupancy(run),
        "pareto": plot.pareto(explored),
        "energy": plot.energy_by_rate(explored),
        "heat": plot.thermal_map(run),
    }
    for name, figure in figures.items():
        figure.savefig(tmp_path / f"{name}.svg")
        assert (tmp_path / f"{name}.svg").stat().st_size > 4000
    animation = plot.thermal_animation(run, frames=3)
    animation.save(tmp_path / "heat.gif", writer="pillow")
    assert (tmp_path / "heat.gif").stat().st_size > 1000


def test_pages_have_the_same(run: whimbrel.Run, explored: whimbrel.Exploration) -> None:
    assert len(pages.timeline(run).data) == 6
    assert len(pages.occupancy(run).data) == run.channels.num_rows
    assert len(pages.pareto(explored).data) == 4
    energies = pages.energy_by_rate(explored)
    found = series.least_energy(explored)
    assert [list(one.x) for one in energies.data] == 2 * [[300, 900]]
    assert [list(one.y) for one in energies.data] == [found.power_mw, found.frame_mj]


def test_pages_are_there_when_they_are_asked_for() -> None:
    asks = "import sys\nfrom whimbrel import plot\nassert 'plotly' not in sys.modules\n"
    asks += "assert 'pages' in dir(plot)\nprint(plot.pages.timeline.__name__)\n"
    ran = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True)
    assert ran.stdout == "timeline\n"
    with pytest.raises(AttributeError, match="no attribute 'page'"):
        _ = plot.page  # type: ignore[attr-defined]


def test_a_thermal_map_of_a_page_has_the_blocks_of_the_floorplan(run: whimbrel.Run) -> None:
    blocks = series.floorplan(run)
    figure = pages.thermal_map(run)
    *rectangles, scale = figure.data
    hottest = max(blocks, key=lambda block: block["temperature_mc"])
    assert [list(one.x[:2]) for one in rectangles] == [
        [block["x_mm"], block["x_mm"] + block["width_mm"]] for block in blocks
    ]
    assert rectangles[0].name == f"{blocks[0]['name']} {blocks[0]['temperature_mc'] / 1e3:.1f} °C"
    assert scale.marker.cmax == hottest["temperature_mc"] / 1e3
    assert rectangles[blocks.index(hottest)].fillcolor == sample_colorscale("RdBu_r", [1.0])[0]
    moving = pages.thermal_animation(run, frames=3)
    assert [len(frame.data) for frame in moving.frames] == [len(blocks)] * 3


def test_what_cannot_be_drawn_is_told(explored: whimbrel.Exploration) -> None:
    cold = whimbrel.simulate(FORK_JOIN, "mpsoc3", record=True)
    with pytest.raises(whimbrel.InputError, match="floorplan"):
        plot.thermal_map(cold)
    with pytest.raises(whimbrel.InputError, match="floorplan"):
        pages.thermal_map(cold)
    with pytest.raises(whimbrel.InputError, match="begin"):
        plot.timeline(cold, begin=9)
    with pytest.raises(whimbrel.InputError, match="beauty"):
        plot.pareto(explored, x="beauty")
    with pytest.raises(whimbrel.InputError, match="record=True"):
        plot.timeline(whimbrel.simulate(FORK_JOIN))


def test_the_package_is_imported_without_what_draws() -> None:
    script = "import sys, whimbrel; whimbrel.simulate; print(*sys.modules)"
    words = [sys.executable, "-c", script]
    modules = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert not {"matplotlib", "plotly", "pyarrow", "numpy", "distributed"} & set(modules)


def test_figures_need_nothing_that_is_compiled(tmp_path: Path) -> None:
    """So the scripts of reproduce/ draw from a checkout alone."""
    package = ROOT / "python/whimbrel"
    shutil.copytree(package, tmp_path / "whimbrel", ignore=shutil.ignore_patterns("*.so", "_tree"))
    script = "import whimbrel.plot.chart as chart; print(chart.__file__)"
    words = [sys.executable, "-c", script]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.startswith(str(tmp_path)), done.stderr


@pytest.mark.parametrize("name", pages.__all__)
def test_a_figure_for_pages_takes_what_that_for_papers_does_and_refers_to_it(name: str) -> None:
    ours, theirs = (
        dict(inspect.signature(getattr(module, name)).parameters) for module in (pages, plot)
    )
    text = inspect.getdoc(getattr(pages, name)) or ""
    assert f"[whimbrel.plot.{name}][]" in text
    if "interval_ms" in theirs:  # a page has a button, and its own pace
        del theirs["interval_ms"]
        assert "except `interval_ms`" in text
    assert ours == theirs
