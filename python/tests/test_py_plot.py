# SPDX-License-Identifier: Apache-2.0
"""Figures show what the runs and explorations have."""

from __future__ import annotations

import inspect
import os
import pickle
import re
import shutil
import subprocess
import sys
from io import BytesIO
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import whimbrel
from matplotlib.image import imread
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from plotly.colors import sample_colorscale
from whimbrel import plot
from whimbrel.plot import chart, pages, series

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
    (legend,) = figure.legends
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
    rows = explored.table.to_pylist()
    for of_rate, power_mw, frame_mj in zip(
        explored.rates, found.power_mw, found.frame_mj, strict=True
    ):
        kept = [row for row in rows if row["rate"] == of_rate["rate"] and row["misses"] == 0]
        best = min(kept, key=lambda one: one["energy_mj"] / one["frames"])
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


@pytest.fixture(scope="module")
def seeds() -> dict[str, list[whimbrel.Run]]:
    """Runs under names as long as people give them."""
    names = {"static": "static", "balance": "balance, agents each 50 ms, settled for 500 ms"}
    return {
        name: [
            whimbrel.simulate(FORK_JOIN, seed=seed, policy=policy, duration="100ms")
            for seed in range(4)
        ]
        for policy, name in names.items()
    }


@pytest.fixture(scope="module")
def crowd() -> plot.Figure:
    """The timeline of more tasks than there are styles for."""
    tasks = [
        whimbrel.Task(name=f"number_{n}_of_a_crowd", core=n % 3, period_us=1000, cycles=900 + n)
        for n in range(90)
    ]
    app = whimbrel.Application(name="crowd", tasks=tuple(tasks))
    run = whimbrel.simulate(app, "mpsoc3", duration="20ms", record=True)
    return plot.timeline(run, width="lncs")


def drawn(figure: plot.Figure, monkeypatch: pytest.MonkeyPatch) -> dict[str, Bbox]:
    """Where each text is that a figure shows."""
    texts: list[Text] = []
    draw = Text.draw

    def noted(text: Text, *arguments: Any, **options: Any) -> None:
        if text.get_visible() and text.get_text().strip() and text not in texts:
            texts.append(text)
        draw(text, *arguments, **options)

    monkeypatch.setattr(Text, "draw", noted)
    figure.savefig(BytesIO(), dpi=figure.dpi)
    monkeypatch.undo()
    return {f"{n} {text.get_text()}": text.get_window_extent() for n, text in enumerate(texts)}


KINDS = ("timeline", "occupancy", "pareto", "energy", "seeds", "heat")
WIDTHS = (None, "ieee")
ALONE = [("crowd", "lncs"), ("pareto", "ieee2"), ("seeds", "acm"), ("plot", None), ("bars", None)]


@pytest.mark.parametrize(
    ("kind", "width"),
    [*((kind, width) for kind in KINDS for width in WIDTHS), *ALONE],
)
def test_no_text_of_a_figure_overlaps_another_or_the_edge(
    kind: str,
    width: str | float | None,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    get = request.getfixturevalue
    figure = {
        "timeline": lambda: plot.timeline(get("run"), end=0.05, width=width),
        "crowd": lambda: get("crowd"),
        "occupancy": lambda: plot.occupancy(get("run"), width=width),
        "pareto": lambda: plot.pareto(get("explored"), width=width),
        "energy": lambda: plot.energy_by_rate(get("explored"), width=width),
        "seeds": lambda: plot.over_seeds(get("seeds"), width=width),
        "heat": lambda: plot.thermal_map(get("run"), width=width),
        "plot": lambda: many(tmp_path),
        "bars": lambda: bars(tmp_path),
    }[kind]()
    if width is not None:
        assert figure.get_size_inches()[0] == chart.inches(width)
    texts = drawn(figure, monkeypatch)
    assert len(texts) > 4
    for text, box in texts.items():
        inside = figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert inside and figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, text
    for (one, here), (other, there) in combinations(texts.items(), 2):
        common = Bbox.intersection(here, there)
        assert common is None or min(common.width, common.height) < 0.5, f"{one} over {other}"


def many(folder: Path) -> plot.Figure:
    """More series than there are colours, and values close to each other."""
    shown = plot.Plot("many", plot.Axis("time, ms"), plot.Axis("frames"))
    for number in range(9):
        shown.add(f"series {number}", [(26.6701, 16), (26.6719, 16.1 + number / 100)])
    shown.limit("before", 16.5)
    shown.limit("after", 16.4)
    shown.write(folder / "plot.svg")
    return shown.figure


def bars(folder: Path) -> plot.Figure:
    """As the figures of reproduce/ have them."""
    shown = plot.Plot("bars", plot.Axis("load"), plot.Axis("time"))
    shown.bars({f"busy {n}": {f"tool {m}": n + m for m in range(8)} for n in range(4)})
    shown.write(folder / "plot.svg")
    return shown.figure


def test_no_two_series_look_the_same_and_none_is_cut(tmp_path: Path) -> None:
    axes = many(tmp_path).axes[0]
    lines = axes.lines
    styles = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines]
    assert len(set(styles)) == len(lines) == 11
    low, high = axes.get_ylim()
    assert low == 0 and high > 1.02 * max(max(line.get_ydata()) for line in lines)
    looks = [
        (patch.get_facecolor(), patch.get_hatch()) for patch in bars(tmp_path).axes[0].patches[::4]
    ]
    assert len(set(looks)) == 8


def test_a_crowd_is_named_by_those_that_run_the_longest(crowd: plot.Figure) -> None:
    (legend,) = crowd.legends
    looks = [(tuple(p.get_facecolor()), p.get_hatch()) for p in legend.get_patches()]
    assert len(set(looks)) == len(looks) == 81
    names = {text.get_text() for text in legend.get_texts()}
    assert "10 other tasks" in names and "number_89_of_a_crowd" in names


def test_a_picture_of_a_figure_is_for_a_notebook(run: whimbrel.Run) -> None:
    """Without a display, and without pyplot, which keeps every figure."""
    figure = plot.timeline(run, end=0.05)
    picture, size = figure._repr_png_()
    assert imread(BytesIO(picture)).shape[:2] == (2 * size["height"], 2 * size["width"])
    assert picture == pickle.loads(pickle.dumps(figure))._repr_png_()[0]
    assert (
        "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    )
    moving = plot.thermal_animation(run, frames=2)._repr_html_()
    assert moving.count("data:image/png;base64,") == 2


def test_a_pdf_embeds_its_fonts_whole_and_has_no_date(run: whimbrel.Run, tmp_path: Path) -> None:
    for name in ("a.pdf", "b.pdf"):
        plot.timeline(run, end=0.01, width="ieee").savefig(tmp_path / name)
    text = (tmp_path / "a.pdf").read_bytes()
    assert text == (tmp_path / "b.pdf").read_bytes()
    fonts = re.findall(rb"/Type /Font\b.*?>>", text, re.DOTALL)
    kinds = {kind for font in fonts for kind in re.findall(rb"/Subtype /(\w+)", font)}
    assert fonts and kinds <= {b"Type0", b"CIDFontType2", b"TrueType"}, kinds
    assert b"/FontFile2" in text
    (box,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ", text)
    assert float(box) == pytest.approx(3.5 * 72)


def test_means_over_seeds_have_the_interval_of_student(
    seeds: dict[str, list[whimbrel.Run]],
) -> None:
    # By a table: 2.306 for nine values, of which the deviation is 2.7386.
    found = series.mean([1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert (found.centre, found.half) == (5, pytest.approx(2.306 * 2.7386 / 3, rel=1e-4))
    assert series.mean([7]) == series.Mean(7, None)
    means = series.means(seeds, ["energy_mj", "misses"])
    assert list(means) == ["energy, mJ", "missed deadlines"]
    some = [run.energy_mj for run in seeds["static"]]
    assert means["energy, mJ"][0] == series.mean(some)
    assert len(set(some)) > 1
    energy, misses = plot.over_seeds(seeds).axes
    (line, _, (bars,)) = energy.containers[0]
    assert list(line.get_xdata()) == [mean.centre for mean in means["energy, mJ"]]
    (low, _), (high, _) = bars.get_segments()[0]
    assert high - low == pytest.approx(2 * (means["energy, mJ"][0].half or 0))
    assert misses.get_xlabel() == "missed deadlines"


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
    for width in ("nature", 0, float("nan"), True):
        with pytest.raises(whimbrel.InputError, match="ieee2"):
            plot.occupancy(cold, width=width)
    with pytest.raises(whimbrel.InputError, match="beauty"):
        plot.over_seeds({"a": [cold]}, "beauty")
    for none in ({}, {"a": []}):
        with pytest.raises(whimbrel.InputError, match="no runs"):
            plot.over_seeds(none)
    task = whimbrel.Task(name="a", period_us=1000, cycles=9)
    endless = whimbrel.Application(name="a", tasks=(task,))
    with pytest.raises(whimbrel.InputError, match="'endless' has no latency_ms"):
        plot.over_seeds({"endless": [whimbrel.simulate(endless, duration=0.01)]}, "latency_ms")


def test_the_package_is_imported_without_what_draws() -> None:
    script = "import sys, whimbrel; whimbrel.simulate; print(*sys.modules)"
    words = [sys.executable, "-c", script]
    modules = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert not {"matplotlib", "plotly", "pyarrow", "numpy", "distributed"} & set(modules)


def test_figures_need_nothing_that_is_compiled_and_no_display(tmp_path: Path) -> None:
    """So the scripts of reproduce/ draw from a checkout alone."""
    package = ROOT / "python/whimbrel"
    shutil.copytree(package, tmp_path / "whimbrel", ignore=shutil.ignore_patterns("*.so", "_tree"))
    script = """
import sys
from pathlib import Path
from whimbrel.plot import chart
plot = chart.Plot("t", chart.Axis("x"), chart.Axis("y"))
plot.add("points", [(0, 1), (1, 2)])
plot.write(Path("plot.svg"))
assert len(plot.figure._repr_png_()[0]) > 4000
print(chart.__file__, "matplotlib.pyplot" in sys.modules)
"""
    words = [sys.executable, "-c", script]
    # A script on a machine whose user has windows elsewhere.
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "MPLBACKEND": "tkagg", "DISPLAY": ""}
    done = subprocess.run(
        words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == f"{tmp_path}/whimbrel/plot/chart.py False\n", done.stderr
    assert (tmp_path / "plot.svg").stat().st_size > 4000


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
    if "width" in theirs:  # a page has the width of its window
        del theirs["width"]
        assert "except `width`" in text
    assert ours == theirs
