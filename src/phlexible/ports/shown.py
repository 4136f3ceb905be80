"""How placed bodies show themselves in notebooks: a small picture and their parameters."""

from collections.abc import Iterable, Sequence

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.body import Body, BodyData
from phlexible.display.html import beside, table
from phlexible.shapes.surface import Surface
from phlexible.shapes.svg import small_picture

COLOR = "#0b5394"
Drawn = tuple[Surface, list[Array]]
"""Surface and lines of a body."""


def drawn(body: Body, data: BodyData, elastic: Array | None, position: Array, rotation: Array) -> Drawn:
    """What a body looks like at its start, world axes.

    Args:
        body: that is drawn.
        data: what it was discretized to.
        elastic: of a body in absolute coordinates its elastic coordinates (n,); None: it has a frame.
        position, rotation: of the frame, shapes (3,) [m] and (3, 3).
    """
    skin = body.skin(data, np.zeros((0, 3)))
    places = skin.positions if elastic is None else skin.places(elastic[None])[0]
    vertices = position + (places[skin.vertex_nodes] + skin.offsets) @ rotation.T
    lines = [] if skin.has_surface else [position + places[line] @ rotation.T for line in skin.lines]
    return Surface(vertices, skin.triangles), lines


def shown(title: str, rows: Iterable[tuple[str, str]], parts: Sequence[Drawn], color: str | None) -> str:
    """A table under a title, beside a picture of the parts."""
    lines = [line for _, own in parts for line in own]
    counts = np.cumsum([0, *(len(surface.vertices) for surface, _ in parts)])
    vertices = np.concatenate([surface.vertices for surface, _ in parts])
    triangles = [surface.triangles + first for (surface, _), first in zip(parts, counts[:-1], strict=True)]
    whole, text = Surface(vertices, np.concatenate(triangles)), table(rows, title=title)
    if not (len(whole.triangles) or lines):
        return text
    return beside(small_picture(whole, lines, color or COLOR, f"picture of {title.partition(':')[0]}"), text)
