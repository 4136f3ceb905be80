"""Colours of bodies that have none of their own."""

from collections.abc import Sequence

from phlexible.ports.attachments import PlacedBody

PALETTE = ("#0b5394", "#d1541b", "#2f8f5b", "#8e4a9e", "#c9a227", "#3aa5b8", "#b03a5b", "#6b6b6b")
"""Told apart also by readers who do not tell red from green."""


def body_colors(bodies: Sequence[PlacedBody], wholes: Sequence[str]) -> list[str]:
    """A colour for each body: one for each of a few, one for each description of many."""
    names = list(dict.fromkeys(wholes))
    if len(names) <= len(PALETTE):
        keys: list[object] = list(wholes)
    else:
        keys = [id(placed.body) for placed in bodies]
    order = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    own = [placed.body.paint for placed in bodies]
    return [
        paint if paint is not None else PALETTE[order[key] % len(PALETTE)]
        for paint, key in zip(own, keys, strict=True)
    ]
