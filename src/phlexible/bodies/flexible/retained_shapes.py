"""Which displacements of a structure a floating body keeps (docs/theory.md, 3)."""

from dataclasses import dataclass

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.flexible.structure import ElasticStructure, HeldStructure
from phlexible.errors import ParameterError

NO_ANSWER = 1e-8
"""Relative size below which what remains of a load on the frame is round-off."""
DEPENDENT = 1e-9
"""Remaining energy below which a shape is spanned by those before it."""
STIFF = 10.0
"""Frequency over that of the slowest homogeneous strain of the body, beyond which inertial answers are left out."""
SOME_MASS = 1e-9
"""Kinetic energy of a homogeneous strain, of that of the largest, below which the body has none of it."""
MOST_DENSE = 3000
"""Unknowns of a model all shapes of which may be kept."""
RIGID = 1e-12
"""Squared frequency over the greatest one below which a shape is a mechanism."""


@dataclass(frozen=True, eq=False)
class RetainedShapes:
    """Shapes with unit mass that are orthogonal in mass and stiffness.

    Attributes:
        shapes: shape (N, n), sorted by frequency.
        frequencies: held by the frame, shape (n,) [rad/s].
        counts: how many shapes are in the span that answer loads, that answer inertial loads, modes, and modal
            derivatives.
    """

    shapes: Array
    frequencies: Array
    counts: tuple[int, int, int, int]


def every_shape(held: HeldStructure) -> RetainedShapes:
    """All shapes of a small structure, for models that are reduced already.

    Raises:
        ParameterError: a mechanism is among them.
    """
    size, r = held.structure.rigid.shape
    if size > MOST_DENSE:
        raise ParameterError(
            f"modes=None keeps all {size} unknowns; that is for at most {MOST_DENSE}: give a number"
        )
    span = held.elastic(np.eye(size))
    forces = held.structure.stiffness @ span
    shapes, squares = _diagonal(span, forces, held.structure)
    return RetainedShapes(shapes, np.sqrt(squares), (0, 0, size - r, 0))


def retained_shapes(
    held: HeldStructure,
    loads: Array,
    inertial_loads: Array,
    fastest: float,
    modes: int,
    second_order_loads: Array | None = None,
) -> RetainedShapes:
    """The span of the answers to loads and to inertial loads, of modal derivatives, and of the lowest modes.

    Each is scaled to unit energy and orthogonalised against those before it; what depends on earlier ones is left
    out, and so are inertial answers of thin sections that do nothing but breathe.

    Args:
        loads: unit forces and moments on the interfaces, shape (N, k).
        inertial_loads: of accelerations and spins of the frame, shape (N, l).
        fastest: frequency beyond which inertial answers are left out [rad/s].
        modes: number of modes held by the frame.
        second_order_loads: whose answers are the modal derivatives, shape (N, m).

    Raises:
        ParameterError: nothing is left, or a mechanism is among the shapes.
    """
    scale = _load_scale(held.structure)
    span = _Span(held.structure)
    answers = span.extend(held.answers(_loading(held, loads, scale)))
    inertial = span.extend(held.answers(_loading(held, inertial_loads, scale)), fastest)
    second = loads[:, :0] if second_order_loads is None else second_order_loads
    derivatives = span.extend(held.answers(_loading(held, second, scale)))
    lowest = span.extend(held.modes(modes))
    if not span.shapes:
        raise ParameterError("the body keeps no elastic coordinates: ask for modes= or interfaces=")
    shapes, squares = _diagonal(np.column_stack(span.shapes), np.column_stack(span.forces), held.structure)
    return RetainedShapes(shapes, np.sqrt(squares), (answers, inertial, lowest, derivatives))


def homogeneous_frequency(structure: ElasticStructure, homogeneous: Array) -> float:
    """Of the slowest homogeneous strain, free of rigid motion [rad/s]: about 3.5 c / length of a bar."""
    from scipy.linalg import eigh

    rigid, mass = structure.rigid, structure.mass
    carried = np.linalg.solve(rigid.T @ (mass @ rigid), rigid.T @ (mass @ homogeneous))
    fields = homogeneous - rigid @ carried
    small_mass = fields.T @ (mass @ fields)
    values, vectors = np.linalg.eigh((small_mass + small_mass.T) / 2)
    fields = fields @ vectors[:, values > SOME_MASS * values[-1]]  # all nodes may lie on one line
    squares = eigh(fields.T @ (structure.stiffness @ fields), fields.T @ (mass @ fields), eigvals_only=True)
    return float(np.sqrt(squares[0]))


class _Span:
    """Shapes that are orthogonal in energy, with the forces K u that hold them."""

    def __init__(self, structure: ElasticStructure) -> None:
        self._structure = structure
        self.shapes: list[Array] = []
        self.forces: list[Array] = []

    def extend(self, group: Array, fastest: float = np.inf) -> int:
        """Adds what is new of a group of shapes (N, k) and not above a frequency [rad/s]; the number of them."""
        stiffness, before = self._structure.stiffness, len(self.shapes)
        for shape in group.T:
            energy = float(shape @ (stiffness @ shape))
            if not energy > 0:
                continue
            shape = shape / np.sqrt(energy)
            for _ in range(2):  # twice is enough
                for other, force in zip(self.shapes, self.forces, strict=True):
                    shape = shape - other * (force @ shape)
            force = stiffness @ shape
            rest = float(shape @ force)
            if rest > DEPENDENT and rest < fastest**2 * float(shape @ (self._structure.mass @ shape)):
                self.shapes.append(shape / np.sqrt(rest))
                self.forces.append(force / np.sqrt(rest))
        return len(self.shapes) - before


def _diagonal(span: Array, forces: Array, structure: ElasticStructure) -> tuple[Array, Array]:
    """Shapes of unit mass that are orthogonal in mass and stiffness, and their squared frequencies."""
    from scipy.linalg import eigh

    mass = span.T @ (structure.mass @ span)
    squares, vectors = eigh((span.T @ forces + forces.T @ span) / 2, (mass + mass.T) / 2)
    if squares[0] < RIGID * squares[-1]:
        raise ParameterError(
            "the body moves without strain in a way that is no rigid motion (a hinge: parts that share "
            "only nodes or edges); join its parts"
        )
    shapes = span @ vectors
    largest = shapes[np.abs(shapes).argmax(axis=0), np.arange(shapes.shape[1])]
    return shapes * np.where(largest < 0, -1.0, 1.0), squares


def _loading(held: HeldStructure, loads: Array, scale: Array) -> Array:
    """Those of the loads that the frame does not carry alone."""
    balanced = held.balanced(loads)
    sizes = [np.linalg.norm(each * scale[:, None], axis=0) for each in (balanced, loads)]
    return balanced[:, sizes[0] > NO_ANSWER * sizes[1]]


def _load_scale(structure: ElasticStructure) -> Array:
    """Makes forces and moments comparable: 1 / sqrt(K_ii)."""
    diagonal = structure.stiffness.diagonal()
    result: Array = 1 / np.sqrt(np.maximum(diagonal, diagonal.max() * 1e-12))
    return result
