"""A contact of two and a list of these two are one motion, whose forces are those of the coordinates of two."""

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


def path(t):
    return np.array((0.3 * t, 0.1 * np.sin(20 * t), 0.5 * t))


def turn(t):
    return Rotation.from_rotvec(np.multiply.outer(np.sin(5 * t), (0.2, -0.3, 0.4)))


def motions(toucher, surface, law, carrier, sides=(False, True)):
    """Of a ball, a point or a rope on ground, also such that moves, or a free body: a contact of two and a list."""
    found = []
    for is_listed in sides:
        model, turned = ph.Model(gravity=(0, 0, -G)), TURN if carrier == "body" else Rotation.identity()
        port = model.ground.moving(path, turn) if carrier == "frame" else model.ground.at((0, 0, 0))
        if carrier == "body":
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


def cases_on(*carriers):
    """Every case on one of the carriers, chosen so that each surface and each law is on all of them."""
    found = []
    for toucher, surface, law in cases():
        chosen = (SURFACES.index(surface) + list(LAWS).index(law)) % len(carriers)
        for k, carrier in enumerate(carriers):
            marks = () if k == chosen else pytest.mark.thorough
            found.append(pytest.param(toucher, surface, law, carrier, marks=marks))
    for part in (1, 2):
        usual = {(each.values[part], each.values[3]) for each in found if not each.marks}
        assert len(usual) == len({each.values[part] for each in found}) * len(carriers)
    return found


@pytest.mark.filterwarnings("ignore::phlexible.errors.SlackStringWarning")
@pytest.mark.parametrize(("toucher", "surface", "law", "carrier"), cases_on("ground", "body"))
def test_a_contact_of_two_is_a_list_of_two(toucher, surface, law, carrier):
    """In steps so short that they need no parts, which both ask for by rules of their own."""
    (_, one), (listed, other) = motions(toucher, surface, LAWS[law], carrier)
    assert listed.is_contact_group and one.contact_steps[-1] == other.contact_steps[-1] == 0
    assert one.recording.position == pytest.approx(other.recording.position, abs=1e-9)
    for name in ("dissipated", "spring"):
        ends = (getattr(each.energy, name)[-1] for each in (one, other))
        assert next(ends) == pytest.approx(next(ends), abs=1e-8), name


@pytest.mark.filterwarnings("ignore::phlexible.errors.SlackStringWarning")
@pytest.mark.parametrize(
    ("toucher", "surface", "law", "carrier"),
    [each for each in cases_on("ground", "body", "frame") if each.values[:2] != ("point", "box")],
)
def test_pairs_have_the_forces_and_energies_of_the_coordinates_of_two(toucher, surface, law, carrier):
    """At all instants; friction stores more."""
    [(contact, motion)] = motions(toucher, surface, LAWS[law], carrier, [False])
    run, forces = motion.run, motion.element_force(contact).reshape(len(motion.time), -1)
    laws = [force for element, force in run.system.forces if element is contact]
    thetas = [
        [force.coordinate.value(y) for y in run.system.coordinate_functions(force.coordinate).values(run.instants)]
        for force in laws
    ]
    stored = sum(np.array([law.energy(x) for x in theta]) for law, theta in zip(laws, thetas, strict=True))
    assert stored.max() > 1e-3
    if "friction" not in LAWS[law]:
        assert motion.energy.spring == pytest.approx(stored, rel=1e-9, abs=1e-12)
    else:
        assert (motion.energy.spring > stored - 1e-12).all()
    for own, theta, pushed in zip(laws, thetas, forces.T, strict=True):
        rates = np.gradient(theta, motion.time)
        known = [
            own.conservative_force(x) + own.dissipative_force(x, rate) for x, rate in zip(theta, rates, strict=True)
        ]
        damped = own.contact.restitution is not None  # by how fast they met
        assert pushed[[0, -1]] == pytest.approx(np.array(known)[[0, -1]], abs=0.02 * np.abs(forces).max())
        assert damped or pushed == pytest.approx(known, abs=0.02 * np.abs(forces).max())
    works = sum(np.abs(work).max() for work in motion.energy.work.values())
    assert (works > 1e-3) == (carrier == "frame" and surface != "piece")


def test_places_that_no_solid_of_the_other_side_touches_are_left_out():
    model = ph.Model()
    box = model.add(ph.RigidBody.box((0.2, 0.2, 0.2), 500.0), "box", position=(0, 0, 0.1))
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    table = ph.Surface(model.ground.at((0, 0, -0.1)), ph.Box((1, 1, 0.2)))
    for other, count in ((floor, 8), (table, 24)):  # corners, or places beside them
        own = [each for each in ph.Contact(box, other, stiffness=1e4).members() if each.owner == "box"]
        assert sum(each.start is each.end and not each.kind.is_solid for each in own) == count
