"""Surfaces and lines as a small picture in SVG."""

from collections.abc import Sequence
from html import escape

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.shapes.surface import Surface

SIZE = 180  # pixels
MOST_TRIANGLES = 3000


def small_picture(surface: Surface, lines: Sequence[Array], color: str, label: str) -> str:
    """Seen along the axis across which it is least extended; lines of shape (k, 3)."""
    places = np.concatenate([surface.vertices, *lines]) if len(lines) else surface.vertices
    low, high = places.min(axis=0), places.max(axis=0)
    across = np.sort(np.argsort(low - high, kind="stable")[:2])
    extent = (high - low)[across]
    scale = (SIZE - 12) / (float(extent.max()) or 1.0)
    height = max(14.0, scale * float(extent[1]) + 12)

    def drawn(points: Array) -> str:
        flat = 6 + scale * (points[:, across] - low[across])
        return " ".join(f"{x:.1f},{height - y:.1f}" for x, y in flat)

    corners = surface.corners()[:: 1 + len(surface.triangles) // MOST_TRIANGLES]
    fill = "".join(f'<polygon points="{drawn(each)}"/>' for each in corners)
    strokes = "".join(f'<polyline points="{drawn(line)}"/>' for line in lines)
    return (
        f'<svg width="{SIZE}" height="{height:.0f}" role="img" aria-label="{escape(label, quote=True)}">'
        f'<g fill="{color}" stroke="{color}" stroke-width="0.5">{fill}</g>'
        f'<g fill="none" stroke="{color}" stroke-width="2">{strokes}</g></svg>'
    )
