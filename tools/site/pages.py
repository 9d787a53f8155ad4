# SPDX-License-Identifier: Apache-2.0
"""Makes a site of the project's documents as they lie in the repository (hooks of MkDocs).

The pages are docs/, and whatever these link to: other documents become pages below `project/`,
other files of the repository pages below `source/` that show them, folders a list of what is in
them. So no document is written for the site, and every link that works in the repository works
there.
"""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
TROUBLES = DOCS / "troubleshooting.md"
# The first cell of a row that explains messages, and each message in it.
ROW = re.compile(r"^\| (`[^|]*?) \|", re.MULTILINE)
MESSAGE = re.compile(r"`([^`]+)`")
LANGUAGES = {".h": "c", ".py": "python", ".rs": "rust", ".sv": "systemverilog", ".mk": "make"}
PICTURES = (".svg", ".png")
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)(?=[)#])")
# Code, in which nothing is a link.
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def page_of(path: Path) -> str:
    """Where a file or folder of the repository is shown."""
    if path.is_dir():
        readme = path / "README.md"
        return page_of(readme) if readme.exists() else f"{source_of(path)}/index.md"
    if path == ROOT / "README.md":
        return "index.md"
    if path == DOCS / "README.md":  # which MkDocs would make the first page
        return "documents.md"
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    if path.suffix == ".md":
        return f"project/{path.relative_to(ROOT).as_posix()}"
    return source_of(path) if path.suffix in PICTURES else f"{source_of(path)}.md"


def source_of(path: Path) -> str:
    return f"source/{path.relative_to(ROOT).as_posix()}"


def links(markdown: str, replace: Callable[[str], str]) -> str:
    """The text with what `replace` makes of each of its relative links."""
    done, end = [], 0
    for code in [*CODE.finditer(markdown), None]:
        start = code.start() if code else len(markdown)
        prose = markdown[end:start]
        done.append(LINK.sub(lambda link: replace(link[1]), prose))
        if code:
            done.append(code[0])
            end = code.end()
    return "".join(done)


def target(of: Path, link: str) -> Path | None:
    """The file or folder that a document links to; `None`: there is none."""
    found = Path(os.path.normpath(of.parent / link))
    return found if found.exists() and found.is_relative_to(ROOT) else None


def shown(path: Path) -> str:
    """A file or folder as Markdown."""
    name = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        command = ["git", "ls-files", "-co", "--exclude-standard", "--", name]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        inside = {file[len(name) + 1 :].split("/")[0] for file in listed.stdout.splitlines()}
        return f"# {name}\n\n" + "".join(f"- `{one}`\n" for one in sorted(inside))
    language = LANGUAGES.get(path.suffix, path.suffix[1:])
    return f"# {name}\n\n``````{language}\n{path.read_text()}\n``````\n"


# How far in front the search shows pages, by the beginning of their paths: sources, and what led to
# decisions, after the pages that explain them; Rust, whose page names the functions of C, after C.
BOOSTS = {"source/": 0.1, "decisions/": 0.2, "internals/": 0.5, "project/": 0.5, "rust.md": 2}
GUIDES = ("Tutorials", "How to")  # sections of the navigation


def boost_of(uri: str, config: MkDocsConfig) -> float:
    for start, boost in BOOSTS.items():
        if uri.startswith(start):
            return boost
    guides = [page for part in config.nav or () for title in GUIDES for page in part.get(title, ())]
    return 4 if uri in {path for page in guides for path in page.values()} else 1


VERSIONS = """# Versions

These pages are of version {version}. [Releases and formats](releases.md) states what a version
promises. To read the pages of another version, build them from its tag:

```
git checkout v{version}
make docs
```

| version | released | changes |
|---|---|---|
{rows}
"""


def version() -> str:
    return tomllib.loads((ROOT / "crates/Cargo.toml").read_text())["workspace"]["package"][
        "version"
    ]


def versions() -> str:
    """The page that lists all versions: those of the changelog."""
    heading = re.compile(r"^## \[([0-9.]+)\] - ([0-9-]+)$", re.MULTILINE)
    rows = []
    for number, day in heading.findall((ROOT / "CHANGELOG.md").read_text()):
        place = f"project/CHANGELOG.md#{number.replace('.', '')}---{day}"
        rows.append(f"| {number} | {day} | [changes]({place}) |")
    return VERSIONS.format(version=version(), rows="\n".join(rows))


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Each page says of which version it is."""
    config.site_name = f"Whimbrel {version()}"
    return config


# By the path of a page in the site: the file that it shows.
origins: dict[str, Path] = {}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds a page for everything that a page links to."""
    origins.clear()
    first = files.get_file_from_path("README.md")
    if first is not None:
        files.remove(first)
    waiting = [ROOT / "README.md", *DOCS.rglob("*.md")]
    while waiting:
        path = waiting.pop()
        uri = page_of(path)
        if uri in origins:
            continue
        origins[uri] = path
        if files.get_file_from_path(uri) is None:
            files.append(added(config, uri, path))
        if path.suffix == ".md":
            waiting += linked(path)
    files.append(File.generated(config, "versions.md", content=versions()))
    for name in ("site.css", "iframe-worker.js"):
        files.append(added(config, name, Path(__file__).with_name(name)))
    return files


def added(config: MkDocsConfig, uri: str, path: Path) -> File:
    """A file of the repository as one of the site."""
    if uri.endswith(".md") and path.suffix != ".md":
        return File.generated(config, uri, content=shown(path))
    return File.generated(config, uri, abs_src_path=str(path))


def linked(path: Path) -> list[Path]:
    found: list[Path] = []

    def note(link: str) -> str:
        one = target(path, link)
        if one is not None:
            found.append(one / "README.md" if (one / "README.md").exists() else one)
        return link

    links(path.read_text(), note)
    return found


def with_anchors(cell: str) -> str:
    """The messages of a row of the page on troubleshooting, each with an anchor before it."""
    return MESSAGE.sub(lambda one: f'<a id="{anchor_of(one[1])}"></a>{one[0]}', cell)


def anchor_of(message: str) -> str:
    return "message-" + re.sub(r"\W+", "-", message.lower()).strip("-")


def on_post_build(config: MkDocsConfig) -> None:
    """Adds each message of that page to what the search finds by titles."""
    file = Path(config.site_dir) / "search/search_index.json"
    index = json.loads(file.read_text())
    for message in [
        one for row in ROW.findall(TROUBLES.read_text()) for one in MESSAGE.findall(row)
    ]:
        location = f"troubleshooting.html#{anchor_of(message)}"
        entry = {"location": location, "title": html.escape(message), "text": "", "boost": 12}
        index["docs"].append(entry)
    file.write_text(json.dumps(index, ensure_ascii=False))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leads the links of a document to the pages of what they name."""
    page.meta["search"] = {"boost": boost_of(page.file.src_uri, config)}
    origin = origins.get(page.file.src_uri)
    if origin is None or origin.suffix != ".md":
        return markdown
    if origin == TROUBLES:
        markdown = ROW.sub(lambda row: row[0].replace(row[1], with_anchors(row[1]), 1), markdown)
    here = Path(page.file.src_uri).parent

    def there(link: str) -> str:
        found = target(origin, link)
        return link if found is None else os.path.relpath(page_of(found), here)

    return links(markdown, there)
