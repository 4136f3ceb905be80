"""Second-order matrices of a mechanism about its operating point (docs/theory.md, 7)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.elimination import null_space_basis
from phlexible.algebra.rotations import cross_matrix
from phlexible.algebra.sparse import Matrix, natural_scale, sparse_diagonal
from phlexible.bodies.absolute_body import AbsoluteBody, QuadraticStrains
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics import absolute as absolute_mechanics, soft
from phlexible.bodies.mechanics.absolute import strain_gradients
from phlexible.bodies.mechanics.floating import (
    elastic_tangent,
    mass_matrix,
    quadratic_slopes,
    quadratic_velocity_forces,
    split_velocity,
    strain_rows,
    velocity_components,
    viscous_matrix,
)
from phlexible.bodies.soft_law import QuadraticConstitution
from phlexible.elements.maxwell import Maxwell
from phlexible.errors import EquilibriumError, SlackStringWarning, warn_user
from phlexible.linear.equilibria import OperatingKind, OperatingPoint
from phlexible.linear.signals import UNIT_ENERGY, same_unit
from phlexible.port_hamiltonian.model import StateGroup
from phlexible.state.branches import SIX
from phlexible.state.forces import (
    ElementState,
    LawSlopes,
    constraint_stiffness,
    controllers,
    element_state,
    element_stiffness,
    has_laws,
    linearized_state_laws,
    stiffness_of_loads,
)
from phlexible.state.layout import State
from phlexible.state.redundancy import independent_rows
from phlexible.state.small_motions import centring_matrix, displaced, world_matrix
from phlexible.state.system import System
from phlexible.state.vectors import split_rigid

# Laws that creep in linear models: the strains of their springs as states (docs/theory.md, 8; (8.38)).

# Branches of one relaxation time tau lie beside each other:
#
#     S de/dt = S (B dx/dt - e / tau),    forces -B^T S e on the motions x,    energy e.S.e / 2
#
# so that B^T S is a block of J and S / tau one of R. Eliminated at a frequency they are the stiffness
# B^T S B i w tau / (1 + i w tau).

STRAIN_ROUND_OFF = 1e-14
SHEAR = (1, 1, 1, 2, 2, 2)
"""Shear strains of the slopes of strains over those of the branches."""


@dataclass(frozen=True, eq=False)
class InnerStrains:
    """Internal strains e of all viscoelastic (Maxwell) branches with one relaxation time, as states of a linear
    model.

    Attributes:
        time: relaxation time tau [s].
        rows: B, shape (k, n).
        stiffness: S, shape (k, k), symmetric, positive definite.
        names: names and units of e.
    """

    time: float
    rows: sparse.csr_array
    stiffness: sparse.csr_array
    names: tuple[StateGroup, ...]

    @property
    def size(self) -> int:
        """Number of strains in this group of viscoelastic branches (Maxwell elements) of one relaxation time."""
        return int(self.rows.shape[0])

    @property
    def fast_stiffness(self) -> sparse.csr_array:
        """Stiffness that the viscoelastic branches (Maxwell elements) with this relaxation time add to motions so
        fast that no dashpot moves, shape (n, n), sparse."""
        return sparse.csr_array(self.rows.T @ (self.stiffness @ self.rows))

    def stiffness_fraction(self, rate: complex) -> complex:
        """Return the complex fraction of the fast stiffness of viscoelastic branches that acts if all motions vary
        as exp(rate t) with a complex rate [1/s]: rate tau / (1 + rate tau) for the relaxation time tau."""
        return rate * self.time / (1 + rate * self.time)

    def projected(self, basis: sparse.sparray | Array) -> "InnerStrains":
        """Return a copy of these strains of viscoelastic branches as functions of other coordinates a, with
        motions x = basis @ a. Relaxation time, stiffness and names are unchanged."""
        return replace(self, rows=sparse.csr_array(self.rows @ basis))

    def caused_by(self, motions: slice) -> "InnerStrains":
        """Select those strains of viscoelastic branches that depend on a slice of the motions (those of one body).
        Return a copy with these strains alone, as functions of the motions in the slice; dependence on other
        motions is dropped."""
        own = self.rows[:, motions]
        kept = np.flatnonzero(np.diff(own.indptr))
        stiffness = self.stiffness[kept][:, kept]
        return InnerStrains(self.time, own[kept], stiffness, tuple(self.names[k] for k in kept))

    def reduced(self) -> "InnerStrains":
        """Return as few strains as possible, of unit stiffness, that exert the same forces on the motions as these
        of viscoelastic branches. They are eigenvectors, times the root of the eigenvalue, of the stiffness that the
        branches have while no dashpot moves (``fast_stiffness``). Eigenvalues up to round-off are left out.

        The strains of one time that follow few motions stay in the span of what these strain.
        """
        values, vectors = linalg.eigh(self.fast_stiffness.toarray())
        kept = values > STRAIN_ROUND_OFF * len(values) * values.max(initial=0.0)
        roots = np.sqrt(values[kept])
        return InnerStrains(
            self.time,
            sparse.csr_array(roots[:, None] * vectors[:, kept].T),
            sparse.csr_array(sparse.eye_array(len(roots))),
            same_unit((f"strain {k} that fades in {self.time:g} s" for k in range(len(roots))), UNIT_ENERGY),
        )


def inner_strains(elements: ElementState, state: State, motion: sparse.csr_array) -> tuple[InnerStrains, ...]:
    """Return the strains of all viscoelastic branches (spring and dashpot in series, Maxwell elements) of a
    system, linearized about ``state``. There is one object for each relaxation time, ascending, with the matrix
    from small motions to strains, stiffness and names. ``motion`` is the matrix from small motions to velocity
    components. The tuple is empty without viscoelastic parts.

    Args:
        elements: force elements of the system there.
        state: state about which motions are small, in which all branches are relaxed.
        motion: matrix that converts small motions to those in the axes of the velocities nu, shape (velocities, n).
    """
    groups: dict[float, list[tuple[sparse.csr_array, sparse.csr_array, list[StateGroup]]]] = {}
    for law, rows, stiffness, names in _laws(elements, state, motion):
        for number, (share, time) in enumerate(law.pairs):
            own = [replace(block, name=f"{block.name}: branch {number}") for block in names]
            groups.setdefault(time, []).append((rows, sparse.csr_array(share * stiffness), own))
    found = []
    for time in sorted(groups):
        rows = sparse.csr_array(sparse.vstack([own for own, _, _ in groups[time]]))
        stiffness = sparse.csr_array(sparse.block_diag([own for _, own, _ in groups[time]], "csr"))
        blocks = tuple(block for _, _, own in groups[time] for block in own)
        found.append(InnerStrains(time, rows, stiffness, blocks))
    return tuple(found)


Law = tuple[Maxwell, sparse.csr_array, sparse.csr_array, list[StateGroup]]
"""Branches, what strains them over small motions, what multiplies their stiffness, names of the strains."""


def _laws(springs: ElementState, state: State, motion: sparse.csr_array) -> Iterator[Law]:
    yield from _of_elements(springs, motion)
    system = springs.system
    for index, body in enumerate(system.frames):
        if body.relaxation:
            name, eta = system.bodies[index].name, system.elastic(state, index)
            own = motion[system.layout.span(index)][body.rigid_count :]
            rows = sparse.vstack([own, sparse.csr_array(strain_rows(body, eta)) @ own], "csr")
            weights = sparse.block_diag([body.strain.stiffness, sparse.diags_array(body.strain.weights)], "csr")
            units = (*body.coordinate_units, *("1",) * len(body.strain.weights))
            words = [f"eta {k}" for k in range(body.elastic_count)]
            words += [f"strain {k}" for k in range(len(body.strain.weights))]
            names = [StateGroup(f"{name}: {word}", unit, 1) for word, unit in zip(words, units, strict=True)]
            strained = np.flatnonzero(weights.diagonal())  # axial coordinates whose stiffness is that of strains
            yield body.relaxation, rows[strained], weights[strained][:, strained], [names[k] for k in strained]
    for index, nodal in enumerate(system.nodal, start=system.layout.frames):
        name, nodes = system.bodies[index].name, system.elastic(state, index).reshape(-1, nodal.dimension)
        own = motion[system.layout.span(index)]
        for group in nodal.strains:
            if group.relaxation:
                names = [
                    StateGroup(f"{name}: strain {k} of element {e}", "1", 1) for k, e in enumerate(group.elements)
                ]
                rows = sparse.csr_array(strain_gradients(nodal, group, nodes).T @ own)
                yield group.relaxation, rows, sparse.csr_array(sparse.diags_array(group.weights / 4)), names
        for elements in nodal.elements:
            if elements.relaxation:
                rows = sparse.csr_array(soft.strain_slopes(elements, nodes) @ own)
                rows.eliminate_zeros()
                own = np.flatnonzero(np.diff(rows.indptr))  # a sheet has strains that never change
                law = QuadraticConstitution(elements.law.lame, elements.law.shear)
                elasticity = law.tangent(np.eye(3)) * np.outer(SHEAR, SHEAR)
                stiffness = sparse.kron(sparse.diags_array(elements.weights.ravel()), elasticity, "csr")
                scaled = sparse.diags_array(np.tile(1 / np.array(SHEAR), elements.weights.size)) @ rows
                names = [
                    StateGroup(f"{name}: element {e}, point {q}, {part}", "1", 1)
                    for e, q in np.ndindex(elements.weights.shape)
                    for part in SIX
                ]
                yield elements.relaxation, scaled[own], stiffness[own][:, own], [names[k] for k in own]


def _of_elements(elements: ElementState, motion: sparse.csr_array) -> Iterator[Law]:
    """Yield for each viscoelastic force element its Maxwell branches, a row, the stiffness factor 1 and a
    description of its state. The row, sparse (1, velocities), gives the change of the element's length, angle or
    strain by a small motion; ``motion`` is the matrix from small motions to velocities. Elements without branches
    are skipped.
    """
    rows = sparse.csr_array(elements.rows @ motion)
    for k, (element, force) in enumerate(elements.system.forces):
        if force.relaxation:
            unit = "rad" if force.coordinate.is_angle else "1" if force.is_strain else "m"
            block = StateGroup(f"force {k}: {element}, {force.coordinate.name}", unit, 1)
            yield force.relaxation, rows[[k]], sparse.csr_array(np.ones((1, 1))), [block]


def in_blocks(
    groups: Sequence[InnerStrains], motions: int
) -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array]:
    """Return the sparse matrices S, S B and S / tau of all viscoelastic strains of a model, for its first-order
    equations. S is the block-diagonal stiffness of the branches; B, shape (strains, ``motions``), gives strain
    rates from velocities; tau are the relaxation times [s]. ``groups`` has the strains of each relaxation time.
    Without groups the matrices have no rows.
    """
    if not groups:
        none = sparse.csr_array((0, 0))
        return none, sparse.csr_array((0, motions)), none
    return (
        sparse.csr_array(sparse.block_diag([each.stiffness for each in groups], "csr")),
        sparse.csr_array(sparse.vstack([each.stiffness @ each.rows for each in groups])),
        sparse.csr_array(sparse.block_diag([each.stiffness / each.time for each in groups], "csr")),
    )


# Linear momentum balances of one floating body about a steady motion (docs/theory.md, 2 and 7).
#
# The balance ``M(eta) dnu/dt - h(eta, nu) + dV/deta + C deta/dt = forces`` is expanded about a constant
# ``nu = (v, w, 0)``. Small motions are ``x = (dr, dtheta, deta)`` in body axes: the frame is at
# ``r + R dr``, ``R exp(dtheta)``. Then ``delta(nu) = dx/dt + A x`` with ``A`` of ``transport_matrix`` (7.6).

SLACK = 1e-2  # of the largest stress
ROUND_OFF = 1e-10  # of EA


@dataclass(frozen=True, eq=False)
class BodyMatrices:
    """Mass, gyroscopic, damping and stiffness matrix of the small motions of one body: ``M d2x/dt2 + (D + C) dx/dt
    + K x = forces``.

    Attributes:
        mass: M.
        velocity: D, of the steady motion; skew.
        damping: C, of the material and of ``FloatingBody.damping``.
        stiffness: K of inertia and elasticity; joints and loads add theirs.
    """

    mass: Matrix
    velocity: Matrix
    damping: Matrix
    stiffness: Matrix


def body_matrices(body: FloatingBody, eta: Array, nu: Array) -> BodyMatrices:
    """Return mass, gyroscopic, damping and stiffness matrix for small motions of one floating body about a steady
    motion, each (N, N) in body axes. The steady motion has elastic coordinates ``eta`` (n,) and N constant
    velocities ``nu``. Centrifugal stiffness and gyroscopic terms come from derivatives of velocity forces; they
    are zero if ``nu`` is. Matrices are sparse if the body's are and ``nu`` is zero.

    Of a body about its centre of mass (``centred``) take v = 0: its translation is apart from the rest.
    """
    if nu.any():
        body = body.with_arrays()
    mass, rigid = mass_matrix(body, eta), body.rigid_count
    if not isinstance(mass, np.ndarray):
        nothing = sparse.csr_array((rigid, rigid))
        still, slow = (
            sparse.csr_array(sparse.block_diag([nothing, own(body, eta)], "csr"))
            for own in (elastic_tangent, viscous_matrix)
        )
        return BodyMatrices(mass, sparse.csr_array(mass.shape), slow, still)
    stiffness, damping = np.zeros_like(mass), np.zeros_like(mass)
    stiffness[..., rigid:, rigid:] = elastic_tangent(body, eta)
    damping[..., rigid:, rigid:] = viscous_matrix(body, eta)
    if not nu.any():
        return BodyMatrices(mass, np.zeros_like(mass), damping, stiffness)
    transport = transport_matrix(body, nu)
    by_velocity, by_shape = velocity_force_slopes(body, eta, nu)
    stiffness -= by_velocity @ transport
    stiffness[:, rigid:] -= by_shape
    return BodyMatrices(mass, mass @ transport - by_velocity, damping, stiffness)


def absolute_matrices(body: AbsoluteBody, q: Array, rates: Array) -> BodyMatrices:
    """Return mass, gyroscopic (zero), damping and stiffness matrix of small motions of a string or soft body at
    rest with nodal positions ``q``. Prestress is part of the stiffness. Raise ``EquilibriumError`` if the body
    moves (nonzero ``rates``); warn (``SlackStringWarning``) if parts of a string are compressed.

    Raises:
        EquilibriumError: one that moves.
    """
    if rates.any():
        raise EquilibriumError(
            "a string or soft body is linearized at rest only: in rotation its nodes have no frame that turns with "
            'them; take at="static"'
        )
    if body.dimension > 1 and any(_is_slack(body, group, q) for group in body.strains):
        warn_user(
            "a string is linearized about a shape in which parts of it are pressed together: "
            "their motions grow, and grow faster the finer the mesh",
            SlackStringWarning,
        )
    nothing = sparse.csr_array((body.velocity_count,) * 2)
    tangent, viscous = absolute_mechanics.elastic_tangent(body, q), absolute_mechanics.viscous_matrix(body, q)
    return BodyMatrices(absolute_mechanics.mass_matrix(body), nothing, viscous, tangent)


def _is_slack(body: AbsoluteBody, group: QuadraticStrains, q: Array) -> bool:
    stress = group.law.stress(absolute_mechanics.strains(body, group, q))
    least = max(SLACK * float(np.abs(stress).max()), ROUND_OFF * group.law.modulus)
    return bool(stress.min() < -least)


def transport_matrix(body: FloatingBody, nu: Array) -> Array:
    """Return the matrix A (N, N) that a small motion x of a body in steady motion needs to give the change of its
    velocities: ``delta(nu) = dx/dt + A x``. All are in body axes. A consists of cross products with the steady
    linear and angular velocity in ``nu`` (N,); rows and columns of elastic coordinates are zero.
    """
    v, w, _ = split_velocity(body, nu)
    full = np.zeros((6 + body.elastic_count,) * 2)
    full[:3, :3] = full[3:6, 3:6] = cross_matrix(w)
    full[:3, 3:6] = cross_matrix(v)
    kept = velocity_components(body)
    return full[np.ix_(kept, kept)]


def velocity_force_slopes(body: FloatingBody, eta: Array, nu: Array) -> tuple[Array, Array]:
    """Return the derivatives of the centrifugal and Coriolis forces of a floating ``body`` with respect to its
    velocities ``nu`` and its elastic coordinates ``eta``. Shapes are (N, N) and (N, n) for N velocities and n
    coordinates. Elastic rates are zero. Differences are used, which are exact because the forces are quadratic in
    either.
    """
    by_velocity = quadratic_slopes(lambda at: quadratic_velocity_forces(body, eta, at), nu, float(np.abs(nu).max()))
    return by_velocity, quadratic_slopes(lambda at: quadratic_velocity_forces(body, at, nu), eta, body.size)


# Functions of the state in linear models: what they add to K, C, D, which are left out (docs/theory.md, 7).

ASYMMETRY = 1e-6  # of forces that may have no potential
LEFT_OUT = 1e-9
"""Relative to the stiffness: what of forces without potential may be left out without a word."""
ACTIVE = "a controller, which has values at its samples only; linear.interconnect(controller) closes the loop"
CIRCULATORY = 1e-2
"""Relative to the stiffness of contacts and friction: what of it may be left out without a word."""
ONLY = "without potential, which only modes have, not frequency responses, state spaces and reduced models"
WANDERS = f"the part of the friction of contacts {ONLY}"
FOLLOWS = f"the part of loads that follow bodies, moments in space or dampers of rotors {ONLY}"
AT_LIMIT = "friction at its limit, which holds one way and not the other"
BEGINS = "at the very place where it begins to act, so that it holds one way and not the other"
NEAR = 1e-9
"""Relative to the size of the mechanism, or in radians: nearer than this to its limit a law begins to act."""
NOT_SMOOTH = "a function of the state that has no derivative here"
NOT_SYMMETRIC = "a function of the state whose stiffness is not symmetric: it has no energy"
FEEDS = "a function of the state that feeds energy with the velocity: its damping is negative"


def linear_laws(system: System, state: State) -> tuple[list[LawSlopes], list[str]]:
    """Linearize all force laws of a system that are Python functions of the state, about a state. Return those that
    a linear model can contain, and a text with name and reason for each one that it leaves out."""
    laws = linearized_state_laws(system, system.at(state)) if has_laws(system) else []
    reasons = [_reason(law) for law in laws]
    left_out = [f"{part}, {ACTIVE}" for part, _ in controllers(system)]
    left_out += [f"{law.name}, {reason}" for law, reason in zip(laws, reasons, strict=True) if reason]
    return [law for law, reason in zip(laws, reasons, strict=True) if not reason], left_out


def _laws_that_begin(elements: ElementState) -> list[str]:
    """Return the names of those ropes, stops and contacts among force ``elements`` that are just about to act.
    Their coordinate is within a small tolerance of the value at which the force begins, where derivatives to both
    sides differ."""
    near = NEAR * max(elements.system.largest_length, 1.0)
    pairs = zip(elements.system.forces, elements.theta, strict=True)
    return [str(element) for (element, force), x in pairs if force.contact and abs(x - force.rest) < near]


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


TURN = 1e-5  # [rad] of the fastest body, before and after: half of a difference that is a rate
SMALL = 1e-6  # entries of rows this much smaller than the largest are round-off


@dataclass(frozen=True, eq=False)
class LinearMechanics:
    """Second-order linear model of the small motions of a mechanism about an operating point: constant sparse
    matrices.

    ``M d2x/dt2 + (D + C) dx/dt + K x + B^T S e = G^T lambda + F u``, ``G x = 0``.

    x are small motions (dr, dtheta, deta) of every body in its own axes, in the order of the flat
    velocities, or coordinates of them.

    Attributes:
        mass: M, shape (n, n), symmetric, positive definite.
        velocity: D, shape (n, n), skew: gyroscopic terms of a steady rotation.
        damping: C, shape (n, n), symmetric, positive semi-definite.
        stiffness: K, shape (n, n), symmetric: elasticity, prestress, joint and gravity forces, rotation.
        constraint_matrix: G, shape (rows, n), without rows that depend on others.
        forces: F, shape (n, inputs).
        rows: output matrix of x or its derivatives, shape (outputs, n).
        differentiations: 0, 1 or 2 for each output: a row of x, dx/dt or d2x/dt2.
        inner: strains e of laws that creep, ``de/dt = B dx/dt - e / tau``, by their times tau.
        without_potential: the rest N of the stiffness, of forces without potential, shape (n, n); None: zero. Modes
            have it, port-Hamiltonian models do not.
    """

    mass: sparse.csr_array
    velocity: sparse.csr_array
    damping: sparse.csr_array
    stiffness: sparse.csr_array
    constraint_matrix: sparse.csr_array
    forces: Array
    rows: Array
    differentiations: tuple[int, ...]
    inner: tuple[InnerStrains, ...] = ()
    without_potential: sparse.csr_array | None = None

    @property
    def size(self) -> int:
        """Number of coordinates (small motions of all bodies) of this second-order model."""
        return int(self.mass.shape[0])

    @property
    def freedom(self) -> int:
        """Number of degrees of freedom of this second-order model: coordinates minus rows of the constraint
        matrix, which are independent."""
        return self.size - int(self.constraint_matrix.shape[0])

    @property
    def inner_count(self) -> int:
        """Number of strains of viscoelastic branches (Maxwell elements), for all relaxation times, of this
        second-order model."""
        return sum(each.size for each in self.inner)

    @property
    def circulatory(self) -> sparse.csr_array:
        """Skew (circulatory) stiffness matrix of forces without potential, such as follower loads, shape (n, n),
        sparse; a zero matrix if there are none."""
        return sparse.csr_array(self.mass.shape) if self.without_potential is None else self.without_potential

    @property
    def is_circulatory(self) -> bool:
        """Whether the stiffness of forces without potential (follower loads, friction) is too large to be
        neglected. It is if an entry exceeds a hundredth of the geometric mean of the largest symmetric stiffnesses
        in its row and in its column."""
        return _relative_to_rows(sparse.coo_array(self.circulatory), self.stiffness) > CIRCULATORY

    @property
    def is_gyroscopic(self) -> bool:
        """Whether this second-order model has gyroscopic terms, that is, a nonzero skew matrix of velocities."""
        return bool(self.velocity.nnz)

    @property
    def is_damped(self) -> bool:
        """Whether this second-order model has a nonzero damping matrix."""
        return bool(self.damping.nnz)

    def projected(self, basis: sparse.sparray | Array) -> "LinearMechanics":
        """Return this second-order model in m coordinates a with x = ``basis`` @ a, as a new model without
        constraints. The basis has the shape (n, m). Square matrices are multiplied by the basis from both sides,
        input and output matrices from one. The columns of the basis must satisfy the constraints, which is not
        checked."""
        left = basis.T

        def congruent(matrix: sparse.csr_array) -> sparse.csr_array:
            return sparse.csr_array(left @ (matrix @ basis))

        return LinearMechanics(
            congruent(self.mass),
            congruent(self.velocity),
            congruent(self.damping),
            congruent(self.stiffness),
            sparse.csr_array((0, basis.shape[1])),
            np.asarray(left @ self.forces),
            np.asarray(self.rows @ basis),
            self.differentiations,
            tuple(each.projected(basis) for each in self.inner),
            None if self.without_potential is None else congruent(self.without_potential),
        )

    def with_fewest_strains(self) -> "LinearMechanics":
        """Return an equivalent second-order model with as few strains of viscoelastic branches as possible for each
        relaxation time."""
        return replace(self, inner=tuple(each.reduced() for each in self.inner))


def body_sums(system: System, state: State) -> list[sparse.csr_array]:
    """Return mass, gyroscopic, damping and stiffness matrix for small motions of all bodies in a state, in body
    axes, without joints and forces between bodies. Motions of floating bodies are about their centres of mass."""
    parts = system.evaluate_bodies(state, partial(_body_matrices, system, state))
    turning = np.flatnonzero(split_rigid(system.layout, state.velocity)[1].any(axis=1))
    centred = centring_matrix(system, state, turning.tolist())
    return [
        sparse.csr_array(centred.T @ sparse_diagonal(getattr(part, name) for part in parts) @ centred)
        for name in ("mass", "velocity", "damping", "stiffness")
    ]


def linear_mechanics(
    system: System, point: OperatingPoint, bodies: list[sparse.csr_array] | None = None
) -> tuple[LinearMechanics, tuple[str, ...]]:
    """Return the second-order matrices of a mechanism about an operating ``point``, and texts on forces that they
    leave out. Matrices are mass, gyroscopic, damping, stiffness, constraints, and stiffness without potential
    (follower forces); inputs and outputs are empty. Stiffness includes joint forces, loads, springs, contacts and
    sticking friction; at an UNLOADED point, springs count without preload. ``bodies`` are the ``body_sums`` there,
    if they are known."""
    state = point.state
    at = system.at(state) if point.kind is OperatingKind.STEADY_ROTATION else system.at_rest(state)
    motion, elements = _motions(system, state), element_state(system, at, state)
    speed = np.abs(split_rigid(system.layout, state.velocity)[1]).max(initial=0.0)
    mass, velocity, damping, stiffness = body_sums(system, state) if bodies is None else bodies
    if point.kind is OperatingKind.UNLOADED:
        forces, following = element_stiffness(elements, with_curvature=False), sparse.csr_array(motion.shape)
    else:
        forces = constraint_stiffness(system, state, point.multipliers)
        forces = forces + stiffness_of_loads(system, state) + element_stiffness(elements)
        following = stiffness_of_loads(system, state, of_followers=True)
    laws, left_out = linear_laws(system, state)
    touching = [point.pair_tangents, point.bristle_tangents]
    resisting, wandering, losing = (sparse.csr_array(sum(each)) for each in zip(*touching, strict=True))
    held = sum((_symmetric(law.stiffness) for law in laws), resisting - forces)
    rates = _rate_rows(elements, motion, laws)
    levers = sparse.hstack([elements.damper_rows.T, *(law.levers for law in laws)])
    levers = sparse.csr_array(motion.T @ levers)
    stiffness, slowed = sparse.csr_array(stiffness + motion.T @ held @ motion), levers @ rates
    if speed and levers.shape[1]:
        ends = [displaced(system, state, each * TURN / speed * state.velocity) for each in (1, -1)]
        states = [element_state(system, system.at(end), end) for end in ends]
        later, before = (
            _rate_rows(own, _motions(system, end), linear_laws(system, end)[0])
            for own, end in zip(states, ends, strict=True)
        )
        stiffness = sparse.csr_array(stiffness + levers @ (later - before) * speed / (2 * TURN))
    damping = sparse.csr_array(damping + motion.T @ losing @ motion + _symmetric(slowed))
    gyroscopic = (motion.T @ _symmetric(law.damping, -1.0) @ motion for law in laws)
    velocity = sparse.csr_array(sum(gyroscopic, velocity))
    for matrix in (mass, velocity, damping, stiffness):
        matrix.eliminate_zeros()
    size = int(system.layout.velocity[-1])
    rows = sparse.csr_array(system.rows.matrix(system.at(state))[independent_rows(system, state)] @ motion)
    skew = _symmetric(stiffness, -1.0)
    scale = abs(motion.T @ following @ motion) + (1.0 if speed else SMALL) * abs(stiffness)
    follows = _has_circulatory_part(skew, sparse.csr_array(scale), rows, mass)
    without_potential = sparse.csr_array(sum([skew] * follows, motion.T @ wandering @ motion))
    mechanics = LinearMechanics(
        mass=_symmetric(mass),
        velocity=_symmetric(velocity, -1.0),
        damping=damping,
        stiffness=_symmetric(stiffness),
        constraint_matrix=rows,
        forces=np.zeros((size, 0)),
        rows=np.zeros((0, size)),
        differentiations=(),
        inner=inner_strains(elements, state, motion),
        without_potential=without_potential if without_potential.nnz else None,
    )
    left_out += [f"{name}, {AT_LIMIT}" for name in point.slipped] + [FOLLOWS] * (
        follows and _relative_to_rows(sparse.coo_array(skew), stiffness) > LEFT_OUT
    )
    left_out += [f"{name}, {BEGINS}" for name in _laws_that_begin(elements)]
    if _relative_to_rows(sparse.coo_array(wandering), resisting) > CIRCULATORY:
        left_out.append(WANDERS)
    return mechanics, tuple(left_out)


def _motions(system: System, state: State) -> sparse.csr_array:
    """Return the matrix, shape (velocities, velocities), that converts small motions of all bodies to velocities
    of the system in a state. The small motions are in body axes, about the centre of mass; the results belong to
    reference points, with translations in world axes."""
    return sparse.csr_array(world_matrix(system, state) @ centring_matrix(system, state))


def _rate_rows(elements: ElementState, motion: sparse.csr_array, laws: list[LawSlopes]) -> sparse.csr_array:
    """Return a matrix (rows, velocities) that gives rates from the rates of small motions. First are the rates of
    all dampers among the force ``elements``, each times the root of its damping, then those of the values that
    ``laws``, users' functions of the state, measure. ``motion`` is the matrix from small motions to velocities.

    Where bodies turn and L or B do not turn with them, B x has the rate B dx/dt + dB/dt x.
    """
    return sparse.csr_array(sparse.vstack([elements.damper_rows, *(law.rate_rows for law in laws)]) @ motion)


def _body_matrices(system: System, state: State, bodies: Sequence[int], eta: Array) -> Any:
    """Return mass, gyroscopic, damping and stiffness matrix for small motions of identical bodies in a state, in
    body axes. Motions are about the bodies' reference points; for a rotating body, about its centre of mass.
    ``bodies`` are the numbers of the bodies, ``eta`` their elastic coordinates (bodies, n). The result is a list;
    for one body, with eta (n,), it is its matrices alone."""
    if len(bodies) > 1:
        if state.velocity.any():
            return [_body_matrices(system, state, [k], each) for k, each in zip(bodies, eta, strict=True)]
        found = body_matrices(system.floating[bodies[0]], eta, np.zeros(0))
        return [BodyMatrices(*each) for each in zip(*vars(found).values(), strict=True)]
    index, nu = bodies[0], state.velocity[system.layout.span(bodies[0])]
    if index >= system.layout.frames:
        return absolute_matrices(system.nodal[index - system.layout.frames], eta, nu)
    turning = np.concatenate([np.zeros(system.dimension), nu[system.dimension :]])
    return body_matrices((system.frames if turning.any() else system.floating)[index], eta, turning)


def _symmetric(matrix: sparse.csr_array, sign: float = 1.0) -> sparse.csr_array:
    """Return the symmetric part (A + A^T) / 2 of a square sparse ``matrix`` A; with ``sign=-1`` its skew part
    (A - A^T) / 2."""
    result = sparse.csr_array((matrix + sign * matrix.T) / 2)
    result.eliminate_zeros()
    return result


def _has_circulatory_part(
    skew: sparse.csr_array, scale: sparse.csr_array, rows: sparse.csr_array, mass: sparse.csr_array
) -> bool:
    """Return whether the skew part ``skew`` of a stiffness matrix exceeds round-off after projection onto the
    motions that the constraints ``rows`` allow. A skew part outside these motions is balanced by joint forces and
    ignored. Round-off is relative to ``scale``, the absolute stiffness of what may cause the skew part; ``mass``
    scales the coordinates.

    Joint forces balance what acts outside of these motions, such as the moment on a shaft that turns in a bearing.
    """
    if _relative_to_rows(sparse.coo_array(skew), scale) <= ASYMMETRY / 2:
        return False
    allowed = null_space_basis(rows, natural_scale(mass))
    inner = sparse.coo_array(allowed.T @ skew @ allowed)
    return _relative_to_rows(inner, sparse.csr_array(abs(allowed).T @ scale @ abs(allowed))) > ASYMMETRY / 2


def _relative_to_rows(rest: sparse.coo_array, scale: sparse.csr_array) -> float:
    """Return the largest ratio of an absolute entry (i, j) of the sparse matrix ``rest`` to a reference stiffness
    for i and j; 0 if the matrix is empty. The reference is the geometric mean of the largest absolute entries in
    rows i and j of ``scale``, plus a tiny fraction of its largest entry."""
    if not rest.nnz:
        return 0.0
    size = abs(scale).max(axis=1).toarray().ravel()
    allowed = np.sqrt(size[rest.row] * size[rest.col]) + SMALL * size.max()
    return float((np.abs(rest.data) / allowed).max())
