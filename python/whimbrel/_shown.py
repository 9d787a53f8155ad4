# SPDX-License-Identifier: Apache-2.0
"""How objects show themselves: in a line, and in a notebook as tables with small plots.

Names come from files of strangers, so all text is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from itertools import chain
from reprlib import Repr
from typing import Any

from .errors import plain

Point = tuple[float, float]

# Rows of a table, and letters of a line.
_ROWS, _LINE = 20, 120
_WIDTH, _HEIGHT, _MARGIN = 280, 160, 6
_short = Repr()


def given(of: Any) -> dict[str, Any]:
    """The fields of a dataclass that are set."""
    values = {field.name: getattr(of, field.name) for field in fields(of) if field.repr}
    return {name: value for name, value in values.items() if value not in (None, (), {})}


def counted(number: int, name: str) -> str:
    """A number of things."""
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def line(text: str) -> str:
    """One line for a terminal, cut where it is too long."""
    text = plain(text).replace("\n", "\\n").replace("\t", "\\t")
    return text if len(text) <= _LINE else f"{text[: _LINE - 1]}…"


class Shown:
    """A dataclass that shows the fields that are set."""

    def __repr__(self) -> str:
        some = ", ".join(f"{name}={_short.repr(value)}" for name, value in given(self).items())
        return line(f"{type(self).__name__}({some})")

    def _repr_html_(self) -> str:
        rows = [{"field": name, "value": value} for name, value in given(self).items()]
        return page(type(self).__name__, table(rows))


def page(title: str, *parts: str) -> str:
    """Parts of HTML under a title."""
    return f"<div><p><b>{_text(title)}</b></p>{''.join(parts)}</div>"


def table(rows: Iterable[Any], title: str = "", columns: Sequence[str] = ()) -> str:
    """Mappings or dataclasses as a table, with the columns that any of them has."""
    every = [given(row) if is_dataclass(row) else row for row in rows]
    has = list(columns or dict.fromkeys(chain.from_iterable(every)))
    if not every:
        return ""
    lines = [[_cell(row.get(name)) for name in has] for row in every[:_ROWS]]
    if len(every) > _ROWS:
        lines.append([f"<td colspan={len(has)}>… and {len(every) - _ROWS} more</td>"])
    caption = f"<caption>{_text(title)}</caption>" if title else ""
    head = "".join(f"<th>{_text(name)}</th>" for name in has)
    body = "".join(f"<tr>{''.join(line)}</tr>" for line in lines)
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def plot(points: Sequence[Point], marked: Sequence[Point], words: tuple[str, str]) -> str:
    """Points as SVG, some of them marked; the axes say from where to where."""
    xs, ys = zip(*(*points, *marked), strict=True)
    spans = (min(xs), max(xs)), (min(ys), max(ys))
    dots = [
        f'<circle cx="{_place(x, spans[0], _WIDTH):.1f}" '
        f'cy="{_HEIGHT - _place(y, spans[1], _HEIGHT):.1f}" r="{radius}" fill="{colour}"/>'
        for kind, radius, colour in ((points, 2, "#bbbbbb"), (marked, 3, "#c4451c"))
        for x, y in kind
    ]
    frame = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="none" stroke="#999999"/>'
    about = [
        f"{way} {word}: {low:.6g} to {high:.6g}"
        for way, word, (low, high) in zip("→↑", words, spans, strict=True)
    ]
    image = f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img">{frame}{"".join(dots)}</svg>'
    return f"<figure>{image}<figcaption>{_text('; '.join(about))}</figcaption></figure>"


class Bar(float):
    """A part of one, which a table shows as a bar."""


def _place(value: float, span: Point, size: int) -> float:
    low, high = span
    part = (value - low) / (high - low) if high > low else 0.5
    return _MARGIN + part * (size - 2 * _MARGIN)


def _text(value: object) -> str:
    return escape(plain(str(value)))


def _cell(value: Any) -> str:
    if isinstance(value, Bar):
        shown = f'<rect width="{60 * min(max(value, 0), 1):.1f}" height="10" fill="#1b6ca8"/>'
        return f'<td><svg width="60" height="10">{shown}</svg> {value:.1%}</td>'
    if value is None:
        return "<td></td>"
    if isinstance(value, float):
        return f"<td>{value:.6g}</td>"
    if isinstance(value, (int, str)):
        return f"<td>{_text(value)}</td>"
    if isinstance(value, (tuple, list)) and any(is_dataclass(one) for one in value):
        return f"<td>{_text(counted(len(value), type(value[0]).__name__.lower()))}</td>"
    if is_dataclass(value):
        return f"<td>{_text(repr(value))}</td>"
    if isinstance(value, Mapping):
        return f"<td>{_text(', '.join(f'{key}: {of}' for key, of in value.items()))}</td>"
    return f"<td>{_text(_short.repr(value))}</td>"
