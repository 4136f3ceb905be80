"""Poses at rest to the round-off of places; places from files, which have six digits, are taken as they are."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from bodies.flexible.meshes import bar

POLYMER = ph.Material(2e9, 1200.0, 0.35)
ROD = ph.Rod(1.0, ph.RectangularSection(0.02, 0.03), POLYMER, elements=4, order=2)


def unloaded() -> ph.Model:
    """A bar on a hinge at the end of a clamped rod, without weight: it may be turned freely."""
    model = ph.Model(dimension=2)
    rod = model.add(ROD, "rod", (1, 0, 0), np.pi / 2)
    bar = model.add(ph.RigidBody(0.5, 0.01, center=(0.2, 0, 0)), "bar", (1, 1, 0), np.pi / 2)
    model.connect(ph.Fixed(model.ground.at((1, 0, 0)), rod.start))
    model.connect(ph.Revolute(rod.end, bar.origin))
    return model


@pytest.mark.filterwarnings("error::phlexible.StepWarning")
def test_what_nothing_loads_is_in_equilibrium_where_it_is() -> None:
    found = (model := unloaded()).equilibrium()
    np.testing.assert_allclose(found.position(model["bar"].point((0.2, 0, 0))), (1, 1.2, 0), atol=1e-12)
    motion = unloaded().simulate(0.1, 0.01, initial="quasi_static")
    assert np.ptp(motion.position(motion["bar"].origin), axis=0).max() < 1e-9


@pytest.mark.parametrize("distance", [0.0, 1e3])
def test_a_stiff_rod_that_hangs_on_a_spring_comes_to_rest(distance: float) -> None:
    """Its weight is 4e-9 of its stiffness times its length, and of that times the distance less."""
    model, stiffness = ph.Model(gravity=(-9.81, 0, 0)), 1e3
    place = np.array([1.0, distance, 2 * distance])
    rod = model.add(ROD, "rod", place, np.diag([-1.0, -1.0, 1.0]))
    model.apply(ph.SpringDamper(model.ground.at(place + (0.5, 0, 0)), rod.start, stiffness=stiffness))
    found = model.equilibrium()
    sag = POLYMER.density * 0.02 * 0.03 * 9.81 / stiffness
    np.testing.assert_allclose(found.position(rod.start), place - (sag, 0, 0), atol=1e-9 + 1e-10 * distance)


@pytest.mark.parametrize("step", [1e-3, 1e-5])
def test_steps_from_an_equilibrium_have_no_gaps_of_joints_to_close(step: float) -> None:
    """A gap of 5e-13 m that the first step closes is a velocity of 5e-8 m/s, which no force made."""
    model, turned = ph.Model(gravity=(-5.886, 7.848, 0)), np.diag([-1.0, -1.0, 1.0])
    beam = model.add(ph.Beam(1.0, ROD.section, POLYMER, elements=2, theory="timoshenko"), "beam", rotation=turned)
    bar = model.add(ph.RigidBody(0.5, (0.01, 0.01, 0.01), center=(0.2, 0, 0)), "bar", (-1, 0, 0), turned)
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    model.connect(ph.Spherical(model.ground.at((-1, 0, 0)), beam.end))
    model.connect(ph.Revolute(beam.end, bar.origin))
    motion = model.simulate(10 * step, step, initial=model.equilibrium())
    assert np.abs(motion.velocity(bar.origin)).max() < 1e-12 / step


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_a_body_may_spin_about_an_axis_through_its_joint(length):
    """The spin moves neither its reference point nor the joint, but its axis is known to round-off only."""
    for number in range(10):
        turn, model = Rotation.random(random_state=number), ph.Model()
        spin = turn.apply([0.07, 0.0, 0.0])
        inertia = np.array([1.0, 2.0, 2.5]) * length**2
        body = ph.RigidBody(1.0, inertia, center=(0.4 * length, 0.0, 0.0))
        top = model.add(body, "top", position=(length, -length, 0.3 * length), rotation=turn, angular_velocity=spin)
        tip = top.point((length, 0.0, 0.0))
        model.connect(ph.Spherical(model.ground.at(tip.initial_position()), tip))
        assert model.simulate(0.1, 0.01, progress=False).angular_velocity(top)[-1] == pytest.approx(spin, abs=1e-12)


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


def test_a_gap_that_no_file_explains_is_refused_with_the_place_of_the_part():
    model, _ = jointed(ph.Fixed, 3, 20 * OFF)
    with pytest.raises(ph.JointGapError, match=r'at most 3e-06\).*at\(bracket\["start"\]\.initial_position'):
        model.simulate(1e-3, 1e-4, progress=False)
    exact = ph.Model()
    block = exact.add(ph.RigidBody(1.0, (1, 1, 1)), "block")
    exact.connect(ph.Fixed(exact.ground.at(OFF), block.origin))  # places that the user gave are exact
    with pytest.raises(ph.JointGapError, match=r"ground\.at\(block\.origin\.initial_position\(\)\)"):
        exact.simulate(1e-3, 1e-4, progress=False)
