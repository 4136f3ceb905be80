"""Gears, racks, screws, belts: closed forms, exact ratios, what is refused."""

import numpy as np
import pytest

import phlexible as ph

TURN = 2 * np.pi


def two_wheels(gear=None, dimension=3, speeds=(None, None)):
    """Wheels of 0.03 and 0.003 kg m2 on axes that are askew; the second one is eccentric."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=dimension)
    a = model.add(ph.RigidBody(2.0, (0.02, 0.02, 0.03)), "a", angular_velocity=speeds[0])
    b = model.add(
        ph.RigidBody(1.0, (2e-3, 2e-3, 3e-3), center=(0.03, 0, 0)), "b", (0.5, 0, 0), angular_velocity=speeds[1]
    )
    askew = (0, 0.6, 0.8) if dimension == 3 else (0, 0, 1)
    first = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), a.origin, axis=(0, 0, 1)))
    return model, first, model.connect(ph.Revolute(model.ground.at((0.5, 0, 0)), b.origin, axis=askew))


def test_a_gear_pair_keeps_its_ratio_and_its_energy_over_many_turns():
    """Driven by the weight of the eccentric wheel; only one speed is given, the other one follows from the gear."""
    model, a, b = two_wheels(speeds=((0, 0, 40.0), None))
    gear = model.connect(ph.Gear(a, b, ratio=-2.0))
    motion = model.simulate(20.0, 2e-3, progress=False)
    turned = motion.angle(a)
    assert turned[-1] > 100 * TURN
    assert np.abs(turned + 2.0 * motion.angle(b)).max() <= 1e-13 * turned[-1]
    assert np.ptp(motion.energy.total) <= 1e-12 * motion.energy.kinetic.max()
    assert motion.rate(b)[0] == pytest.approx(-20.0, rel=1e-12)
    assert motion.check().is_clean and motion.check().joint_gap < 1e-12
    # The torque on b, from its own balance: J d2(angle)/dt2 = torque of the weight - ratio multiplier.
    force = motion.element_force(gear)
    axis, inertia = np.array([0, 0.6, 0.8]), 3e-3 * 0.64 + 2e-3 * 0.36 + 0.03**2
    weight = np.cross(motion.position(model["b"].point((0.03, 0, 0))) - (0.5, 0, 0), (0, -9.81, 0)) @ axis
    change = np.gradient(motion.rate(b), motion.time)
    assert np.abs(inertia * change - weight - 2.0 * force)[2:-2].max() <= 3e-3 * np.abs(force).max()
    assert force[0] == pytest.approx(2 * force[1] - force[2], abs=3e-3 * np.abs(force).max())  # from accelerations


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_torque_on_one_wheel_spins_both_up(dimension):
    """Through a Gear, a Belt and a Relation that say the same: (J_a + J_b / ratio^2) acceleration = torque."""
    model = ph.Model(dimension=dimension)
    inertias = (0.5, 0.2, 0.8, 0.3)
    wheels = [
        model.add(ph.RigidBody(1.0, (j, j, j) if dimension == 3 else j), position=(j, 0, 0)) for j in inertias
    ]
    pins = [model.connect(ph.Revolute(model.ground.at(w.position), w.origin)) for w in wheels]
    model.connect(ph.Gear(pins[0], pins[1], ratio=-0.5))
    model.connect(ph.Belt(pins[1], pins[2], radius_a=0.1, radius_b=0.4))
    model.connect(ph.Relation([(pins[2], "angle", 1.0), (pins[3], None, 1.0), (pins[0], "angle", -1.0)]))
    model.apply(pins[0].torque(3.0))
    motion = model.simulate(2.0, 1e-2, progress=False)
    # angle_b = -2, angle_c = -0.5, angle_d = 1.5 times angle_a
    inertia = 0.5 + 4 * 0.2 + 0.25 * 0.8 + 2.25 * 0.3
    assert 0.5 * inertia * motion.rate(pins[0]) ** 2 == pytest.approx(3.0 * motion.angle(pins[0]), rel=1e-7)
    assert motion.angle(pins[0])[-1] == pytest.approx(0.5 * 3.0 / inertia * 4.0, rel=2e-4)
    ratios = [motion.angle(pin)[-1] / motion.angle(pins[0])[-1] for pin in pins]
    assert ratios == pytest.approx([1, -2, -0.5, 1.5], rel=1e-13)


def test_a_rack_and_a_screw_fall_slower():
    """A rack of 2 kg that turns a pinion, and a nut on a screw: m + J / r^2 falls instead of m."""
    model = ph.Model(gravity=(0, 0, -9.81))
    nut = model.add(ph.RigidBody(3.0, (0.1, 0.1, 0.04)), "nut", position=(1, 0, 0))
    rack = model.add(ph.RigidBody(2.0, (0.1, 0.1, 0.1)), "rack")
    pinion = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.05)), "pinion", position=(0, 0.1, 0))
    thread = model.connect(ph.Cylindrical(model.ground.at((1, 0, 0)), nut.origin, axis=(0, 0, 1)))
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), rack.origin, axis=(0, 0, 1)))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0.1, 0)), pinion.origin, axis=(1, 0, 0)))
    model.connect(ph.Screw(thread, lead=0.2))
    model.connect(ph.Rack(pin, rail, radius=-0.1))
    motion = model.simulate(1.0, 1e-2, progress=False)
    for joint, mass, inertia, per_metre in ((thread, 3.0, 0.04, TURN / 0.2), (rail, 2.0, 0.1, -1 / 0.1)):
        fallen, speed = -motion.translation(joint), motion.translation_rate(joint)
        total = mass + inertia * per_metre**2
        assert 0.5 * total * speed**2 == pytest.approx(mass * 9.81 * fallen, rel=1e-5)
        assert fallen[-1] == pytest.approx(0.5 * 9.81 * mass / total, rel=4e-3)
        turned = motion.angle(joint if joint is thread else pin)
        assert turned[-1] == pytest.approx(-fallen[-1] * per_metre, rel=1e-13)


def test_small_motions_of_a_geared_pendulum():
    """A weight held through the gear by a spring on the other wheel, 0.3 rad from the pose of angle 0."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    a = model.add(ph.RigidBody(2.0, 0.03), "a")
    b = model.add(ph.RigidBody(1.0, 3e-3, center=(0.1, 0, 0)), "b", position=(0.5, 0, 0), rotation=-0.2)
    first = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), a.origin))
    model.connect(ph.Gear(first, model.connect(ph.Revolute(model.ground.at((0.5, 0, 0)), b.origin)), ratio=1.5))
    holding = 9.81 * 0.1 * np.cos(0.5) / 1.5
    model.apply(first.spring(2.0, rest=holding / 2.0 - 1.5 * 0.3))
    stiffness = 9.81 * 0.1 * np.sin(0.5) + 2.0 * 1.5**2
    inertia = 3e-3 + 0.01 + 1.5**2 * 0.03
    linear = model.linearize(at="static")
    assert linear.modes(1).frequencies[0] == pytest.approx(np.sqrt(stiffness / inertia), rel=1e-9)


def test_two_gears_that_say_the_same_are_one():
    model, a, b = two_wheels(speeds=((0, 0, 4.0), None))
    model.connect(ph.Gear(a, b, ratio=-2.0))
    alone = model.simulate(0.5, 1e-2, progress=False)
    model.connect(ph.Gear(b, a, ratio=-0.5))
    with pytest.warns(ph.RedundancyWarning, match="Gear"):
        both = model.simulate(0.5, 1e-2, progress=False)
    assert both.angle(a) == pytest.approx(alone.angle(a), abs=1e-10)


def test_what_is_no_relation_is_refused_by_name():
    model, a, b = two_wheels()
    slider = ph.Prismatic(model.ground.at((0, 0, 0)), model["a"].origin)
    with pytest.raises(ph.ModelError, match="Prismatic.* has no coordinate 'angle'; it has: 'position'"):
        ph.Gear(a, slider, ratio=2.0)
    with pytest.raises(ph.ModelError, match="is not connected in this model"):
        model.connect(ph.Gear(a, ph.Revolute(model["a"].origin, model["b"].origin), ratio=2.0))
    with pytest.raises(ph.ModelError, match="has angle of .* twice"):
        ph.Gear(a, a, ratio=2.0)
    with pytest.raises(ph.ParameterError, match="ratio must not be zero"):
        ph.Gear(a, b, ratio=0.0)
    with pytest.raises(ph.ParameterError, match="terms must be a list such as"):
        ph.Relation([(a, 2.0)])
    gear = model.connect(ph.Gear(a, b, ratio=2.0))
    with pytest.raises(ph.ModelError, match="already connected"):
        model.connect(gear)
    with pytest.raises(ph.VelocityError):
        wrong, first, second = two_wheels(speeds=((0, 0, 4.0), (0, 3.0, 4.0)))
        wrong.connect(ph.Gear(first, second, ratio=-2.0))
        wrong.simulate(0.1, 1e-2, progress=False)
