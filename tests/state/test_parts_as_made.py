"""Joints at interfaces of parts from files, whose places have some six digits: taken where they are, at rest."""

import numpy as np
import pytest

import phlexible as ph
from bodies.flexible.meshes import bar

OFF = np.array([1.9e-7, -1e-7, 0.0])  # of a bar of 0.3 m


def jointed(kind, dimension, off, **how):
    sides = (0.3, 0.03, 0.02)[:dimension]
    body = bar(cells=(4, 1, 1)[:dimension], sides=sides, **({"thickness": 0.02} if dimension == 2 else {}))
    model = ph.Model(dimension=dimension)
    part = model.add(body, "bracket", position=(0.7, 0.2, 0.0), **how)
    model.connect(kind(model.ground.at(part["start"].initial_position() + off), part["start"]))
    return model, part


@pytest.mark.parametrize(("kind", "dimension"), [(ph.Fixed, 2), (ph.Revolute, 2), (ph.Fixed, 3), (ph.Spherical, 3)])
def test_a_part_stays_where_it_is_and_at_rest(kind, dimension):
    """A gap that closed in the first step would move it by 2e-7 m within 1e-5 s."""
    model, part = jointed(kind, dimension, OFF)
    motion = model.simulate(2e-4, 1e-5, progress=False)
    assert np.abs(motion.velocity(part["start"])).max() <= 1e-12
    assert np.abs(motion.position(part["start"]) - part["start"].initial_position()).max() <= 1e-15
    assert model.linearize([ph.Force(part["end"], (0, 1, 0))]).modes(1).frequencies[0] >= 0


def test_two_parts_beside_each_other_turn_freely_for_ever():
    """Forces at two places 2e-7 m apart would change the angular momentum by as much of it."""
    model = ph.Model(dimension=2)
    body = bar(cells=(4, 1), sides=(0.3, 0.03), thickness=0.02)
    first = model.add(body, "first", angular_velocity=(0, 0, 20.0))
    there = body.points.interfaces.positions
    second = model.add(body, "second", position=first["end"].initial_position() - there[0] + OFF)
    model.connect(ph.Revolute(first["end"], second["start"]))
    motion = model.simulate(0.02, 1e-4, progress=False)
    apart = np.linalg.norm(motion.position(second["start"]) - motion.position(first["end"]), axis=1)
    assert apart == pytest.approx(np.linalg.norm(OFF), rel=1e-4)
    spin = motion.momentum.angular[:, 2]
    assert np.abs(spin - spin[0]).max() <= 1e-11 * abs(spin[0])
    assert np.abs(motion.energy.balance_error).max() <= 1e-12 * motion.energy.total.max()


def test_a_gap_that_no_file_explains_is_refused_with_the_place_of_the_part():
    model, _ = jointed(ph.Fixed, 3, 20 * OFF)
    with pytest.raises(ph.JointGapError, match=r'at most 3e-06\).*at\(bracket\["start"\]\.initial_position'):
        model.simulate(1e-3, 1e-4, progress=False)
    exact = ph.Model()
    block = exact.add(ph.RigidBody(1.0, (1, 1, 1)), "block")
    exact.connect(ph.Fixed(exact.ground.at(OFF), block.origin))  # places that the user gave are exact
    with pytest.raises(ph.JointGapError, match=r"ground\.at\(block\.origin\.initial_position\(\)\)"):
        exact.simulate(1e-3, 1e-4, progress=False)
