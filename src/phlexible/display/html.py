"""Small tables and pictures as HTML that needs nothing else."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 160, 26
MOST_POINTS = 160
CELL = "text-align:left;padding:0.05em 1em 0.05em 0"
STYLE = "border-collapse:collapse;font-variant-numeric:tabular-nums"


@dataclass(frozen=True)
class Html:
    """HTML that goes into a table as it is."""

    text: str


def table(rows: Iterable[Sequence[str | Html]], heads: Sequence[str] = (), title: str = "") -> str:
    """Rows of a name and values, under heads."""
    lines = [f"<caption style='text-align:left;font-weight:600'>{escape(title)}</caption>"] if title else []
    if heads:
        cells = "".join(f"<th scope='col' style='{CELL}'>{escape(head)}</th>" for head in heads)
        lines.append(f"<thead><tr>{cells}</tr></thead>")
    for name, *values in rows:
        others = "".join(f"<td style='{CELL}'>{_cell(value)}</td>" for value in values)
        lines.append(f"<tr><th scope='row' style='{CELL};font-weight:400'>{_cell(name)}</th>{others}</tr>")
    return f"<table style='{STYLE}'>{''.join(lines)}</table>"


def beside(*parts: str) -> str:
    """Parts in a row."""
    inside = "".join(f"<div>{part}</div>" for part in parts)
    return f"<div style='display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start'>{inside}</div>"


def sparkline(values: NDArray[np.float64], label: str) -> Html:
    """A curve as small as a line of text."""
    picked = values[np.unique(np.linspace(0, len(values) - 1, MOST_POINTS).astype(int))]
    low, high = float(picked.min()), float(picked.max())
    span = high - low or 1.0
    x = np.linspace(1, WIDTH - 1, len(picked))
    y = HEIGHT - 2 - (picked - low) / span * (HEIGHT - 4)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return Html(
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{escape(label, quote=True)}">'
        f'<polyline points="{points}" fill="none" stroke="currentColor"/></svg>'
    )


def _cell(value: str | Html) -> str:
    return value.text if isinstance(value, Html) else escape(value)
