"""Limits of halving failed steps, and error messages about steps that fail however short."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.floating_body import FloatingBody
from phlexible.description.interactions.state_force import StateLaw
from phlexible.errors import ConvergenceError, ParameterError
from phlexible.state.redundancy import dead_centre_text
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.assembly.interactions import ControlledValue
from phlexible.step.integration.stored_rows import Advance

if TYPE_CHECKING:
    from phlexible.step.integration.stepper import Stepper

MOST_HALVINGS = 20  # of one step, one inside the other: a step of 1e4 wave times comes down to a hundredth of one
PATIENCE = 4  # pieces of one size that must succeed before pieces of twice the size are tried again
MOST_PIECES = 2**16  # of halved steps, beyond those that each step may have:
PIECES_OF_A_STEP = 256
BETWEEN_LOOKS = 8  # pieces after which bodies are looked at
TRIALS_OF_A_PIECE = 4  # that forces of the state take where they do not jump
ABSURD = 10.0  # elastic displacement over the size of a body


class HalvedSteps:
    """Counts pieces of halved steps against a limit, and checks the deformation of bodies now and then.

    Args:
        stepper: stepper that computes the steps.
        most: greatest number of pieces of a single step; None: ``MOST_PIECES`` beyond those that each step may
            have.
    """

    def __init__(self, stepper: "Stepper", most: int | None = None) -> None:
        self._stepper, self._most = stepper, most
        self._count, self._looked_at = 0, 0

    def step_done(self, count: int = 1) -> None:
        """Reduce the count of substeps of halved time steps after ``count`` full time steps that succeeded. It
        falls by a fixed number for each of them, to zero at least. If the user limited the substeps of one time
        step, the count becomes zero."""
        self._count = 0 if self._most is not None else max(0, self._count - count * PIECES_OF_A_STEP)
        self._looked_at = min(self._looked_at, self._count)

    def add(self, taken: Advance, time: float, pieces: int = 1) -> None:
        """Add ``pieces``, new substeps of halved time steps, to the count that is compared with the limit. If
        ``taken``, the result of the last steps, has many trials of state-dependent user functions, a fixed fraction
        of these is added instead. Each time the count has grown by a fixed number, ``look`` is called with the
        ``time`` [s], which may raise ``ConvergenceError``.

        Raises:
            ConvergenceError: there are far too many, or a body is deformed beyond all reason.
        """
        self._count += max(pieces, taken.trials // TRIALS_OF_A_PIECE)
        if self._count >= self._looked_at + BETWEEN_LOOKS:
            self._looked_at = self._count
            self.look(time)

    def look(self, time: float) -> None:
        """Raise ``ConvergenceError`` if a body is deformed beyond reason or time steps were halved into too many
        substeps. Beyond reason is an elastic displacement above a fixed multiple of the size of the body. The
        limit of substeps is the user's, or a fixed total. The message contains the ``time`` [s] and possible
        causes; otherwise nothing happens.

        Raises:
            ConvergenceError: as ``add``.
        """
        words, of_feedback = likely_causes(self._stepper.assembly, ABSURD)
        if self._most is None and self._count >= MOST_PIECES:
            words = words or f"steps are halved into more than {PIECES_OF_A_STEP} pieces again and again"
        if self._most is not None and self._count >= self._most:
            words = words or f"a step is halved into more than {self._most} pieces"
        if words:
            raise ConvergenceError(
                f"the run stops at t = {time:.9g} s: {words}; take a smaller step, check loads and drives there, or"
                f" add viscosity{of_feedback}",
                time,
                np.zeros(0),
            )


def step_failure(stepper: "Stepper", start: float, end: float, taken: Advance) -> ConvergenceError | ParameterError:
    """Return the exception for a time step from ``start`` to ``end`` [s] that failed although it was as short as
    time steps may get. It is a ``ConvergenceError`` with likely causes, or the ``ParameterError`` of a
    state-dependent user law if that was the cause. Deferred errors, such as Ctrl-C, are raised first. ``stepper``
    attempted the step, ``taken`` is its result."""
    stepper.raise_deferred()
    cause = stepper.cause
    if isinstance(cause, ParameterError):
        return cause
    why, history = failure_message(stepper, start, taken.is_singular)
    error = ConvergenceError(
        f"the step from t = {start:.9g} s failed after {MOST_HALVINGS} halvings (size {end - start:.3g} s): {why};"
        " take a smaller step, check loads and drives there, or add viscosity",
        start,
        history,
    )
    error.__cause__ = cause
    return error


# What Newton's method did in a step that failed, and the likely cause.


def failure_message(stepper: "Stepper", time: float, is_singular: bool) -> tuple[str, Array]:
    """Return a message why Newton's method failed in a time step from ``time`` [s], and the scaled updates of its
    iterations, shape (iterations,). The message adds likely causes: a compressed string, a slider beyond its line,
    a joint at a dead centre, controllers or user laws. ``stepper`` has the memory of the last attempt;
    ``is_singular`` says that Newton's matrix was singular.

    Args:
        stepper: stepper with the memory of the last attempt.
        time: start of the step [s].
        is_singular: whether Newton's matrix was singular.
    """
    assembly, memory, cause = stepper.assembly, stepper.memory, stepper.cause
    history = np.asarray(memory["history"], dtype=np.float64)
    ends = np.flatnonzero(history == 0.0)
    history = history[: max(1, int(ends[0])) if len(ends) else None].copy()
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
    weights = np.asarray(memory["velocity_weight"])
    centre = dead_centre_text(stepper.phase.system, stepper.state(time), weights)
    return words + _most_compressed(assembly) + _beyond_an_end(assembly) + centre + likely_causes(assembly, np.inf)[
        1
    ], history


def _beyond_an_end(assembly: Assembly) -> str:
    """Return a clause for an error message that names a slider which left the ends of its guide line. The first
    such slider of the last attempted time step counts. The text says its position [m] and advises a stop; it is
    empty if no slider did. ``assembly`` contains the arrays of the model."""
    memory = assembly.memory
    for f in memory["slide_guide"].tolist():
        slide, position = assembly.laws[f].slide, float(memory["theta0"][f] + memory["theta_change"][f])
        if slide is not None and not 0.0 <= position <= slide.line.whole:
            return (
                f"; {slide.slider} left its line at {position:.6g} m of 0 .. {slide.line.whole:g} m: stop it there"
                f" with slide.stop(lower=0.0, upper={slide.line.whole:g}), or with a stiffer stop"
            )
    return ""


def likely_causes(assembly: Assembly, limit: float) -> tuple[str, str]:
    """Return two texts on why a run failed, for an error message; each is empty where it does not apply. The first
    says that a body is deformed by more than ``limit`` times its size, the second names controllers and user
    functions of the state as a possible cause. ``assembly`` contains the arrays of the model.
    """
    name, share = _most_deformed(assembly)
    deformed = f"{name} is deformed by {share:.3g} times its size" if not share <= limit else ""
    laws = _names(each for each in assembly.controlled if isinstance(each.feedback, StateLaw))
    controllers = _names(each for each in assembly.controlled if not isinstance(each.feedback, StateLaw))
    of_feedback = ""
    if controllers:
        of_feedback = (
            f"; {controllers}: a controller whose gains are too large for the step, or for the inertia that it"
            " moves, makes motions grow without bound; joint.servo and StateForce act inside of the step"
        )
    if laws:
        of_feedback += (
            f"; {laws}: a function of the state that jumps on stiff parts, or feeds energy to them, may have no"
            " value that agrees with a step; write a slope in place of a jump, such as tanh(v / v0), and linear"
            " laws as springs, dampers or joint.servo"
        )
    return deformed, of_feedback


def _names(values: Iterable[ControlledValue]) -> str:
    """Return the names of controlled loads and forces (``values``), each once, as a comma-separated text for
    messages."""
    return ", ".join(dict.fromkeys(each.name for each in values))


def _most_deformed(assembly: Assembly) -> tuple[str, float]:
    """Return (name, ratio) of the floating body with the largest elastic displacement of a point over its
    size, at the present elastic coordinates; ("", 0.0) without elastic bodies. NaN counts as largest.
    ``assembly`` contains the tables of the model."""
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
    """Return a clause for an error message that names the string element with the least squared stretch C =
    |dr/ds|^2. The value is that at the end of the last attempted time step; values that are not finite count as 0.
    The text is empty without strings. ``assembly`` contains the arrays of the model."""
    elements = [
        (placed.name, int(element))
        for placed in assembly.system.bodies
        if isinstance(placed.data, AbsoluteBody)
        for group in placed.data.strains
        for element in group.elements
    ]
    own = slice(len(assembly.system.forces), len(assembly.system.forces) + len(elements))
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
