"""Energy: what is stored changes by what loads and drives supply less what damping takes, at any step."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import phlexible as ph
from laws.cases import BODY_CASES, LOAD_CASES
from laws.examples import EVERY_BODY, SEEDS, STEP_SIZES, YES_OR_NO, examples, resolved
from laws.figures import energy_error, energy_scale
from laws.models import DEFORMED, STEPS, Wishes, random_mechanism
from phlexible.bodies.mechanics.floating import strains
from phlexible.state.initial_state import InitialKind

LIMIT = 1e-11
LOADS = [pytest.param(d, kind, id=f"{kind.__name__}-{d}D") for kind, c in LOAD_CASES.items() for d in c.dimensions]
DAMPING = ["viscosity", "none", "damping_ratio", "numerical_damping"]


def damped_motion(sample, kind, amount, **options):
    """The motion with one kind of damping; the amount is gamma or a time in steps."""
    if kind == "viscosity":
        sample = sample.damped(viscosity=amount)
    elif kind == "damping_ratio":
        sample = sample.damped(damping_ratio=amount / 10)
    return sample.simulate(numerical_damping=amount if kind == "numerical_damping" else 0.0, **options)


@EVERY_BODY
@pytest.mark.parametrize("ground", ["free", "fixed", "moving"])
@examples(2)
@given(
    seed=SEEDS,
    h_omega=st.sampled_from(STEP_SIZES),
    gravity=YES_OR_NO,
    loads=st.sampled_from([2, 0, 1, 3, 4]),
    damping=st.sampled_from(DAMPING),
    initial=st.sampled_from(InitialKind),
    loop=st.booleans(),
)
def test_the_balance_closes(dimension, body, ground, seed, h_omega, gravity, loads, damping, initial, loop):
    """In free flight, on the ground, and on ground that moves and turns."""
    h_omega = min(h_omega, BODY_CASES[body].h_omega)
    loop = loop and ground != "free" and h_omega <= 1  # at large steps it jumps, or stops, between its two closures
    weight = gravity or loop or (ground == "fixed" and initial is DEFORMED)  # something must move
    wishes = Wishes(dimension, h_omega, ground, weight, loads, initial, loop, body=body)
    sample = random_mechanism(seed, wishes)
    assert energy_error(resolved(lambda: damped_motion(sample, damping, 0.1, every=50))) <= LIMIT


@pytest.mark.parametrize(("dimension", "kind"), LOADS)
@examples(2)
@given(seed=SEEDS, h_omega=st.sampled_from(STEP_SIZES))
def test_the_balance_closes_under_every_load(dimension, kind, seed, h_omega):
    body = LOAD_CASES[kind].body
    h_omega = min(h_omega, BODY_CASES[body].h_omega) if body else h_omega
    wishes = Wishes(dimension, h_omega, loads=2, flexible=True, load=kind, body=body)
    motion = resolved(random_mechanism(seed, wishes).simulate)
    assert energy_error(motion) <= LIMIT
    assert all(np.abs(motion.energy.work[str(load)]).max() > 0 for load in motion.mechanism.loads)


@pytest.mark.parametrize("kind", [kind for kind in DAMPING if kind != "none"])
@pytest.mark.parametrize("dimension", [2, 3])
@examples(2)
@given(seed=SEEDS, h_omega=st.sampled_from([size for size in STEP_SIZES if size >= 1.0]))
def test_damping_takes_energy_in_every_step(dimension, kind, seed, h_omega):
    """Every step is dissipative, by as much as the strains and rates in it say."""
    sample = random_mechanism(seed, Wishes(dimension, h_omega, initial=DEFORMED, flexible=True))
    motion = resolved(lambda: damped_motion(sample, kind, 0.1))
    assume(motion.halvings[-1] == 0)
    lost, scale = np.diff(motion.energy.dissipated), energy_scale(motion)
    assert (lost > 0).all()
    beyond_round_off = lost > 1e-12 * scale
    assert beyond_round_off.any()
    assert (np.diff(motion.energy.total)[beyond_round_off] < 0).all()
    assert lost == pytest.approx(expected_loss(motion, kind, 0.1 * sample.step), rel=1e-8, abs=1e-14 * scale)


def expected_loss(motion, kind, amount):
    """gamma delta(eps).D delta(eps) of each step, or h times the mean rates in the damping matrix."""
    steps, total = np.diff(motion.time), np.zeros(len(motion.time) - 1)
    for index, data in enumerate(motion.run.system.frames):
        eta = motion.run.elastic(index)
        change = np.diff(eta, axis=0)
        if kind == "damping_ratio":
            total += np.einsum("ti,ij,tj->t", change, data.damping, change) / steps
            continue
        eps = np.diff([strains(data, each) for each in eta], axis=0)
        energies = np.einsum("ti,ij,tj->t", change, data.strain.stiffness, change) + eps**2 @ data.strain.weights
        total += energies * (amount / steps if kind == "viscosity" else 0.1)
    return total


def test_energy_is_lost_to_damping_only_as_long_as_something_bends():
    """A damped beam that turns about its end as a rigid body would, held stretched: nothing is lost."""
    model = ph.Model(dimension=2)
    beam = ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(2e11, 7870.0, viscosity=1e-3), elements=4)
    body = model.add(beam, angular_velocity=(0, 0, 20.0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.start))
    motion = model.simulate(STEPS * 1e-3, 1e-3, initial="quasi_static", numerical_damping=0.1, progress=False)
    assert motion.energy.dissipated[-1] <= 1e-12 * motion.energy.kinetic[0]
