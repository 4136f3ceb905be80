"""Models far from the origin and in free flight move as they should; what nobody uses is freed."""

import gc
import weakref
from itertools import product

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


# A step can hold energy and momenta to round-off and still fold up a rod, when it moves the centre of mass by
# anything else than h mean(p) / m.
FRAMES = ("cantilever", "simply_supported", "mean_axis")
SPINS = ((0.0, 0.0, 10.0), (0.0, 0.0, 200.0), (10.0, 200.0, 50.0))  # [rad/s]
TURNS = (0.01, 0.2)  # of a step [rad]


@pytest.mark.parametrize("frame", FRAMES)
def test_a_spinning_rod_keeps_its_shape(frame):
    """It begins stretched by its spin, and stays so; the step is up to many periods of its vibrations long."""
    steel = ph.Material(2.1e11, 7850.0, 0.3)
    rod = ph.Beam(1.0, ph.CircularSection(0.01), steel, elements=4, frame=frame)
    for spin, turn in product(SPINS, TURNS):
        model = ph.Model()
        body = model.add(rod, velocity=(30.0, -20.0, 10.0), angular_velocity=spin)
        step = turn / np.linalg.norm(spin)
        motion = model.simulate(600 * step, step, initial="quasi_static")
        strain = motion.energy.strain
        assert strain == pytest.approx(strain[0], rel=0.1)
        assert np.diff(motion.iterations).max() <= (16 if frame == "cantilever" else 8)
        middle = motion.position(body.at(0.5))
        along = motion.position(body.end) - motion.position(body.start)
        assert np.linalg.norm(along, axis=1) == pytest.approx(1.0, rel=1e-3)
        assert middle - motion.position(body.start) == pytest.approx(along / 2, abs=1e-3)


@pytest.mark.parametrize(
    "name", ["crank_slider", "chain", "robot_arm", "bouncing_ball", "cable_robot", "deployable_panels"]
)
def test_model_and_motion_are_freed_at_once(name):
    model = getattr(ph.gallery, name)()
    motion = model.simulate(4e-4, 1e-4, progress=False)
    motion.energy, motion.run.velocities, motion.recording.multipliers  # noqa: B018  # read on demand
    live = model.start(1e-4)
    live.step()
    used = [weakref.ref(each) for each in (model, motion, motion.run, motion.run.system, live)]
    gc.disable()
    try:
        del model, motion, live
        assert [reference() for reference in used] == [None] * len(used)
    finally:
        gc.enable()


def test_motion_keeps_its_mechanism_when_the_model_changes():
    model = ph.Model(gravity=(0, 0, -9.81))
    stone = model.add(ph.PointMass(1.0), "stone")
    motion = model.simulate(0.1, 0.01, progress=False)
    model.add(ph.PointMass(1.0), "later")
    model.apply(ph.Force(stone.origin, (1, 0, 0)))
    assert [body.name for body in motion.mechanism.bodies] == ["stone"]
    assert not motion.mechanism.loads
    with pytest.raises(ph.ModelError, match="no body is named 'later'"):
        motion["later"]
    assert [body.name for body in model.bodies] == ["stone", "later"]
