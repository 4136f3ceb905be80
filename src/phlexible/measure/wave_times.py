"""Strings whose waves run along an element many times in a step (docs/theory.md, 4)."""

import numpy as np

from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.state.system import System

MANY_TIMES = 1e3
"""Of a step over a wave time; Newton's method has been seen to fail from 1e4 on, with 12 halvings, and rarely."""


def wave_time(body: AbsoluteBody) -> float:
    """Return the shortest time that a wave takes along an element of an undeformed string (``body``) without
    viscosity [s]; infinity if there is no such element."""
    shortest = np.inf
    line_density = body.mass / sum(float(group.weights.sum()) for group in body.strains) if body.strains else 0.0
    for group in body.strains:
        if group.viscosity == 0.0:
            slowness = float(np.sqrt(line_density / group.law.modulus))
            spacing = 2.0 / np.abs(group.first).sum(axis=1).max()  # r' is a difference of nodes over it
            shortest = min(shortest, slowness * float(spacing))
    return shortest


def stiff_strings(system: System, step: float) -> list[str]:
    """Return a warning message for each string of a system whose waves pass an element more than a thousand
    times in one time step. ``step`` is the time step [s]."""
    return [
        f"a step is {step / time:.0f} times as long as a wave takes along an element of {placed.name}"
        f" ({time:.2g} s): where the string slackens or is plucked, Newton's method needs many halved steps and"
        " may fail; take a smaller step, or give the string viscosity or less stiffness"
        for placed in system.bodies
        if isinstance(placed.data, AbsoluteBody) and step > MANY_TIMES * (time := wave_time(placed.data))
    ]
