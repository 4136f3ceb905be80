"""Laws that creep in linear models: the strains of their springs as states (docs/theory.md, 8; (8.38))."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array
from phlexible.bodies.mechanics import soft
from phlexible.bodies.mechanics.absolute import strain_gradients
from phlexible.bodies.mechanics.floating import strain_rows
from phlexible.bodies.soft_law import QuadraticConstitution
from phlexible.elements.maxwell import Maxwell
from phlexible.linear.signals import UNIT_ENERGY, same_unit
from phlexible.port_hamiltonian.model import StateGroup
from phlexible.state.branches import SIX
from phlexible.state.forces import ElementState
from phlexible.state.layout import State

# Branches of one relaxation time tau lie beside each other:
#
#     S de/dt = S (B dx/dt - e / tau),    forces -B^T S e on the motions x,    energy e.S.e / 2
#
# so that B^T S is a block of J and S / tau one of R. Eliminated at a frequency they are the stiffness
# B^T S B i w tau / (1 + i w tau).

ROUND_OFF = 1e-14
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
        """Number of strains of viscoelastic branches (Maxwell elements) that have this relaxation time."""
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

    def of(self, motions: Array, rates: Array) -> Array:
        """Return the strains of the viscoelastic branches (Maxwell elements), shape (strains, m), in m
        motions. The motions are columns, shape (n, m), and vary as exp(rates t) with complex ``rates``, shape
        (m,) [1/s]."""
        return np.asarray(self.stiffness_fraction(rates) * (self.rows @ motions))  # type: ignore[arg-type]  # each of its own

    def projected(self, basis: sparse.sparray | Array) -> "InnerStrains":
        """Return these strains of viscoelastic branches as functions of other coordinates a of the model, with
        motions x = basis @ a."""
        return replace(self, rows=sparse.csr_array(self.rows @ basis))

    def caused_by(self, motions: slice) -> "InnerStrains":
        """Return those strains of viscoelastic branches that depend on a slice of the motions (those of one body),
        as functions of these motions alone."""
        own = self.rows[:, motions]
        kept = np.flatnonzero(np.diff(own.indptr))
        stiffness = self.stiffness[kept][:, kept]
        return InnerStrains(self.time, own[kept], stiffness, tuple(self.names[k] for k in kept))

    def reduced(self) -> "InnerStrains":
        """Return an equivalent set of as few strains of viscoelastic branches as possible, with unit stiffness,
        that exerts the same forces on the motions. Their number is the rank of the fast stiffness.

        The strains of one time that follow few motions stay in the span of what these strain.
        """
        values, vectors = linalg.eigh(self.fast_stiffness.toarray())
        kept = values > ROUND_OFF * len(values) * values.max(initial=0.0)
        roots = np.sqrt(values[kept])
        return InnerStrains(
            self.time,
            sparse.csr_array(roots[:, None] * vectors[:, kept].T),
            sparse.csr_array(sparse.eye_array(len(roots))),
            same_unit((f"strain {k} that fades in {self.time:g} s" for k in range(len(roots))), UNIT_ENERGY),
        )


def inner_strains(elements: ElementState, state: State, motion: sparse.csr_array) -> tuple[InnerStrains, ...]:
    """Collect the strains of all viscoelastic branches (springs and dashpots in series, Maxwell elements) of
    a system about a state, linearized in small motions. There is one object for each relaxation time, in
    ascending order. The matrix ``motion`` converts small motions to the axes of the velocities.

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
    """Yield, for each viscoelastic spring and rod strain among force ``elements``: its law, the derivative of
    its coordinate with respect to small motions (``motion`` converts these to velocities), a unit matrix as
    stiffness factor, and name and unit of the strain."""
    rows = sparse.csr_array(elements.rows @ motion)
    for k, (element, force) in enumerate(elements.system.forces):
        if force.relaxation:
            unit = "rad" if force.coordinate.is_angle else "1" if force.is_strain else "m"
            block = StateGroup(f"force {k}: {element}, {force.coordinate.name}", unit, 1)
            yield force.relaxation, rows[[k]], sparse.csr_array(np.ones((1, 1))), [block]


def in_blocks(
    groups: Sequence[InnerStrains], motions: int
) -> tuple[sparse.csr_array, sparse.csr_array, sparse.csr_array]:
    """Return sparse matrices S, S B and S / tau of all viscoelastic strains of a model (``groups``, one for
    each relaxation time tau). S is the block-diagonal stiffness; B gives strain rates from velocities of the
    ``motions`` coordinates. Without groups they have no rows."""
    if not groups:
        none = sparse.csr_array((0, 0))
        return none, sparse.csr_array((0, motions)), none
    return (
        sparse.csr_array(sparse.block_diag([each.stiffness for each in groups], "csr")),
        sparse.csr_array(sparse.vstack([each.stiffness @ each.rows for each in groups])),
        sparse.csr_array(sparse.block_diag([each.stiffness / each.time for each in groups], "csr")),
    )
