"""Passive control: energies that are shaped, and observers of passive models."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded

TARGET, STIFFNESS, DAMPING = 0.6, 30.0, 6.0


def arm(gravity=9.81):
    """A limp beam with a load at its end, on a motor; the inertia of the motor's rotor is at the hinge."""
    model = ph.Model(gravity=(0.0, -gravity, 0.0), dimension=2)
    aluminium = ph.Material(7e10, 2700.0)
    beam = ph.Beam(0.8, ph.RectangularSection(12e-3, 0.03), aluminium, elements=4, frame="cantilever", modes=3)
    rotor = model.add(ph.RigidBody(0.5, 0.05), "rotor")
    link = model.add(beam, "link")
    load = model.add(ph.PointMass(0.5), "load", position=(0.8, 0.0, 0.0))
    hinge = model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), rotor.origin))
    model.connect(ph.Fixed(rotor.origin, link.start))
    model.connect(ph.Spherical(link.end, load.origin))
    return model, hinge


def test_the_energy_of_the_loop_falls_to_a_minimum_at_the_target():
    model, hinge = arm()
    shaping = replace(shape(), joint=hinge)
    beam, load = 0.8 * 12e-3 * 0.03 * 2700.0, 0.5
    assert shaping.weight == pytest.approx((0.0, 9.81 * (0.4 * beam + 0.8 * load)), rel=1e-9)
    assert 0.0 < abs(shaping.offset) < 0.1 * shaping.weight[1]
    model.apply(shaping)
    rest = model.equilibrium()
    assert rest.angle(hinge) == pytest.approx(TARGET, abs=1e-9) and rest.is_stable
    motion = model.simulate(3.0, 5e-3, progress=False)
    energy = motion.energy.total
    assert np.diff(energy).max() <= 1e-11 * np.ptp(energy)
    assert motion.angle(hinge)[-1] == pytest.approx(TARGET, abs=2e-3)
    stored = energy - rest.potential_energy
    assert stored[-1] == pytest.approx(0.0, abs=2e-3 * stored[0]) and stored.min() > -1e-9 * stored[0]


@cache
def shape():
    return ph.energy_shaping(*arm(), TARGET, stiffness=STIFFNESS, damping=DAMPING)


def run(apply, step=5e-3, duration=3.0):
    """Stored energy of the shaped loop over time, from a run of the arm with something else in its hinge."""
    model, hinge = arm()
    shaping = replace(shape(), joint=hinge)
    wanted = shaping.potential
    model.apply(apply(hinge, shaping))
    own = (motion := model.simulate(duration, step, progress=False)).energy
    angle = motion.angle(hinge)
    return own.kinetic + own.strain + own.gravity - own.gravity[0] + [wanted.energy_at(x) for x in angle], angle


def pd(period, weight):
    """A sampled PD with the gains of the shape, and a share of its weight."""

    def apply(hinge, shaping):
        a, b = shaping.weight

        def law(t, seen):
            own = -a * np.sin(seen[0]) + b * np.cos(seen[0]) + shaping.offset
            return STIFFNESS * (TARGET - seen[0]) - DAMPING * seen[1] + weight * own

        return hinge.torque(ph.Feedback(law, [hinge], period=period))

    return apply


@pytest.mark.filterwarnings("ignore::phlexible.StepWarning", "ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.filterwarnings("ignore::phlexible.LargeStrainWarning")
def test_beside_pd_controllers_with_the_same_gains():
    """PD alone sags; with the weight and fast samples it is the same law; at 100 Hz it feeds the arm."""
    shaped, angle = run(lambda hinge, shaping: shaping)
    sagging, sagged = run(pd(5e-3, 0.0))
    fast, _ = run(pd(5e-3, 1.0))
    least = min(shaped.min(), fast.min())
    assert angle[-1] == pytest.approx(TARGET, abs=1e-4) and sagged[-1] == pytest.approx(0.384, abs=2e-3)
    assert (sagging[-50:].mean() - least) / (shaped[0] - least) == pytest.approx(0.13, abs=0.01)
    assert shaped[-50:].mean() - least < 1e-4 * shaped[0]
    costs = [np.sum(each - least) for each in (shaped, fast, sagging)]
    assert costs[1] == pytest.approx(costs[0], rel=0.02) and costs[2] > 2.5 * costs[0]
    slow, _ = run(pd(1e-2, 1.0), duration=1.5)
    assert slow.max() > 2 * slow[0]
    coarse, _ = run(lambda hinge, shaping: shaping, step=1e-2, duration=0.4)
    assert np.diff(coarse).max() <= 1e-10 * coarse[0]


def test_damping_is_injected_and_what_has_no_shape_is_refused():
    model, hinge = arm(gravity=0.0)
    ph.damping_injection(model, {hinge: 0.5})
    model.apply(ph.Torque(model["rotor"].origin, lambda t: (0, 0, 1.0 * (t < 0.1)), breakpoints=[0.1]))
    motion = model.simulate(1.0, 5e-3, progress=False)
    after = motion.energy.total[motion.time > 0.1 + 1e-9]
    assert (np.diff(after) <= 1e-12).all() and after[-1] < 0.2 * after[0]
    other, joint = arm()
    with pytest.raises(ph.ModelError, match="joint must be one of the model"):
        ph.energy_shaping(model, joint, 0.1, stiffness=1.0, damping=0.0)
    with pytest.raises(ph.ModelError, match="one coordinate"):
        ph.energy_shaping(other, other.joints[1], 0.1, stiffness=1.0, damping=0.0)
    crank = ph.gallery.crank_slider(elements=2)
    with pytest.raises(ph.ModelError, match="in a loop"):
        ph.energy_shaping(crank, crank.joints[0], 0.1, stiffness=1.0, damping=0.0)


def test_a_sliding_joint_carries_the_weight():
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    lift = model.add(ph.RigidBody(3.0, 0.1), "lift")
    rail = model.connect(ph.Prismatic(model.ground.at((0.0, 0.0, 0.0)), lift.origin, axis=(0, 1, 0)))
    shaping = ph.energy_shaping(model, rail, 0.4, stiffness=20.0, damping=30.0)
    assert shaping.weight == pytest.approx((3.0 * 9.81, 0.0)) and shaping.offset == 0.0
    model.apply(shaping)
    assert model.simulate(20.0, 0.05, progress=False).translation(rail)[-1] == pytest.approx(0.4, abs=1e-6)


def two_links(elastic=False):
    """Two links of 1 m and 0.7 m with 2 kg and 1 kg in their middles, on two hinges."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    upper = model.add(ph.RigidBody(2.0, 0.2, center=(0.5, 0.0, 0.0)), "upper")
    if elastic:
        section, steel = ph.RectangularSection(6e-3, 0.02), ph.Material(7e10, 2700.0)
        beam = ph.Beam(0.7, section, steel, elements=2, modes=2, frame="cantilever", damping_ratio=0.1)
        lower = model.add(beam, "lower", position=(1.0, 0.0, 0.0))
        root = lower.start
        load = model.add(ph.PointMass(0.3), "load", position=(1.7, 0.0, 0.0))
        model.connect(ph.Spherical(lower.end, load.origin))
    else:
        lower = model.add(ph.RigidBody(1.0, 0.1, center=(0.35, 0.0, 0.0)), "lower", position=(1.0, 0.0, 0.0))
        root = lower.origin
    model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), upper.origin, name="shoulder"))
    model.connect(ph.Revolute(upper.point((1.0, 0.0, 0.0)), root, name="elbow"))
    return model


@pytest.mark.parametrize("elastic", [False, True])
def test_several_joints_share_one_minimum(elastic):
    """The torques of rigid links are those of statics; the energy falls to the pose at any step."""
    model = two_links(elastic)
    shoulder, elbow = model.joint("shoulder"), model.joint("elbow")
    shaping = ph.shared_energy_shaping(model, {shoulder: 0.5, elbow: -0.9}, stiffness=60.0, damping=12.0)
    if not elastic:
        own = 9.81 * 0.35 * np.cos(0.5 - 0.9)
        expected = [9.81 * (2.0 * 0.5 + 1.0) * np.cos(0.5) + own, own]
        assert [shape.offset for shape in shaping.shapes] == pytest.approx(expected, rel=1e-9)
    model.apply(shaping)
    rest = model.equilibrium()
    assert rest.is_stable
    assert [rest.angle(joint) for joint in (shoulder, elbow)] == pytest.approx([0.5, -0.9], abs=1e-9)
    motion = model.simulate(4.0, 4e-3 if elastic else 0.02, progress=False)
    energy = motion.energy.total
    assert np.diff(energy).max() <= 1e-11 * np.ptp(energy)
    assert [motion.angle(joint)[-1] for joint in (shoulder, elbow)] == pytest.approx([0.5, -0.9], abs=0.02)


def test_shapes_that_several_joints_cannot_share_are_refused():
    model = two_links()
    shoulder = model.joint("shoulder")
    with pytest.raises(ph.EquilibriumError, match="take more stiffness than 0.01"):
        ph.shared_energy_shaping(model, {shoulder: 1.5}, stiffness=0.01, damping=1.0)
    with pytest.raises(ph.ModelError, match="joint must be one of the model"):
        ph.shared_energy_shaping(two_links(), {shoulder: 0.1}, stiffness=1.0, damping=1.0)
    with pytest.raises(ph.ParameterError, match="targets must be numbers by joint"):
        ph.shared_energy_shaping(model, {}, stiffness=1.0, damping=1.0)


def test_little_stiffness_is_enough_where_the_weight_bends_its_energy_little():
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    bar = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0.0, 0.0)), "bar")
    hinge = model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), bar.origin))
    model.apply(ph.shared_energy_shaping(model, {hinge: 0.1}, stiffness=1.0, damping=0.1))
    rest = model.equilibrium()  # where the weight's own stiffness is -0.5 * 9.81 sin 0.1 = -0.49 N m/rad
    assert rest.angle(hinge) == pytest.approx(0.1, abs=1e-9) and rest.is_stable


AXIS = (0, 0, 1)


def test_an_observer_of_the_whole_model_has_the_poles_of_two_oscillators():
    """A mass on a spring: m s^2 + (d + K) s + k of what is fed back, with injection K of the error."""
    m, k, d, K, share = 2.0, 50.0, 0.6, 3.0, 4.0
    model, _, rail = grounded(ph.RigidBody(m, 1.0), ph.Prismatic, axis=(1, 0, 0), dimension=2, name="mass")
    model.apply(rail.spring(k, damping=d))
    linear = model.linearize([rail])
    observer = ph.passive_observer(linear, K, share)
    expected = np.concatenate([np.roots([m, d + gain, k]) for gain in (K, share * K)])
    loop = linear.interconnect(observer.model).to_state_space()
    held = np.linalg.eigvals(loop.A)  # with two zeros of what the rail holds
    for found in (linear.interconnect(observer.law).poles, held[np.abs(held) > 1e-6]):
        assert np.sort_complex(found) == pytest.approx(np.sort_complex(expected), rel=1e-9)


def satellite():
    model = ph.gallery.satellite(elements=6, damping_ratio=0.0)
    hub = model["hub"].origin
    return model, ph.Torque(hub, AXIS, name="wheel"), ph.AngularVelocity(hub, AXIS)


def test_what_the_reduction_left_out_is_damped_too():
    """Any gain, an observer of 4 states for 74: the loop has a certificate and no pole to the right."""
    model, wheel, _ = satellite()
    model.apply(model.connect(ph.Revolute(model.ground.at((0, 0, 0)), model["hub"].origin)).spring(200.0))
    linear = model.linearize([wheel])
    small = linear.reduce(4, method="modal")
    for damping, injection in ((5.0, 1.0), (500.0, 1.0), (50.0, 20.0)):
        observer = ph.passive_observer(small, damping, injection)
        assert observer.model.passivity().is_passive
        assert linear.interconnect(observer.model).passivity().is_passive
        poles = linear.interconnect(observer.law).poles
        assert poles.real.max() <= 1e-6 * np.abs(poles).max()
    assert np.sum(poles.real < -1e-5) >= 16  # 4 + 4 states that are modelled, and 4 modes that were left out


def test_it_stops_the_nonlinear_satellite():
    model, wheel, rate = satellite()
    observer = ph.passive_observer(model.linearize([wheel]).reduce(4, method="modal"), 500.0)
    model.apply(ph.Torque(wheel.attachment, lambda t: (0, 0, 4.0 * (t < 1.0)), breakpoints=[1.0], name="kick"))
    free = model.simulate(12.0, 0.02, output_step=0.1, progress=False).energy.total[-1]
    model.apply(ph.Feedback(observer.law, [rate], on=[wheel], name="observer"))
    motion = model.simulate(12.0, 0.02, output_step=0.1, progress=False)
    assert motion.energy.total[-1] < 0.1 * free


def test_what_has_no_observer_is_refused():
    model, wheel, _ = satellite()
    linear = model.linearize([wheel])
    with pytest.raises(ph.ModelError, match="no inputs"):
        ph.passive_observer(model.linearize(), 1.0)
    with pytest.raises(ph.ModelError, match="linear must be what model.linearize"):
        ph.passive_observer(model, 1.0)
    with pytest.raises(ph.ParameterError, match="damping must be a positive number, or 1 of them"):
        ph.passive_observer(linear, [1.0, 2.0])
