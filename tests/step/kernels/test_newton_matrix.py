"""Newton's matrix is the exact derivative of the residual, for every body, joint and load."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.description.interactions.drives import Servo
from phlexible.description.interactions.force_elements import ForceElement, JointElement
from phlexible.description.interactions.joint_limits import JointFriction, JointStop
from phlexible.description.interactions.loads import Load, SurfacePressure
from phlexible.description.interactions.rod_element import RodElement
from phlexible.description.joints.joint import Joint
from phlexible.state.layout import State
from phlexible.state.system import system_of
from step.kernels.newton import Newton, largest_slope_error

STEEL = ph.Material(youngs_modulus=2e9, density=2000.0, viscosity=1e-3)
PROFILE = ph.RectangularSection(width=0.05, height=0.03)

BODIES = {
    "rigid": ph.RigidBody(2.0, (0.03, 0.04, 0.05), center=(0.1, -0.05, 0.0)),
    "point": ph.PointMass(1.5),
    "beam": ph.Beam(1.0, PROFILE, STEEL, elements=2),
    "linear beam": ph.Beam(1.0, PROFILE, STEEL, elements=2, strain="linear", frame="simply_supported"),
    "modal beam": ph.Beam(1.0, PROFILE, STEEL, elements=3, frame="mean_axis", modes=3, damping_ratio=0.02),
}
JOINTS = {
    ph.Revolute: {"axis": (0.0, 0.0, 1.0)},
    ph.Spherical: {},
    ph.Fixed: {},
    ph.Slider: {"axis": (0.6, 0.8, 0.0)},
    ph.Prismatic: {"axis": (0.6, 0.8, 0.0)},
    ph.Cylindrical: {"axis": (0.0, 0.6, 0.8)},
    ph.Universal: {"axis": (0.0, 0.0, 1.0), "second_axis": (1.0, 0.0, 0.0)},
    ph.Planar: {"axis": (0.0, 0.6, 0.8)},
    ph.Distance: {},
}
ONLY_IN_SPACE = {ph.Cylindrical, ph.Universal, ph.Planar}
LOADS = {(kind, axes) for kind in (ph.Force, ph.Torque, ph.DistributedForce) for axes in ("world", "body")}


def concrete(kind):
    for sub in kind.__subclasses__():
        yield from concrete(sub)
        if not getattr(sub, "__abstractmethods__", None) and sub.__module__.startswith("phlexible."):
            yield sub


def test_every_joint_and_load_is_listed():
    assert set(concrete(Joint)) == set(JOINTS)
    meshed = {ph.Pressure, SurfacePressure}  # on interfaces: tests/bodies/flexible and soft
    assert {kind for kind, _ in LOADS} | meshed == set(concrete(Load))


def pair(dimension, first, second):
    """Two bodies in some pose, far from any joint being closed."""
    model = ph.Model(gravity=(1.0, -9.0, 2.0 * (dimension == 3)), dimension=dimension)
    turn = 0.4 if dimension == 2 else Rotation.from_euler("xyz", (0.3, -0.5, 0.8))
    a = model.add(BODIES[first], "a", position=(0.2, 0.1, 0.0), rotation=turn)
    b = model.add(BODIES[second], "b", position=(1.3, 0.7, 0.0))
    return model, a, b


def port(placed):
    if isinstance(placed.body, ph.Beam):
        return placed.at(0.7)
    return placed.origin if isinstance(placed.body, ph.PointMass) else placed.point((0.2, 0.1, 0.0))


def check(model, h=0.05, damping=0.1):
    """The matrix at random states and unknowns, joints open."""
    rng, layout = np.random.default_rng(7), system_of(model).layout
    bodies, axes = model.bodies, ([0, 0, 1] if model.dimension == 2 else [1, 1, 1])
    state = State(
        0.3,
        np.array([b.position for b in bodies]) + 0.1,
        Rotation.from_rotvec(rng.uniform(-1, 1, 3) * axes).as_matrix() @ np.array([b.rotation for b in bodies]),
        0.01 * rng.normal(size=int(layout.eta[-1])),
        2.0 * rng.normal(size=int(layout.velocity[-1])),
    )
    newton = Newton(model, state, h, damping)
    at_end = state.velocity + rng.normal(size=newton.velocities)
    unknowns = np.concatenate([at_end, 30.0 * rng.normal(size=newton.rows)])
    assert largest_slope_error(newton, unknowns) <= 1e-12


@pytest.mark.parametrize(("dimension", "first"), list(itertools.product((2, 3), BODIES)))
def test_free_bodies(dimension, first):
    model, _, _ = pair(dimension, first, "rigid")
    check(model)


@pytest.mark.parametrize(("dimension", "kind"), list(itertools.product((2, 3), JOINTS)))
@pytest.mark.parametrize("second", ["rigid", "linear beam"])
def test_joints_between_bodies(dimension, kind, second):
    if dimension == 2 and kind in ONLY_IN_SPACE:
        pytest.skip("only in space")
    model, a, b = pair(dimension, "beam", second)
    model.connect(kind(port(a), port(b), **JOINTS[kind]))
    check(model)


@pytest.mark.parametrize(("dimension", "kind"), list(itertools.product((2, 3), JOINTS)))
def test_joints_to_a_moving_frame(dimension, kind):
    if dimension == 2 and kind in ONLY_IN_SPACE:
        pytest.skip("only in space")
    model, a, _ = pair(dimension, "beam", "rigid")
    frame = model.ground.moving(lambda t: (np.sin(t), np.cos(t), 0.0), rotation=lambda t: 2 * t)
    model.connect(kind(frame, port(a), **JOINTS[kind]))
    model.connect(ph.Spherical(a.start, model.ground.at((0, 0, 0))))
    check(model)


@pytest.mark.parametrize(("dimension", "first"), list(itertools.product((2, 3), ["rigid", "beam", "modal beam"])))
@pytest.mark.parametrize(("kind", "axes"), sorted(LOADS, key=str))
def test_loads(dimension, first, kind, axes):
    model, a, _ = pair(dimension, first, "point")
    if dimension == 3:
        value = (20.0, -30.0, 10.0)
    else:
        value = (0.0, 0.0, 20.0) if kind is ph.Torque else (20.0, -30.0, 0.0)
    if kind is ph.DistributedForce and first == "rigid":
        pytest.skip("acts on beams")
    model.apply(kind(a if kind is ph.DistributedForce else port(a), value, axes=axes))
    check(model)


def deep(a, b, **parameters):
    """A contact deeper than any that may start: then every state is inside."""
    contact = ph.Contact(b, ph.Plane(a, (-0.6, -0.8, 0.0)), 300.0, damping=0.2, **parameters)
    object.__setattr__(contact, "_check_depth", lambda *_: None)
    return contact


def touching(b, surface):
    return ph.Contact(b, surface, 300.0, radius=9.0, damping=0.2)


POTENTIAL = ph.Potential(lambda x: 40 * np.cosh(x), lambda x: 40 * np.sinh(x))


def target_of(joint):
    """A moving target of its first coordinate."""
    return {"angle" if "angle" in joint.coordinate_names[0] else "position": lambda t: 0.3 + 4 * t}


ELEMENTS = {
    "spring between points": lambda joint, a, b: ph.SpringDamper(a, b, 300.0, 20.0, 0.4, POTENTIAL),
    "bushing": lambda joint, a, b: ph.Bushing(a, b, 300.0, (3.0, 4.0, 5.0), 20.0, (1.0, 2.0, 3.0)),
    **{
        name: lambda joint, a, b, name=name: joint.spring(80.0, rest=0.3, damping=6.0, potential=POTENTIAL, of=name)
        for name in ("angle", "second angle", "position", "second position")
    },
    "friction": lambda joint, a, b: joint.friction(20.0, viscous=3.0, bristle=0, stiction_speed=50.0),
    "friction of the bearing": lambda joint, a, b: joint.friction(
        coefficient=0.4, radius=0.2, bristle=0, stiction_speed=50.0
    ),
    "fast friction of the rail": lambda joint, a, b: joint.friction(
        coefficient=0.4, bristle=0, stiction_speed=0.01
    ),
    "fast friction": lambda joint, a, b: joint.friction(20.0, bristle=0, stiction_speed=0.01),
    "sticking bearing": lambda joint, a, b: joint.friction(
        5.0, coefficient=0.4, radius=0.2, bristle=30.0, bristle_damping=2.0
    ),
    "bearing that breaks loose": lambda joint, a, b: joint.friction(
        0.1, coefficient=0.01, radius=0.2, bristle=3e3, static=0.02
    ),
    "stop": lambda joint, a, b: joint.stop(lower=-1e-9, upper=1e-9, stiffness=80.0, damping=0.5),
    "touching plane": lambda joint, a, b: deep(a, b),
    "rough plane": lambda joint, a, b: deep(a, b, friction=0.3, bristle=0, friction_speed=50.0),
    "slippery rough plane": lambda joint, a, b: deep(
        a, b, friction=0.3, bristle=0, friction_speed=0.01, exponent=1.5
    ),
    "sticking plane": lambda joint, a, b: deep(a, b, friction=5.0, bristle=30.0, bristle_damping=3.0),
    "plane that breaks loose": lambda joint, a, b: deep(a, b, friction=0.3, bristle=3e3, static_friction=0.4),
    "touching balls": lambda joint, a, b: ph.Contact(a, b, 300.0, radius=9.0, damping=0.2, exponent=1.5),
    "touching cylinder": lambda joint, a, b: touching(b, ph.Surface(a, ph.Cylinder(0.1, 1.0))),
    "touching box": lambda joint, a, b: touching(b, ph.Surface(a, ph.Box((0.3, 0.2, 0.4)))),
    "touching piece": lambda joint, a, b: touching(b, ph.Capsule(a, a.placed.at(0.6), 0.1)),
    "servo": lambda joint, a, b: joint.servo(80.0, 6.0, of=joint.coordinate_names[0], **target_of(joint)),
    "torque": lambda joint, a, b: joint.torque(lambda t: 5 + t),
    "force": lambda joint, a, b: joint.force(lambda t: 5 + t),
    "driven angle": lambda joint, a, b: joint.drive(angle=lambda t: 0.3 + 4 * t),
    "driven position": lambda joint, a, b: joint.drive(position=lambda t: 0.3 + 4 * t),
}
IN_JOINTS = [
    *((kind, "spring between points") for kind in (ph.Spherical,)),
    (ph.Spherical, "bushing"),
    *((ph.Spherical, name) for name in ("touching plane", "rough plane", "slippery rough plane", "touching balls")),
    *((ph.Spherical, name) for name in ("sticking plane", "plane that breaks loose")),
    *((ph.Spherical, f"touching {name}") for name in ("cylinder", "box", "piece")),
    *((ph.Revolute, name) for name in ("friction", "friction of the bearing", "fast friction", "stop")),
    *((ph.Revolute, name) for name in ("sticking bearing", "bearing that breaks loose")),
    (ph.Prismatic, "fast friction of the rail"),
    *((ph.Revolute, name) for name in ("angle", "servo", "torque", "driven angle")),
    *((ph.Prismatic, name) for name in ("position", "servo", "force", "driven position")),
    *((ph.Cylindrical, name) for name in ("angle", "position", "driven angle", "driven position")),
    *((ph.Universal, name) for name in ("angle", "second angle", "driven angle")),
    *((ph.Planar, name) for name in ("angle", "position", "second position")),
    (ph.Slider, "driven position"),
]


def test_every_force_element_is_listed():
    listed = {  # before the others are looked for: public names are loaded when they are asked for
        *(ph.SpringDamper, ph.Bushing, ph.Contact),  # those of many have no place in the matrix
        *(JointElement, JointFriction, JointStop, Servo),
        RodElement,  # scalar laws between the sections of a rod: tests/whole_models/test_rods.py
    }
    assert set(concrete(ForceElement)) == listed


@pytest.mark.parametrize(
    ("dimension", "kind", "element"),
    [(d, *each) for d in (2, 3) for each in IN_JOINTS if d == 3 or each[0] not in ONLY_IN_SPACE],
)
@pytest.mark.parametrize("second", ["rigid", "linear beam"])
def test_force_elements_and_drives(dimension, kind, element, second):
    model, a, b = pair(dimension, "beam", second)
    joint = model.connect(kind(port(a), port(b), **JOINTS[kind]))
    model.apply(ELEMENTS[element](joint, a.start, port(b)))
    check(model)


RELATED = {2: (ph.Revolute, ph.Prismatic), 3: (ph.Universal, ph.Cylindrical)}


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("second", ["rigid", "linear beam"])
def test_relations_of_coordinates(dimension, second):
    """All angles of one joint and the position of another on the same body."""
    model, a, b = pair(dimension, "beam", second)
    frame = model.ground.moving(lambda t: (np.sin(t), np.cos(t), 0.0), rotation=lambda t: 2 * t)
    turning, sliding = RELATED[dimension]
    one = model.connect(turning(frame, port(a), **JOINTS[turning]))
    two = model.connect(sliding(a.start, port(b), **JOINTS[sliding]))
    terms = [(one, name, 0.7) for name in one.coordinate_names] + [(two, "position", -1.3)]
    model.connect(ph.Relation(terms))
    check(model)


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_beam_in_parts(dimension):
    """Directions at the cuts change their length too."""
    model = ph.Model(gravity=(1.0, -9.0, 0.0), dimension=dimension)
    model.add(BODIES["linear beam"].split(2), "first")
    model.add(BODIES["beam"].split(3), "second", position=(0.0, 1.0, 0.0))
    check(model)
