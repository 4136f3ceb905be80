"""What Newton's method did in a step that failed, and the likely cause."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.assembly.assembly import Assembly
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.rank.dead_centre import near_dead_centre
from phlexible.system.layout import State
from phlexible.system.system import System


def failure_words(
    assembly: Assembly, system: System, state: State, is_singular: bool, cause: BaseException | None
) -> tuple[str, Array]:
    """Words, and the scaled updates of the last try, shape (iterations,).

    Args:
        assembly: with the memory of that try.
        system: with the joints that hold.
        state: at its start.
        is_singular: whether Newton's matrix was.
        cause: what a function of the user raised, or None.
    """
    memory = assembly.memory
    history = np.asarray(memory["history"], dtype=np.float64)
    history = history[: int(np.flatnonzero(history)[-1]) + 1].copy() if history.any() else history[:1].copy()
    words = f"the scaled Newton update was still {history[-1]:.2g} after {len(history)} iterations"
    missed, explained = memory["ledger"]
    if missed > explained:
        words = (
            f"where updates of Newton's method are small the energy misses {missed:.2g} J of the work"
            f" of the forces, and round-off explains {explained:.2g} J: no solution, as in steps far longer"
            " than a period"
        )
    if is_singular:
        words = "Newton's matrix is singular (a joint at a dead point, or redundant joints)"
    if cause is not None:
        words += f"; a function of a law raised {cause!r}"
    centre = near_dead_centre(system, state, np.asarray(memory["velocity_weight"]))
    return words + _most_compressed(assembly) + centre, history


def _most_compressed(assembly: Assembly) -> str:
    """A clause for an error message; empty where there are no strings."""
    elements = [
        (placed.name, int(element))
        for placed in assembly.system.bodies
        if isinstance(placed.data, AbsoluteBody)
        for group in placed.data.strains
        for element in group.elements
    ]
    own = slice(assembly.element_forces, assembly.element_forces + len(elements))
    if not elements:
        return ""
    before: Array = assembly.memory["theta0"][own]
    change: Array = assembly.memory["theta_change"][own]
    C: Array = np.where(np.isfinite(change), before + change, 0.0)
    worst = int(C.argmin())
    name, element = elements[worst]
    return (
        f"; of all strings element {element} of {name} was compressed most,"
        f" to C = |dr/ds|^2 = {max(float(C[worst]), 0.0):.3g} in the last try"
    )
