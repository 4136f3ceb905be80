"""What a finite element model keeps as a floating body: shapes, their frame, smaller bases (docs/theory.md, 3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import Array, numbers, ratio_of_each, signed_columns
from phlexible.bodies.flexible.inertia import frame_rows
from phlexible.bodies.flexible.interfaces import MeshInterface, TiedStructure, tied_structure, turning_work
from phlexible.bodies.flexible.points import FlexiblePoints, InterfaceMotion
from phlexible.bodies.flexible.stiffening import MeshStrain, condensed_strain, linear_strain
from phlexible.bodies.flexible.structure import ElasticStructure, HeldStructure, Unknowns, fastest_square
from phlexible.bodies.floating_body import MODAL, FloatingBody, StrainEnergy
from phlexible.bodies.locations import MaterialPoints
from phlexible.elements.maxwell import Maxwell
from phlexible.errors import ParameterError

# Which displacements of a structure a floating body keeps (docs/theory.md, 3).

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
BEYOND = 1e6
"""Squared frequency over the greatest of single unknowns, beyond which a shape has no mass but by round-off."""
MASSLESS = 30.0
"""Frequency of shapes without mass, which answer statically, over the greatest of the others."""
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

    mass, stiffness = span.T @ (structure.mass @ span), (span.T @ forces + forces.T @ span) / 2
    mass, top = (mass + mass.T) / 2, fastest_square(structure.mass, structure.stiffness)
    limit = BEYOND * top
    try:
        squares, vectors = eigh(stiffness, mass)
    except np.linalg.LinAlgError:
        squares = np.array([np.inf])
    if squares[-1] > limit:  # unknowns without mass
        try:
            inverse, vectors = eigh(mass, stiffness)
        except np.linalg.LinAlgError as error:
            raise ParameterError("mass and stiffness: some motion has neither of both") from error
        squares = 1 / np.maximum(inverse, 1 / limit)
        squares[squares == squares.max()] = MASSLESS**2 * squares[inverse * limit > 1].max()
        vectors, squares = (vectors * np.sqrt(squares))[:, ::-1], squares[::-1]
    if squares[0] < RIGID * min(squares[-1], top):
        raise ParameterError(
            "the body moves without strain in a way that is no rigid motion (a hinge: parts that share "
            "only nodes or edges); join its parts"
        )
    return signed_columns(span @ vectors), squares


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


# A floating body whose elastic coordinates are amplitudes of retained shapes with unit mass.


def retained_body(
    dimension: int,
    nodes: Array,
    moments: tuple[float, Array, Array],
    strain: StrainEnergy,
    damping: Array,
    viscosity: float,
    relaxation: Maxwell | None,
    points: MaterialPoints,
) -> FloatingBody:
    """The body of meshes, plates and matrices.

    Args:
        dimension: 2 or 3.
        nodes: places, shape (nodes, 2 or 3) [m].
        moments: mass, first and second moments, of ``inertia.mesh_moments``.
        strain: of the amplitudes.
        damping: shape (amplitudes,) * 2 [1/s].
        viscosity: [s].
        relaxation: branches with shares of the elasticity.
        points: where attachments are.
    """
    mass, first, second = moments
    return FloatingBody(
        dimension=dimension,
        mass=mass,
        first_moments=first,
        second_moments=second,
        rotates=True,
        strain=strain,
        damping=damping,
        viscosity=viscosity,
        points=points,
        size=float(np.ptp(nodes, axis=0).max()),
        elastic_units=(MODAL,) * len(damping),
        relaxation=relaxation,
    )


# A body of retained shapes in a smaller basis over them (docs/theory.md, 3).

DEPENDENT_COLUMN = 1e-12


def reduced_data(data: FloatingBody, frequencies: Array, basis: ArrayLike) -> tuple[FloatingBody, Array]:
    """The data in coordinates of unit mass that span the basis, and their frequencies [rad/s].

    Quadratic strains are condensed again, so that what is left out relaxes them as what was never retained does.

    Args:
        frequencies: of the retained shapes, shape (n,).
        basis: shape (n, k).

    Raises:
        ParameterError: a basis of another length, or of dependent columns.
    """
    from scipy.linalg import eigh

    columns, n = numbers("basis", basis, "a matrix (n, k)"), len(frequencies)
    if columns.ndim != 2 or columns.shape[0] != n or not columns.shape[1] or not np.isfinite(columns).all():
        raise ParameterError(
            f"basis must be finite with {n} rows, one for each coordinate, got shape {columns.shape}"
        )
    mass = columns.T @ columns
    scale = 1 / np.sqrt(np.diag(mass))
    if np.linalg.eigvalsh(mass * np.outer(scale, scale))[0] < DEPENDENT_COLUMN:
        raise ParameterError("basis must have independent columns")
    stiffness = columns.T @ (frequencies[:, None] ** 2 * columns)
    squares, vectors = eigh(stiffness, mass)
    small, chosen = np.sqrt(squares), columns @ vectors
    assert isinstance(data.points, FlexiblePoints)
    first = data.first_moments
    wide = np.zeros((n + 1, len(small) + 1))
    wide[0, 0], wide[1:, 1:] = 1.0, chosen
    own = replace(
        data,
        first_moments=first @ wide,
        second_moments=np.einsum("abij,ik,jl->abkl", data.all_moments, wide, wide, optimize=True),
        strain=_strain(data.strain, frequencies, small, chosen),
        damping=chosen.T @ data.damping @ chosen,
        points=data.points.in_basis(chosen),
        elastic_units=data.elastic_units[: len(small)],
    )
    return own, small


def _strain(strain: StrainEnergy, frequencies: Array, small: Array, chosen: Array) -> StrainEnergy:
    if not len(strain.factors):
        return linear_strain(small)
    k = len(small)
    geometric = np.zeros((k, k, k))
    unrelaxed = []
    for row, linear in enumerate(strain.rows):
        if not linear.any():
            slopes = strain.squares[strain.square_strain == row] @ chosen
            unrelaxed.append((slopes.T * strain.factors[strain.square_strain == row]) @ slopes)
            continue
        shape = int(np.abs(linear).argmax())
        mine = strain.square_strain == row
        slopes = strain.squares[mine] @ chosen
        matrix = frequencies[shape] * (slopes.T * strain.factors[mine]) @ slopes
        geometric += chosen[shape][:, None, None] * matrix
    return condensed_strain(small, geometric, unrelaxed=np.array(unrelaxed).reshape(-1, k, k))


def effective_mass(data: FloatingBody) -> Array:
    """Part of the mass and of the inertia about the origin that each coordinate carries, shape (n, 3 or 6)."""
    S, W = data.first_moments, data.all_moments
    cyclic = [((axis + 1) % 3, (axis + 2) % 3) for axis in data.rotation_axes]
    spins = np.array([W[a, b, 0, 1:] - W[b, a, 0, 1:] for a, b in cyclic])
    inertia = np.array([W[a, a, 0, 0] + W[b, b, 0, 0] for a, b in cyclic])
    moved = S[list(data.linear_axes), 1:]
    result: Array = np.vstack([moved**2 / data.mass, spins**2 / inertia[:, None]]).T
    return result


@dataclass(frozen=True)
class Choice:
    """What of a finite element model is kept, and how.

    Attributes:
        modes: number of modes; None: all shapes of the model.
        frame, strain, damping_ratio, moments, inertial_shapes, modal_derivatives: as of
            ``FlexibleBody.from_mesh``.
    """

    modes: int | None
    frame: str | Sequence[str]
    strain: MeshStrain
    damping_ratio: float | tuple[float, ...]
    moments: bool
    inertial_shapes: bool
    modal_derivatives: bool = False

    def damping(self, frequencies: Array) -> Array:
        """The damping matrix of retained shapes with these frequencies (n,), shape (n, n)."""
        return np.diag(2 * ratio_of_each(self.damping_ratio, len(frequencies)) * frequencies)


@dataclass(frozen=True, eq=False)
class Condensed:
    """Retained shapes of a finite element model.

    Attributes:
        shapes: of its unknowns, shape (N, n).
        kept: how they came about.
        moved: displacement of each interface, shape (k, 3, n).
        turned: rotation of each interface, shape (k, 3, n).
        effective_mass: part of the mass and of the inertia about the origin that each shape carries, (n, 3 or 6).
        tied_work: work of the stress of shape k on the second-order displacement of interfaces that move as one
            where they turn with shapes i and j, shape (n, n, n) (3.16).
    """

    shapes: Array
    kept: RetainedShapes
    moved: Array
    turned: Array
    effective_mass: Array
    tied_work: Array
    _held: HeldStructure
    _loads: Array
    _columns: sparse.csr_array

    @property
    def solver(self) -> str:
        """What factored the stiffness matrix."""
        return self._held.solver

    def relaxed(self, loads: Array) -> Array:
        """Displacements (N, k) of the model under loads (N, k) that leave no resultant."""
        return np.asarray(self._columns @ self._held.answers(np.asarray(self._columns.T @ loads)))

    def mixture(self) -> Array:
        """The shapes as combinations of the answers to all unit loads and inertial loads, (loads, n).

        What the answers do not span, of modes, has no part in it.
        """
        answers = self._held.answers(self._loads)
        forces = self._held.structure.stiffness @ answers
        energies = np.sqrt(np.maximum(np.einsum("Nl,Nl->l", answers, forces), 1e-300))
        scaled = (answers.T @ forces) / np.outer(energies, energies)
        values = (forces.T @ self.kept.shapes) / energies[:, None]
        solved: Array = np.linalg.pinv(scaled, rcond=1e-10, hermitian=True) @ values / energies[:, None]
        return solved


SecondOrder = Callable[[TiedStructure, HeldStructure, Array], Array]


def interface_motion(interfaces: tuple[MeshInterface, ...], moved: Array, turned: Array) -> InterfaceMotion:
    """How the interfaces move and turn with the retained shapes, by rows (k, 3, n)."""
    places = np.array([each.position for each in interfaces]).reshape(-1, 3)
    areas = np.array([each.area for each in interfaces]).reshape(-1, 3)
    return InterfaceMotion(tuple(each.name for each in interfaces), places, moved, turned, areas)


def condensed(
    mass: sparse.csr_array,
    stiffness: sparse.csr_array,
    unknowns: Unknowns,
    interfaces: tuple[MeshInterface, ...],
    choice: Choice,
    second_order: SecondOrder | None = None,
) -> Condensed:
    """What a choice keeps of a model.

    Args:
        second_order: loads whose answers are the modal derivatives of shapes of unit energy, all on the unknowns of
            a tied structure; None: there are none.

    Raises:
        ParameterError: no interfaces to take derivatives of, a frame that does not hold the body, more modes than
            it has, or a mechanism.
    """
    full = ElasticStructure(mass, stiffness, unknowns.rigid_fields(), unknowns.places)
    tied = tied_structure(full, unknowns, interfaces)
    held = HeldStructure(tied.structure, frame_rows(choice.frame, tied.structure, tied.rows, tied.positions))
    loads, inertial = _loads(tied, unknowns, choice)
    if choice.modes is None:
        kept = every_shape(held)
    else:
        fastest = np.inf
        if choice.inertial_shapes:
            middle = unknowns.places.mean(axis=0)
            fastest = STIFF * homogeneous_frequency(full, unknowns.homogeneous_fields(middle))
        second = None
        if second_order is not None and choice.modal_derivatives:
            if not interfaces:
                raise ParameterError("modal_derivatives are those of the answers to loads: they need interfaces")
            answers = retained_shapes(held, loads, loads[:, :0], np.inf, 0)
            second = second_order(tied, held, answers.shapes / answers.frequencies)
        kept = retained_shapes(held, loads, inertial, fastest, choice.modes, second)
    d, n = unknowns.dimension, kept.shapes.shape[1]
    moved, turned = np.zeros((len(interfaces), 3, n)), np.zeros((len(interfaces), 3, n))
    for number, each in enumerate(interfaces):
        motion = tied.rows[each.name] @ kept.shapes
        moved[number, :d] = motion[:d]
        turned[number, unknowns.spin_axes] = motion[d:]
    momenta = tied.structure.mass @ tied.structure.rigid
    whole = np.einsum("Nr,Nr->r", tied.structure.rigid, momenta)
    carried = (kept.shapes.T @ momenta) ** 2 / np.maximum(whole, SOME_MASS * whole.max())
    shapes = np.asarray(tied.columns @ kept.shapes)
    forces = np.asarray(stiffness @ shapes)
    tied_work = turning_work(interfaces, unknowns, forces, turned, choice.modal_derivatives)
    return Condensed(
        shapes, kept, moved, turned, carried, tied_work, held, np.hstack([loads, inertial]), tied.columns
    )


def _loads(tied: TiedStructure, unknowns: Unknowns, choice: Choice) -> tuple[Array, Array]:
    """Unit loads on the interfaces, and inertial loads of an accelerated and spinning frame."""
    d, size = unknowns.dimension, len(tied.structure.rigid)
    rows = [each if choice.moments else each[:d] for each in tied.rows.values()]
    loads = np.vstack([np.zeros((0, size)), *rows]).T
    if not choice.inertial_shapes:
        return loads, loads[:, :0]
    middle = unknowns.places.mean(axis=0)
    return loads, tied.loads(np.hstack([unknowns.rigid_fields(middle), unknowns.centrifugal_fields(middle)]))
