"""History variables of a state, ``State.branches``: strains of springs, speeds of impacts, bristles
(docs/theory.md, 8).
"""

from collections.abc import Iterator
from itertools import pairwise
from math import prod

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import AbsoluteBody, QuadraticStrains
from phlexible.bodies.mechanics import soft
from phlexible.bodies.mechanics.absolute import strain_gradients
from phlexible.bodies.mechanics.floating import strain_rows
from phlexible.bodies.soft_law import ElementStrains
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.force_elements import Bristle
from phlexible.elements.maxwell import Maxwell
from phlexible.state.layout import State, offsets
from phlexible.state.system import System

# Branches stand in the order of the forces: those of elements, then those of the strains of strings, each law's
# together; then those of soft bodies, six numbers each: e_11, e_22, e_33, e_23, e_13, e_12; then those of bodies
# with a frame: of each branch those of its coordinates, then of its scalar strains; then how fast the bodies of
# contacts met that remember it (8.47), the bristles of pairs among many that touch, and those of friction that
# sticks, in the order of the forces.


BRISTLE = ("bent", "slips")
PAIR = ("number", "bristle 1", "bristle 2", "bristle 3")
TURN = ("rolling 1", "rolling 2", "rolling 3", "drilling", "drilling slips", "speed of the impact")
KEPT_PAIRS = 6
"""Number of bristles stored for each sphere or point: half of the spheres that can touch one of them."""
SIX = ("11", "22", "33", "23", "13", "12")


def forces_of_branches(system: System, branches: Array) -> Array:
    """Return the forces of viscoelastic branches and friction springs of elements along their coordinates, shape
    (..., forces), from history variables, shape (..., branches).

    Friction springs of contacts are left out: they act across the coordinate.
    """
    laws = [force.relaxation for _, force in system.forces]
    pulls = np.stack([np.zeros(branches.shape[:-1]), *_branch_forces(laws, branches)], axis=-1)[..., 1:]
    begin = pairs_begin(system) + _pair_numbers(system)
    for k, bristle in bristles_of(system):
        pulls[..., k] -= bristle.stiffness * branches[..., begin]
        begin += len(BRISTLE)
    return pulls


def bristles_of(system: System) -> list[tuple[int, Bristle]]:
    """List the friction springs along coordinates of a system, each with the index of its force."""
    along = ((k, force.friction) for k, (_, force) in enumerate(system.forces) if not force.contact)
    return [(k, friction.bristle) for k, friction in along if friction and friction.bristle]


def branch_stresses(system: System, index: int, branches: Array) -> list[tuple[QuadraticStrains, Array]]:
    """Return the stresses of the viscoelastic branches of a string for each group of its strains, shape (...,
    strains) [N]. The history variables have shape (..., branches).
    """
    found, begin = [], sum(_count(force.relaxation) for _, force in system.forces)
    for number, body in enumerate(system.nodal, start=system.layout.frames):
        for group in body.strains:
            laws = [group.relaxation] * len(group.weights)
            end = begin + sum(map(_count, laws))
            if number == index:
                pulls = _branch_forces(laws, branches[..., begin:end])
                found.append((group, -np.stack(pulls, axis=-1) / 4))
            begin = end
    return found


def body_forces_of_branches(system: System, state: State) -> Array:
    """Return the generalized forces of all viscoelastic branches of bodies in a state, shape (velocities,)."""
    result = np.zeros(len(state.velocity))
    for index, body in enumerate(system.nodal, start=system.layout.frames):
        if state.branches is None or not any(group.relaxation for group in body.strains):
            continue
        nodes = system.elastic(state, index).reshape(-1, body.dimension)
        for group, pull in branch_stresses(system, index, state.branches):
            result[system.layout.place(index)] -= strain_gradients(body, group, nodes) @ (group.weights * pull)
    if state.branches is not None:
        for index, elements, strains in _soft_strains(system, state.branches):
            body, shares = system.nodal[index - system.layout.frames], [k for k, _ in _pairs(elements.relaxation)]
            nodes = system.elastic(state, index).reshape(-1, body.dimension)
            pulls = soft.branch_force(elements, nodes, np.einsum("b,eqbs->eqs", shares, strains))
            result[system.layout.place(index)] -= pulls.ravel()
        for index, inner in enumerate(frame_strains(system, state.branches)):
            if inner is not None:
                frame, n = system.frames[index], system.frames[index].elastic_count
                rows, stress = strain_rows(frame, system.elastic(state, index)), inner[n:] * frame.strain.weights
                pull = frame.strain.stiffness @ inner[:n] + rows.T @ stress
                result[system.layout.place(index)][frame.rigid_count :] -= pull
    return result


def frame_strains(system: System, branches: Array) -> list[Array | None]:
    """Return for each floating body the sum over its viscoelastic branches of share times branch strain, shape
    (..., n + s), or None without branches. The body has n elastic coordinates and s strains.
    """
    found: list[Array | None] = []
    begin = branch_count(system) - sum(body.inner_count for body in system.frames)
    for body in system.frames:
        shares = np.array([share for share, _ in _pairs(body.relaxation)])
        own = branches[..., begin : begin + body.inner_count]
        parts = own.reshape(*own.shape[:-1], len(shares), -1) if len(shares) else None
        found.append(None if parts is None else np.einsum("b,...bk->...k", shares, parts))
        begin += body.inner_count
    return found


def _soft_strains(system: System, branches: Array) -> Iterator[tuple[int, ElementStrains, Array]]:
    """Yield each viscoelastic group of elements of soft bodies: index of the body, the group, and the strains of
    its branches, shape (elements, points, branches, 6).
    """
    begin = branch_count(system, with_soft=False)
    for index, body in enumerate(system.nodal, start=system.layout.frames):
        for group in body.elements:
            shape = (*group.weights.shape, _count(group.relaxation), 6)
            if group.relaxation:
                yield index, group, branches[begin : begin + prod(shape)].reshape(shape)
            begin += prod(shape)


def branch_count(system: System, with_soft: bool = True) -> int:
    """Return the number of viscoelastic branches of a system, with or without those of soft bodies (six for each
    point) and of floating bodies.
    """
    strains = [(group.relaxation, len(group.weights)) for body in system.nodal for group in body.strains]
    for body in system.nodal if with_soft else ():
        strains += [(group.relaxation, 6 * group.weights.size) for group in body.elements]
    inner = sum(body.inner_count for body in system.frames) if with_soft else 0
    own = sum(_count(force.relaxation) for _, force in system.forces)
    return own + sum(_count(law) * n for law, n in strains) + inner


def contacts_of(system: System) -> list[Contact]:
    """Return the contacts of a system in their order: those of two whose forces it has, and those among many."""
    known = {id(element) for element, _ in system.forces}
    contacts = (each for each in system.mechanism.elements if isinstance(each, Contact))
    return [each for each in contacts if each.is_contact_group or id(each) in known]


def kept_pairs(system: System) -> int:
    """Return the number of contact pairs for which a system reserves history variables in contact groups."""
    own = [
        each.members(system.dimension)
        for each in contacts_of(system)
        if each.friction or each.normal_law().impact_damping
    ]
    return KEPT_PAIRS * sum(not member.kind.is_solid for members in own for member in members)


def kept_turns(system: System) -> int:
    """Return the number of contact pairs for which rotational friction springs or impact speeds are stored."""
    keep = any(each.resists_rotation or each.normal_law().impact_damping for each in contacts_of(system))
    return kept_pairs(system) if keep else 0


def remembered_count(system: System) -> int:
    """Return the number of history variables of a system, the length of ``State.branches``."""
    return pairs_begin(system) + _pair_numbers(system) + len(BRISTLE) * len(bristles_of(system))


def pairs_begin(system: System) -> int:
    """Return the index in ``State.branches`` at which the history variables of contact groups begin."""
    return branch_count(system) + len(_restitution_names(system))


def _pair_numbers(system: System) -> int:
    return len(PAIR) * kept_pairs(system) + len(TURN) * kept_turns(system)


def _restitution_names(system: System) -> list[str]:
    """List the names of stops with restitution, each of which stores the speed of the last impact."""
    forces = ((element, force.contact) for element, force in system.forces if not isinstance(element, Contact))
    return [str(element) for element, contact in forces if contact and contact.restitution is not None]


def remembered_names(system: System) -> list[str]:
    """Return the names of all history variables, the entries of ``State.branches``, with the parts that they belong
    to."""
    owners = [f"{system.forces[k].element}: bristle" for k, _ in bristles_of(system)]
    names = branch_names(system) + [f"{name}: speed of the impact" for name in _restitution_names(system)]
    names += [f"pair {k} that touches: {part}" for k in range(kept_pairs(system)) for part in PAIR]
    names += [f"pair {k} that touches: {part}" for k in range(kept_turns(system)) for part in TURN]
    return names + [f"{owner} {part}" for owner in owners for part in BRISTLE]


def branch_names(system: System) -> list[str]:
    """Return the names of the entries of ``State.branches`` that belong to viscoelastic branches."""
    owners = [(f"{element}: {force.coordinate.name}", force.relaxation) for element, force in system.forces]
    for placed in system.bodies:
        for group in placed.data.strains if isinstance(placed.data, AbsoluteBody) else ():
            owners += [(f"{placed.name}: strain of element {k}", group.relaxation) for k in group.elements]
    found = [f"{name}: branch {k}" for name, law in owners for k in range(_count(law))]
    for placed in system.bodies:
        for elements in placed.data.elements if isinstance(placed.data, AbsoluteBody) else ():
            found += [
                f"{placed.name}: element {e}, point {q}, {part}: branch {k}"
                for e, q in np.ndindex(elements.weights.shape if elements.relaxation else (0, 0))
                for k in range(_count(elements.relaxation))
                for part in SIX
            ]
    for placed, body in zip(system.bodies, system.frames, strict=False):
        for k in range(_count(body.relaxation)):
            found += [f"{placed.name}: eta {i}: branch {k}" for i in range(body.elastic_count)]
            found += [f"{placed.name}: strain {s}: branch {k}" for s in range(len(body.strain.weights))]
    return found


def _branch_forces(laws: list[Maxwell | None], branches: Array) -> list[Array]:
    """Return the force of each viscoelastic law, shape (...), from the strains of all branches, shape (...,
    branches). It is the negative sum of stiffness times strain.
    """
    stiffness = np.array([k for law in laws if law for k, _ in law.pairs])
    pulls = -branches[..., : len(stiffness)] * stiffness
    starts = offsets([_count(law) for law in laws]).tolist()
    return [pulls[..., begin:end].sum(axis=-1) for begin, end in pairwise(starts)]


def _pairs(law: Maxwell | None) -> tuple[tuple[float, float], ...]:
    return law.pairs if law else ()


def _count(law: Maxwell | None) -> int:
    return len(law.pairs) if law else 0
