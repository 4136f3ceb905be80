"""Warnings of bodies that need much memory, are not in metres, or have another damping than they ask for."""

import warnings

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import DampingWarning, MeshWarning, ParameterError, warn_user

MOST_BYTES = 32e9
"""Memory that a body may take without ``large=True`` [bytes]."""
SCALED = "Give metres (scale=1e-3)"
"""Advice for a mesh in millimetres, where the function that reads it has the argument ``scale``."""


def refuse_large(elements: object, needed: float, where: str, is_large: bool) -> None:
    """Raise ``ParameterError`` if a body would need more than 32 GB of memory (``needed`` [bytes]), unless the user
    passed large=True (``is_large``). The message has the number of ``elements`` and the name of the function
    (``where``) that accepts large=True.

    Args:
        elements: their number, for the message.
        needed: memory [bytes].
        where: name of the function that takes large=True, for the message.
        is_large: whether the user set large=True.

    Raises:
        ParameterError: the memory is too large; the message says how to allow it.
    """
    if needed > MOST_BYTES and not is_large:
        raise ParameterError(
            f"elements = {elements} take about {needed / 1e9:.3g} GB of memory; take fewer, or allow it by"
            f" {where}(..., large=True)"
        )


HEAVY, LONG = 1e7, 300.0
"""Mass [kg] and extent [m] of bodies that are more likely millimetres than metres: bridges are lighter."""


def warn_of_size(mass: float, points: Array, remedy: str = "Give metres") -> None:
    """Warn the user (``MeshWarning``) if a body has more than 1e7 kg or is longer than 300 m. Its mesh is then
    probably in millimetres. ``mass`` is the mass of the body [kg], ``points`` (k, d) [m] are the points of the
    mesh, ``remedy`` ends the message.

    Args:
        mass: [kg].
        points: of the mesh, shape (k, d) [m].
        remedy: end of the message.
    """
    sides = np.ptp(points, axis=0)
    if mass > HEAVY or sides.max() > LONG:
        shown = " x ".join(f"{side:g}" for side in sides)
        warnings.warn(
            f"mesh: it is {shown} m large and has a mass of {mass:.3g} kg; are its lengths in millimetres? "
            f"{remedy}",
            MeshWarning,
            stacklevel=3,
        )


def warn_of_damping(text: str) -> None:
    """Warn the user (``DampingWarning``) that a damping ratio has another value in the whole model, for the reason
    in ``text``. The message advises to use the material's viscosity instead."""
    warn_user(f"{text} take Material(viscosity=2 * ratio / frequency [rad/s])", DampingWarning)
