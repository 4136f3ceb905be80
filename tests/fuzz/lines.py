"""Shells and lines of random mechanisms: sheets clamped by an edge, beads that slide, ropes with winches."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import phlexible as ph
from formulas import formula
from laws.cases import random_place, random_shell
from laws.elements import Adding
from laws.models import DEFORMED, Sample

EDGES = "rigid", "hinged", "average"


def hang_shell(rng: np.random.Generator, sample: Sample, damped: bool, duration: float) -> None:
    """A shell, clamped, hinged or held on average by an edge on any body; maybe a mass at a node, and pressure."""
    model, scale = sample.model, sample.scale
    carriers = [placed for placed in model.bodies if placed.data.rotates]
    if model.dimension == 2 or not carriers:
        return
    carrier = carriers[rng.integers(len(carriers))]
    port = random_place(rng, carrier.body, scale, 3)(carrier)
    modulus = scale.mass / (scale.length * (20 * sample.step) ** 2)
    shell = random_shell(rng, scale, 3, modulus=modulus, interfaces={"u0": str(rng.choice(EDGES))})
    turn = Rotation.from_quat(rng.normal(size=4)).as_matrix()
    place = port.initial_position() - turn @ ph.Model().add(shell)["u0"].initial_position()
    known: dict[str, Any] = {}
    is_rigid = sample.initial is not DEFORMED  # what is deformed moves in another way
    if is_rigid and carrier.velocity is not None and carrier.angular_velocity is not None:
        spin = np.asarray(carrier.angular_velocity)
        at_port = carrier.velocity + np.cross(spin, place - carrier.position)
        known = {"velocity": at_port, "angular_velocity": spin}
    placed = model.add(shell, None, place, turn, **known)
    model.connect(ph.Fixed(port, placed["u0"]))
    if rng.random() < 0.3:
        node = placed.node(int(shell.mesh.used[-1]))
        end = node.initial_position()
        if known:
            known = {"velocity": known["velocity"] + np.cross(known["angular_velocity"], end - place)}
        bob = model.add(ph.PointMass(scale.mass * rng.uniform(0.1, 1)), None, end, **known)
        model.connect(ph.Spherical(node, bob.origin))
    if rng.random() < 0.2:
        model.apply(ph.Pressure(placed, 0.1 * modulus * shell.thickness / scale.length * rng.normal()))


def slide(rng: np.random.Generator, sample: Sample, damped: bool, duration: float) -> None:
    """A bead at a node of a rod or string, which slides along it; maybe on a spring and with friction."""
    model, scale = sample.model, sample.scale
    rods = [(rod.handle, rod.handle.nodes()) for rod in model.rods]
    strings = [placed for placed in model.bodies if isinstance(placed.body, ph.String)]
    lines = rods + [(each, [each.at(float(s)) for s in each.body.mesh.nodes]) for each in strings]
    lines = [(line, nodes) for line, nodes in lines if len(nodes) >= 4]
    if not lines:
        return
    line, nodes = lines[rng.integers(len(lines))]
    node = nodes[rng.integers(1, len(nodes) - 1)]
    mass = scale.mass * rng.uniform(0.05, 0.3)
    if rng.integers(2):
        body: Any = ph.PointMass(mass)
    else:
        inertia = mass * (0.1 * scale.length) ** 2
        body = ph.RigidBody(mass, inertia if model.dimension == 2 else (inertia,) * 3)
    joint = model.connect(ph.Sliding(model.add(body, None, node.initial_position()).origin, line))
    adding = Adding(rng, sample)
    if rng.integers(2):
        model.apply(joint.spring(adding.stiffness, damping=damped * adding.damping))
    if damped and rng.integers(2):
        stiffness = 10 * scale.mass / (20 * sample.step) ** 2  # by default it is that for a weight in m/s2
        model.apply(joint.friction(coefficient=0.2, bristle=stiffness))


def haul(rng: np.random.Generator, sample: Sample, damped: bool, duration: float) -> None:
    """A rope through guides, maybe with friction there, whose length or tension a winch may prescribe."""
    model = sample.model
    rope = Adding(rng, sample).tendon(damped)
    if rope is None:
        return
    rubs = damped and rng.random() < 0.4
    if rubs:
        rope = replace(rope, friction=rng.uniform(0.1, 0.5))
    model.apply(rope)
    rate, kind = 1 / duration, rng.integers(3)
    if kind == 0:
        places = np.array([port.initial_position() for port in rope.guides])
        length = float(rope.rest_length or np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
        text = "lambda time: {length} * (1 + {share} * np.sin({rate} * time) ** 2)"
        model.apply(rope.drive(formula(text, length=length, share=rng.uniform(-0.1, 0.1), rate=rate)))
    elif kind == 1 and not rubs:
        text = "lambda time: {tension} * (1 + np.sin({rate} * time))"
        tension = 0.02 * rope.stiffness * sample.scale.length
        model.apply(rope.motor(formula(text, tension=tension, rate=rate)))
