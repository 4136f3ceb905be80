"""A contact of two and a list of these two are one motion, for every shape and law that both have."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph

G, R = 9.81, 0.05
TURN = Rotation.from_rotvec((0.3, -0.2, 0.5))


def surfaces(port, turned):
    """Each with the height of its top over the port."""
    up = turned.apply((0, 0, 1))
    own = getattr(port, "placed", None)
    ends = [np.array((x, 0, 0.0)) for x in (-0.2, 0.2)]
    piece = [port.initial_position() + turned.apply(end) for end in ends]
    return {
        "plane": (ph.Plane(port, up), 0.0),
        "ball": (ph.Surface(port, ph.Sphere(0.1)), 0.1),
        "bowl": (ph.Surface(port, ph.Sphere(0.3), inside=True), -0.3),
        "log": (ph.Surface(port, ph.Cylinder(0.1, 1.0, axis=(1, 0, 0))), 0.1),
        "tube": (ph.Surface(port, ph.Cylinder(0.3, 1.0, axis=(1, 0, 0)), inside=True), -0.3),
        "box": (ph.Surface(port, ph.Box((0.4, 0.3, 0.2))), 0.1),
        "walls": (ph.Surface(port, ph.Box((0.8, 0.8, 0.4)), inside=True), -0.2),
        "piece": (ph.Capsule(*map(own.point if own else ph.Model().ground.at, ends if own else piece), 0.1), 0.1),
    }


SURFACES = tuple(surfaces(ph.Model().ground.at((0, 0, 0)), Rotation.identity()))
LAWS = {
    "lossless": {"restitution": 1},
    "Hertz that settles": {"exponent": 1.5, "stiffness": 1e5},
    "damped": {"damping": 3e3},
    "sticks": {"restitution": 1, "friction": 0.3, "static_friction": 0.4},
    "creeps": {"restitution": 1, "friction": 0.3, "bristle": 0, "friction_speed": 0.05},
    "rolls and drills": {"restitution": 1, "friction": 0.3, "rolling": 5e-3, "drilling": 5e-3},
}

LIMITS = {"sticks": 1e-5, "rolls and drills": 5e-5}
"""Bristles stay along a surface that turns by different rules of the same order."""


def motions(toucher, surface, law, is_free):
    """Of a ball, a point or a rope on the ground or on a free body, as a contact of two and as a list."""
    found = []
    for is_listed in (False, True):
        model, turned = ph.Model(gravity=(0, 0, -G)), TURN if is_free else Rotation.identity()
        port = model.ground.at((0, 0, 0))
        if is_free:
            low = ph.RigidBody(2.0, (0.02, 0.03, 0.04))
            port = model.add(
                low, "low", rotation=turned, velocity=(0, 0, 1.0), angular_velocity=(0.3, 0.2, -0.4)
            ).origin
        touched, top = surfaces(port, turned)[surface]
        radius = 0.0 if toucher == "point" else R
        place = turned.apply((0.01, 0.02, top + radius + 0.005))
        moving = {"velocity": (0.3, 0.1, -1.0)}
        if toucher == "rope":
            rope = ph.String(0.1, 9.0, 2, ph.LinearLaw(1e3))
            body = model.add(rope, "body", shape=[place - (0.05, 0, 0), place + (0.05, 0, 0)], **moving)
            first = body
        else:
            shape = ph.RigidBody(0.3, (3e-4,) * 3)
            body = model.add(shape, "body", position=place, angular_velocity=(1.0, 2.0, 3.0), **moving)
            first = body.origin
        options = {"stiffness": 1e4, "longest_part": 10.0, **law}
        sides = ([first], [touched]) if is_listed else (first, touched)
        contact = model.apply(ph.Contact(*sides, radius=radius, **options))
        motion = model.simulate(0.04, 2e-4, progress=False)
        assert abs(motion.energy.balance_error).max() < 1e-11
        found.append((contact, motion))
    return found


def cases():
    """Turns are of spheres; lines of two touch round ones by their nodes."""
    for toucher in ("ball", "point", "rope"):
        for surface in SURFACES:
            for law, options in LAWS.items():
                is_line = toucher == "rope" and surface in ("ball", "piece")
                has_turns = toucher == "ball" and surface != "piece"
                if not is_line and (has_turns or "rolling" not in options):
                    yield toucher, surface, law


@pytest.mark.filterwarnings("ignore::phlexible.errors.SlackStringWarning")
@pytest.mark.parametrize("is_free", [False, True], ids=["on the ground", "on a free body"])
@pytest.mark.parametrize(("toucher", "surface", "law"), tuple(cases()))
def test_a_contact_of_two_is_a_list_of_two(toucher, surface, law, is_free):
    """In steps so short that they need no parts, which both ask for by rules of their own."""
    (_, one), (listed, other) = motions(toucher, surface, LAWS[law], is_free)
    assert listed.is_searched and one.contact_steps[-1] == other.contact_steps[-1] == 0
    most = LIMITS.get(law, 1e-8)
    if surface == "piece":
        most = max(most, 2e-6)  # of lists with a term for what is parallel
    assert one.recording.position == pytest.approx(other.recording.position, abs=most)
    for name in ("dissipated", "spring"):
        ends = (getattr(each.energy, name)[-1] for each in (one, other))
        assert next(ends) == pytest.approx(next(ends), abs=10 * most), name


def test_places_that_no_solid_of_the_other_side_touches_are_left_out():
    model = ph.Model()
    box = model.add(ph.RigidBody.box((0.2, 0.2, 0.2), 500.0), "box", position=(0, 0, 0.1))
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    table = ph.Surface(model.ground.at((0, 0, -0.1)), ph.Box((1, 1, 0.2)))
    for other, count in ((floor, 8), (table, 24)):  # corners, or places beside them
        own = [each for each in ph.Contact(box, other, stiffness=1e4).members() if each.owner == "box"]
        assert sum(each.start is each.end and not each.kind.is_solid for each in own) == count
