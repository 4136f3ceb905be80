"""Mechanisms that several tests take, and states of them that are no special case."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.state.initial_velocity import undeformed
from phlexible.state.small_motions import displaced
from phlexible.state.system import system_of

STEEL = ph.Material(youngs_modulus=2e11, density=7870.0, poissons_ratio=0.3)
ROD = ph.CircularSection(diameter=6e-3)


def beam(elements=2, frame="mean_axis", strain="von_karman", **parameters):
    return ph.Beam(0.3, ROD, STEEL, elements=elements, frame=frame, strain=strain, **parameters)


def crank_slider(strain="von_karman", angle=0.0, speed=150.0, elements=8):
    """The crank-slider of Brugnoli et al. 6.2, at a crank angle [rad]."""
    model, crank, coupler = Mechanism(dimension=2), 0.15, 0.3

    def path(t):
        return crank * np.array([np.cos(speed * t + angle), np.sin(speed * t + angle), 0.0])

    tilt = -np.arcsin(crank * np.sin(angle) / coupler)
    slide = path(0)[0] + coupler * np.cos(tilt)
    rod = beam(elements, "simply_supported", strain, rotary_inertia=False)
    body = model.add(rod, "coupler", path(0), tilt)
    slider = model.add(ph.PointMass(0.033), "slider", (slide, 0, 0))
    model.connect(ph.Revolute(model.ground.moving(path), body.start))
    model.connect(ph.Revolute(body.end, slider.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    return model


def four_bar(dimension, joint=ph.Revolute):
    """Rigid parallelogram-like four-bar whose first link is driven at 2 rad/s; in space 3 rows repeat."""
    model, bar = Mechanism(dimension=dimension), ph.RigidBody(2.0, (1.0, 1.5, 2.0), center=(0.2, 0.1, 0.0))
    a, b, c = (model.add(bar, *each) for each in (("a", (0, 0, 0)), ("b", (0, 1, 0)), ("c", (2, 0, 0))))
    drive = model.ground.moving(lambda t: (0, 0, 0), rotation=lambda t: 2 * t)
    model.connect(ph.Fixed(drive, a.origin))
    model.connect(joint(a.point((0, 1, 0)), b.origin))
    model.connect(joint(b.point((2.0, 0.3, 0)), c.point((0, 1.3, 0))))
    model.connect(joint(model.ground.at((2, 0, 0)), c.origin))
    return model


def tangle(dimension):
    """Two beams, a rigid body, a point mass, a moving frame, and as many joints as fit."""
    model = Mechanism(gravity=(1.0, -9.0, 0.0), dimension=dimension)
    turn = 0.3 if dimension == 2 else Rotation.from_rotvec([0.3, 0.5, -0.2])
    a = model.add(beam(), "a", rotation=turn)
    b = model.add(beam(frame="cantilever"), "b", position=(0.3, 0.1, 0))
    c = model.add(ph.RigidBody(1.0, (0.1, 0.2, 0.25), center=(0.1, 0.2, 0)), "c", position=(0.5, 0, 0))
    d = model.add(ph.PointMass(0.5), "d", position=(0.8, 0, 0))
    frame = model.ground.moving(
        lambda t: (0.1 * np.sin(3 * t), 0.2 * t, 0),
        lambda t: 0.5 + 0.7 * t if dimension == 2 else Rotation.from_rotvec([0.7 * t, 0, 0.2]),
    )
    model.connect(ph.Fixed(frame, a.start))
    model.connect(ph.Revolute(a.end, b.start))
    model.connect(ph.Slider(b.at(0.2), c.origin, axis=(1, 1, 0)))
    model.connect(ph.Distance(c.point((0, 0.1, 0)), d.origin))
    if dimension == 3:
        model.connect(ph.Universal(b.end, c.origin))
        model.connect(ph.Planar(frame, b.end, axis=(0, 1, 1)))
    model.apply(ph.Force(a.end, (1, 2, 0)))
    model.apply(ph.Force(b.end, (1, 2, 0), axes="body"))
    model.apply(ph.Torque(b.end, (0, 0, 3)))
    model.apply(ph.Torque(a.at(0.1), (0, 0, 2), axes="body"))
    return model


def arbitrary_state(model, seed=0):
    """Bodies moved, bent by up to 10 % and moving, all at random; joints open. Time 0.4 s."""
    system, rng = system_of(model), np.random.default_rng(seed)
    count = int(system.layout.velocity[-1])
    state = displaced(system, undeformed(system), 0.1 * rng.normal(size=count))
    return system, replace(state, time=0.4, velocity=rng.normal(size=count))


def moved_along(system, state, time):
    """The state a time later at constant nu."""
    return replace(displaced(system, state, time * state.velocity), time=state.time + time)


def slope(function, system, state, eps=1e-5):
    """Derivative of a function of the state to (dx, dtheta, deta), by central differences."""
    steps = eps * np.eye(len(state.velocity))
    ends = [[function(displaced(system, state, s * step)) for s in (1, -1)] for step in steps]
    return np.array([(a - b) / (2 * eps) for a, b in ends]).T


def with_elements(dimension):
    model = Mechanism(gravity=(1.0, -9.0, 0.0), dimension=dimension)
    a = model.add(beam(), "a")
    b = model.add(ph.RigidBody(0.4, (0.01, 0.02, 0.025), center=(0.1, 0.0, 0)), "b", position=(0.3, 0, 0))
    c = model.add(ph.RigidBody(0.3, (0.01, 0.02, 0.025)), "c", position=(0.6, 0, 0))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), a.start))
    elbow = model.connect(ph.Revolute(a.end, b.origin))
    rail = model.connect(ph.Prismatic(b.origin, c.origin))
    model.apply(elbow.spring(0.7, rest=0.3, damping=0.02, potential=ph.Potential(np.cosh, np.sinh)))
    model.apply(pin.torque(lambda t: 0.1 * np.cos(3 * t)))
    model.apply(ph.SpringDamper(a.at(0.1), c.origin, 5.0, 0.3, 0.2))
    model.apply(ph.Bushing(b.origin, model.ground.at((0.3, 0, 0)), 2.0, 0.1, 0.1, 0.01))
    model.apply(rail.drive(position=lambda t: 0.3 + 0.1 * np.sin(2 * t)))
    model.apply(ph.Force(c.origin, (0.2, 0.1, 0)))
    return model


def boom(part, dimension=2, gravity=9.81, place=(0.0, 0.0, 0.0)):
    """A light, flexible boom on a hinge, at rest along x, with a part of the hinge; model and hinge."""
    model = ph.Model(gravity=(0.0, -gravity, 0.0), dimension=dimension)
    beam = ph.Beam(0.8, ph.CircularSection(6e-3), ph.Material(2e11, 7800.0), elements=4)
    placed = model.add(beam, "boom", position=place)
    axis = {} if dimension == 2 else {"axis": (0.0, 0.0, 1.0)}
    hinge = model.connect(ph.Revolute(model.ground.at(place), placed.start, **axis))
    model.apply(part(hinge))
    return model, hinge


def grounded(body, joint=ph.Fixed, at=(0, 0, 0), by=None, axis=None, joint_name=None, gravity=(0, 0, 0), **options):
    """A model of one body that a joint holds on the ground, the body there, and the joint.

    The joint holds the start or the origin of the body, or its point or interface ``by``; ``dimension`` is that of
    the model, other options are those of ``Model.add``.
    """
    model = ph.Model(gravity=gravity, dimension=options.pop("dimension", 3))
    placed = model.add(body, options.pop("name", "body"), **options)
    if by is None:
        port = placed.start if hasattr(body, "length") else placed.origin
    else:
        port = placed[by] if isinstance(by, str) else placed.point(by)
    direction = {} if axis is None else {"axis": axis}
    return model, placed, model.connect(joint(model.ground.at(at), port, name=joint_name, **direction))
