"""Colours of bodies."""

import re

from phlexible.errors import ParameterError

NAMED = {
    "black": "#222222",
    "white": "#f5f5f5",
    "gray": "#8a8a8a",
    "grey": "#8a8a8a",
    "silver": "#bdbdbd",
    "blue": "#0b5394",
    "orange": "#d1541b",
    "green": "#2f8f5b",
    "purple": "#8e4a9e",
    "yellow": "#c9a227",
    "cyan": "#3aa5b8",
    "red": "#b03a5b",
    "brown": "#7a5230",
}
"""Of the pictures' own palette, which is told apart by readers who do not tell red from green."""


def optional_color(value: object) -> str | None:
    """The colour as "#rrggbb" in lower case, or None.

    Raises:
        ParameterError: neither a known name nor "#rrggbb".
    """
    if value is None:
        return None
    if isinstance(value, str):
        if value.lower() in NAMED:
            return NAMED[value.lower()]
        if re.fullmatch(r"#[0-9a-fA-F]{6}", value):
            return value.lower()
    raise ParameterError(f'color must be "#rrggbb" or one of {", ".join(NAMED)}, got {value!r}')
