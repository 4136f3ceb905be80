"""Forces and moments in joints, and tensions of strings, over time (docs/theory.md, 8)."""

from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.number_tape import exceeds
from phlexible.algebra.rotations import cross
from phlexible.bodies.absolute_body import AbsoluteBody, QuadraticStrains
from phlexible.bodies.locations import Node
from phlexible.bodies.string import String
from phlexible.bodies.string_law import StringLaw, TensionOnly
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.functions import LengthCoordinate, PiecesCoordinate, Vector, WorldAxis
from phlexible.description.interactions.tendon import Tendon
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.relations import JointRelation
from phlexible.description.joints.sliding import Sliding
from phlexible.description.ports import Attachment, PlacedBody, Port
from phlexible.errors import ModelError
from phlexible.measure.kinematics import coordinate_values
from phlexible.state.branches import flows, string_branch_stresses
from phlexible.state.functions import vector_functions_of_rows
from phlexible.state.recorded_run import RecordedRun

# What joints transmit: the force lambda dg/dx on each vector x ((8.3); docs/theory.md, 8).


def element_force(run: RecordedRun, element: ForceElement | Drive | JointRelation) -> Array:
    """Return the force of ``element`` (spring, damper, motor, drive or joint relation) along its coordinate at all
    instants of a run [N or N m]. Its shape is (instants,) or (instants, forces) for several forces. It is positive
    if it increases the coordinate, so negative for a stretched spring. For drives and relations it is the
    multiplier. ModelError is raised for contact groups and unknown elements.

    Raises:
        ModelError: it is not part of the model.
    """
    for index, owner in enumerate(run.system.owners):
        if owner.joint is element and not isinstance(element, Joint):
            return run.multipliers[:, index].copy()
    own = [k for k, each in enumerate(run.system.forces) if element in (each.element, each.element.driven)]
    if isinstance(element, Contact) and element.is_contact_group:
        what = "no force along a coordinate; put the surface on a body, and take motion.reaction of what holds this"
        raise ModelError(f"{element} has {what}")
    if not own:
        raise ModelError(f"element must be applied in this model, got {element!r}")
    forces = run.recording.forces[:, own]
    return forces[:, 0].copy() if len(own) == 1 else forces


def tendon_tension(run: RecordedRun, tendon: Tendon) -> Array:
    """Return the tension of a tendon at all instants of a run, with its damper, shape (instants,) [N]. A tendon
    with friction on its guides has a tension in each piece between two guides, returned without the damper, shape
    (instants, pieces).

    Raises:
        ModelError: it is not part of the model.
    """
    force = element_force(run, tendon)
    owned = (tendon in (each.element, each.element.driven) for each in run.system.forces)
    number = next(k for k, is_owned in enumerate(owned) if is_owned)
    law = run.system.forces[number].force
    coordinate = law.coordinate
    y = run.system.coordinate_functions(coordinate).values(run.instants).T
    assert isinstance(coordinate, LengthCoordinate), "of tendons"
    if isinstance(coordinate, PiecesCoordinate) and law.contact:
        now = zip(y.T, flows(run.system, run.recording.branches)[number], strict=True)
        parts = [coordinate.at_history(own).stretches(values) for values, own in now]
        return np.array([law.contact.stiffness * coordinate.scale * stretch / rest for stretch, rest in parts])
    return np.asarray(-force * coordinate.length_derivative(y))


def drive_forces(run: RecordedRun, joint: Joint) -> Array:
    """Return the forces or torques that the drives of a joint need to follow their prescribed functions of time in
    a run. Their shape is (instants,) or, for several drives, (instants, drives) [N or N m], in the order of the
    joint's coordinates. ModelError is raised for a joint without drives.

    Raises:
        ModelError: a joint of another model, or one that no drive moves.
    """
    here = run.mechanism.joints[run.joint_index(joint)]
    drives = [drive for drive in run.mechanism.drives if drive.joint is here]
    if not drives:
        raise ModelError(
            f"no drive moves {joint!r}: model.apply(joint.drive(angle=...)); what a joint transmits is"
            " motion.reaction(joint) and motion.reaction_moment(joint)"
        )
    names = list(here.coordinate_names)
    drives.sort(key=lambda drive: names.index(drive.coordinate))
    forces = [element_force(run, drive) for drive in drives]
    return forces[0] if len(drives) == 1 else np.stack(forces, axis=1)


def reaction(run: RecordedRun, joint: Joint) -> tuple[Array, Array]:
    """Return the force [N] and the moment [N m] that a joint with its drives exerts on the body of its second
    point. Each has the shape (instants, 3), in world axes at all instants of a run. The moment is about the second
    point. Both are sums of constraint gradients times the recorded multipliers.

    Returns:
        World axes, about the attachment's point, each of shape (N + 1, 3).
    """
    here = run.mechanism.joints[run.joint_index(joint)]
    layout, system, second = run.system.layout, run.system, here.second
    nodal = second.placed.data if isinstance(second, Attachment) else None
    if isinstance(second, Attachment) and isinstance(nodal, AbsoluteBody):
        index = run.body_index(second.placed)
        point, first = run.elastic(index) @ second.point.shapes.T, int(layout.carrier[index])
    force: Array = np.zeros((run.count, 3))
    moment: Array = np.zeros((run.count, 3))
    for number, part in enumerate(system.constraints):
        if part is not here and not (isinstance(part, Drive) and part.joint is here):
            continue
        begin, end = int(layout.multiplier[number]), int(layout.multiplier[number + 1])
        rows = [system.owners[k].row for k in range(begin, end)]
        functions = system.constraint_functions(rows)
        pulls = functions.forces(run.instants, run.multipliers[:, begin:end])
        positions = functions.set.values(run.instants)
        numbers = {vector.key: k for k, vector in enumerate(functions.set.vectors)}
        terms = (term for function in vector_functions_of_rows(rows)[0] for term in function.terms)
        mine = (vector for term in terms for vector in term.vectors() if is_attached_to(vector, second))
        for k in {numbers[carried.key] for vector in mine for _, carried in system.resolver.parts(vector)}:
            if isinstance(nodal, AbsoluteBody):  # nodes that share the force, and directors, which have no position
                node = functions.set.vectors[k].carrier - first
                share = 1.0 if nodal.moves is None else nodal.moves[node]
                force = force + share * pulls[:, k]
                moment = moment + cross(positions[:, k] - share * point, pulls[:, k])
            elif functions.set.vectors[k].is_point:
                force = force + pulls[:, k]
            else:
                moment = moment + cross(positions[:, k], pulls[:, k])
    return force, moment


def is_attached_to(vector: Vector, port: Port) -> bool:
    """Return whether a ``vector`` in a constraint function is a point or direction fixed to the given ``port``. A
    port is a point of a body or of the ground. If it is a clamped or hinged edge of a shell, points and directions
    of the edge's nodes count too. Constant world axes never count."""
    if isinstance(vector, WorldAxis) or vector.port is port:
        return not isinstance(vector, WorldAxis)
    own = vector.port
    if not isinstance(port, Attachment) or not isinstance(own, Attachment) or own.placed is not port.placed:
        return False
    return own.location in {Node(number) for number in port.point.fixed_nodes}


# Stretch and tension of strings over time, and whether parts of them were slack.

SLACK = 1e-2  # a part is slack where it is pressed by more than this part of the largest tension
ROUND_OFF = 1e-9  # of EA: tensions that are none
SAMPLES = 65  # of the strains, in which the law is looked at
CHUNK_VALUES = 4_000_000
"""About this many numbers are held at a time."""


class SlackPart(NamedTuple):
    """First slack element of a string: name of the string, index of the element, and the time from which it is
    slack [s].
    """

    name: str
    element: int
    time: float

    @property
    def text(self) -> str:
        """Warning message that names the slack element of a string and the time from which it is slack."""
        return (
            f"{self.name}: element {self.element} is slack from t = {self.time:.4g} s on; energy and "
            "momenta stay exact, but slack parts have no unique limit as step and mesh are refined: "
            "a real string has some bending stiffness or viscosity there"
        )


def stretch(run: RecordedRun, placed: PlacedBody) -> Array:
    """Return the stretch of a string ``placed`` in a model (deformed over undeformed length) at its quadrature
    points, in order from its start. It is given at all instants of a run, shape (instants, points).

    Raises:
        ModelError: a body that is not a string.
    """
    return np.concatenate([np.sqrt(C) for _, C in _strains(run, placed)], axis=1)


def tension(run: RecordedRun, placed: PlacedBody) -> Array:
    """Return the tension [N], positive in pull, of a string (``placed``) at its quadrature points at all instants
    of a run, shape (instants, points). It is the sum of elastic, viscous and viscoelastic parts. ModelError is
    raised for a body that is not a string.

    Raises:
        ModelError: a body that is not a string.
    """
    from phlexible.bodies.mechanics.absolute import strain_rates

    found = [group.law.tension(C) for group, C in _strains(run, placed)]
    pulls = string_branch_stresses(run.system, run.body_index(placed, "string"), run.recording.branches)
    for own, (group, C), pull in zip(found, _strains(run, placed), pulls, strict=True):
        if group.relaxation:
            own += 2 * pull * np.sqrt(C)
        if group.viscosity:
            index = run.system.index[placed]
            shape = run.count, -1, run.system.dimension
            rates = run.velocities[:, run.system.layout.span(index)].reshape(shape)
            changes = strain_rates(group, run.elastic(index).reshape(shape), rates)
            own += 2 * group.viscosity * group.law.viscous_modulus(C) * changes * np.sqrt(C)
            if isinstance(group.law, TensionOnly):
                own *= exceeds(own, 0.0)
    if not found:
        raise ModelError(f"{placed.name} is not a string and has no tension; ask for its stress")
    return np.concatenate(found, axis=1)


UNEVEN = 0.02
"""Share of their sum by which tensions before and behind what slides along a string may differ."""


def slack_parts(run: RecordedRun) -> list[SlackPart]:
    """Return, for each string of a run that becomes slack, its first slack element and the time from which it is
    slack. Slack means compressed by more than a hundredth of the largest tension. The list is empty for models of
    dimension one."""
    found: list[SlackPart] = []
    if run.system.dimension == 1:
        return found
    for placed in run.system.bodies:
        if placed.nodes is None:
            continue
        pulls = string_branch_stresses(run.system, run.system.index[placed], run.recording.branches)
        for (group, C), pull in zip(_strains(run, placed), pulls, strict=True):
            if group.relaxation:
                N = group.law.tension(C) + 2 * pull * np.sqrt(C)
                is_slack = N < -max(SLACK * float(np.abs(N).max()), ROUND_OFF * group.law.modulus)
            else:
                threshold = _slack_strain(group.law, float(C.min()), float(C.max()))
                is_slack = C < (-np.inf if threshold is None else threshold)
            if is_slack.any():
                instant, index = np.argwhere(is_slack)[0]
                time = float(run.recording.time[instant])
                found.append(SlackPart(placed.name, int(group.elements[index]), time))
    return found


def sliders_out_of_balance(run: RecordedRun) -> list[str]:
    """Return a warning message for each point that slides along a string and rests at a wrong position, stopped by
    a node of the string. There the tensions one element before and behind the point differ by more than the
    string's weight and a tolerance explain. Only equilibria and points on which nothing acts along the string are
    checked."""
    found = list[str]()
    acted = [getattr(part, "joint", None) for part in (*run.mechanism.elements, *run.mechanism.drives)]
    for joint in run.mechanism.joints if run.is_at_rest else ():
        if not isinstance(joint, Sliding) or joint in acted or not isinstance(placed := joint.line, PlacedBody):
            continue
        if not isinstance(string := placed.body, String):
            continue
        (coordinate,) = joint.coordinates(run.system.dimension)
        position, size = float(coordinate_values(run, joint, coordinate)[-1]), string.mesh.element_length
        pulls = tension(run, placed)[-1]
        points = run.elastic(run.system.index[placed])[-1].reshape(-1, run.system.dimension)
        places = (np.arange(len(pulls)) + 0.5) / len(pulls) * string.length
        before, behind = np.flatnonzero(places < position - size), np.flatnonzero(places > position + size)
        if not len(before) or not len(behind):
            continue
        ends = [before[-1], behind[0]]
        rise = [np.ptp(np.interp(places[ends], string.mesh.nodes, own)[::-1]) for own in points.T]
        weight = placed.data.mass / string.length * np.abs(run.mechanism.gravity[: len(rise)]) @ rise
        one, two = pulls[ends]
        if abs(one - two) - weight > UNEVEN * (one + two):
            found.append(
                f"{joint.slider} slides along {placed.name} and rests beside its true place: the tension is"
                f" {one:.4g} N before and {two:.4g} N behind it, although nothing acts along the string. A string"
                " bends at its nodes only, each of which holds what slides; take a thin Rod in place of the string"
            )
    return found


def _slack_strain(law: StringLaw, lowest: float, highest: float) -> float | None:
    """Return the squared stretch of a string with this ``law`` below which the string counts as slack. There the
    compression is a hundredth of the largest absolute tension; the root is found by samples and Brent's method.
    Return None if no sample between ``lowest`` and ``highest``, the range of the squared stretch in the run, is
    compressed that much."""
    from scipy.optimize import brentq  # here: it takes long to import

    strains = np.linspace(lowest, highest, SAMPLES)
    tensions = law.tension(strains)
    limit = -max(SLACK * float(np.abs(tensions).max()), ROUND_OFF * law.modulus)
    pressed = np.flatnonzero(tensions < limit)
    if not len(pressed):
        return None
    last = int(pressed[-1])
    if last == SAMPLES - 1:
        return float(np.nextafter(highest, np.inf))
    root: float = brentq(lambda C: float(law.tension(C)) - limit, strains[last], strains[last + 1])
    return max(root, float(np.nextafter(lowest, np.inf)))


def _strains(run: RecordedRun, placed: PlacedBody) -> list[tuple[QuadraticStrains, Array]]:
    """Return the squared stretch (current over undeformed length) of a string (``placed``) at its quadrature
    points at all instants of a run. The result is a list of pairs: group of quadrature points with one elastic
    law, and values of shape (instants, points). ModelError is raised for other bodies, whose tension is a section
    force."""
    from phlexible.bodies.mechanics.absolute import strain_values

    index = run.body_index(placed, "string")
    data = run.system.bodies[index].data
    if not isinstance(data, AbsoluteBody):
        raise ModelError(
            f"{run.system.bodies[index].name} is not a string and has no tension; ask for its section forces"
        )
    nodes = run.elastic(index).reshape(run.count, -1, data.dimension)
    step = max(1, CHUNK_VALUES // (6 * data.node_count))
    chunks = [nodes[k : k + step] for k in range(0, run.count, step)]
    return [(group, np.concatenate([strain_values(group, c) for c in chunks])) for group in data.strains]
