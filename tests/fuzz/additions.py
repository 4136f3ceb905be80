"""What some mechanisms have besides: capsules that are touched, wheels that roll, joints that lock and let go."""

import numpy as np

import phlexible as ph
from laws.cases import random_place
from laws.elements import Adding
from laws.models import Sample
from phlexible.errors import ModelError
from phlexible.initial.closure import undeformed
from phlexible.ports.attachments import Attachment
from phlexible.rank.redundancy import redundancies
from phlexible.system.system import system_of

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


def lock_or_release(rng: np.random.Generator, sample: Sample, duration: float) -> None:
    """A joint that locks, lets go, or both, on the grid of steps or between."""
    joints = [joint for joint in sample.model.joints if joint.coordinate_names]
    if not joints:
        return
    joint = joints[rng.integers(len(joints))]
    first, second = np.sort(rng.uniform(0.1, 0.9, 2)) * duration
    try:
        match rng.integers(3):
            case 0:
                sample.model.at(first, lock=joint)
            case 1:
                sample.model.at(first, release=joint)
            case 2:
                sample.model.at(second, release=sample.model.at(first, lock=joint))
    except ModelError:  # angles of some joints need orientations that points do not have
        return
