"""What some mechanisms have besides: capsules that are touched, wheels that roll, joints that lock and let go."""

from contextlib import suppress

import numpy as np

import phlexible as ph
from formulas import formula
from laws.cases import random_place
from laws.elements import Adding
from laws.models import Sample
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import Attachment
from phlexible.state.initial_velocity import undeformed
from phlexible.state.redundancy import redundancies
from phlexible.state.system import system_of

WHEEL = 0.1, 0.5  # radii, of the length of beams


def touch_a_piece(rng: np.random.Generator, sample: Sample, damped: bool) -> None:
    """A capsule between two points of one body, or of two, that a point or sphere of another touches."""
    adding = Adding(rng, sample)
    start, other = adding.ends(True)
    if start is None or start.placed is other.placed:
        return
    end = random_place(rng, start.placed.body, sample.scale, sample.model.dimension)(start.placed)
    reach = float(np.linalg.norm(end.initial_position() - start.initial_position()))
    if reach < 0.05 * sample.scale.length:
        return
    way = ph.Capsule(start, end, 1.0).gaps(other, sample.model.dimension)[0].coordinate.initial_value()
    if way < 0.05 * sample.scale.length:
        return
    depth, share = 0.01 * sample.scale.length * rng.uniform(), rng.uniform(0.1, 0.9)
    piece, radius = ph.Capsule(start, end, share * way), (1 - share) * way + depth
    law = {"stiffness": adding.stiffness, "damping": damped * adding.damping / (0.01 * sample.scale.length)}
    sample.model.apply(ph.Contact(other, piece, radius=radius, **law))


def push_by_state(rng: np.random.Generator, sample: Sample, damped: bool) -> None:
    """A stiffening force that is a function of the state, along the one coordinate of a joint or on a point."""
    model, adding = sample.model, Adding(rng, sample)
    text = "lambda time, x, v: -{stiffness} * (x - {rest}) * (1 + np.sum((x - {rest}) ** 2) / {size} ** 2)"
    text += " - {damping} * v"
    able = [joint for joint in model.joints if len(joint.coordinate_names) == 1 and _has_coordinate(joint)]
    size = adding.length
    if able and rng.integers(2):
        joint = able[rng.integers(len(able))]
        (name,) = joint.coordinate_names
        size = 1.0 if name.endswith("angle") else adding.length
        rest, on = joint.initial_coordinate(model.dimension, name), joint
    else:
        placed = model.bodies[rng.integers(len(model.bodies))]
        on = random_place(rng, placed.body, sample.scale, model.dimension)(placed)
        rest = on.initial_position()
    factor = (adding.length / size) ** 2
    gains = {"stiffness": factor * adding.stiffness, "damping": damped * factor * adding.damping}
    model.apply(ph.StateForce(formula(text, rest=rest, size=0.1 * size, **gains), of=[on], on=[on]))


def _has_coordinate(joint: Joint) -> bool:
    """Whether its ports have the orientations that angles need."""
    is_oriented = joint.first.has_orientation and joint.second.has_orientation
    return is_oriented or not joint.coordinate_names[0].endswith("angle")


def roll(rng: np.random.Generator, sample: Sample) -> bool:
    """A ball or wheel around a point of a body, on a plane of the ground; whether there is one."""
    model, dimension = sample.model, sample.model.dimension
    able = [placed for placed in model.bodies if placed.data.rotates]
    if not able:
        return False
    placed = able[rng.integers(len(able))]
    centre: Attachment = random_place(rng, placed.body, sample.scale, dimension)(placed)
    radius = sample.scale.length * rng.uniform(*WHEEL)
    normal = rng.normal(size=3) * (1, 1, dimension == 3)
    normal /= np.linalg.norm(normal)
    axis = None
    if rng.integers(2):
        axis = np.array([0.0, 0.0, 1.0]) if dimension == 2 else np.cross(normal, rng.normal(size=3))
    plane = ph.Plane(model.ground.at(centre.initial_position() - radius * normal), normal)
    rolling = model.connect(ph.Rolling(centre, plane, radius, axis=axis))
    system = system_of(model)
    if redundancies(system, undeformed(system)):  # held in all but one direction it jams as soon as it moves
        model.remove(rolling)
        return False
    return True


def switch_joints(rng: np.random.Generator, sample: Sample, duration: float) -> None:
    """One or two joints that lock and let go, once or again, on the grid of steps or between, or on a condition."""
    model = sample.model
    joints = [joint for joint in model.joints if joint.coordinate_names]
    if not joints:
        return
    joint, other = (joints[rng.integers(len(joints))] for _ in range(2))
    first, second, third = np.sort(rng.uniform(0.0, 0.9, 3)) * duration
    with suppress(ph.ModelError):  # angles of some joints need orientations that points do not have
        match rng.integers(7):
            case 0:
                model.at(first, lock=joint)
            case 1:
                model.at(first, release=joint)
            case 2:
                model.at(second, release=model.at(first, lock=joint))
            case 3:  # and again
                model.at(second, release=model.at(first, lock=joint))
                model.at(third, lock=joint)
            case 4:
                model.at(first, lock=joint)
                model.at(second, lock=other)
            case 5:
                model.at(_passing(rng, sample, other), lock=joint)
            case 6:
                model.at(second, release=model.at(_passing(rng, sample, other), lock=joint))


def _passing(rng: np.random.Generator, sample: Sample, joint: Joint) -> ph.When:
    """A coordinate of a joint passes a place close to where it is, or its rate one close to zero."""
    number = int(rng.integers(len(joint.coordinate_names)))
    name, step = joint.coordinate_names[number], float(sample.step)
    size = 1.0 if name.endswith("angle") else sample.scale.length
    side, way = ("above", "below")[rng.integers(2)], 1e-3 * size * rng.normal()
    if rng.integers(2):
        return ph.When(ph.JointRate(joint, number), **{side: way / step})
    place = joint.initial_coordinate(sample.model.dimension, name)
    return ph.When(ph.JointPosition(joint, number), **{side: place + way})
