"""Floating bodies from matrices and nodes of other finite element programs."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray, called, check_callable, reals
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.flexible.inertia import nodal_moments, rigid_momenta
from phlexible.bodies.flexible.interfaces import InterfaceKind, InterfaceSpec, MeshInterface, named_specs
from phlexible.bodies.flexible.points import NodePoints, selected_points
from phlexible.bodies.flexible.retained import Condensed, ShapeOptions, condense, interface_motion, retained_body
from phlexible.bodies.flexible.stiffening import condensed_strain, linear_strain, projected_stiffness
from phlexible.bodies.flexible.structure import Unknowns, fastest_square
from phlexible.bodies.floating_body import FloatingBody, StrainEnergy
from phlexible.elements.maxwell import Maxwell
from phlexible.errors import LeftOutWarning, ParameterError

MatrixLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
GeometricStiffness: TypeAlias = Callable[[Array], MatrixLike] | Mapping[str, Sequence[MatrixLike]]

SYMMETRIC = 1e-9
"""Largest relative difference of a matrix from its transpose that counts as round-off of a file."""
STRAINS = 1e-5
"""Largest force of a rigid motion, relative to the stiffness, that counts as round-off of a file."""
ON_A_LINE = 1e-9
STATIC = 1e4
"""Ratio of squared frequencies: of rotations that respond statically, to the largest one of unknowns with mass."""
EXTERNAL = 1e-4
"""Ratio of the decay rate of a rigid motion to the lowest frequency above which a warning is given."""


@dataclass(frozen=True, eq=False)
class NodalModel:
    """Mass, stiffness and damping matrices of a free body, read from another finite element program, with the node
    and component of each unknown.

    Attributes:
        mass, stiffness: of the unknowns, shape (N, N), symmetric.
        damping: shape (N, N), symmetric; None: no damping.
        unknowns: node and component of each unknown.
        retained: numbers of the unknowns among those of the user's matrices, shape (N,).
        positions: positions of the nodes, shape (k, 3) [m].
    """

    mass: sparse.csr_array
    stiffness: sparse.csr_array
    damping: sparse.csr_array | None
    unknowns: Unknowns
    retained: IntArray
    positions: Array

    def restricted(self, name: str, matrix: MatrixLike) -> sparse.csr_array:
        """Return a further matrix of the user's finite element model without the rows and columns of unknowns that
        this model has dropped. The result is sparse and exactly symmetric. Raise ``ParameterError`` if the
        ``matrix`` is not square, finite and symmetric, or smaller than mass and stiffness; ``name`` is used in
        messages."""
        size = int(self.retained.max()) + 1
        full = _checked_matrix(name, matrix, None)
        if full.shape[0] < size:
            raise ParameterError(f"{name} must have the size of mass and stiffness, got shape {full.shape}")
        return sparse.csr_array(full[self.retained][:, self.retained])


def nodal_model(
    mass: MatrixLike, stiffness: MatrixLike, nodes: ArrayLike, damping: MatrixLike | None, modal: int
) -> NodalModel:
    """Return a ``NodalModel`` of ``mass``, ``stiffness`` and ``damping`` matrices from another program. Unknowns
    are ordered node by node at ``nodes`` [m], 3 or 6 each in space, 2 or 3 in the plane, then ``modal``
    amplitudes. Unknowns without mass and stiffness are dropped; massless rotations get a small inertia, so that
    they respond statically. Raise ``ParameterError`` for wrong shapes, asymmetry, or a stiffness that resists
    rigid motions.

    Rotations without inertia, of lumped masses, get one so small that they respond statically.

    Args:
        nodes: positions, shape (k, 3) in space, (k, 2) in the plane [m]. Each has 3 displacements or these and 3
            rotations in space, 2 or 3 unknowns in the plane, node after node.
        modal: number of modal coordinates behind the unknowns of nodes (Craig-Bampton).

    Raises:
        ParameterError: shapes that do not fit, matrices that are not symmetric, or a body that is not free.
    """
    points = reals("nodes", nodes, "positions of nodes, shape (k, 3) or (k, 2)")
    if points.ndim != 2 or points.shape[1] not in (2, 3) or not len(points) or not np.isfinite(points).all():
        raise ParameterError(
            f"nodes must be finite positions of shape (k, 3), in the plane (k, 2), got {points.shape}"
        )
    d = points.shape[1]
    M = _checked_matrix("mass", mass, None)
    K = _checked_matrix("stiffness", stiffness, M.shape[0])
    C = None if damping is None else _checked_matrix("damping", damping, M.shape[0])
    nodal_count = M.shape[0] - modal
    if nodal_count % len(points) or nodal_count // len(points) not in (d, 3 * (d - 1)):
        raise ParameterError(
            f"mass has {M.shape[0]} unknowns, {modal} of them modal, and {len(points)} nodes have "
            f"{d * len(points)} displacements or {3 * (d - 1) * len(points)} with rotations: they do not fit"
        )
    per_node = nodal_count // len(points)
    components = np.arange(per_node) if d == 3 else np.array([0, 1, 5][:per_node])
    node = np.concatenate([np.repeat(np.arange(len(points)), per_node), np.full(modal, -1)])
    component = np.concatenate([np.tile(components, len(points)), np.full(modal, -1)])
    in_space = np.zeros((len(points), 3))
    in_space[:, :d] = points
    used = (abs(M) + abs(K)).sum(axis=0) > 0
    retained = np.flatnonzero(np.asarray(used).ravel())
    at = in_space[np.maximum(node, 0)]
    at[node < 0] = in_space.mean(axis=0)
    unknowns = Unknowns(d, node[retained], component[retained], at[retained])
    M, K = (sparse.csr_array(per_node[retained][:, retained]) for per_node in (M, K))
    C = None if C is None else sparse.csr_array(C[retained][:, retained])
    _check_free(K, unknowns)
    stiff, top = K.diagonal(), STATIC * fastest_square(M, K)
    if len(massless := np.flatnonzero((unknowns.component >= 3) & (M.diagonal() * STATIC * top < stiff))):
        small = np.zeros(len(stiff))
        small[massless] = stiff[massless] / top
        M = sparse.csr_array(M + sparse.diags_array(small))
    return NodalModel(M, K, C, unknowns, retained, in_space)


def nodal_interfaces(
    interfaces: Mapping[str, InterfaceSpec] | None, model: NodalModel
) -> tuple[MeshInterface, ...]:
    """Return the interfaces (sets of nodes on which joints and loads act) that a user named for a model of
    matrices, in order. Each moves as the mean of its nodes, with equal weights. Raise ``ParameterError`` for
    unknown nodes, or too few for a rotation.

    Raises:
        ParameterError: no such nodes, or too few for a rotation.
    """
    return tuple(_nodal_interface(*spec, model) for spec in named_specs(interfaces, InterfaceKind))


def _nodal_interface(name: str, nodes: Any, kind: InterfaceKind, model: NodalModel) -> MeshInterface:
    """Return one interface of a ``model`` of matrices: a set of ``nodes`` on which joints and loads act. Its
    matrix computes the mean displacement and the least-squares rotation from the model's unknowns; for nodes on
    one line the mean of nodal rotations. Raise ``ParameterError`` if there are no nodes, if a node lacks a
    displacement unknown, or for an averaged line whose nodes have no rotations."""
    nodes = [nodes] if isinstance(nodes, int | np.integer) and not isinstance(nodes, bool) else nodes
    members = np.unique(selected_points(f"interface {name!r}", nodes, model.positions, {}))
    if not len(members):
        raise ParameterError(f"interface {name!r} has no nodes")
    unknowns, d = model.unknowns, model.unknowns.dimension
    counts = [np.bincount(unknowns.node[unknowns.component == k], minlength=len(model.positions)) for k in range(d)]
    if len(empty := members[np.min(counts, axis=0)[members] == 0]):
        raise ParameterError(
            f"interface {name!r}: {len(empty)} of its {len(members)} nodes have displacements without mass and "
            f"stiffness (the first is {empty[0]}): they are not part of the body, leave them out"
        )
    position = model.positions[members].mean(axis=0)
    rows = np.zeros((d + len(unknowns.spin_axes), len(unknowns.node)))
    arms = model.positions[members] - position
    inertia = sum((arm @ arm * np.eye(3) - np.outer(arm, arm) for arm in arms), np.zeros((3, 3)))
    axes = list(unknowns.spin_axes)
    about = inertia[np.ix_(axes, axes)]
    is_line = np.linalg.eigvalsh(about)[0] <= ON_A_LINE * max(float(np.trace(inertia)), 1e-300)
    for number in unknowns.of_nodes(members):
        component, arm = int(unknowns.component[number]), unknowns.positions[number] - position
        if component < 3:
            rows[component, number] = 1 / len(members)
            if not is_line:
                rows[d:, number] = np.linalg.solve(about, cross_matrix(arm)[axes, component])
        elif is_line:
            rows[d + axes.index(component - 3), number] = 1 / len(members)
    if is_line and kind is InterfaceKind.AVERAGE and not rows[d:].any(axis=1).all():
        raise ParameterError(
            f"interface {name!r}: its nodes lie on one line and have no rotations of their own; take more nodes"
        )
    return MeshInterface(name, kind, position, members, np.zeros(3), rows)


def _checked_matrix(name: str, value: MatrixLike, size: int | None) -> sparse.csr_array:
    """Convert a user's matrix ``value`` (dense or sparse) to a sparse, exactly symmetric matrix, the mean of it
    and its transpose. Raise ``ParameterError`` if it is not square, not of the given ``size`` (None: any), not
    finite, or differs from its transpose by more than a tolerance relative to its largest entry. ``name`` is the
    name of the argument, for messages."""
    if not sparse.issparse(value):
        value = reals(name, value, "a square matrix")
        if value.ndim != 2:
            raise ParameterError(f"{name} must be a square matrix, got shape {value.shape}")
    matrix = sparse.csr_array(value).astype(np.float64)
    if matrix.shape[0] != matrix.shape[1] or size not in (None, matrix.shape[0]):
        expected = "square" if size is None else f"of shape ({size}, {size}) as mass"
        raise ParameterError(f"{name} must be {expected}, got shape {matrix.shape}")
    if not np.isfinite(matrix.data).all():
        raise ParameterError(f"{name} must be finite")
    asymmetry = abs(matrix - matrix.T).max()
    if asymmetry > SYMMETRIC * abs(matrix).max():
        raise ParameterError(
            f"{name} must be symmetric, it differs from its transpose by {asymmetry:.3g}; half of it may be missing"
        )
    return sparse.csr_array((matrix + matrix.T) / 2)


def _check_free(stiffness: sparse.csr_array, unknowns: Unknowns) -> None:
    """Raise ``ParameterError`` if a user's stiffness matrix resists a rigid motion, because the body has supports
    or node positions are wrong. In each rigid motion, the largest force must be below 1e-5 of the largest sum of
    absolute products of a row. ``unknowns`` has node, component and position of each unknown."""
    rigid = unknowns.rigid_fields(unknowns.positions.mean(axis=0))
    forces = np.abs(stiffness @ rigid).max(axis=0)
    gross = (abs(stiffness) @ np.abs(rigid)).max(axis=0)
    worst = int((forces / gross).argmax())
    if forces[worst] > STRAINS * gross[worst]:
        names = (
            ["x", "y", "about z"] if unknowns.dimension == 2 else ["x", "y", "z", "about x", "about y", "about z"]
        )
        raise ParameterError(
            f"stiffness: the rigid motion {names[worst]} needs a force ({forces[worst] / gross[worst]:.1e} of what "
            "stiffness has): the body must be free, without supports, its unknowns node after node in global axes, "
            "and nodes must be where the program has them, in the unit of length of its matrices"
        )


# The floating body of matrices that another program wrote (docs/theory.md, 2 and 3).

INERTIAL = "inertial"


def body_of_matrices(
    model: NodalModel,
    interfaces: tuple[MeshInterface, ...],
    choice: ShapeOptions,
    geometric: GeometricStiffness | None,
    viscoelasticity: tuple[float, Maxwell | None],
) -> tuple[FloatingBody, Condensed]:
    """Return the arrays of the floating body made from mass and stiffness matrices of another program (``model``),
    and the reduced model with its displacement shapes. ``interfaces`` are the loaded sets of nodes, ``choice`` the
    user's options, ``geometric`` the user's geometric stiffness. ``viscoelasticity`` is Kelvin-Voigt time [s] and
    Maxwell branches. The damping matrix, projected to the shapes, is added to modal damping.

    Raises:
        ParameterError: matrices that are no body's, or geometric stiffness that does not fit.
    """
    rigid_momenta(model.mass, model.unknowns)
    condensed_model = condense(model.mass, model.stiffness, model.unknowns, interfaces, choice)
    shapes, frequencies, unknowns = condensed_model.shapes, condensed_model.basis.frequencies, model.unknowns
    damping = choice.damping(frequencies)
    if model.damping is not None:
        projected_damping = shapes.T @ (model.damping @ shapes)
        damping = damping + (projected_damping + projected_damping.T) / 2
        if choice.frame not in [interface.name for interface in interfaces]:
            _warn_of_external_damping(model, frequencies)
    rotates = (unknowns.component >= 3).any()
    points = NodePoints(
        unknowns.vectors(shapes, len(model.positions)),
        interface_motion(interfaces, condensed_model.displacements, condensed_model.rotations),
        model.positions,
        unknowns.rotations(shapes, len(model.positions)) if rotates else None,
    )
    moments = nodal_moments(model.mass, unknowns, shapes)
    strain = _strain_energy(model, condensed_model, interfaces, choice, geometric)
    data = retained_body(unknowns.dimension, model.positions, moments, strain, damping, *viscoelasticity, points)
    return data, condensed_model


def _warn_of_external_damping(model: NodalModel, frequencies: Array) -> None:
    """Warn with ``LeftOutWarning`` if the damping matrix of a ``model`` from another program resists rigid
    translations, as a multiple of the mass matrix does. A floating body damps only motions relative to its frame.
    The warning is given if damping over mass of a translation [1/s] exceeds round-off and a small fraction of the
    lowest of the ``frequencies`` [rad/s].

    Damping below the round-off of the matrices, which is estimated from the stiffness, is ignored.
    """
    assert model.damping is not None
    rigid = model.unknowns.rigid_fields(model.unknowns.positions.mean(axis=0))

    def powers(matrix: sparse.csr_array) -> tuple[Array, Array]:
        gross = (np.abs(rigid) * (abs(matrix) @ np.abs(rigid))).sum(axis=0)
        return (rigid * (matrix @ rigid)).sum(axis=0), gross

    (lost, gross), (noise, whole) = powers(model.damping), powers(model.stiffness)
    round_off = 100 * np.maximum(np.abs(noise) / whole, 1e-15) * gross
    carried = np.maximum(powers(model.mass)[0], 1e-300)
    rates = np.where(np.abs(lost) > round_off, lost / carried, 0.0)
    if (np.abs(rates[: model.unknowns.dimension]) > EXTERNAL * frequencies[0]).any():
        warnings.warn(
            f"damping: it resists rigid motions, at a rate of {np.abs(rates).max():.3g} 1/s (a share of the mass "
            "matrix, alpha M). A floating body only damps its strains, so that this share acts on motions relative"
            " to its frame only, here to mean axes or a line between interfaces: take"
            ' frame="..." of the interface that is fixed, or damping in proportion to the stiffness',
            LeftOutWarning,
            stacklevel=4,
        )


def _strain_energy(
    model: NodalModel,
    retained: Condensed,
    interfaces: tuple[MeshInterface, ...],
    choice: ShapeOptions,
    geometric: GeometricStiffness | None,
) -> StrainEnergy:
    """Return the strain energy of a body from matrices, in its ``retained`` coordinates (amplitudes of
    displacement shapes). It is linear if ``geometric`` is None. Otherwise quadratic strains follow from the user's
    geometric stiffness, projected on the shapes. This is a function called with each shape, or matrices for unit
    loads. For these, the matrix of a shape is a weighted sum, with its shares in the responses to the loads."""
    frequencies = retained.basis.frequencies
    if geometric is None:
        return linear_strain(frequencies)
    if not isinstance(geometric, Mapping):
        check_callable("geometric_stiffness", geometric, "u")
        full, name = np.zeros(int(model.retained.max()) + 1), "geometric_stiffness(u)"

        def matrix_of(shape: Array) -> sparse.csr_array:
            full[model.retained] = shape
            return model.restricted(name, called(geometric, name, full.copy(), at="at a shape of the body"))

        return condensed_strain(frequencies, projected_stiffness(retained.shapes, matrix_of) + retained.tied_work)
    loads = _load_matrices(model, interfaces, choice, geometric)
    shares = retained.response_shares()  # of the responses to all loads, (loads, n)
    small = [retained.shapes.T @ (matrix @ retained.shapes) for matrix in loads.values()]
    rows = shares[list(loads)]
    return condensed_strain(frequencies, np.einsum("lk,lij->kij", rows, np.array(small)) + retained.tied_work)


def _load_matrices(
    model: NodalModel,
    interfaces: tuple[MeshInterface, ...],
    choice: ShapeOptions,
    geometric: Mapping[str, object],
) -> dict[int, sparse.csr_array]:
    """Return the user's ``geometric`` stiffness matrices of unit loads by the index of the load, reduced to the
    unknowns of the ``model``. The user's lists are named by interface, or by the constant ``INERTIAL``; None in a
    list is skipped. Loads are counted over the ``interfaces`` in order, then inertial loads. Raise
    ``ParameterError`` for unknown names, lists that are too long, or no matrix at all."""
    per_interface = model.unknowns.dimension + (len(model.unknowns.spin_axes) if choice.moments else 0)
    names = [interface.name for interface in interfaces]
    spins = 4 if model.unknowns.dimension == 2 else 12
    ranges = {name: (number * per_interface, per_interface) for number, name in enumerate(names)}
    if choice.inertial_shapes:
        ranges[INERTIAL] = (len(names) * per_interface, spins)
    result: dict[int, sparse.csr_array] = {}
    for name, matrices in geometric.items():
        if name not in ranges:
            raise ParameterError(
                f"geometric_stiffness: {name!r} is none of the loads, which are {', '.join(map(repr, ranges))}"
            )
        first, count = ranges[name]
        if not isinstance(matrices, list | tuple) or len(matrices) > count:
            raise ParameterError(f"geometric_stiffness[{name!r}] must be a list of at most {count} matrices")
        for number, matrix in enumerate(matrices):
            if matrix is not None:
                result[first + number] = model.restricted(f"geometric_stiffness[{name!r}][{number}]", matrix)
    if not result:
        raise ParameterError("geometric_stiffness holds no matrices; leave it out for linear strain")
    return result
