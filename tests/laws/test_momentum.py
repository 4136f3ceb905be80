"""Momenta: without external load they are constant, with weight they grow by its impulse."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.spatial.transform import Rotation

import phlexible as ph
from laws.cases import BODY_CASES, random_scale
from laws.examples import EVERY_BODY, EVERY_JOINT, SEEDS, STEP_SIZES, examples, resolved
from laws.figures import carrier_masses, center_of_mass_path, energy_error, energy_scale, momenta, momentum_errors
from laws.models import Wishes, random_mechanism
from phlexible.state.initial_state import InitialKind, initial_state
from phlexible.state.system import system_of

LIMIT = 1e-11


@EVERY_JOINT
@examples(2)
@given(seed=SEEDS, h_omega=st.sampled_from(STEP_SIZES), initial=st.sampled_from(InitialKind))
def test_no_joint_changes_momenta_in_free_flight(dimension, kind, seed, h_omega, initial):
    wishes = Wishes(dimension, h_omega, initial=initial, first_joint=kind)
    check_momenta(resolved(random_mechanism(seed, wishes).simulate))


@EVERY_BODY
@examples(2)
@given(seed=SEEDS, h_omega=st.sampled_from(STEP_SIZES))
def test_no_body_changes_momenta_in_free_flight_where_nothing_is_supplied_or_lost(dimension, body, seed, h_omega):
    wishes = Wishes(dimension, min(h_omega, BODY_CASES[body].h_omega), body=body)
    motion = resolved(random_mechanism(seed, wishes).simulate)
    check_momenta(motion)
    assert not motion.energy.supplied.any() and not motion.energy.dissipated.any()
    assert np.ptp(motion.energy.total) <= LIMIT * energy_scale(motion)


def check_momenta(motion):
    """They stay, as does energy; the centre of mass flies straight; reported are those of M(eta) nu."""
    assert max(momentum_errors(motion)) <= LIMIT
    assert energy_error(motion) <= LIMIT
    path, mass = center_of_mass_path(motion), sum(placed.data.mass for placed in motion.mechanism.bodies)
    straight = path[0] + np.outer(motion.time, motion.momentum.linear[0]) / mass
    reach = np.abs(motion.recording.position).max()
    assert path == pytest.approx(straight, abs=LIMIT * reach)
    assert motion.momentum.center_of_mass == pytest.approx(path, abs=1e-13 * reach)
    total, spin = motion.momentum.linear, motion.momentum.angular
    parts = momenta(motion.run.system, motion.recording.state(-1))
    for reported, each in zip((total, spin), parts, strict=True):
        assert reported[-1] == pytest.approx(each.sum(axis=0), abs=1e-13 * np.abs(each).sum())


@EVERY_BODY
@examples(1)
@given(seed=SEEDS, h_omega=st.sampled_from([size for size in STEP_SIZES if size <= 100.0]))
def test_weight_changes_momenta_by_its_impulse(dimension, body, seed, h_omega):
    """delta(p) = h m g and delta(L) = h mean(sum m x_c) x g in every step, not only in the limit."""
    wishes = Wishes(dimension, min(h_omega, BODY_CASES[body].h_omega), gravity=True, body=body)
    motion = resolved(random_mechanism(seed, wishes).simulate)
    assert momentum_errors(motion)[0] <= LIMIT
    assume(motion.halvings[-1] == 0)
    moments = np.einsum("c,tci->ti", carrier_masses(motion.run.system), motion.recording.position)  # sum m x_c
    steps = np.diff(motion.time)[:, None]
    expected = steps * np.cross((moments[:-1] + moments[1:]) / 2, motion.mechanism.gravity)
    spins = motion.momentum.angular
    parts = momenta(motion.run.system, motion.recording.state(-1))[1]
    scale = max(np.abs(spins).max(), np.linalg.norm(parts, axis=1).sum())
    assert np.diff(spins, axis=0) == pytest.approx(expected, abs=1e-12 * scale)


V, W = np.array([0.5, -2.0, 0.0]), np.array([0.0, 0.0, 3.0])


def thrown(make, **given):
    """Momentum, angular momentum about the origin, centre of mass and mass of a model at the start."""
    model = ph.Model()
    make(model, position=(0.3, 0.2, -0.1), rotation=Rotation.from_rotvec((0.3, -0.2, 0.4)), **given)
    system = system_of(model)
    state = initial_state(system, InitialKind.UNDEFORMED)
    masses = carrier_masses(system)
    linear, angular = (part.sum(axis=0) for part in momenta(system, state))
    return linear, angular, masses @ state.position / masses.sum(), masses.sum()


def one(body):
    return lambda model, **options: model.add(body, "thrown", **options)


@pytest.mark.parametrize("spin", [4e-3, 1e-3])
def test_a_spring_that_pulls_a_pair_on_its_joint_turns_it_in_no_long_step(spin):
    """The impulse of both is 1e5 times the momentum, and that of the joint is not known where the step begins."""
    model = ph.Model(dimension=2)
    wheel = ph.RigidBody(24.0, (10.0, 10.0, 10.0))
    body = model.add(wheel, "body", velocity=(0, 0.015, 0), angular_velocity=(0, 0, spin))
    mass = model.add(ph.PointMass(13.0), "mass", (2.0, 0, 0), velocity=(0, 0.015 + 2 * spin, 0))
    model.connect(ph.Spherical(body.point((2.0, 0, 0)), mass.origin))
    model.apply(ph.SpringDamper(body.point((-1.0, 0.5, 0)), mass.origin, stiffness=200.0, length=0.7))
    linear, angular = momentum_errors(model.simulate(10.0, 10.0, progress=False))
    assert max(linear, angular) <= LIMIT


def on_hub(model, position, rotation, velocity):
    hub = model.add(ph.RigidBody(0.1, (1e-4, 1e-4, 1e-4)), "hub", position, rotation, velocity)
    for body in (ARM, ROD):
        model.connect(ph.Fixed(hub.origin, model.add(body, None, position, rotation).start))


SECTION, STEEL = ph.CircularSection(5e-3), ph.Material(2e9, 1200.0, 0.3)
ARM, ROD = ph.Beam(0.5, SECTION, STEEL), ph.Rod(0.5, SECTION, STEEL, elements=4)
SCALE = random_scale(np.random.default_rng(1))
DRAWN = {kind.__name__: one(case.make(np.random.default_rng(2), SCALE, 3)) for kind, case in BODY_CASES.items()}
THROWN = {**DRAWN, "split": one(ARM.split(3)), "Rod": one(ROD), "hub": on_hub}
TURNING = THROWN.keys() - {"PointMass", "String", "hub"}


@pytest.mark.parametrize("name", THROWN)
def test_bodies_are_thrown_as_rigid_ones_about_their_origins(name):
    """The same two velocities for all bodies; what is left out of a body that nothing holds is zero."""
    linear, angular, center, mass = thrown(THROWN[name], velocity=V)
    assert linear == pytest.approx(mass * V, rel=1e-12)
    assert angular == pytest.approx(np.cross(center, linear), rel=1e-11, abs=1e-12 * mass)
    if name not in TURNING:
        return
    turning = thrown(THROWN[name], angular_velocity=W)
    assert turning[0] == pytest.approx(mass * np.cross(W, center - (0.3, 0.2, -0.1)), rel=1e-9, abs=1e-12 * mass)
    both = thrown(THROWN[name], velocity=V, angular_velocity=W)
    for whole, first, second in zip(both[:2], (linear, angular), turning[:2], strict=True):
        assert whole == pytest.approx(first + second, rel=1e-9, abs=1e-11 * mass)
