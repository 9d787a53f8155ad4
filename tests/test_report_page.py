# SPDX-License-Identifier: Apache-2.0
"""The page of `whimbrel report` in a browser: Chromium, driven by Playwright. Pictures of it go to
build/report, for whoever wants to see what a test cannot."""

from __future__ import annotations

import csv
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Locator,
    Page,
    ViewportSize,
    sync_playwright,
)
from running import CHROMIUM
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


def whimbrel(*words: str | Path) -> None:
    """Runs the command; it must succeed."""
    subprocess.run([WHIMBREL, *words], check=True, capture_output=True, timeout=600, cwd=ROOT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three recorded runs, one of an hour, an exploration at two frame rates, and their pages."""
    folder = tmp_path_factory.mktemp("report")
    (folder / "app.toml").write_text(APP)
    app, record = folder / "app.toml", ("--quiet", "--seed", "1", "--record")
    whimbrel("sim", app, "--platform", "mpsoc3", "--duration", "1h", *record, folder / "hour")
    whimbrel("sim", app, "--platform", "mpsoc3", "--duration", "10s", *record, folder / "short")
    warm = ("apps/synthetic/script.toml", "--platform", "ca9x4", "--map", "round-robin")
    whimbrel("sim", *warm, *record, folder / "warm")
    radio = ("apps/fm_radio/app.toml", "--platform", "mpsoc3", "--duration", "1s")
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
    ):
        whimbrel("report", *(folder / each for each in of), "-o", folder / f"{name}.html")
    PICTURES.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


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
        asks = context.new_cdp_session(page)
        asks.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto((folder / "one.html").as_uri())
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
