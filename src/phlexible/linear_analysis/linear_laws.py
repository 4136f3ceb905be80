"""Functions of the state in linear models: what they add to K, C, D, which are left out (docs/theory.md, 7)."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from phlexible.interactions.feedback import Feedback
from phlexible.interactions.resisting.contacts import Contacts
from phlexible.interactions.state_force import StateLaw
from phlexible.system.layout import State
from phlexible.system.state_laws import LawSlopes, has_laws, law_slopes
from phlexible.system.system import System

ASYMMETRY = 1e-6
ACTIVE = "a controller, which has values at its samples only; linear.interconnect(controller) closes the loop"
MANY = "contacts among many, which push nothing here; a Contact does"
NOT_SMOOTH = "a function of the state that has no derivative here"
NOT_SYMMETRIC = "a function of the state whose stiffness is not symmetric: it has no energy"
FEEDS = "a function of the state that feeds energy with the velocity: its damping is negative"


@dataclass(frozen=True, eq=False)
class LinearLaws:
    """Parts of the linear model, and what it leaves out.

    Attributes:
        stiffness: symmetric, shape (velocities,) * 2.
        damping: symmetric, positive semi-definite.
        velocity: skew: forces that do no work.
        left_out: name and reason of each.
    """

    stiffness: sparse.csr_array
    damping: sparse.csr_array
    velocity: sparse.csr_array
    left_out: tuple[str, ...]


def linear_laws(system: System, state: State) -> LinearLaws:
    """Of all functions of the state about an operating point; controllers are left out."""
    size = int(system.layout.velocity[-1])
    stiffness, damping, velocity = (sparse.csr_array((size, size)) for _ in range(3))
    left_out = [f"{name}, {ACTIVE}" for name in _controlled(system)]
    left_out += [f"{each}, {MANY}" for each in system.mechanism.elements if isinstance(each, Contacts)]
    for slopes in law_slopes(system, system.at(state)) if has_laws(system) else ():
        if reason := _reason(slopes):
            left_out.append(f"{slopes.name}, {reason}")
            continue
        stiffness = stiffness + (slopes.stiffness + slopes.stiffness.T) / 2
        damping = damping + (slopes.damping + slopes.damping.T) / 2
        velocity = velocity + (slopes.damping - slopes.damping.T) / 2
    parts = [sparse.csr_array(part) for part in (stiffness, damping, velocity)]
    return LinearLaws(parts[0], parts[1], parts[2], tuple(left_out))


def _controlled(system: System) -> list[str]:
    named = [(load.value, str(load)) for load in system.loads]
    named += [(force.value, str(element)) for element, force in system.forces]
    return [name for value, name in named if isinstance(value, Feedback) and not isinstance(value, StateLaw)]


def _reason(slopes: LawSlopes) -> str:
    if not slopes.is_smooth:
        return NOT_SMOOTH
    if abs(slopes.stiffness - slopes.stiffness.T).max() > ASYMMETRY * abs(slopes.stiffness).max():
        return NOT_SYMMETRIC
    even = sparse.csr_array(slopes.damping + slopes.damping.T)
    touched = np.flatnonzero(abs(even).max(axis=1).toarray())
    if not len(touched):
        return ""
    values = np.linalg.eigvalsh(even[touched][:, touched].toarray())
    return FEEDS if values[0] < -ASYMMETRY * np.abs(values).max() else ""
