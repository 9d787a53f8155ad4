# SPDX-License-Identifier: Apache-2.0
"""The figures of `whimbrel.plot` for pages, by plotly: they zoom, and tell what is pointed at."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from ..exploration import Exploration
from ..runs import Run
from . import series

__all__ = ["energy_by_rate", "occupancy", "pareto", "thermal_animation", "timeline"]


def timeline(run: Run, *, begin: float = 0, end: float | None = None) -> go.Figure:
    """Which task has each core when (Gantt), of a recorded run."""
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
    """How many messages each channel of a recorded run has over time, and how many fit."""
    begin, end = series.window(run, begin, end)
    figure = go.Figure()
    for name, (times, depths) in series.occupancies(run, begin, end).items():
        figure.add_scatter(x=times, y=depths, name=name, line={"shape": "hv"})
    figure.update_layout(xaxis={"title": "s"}, yaxis={"title": "messages", "rangemode": "tozero"})
    return figure


def pareto(explored: Exploration, x: str = "latency_ms", y: str = "energy_mj") -> go.Figure:
    """All candidates and the front, for each frame rate by itself."""
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
    """The least energy without a missed deadline at each frame rate."""
    rates, energies = series.least_energy(explored)
    figure = go.Figure(go.Scatter(x=rates, y=energies, mode="lines+markers"))
    axes = {"xaxis": {"title": "frames per second"}, "yaxis": {"title": "energy, mJ"}}
    figure.update_layout(**axes)
    figure.update_yaxes(rangemode="tozero")
    return figure


def thermal_animation(run: Run, frames: int = 50) -> go.Figure:
    """The floorplan over a recorded run, with a button and a slider."""
    blocks = series.floorplan(run)
    times = [run.seconds * number / max(frames - 1, 1) for number in range(frames)]
    readings = series.temperatures(run, times)
    ends = [block["temperature_mc"] / 1e3 for block in blocks]

    def marks(reading: dict[int, float]) -> go.Scatter:
        pairs = zip(blocks, ends, strict=True)
        celsius = [reading.get(block["core"], end) for block, end in pairs]
        return go.Scatter(
            x=[block["x_mm"] + block["width_mm"] / 2 for block in blocks],
            y=[block["y_mm"] + block["height_mm"] / 2 for block in blocks],
            text=[
                f"{block['name']} {value:.1f} °C"
                for block, value in zip(blocks, celsius, strict=True)
            ],
            mode="markers",
            marker={
                "color": celsius,
                "colorscale": "RdBu_r",
                "cmin": least,
                "cmax": most,
                "size": 28,
                "symbol": "square",
                "colorbar": {"title": "°C"},
            },
        )

    every = ends + [value for reading in readings for value in reading.values()]
    least, most = min(every), max(every)
    shown = [
        go.Frame(data=[marks(r)], name=f"{t:.3g}") for r, t in zip(readings, times, strict=True)
    ]
    figure = go.Figure(data=[marks(readings[0])], frames=shown)
    figure.update_layout(xaxis={"title": "mm"}, yaxis={"title": "mm", "scaleanchor": "x"})
    figure.update_layout(updatemenus=[_play()], sliders=[{"steps": [_step(f) for f in shown]}])
    return figure


def _play() -> dict[str, Any]:
    return {
        "type": "buttons",
        "buttons": [{"label": "play", "method": "animate", "args": [None]}],
    }


def _step(frame: go.Frame) -> dict[str, Any]:
    return {"label": frame.name, "method": "animate", "args": [[frame.name], {"mode": "immediate"}]}
