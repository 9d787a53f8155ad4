# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site (`make docs`), and the guides that only it binds together."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import griffe
import pytest
from documents import ROOT, blocks, version
from playwright.sync_api import Browser, expect
from running import PATIENCE_S, WHIMBREL

CONFIG = ROOT / "tools" / "site" / "mkdocs.yml"
# What a page shows or runs; a link to another host is followed by its reader alone.
FETCHED = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=["']?(https?:[^"'> ]+)""")


def built(to: Path, config: Path = CONFIG) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    command += ["--config-file", str(config), "--site-dir", str(to)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=quiet, timeout=600)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = built(folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_of_the_site_is_there_and_can_be_searched(site: Path) -> None:
    pages = {str(page.relative_to(site)) for page in site.rglob("*.html")}
    assert {"index.html", "first-run.html", "project/ARCHITECTURE.html"} <= pages
    assert "source/apps/hello/watcher.c.html" in pages
    index = (site / "search" / "search_index.json").read_text()
    assert "the bird is in process" in index
    # Sources and decisions come after what explains them.
    below = {one["location"] for one in json.loads(index)["docs"] if one.get("boost", 1) < 1}
    assert "source/apps/hello/watcher.c.html" in below and "first-run.html" not in below


def test_each_page_says_of_which_version_it_is_and_one_lists_the_versions(site: Path) -> None:
    for page in ("index.html", "cli.html", "rtl/index.html"):
        assert f"Whimbrel {version()}</title>" in (site / page).read_text().replace("\n", "")
    versions = (site / "versions.html").read_text()
    (link,) = re.findall(rf'<td>{version()}</td>.*?href="([^"]*)"', versions, re.DOTALL)
    page, _, place = link.partition("#")
    assert f'id="{place}"' in (site / page).read_text()


# What people search for, and the page that must come first.
SEARCHED = {
    "move task": "move-a-task.html",
    "survive death": "survive-a-death.html",
    "freertos": "freertos.html",
    "wb_port_send": "your-first-application.html",
    "no run is called": "troubleshooting.html",
    "the application has no frame rate": "troubleshooting.html",
    "starts on core 1, which does not exist": "troubleshooting.html",
}


def test_a_browser_searches_the_site_without_a_server(site: Path, browser: Browser) -> None:
    asked: list[str] = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "rtl/index.html").as_uri())
    first = page.locator(".md-search-result__item > a").first
    for words, target in SEARCHED.items():
        page.locator("[data-md-component=search-query]").click()
        page.keyboard.type(words)
        expect(first).to_have_attribute(
            "href", re.compile(rf"/{re.escape(target)}\?"), timeout=PATIENCE_S * 100
        )
        page.keyboard.press("Escape")
        page.locator("[data-md-component=search-query]").fill("")
    page.close()
    assert asked and [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_no_page_fetches_anything_from_another_host(site: Path) -> None:
    fetched = {link for page in site.rglob("*.html") for link in FETCHED.findall(page.read_text())}
    assert fetched == set()
    styles = "".join(sheet.read_text() for sheet in site.rglob("*.css"))
    assert not re.findall(r"(?:@import|url\()\s*[\"']?https?:", styles)


@pytest.mark.parametrize(("heading", "status"), [("build-and-run-it", 0), ("no-such-heading", 1)])
def test_a_link_that_leads_nowhere_is_an_error(tmp_path: Path, heading: str, status: int) -> None:
    """A site of one page, beside which the hook puts what there is."""
    docs, config = tmp_path / "docs", tmp_path / "mkdocs.yml"
    docs.mkdir()
    page = "your-first-application.md"
    (docs / "page-of-a-test.md").write_text(f"# A page\n\n[a heading]({page}#{heading})\n")
    config.write_text(
        f"INHERIT: {CONFIG}\ndocs_dir: {docs}\nhooks: [{CONFIG.parent / 'pages.py'}]\n"
        "plugins: [search]\nnav: [{A page: page-of-a-test.md}]\n"
    )
    done = built(tmp_path / "site", config)
    assert done.returncode == status, done.stderr
    if status:
        assert "page-of-a-test.md" in done.stderr and heading in done.stderr


# Entries of Python's API, each with its text.
ENTRY = re.compile(
    r'id="(whimbrel[\w.]*)"[^>]*>.*?<div class="doc doc-contents[^"]*">\s*'
    r'(?:<p class="doc doc-class-bases">.*?</p>\s*)?(<p>)?',
    re.DOTALL,
)


def test_every_public_name_of_the_package_has_an_entry_with_text(site: Path) -> None:
    page = (site / "api" / "python.html").read_text()
    has = {name for name, text in ENTRY.findall(page) if text}
    package = griffe.load("whimbrel", search_paths=[ROOT / "python"], allow_inspection=False)
    for module in (package, package["plot"], package["plot.pages"]):
        names = {f"{module.path}.{name}" for name in module.exports or ()}
        named = names - {"whimbrel.plot", "whimbrel.__version__"}
        assert len(named) > 5 and named <= has, sorted(named - has)
    # A field that is a key of app.toml has the text that it has there.
    assert "1 to 4096; default 1" in page


def test_what_links_to_the_api_and_from_it_is_there(site: Path) -> None:
    to = re.findall(r'href="(api/python[^"#]*)"', (site / "api.html").read_text())
    assert to and all((site / link).is_file() for link in to)
    page = (site / "api" / "python.html").read_text()
    of = {link.split("#")[0] for link in re.findall(r'href="([^":]*)"', page)} - {""}
    assert "../recorded-run.html" in of
    assert [link for link in of if not (site / "api" / link).exists()] == []
    inside = {link for link in re.findall(r'href="#([^"]*)"', page)}
    assert inside <= set(re.findall(r'id="([^"]*)"', page))


def test_the_c_api_has_a_line_for_each_function_and_a_way_back(tmp_path: Path) -> None:
    config = (CONFIG.parent / "Doxyfile").read_text() + f"OUTPUT_DIRECTORY = {tmp_path}\n"
    settings = {"input": config, "env": os.environ | {"VERSION": version()}, "cwd": ROOT}
    subprocess.run(["doxygen", "-"], text=True, check=True, capture_output=True, **settings)
    page = (tmp_path / "c/wb_8h.html").read_text()
    assert re.search(rf'id="projectnumber">(&#160;)?{version()}</span>', page)
    members = re.findall(r'class="memitem:(\w+)".*?\b(wb_\w+)</a> \(', page)
    assert len(members) > 40
    assert [name for key, name in members if f'class="memdesc:{key}"' not in page] == []
    headers = (tmp_path / "c/files.html").read_text()
    files = re.findall(r'\.(?:h|hpp)</a></td><td class="desc">(.*?)</td>', headers)
    assert len(files) > 8 and all(files)
    assert 'url:"../../documents.html"' in (tmp_path / "c/menudata.js").read_text()


def test_the_platform_of_the_guide_makes_each_thing_cost_what_it_says(tmp_path: Path) -> None:
    platform, runs = tmp_path / "board.toml", []
    text = ""
    for block in blocks(ROOT / "docs" / "own-platform.md", "toml"):
        text += block
        platform.write_text(text)
        command = [WHIMBREL, "sim", ROOT / "apps/synthetic/app.toml", "--platform", platform]
        command += ["--map", "round-robin", "--set", "rate=50", "--json", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        runs.append(done.stdout)
    assert len(runs) == len(set(runs)) == 3


def phrases() -> list[str]:
    """The messages that the page on troubleshooting explains."""
    text = (ROOT / "docs" / "troubleshooting.md").read_text()
    cells = re.findall(r"^\| (`[^|]*?) \|", text, re.MULTILINE)
    return [phrase for cell in cells for phrase in re.findall(r"`([^`]+)`", cell)]


def test_every_message_that_is_explained_exists() -> None:
    folders = ("clients", "crates", "kernels", "launcher", "middleware")
    sources = [p for f in folders for p in (ROOT / f).rglob("*.[rch]*") if "target" not in p.parts]
    # A literal may go on in the next line, and names stand in braces, in backticks or after %.
    code = "\n".join(path.read_text(errors="replace") for path in sources if path.is_file())
    code = re.sub(r'\\\n\s*|"\s*\n\s*"', "", code)
    assert len(phrases()) > 40
    gone = [
        phrase
        for phrase in phrases()
        if any(part.strip() not in code for part in re.split(r"…|\bN\b", phrase) if part.strip())
    ]
    assert gone == []
