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
# contacts met that remember it (8.47), the flows of tendons that rub through their guides (8.54), the bristles of
# pairs among many that touch, and those of friction that sticks, in the order of the forces.


BRISTLE = ("bent", "slips")
PAIR = ("number", "bristle 1", "bristle 2", "bristle 3")
TURN = ("rolling 1", "rolling 2", "rolling 3", "drilling", "drilling slips", "speed of the impact")
PAIRS_PER_MEMBER = 6
"""Number of bristles stored for each sphere or point: half of the spheres that can touch one of them."""
SIX = ("11", "22", "33", "23", "13", "12")


def history_variable_forces(system: System, branches: Array) -> Array:
    """Return the force of every scalar force element (spring, damper, motor) that is due to its history variables,
    i.e. to the strains of its viscoelastic branches (spring and dashpot in series, Maxwell elements) and to the
    deflection of its friction spring (bristle). The result is along the coordinates of the elements, shape (...,
    forces) [N or N m]; ``branches`` holds the history variables of the system, shape (..., branches).

    Friction springs of contacts are left out: they act across the coordinate.
    """
    laws = [force.relaxation for _, force in system.forces]
    pulls = np.stack([np.zeros(branches.shape[:-1]), *_branch_forces(laws, branches)], axis=-1)[..., 1:]
    begin = first_pair_variable(system) + _pair_variable_count(system)
    for k, bristle in friction_springs(system):
        pulls[..., k] -= bristle.stiffness * branches[..., begin]
        begin += len(BRISTLE)
    return pulls


def friction_springs(system: System) -> list[tuple[int, Bristle]]:
    """List the friction springs (bristles: springs whose deflection lets dry friction stick) of all force elements
    of a system, each with the index of its scalar force. Friction of contacts is not listed."""
    along = ((k, force.friction) for k, (_, force) in enumerate(system.forces) if not force.contact)
    return [(k, friction.bristle) for k, friction in along if friction and friction.bristle]


def string_branch_stresses(system: System, index: int, branches: Array) -> list[tuple[QuadraticStrains, Array]]:
    """Return the stresses [N] in the viscoelastic branches (Maxwell elements) of one string from the history
    variables of the system, shape (..., branches). The string is given by its body ``index``. The result is a list
    of pairs: a group of strains of equal law, and its stresses, shape (..., strains)."""
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


def viscoelastic_body_forces(system: System, state: State) -> Array:
    """Return the generalized forces that the viscoelastic branches (springs and dashpots in series, Maxwell
    elements) inside all bodies of a system exert in a state: shape (velocities,). Force elements between
    bodies are not included."""
    result = np.zeros(len(state.velocity))
    for index, body in enumerate(system.nodal, start=system.layout.frames):
        if state.branches is None or not any(group.relaxation for group in body.strains):
            continue
        nodes = system.elastic(state, index).reshape(-1, body.dimension)
        for group, pull in string_branch_stresses(system, index, state.branches):
            result[system.layout.span(index)] -= strain_gradients(body, group, nodes) @ (group.weights * pull)
    if state.branches is not None:
        for index, elements, strains in _soft_strains(system, state.branches):
            body, shares = system.nodal[index - system.layout.frames], [k for k, _ in _pairs(elements.relaxation)]
            nodes = system.elastic(state, index).reshape(-1, body.dimension)
            pulls = soft.branch_force(elements, nodes, np.einsum("b,eqbs->eqs", shares, strains))
            result[system.layout.span(index)] -= pulls.ravel()
        for index, inner in enumerate(weighted_branch_strains(system, state.branches)):
            if inner is not None:
                frame, n = system.frames[index], system.frames[index].elastic_count
                rows, stress = strain_rows(frame, system.elastic(state, index)), inner[n:] * frame.strain.weights
                pull = frame.strain.stiffness @ inner[:n] + rows.T @ stress
                result[system.layout.span(index)][frame.rigid_count :] -= pull
    return result


def weighted_branch_strains(system: System, branches: Array) -> list[Array | None]:
    """Return, for each floating body of a system, the sum of the strains of its viscoelastic branches
    (Maxwell elements), weighted by their relative stiffnesses. The sum has the shape (..., n + s) for n
    elastic coordinates and s scalar strains; it is None for a body without branches."""
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
    """Yield the strains of all viscoelastic branches in soft bodies, group by group of finite elements: the index
    of the body, the group, and the strains of its branches (Maxwell elements), shape (elements, integration points,
    branches, 6), taken from the flat history variables of the system."""
    begin = branch_count(system, with_soft=False)
    for index, body in enumerate(system.nodal, start=system.layout.frames):
        for group in body.elements:
            shape = (*group.weights.shape, _count(group.relaxation), 6)
            if group.relaxation:
                yield index, group, branches[begin : begin + prod(shape)].reshape(shape)
            begin += prod(shape)


def branch_count(system: System, with_soft: bool = True) -> int:
    """Return the number of history variables of a system that are strains of viscoelastic branches (Maxwell
    elements). If ``with_soft`` is False, only branches of force elements and strings count, and not those inside
    soft bodies (six at each integration point) and floating bodies."""
    strains = [(group.relaxation, len(group.weights)) for body in system.nodal for group in body.strains]
    for body in system.nodal if with_soft else ():
        strains += [(group.relaxation, 6 * group.weights.size) for group in body.elements]
    inner = sum(body.inner_count for body in system.frames) if with_soft else 0
    own = sum(_count(force.relaxation) for _, force in system.forces)
    return own + sum(_count(law) * n for law, n in strains) + inner


def contacts_of(system: System) -> list[Contact]:
    """Return the contact elements of a system in the order of the mechanism: contacts between two surfaces that
    have a scalar force in the system, and contact groups (many bodies, any two of which may touch)."""
    known = {id(element) for element, _ in system.forces}
    contacts = (each for each in system.mechanism.elements if isinstance(each, Contact))
    return [each for each in contacts if each.is_contact_group or id(each) in known]


def stored_pair_count(system: System) -> int:
    """Return the number of touching pairs in contact groups for which a system reserves memory for friction springs
    (bristles) and impact speeds: six for each sphere, point or line segment that takes part, none for solids."""
    own = [
        each.members(system.dimension)
        for each in contacts_of(system)
        if each.friction or each.normal_law().impact_damping
    ]
    return PAIRS_PER_MEMBER * sum(not member.kind.is_solid for members in own for member in members)


def stored_rotation_count(system: System) -> int:
    """Return the number of touching pairs in contact groups for which a system reserves memory for rolling
    friction, drilling friction and impact speeds: ``stored_pair_count`` if any contact resists rotation or loses
    energy in impacts, else 0."""
    keep = any(each.resists_rotation or each.normal_law().impact_damping for each in contacts_of(system))
    return stored_pair_count(system) if keep else 0


def history_variable_count(system: System) -> int:
    """Return the number of history variables of a system, which is the length of ``State.branches``: strains of
    viscoelastic branches, speeds of impacts and deflections of friction springs (bristles)."""
    return first_pair_variable(system) + _pair_variable_count(system) + len(BRISTLE) * len(friction_springs(system))


def first_pair_variable(system: System) -> int:
    """Return the index in the flat history variables ``State.branches`` of a system at which those of pairs in
    contact groups begin. Strains of viscoelastic branches and impact speeds of stops come before."""
    return branch_count(system) + len(_restitution_names(system)) + sum(_piece_counts(system))


def flows(system: System, branches: Array) -> list[Array]:
    """Return for each scalar force of a system the lengths of tendon that have flowed through its guides since
    t = 0. They have the shape (..., pieces) [m], one for the guide after each piece; other forces have no pieces.
    ``branches`` are history variables, shape (..., variables)."""
    counts = _piece_counts(system)
    ends = first_pair_variable(system) - sum(counts) + np.cumsum(counts)
    return [branches[..., end - count : end] for end, count in zip(ends, counts, strict=True)]


def _piece_counts(system: System) -> list[int]:
    return [force.coordinate.history_variable_count for _, force in system.forces]


def _pair_variable_count(system: System) -> int:
    return len(PAIR) * stored_pair_count(system) + len(TURN) * stored_rotation_count(system)


def _restitution_names(system: System) -> list[str]:
    """List the names of the stops (end stops of joints, not contacts) of a system that have a coefficient of
    restitution. Each of them stores the speed of its last impact as a history variable."""
    forces = ((element, force.contact) for element, force in system.forces if not isinstance(element, Contact))
    return [str(element) for element, contact in forces if contact and contact.restitution is not None]


def history_variable_names(system: System) -> list[str]:
    """Return a readable name for each history variable of a system, in the order of ``State.branches``: the element
    or body and what is stored, for example "spring: bristle bent"."""
    owners = [f"{system.forces[k].element}: bristle" for k, _ in friction_springs(system)]
    names = branch_names(system) + [f"{name}: speed of the impact" for name in _restitution_names(system)]
    pieces = zip(system.forces, _piece_counts(system), strict=True)
    names += [f"{force.element}: flow after piece {k}" for force, count in pieces for k in range(count)]
    names += [f"pair {k} that touches: {part}" for k in range(stored_pair_count(system)) for part in PAIR]
    names += [f"pair {k} that touches: {part}" for k in range(stored_rotation_count(system)) for part in TURN]
    return names + [f"{owner} {part}" for owner in owners for part in BRISTLE]


def branch_names(system: System) -> list[str]:
    """Return a readable name for each strain of a viscoelastic branch (Maxwell element) in ``State.branches``
    of a system, for example "beam: strain of element 3: branch 0". Names of other history variables (impacts,
    friction) are not included."""
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
    """Return the forces of viscoelastic ``laws``: a list with one array of shape (...) for each law, from the
    strains of all their ``branches`` (springs and dashpots in series, Maxwell elements), shape (...,
    branches). A force is minus the sum of stiffness times strain over the branches of its law, and zero for a
    law that is None."""
    stiffness = np.array([k for law in laws if law for k, _ in law.pairs])
    pulls = -branches[..., : len(stiffness)] * stiffness
    starts = offsets([_count(law) for law in laws]).tolist()
    return [pulls[..., begin:end].sum(axis=-1) for begin, end in pairwise(starts)]


def _pairs(law: Maxwell | None) -> tuple[tuple[float, float], ...]:
    return law.pairs if law else ()


def _count(law: Maxwell | None) -> int:
    return len(law.pairs) if law else 0
