# SPDX-License-Identifier: Apache-2.0
"""The API of Python as a page of the site: hooks of MkDocs, and an extension of griffe.

griffe reads the sources, so nothing is imported and nothing has to be built. What `import whimbrel`
has is what its `__init__.py` imports; the texts are the docstrings.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python/whimbrel"
PAGE = "api/python.md"
# The parts of the package in the order of the page.
PARTS = {
    "simulation": "Simulating",
    "runs": "Results of runs",
    "model": "Applications and platforms",
    "_keys": "Their tables",
    "policies": "Policies",
    "exploration": "Exploring",
    "search": "Searching step by step, and by others",
    "errors": "What goes wrong",
}
HEAD = """# Python: whimbrel

`import whimbrel` has all of this; [Python: import whimbrel](../python.md) shows how it is used.
"""
# In texts: a document.
DOCUMENT = re.compile(r"docs/([a-z-]+)\.md")


def imported(file: Path) -> dict[str, list[str]]:
    """The names that a module has from each of its neighbours."""
    nodes = ast.walk(ast.parse(file.read_text()))
    taken = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.level == 1]
    return {node.module: [name.name for name in node.names] for node in taken if node.module}


def exported(file: Path) -> list[str]:
    """The names in a module's `__all__`."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def text() -> str:
    """The page, whose entries are filled by mkdocstrings."""
    parts, page = imported(PACKAGE / "__init__.py"), [HEAD]
    for part, title in PARTS.items():
        page += [f"## {title}", *(f"::: whimbrel.{name}" for name in parts[part])]
    figures = exported(PACKAGE / "plot/__init__.py")
    page += ["## Figures for papers", *(f"::: whimbrel.plot.{name}" for name in figures)]
    figures = exported(PACKAGE / "plot/pages.py")
    page += ["## Figures for pages", *(f"::: whimbrel.plot.pages.{name}" for name in figures)]
    return "\n\n".join(page)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the page."""
    files.append(File.generated(config, PAGE, content=text()))
    return files


class Texts(griffe.Extension):
    """Completes docstrings: links to documents, and for classes a table of their fields."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Of each module, class, function and attribute."""
        if obj.docstring is None:
            return
        if isinstance(obj, griffe.Class):
            add_fields(obj, obj.docstring)
        obj.docstring.value = DOCUMENT.sub(linked, obj.docstring.value)


def linked(document: re.Match[str]) -> str:
    """The link to a document, by its name."""
    return f"[{document[1].replace('-toml', '.toml')}](../{document[1]}.md)"


def add_fields(of: griffe.Class, docstring: griffe.Docstring) -> None:
    """A table of its fields, those of its base among them, with their texts."""
    rows = []
    for name, field in {**of.inherited_members, **of.members}.items():
        if not field.is_attribute or name.startswith("_") or "property" in field.labels:
            continue
        rows.append(
            f"    {name}: {' '.join(field.docstring.value.split()) if field.docstring else '–'}"
        )
        if name in of.members:
            field.docstring = None
    if rows:
        docstring.value += "\n\nAttributes:\n" + "\n".join(rows)
