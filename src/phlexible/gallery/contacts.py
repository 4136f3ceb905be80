"""Models of the gallery: contact."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from phlexible.algebra.arrays import Array, finite, non_negative, positive, whole
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.material import Material
from phlexible.bodies.rigid_body import PointMass, RigidBody
from phlexible.bodies.rod import Rod
from phlexible.bodies.soft_body import SoftBody
from phlexible.bodies.soft_law import NeoHookean
from phlexible.bodies.string import String
from phlexible.bodies.string_law import LinearLaw
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.force_elements import SpringDamper
from phlexible.description.interactions.loads import Force
from phlexible.description.interactions.surfaces import Capsule, Plane, Surface
from phlexible.description.joints.joints import Fixed, Prismatic, Revolute, Spherical
from phlexible.elements.sections import RectangularSection
from phlexible.gallery.entries import ready_model, run_up, smooth_step, smoother_step
from phlexible.model import Model
from phlexible.shapes.solids import Box, Cylinder, Sphere, TriangleMesh

# A rope over a turning drum: friction carries the load.

WEIGHT, STIFFNESS, STRAIGHT, RISE = 10.0, 2e4, 0.1, 0.05  # [N], [N], [m], [s]
NODE = 1e4  # [N/m]


@ready_model(duration=0.2, step=2e-3)
def capstan(
    friction: float = 0.3,
    wrap: float = 3.141592653589793,
    radius: float = 0.1,
    drum_speed: float = 20.0,
    elements: int = 24,
) -> Model:
    """A load of 10 N on a rope over a drum that turns against it; the other end is held by little force.
    Build and return this ready model of the gallery, to be simulated or linearized. The force that is left
    depends on ``friction`` and the angle ``wrap`` along which the rope lies on the drum.

    The drum starts, rubs along the rope and takes most of the weight: the joint that holds the rope gets less and
    less, while the load stays where it is. Without friction it would hold all of it.

    Source: L. Euler, *Remarques sur l'effet du frottement dans l'equilibre*, Memoires de l'academie des sciences de
    Berlin 18 (1769).

    Reference: the tensions of both ends are as exp(friction wrap), here 2.57; 3.90 N are left, within 1 %.

    Shown by: ``phlexible run capstan``; ``motion.reaction(model.joint("held end"))`` is the force that is left.

    Args:
        friction: coefficient of rope and drum.
        wrap: angle along which the rope lies on the drum [rad].
        radius: of the drum [m].
        drum_speed: after 0.05 s [rad/s].
        elements: of the rope.
    """
    angle, around, count = positive("wrap", wrap), positive("radius", radius), whole("elements", elements, least=8)
    lies = around - WEIGHT * angle / (count * NODE)  # so deep in the groove it carries its tension
    bent = (angle * lies + 2 * STRAIGHT) / (count * lies)
    wound = lies * angle / (1 + bent**2 / 24)  # by chords, which are shorter than their arcs

    def shape(s: float) -> tuple[float, float, float]:
        """Return the initial position of the rope's point at arc length s [m]. The rope goes from the fixed end on
        the left over the top of the drum."""
        wound_angle = angle * float(np.clip((s - STRAIGHT) / wound, 0.0, 1.0))
        before, after = max(STRAIGHT - s, 0.0), max(s - STRAIGHT - wound, 0.0)
        x = -lies * np.cos(wound_angle) + after * np.sin(wound_angle)
        return float(x), float(lies * np.sin(wound_angle) + after * np.cos(wound_angle) - before), 0.0

    model = Model(gravity=(0.0, -10.0, 0.0), dimension=2)
    length, law = wound + 2 * STRAIGHT, LinearLaw(STIFFNESS)
    taut = 1.0 + WEIGHT / STIFFNESS
    rope = model.add(
        String(length / taut, 0.01, count, law, viscosity=2e-3, diameter=0.008),
        "rope",
        shape=lambda s: shape(taut * s),
    )
    load = model.add(PointMass(WEIGHT / 10.0), "load", position=shape(length))
    model.connect(Spherical(model.ground.at(shape(0.0)), rope.start, name="held end"))
    model.connect(Spherical(rope.end, load.origin))
    drum = model.add(RigidBody(1.0, 0.01, shape=Cylinder(around, 0.05)), "drum")
    bearing = model.connect(Revolute(model.ground.at((0.0, 0.0, 0.0)), drum.origin))
    speed = non_negative("drum_speed", drum_speed)

    model.apply(bearing.drive(angle=run_up(speed, RISE)))
    groove = Surface(drum.origin, Cylinder(around, 0.05))
    law_of_groove = {"stiffness": NODE, "damping": 1e6, "friction": non_negative("friction", friction)}
    model.apply(Contact(rope, groove, name="groove", **law_of_groove))
    return model


# Two flexible fingers that take a ball by friction and lift it.

GRAVITY, RADIUS, MASS, LENGTH, THICK = 9.81, 0.03, 0.1, 0.12, 4e-3
CLOSED, LIFTED = 0.3, 0.8  # [s]


def jaw_position(start: float, way: float) -> Callable[[float], float]:
    """Return a function of time, the prescribed position of a gripper's jaw. It moves smoothly from ``start`` by
    ``way`` [m] until the fingers are closed, and stays there."""
    return lambda time: start + way * smooth_step(time, 0.0, CLOSED)


@ready_model(duration=1.0, step=2e-3)
def gripper(
    friction: float = 0.5, squeeze: float = 8e-3, lift: float = 0.1, youngs_modulus: float = 2e9, elements: int = 5
) -> Model:
    """Two jaws press bending fingers on a ball of 0.1 kg that lies on a table, and lift it.
    Build and return this ready model of the gallery, to be simulated or linearized. ``friction`` is the
    coefficient of fingers and ball, ``squeeze`` the deflection of each finger [m], ``lift`` that of the hand
    [m]. ``youngs_modulus`` [Pa] and ``elements`` are those of each finger.

    The fingers close within 0.3 s, bend around the ball and lift it by friction until 0.8 s; with less friction it
    stays behind.

    Source: own model.

    Reference: it is held where twice friction times the force of a finger is more than its weight of 0.98 N. Of a
    cantilever of the length to the ball that force is 3 E I squeeze / length^3, 5.1 N; two pieces of each
    push with 5.2 N.

    Shown by: ``phlexible run gripper``, ``phlexible run gripper --set friction=0.1``.

    Args:
        friction: coefficient of fingers and ball.
        squeeze: of each finger [m].
        lift: of the hand [m].
        youngs_modulus: of the fingers [Pa].
        elements: of each finger.
    """
    top = RADIUS + LENGTH - 0.02  # of the jaws; fingers end 2 cm below the middle of the ball
    open_gap = RADIUS + THICK / 2 + 5e-3
    height, close = non_negative("lift", lift), non_negative("squeeze", squeeze)
    model = Model(gravity=(0.0, -GRAVITY, 0.0), dimension=2)
    law: dict[str, Any] = {
        "stiffness": 5e3,
        "damping": 2e4,
        "friction": non_negative("friction", friction),
    }

    def hand(time: float) -> Array:
        return np.array([0.0, top + height * smooth_step(time, CLOSED, LIFTED), 0.0])

    frame = model.ground.moving(hand)
    inertia = 0.4 * MASS * RADIUS**2
    ball = model.add(
        RigidBody(MASS, inertia, shape=Sphere(RADIUS)),
        "ball",
        position=(0.0, RADIUS - MASS * GRAVITY / law["stiffness"], 0.0),
    )
    table = Plane(model.ground.at((0.0, 0.0, 0.0)), normal=(0.0, 1.0, 0.0))
    model.apply(Contact(ball.origin, table, radius=RADIUS, name="table", **law))
    plastic = Material(positive("youngs_modulus", youngs_modulus), 1200.0, viscosity=1e-3)
    section = RectangularSection(width=THICK, height=0.02)
    for side, name in ((-1.0, "left"), (1.0, "right")):
        root = (side * open_gap, top, 0.0)
        jaw = model.add(RigidBody(0.2, 1e-4, shape=Box((0.02, 0.02, 0.02))), f"{name} jaw", position=root)
        rail = model.connect(Prismatic(frame, jaw.origin, axis=(1.0, 0.0, 0.0)))
        model.apply(rail.drive(position=jaw_position(root[0], -side * (close + 5e-3))))
        finger = model.add(
            Rod(LENGTH, section, plastic, elements=elements), f"{name} finger", position=root, rotation=-np.pi / 2
        )
        model.connect(Fixed(jaw.origin, finger.start))
        for a, b in list(pairwise(finger.nodes()))[-2:]:
            model.apply(Contact(ball.origin, Capsule(a, b, THICK / 2), radius=RADIUS, **law))
    return model


# A strip of rubber that is pressed on a surface and dragged along it, to and fro.

LOWERED, BLADE_THICKNESS = 0.1, 4e-3  # [s], [m]


@ready_model(duration=1.0, step=2e-3)
def wiper(
    friction: float = 0.6,
    press: float = 6e-3,
    sweep: float = 0.06,
    period: float = 1.0,
    elements: int = 8,
) -> Model:
    """A wiper blade of rubber, 40 mm long, whose holder is lowered to a pane and moves to and fro along it.
    Build and return this ready model of the gallery, to be simulated or linearized. The holder goes by ``sweep``
    to each side within each ``period``.

    The blade bends behind its holder and its lip rubs along; where the holder turns back the lip sticks until the
    blade has turned over to the other side, and snaps.

    Source: own model; friction sticks, the rod is geometrically exact.

    Reference: what the holder works against is lost in friction and in the rubber, and nowhere else: the balance of
    energy closes to 1e-12 of it.

    Shown by: ``phlexible run wiper``.

    Args:
        friction: coefficient of lip and pane.
        press: by which the holder is lower than the blade is long [m].
        sweep: to each side [m].
        period: of to and fro [s].
        elements: of order 2, of the blade.
    """
    length, radius = 0.04, BLADE_THICKNESS / 2
    low, wide, whole_turn = positive("press", press), non_negative("sweep", sweep), positive("period", period)
    start = length + radius + 1e-4

    def holder(time: float) -> Array:
        drop = (low + 1e-4) * smooth_step(time, 0.0, LOWERED)
        return np.array([wide * np.sin(2 * np.pi * time / whole_turn), start - drop, 0.0])

    model = Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    rubber = Material(youngs_modulus=5e6, density=1200.0, poissons_ratio=0.49, viscosity=2e-3)
    blade = model.add(
        Rod(length, RectangularSection(width=BLADE_THICKNESS, height=0.01), rubber, elements, order=2),
        "blade",
        position=(0.0, start, 0.0),
        rotation=-np.pi / 2,
    )
    model.connect(Fixed(model.ground.moving(holder), blade.start))
    pane = Plane(model.ground.at((0.0, 0.0, 0.0)), normal=(0.0, 1.0, 0.0))
    law = {
        "stiffness": 1200.0,
        "damping": 5e3,
        "friction": non_negative("friction", friction),
    }
    model.apply(Contact(blade, pane, radius=radius, name="pane", **law))
    return model


# Bodies that meet by whole surfaces: a run of dominoes, a ball bearing, a heap of balls.

DOMINO = np.array([8e-3, 48e-3, 24e-3])  # [m]
PUSHED = 0.06  # [s]


@ready_model(duration=0.5, step=2e-3)
def dominoes(count: int = 8, pitch: float = 0.02, friction: float = 0.3) -> Model:
    """Dominoes in the plane of their fall, the first of which is pushed.
    Build and return this ready model of the gallery, to be simulated or linearized. ``count`` is the number
    of dominoes, ``pitch`` the distance from one to the next [m], ``friction`` the coefficient between them
    and of the floor.

    Each knocks over the next one; the wave gets faster, until it hardly changes from one to the next. Boxes touch
    by their corners, on the floor and on each other.

    Source: W. J. Stronge, The domino effect: a wave of destabilizing collisions in a periodic array, Proceedings of
    the Royal Society of London A 409 (1987), for the wave.

    Reference: all lie down; the wave of the last ones takes about pitch / 0.9 m/s from one to the next.

    Shown by: ``phlexible run dominoes``.

    Args:
        count: of the dominoes.
        pitch: from one to the next [m].
        friction: coefficient of all of them and the floor.
    """
    number, apart = whole("count", count, least=2), positive("pitch", pitch)
    model = Model(gravity=(0.0, -GRAVITY, 0.0), dimension=2)
    body, stiffness = RigidBody.box(DOMINO, 1200.0), 2e3
    sunk = body.mass * GRAVITY / (2 * stiffness)
    placed = [
        model.add(body, f"domino {k + 1}", position=(k * apart, DOMINO[1] / 2 - sunk, 0.0)) for k in range(number)
    ]
    top = placed[0].point((0.0, 0.4 * DOMINO[1], 0.0))
    model.apply(
        Force(top, lambda time: np.array([0.05 if time < PUSHED else 0.0, 0.0, 0.0]), breakpoints=(PUSHED,))
    )
    floor = Plane(model.ground.at((0.0, 0.0, 0.0)), normal=(0.0, 1.0, 0.0))
    rough = non_negative("friction", friction)
    model.apply(Contact([*placed, floor], stiffness=stiffness, damping=2 * stiffness, friction=rough))
    return model


RACE, SQUEEZED, STARTED = 0.04, 2e-5, 0.05  # [m], [m], [s]


@ready_model(duration=0.2, step=1e-3)
def ball_bearing(balls: int = 24, ball_radius: float = 5e-3, friction: float = 0.2, speed: float = 20.0) -> Model:
    """A ball bearing without a cage in its plane: balls roll between a ring that turns and one that stays.
    Build and return this ready model of the gallery, to be simulated or linearized. ``balls`` is their
    number, ``ball_radius`` their radius [m], ``friction`` the coefficient of balls and rings, ``speed`` the
    angular velocity of the inner ring after 0.05 s [rad/s].

    The balls are a little too large for the gap, so that friction takes them along from the start.

    Source: own model.

    Reference: balls that roll go round with speed r / (r + R), r and R the radii of the rings, here 8.89 rad/s.

    Shown by: ``phlexible run ball-bearing``.

    Args:
        balls: how many.
        ball_radius: [m].
        friction: coefficient of balls and rings.
        speed: of the inner ring after 0.05 s [rad/s].
    """
    number, radius, spin = whole("balls", balls, least=2), positive("ball_radius", ball_radius), float(speed)
    model = Model(dimension=2)
    inner = model.add(RigidBody(1.0, 1e-3, shape=Cylinder(RACE, 0.01)), "inner ring")
    pin = model.connect(Revolute(model.ground.at((0.0, 0.0, 0.0)), inner.origin))
    body, out = RigidBody.sphere(radius, 7800.0), RACE + radius - SQUEEZED / 2
    turns = 2 * np.pi * np.arange(number) / number
    placed = [
        model.add(body, f"ball {k + 1}", position=(out * np.cos(a), out * np.sin(a), 0.0))
        for k, a in enumerate(turns)
    ]
    outer = Surface(model.ground.at((0.0, 0.0, 0.0)), Sphere(RACE + 2 * radius - SQUEEZED), inside=True)
    law: dict[str, Any] = {"stiffness": 2e4, "damping": 2e5, "friction": non_negative("friction", friction)}
    model.apply(Contact(placed, [*placed, inner, outer], **law))
    model.apply(pin.drive(angle=run_up(spin, STARTED)))
    return model


GRAIN, DENSE = 0.01, 2500.0  # [m], [kg/m3]


@ready_model(duration=0.4, step=2e-3)
def sand(side: int = 4, high: int = 6, friction: float = 0.4) -> Model:
    """A column of balls that collapses into a box twice as wide.
    Build and return this ready model of the gallery, to be simulated or linearized. ``side`` is the number of
    balls along each edge of the column, ``high`` that of its layers, ``friction`` the coefficient of balls
    and walls.

    Source: own model.

    Reference: the energy of the column is left in the balls, in contacts, or lost; the ledger closes to 1e-12.

    Shown by: ``phlexible run sand``, ``phlexible run sand --set friction=0.1``.

    Args:
        side: balls along each edge of the column.
        high: layers.
        friction: coefficient of balls and walls.
    """
    edge, layers = whole("side", side, least=1), whole("high", high, least=1)
    model, rng, pitch = Model(gravity=(0.0, 0.0, -GRAVITY)), np.random.default_rng(1), 2.1 * GRAIN
    grid = np.stack(np.meshgrid(np.arange(edge), np.arange(edge), np.arange(layers)), axis=-1).reshape(-1, 3)
    positions = pitch * (grid + 0.5) + rng.uniform(0.0, 0.1 * GRAIN, grid.shape)
    body = RigidBody.sphere(GRAIN, DENSE)
    grains = [model.add(body, f"grain {k + 1}", position=position) for k, position in enumerate(positions)]
    wide = 2 * edge * pitch
    box = Surface(model.ground.at((wide / 2, wide / 2, wide)), Box((wide, wide, 2 * wide)), inside=True)
    law: dict[str, Any] = {"stiffness": 1e3, "damping": 2e3, "friction": non_negative("friction", friction)}
    model.apply(Contact(grains, [*grains, box], **law))
    return model


# A driven pin that turns a wheel with slots, step by step.

PIN, BAR, CLEARANCE, BEFORE = 5e-3, 2e-3, 5e-6, 0.3  # [m], [m], [m], [rad]


@ready_model(duration=1.0, step=1e-3)
def geneva_drive(slots: int = 4, distance: float = 0.1, speed: float = 6.283185307179586) -> Model:
    """A Geneva drive in its plane: a pin enters a slot of a wheel, turns it by one step, and leaves it at rest.
    Build and return this ready model of the gallery, to be simulated or linearized. ``slots`` is the number
    of slots of the wheel, ``distance`` that of both axes [m], ``speed`` the angular velocity of the driver
    [rad/s].

    Pin and walls of the slots are a contact each with each, with little friction; while the pin is away friction of
    its bearing holds the wheel.

    Source: own model; the geometry is that of every such drive.

    Reference: while the pin is in a slot the wheel has the angle of the line from its centre to the pin, within
    0.1 % of a step; after a turn of the driver it has done one step. The wheel is at most sin(pi/slots) / (1 -
    sin(pi/slots)) times as fast as the driver, 2.414.

    Shown by: ``phlexible run geneva-drive``; ``motion.angle(model.joint("wheel bearing"))``.

    Args:
        slots: of the wheel, at least 3.
        distance: of both axes [m].
        speed: of the driver [rad/s].
    """
    number, apart, omega = whole("slots", slots, least=3), positive("distance", distance), positive("speed", speed)
    half = np.pi / number
    crank, reach = apart * np.sin(half), apart * np.cos(half)
    model = Model(dimension=2)
    arm = RigidBody(0.5, 1e-3, shape=Box((crank + 2 * PIN, 2 * PIN, PIN), center=(crank / 2, 0.0, -PIN)))
    driver = model.add(arm, "driver", rotation=half - np.pi / 2 - BEFORE)
    axle = (apart, 0.0, 0.0)
    wheel = model.add(
        RigidBody(0.2, 2e-4, shape=geneva_wheel(number, apart - crank - PIN, reach)), "wheel", position=axle
    )
    motor = model.connect(Revolute(model.ground.at((0.0, 0.0, 0.0)), driver.origin))
    bearing = model.connect(Revolute(model.ground.at(axle), wheel.origin, name="wheel bearing"))
    model.apply(motor.drive(angle=lambda time: omega * time))
    model.apply(bearing.friction(coulomb=0.02, bristle=200.0, bristle_damping=0.05))
    walls = []
    for k in range(number):
        turn = np.pi + half + 2 * half * k  # a slot points to where the pin comes from
        along, across = (np.array([np.cos(a), np.sin(a), 0.0]) for a in (turn, turn + np.pi / 2))
        for side in (1.0, -1.0):
            beside = side * (PIN + CLEARANCE + BAR) * across
            inner, outer = (wheel.point(length * along + beside) for length in (apart - crank - PIN, reach))
            walls.append(Capsule(inner, outer, BAR))
    pin = driver.point((crank, 0.0, 0.0))
    law: dict[str, Any] = {"stiffness": 2e5, "damping": 1e5, "friction": 0.05, "longest_part": 0.1}
    model.apply(Contact([pin], walls, radius=PIN, name="pin in slots", **law))
    return model


def geneva_wheel(slots: int, inner: float, reach: float) -> TriangleMesh:
    """Return the top and bottom faces of a Geneva wheel as a triangle mesh about z, without side faces. They are a
    round hub and a sector between each pair of neighbouring ``slots``. ``inner`` is the distance of the slots'
    inner ends from the axis, ``reach`` the outer radius [m]; the thickness is 5 mm, the radius of the pin."""
    wide, half = PIN + CLEARANCE, np.pi / slots
    arc = np.linspace(-half + wide / reach, half - wide / reach, 9)
    corner = wide / np.sin(half)
    sector = np.concatenate([[[corner, 0.0]], reach * np.stack([np.cos(arc), np.sin(arc)], axis=1)])
    around = np.linspace(0.0, 2 * np.pi, 24, endpoint=False)
    hub = (inner - wide) * np.stack([np.cos(around), np.sin(around)], axis=1)
    turns = np.pi + 2 * half * (np.arange(slots) + 1)
    outlines = [np.concatenate([[[0.0, 0.0]], hub])]
    for a in turns:
        outlines.append(sector @ np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]))
    positions, triangles, first = [], [], 0
    for k, outline in enumerate(outlines):
        count = len(outline)
        fan = np.array([[0, i, i + 1] for i in range(1, count - 1)] + ([[0, count - 1, 1]] if k == 0 else []))
        for height in (-PIN / 2, PIN / 2):
            positions.append(np.column_stack([outline, np.full(count, height)]))
            triangles.append(first + (fan if height > 0 else fan[:, ::-1]))
            first += count
    return TriangleMesh(np.concatenate(positions), np.concatenate(triangles))


# A cam whose surface is a mesh lifts a roller.

BASE, ROLLER = 0.05, 0.015  # [m]


def cam_lift(angle: Array, lift: float) -> Array:
    """Return the displacement of a cam's follower at cam angles [rad], between 0 and ``lift``, periodic in full
    turns. It rises in a third of a turn, rests a sixth, falls in a third and rests a sixth, by polynomials of
    degree 5."""
    part = np.mod(angle, 2 * np.pi) / (2 * np.pi / 3)
    up, down = np.clip(part, 0.0, 1.0), np.clip(part - 1.5, 0.0, 1.0)
    return np.asarray(lift * (smoother_step(up) - smoother_step(down)))


@ready_model(duration=0.5, step=1e-3)
def cam_follower(
    lift: float = 0.012, speed: float = 12.566370614359172, facets: int = 240, stiffness: float = 2e6
) -> Model:
    """A steel cam, a mesh of triangles, turns and lifts a roller on a stem, which a spring presses on it.
    Build and return this ready model of the gallery, to be simulated or linearized, with the greatest
    displacement ``lift`` of the stem and the angular velocity ``speed`` of the cam.

    The way of the stem is a polynomial of degree 5 of the angle, up and down with rests between; the flanks are
    hollow. Friction turns the roller.

    Source: own model; the cam is what the roller leaves of a disc.

    Reference: the stem goes as the polynomial says, within 0.1 % of the lift.

    Shown by: ``phlexible run cam-follower``; ``motion.position(model["stem"].origin)``.

    Args:
        lift: of the stem [m].
        speed: of the cam [rad/s].
        facets: of the cam around.
        stiffness: of the contact [N/m].
    """
    rise, omega, around = positive("lift", lift), positive("speed", speed), whole("facets", facets, least=24)
    model = Model(gravity=(0.0, -GRAVITY, 0.0))
    cam = model.add(RigidBody.from_mesh(*cam_surface(rise, around), 7800.0), "cam")
    shaft = model.connect(Revolute(model.ground.at((0.0, 0.0, 0.0)), cam.origin, axis=(0.0, 0.0, 1.0)))
    model.apply(shaft.drive(angle=lambda time: -omega * time))
    start = float(BASE + cam_lift(np.array(np.pi / 2), rise))
    stem = model.add(
        RigidBody.box((0.01, 0.1, 0.01), 2700.0, center=(0.0, 0.05, 0.0)), "stem", position=(0.0, start, 0.0)
    )
    model.connect(Prismatic(model.ground.at((0.0, 0.0, 0.0)), stem.origin, axis=(0.0, 1.0, 0.0), name="guide"))
    top = model.ground.at((0.0, start + 0.18, 0.0))
    model.apply(SpringDamper(top, stem.point((0.0, 0.1, 0.0)), stiffness=100.0, length=0.13))
    roller = model.add(RigidBody.sphere(ROLLER, 7800.0), "roller", position=(0.0, start, 0.0))
    model.connect(Revolute(stem.origin, roller.origin, axis=(0.0, 0.0, 1.0)))
    model.apply(Contact(roller, cam, stiffness=positive("stiffness", stiffness), damping=1e8, friction=0.2))
    return model


def cam_surface(lift: float, around: int) -> tuple[Array, Array]:
    """Return vertices (n, 3) [m] and triangles (t, 3) of a flat cam around the z axis on which a roller follows
    the displacement ``cam_lift``. The outline is offset by the roller's radius from the path of its centre.
    ``lift`` is the largest displacement [m], ``around`` the number of facets around the cam."""
    angle, small, thick = 2 * np.pi * np.arange(around) / around, 1e-5, 0.02

    def centre(a: Array) -> Array:
        return np.asarray((BASE + cam_lift(a, lift))[:, None] * np.stack([np.cos(a), np.sin(a)], axis=1))

    along = centre(angle + small) - centre(angle - small)
    out = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.linalg.norm(along, axis=1)[:, None]
    outline = centre(angle) - ROLLER * out
    positions = [np.column_stack([outline, np.full(around, z)]) for z in (-thick / 2, thick / 2)]
    middles = np.array([[0.0, 0.0, -thick / 2], [0.0, 0.0, thick / 2]])
    here, low = np.arange(around), np.full(around, 2 * around)
    after = (here + 1) % around
    triangles = [(here, after, after + around), (here, after + around, here + around)]
    triangles += [(after, here, low), (here + around, after + around, low + 1)]
    return np.concatenate([*positions, middles]), np.concatenate([np.stack(each, axis=1) for each in triangles])


# Two jaws that squeeze a soft block and lift it.

EDGE = 0.06  # [m]


@ready_model(duration=1.0, step=2e-3)
def soft_gripper(
    friction: float = 0.6,
    squeeze: float = 1.5e-3,
    lift: float = 0.05,
    youngs_modulus: float = 5e4,
    elements: int = 4,
) -> Model:
    """Two jaws close on a block of soft rubber on a table, squeeze it, and lift it by friction that sticks.
    Build and return this ready model of the gallery, to be simulated or linearized. Each jaw moves by
    ``squeeze``, the hand that carries them by ``lift``.

    In its plane, plane strain. The block bulges between the jaws and hangs through a little.

    Source: own model.

    Reference: each jaw carries half of the weight of 2.119 N, and the block stays where it is in them. With less
    friction than half of the weight over the force of a jaw, 7.97 N, it stays behind.

    Shown by: ``phlexible run soft-gripper``, ``phlexible run soft-gripper --set friction=0.1``.

    Args:
        friction: coefficient of jaws, table and block.
        squeeze: of each jaw [m].
        lift: of the hand [m].
        youngs_modulus: of the rubber [Pa].
        elements: of the block along each edge.
    """
    from skfem import MeshQuad

    count, close, high = whole("elements", elements), non_negative("squeeze", squeeze), non_negative("lift", lift)
    model, half, gap = Model(gravity=(0.0, -GRAVITY, 0.0), dimension=2), EDGE / 2, 2e-3
    grid = np.linspace(-half, half, count + 1)
    mesh = MeshQuad.init_tensor(grid, grid + half)
    law = NeoHookean(positive("youngs_modulus", youngs_modulus), 0.3)
    rubber = SoftBody(mesh, law, 1000.0, EDGE, plane="strain", order=1, viscosity=5e-3)
    block = model.add(rubber, "block")
    hand = model.ground.moving(lambda time: np.array([0.0, half + high * smooth_step(time, CLOSED, LIFTED), 0.0]))
    jaws, width = [], 0.01
    for side, name in ((-1.0, "left jaw"), (1.0, "right jaw")):
        position = (side * (half + gap + width / 2), half, 0.0)
        jaws.append(model.add(RigidBody.box((width, 0.08, EDGE), 2000.0), name, position=position))
        rail = model.connect(Prismatic(hand, jaws[-1].origin, axis=(1.0, 0.0, 0.0), name=f"rail of the {name}"))
        model.apply(rail.drive(position=jaw_position(position[0], -side * (gap + close))))
    table = Plane(model.ground.at((0.0, 0.0, 0.0)), normal=(0.0, 1.0, 0.0))
    stiffness = 2e4 / (count + 1)  # nodes of the block stay in the near half of the jaws
    touch: dict[str, Any] = {"stiffness": stiffness, "damping": 5 * stiffness}
    model.apply(Contact(block, [*jaws, table], friction=non_negative("friction", friction), **touch))
    return model


# A rope that goes many times around a drum.

PITCH, ROPE_STIFFNESS, GROOVE = 0.012, 2e4, 1e4  # [m], [N], [N/m]


@ready_model(duration=0.3, step=2e-3)
def windlass(
    turns: float = 3.0, friction: float = 0.15, radius: float = 0.05, drum_speed: float = 20.0, elements: int = 20
) -> Model:
    """A rope of three turns around a drum that turns against a load of 20 N: the other end holds 1.2 N.
    Build and return this ready model of the gallery, to be simulated or linearized. ``turns`` is the number of
    turns of the rope, ``friction`` the coefficient of rope and drum.

    The rope lies in a helix, along which all of it slides once the drum turns.

    Source: L. Euler, *Remarques sur l'effet du frottement dans l'equilibre*, Memoires de l'academie des sciences de
    Berlin 18 (1769); along a helix the rope turns by c angle, c the cosine of its slope.

    Reference: what is left is 20 N exp(-c friction 2 pi turns) = 1.186 N, within 0.5 % with ``elements=60``; a
    polygon of 20 sides rubs a little more, and leaves 3 % less.

    Shown by: ``phlexible run windlass``; ``motion.reaction(model.joint("held end"))`` is the force that is left.

    Args:
        turns: of the rope around the drum.
        friction: coefficient of rope and drum.
        radius: of the drum [m].
        drum_speed: after 0.05 s [rad/s].
        elements: of the rope for one turn.
    """
    around, wrap = positive("radius", radius), 2 * np.pi * positive("turns", turns)
    slope = PITCH / (2 * np.pi * around)
    count = max(round(wrap / (2 * np.pi) * whole("elements", elements, least=12)), 1)

    def place(angle: float) -> Array:
        return around * np.array([np.cos(angle), np.sin(angle), slope * angle])

    def tangent(angle: float) -> Array:
        return np.asarray(np.array([-np.sin(angle), np.cos(angle), slope]) / np.hypot(1.0, slope))

    chord = float(np.linalg.norm(place(wrap / count) - place(0.0)))
    free = int(np.ceil(STRAIGHT / chord))
    nodes = [place(0.0) - chord * k * tangent(0.0) for k in range(free, 0, -1)]
    nodes += [place(wrap * k / count) for k in range(count + 1)]
    nodes += [place(wrap) + chord * k * tangent(wrap) for k in range(1, free + 1)]
    model, number = Model(), len(nodes) - 1
    law = LinearLaw(ROPE_STIFFNESS)
    rope = model.add(
        String(number * chord, 0.2, number, law, viscosity=2e-3, diameter=4e-3), "rope", shape=np.array(nodes)
    )
    model.connect(Spherical(model.ground.at(nodes[0]), rope.start, name="held end"))
    pull = 2 * WEIGHT * tangent(wrap)
    model.apply(Force(rope.end, lambda time: min(time / RISE, 1.0) * pull, breakpoints=(RISE,), name="load"))
    long = PITCH * wrap / (2 * np.pi)
    shape = Cylinder(around - 2e-3, 1.5 * long, center=(0.0, 0.0, long / 2))  # the rope lies on it
    drum = model.add(RigidBody(1.0, (1e-2, 1e-2, 1e-2), shape=shape), "drum")
    bearing = model.connect(Revolute(model.ground.at((0.0, 0.0, 0.0)), drum.origin, axis=(0.0, 0.0, 1.0)))
    speed = non_negative("drum_speed", drum_speed)
    model.apply(bearing.drive(angle=run_up(-speed, RISE)))
    groove = Surface(drum.origin, Cylinder(around, long))
    law_of_groove = {"stiffness": GROOVE, "damping": 2e5, "friction": non_negative("friction", friction)}
    model.apply(Contact(rope, groove, name="groove", **law_of_groove))
    return model


# A meshed bracket that is dropped on its corners.

BRACKET_LEG, BRACKET_WIDTH, BRACKET_THICKNESS = 0.16, 0.04, 0.01  # [m]


@ready_model(duration=0.4, step=1e-3)
def dropped_bracket(
    height: float = 0.1, tilt: float = 0.35, youngs_modulus: float = 2e9, elements: int = 8, modes: int = 6
) -> Model:
    """A plastic bracket, an L of hexahedra, falls on a floor and rings: what it touches with excites its shapes.
    Build and return this ready model of the gallery, to be simulated or linearized. It starts with its heel at
    the ``height`` above the floor, turned by the angle ``tilt``.

    The ends of both legs and its heel are interfaces, in two halves each, whose answers to forces the body keeps;
    they touch as balls of half its thickness.

    Source: own model.

    Reference: the ledger closes to 1e-12; at the first impact more than a tenth of the energy is in the shapes.

    Shown by: ``phlexible run dropped-bracket``.

    Args:
        height: of its heel [m].
        tilt: about y [rad].
        youngs_modulus: [Pa].
        elements: along each leg.
        modes: lowest modes that are kept beside the answers to forces.
    """
    from skfem import MeshHex

    along = np.linspace(BRACKET_THICKNESS, BRACKET_LEG, whole("elements", elements) + 1)
    across = np.linspace(-BRACKET_WIDTH / 2, BRACKET_WIDTH / 2, 3)
    thick = np.array([0.0, BRACKET_THICKNESS])
    lying = MeshHex.init_tensor(np.concatenate([[0.0], along]), across, thick)
    standing = MeshHex.init_tensor(thick, across, along)
    ends = {
        "toe": lambda x: x[0] > BRACKET_LEG - 1e-9,
        "heel": lambda x: (x[0] < 1e-9) & (x[2] < BRACKET_THICKNESS + 1e-9),
        "top": lambda x: x[2] > BRACKET_LEG - 1e-9,
    }
    patches = {
        f"{side} {name}": half_face_selector(end, sign)
        for name, end in ends.items()
        for side, sign in (("left", 1.0), ("right", -1.0))
    }
    plastic = Material(positive("youngs_modulus", youngs_modulus), 1200.0, 0.35, viscosity=1e-5)
    body = FlexibleBody.from_mesh(lying + standing, plastic, patches, modes=whole("modes", modes, 0))
    model, turn = Model(gravity=(0.0, 0.0, -GRAVITY)), finite("tilt", tilt)
    turned = np.array([[np.cos(turn), 0.0, np.sin(turn)], [0.0, 1.0, 0.0], [-np.sin(turn), 0.0, np.cos(turn)]])
    position = (0.0, 0.0, positive("height", height))
    bracket = model.add(body, "bracket", position=position, rotation=turned)
    floor = Plane(model.ground.at((0.0, 0.0, 0.0)))
    touch = {"stiffness": 2e4, "damping": 2e4, "friction": 0.3, "radius": BRACKET_THICKNESS / 2}
    model.apply(Contact([bracket[each] for each in patches], floor, name="floor", **touch))
    return model


def half_face_selector(end: Callable[[Array], Array], sign: float) -> Callable[[Array], Array]:
    """Return a function that selects, of the mesh nodes of an end face, those on one side of its middle y = 0. The
    side is y >= 0 for ``sign`` 1 and y <= 0 for -1, within 1e-9, so that nodes in the middle belong to both. Both
    this function and ``end``, which selects the nodes of the whole face, take all positions x (3, k) and return
    True or False for each, shape (k,)."""
    return lambda x: end(x) & (sign * x[1] > -1e-9)
