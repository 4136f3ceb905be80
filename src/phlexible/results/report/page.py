"""The page of a report: a template, the viewer, the numbers, the tables."""

import json
import sys
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from os import PathLike
from typing import Any

import numpy as np

from phlexible.algebra.options import file_path
from phlexible.errors import ParameterError, ResultFileError
from phlexible.results.model_tree import Part
from phlexible.results.report.packing import Packing, compressed
from phlexible.version import __version__

Rows = Sequence[tuple[str, ...]]


def asset(name: str) -> str:
    """A file beside this one, as text."""
    return files("phlexible.results.report").joinpath("assets", name).read_text(encoding="utf-8")


def page(title: str, subtitle: str, head: Mapping[str, Any], pack: Packing, sections: Sequence[str]) -> str:
    """One HTML page that holds everything and asks the network for nothing."""
    numbers = json.dumps({**head, "arrays": pack.entries}, separators=(",", ":")).replace("</", "<\\/")
    places = {
        "TITLE": escape(title),
        "SUBTITLE": escape(subtitle),
        "STYLE": asset("style.css"),
        "HEAD": numbers,
        "BLOCK": pack.text(),
        "VIEWER": compressed(asset("viewer.js").encode()),
        "SECTIONS": "\n".join(sections),
        "ABOUT": escape(f"Made by phlexible {__version__}. The 3D view uses three.js (MIT licence)."),
    }
    text = asset("page.html")
    for name, content in places.items():
        text = text.replace(f"@{name}@", content)
    return text


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


def table(rows: Rows, heads: Sequence[str] = ()) -> str:
    """Rows of a name and a value, or of more columns under heads."""
    top = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    lines = [f"<thead><tr>{top}</tr></thead>"] if heads else []
    for name, *values in rows:
        cells = "".join(f"<td>{escape(each)}</td>" for each in values)
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return f"<table>{''.join(lines)}</table>"


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
