"""Mechanisms that differ in numbers alone have the same counts and integers, which lanes and libraries ask for."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.state.system import system_of
from phlexible.step.assembly.assembly import _known_plan, assemble

STEEL = ph.Material(2e11, 7850.0)
AXES = {2: (0, 0, 1), 3: (0, 1, 0)}


def structure(section, frame, dimension, elements, length=0.6):
    model = ph.Model(dimension=dimension)
    beam = ph.Beam(length, section, STEEL, elements=elements, modes=4, frame=frame)
    arm = model.add(beam, "arm", position=(0.1, 0.2, 0))
    bob = model.add(ph.PointMass(0.2), "bob", position=(0.1 + length, 0.2, 0))
    model.connect(ph.Revolute(model.ground.at((0.1, 0.2, 0)), arm.start, axis=AXES[dimension]))
    model.connect(ph.Spherical(arm.end, bob.origin))
    return assemble(system_of(model)).memory.structure


@pytest.mark.parametrize("elements", [4, 5, 6])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("frame", ["cantilever", "mean_axis", "simply_supported"])
def test_beams_with_modes_that_differ_in_numbers(frame, dimension, elements):
    """Modes of a symmetric beam are odd or even, so that many of its numbers are zero but for round-off."""
    kind = frame, dimension, elements
    flat = {structure(ph.RectangularSection(w, 0.004), *kind) for w in np.linspace(0.0165, 0.021, 7)}
    assert len(flat) == 1
    assert len({structure(ph.CircularSection(d), *kind, length=60 * d) for d in np.linspace(5e-3, 9e-3, 7)}) == 1


def tables(length, stiffness, loads):
    model = ph.Model(dimension=2)
    arm = model.add(ph.Beam(length, ph.CircularSection(0.01), STEEL, elements=4, modes=2), "arm")
    bob = model.add(ph.PointMass(0.2), "bob", position=(length, 0, 0))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.start, axis=AXES[2]))
    model.connect(ph.Spherical(arm.end, bob.origin))
    model.apply(hinge.spring(stiffness))
    for _ in range(loads):
        model.apply(ph.Force(bob.origin, (0, -1.0, 0)))
    found = assemble(system_of(model)).memory.system_tables
    return {name: (own.shape, own.dtype, own.tobytes()) for name, own in found.items()}


def test_tables_after_those_of_other_mechanisms_are_those_of_the_mechanism_alone():
    """Tables that did not change since the last mechanism of a structure are taken from it."""
    kinds = [
        (0.6, 1.0, 1),
        (0.7, 1.0, 1),
        (0.7, 2.0, 1),
        (0.7, 2.0, 2),
        (0.6, 1.0, 1),
        (0.6, 1.0, 0),
        (0.6, 0.0, 0),
    ]
    together = [tables(*kind) for kind in kinds]
    for kind, found in zip(kinds, together, strict=True):
        _known_plan.cache_clear()
        assert found == tables(*kind)
    assert together[0] == together[4] and len({repr(found) for found in together}) == len(kinds) - 1
