"""The page of a report: a template, the viewer, the numbers, the tables."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from os import PathLike
from typing import Any

import numpy as np

from phlexible.algebra.options import file_path
from phlexible.display.html import table
from phlexible.errors import ParameterError, ResultFileError
from phlexible.results.report.packing import Packing, compressed
from phlexible.results.summaries.model_tree import Part
from phlexible.version import __version__

PLACE = re.compile("@([A-Z]+)@")
"""In the template; what is put there may have such words, too."""


@dataclass(frozen=True)
class InlinePage:
    """A page that a notebook shows in the output of a cell.

    Attributes:
        page: HTML.
        height: [pixels].
    """

    page: str
    height: int

    def _repr_html_(self) -> str:
        frame = 'width="100%" style="border:0" title="report of phlexible"'
        return f'<iframe srcdoc="{escape(self.page, quote=True)}" height="{self.height}" {frame}></iframe>'

    def __repr__(self) -> str:
        return f"InlinePage({len(self.page) / 1e3:.0f} kB, shown by notebooks)"


def asset(name: str) -> str:
    """A file beside this one, as text."""
    return files("phlexible.results.report").joinpath("assets", name).read_text(encoding="utf-8")


def page(title: str, subtitle: str, head: Mapping[str, Any], pack: Packing, sections: Sequence[str]) -> str:
    """One HTML page that holds everything and asks the network for nothing."""
    numbers = json.dumps({**head, "arrays": pack.entries}, separators=(",", ":"))
    places = {
        "TITLE": escape(title),
        "SUBTITLE": escape(subtitle),
        "STYLE": asset("style.css"),
        "HEAD": numbers.replace("<", "\\u003c"),  # "<!--<script>" would swallow the rest of the page
        "BLOCK": pack.text(),
        "LOADER": asset("loader.js"),
        "VIEWER": compressed(asset("viewer.js").encode()),
        "SECTIONS": "\n".join(sections),
        "ABOUT": escape(f"Made by phlexible {__version__}. The 3D view uses three.js (MIT licence)."),
    }
    return PLACE.sub(lambda match: places[match[1]], asset("page.html"))


def html_path(path: str | PathLike[str]) -> str:
    """The path, refused before any work unless it names an HTML file.

    Raises:
        ParameterError: names it.
    """
    target = file_path("path", path)
    if not target.lower().endswith((".html", ".htm")):
        raise ParameterError(f"path must end in .html, got {target!r}")
    return target


def write_page(path: str | PathLike[str], text: str) -> None:
    """Writes the page.

    Raises:
        ResultFileError: the file cannot be written.
    """
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ResultFileError(f"cannot write {path}: {error}") from error


def section(title: str, content: str, is_open: bool = False) -> str:
    """A part of the page that opens and closes."""
    return f"<details{' open' if is_open else ''}><summary>{escape(title)}</summary>{content}</details>"


def findings(texts: Sequence[str]) -> str:
    """A list of what should be looked at."""
    if not texts:
        return "<p>Nothing was found.</p>"
    return f"<ul>{''.join(f'<li>{escape(each)}</li>' for each in texts)}</ul>"


def model_tree(families: Mapping[str, Sequence[Part]], intro: str) -> str:
    """The parts of a model, each with its parameters."""
    lines = [f"<p>{escape(intro)}</p>"]
    for name, parts in families.items():
        inner = "".join(section(part.heading, table(part.rows)) for part in parts)
        lines.append(f"<h3>{escape(name)} ({len(parts)})</h3>{inner}")
    return "".join(lines)


def versions() -> str:
    """What the report was made with."""
    import scipy

    python = ".".join(map(str, sys.version_info[:3]))
    return table(
        [("phlexible", __version__), ("Python", python), ("NumPy", np.__version__), ("SciPy", scipy.__version__)]
    )
