"""What Newton's method did in a step that failed, and the likely cause."""

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.assembly.assembly import Assembly
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.interactions.state_force import StateLaw
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
    return words + _most_compressed(assembly) + centre + trouble(assembly, np.inf)[1], history


def trouble(assembly: Assembly, limit: float) -> tuple[str, str]:
    """Words of a body deformed by more than so many times its size, and of the controllers; or empty ones."""
    name, share = _most_deformed(assembly)
    deformed = f"{name} is deformed by {share:.3g} times its size" if not share <= limit else ""
    names = ", ".join(each.name for each in assembly.controlled if not isinstance(each.feedback, StateLaw))
    if not names:
        return deformed, ""
    return deformed, (
        f"; {names}: a controller whose gains are too large for the step, or for the inertia that it moves, makes"
        " motions grow without bound; joint.servo and StateForce act inside of the step"
    )


def _most_deformed(assembly: Assembly) -> tuple[str, float]:
    """Name of a floating body, and the greatest elastic displacement of a port now over its size."""
    system, eta = assembly.system, np.asarray(assembly.memory["eta"])
    floating = [placed for placed in system.bodies if isinstance(placed.data, FloatingBody)]
    worst = "", 0.0
    for vector in assembly.vectors:
        b = vector.carrier
        if 0 <= b < system.layout.frames and vector.is_point and vector.shapes.shape[1]:
            moved = vector.shapes @ eta[int(system.layout.eta[b]) : int(system.layout.eta[b + 1])]
            share = float(np.linalg.norm(moved)) / (floating[b].data.size or np.inf)
            if not share <= worst[1]:
                worst = floating[b].name, share
    return worst


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
