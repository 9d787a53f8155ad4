# SPDX-License-Identifier: Apache-2.0
"""The figures of `whimbrel.plot` for pages, by plotly: they zoom, and tell what is pointed at."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from plotly.colors import sample_colorscale
from plotly.subplots import make_subplots

from ..exploration import Exploration
from ..runs import Run
from . import series

__all__ = [
    "energy_by_rate",
    "occupancy",
    "pareto",
    "thermal_animation",
    "thermal_map",
    "timeline",
]

# The colours of temperatures.
_HEAT = "RdBu_r"


def timeline(run: Run, *, begin: float = 0, end: float | None = None) -> go.Figure:
    """Which task has each core when (Gantt), of a recorded run.

    Takes and raises what [whimbrel.plot.timeline][] does, except `width`.

    Examples:
        >>> whimbrel.plot.pages.timeline(run, end=0.01).write_html("timeline.html")
    """
    begin, end = series.window(run, begin, end)
    spans = series.spans(run, begin, end)
    figure = go.Figure()
    for task in dict.fromkeys(span.task for span in spans):
        of_task = [span for span in spans if span.task == task]
        figure.add_bar(
            name=task,
            orientation="h",
            base=[span.begin for span in of_task],
            x=[span.end - span.begin for span in of_task],
            y=[f"core {span.core}" for span in of_task],
            hovertemplate="%{base:.6f} s, for %{x:.6f} s",
        )
    figure.update_layout(barmode="overlay", xaxis={"title": "s", "range": [begin, end]})
    figure.update_yaxes(autorange="reversed", categoryorder="category ascending")
    return figure


def occupancy(run: Run, *, begin: float = 0, end: float | None = None) -> go.Figure:
    """How many messages each channel of a recorded run has over time, and how many fit.

    Takes and raises what [whimbrel.plot.occupancy][] does, except `width`.

    Examples:
        >>> whimbrel.plot.pages.occupancy(run, end=0.01).write_html("occupancy.html")
    """
    begin, end = series.window(run, begin, end)
    figure = go.Figure()
    for name, (times, depths) in series.occupancies(run, begin, end).items():
        figure.add_scatter(x=times, y=depths, name=name, line={"shape": "hv"})
    figure.update_layout(xaxis={"title": "s"}, yaxis={"title": "messages", "rangemode": "tozero"})
    return figure


def pareto(
    explored: Exploration, x: series.Column = "latency_ms", y: series.Column = "energy_mj"
) -> go.Figure:
    """All candidates and the front, for each frame rate by itself.

    Takes and raises what [whimbrel.plot.pareto][] does, except `width`.

    Examples:
        >>> whimbrel.plot.pages.pareto(found, x="cores").write_html("front.html")
    """
    words = series.objective("x", x), series.objective("y", y)
    rates = series.candidates(explored)
    titles = [of_rate.called for of_rate in rates]
    figure = make_subplots(1, max(len(rates), 1), subplot_titles=titles)
    for column, of_rate in enumerate(rates, 1):
        for rows, colour, name in (
            (of_rate.rows, "#bbbbbb", "ran"),
            (of_rate.front, "#c4451c", "front"),
        ):
            figure.add_scatter(
                x=[row[x] for row in rows],
                y=[row[y] for row in rows],
                text=[f"{row['mapping']}<br>{row['points']} MHz" for row in rows],
                mode="markers",
                marker={"color": colour},
                name=name,
                showlegend=column == 1,
                row=1,
                col=column,
            )
        figure.update_xaxes(title=words[0], row=1, col=column)
        figure.update_yaxes(title=words[1], row=1, col=column)
    return figure


def energy_by_rate(explored: Exploration) -> go.Figure:
    """The mean power and the energy per frame of the candidate with the least energy per frame, of
    those without a missed deadline, at each frame rate.

    Takes and raises what [whimbrel.plot.energy_by_rate][] does, except `width`.

    Examples:
        >>> whimbrel.plot.pages.energy_by_rate(found).write_html("energy.html")
    """
    found = series.least_energy(explored)
    figure = make_subplots(2, 1, shared_xaxes=True)
    for row, of_rate in enumerate((found.power_mw, found.frame_mj), 1):
        shown = go.Scatter(x=found.rates, y=of_rate, mode="lines+markers")
        figure.add_trace(shown, row=row, col=1)
        figure.update_yaxes(title=series.ENERGIES[row - 1], rangemode="tozero", row=row, col=1)
    figure.update_xaxes(title="frames per second", row=2, col=1)
    figure.update_layout(showlegend=False)
    return figure


def thermal_map(run: Run) -> go.Figure:
    """The floorplan with the temperatures at the end of a run.

    Takes and raises what [whimbrel.plot.thermal_map][] does, except `width`.

    Examples:
        >>> hot = whimbrel.simulate(player, "ca9x4", duration=1)
        >>> whimbrel.plot.pages.thermal_map(hot).write_html("chip.html")
    """
    chip = _Chip(run)
    return chip.figure(chip.ends, (min(chip.ends), max(chip.ends)))


def thermal_animation(run: Run, frames: int = 50) -> go.Figure:
    """The floorplan over a recorded run; blocks without a core keep the colour of the end.

    Takes and raises what [whimbrel.plot.thermal_animation][] does, except `interval_ms`.

    Examples:
        >>> hot = whimbrel.simulate(player, "ca9x4", duration=1, record=True)
        >>> whimbrel.plot.pages.thermal_animation(hot, frames=2).write_html("chip.html")
    """
    chip = _Chip(run)
    times = [run.seconds * number / max(frames - 1, 1) for number in range(frames)]
    every = [chip.celsius(reading) for reading in series.temperatures(run, times)]
    limits = min(map(min, every)), max(map(max, every))
    shown = [
        go.Frame(data=chip.traces(celsius, limits), name=f"{time:.3g}")
        for celsius, time in zip(every, times, strict=True)
    ]
    figure = chip.figure(every[0], limits)
    figure.frames = shown
    figure.update_layout(updatemenus=[_play()], sliders=[{"steps": [_step(f) for f in shown]}])
    return figure


class _Chip:
    """A floorplan, each block a rectangle in the colour of its temperature."""

    def __init__(self, run: Run) -> None:
        self.blocks = series.floorplan(run)
        self.ends = [block["temperature_mc"] / 1e3 for block in self.blocks]
        self.title = f"{run.summary['app']['name']} on {run.summary['platform']}"

    def celsius(self, reading: dict[int, float]) -> list[float]:
        """Of each block, by the temperatures of cores."""
        pairs = zip(self.blocks, self.ends, strict=True)
        return [reading.get(block["core"], end) for block, end in pairs]

    def traces(self, celsius: list[float], limits: tuple[float, float]) -> list[go.Scatter]:
        pairs = zip(self.blocks, celsius, strict=True)
        return [_rectangle(block, value, limits) for block, value in pairs]

    def figure(self, celsius: list[float], limits: tuple[float, float]) -> go.Figure:
        """With a scale of its colours."""
        colours = {"colorscale": _HEAT, "cmin": limits[0], "cmax": limits[1], "color": [limits[0]]}
        scale = {**colours, "colorbar": {"title": "°C"}, "opacity": 0}
        figure = go.Figure([*self.traces(celsius, limits), go.Scatter(x=[0], y=[0], marker=scale)])
        axes = {"xaxis": {"title": "mm"}, "yaxis": {"title": "mm", "scaleanchor": "x"}}
        figure.update_layout(title=self.title, showlegend=False, **axes)
        return figure


def _rectangle(block: dict[str, Any], celsius: float, limits: tuple[float, float]) -> go.Scatter:
    x, y, width, height = (block[key] for key in ("x_mm", "y_mm", "width_mm", "height_mm"))
    least, most = limits
    part = (celsius - least) / (most - least) if most > least else 0.5
    return go.Scatter(
        x=[x, x + width, x + width, x, x],
        y=[y, y, y + height, y + height, y],
        fill="toself",
        fillcolor=sample_colorscale(_HEAT, [part])[0],
        hoveron="fills",
        line={"color": "white"},
        mode="lines",
        name=f"{block['name']} {celsius:.1f} °C",
        hoverinfo="name",
        hoverlabel={"namelength": -1},
    )


def _play() -> dict[str, Any]:
    return {
        "type": "buttons",
        "buttons": [{"label": "play", "method": "animate", "args": [None]}],
    }


def _step(frame: go.Frame) -> dict[str, Any]:
    return {"label": frame.name, "method": "animate", "args": [[frame.name], {"mode": "immediate"}]}
