"""Rods that hang on the bodies of random mechanisms."""

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import phlexible as ph
from laws.cases import random_place
from laws.models import DEFORMED, Sample
from phlexible.elements.sections import flat_mass

GREATEST_BEND = 1.0  # of the whole rod [rad]


def hang_rod(rng: np.random.Generator, sample: Sample) -> None:
    """A rod, straight or bent, on any body; it moves with it, and maybe carries a mass at its end."""
    model, length = sample.model, sample.scale.length * rng.uniform(0.4, 1.0)
    carriers = [placed for placed in model.bodies if placed.data.rotates]
    carrier = carriers[rng.integers(len(carriers))]
    port = random_place(rng, carrier.body, sample.scale, model.dimension)(carrier)
    place, turn = port.initial_position(), _turn(rng, model.dimension)
    order = int(rng.integers(1, 3))
    rod = ph.Rod(length, elements=int(rng.integers(2, 5)), order=order, **_section(rng, sample))
    known: dict[str, Any] = {}
    is_rigid = sample.initial is not DEFORMED  # what is deformed moves in another way
    if is_rigid and carrier.velocity is not None and carrier.angular_velocity is not None:
        spin = np.asarray(carrier.angular_velocity)
        known = {"velocity": carrier.velocity + np.cross(spin, place - carrier.position), "angular_velocity": spin}
    curve = _arc(rod, rng.uniform(-GREATEST_BEND, GREATEST_BEND)) if rng.integers(2) else None
    placed = model.add(rod, None, place, turn, shape=curve, **known)
    kinds = [ph.Fixed, ph.Fixed, ph.Spherical, ph.Revolute]
    model.connect(kinds[rng.integers(len(kinds))](port, placed.start))
    if rng.random() < 0.3:
        end = placed.end.initial_position()
        if known:
            known = {"velocity": known["velocity"] + np.cross(known["angular_velocity"], end - place)}
        bob = model.add(ph.PointMass(sample.scale.mass * rng.uniform(0.1, 1)), None, end, **known)
        model.connect(ph.Spherical(placed.end, bob.origin))


def _turn(rng: np.random.Generator, dimension: int) -> Any:
    angle = rng.uniform(-np.pi, np.pi)
    return angle if dimension == 2 else Rotation.from_quat(rng.normal(size=4))


def _arc(rod: ph.Rod, angle: float) -> Any:
    """The axis along an arc from the origin; a function of s [m]."""
    rate = angle / rod.length
    return lambda s: (np.sin(rate * s) / rate, (1 - np.cos(rate * s)) / rate, 0.0)


def _section(rng: np.random.Generator, sample: Sample) -> dict[str, Any]:
    """The section of a rod and what it is made of, stiff and heavy like the beams."""
    scale = sample.scale
    wide, high = scale.thickness * rng.uniform(0.7, 1.4, 2)
    material = ph.Material(scale.modulus, scale.density, rng.uniform(0, 0.45))
    moments = wide * high**3 / 12, wide**3 * high / 12
    match rng.integers(4):
        case 0:
            return {"section": ph.CircularSection(wide), "material": material}
        case 1:
            return {"section": ph.RectangularSection(wide, high), "material": material}
        case 2:
            off = 0.3 * scale.thickness * rng.normal(size=2)
            centres = {"shear_center": off, "mass_center": 0.5 * off}
            return {"section": ph.Section(wide * high, *moments, sum(moments), **centres), "material": material}
    arms = np.repeat([1.0, scale.thickness], 3)
    mixed = np.diag([1.0, 0.3, 0.3, 0.1, 0.08, 0.1]) + 0.01 * rng.uniform(-1, 1, (6, 6))
    stiffness = scale.modulus * wide * high * (mixed + mixed.T) / 2 * np.outer(arms, arms)
    mass = scale.density * np.diag([wide * high, *moments])
    return {"section": ph.GeneralSection(stiffness, flat_mass(mass))}
