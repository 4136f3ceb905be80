"""Retained shapes of a finite element model as a floating body, their frame, and smaller bases (docs/theory.md,
3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import (
    Array,
    checked_damping_ratio,
    damping_ratios,
    flag,
    option,
    reals,
    signed_columns,
)
from phlexible.bodies.flexible.inertia import frame_rows
from phlexible.bodies.flexible.interfaces import MeshInterface, TiedStructure, rotation_work, tied_structure
from phlexible.bodies.flexible.points import FlexiblePoints, InterfaceMotion
from phlexible.bodies.flexible.stiffening import MeshStrain, condensed_strain, linear_strain
from phlexible.bodies.flexible.structure import ElasticStructure, FramedStructure, Unknowns, fastest_square
from phlexible.bodies.floating_body import MODAL, FloatingBody, StrainEnergy
from phlexible.bodies.locations import MaterialPoints
from phlexible.elements.maxwell import Maxwell
from phlexible.errors import ParameterError

# Retained displacements of a structure (docs/theory.md, 3).

NO_RESPONSE = 1e-8
"""Relative size of a load after the frame has balanced it, below which it is round-off."""
DEPENDENT = 1e-9
"""Remaining energy below which a shape lies in the span of those before it."""
STIFF = 10.0
"""Ratio to the frequency of the slowest homogeneous strain, above which inertial responses are left out."""
SOME_MASS = 1e-9
"""Kinetic energy of a homogeneous strain, relative to the largest one, below which it counts as zero."""
MOST_DENSE = 3000
"""Largest number of unknowns of a model of which all shapes may be retained."""
BEYOND = 1e6
"""Squared frequency, relative to the largest one of single unknowns, above which the mass of a shape is
round-off."""
MASSLESS = 30.0
"""Frequency of shapes without mass, which respond statically, relative to the largest one of the others."""
RIGID = 1e-12
"""Squared frequency, relative to the largest one, below which a shape is a mechanism."""


@dataclass(frozen=True, eq=False)
class RetainedShapes:
    """Displacement shapes of a structure with unit mass, orthogonal in mass and stiffness, with their frequencies.

    Attributes:
        shapes: shape (N, n), sorted by frequency.
        frequencies: of the structure constrained by the frame, shape (n,) [rad/s].
        counts: numbers of responses to loads, responses to inertial loads, modes, and modal derivatives in the
            span.
    """

    shapes: Array
    frequencies: Array
    counts: tuple[int, int, int, int]


def all_elastic_shapes(framed: FramedStructure) -> RetainedShapes:
    """Return all elastic vibration modes of a finite element structure with frame conditions (``framed``), and
    their frequencies, by a dense eigenproblem. Rigid motions are left out. This is for models that another program
    has reduced already. Raise ``ParameterError`` above 3000 unknowns, or if a mode has no stiffness.

    Raises:
        ParameterError: a mechanism is among them.
    """
    size, r = framed.structure.rigid.shape
    if size > MOST_DENSE:
        raise ParameterError(
            f"modes=None retains all {size} unknowns, which is possible for at most {MOST_DENSE}: pass a number"
        )
    span = framed.elastic_basis(np.eye(size))
    forces = framed.structure.stiffness @ span
    shapes, squares = _diagonalized(span, forces, framed.structure)
    return RetainedShapes(shapes, np.sqrt(squares), (0, 0, size - r, 0))


def retained_shapes(
    framed: FramedStructure,
    loads: Array,
    inertial_loads: Array,
    fastest: float,
    modes: int,
    second_order_loads: Array | None = None,
) -> RetainedShapes:
    """Return the displacement shapes to which a finite element structure (``framed``) is reduced, orthogonal in
    mass and stiffness, with unit mass. They span static responses to ``loads``, to ``inertial_loads`` (only those
    slower than ``fastest`` [rad/s]), to ``second_order_loads``, and the lowest vibration ``modes``. Linearly
    dependent shapes are left out. The result includes frequencies and how many shapes each source adds. Raise
    ``ParameterError`` if no shape remains.

    Each is scaled to unit energy and orthogonalised against those before it; shapes that depend on earlier ones are
    left out, and so are inertial responses that only expand and contract thin sections.

    Args:
        loads: unit forces and moments on the interfaces, shape (N, k).
        inertial_loads: of accelerations and spins of the frame, shape (N, l).
        fastest: frequency beyond which inertial responses are left out [rad/s].
        modes: number of modes constrained by the frame.
        second_order_loads: whose responses are the modal derivatives, shape (N, m).

    Raises:
        ParameterError: nothing is left, or a mechanism is among the shapes.
    """
    diagonal = framed.structure.stiffness.diagonal()
    scale = 1 / np.sqrt(np.maximum(diagonal, diagonal.max() * 1e-12))  # forces and moments in comparable sizes
    span = _Span(framed.structure)
    responses = span.extend(framed.responses(_elastic_loads(framed, loads, scale)))
    inertial = span.extend(framed.responses(_elastic_loads(framed, inertial_loads, scale)), fastest)
    second = loads[:, :0] if second_order_loads is None else second_order_loads
    derivatives = span.extend(framed.responses(_elastic_loads(framed, second, scale)))
    lowest = span.extend(framed.modes(modes))
    if not span.shapes:
        raise ParameterError(
            "the body has no elastic coordinates: pass modes= or interfaces=, which leave nodes free"
        )
    shapes, squares = _diagonalized(np.column_stack(span.shapes), np.column_stack(span.forces), framed.structure)
    return RetainedShapes(shapes, np.sqrt(squares), (responses, inertial, lowest, derivatives))


def homogeneous_frequency(structure: ElasticStructure, homogeneous: Array) -> float:
    """Return the lowest frequency [rad/s] of a structure whose displacements are limited to constant strains
    (columns of ``homogeneous``). Rigid motions are subtracted so that it has no momentum. A small dense
    eigenproblem is solved. For a bar with wave speed c the result is about 3.5 c / length. It is a scale: static
    responses to inertia with much higher frequencies are not retained."""
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
    """Growing set of shapes that are orthonormal in elastic energy, with the forces K u that hold each."""

    def __init__(self, structure: ElasticStructure) -> None:
        self._structure = structure
        self.shapes: list[Array] = []
        self.forces: list[Array] = []

    def extend(self, group: Array, fastest: float = np.inf) -> int:
        """Append those columns of ``group`` (N, k) to this set of displacement shapes that are independent of it,
        and return how many. Each column is scaled to unit strain energy and made orthogonal, in the stiffness, to
        all shapes before. It is dropped if less than 1e-9 of its energy remains, or if its Rayleigh quotient
        reaches ``fastest`` squared [rad2/s2]."""
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


def _diagonalized(span: Array, forces: Array, structure: ElasticStructure) -> tuple[Array, Array]:
    """Return n displacement shapes that span the columns of ``span`` (N, n), of unit modal mass and orthogonal in
    mass and stiffness. Return also their squared angular frequencies (n,) [rad2/s2], ascending, from a dense
    generalized eigenproblem (LAPACK). Shapes without mass get one very high frequency. ``forces`` is the stiffness
    matrix times ``span``. Raise ``ParameterError`` for a shape without stiffness, or with neither mass nor
    stiffness."""
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
            raise ParameterError("mass and stiffness: some motion has neither mass nor stiffness") from error
        squares = 1 / np.maximum(inverse, 1 / limit)
        squares[squares == squares.max()] = MASSLESS**2 * squares[inverse * limit > 1].max()
        vectors, squares = (vectors * np.sqrt(squares))[:, ::-1], squares[::-1]
    if squares[0] < RIGID * min(squares[-1], top):
        raise ParameterError(
            "the body moves without strain in a way that is no rigid motion (a hinge: parts that share "
            "only nodes or edges); join its parts"
        )
    return signed_columns(span @ vectors), squares


def _elastic_loads(framed: FramedStructure, loads: Array, scale: Array) -> Array:
    """Return the loads (N, k) in balance with forces at the frame conditions of the structure ``framed``. Columns
    that this makes zero, because they only support the frame and strain nothing, are left out. Zero is judged
    relative to the loads, after multiplication by ``scale`` (N,)."""
    balanced = framed.balanced_loads(loads)
    sizes = [np.linalg.norm(forces * scale[:, None], axis=0) for forces in (balanced, loads)]
    return balanced[:, sizes[0] > NO_RESPONSE * sizes[1]]


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
    """Return a ``FloatingBody``, the arrays of a body with a moving frame whose elastic coordinates are amplitudes
    of displacement shapes of a finite element model. Mass ``moments``, ``strain`` energy, ``damping`` matrix,
    ``viscosity`` [s], Maxwell branches (``relaxation``) and ``points`` are stored unchanged. Its size is the
    largest extent of the ``nodes`` along an axis. ``dimension`` is 2 or 3.

    Args:
        dimension: 2 or 3.
        nodes: positions, shape (nodes, 2 or 3) [m].
        moments: mass, first and second moments, of ``inertia.mesh_moments``.
        strain: of the amplitudes.
        damping: shape (amplitudes,) * 2 [1/s].
        viscosity: [s].
        relaxation: branches with shares of the elasticity.
        points: finds material points for attachments.
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
    """Return the arrays of a flexible body in k coordinates that span the columns of ``basis`` (n, k), and their
    frequencies (k,) [rad/s]. ``data`` are its arrays in n coordinates of unit mass with ``frequencies``. A dense
    eigenproblem of the projected matrices gives the new coordinates, again with unit mass and diagonal stiffness.
    Raise ``ParameterError`` for other shapes, infinite values or linearly dependent columns.

    Quadratic strains are condensed again, so that shapes that are left out relax them.

    Args:
        frequencies: of the retained shapes, shape (n,).
        basis: shape (n, k).

    Raises:
        ParameterError: a basis of another length, or of dependent columns.
    """
    from scipy.linalg import eigh

    columns, n = reals("basis", basis, "a matrix (n, k)"), len(frequencies)
    if columns.ndim != 2 or columns.shape[0] != n or not columns.shape[1] or not np.isfinite(columns).all():
        raise ParameterError(
            f"basis must be finite with {n} rows, one for each coordinate, got shape {columns.shape}"
        )
    mass = columns.T @ columns
    scale = 1 / np.sqrt(np.diag(mass))
    if np.linalg.eigvalsh(mass * np.outer(scale, scale))[0] < DEPENDENT_COLUMN:
        raise ParameterError("basis must have independent columns")
    squares, vectors = eigh(columns.T @ (frequencies[:, None] ** 2 * columns), mass)
    small, chosen = np.sqrt(squares), columns @ vectors
    assert isinstance(data.points, FlexiblePoints)
    reduced = replace(
        data.in_smaller_basis(chosen, data.points.in_smaller_basis(chosen)),
        strain=_reduced_strain(data.strain, frequencies, small, chosen),
    )
    return reduced, small


def _reduced_strain(strain: StrainEnergy, frequencies: Array, small: Array, basis: Array) -> StrainEnergy:
    """Return the strain energy of a flexible body that keeps only the k coordinates of ``basis`` (n, k), whose
    frequencies [rad/s] are ``small``. Without quadratic strains it is linear. Otherwise each quadratic strain is
    projected on ``basis``. Its matrix is multiplied by the frequency of its largest linear term s. The product is
    added to the geometric stiffness of new coordinate j with weight basis[s, j]. Strains without linear part stay
    separate."""
    if not len(strain.factors):
        return linear_strain(small)
    k = len(small)
    geometric = np.zeros((k, k, k))
    unrelaxed = []
    for row, linear in enumerate(strain.rows):
        in_row = strain.square_strain == row
        slopes = strain.squares[in_row] @ basis
        if not linear.any():
            unrelaxed.append((slopes.T * strain.factors[in_row]) @ slopes)
            continue
        shape = int(np.abs(linear).argmax())
        matrix = frequencies[shape] * (slopes.T * strain.factors[in_row]) @ slopes
        geometric += basis[shape][:, None, None] * matrix
    return condensed_strain(small, geometric, unrelaxed=np.array(unrelaxed).reshape(-1, k, k))


def effective_mass(data: FloatingBody) -> Array:
    """Return the effective masses of a body's n elastic coordinates, shape (n, 6), in the plane (n, 3). A column
    is the squared momentum of each unit rate over the body's mass (along x, y, z) or inertia (about x, y, z).
    Inertia is about the origin of its frame. ``data`` are the body's arrays."""
    S, W = data.first_moments, data.all_moments
    cyclic = [((axis + 1) % 3, (axis + 2) % 3) for axis in data.rotation_axes]
    spins = np.array([W[a, b, 0, 1:] - W[b, a, 0, 1:] for a, b in cyclic])
    inertia = np.array([W[a, a, 0, 0] + W[b, b, 0, 0] for a, b in cyclic])
    momenta = S[list(data.linear_axes), 1:]
    return np.asarray(np.vstack([momenta**2 / data.mass, spins**2 / inertia[:, None]]).T)


@dataclass(frozen=True)
class ShapeOptions:
    """User's options that decide which shapes of a finite element model are retained.

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

    @classmethod
    def checked(
        cls,
        modes: int | None,
        frame: str | Sequence[str],
        strain: MeshStrain | str,
        damping_ratio: float | Sequence[float],
        moments: bool,
        inertial_shapes: bool,
        modal_derivatives: bool = False,
    ) -> "ShapeOptions":
        """Return the options by which a finite element body is reduced, made from a user's arguments. Raise
        ``ParameterError`` unless ``strain`` is a known name, ``damping_ratio`` valid, and ``moments``,
        ``inertial_shapes``, ``modal_derivatives`` booleans. ``modes`` and ``frame`` are stored unchecked.

        Raises:
            ParameterError: a value of another kind or out of range.
        """
        return cls(
            modes,
            frame,
            option("strain", strain, MeshStrain),
            checked_damping_ratio("damping_ratio", damping_ratio),
            flag("moments", moments),
            flag("inertial_shapes", inertial_shapes),
            flag("modal_derivatives", modal_derivatives),
        )

    def damping(self, frequencies: Array) -> Array:
        """Return the diagonal damping matrix of n displacement shapes of unit mass, shape (n, n) [1/s]. Its
        entries are 2 zeta_i omega_i with the user's damping ratios zeta_i and the shapes' ``frequencies``
        omega_i [rad/s]."""
        return np.diag(2 * damping_ratios(self.damping_ratio, len(frequencies)) * frequencies)


@dataclass(frozen=True, eq=False)
class Condensed:
    """Retained shapes of a finite element model, with the structure and the loads from which they were computed.

    Attributes:
        shapes: of its unknowns, shape (N, n).
        basis: the shapes of the unknowns of the tied structure, with frequencies.
        displacements: of each interface, shape (k, 3, n).
        rotations: of each interface, shape (k, 3, n).
        effective_mass: relative mass and inertia about the origin that each shape carries, shape (n, 3 or 6).
        tied_work: work of the stress of shape k on the second-order displacement of rigid interfaces
            that rotate with shapes i and j, shape (n, n, n) (3.16).
    """

    shapes: Array
    basis: RetainedShapes
    displacements: Array
    rotations: Array
    effective_mass: Array
    tied_work: Array
    _constrained: FramedStructure
    _unit_loads: Array
    _columns: sparse.csr_array

    @property
    def solver(self) -> str:
        """Name of the library that factored the stiffness matrix when this model was reduced, such as "SuperLU"."""
        return self._constrained.solver

    def static_response(self, loads: Array) -> Array:
        """Return the static displacements (N, k) of this finite element model under loads (N, k) whose resultant
        is zero. The stored factors of the stiffness are used. Nodes of a rigid interface move together; the frame
        conditions exclude rigid motions."""
        return np.asarray(self._columns @ self._constrained.responses(np.asarray(self._columns.T @ loads)))

    def response_shares(self) -> Array:
        """Return the coefficients that express the n retained displacement shapes of this model as combinations of
        its static responses to unit loads and inertial loads. The shape is (loads, n). It is a projection in the
        energy norm by a pseudo-inverse; the part of the shapes that the responses do not span is ignored."""
        responses = self._constrained.responses(self._unit_loads)
        forces = self._constrained.structure.stiffness @ responses
        energies = np.sqrt(np.maximum(np.einsum("Nl,Nl->l", responses, forces), 1e-300))
        scaled = (responses.T @ forces) / np.outer(energies, energies)
        values = (forces.T @ self.basis.shapes) / energies[:, None]
        return np.asarray(np.linalg.pinv(scaled, rcond=1e-10, hermitian=True) @ values / energies[:, None])


SecondOrder = Callable[[TiedStructure, FramedStructure, Array], Array]


def interface_motion(interfaces: tuple[MeshInterface, ...], moved: Array, rotated: Array) -> InterfaceMotion:
    """Return names, positions and areas of a body's k ``interfaces`` together with their motions, as an
    ``InterfaceMotion``. ``moved`` are displacements, ``rotated`` rotations, both (k, 3, n), per unit of each of n
    retained displacement shapes."""
    positions = np.array([port.position for port in interfaces]).reshape(-1, 3)
    areas = np.array([port.area for port in interfaces]).reshape(-1, 3)
    return InterfaceMotion(tuple(port.name for port in interfaces), positions, moved, rotated, areas)


def condense(
    mass: sparse.csr_array,
    stiffness: sparse.csr_array,
    unknowns: Unknowns,
    interfaces: tuple[MeshInterface, ...],
    choice: ShapeOptions,
    second_order: SecondOrder | None = None,
) -> Condensed:
    """Reduce a finite element model with ``mass`` and ``stiffness`` matrix to a few displacement shapes. These are
    static responses to interface and inertial loads, and lowest modes; ``choice`` has the user's options. If its
    number of modes is None, all elastic shapes are retained. ``second_order`` returns loads whose responses are
    modal derivatives, if chosen. The result also has motions of the ``interfaces``, effective masses, and
    second-order work at interfaces.

    Args:
        second_order: function that returns loads whose responses are the modal derivatives of shapes of unit
            energy, on the unknowns of a tied structure; None: no modal derivatives.

    Raises:
        ParameterError: no interfaces to take derivatives of, a frame that does not constrain the body, more modes
            than it has, or a mechanism.
    """
    full = ElasticStructure(mass, stiffness, unknowns.rigid_fields(), unknowns.positions)
    tied = tied_structure(full, unknowns, interfaces)
    framed = FramedStructure(tied.structure, frame_rows(choice.frame, tied.structure, tied.rows, tied.positions))
    loads, inertial = _unit_loads(tied, unknowns, choice)
    if choice.modes is None:
        basis = all_elastic_shapes(framed)
    else:
        fastest = np.inf
        if choice.inertial_shapes:
            middle = unknowns.positions.mean(axis=0)
            fastest = STIFF * homogeneous_frequency(full, unknowns.homogeneous_fields(middle))
        second = None
        if second_order is not None and choice.modal_derivatives:
            if not interfaces:
                raise ParameterError(
                    "modal_derivatives are those of responses to loads on interfaces: pass interfaces="
                )
            responses = retained_shapes(framed, loads, loads[:, :0], np.inf, 0)
            second = second_order(tied, framed, responses.shapes / responses.frequencies)
        basis = retained_shapes(framed, loads, inertial, fastest, choice.modes, second)
    d, n = unknowns.dimension, basis.shapes.shape[1]
    u, theta = np.zeros((len(interfaces), 3, n)), np.zeros((len(interfaces), 3, n))
    for number, port in enumerate(interfaces):
        motion = tied.rows[port.name] @ basis.shapes
        u[number, :d] = motion[:d]
        theta[number, unknowns.spin_axes] = motion[d:]
    momenta = tied.structure.mass @ tied.structure.rigid
    total = np.einsum("Nr,Nr->r", tied.structure.rigid, momenta)
    carried = (basis.shapes.T @ momenta) ** 2 / np.maximum(total, SOME_MASS * total.max())
    shapes = np.asarray(tied.columns @ basis.shapes)
    tied_work = rotation_work(interfaces, unknowns, np.asarray(stiffness @ shapes), theta, choice.modal_derivatives)
    all_loads = np.hstack([loads, inertial])
    return Condensed(shapes, basis, u, theta, carried, tied_work, framed, all_loads, tied.columns)


def _unit_loads(tied: TiedStructure, unknowns: Unknowns, choice: ShapeOptions) -> tuple[Array, Array]:
    """Return load vectors of a finite element model: unit forces and moments on its interfaces, and inertial loads
    of an accelerated and spinning frame. Both are arrays (q, loads), one column for each load, over the q unknowns
    of ``tied``, in which each rigid interface moves as one. The first has for each interface the unit forces along
    all axes, then the unit moments unless ``choice`` omits them. The second has the inertial loads of unit
    accelerations of the rigid-body motions, then the centrifugal loads of spins, both about the mean position of
    the nodes; it has no columns if ``choice`` omits inertial shapes."""
    d, size = unknowns.dimension, len(tied.structure.rigid)
    rows = [block if choice.moments else block[:d] for block in tied.rows.values()]
    loads = np.vstack([np.zeros((0, size)), *rows]).T
    if not choice.inertial_shapes:
        return loads, loads[:, :0]
    middle = unknowns.positions.mean(axis=0)
    return loads, tied.loads(np.hstack([unknowns.rigid_fields(middle), unknowns.centrifugal_fields(middle)]))
