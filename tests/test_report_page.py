# SPDX-License-Identifier: Apache-2.0
"""The page of `whimbrel report` in a browser: Chromium, driven by Playwright. Pictures of it go to
build/report, for whoever wants to see what a test cannot."""

from __future__ import annotations

import csv
import json
import re
import shutil
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, ViewportSize
from simulated import PATIENCE_S, ROOT, WHIMBREL

PICTURES = ROOT / "build/report"
PHONE = ViewportSize(width=390, height=844)
DESK = ViewportSize(width=1280, height=900)
Shown = Callable[..., Page]
# A frame each 50 ms, over three tasks.
APP = """
[app]
name = "hour"

[[task]]
name = "source"
period_us = 50000
cycles = 2000000

[[task]]
name = "filter"
core = 1
cycles = 9000000
distribution = "normal"
spread = 0.3

[[task]]
name = "sink"
cycles = 1000000

[[channel]]
from = "source.out"
to = "filter.in"
slot_bytes = 64

[[channel]]
from = "filter.out"
to = "sink.in"
slot_bytes = 64
"""

# Two tasks that need more than their core has.
LATE = """
[app]
name = "late"

[[task]]
name = "first"
period_us = 1000
cycles = 400000

[[task]]
name = "second"
period_us = 1000
cycles = 400000
"""
EVIL = "<img src=x onerror=document.title='stolen'>"
# Of the timeline: where its lanes begin, and of each core the middle and the distance.
LEFT, FIRST, LANE = 124, 41, 41

# G. M. Machado et al., Simulation of Color Vision Deficiency, 2009.
PROTAN = (
    (0.152286, 1.052583, -0.204868),
    (0.114503, 0.786281, 0.099216),
    (-0.003882, -0.048116, 1.051998),
)
DEUTAN = (
    (0.367322, 0.860646, -0.227968),
    (0.280085, 0.672501, 0.047413),
    (-0.011820, 0.042940, 0.968881),
)


def lab(rgb: list[float]) -> tuple[float, float, float]:
    """CIE L*a*b* of a colour, in which distances are as large as they look."""
    line = [max(c, 0) / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
    x = (0.4124 * line[0] + 0.3576 * line[1] + 0.1805 * line[2]) / 0.9505
    y = 0.2126 * line[0] + 0.7152 * line[1] + 0.0722 * line[2]
    z = (0.0193 * line[0] + 0.1192 * line[1] + 0.9505 * line[2]) / 1.089
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def whimbrel(*words: str | Path) -> None:
    """Runs the command; it must succeed."""
    subprocess.run([WHIMBREL, *words], check=True, capture_output=True, timeout=600, cwd=ROOT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded runs, one of an hour, an exploration at two frame rates, and their pages."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "app.toml").write_text(APP)
    app, record = folder / "app.toml", ("--quiet", "--seed", "1", "--record")
    whimbrel("sim", app, "--platform", "mpsoc3", "--duration", "1h", *record, folder / "hour")
    whimbrel("sim", app, "--platform", "mpsoc3", "--duration", "10s", *record, folder / "short")
    warm = ("apps/synthetic/script.toml", "--platform", "ca9x4", "--map", "round-robin")
    whimbrel("sim", *warm, *record, folder / "warm")
    radio = ("apps/fm_radio/app.toml", "--platform", "mpsoc3", "--duration", "1s")
    spread = ("--map", "round-robin", "--shuttle", "demodulator=1,0@100ms", "--frame-rate", "300")
    whimbrel("sim", *radio, *spread, "--set", "output=", *record, folder / "moves")
    (folder / "late.toml").write_text(LATE)
    late = (folder / "late.toml", "--platform", "mpsoc3", "--duration", "50ms")
    whimbrel("sim", *late, *record, folder / "late")
    spoil(folder / "late")
    rates = (
        "--frame-rates",
        "100,300",
        "--core-counts",
        "1,2",
        "--exhaustive",
        "40",
        "--budget",
        "40",
    )
    whimbrel("explore", *radio, *rates, "-o", folder / "explored")
    for name, of in (
        ("one", ["hour"]),
        ("two", ["hour", "short"]),
        ("front", ["explored"]),
        ("warm", ["warm"]),
        ("moves", ["moves"]),
        ("late", ["late"]),
    ):
        whimbrel("report", *(folder / each for each in of), "-o", folder / f"{name}.html")
    PICTURES.mkdir(parents=True, exist_ok=True)
    return folder


def spoil(folder: Path) -> None:
    """A stranger's summary: a kernel died, and a task has a name that looks like markup."""
    summary = json.loads((folder / "summary.json").read_text())
    summary["tasks"][1]["task"] = EVIL
    at = summary["start_ns"] + 20_000_000
    died = {"core": 1, "detected_ns": at, "by": EVIL, "running": EVIL, "moved": 1, "lost": 0}
    summary["deaths"] = [died | {"back_after_ns": 10_000_000}, {"core": 9**9, "by": None}]
    (folder / "summary.json").write_text(json.dumps(summary))


@pytest.fixture
def shown(browser: Browser, folder: Path) -> Iterator[Shown]:
    """Opens a page by its name; at the end nothing else was asked for, and nothing went wrong."""
    contexts: list[BrowserContext] = []
    asked: list[str] = []
    wrong: list[str] = []

    def open_page(name: str, viewport: ViewportSize = DESK, scheme: str = "light") -> Page:
        dark = "dark" if scheme == "dark" else "light"
        context = browser.new_context(viewport=viewport, color_scheme=dark, device_scale_factor=2)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.goto((folder / f"{name}.html").as_uri())
        page.wait_for_function("document.readyState == 'complete'")
        settled(page, page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
    assert [url for url in asked if not url.startswith("file:")] == []
    assert len(asked) == len(contexts)


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Waits until this holds, for as long as a busy machine may take."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        page.wait_for_timeout(50)


def settled(page: Page, of: Page | Locator) -> bytes:
    """A picture, once it does not change any more."""
    before = of.screenshot()
    while (now := of.screenshot()) != before:
        before = now
        page.wait_for_timeout(50)
    return now


def shades(page: Page, canvas: str) -> list[int]:
    """How many colours each canvas has."""
    return page.eval_on_selector_all(
        canvas,
        """all => all.map(one => {
            const { width, height } = one;
            const data = one.getContext("2d").getImageData(0, 0, width, height).data;
            const words = new Uint32Array(data.buffer);
            return new Set(words).size;
        })""",
    )


def drag(page: Page, plot: Locator, start: float, end: float) -> None:
    """Draws the mouse over a part of a plot."""
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * start, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * end, middle, steps=5)
    page.mouse.up()
    page.mouse.move(2, 2)


def test_every_plot_draws(shown: Shown) -> None:
    page = shown("one")
    assert page.locator(".uplot").count() >= 2
    until(page, lambda: len(drawn := shades(page, "canvas")) >= 2 and min(drawn) > 3)
    page.screenshot(path=PICTURES / "run.png", full_page=True)


def test_a_page_of_an_hour_has_levels_of_detail_and_not_a_million_points(
    shown: Shown, folder: Path
) -> None:
    page = shown("one")
    assert "3,600 s" in page.inner_text(".tiles")
    assert (folder / "one.html").stat().st_size < 4 << 20
    events = sum(file.stat().st_size for file in (folder / "hour").glob("core-*.events"))
    assert events > 4 * (folder / "one.html").stat().st_size


def test_a_page_of_an_hour_takes_a_browser_little(browser: Browser, folder: Path) -> None:
    """Processor time of the page's thread, whatever else the machine does."""
    with browser.new_context(viewport=DESK) as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE_S * 1000)
        asks = context.new_cdp_session(page)
        asks.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto((folder / "one.html").as_uri())
        timeline(page)
        told = asks.send("Performance.getMetrics")["metrics"]
    (took_s,) = (one["value"] for one in told if one["name"] == "TaskDuration")
    assert 0 < took_s < 5


def test_a_plot_zooms_in_and_out_again(shown: Shown) -> None:
    page = shown("one")
    plot = page.locator(".u-over").first
    plot.scroll_into_view_if_needed()
    axis = page.locator(".uplot").first
    page.mouse.move(2, 2)
    before = settled(page, axis)
    drag(page, plot, 0.4, 0.5)
    until(page, lambda: axis.screenshot() != before)
    axis.screenshot(path=PICTURES / "zoomed.png")
    plot.dblclick()
    page.mouse.move(2, 2)
    until(page, lambda: axis.screenshot() == before)


def test_the_pointer_shows_values(shown: Shown) -> None:
    page = shown("one")
    plot = page.locator(".u-over").first
    plot.scroll_into_view_if_needed()
    plot.hover()
    tip = page.locator("#tip")
    until(page, lambda: tip.is_visible() and any(map(str.isdigit, tip.inner_text())))
    page.screenshot(path=PICTURES / "pointer.png")


def timeline(page: Page) -> Locator:
    """The canvas of the timeline, once it shows every event of its part of the run or its sums."""
    canvas = page.locator("section[aria-label='Timeline'] canvas")
    canvas.scroll_into_view_if_needed()
    until(page, lambda: page.evaluate("performance.getEntriesByName('timeline').length") > 0)
    return canvas


def told(page: Page) -> str:
    return page.locator("section[aria-label='Timeline'] .hint").first.inner_text()


def slices(folder: Path, core: int) -> list[tuple[str, int, int]]:
    """What a core ran, from when and until when: the task's name and nanoseconds."""
    summary = json.loads((folder / "summary.json").read_text())
    several = {task["task"] for task in summary["tasks"] if task["index"] > 0}
    names = [
        f"{task['task']}.{task['index']}" if task["task"] in several else task["task"]
        for task in summary["tasks"]
    ]
    stream = (folder / f"core-{core}.events").read_bytes()[32:]
    found: list[tuple[str, int, int]] = []
    since: dict[int, int] = {}
    for at, kind, _, task, _, _ in struct.iter_unpack("<QHHIII", stream):
        if kind == 1:
            since[task] = at - summary["start_ns"]
        elif kind in (2, 3, 4, 8) and task in since:
            found.append((names[task], since.pop(task), at - summary["start_ns"]))
    return found


def nanoseconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}[unit]


def colours_at(page: Page, canvas: Locator, box: tuple[float, float, float, float]) -> list[str]:
    """The colours in a part of a canvas, in pixels of the page."""
    return canvas.evaluate(
        """(canvas, [x, y, width, height]) => {
            const ratio = devicePixelRatio;
            const part = [x, y, width, height].map((at) => Math.round(at * ratio));
            const { data } = canvas.getContext("2d").getImageData(...part);
            const all = new Set();
            for (let at = 0; at < data.length; at += 4)
                all.add("#" + [...data.slice(at, at + 3)].map(
                    (one) => one.toString(16).padStart(2, "0")).join(""));
            return [...all];
        }""",
        box,
    )


def ink(page: Page, name: str) -> str:
    style = "getComputedStyle(document.documentElement)"
    return page.evaluate(f"{style}.getPropertyValue('--{name}').trim()")


def test_the_timeline_of_an_hour_is_painted(shown: Shown) -> None:
    """When, is printed: `pytest -s`."""
    page = shown("one")
    timeline(page)
    assert min(shades(page, "section[aria-label='Timeline'] canvas")) > 5
    paints = page.evaluate(
        "performance.getEntriesByType('paint').concat(performance.getEntriesByName('timeline'))"
        ".map(({ name, startTime }) => [name, startTime])"
    )
    print(", ".join(f"{name} after {at:.0f} ms" for name, at in paints))
    assert {name for name, _ in paints} == {"first-paint", "first-contentful-paint", "timeline"}
    page.screenshot(path=PICTURES / "hour.png")


def test_an_hour_is_zoomed_to_a_microsecond(shown: Shown, folder: Path) -> None:
    page = shown("one")
    canvas = timeline(page)
    name, start, end = slices(folder / "hour", 1)[40_000]
    assert name == "filter"
    box = canvas.bounding_box()
    assert box
    width = box["width"] - LEFT - 2
    from_ns, to_ns = 0.0, float(json.loads((folder / "hour/summary.json").read_text())["time_ns"])
    while to_ns - from_ns > 1000:
        # The end of the firing stays in view. Browsers round where the mouse is.
        x = LEFT + (end - from_ns) / (to_ns - from_ns) * width
        edges = [round(box["x"] + at) for at in (max(x - 40, LEFT), min(x + 40, LEFT + width - 1))]
        page.mouse.move(edges[0], box["y"] + FIRST + LANE)
        page.mouse.down()
        page.mouse.move(edges[1], box["y"] + FIRST + LANE)
        page.mouse.up()
        span = (to_ns - from_ns) / width
        from_ns, to_ns = (from_ns + (edge - box["x"] - LEFT) * span for edge in edges)
    begins = pytest.approx(from_ns, abs=(to_ns - from_ns) / 50)
    until(page, lambda: nanoseconds(told(page).split(" to ")[0]) == begins)
    until(page, lambda: "Every event" in told(page))
    x = (end - from_ns) / (to_ns - from_ns) * width + LEFT
    assert colours_at(page, canvas, (x - 20, FIRST + LANE, 5, 2)) == ["#ee6677"]
    assert colours_at(page, canvas, (x + 20, FIRST + LANE, 5, 2)) == [ink(page, "lane")]
    page.mouse.move(box["x"] + x - 20, box["y"] + FIRST + LANE)
    tip = page.locator("#tip")
    until(page, tip.is_visible)
    found = re.fullmatch(r"(\w+)\s+(.+) from (.+)", tip.inner_text())
    assert found, tip.inner_text()
    assert found[1] == name
    assert nanoseconds(found[3]) == pytest.approx(start, abs=0.6)
    assert nanoseconds(found[2]) == pytest.approx(end - start, rel=0.01)
    page.screenshot(path=PICTURES / "microsecond.png")
    canvas.press("Home")
    until(page, lambda: told(page).startswith("0 s to 3600 s"))


def test_a_click_on_a_migration_shows_its_phases(shown: Shown, folder: Path) -> None:
    page = shown("moves")
    canvas = timeline(page)
    until(page, lambda: "Every event" in told(page))
    summary = json.loads((folder / "moves/summary.json").read_text())
    move = summary["migrations"][0]
    box = canvas.bounding_box()
    assert box
    part = (move["parked_ns"] - summary["start_ns"]) / summary["time_ns"]
    x = box["x"] + LEFT + part * (box["width"] - LEFT - 2)
    page.mouse.click(x, box["y"] + FIRST + LANE)
    detail = page.locator("section[aria-label='Timeline'] .detail")
    assert detail.locator("h3").inner_text() == "demodulator moves from core 1 to core 0"
    phases = [
        (
            row.locator("td").first.inner_text(),
            int(row.locator("td").last.inner_text().replace(",", "")),
        )
        for row in detail.locator("tbody tr").all()
    ]
    assert [name for name, _ in phases] == [
        "request to parked",
        "parked to doorbell",
        "doorbell to attached",
        "attached to running",
        "running to first output",
    ]
    took = dict(phases)
    assert took["request to parked"] == move["parked_ns"] - move["request_ns"]
    assert took["attached to running"] == move["running_ns"] - move["attached_ns"]
    assert sum(took.values()) == move["output_ns"] - move["request_ns"]
    # The keyboard does the same.
    page.keyboard.press("Escape")
    assert detail.inner_text() == ""
    canvas.focus()
    page.keyboard.press("n")
    until(page, lambda: detail.locator("tbody tr").count() == len(phases))
    page.keyboard.press("Enter")
    until(page, lambda: not told(page).startswith("0 ms"))
    page.screenshot(path=PICTURES / "migration.png")


def test_queues_are_below_the_cores(shown: Shown) -> None:
    page = shown("moves")
    canvas = timeline(page)
    until(page, lambda: "Every event" in told(page))
    first = 22 + 3 * LANE + 8
    assert ink(page, "queue") in colours_at(page, canvas, (LEFT + 200, first + 2, 2, 26))


def test_missed_deadlines_and_deaths_are_marked_and_names_stay_text(shown: Shown) -> None:
    page = shown("late")
    canvas = timeline(page)
    until(page, lambda: "Every event" in told(page))
    bad = ink(page, "bad")
    box = canvas.bounding_box()
    assert box
    missed = colours_at(page, canvas, (LEFT, 23, box["width"] - LEFT - 2, 3))
    assert bad in missed
    canvas.focus()
    page.keyboard.press("n")
    detail = page.locator("section[aria-label='Timeline'] .detail")
    until(page, lambda: "The kernel of core 1 died" in detail.inner_text())
    assert f"found by {EVIL}" in detail.inner_text()
    chips = page.locator("section[aria-label='Timeline'] .lit button").all_inner_texts()
    assert EVIL in chips
    assert page.locator("img").count() == 0
    assert page.title() == "late · Whimbrel"
    page.screenshot(path=PICTURES / "late.png")


def test_a_stream_of_nonsense_is_shown_as_far_as_it_goes(shown: Shown, folder: Path) -> None:
    shutil.copytree(folder / "moves", folder / "spoilt")
    stream = folder / "spoilt/core-1.events"
    known = bytearray(stream.read_bytes())
    for at in range(32 + 24 * 50, len(known), 7):
        known[at] = at * 31 % 251
    stream.write_bytes(known)
    whimbrel("report", folder / "spoilt", "-o", folder / "spoilt.html")
    page = shown("spoilt")
    timeline(page)
    assert re.search(r"events .*: [\d,]+", page.inner_text("header"))


def test_people_who_cannot_tell_all_colours_can_tell_tasks(shown: Shown) -> None:
    """The colours of the legend, as people see them who lack one sort of cones."""
    page = shown("moves")
    chips = "section[aria-label='Timeline'] .lit i"
    of_tasks = page.eval_on_selector_all(
        chips, "all => all.map((one) => getComputedStyle(one).backgroundColor)"
    )
    assert len(of_tasks) == 6
    colours = [[int(part) / 255 for part in re.findall(r"\d+", one)] for one in of_tasks]
    for lacks in (PROTAN, DEUTAN):
        seen = [
            lab([sum(m * c for m, c in zip(row, rgb, strict=True)) for row in lacks])
            for rgb in colours
        ]
        ordered = [(a, b) for n, a in enumerate(seen) for b in seen[:n]]
        assert (
            min(sum((x - y) ** 2 for x, y in zip(*pair, strict=True)) ** 0.5 for pair in ordered)
            > 10
        )


def test_the_headline_has_the_energy_that_its_cores_have(shown: Shown) -> None:
    page = shown("one")
    tile = page.locator(".tile", has_text="energy of cores").inner_text()
    assert "J" in tile
    assert "–" not in tile


def test_the_map_is_the_floorplan_of_the_platform(shown: Shown) -> None:
    page = shown("warm")
    map_of = page.locator("svg[aria-label='temperature of each block']")
    blocks = map_of.locator("g title").all_text_contents()
    names = [block.split(":")[0] for block in blocks]
    assert names == ["core_0", "core_1", "core_2", "core_3", "uncore"]
    assert all("°C" in block for block in blocks)
    page.screenshot(path=PICTURES / "warm.png", full_page=True)


def test_what_tasks_waited_for_is_a_table_that_says_when_it_is_not_whole(
    shown: Shown, folder: Path
) -> None:
    text = (folder / "warm.html").read_text()
    (folder / "cut.html").write_text(re.sub(r'"all_waits":\d+', '"all_waits":5000', text))
    whole, cut = (
        shown(name).locator("section[aria-label='Waits']").inner_text() for name in ("warm", "cut")
    )
    lines = [line.split("\t") for line in whole.splitlines()]
    camera = [line for line in lines if line[:2] == ["camera", "condition taken"]]
    assert len(camera) == 1, whole
    assert camera[0][2] == "50"
    assert " of " not in whole
    assert re.search(r"The longest in all: \d+ of 5,000\. From when", cut), cut


def test_runs_are_switched(shown: Shown) -> None:
    page = shown("two")
    buttons = page.locator("nav.runs button")
    assert buttons.all_inner_texts() == ["hour", "short"]
    for number, name in enumerate(("hour", "short")):
        button = buttons.nth(number)
        button.click()
        until(page, lambda button=button: button.get_attribute("aria-pressed") == "true")
        assert page.locator("header h1").inner_text() in (name, "hour", "short")
        until(page, lambda: min(shades(page, "canvas")) > 3)
    took = page.locator(".tile", has_text="took").inner_text()
    assert "10" in took
    page.screenshot(path=PICTURES / "runs.png", full_page=True)


def test_each_frame_rate_has_a_front_of_its_own(shown: Shown) -> None:
    page = shown("front")
    buttons = page.locator("nav.runs button")
    assert buttons.all_inner_texts() == ["100 frames/s", "300 frames/s"]
    for number, rate in enumerate(("100", "300")):
        buttons.nth(number).click()
        until(page, lambda rate=rate: set(column_shown(page, "rate")) == {rate})
    page.screenshot(path=PICTURES / "front.png", full_page=True)


def test_values_of_a_front_that_differ_are_told_apart(shown: Shown, folder: Path) -> None:
    page = shown("front")
    with (folder / "explored/explore.csv").open() as file:
        rows = [
            row for row in csv.DictReader(file) if row["pareto"] == "true" and row["rate"] == "100"
        ]
    for name in ("energy_mj", "latency_ms"):
        differ = {row[name] for row in rows}
        assert len(differ) > 1 and len(set(column_shown(page, name))) == len(differ)


def column_shown(page: Page, name: str) -> list[str]:
    """A column of the table."""
    heads = page.locator("table thead th").all_inner_texts()
    cells = page.locator("table tbody tr").all()
    column = [head.split()[0] for head in heads].index(name)
    return [row.locator("td, th").nth(column).inner_text() for row in cells]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["one", "two", "front"])
def test_a_phone_shows_all_of_it_in_light_and_dark(name: str, scheme: str, shown: Shown) -> None:
    page = shown(name, PHONE, scheme)
    wide = page.evaluate("document.scrollingElement.scrollWidth")
    page.screenshot(path=PICTURES / f"{name}-{scheme}.png", full_page=True)
    assert wide <= PHONE["width"]
    colours = "getComputedStyle(document.body)"
    ground = page.evaluate(f"{colours}.backgroundColor")
    ink = page.evaluate(f"{colours}.color")
    assert contrast(ground, ink) >= 7
    small = page.evaluate(
        """[...document.querySelectorAll("body *")].filter(one => one.children.length === 0
            && one.textContent.trim() && one.getBoundingClientRect().height > 0
            && parseFloat(getComputedStyle(one).fontSize) < 10).length"""
    )
    assert small == 0


def luminance(colour: str) -> float:
    """Of a colour as a browser computes it (WCAG 2)."""
    parts = [int(part) / 255 for part in colour.split("(")[1].rstrip(")").split(",")[:3]]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Between two colours: 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)
