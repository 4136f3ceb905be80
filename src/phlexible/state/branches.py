"""History variables of a state, ``State.branches``: strains of springs, speeds of impacts, bristles
(docs/theory.md, 8).
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.bodies.absolute_body import QuadraticStrains
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics import soft
from phlexible.bodies.mechanics.absolute import strain_gradients
from phlexible.bodies.mechanics.floating import strain_rows
from phlexible.bodies.soft_law import ElementStrains
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.force_elements import Bristle
from phlexible.elements.maxwell import Maxwell
from phlexible.state.layout import State
from phlexible.state.system import ScalarForce, System

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


Owner = ScalarForce | QuadraticStrains | ElementStrains | FloatingBody


class BranchStrains(NamedTuple):
    """Strains of the viscoelastic branches (springs in series with dashpots, Maxwell elements) of one law, as a
    part of the history variables of a system.

    Attributes:
        body: its index; None: of a force element.
        owner: a force element, strains of a string, elements of a soft body, or a whole body with a frame.
        law: relaxation of the owner; None: no strains.
        begin: index of the first strain among the history variables.
        shape: (places, ..., branches, strains that one spring has).
    """

    body: int | None
    owner: Owner
    law: Maxwell | None
    begin: int
    shape: tuple[int, ...]

    def weighted(self, branches: Array) -> Array:
        """Return the sum of stiffness times strain over the viscoelastic branches of this law, for each of its
        strains, shape (..., strains). It is the stress of the branches; zero for a law without branches.
        ``branches`` are all history variables of the system, shape (..., variables), which contain the strains.
        """
        strains = branches[..., self.begin : self.begin + prod(self.shape)]
        stiffness = np.array([k for k, _ in self.law.pairs] if self.law else ())
        return stiffness @ strains.reshape(*branches.shape[:-1], *self.shape)


def branch_strains(system: System) -> Iterator[BranchStrains]:
    """Yield a ``BranchStrains`` for each force element and each elastic law of a body, in the order of the history
    variables of the system. It has the body's index (None: force element), the law of viscoelastic branches
    (Maxwell elements; None: none), and offset and shape of their strains in the history variables. Without
    branches the shape is empty."""
    nodal = list(enumerate(system.nodal, start=system.layout.frames))
    owners: list[tuple[int | None, Owner, Maxwell | None, tuple[int, ...], int]] = [
        *((None, each, each.force.relaxation, (), 1) for each in system.forces),
        *((i, own, own.relaxation, own.weights.shape, 1) for i, body in nodal for own in body.strains),
        *((i, own, own.relaxation, own.weights.shape, 6) for i, body in nodal for own in body.elements),
    ]
    for index, body in enumerate(system.frames):
        owners.append((index, body, body.relaxation, (), body.elastic_count + len(body.strain.weights)))
    begin = 0
    for place, owner, law, places, size in owners:
        yield (found := BranchStrains(place, owner, law, begin, (*places, len(law.pairs) if law else 0, size)))
        begin += prod(found.shape)


def weighted_branch_strains(system: System, index: int | None, branches: Array) -> list[Array]:
    """Return the sum of stiffness times strain over the viscoelastic branches (Maxwell elements) of each law of
    one body. It is a list of arrays (..., strains); for ``index`` None, that of all force elements. ``branches``
    are the history variables of the system, shape (..., variables)."""
    return [each.weighted(branches) for each in branch_strains(system) if each.body == index]


def string_branch_stresses(system: System, index: int, branches: Array) -> list[Array]:
    """Return the stresses [N] in the viscoelastic branches (Maxwell elements) of a string. They are a list of
    arrays (..., strains), one for each group of strains of equal law. ``index`` is that of the string's body;
    ``branches`` are the history variables of the system, shape (..., variables)."""
    own = (each for each in branch_strains(system) if each.body == index)
    return [each.weighted(branches)[..., 0] / 4 for each in own if isinstance(each.owner, QuadraticStrains)]


def history_variable_forces(system: System, branches: Array) -> Array:
    """Return the force of every force element due to its history variables, along its length or angle, shape (...,
    forces) [N or N m]. It is minus stiffness times strain of its Maxwell elements, and minus stiffness times
    deflection of its friction spring. ``branches`` are the history variables of the system, shape (...,
    variables). Friction of contacts, which acts across the coordinate, is left out.

    Friction springs of contacts are left out: they act across the coordinate.
    """
    pulls = -np.concatenate([branches[..., :0], *weighted_branch_strains(system, None, branches)], axis=-1)
    begin = first_pair_variable(system) + _pair_variable_count(system)
    for k, bristle in friction_springs(system):
        pulls[..., k] -= bristle.stiffness * branches[..., begin]
        begin += len(BRISTLE)
    return pulls


def friction_springs(system: System) -> list[tuple[int, Bristle]]:
    """Return the friction springs (bristles, whose deflection lets dry friction stick) of all force elements of a
    system. Each is a pair of the index of its scalar force and the spring. Contacts and friction without bristle
    are left out."""
    along = ((k, force.friction) for k, (_, force) in enumerate(system.forces) if not force.contact)
    return [(k, friction.bristle) for k, friction in along if friction and friction.bristle]


def viscoelastic_body_forces(system: System, state: State) -> Array:
    """Return the generalized forces (velocities,) that viscoelastic branches inside all bodies of a system exert
    in a state. A branch is a spring and dashpot in series (Maxwell element); its force opposes its strain in
    ``state.branches``. The forces are zero if that is None. Force elements between bodies are not included."""
    result = np.zeros(len(state.velocity))
    if state.branches is None:
        return result
    for each in branch_strains(system):
        if each.body is None or each.law is None:
            continue
        inner, own = each.weighted(state.branches), result[system.layout.span(each.body)]
        elastic = system.elastic(state, each.body)
        if isinstance(each.owner, FloatingBody):
            n, strain = each.owner.elastic_count, each.owner.strain
            stress = strain_rows(each.owner, elastic).T @ (inner[n:] * strain.weights)
            own[each.owner.rigid_count :] -= strain.stiffness @ inner[:n] + stress
        elif isinstance(each.owner, QuadraticStrains):
            body, nodes = system.nodal[each.body - system.layout.frames], elastic.reshape(-1, system.dimension)
            own -= strain_gradients(body, each.owner, nodes) @ (each.owner.weights * inner[:, 0] / 4)
        elif isinstance(each.owner, ElementStrains):
            own -= soft.branch_force(each.owner, elastic.reshape(-1, system.dimension), inner).ravel()
    return result


def contacts_of(system: System) -> list[Contact]:
    """Return the contact elements of a system that are evaluated, in the order of the mechanism. They are all
    contact groups (whose touching pairs are searched for), and those contacts of two that have a scalar force in
    the system."""
    known = {id(element) for element, _ in system.forces}
    contacts = (each for each in system.mechanism.elements if isinstance(each, Contact))
    return [each for each in contacts if each.is_contact_group or id(each) in known]


def stored_pair_count(system: System) -> int:
    """Return the number of pairs of contact shapes for which a system reserves history variables (deflections of
    friction springs, impact speeds). It is six for each sphere, point or line segment in contacts with friction or
    impact damping; solids add none."""
    own = [
        each.members(system.dimension)
        for each in contacts_of(system)
        if each.friction or each.normal_law().impact_damping
    ]
    return PAIRS_PER_MEMBER * sum(not member.kind.is_solid for members in own for member in members)


def stored_rotation_count(system: System) -> int:
    """Return the number of contact pairs for which a system reserves history variables of rolling and drilling
    friction, and impact speeds. It is ``stored_pair_count`` if any contact resists rotation or has impact damping,
    else 0.
    """
    keep = any(each.resists_rotation or each.normal_law().impact_damping for each in contacts_of(system))
    return stored_pair_count(system) if keep else 0


def history_variable_count(system: System) -> int:
    """Return the number of history variables of a system, which is the length of ``State.branches``: strains of
    viscoelastic branches, speeds of impacts and deflections of friction springs (bristles)."""
    return first_pair_variable(system) + _pair_variable_count(system) + len(BRISTLE) * len(friction_springs(system))


def first_pair_variable(system: System) -> int:
    """Return the index at which the variables of touching contact pairs begin in the history variables
    ``State.branches``. Before them are strains of viscoelastic branches, impact speeds of stops, and lengths of
    tendon that slipped through guides."""
    strains = sum(prod(each.shape) for each in branch_strains(system))
    return strains + len(_restitution_names(system)) + sum(_piece_counts(system))


def flows(system: System, branches: Array) -> list[Array]:
    """Return, for each scalar force of a system, the lengths of tendon that have slipped through its guides since t
    = 0 [m]. The shape is (..., segments). There is one for each segment of a tendon with friction, of the guide
    after it; arrays of all other forces are empty. They are views of the history variables ``branches``, shape
    (..., variables).
    """
    counts = _piece_counts(system)
    ends = first_pair_variable(system) - sum(counts) + np.cumsum(counts)
    return [branches[..., end - count : end] for end, count in zip(ends, counts, strict=True)]


def _piece_counts(system: System) -> list[int]:
    return [force.coordinate.history_variable_count for _, force in system.forces]


def _pair_variable_count(system: System) -> int:
    return len(PAIR) * stored_pair_count(system) + len(TURN) * stored_rotation_count(system)


def _restitution_names(system: System) -> list[str]:
    """Return the names of the end stops (not contacts) of a system that have a coefficient of restitution. Each of
    them stores the speed of its last impact as a history variable."""
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
    """Return a name for each strain of a Maxwell element (spring and damper in series) among the history variables
    of a system, in their order. An example is "beam: strain of element 3: branch 0". Names of other history
    variables (impacts, friction) are not included."""
    found = []
    for index, owner, _, _, shape in branch_strains(system):
        body = "" if index is None else system.bodies[index].name
        for *place, branch, strain in np.ndindex(shape):
            if isinstance(owner, ScalarForce):
                name = f"{owner.element}: {owner.force.coordinate.name}"
            elif isinstance(owner, QuadraticStrains):
                name = f"{body}: strain of element {owner.elements[place[0]]}"
            elif isinstance(owner, ElementStrains):
                name = f"{body}: element {place[0]}, point {place[1]}, {SIX[strain]}"
            else:
                n = owner.elastic_count
                name = f"{body}: eta {strain}" if strain < n else f"{body}: strain {strain - n}"
            found.append(f"{name}: branch {branch}")
    return found
