"""A mechanism far from the world's origin moves as it does there, to the round-off of its coordinates."""

import numpy as np
import pytest

import phlexible as ph

STEEL = ph.Material(youngs_modulus=2.0e11, density=7870.0, poissons_ratio=0.3)


def linked_pendulum(place):
    """A bar on a rigid link and a flexible beam on another one; products of points in two rows."""
    model = ph.Model(gravity=(0, -9.81, 0))
    place = np.array(place)
    bar = model.add(ph.RigidBody(1.0, (0.1, 0.2, 0.15)), "bar", place + (0.8, 0.6, 0))
    rod = ph.Beam(length=0.5, section=ph.CircularSection(diameter=0.01), material=STEEL, elements=2)
    beam = model.add(rod, "beam", place + (1.5, 0.6, 0.3))
    model.connect(ph.Distance(model.ground.at(place), bar.origin))
    model.connect(ph.Distance(bar.point((0.1, 0.05, 0)), beam.start))
    return model


@pytest.mark.parametrize("distance", [0.0, 1e2, 1e4, 1e6])
def test_links_keep_their_lengths_to_the_round_off_of_coordinates(distance):
    """A square of the distance in g would leave 1e-8 at 1e4 m and 1e-4 at 1e6 m."""
    model = linked_pendulum((0.0, 0.6 * distance, -0.8 * distance))
    motion = model.simulate(0.2, 2e-3, progress=False)
    length = np.linalg.norm(
        motion.position(model["bar"].point((0.1, 0.05, 0))) - motion.position(model["beam"].start), axis=1
    )
    arm = np.linalg.norm(motion.position(model["bar"].origin) - (0, 0.6 * distance, -0.8 * distance), axis=1)
    round_off = 4 * np.finfo(float).eps * max(1.0, distance)
    assert np.ptp(length) < round_off and np.ptp(arm) < round_off
    assert np.abs(motion.energy.balance_error).max() < 1e-13 * max(1.0, distance) * 9.81


@pytest.mark.parametrize("distance", [0.0, 1e4])
@pytest.mark.parametrize("body", [ph.RigidBody(1.0, (0.5, 0.5, 0.5)), ph.PointMass(1.0)])
def test_an_open_joint_is_refused_as_strictly_as_at_the_origin(distance, body):
    place = np.array([0.0, 0.6 * distance, -0.8 * distance])
    for gap, is_closed in ((0.0, True), (1e-8, False)):
        model = ph.Model()
        bar = model.add(body, "bar", place + (1, 0, 0))
        model.connect(ph.Distance(model.ground.at(place), bar.origin, length=1 - gap))
        if is_closed:
            model.simulate(1e-3, 1e-3, progress=False)
        else:
            with pytest.raises(ph.JointGapError, match=r"off by 1\.?0?\d*e-08 m"):
                model.simulate(1e-3, 1e-3, progress=False)


def test_drives_far_from_the_origin_start_where_their_coordinates_are():
    model = ph.Model(dimension=2)
    bar = model.add(ph.RigidBody(1.0, 0.5), "bar", (1e4, 0, 0))
    rail = model.connect(ph.Prismatic(model.ground.at((1e4, 0, 0)), bar.origin))
    model.apply(rail.drive(position=lambda t: 1e-7 + 0.0 * t))
    with pytest.raises(ph.JointGapError, match="starts at 1e-07 m"):
        model.simulate(1e-3, 1e-3, progress=False)
