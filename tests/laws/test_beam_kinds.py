"""Every kind of beam through the laws: energy, momenta, power in port-Hamiltonian form, files."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import phlexible as ph
from bodies.forms import random_state
from laws.cases import BEAM_KINDS, random_beam, random_scale
from laws.examples import SEEDS, STEP_SIZES, YES_OR_NO, examples, resolved
from laws.figures import energy_error, joint_gaps
from laws.models import Wishes, random_mechanism
from laws.test_momentum import check_momenta
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.mechanics.floating import strain_energy

LIMIT = 1e-11
KINDS = pytest.mark.parametrize(
    ("dimension", "kind"), [pytest.param(d, kind, id=f"{kind}-{d}D") for d in (2, 3) for kind in BEAM_KINDS[1:]]
)
LONG_STEPS = st.sampled_from([size for size in STEP_SIZES if size >= 1.0])


@KINDS
@examples(2)
@given(seed=SEEDS, h_omega=LONG_STEPS)
def test_momenta_and_energy_stay_in_free_flight(dimension, kind, seed, h_omega):
    wishes = Wishes(dimension, h_omega, body=ph.Beam, beam={"kind": kind}, bodies=2)
    check_momenta(resolved(random_mechanism(seed, wishes).simulate))


@KINDS
@examples(2)
@given(seed=SEEDS, h_omega=LONG_STEPS, viscosity=YES_OR_NO)
def test_the_balance_closes_and_joints_hold_with_loads_and_damping(dimension, kind, seed, h_omega, viscosity):
    wishes = Wishes(dimension, h_omega, "fixed", True, 3, body=ph.Beam, beam={"kind": kind}, bodies=2)
    sample = random_mechanism(seed, wishes).damped(viscosity=0.1 * viscosity)
    motion = resolved(lambda: sample.simulate(every=20))
    assert energy_error(motion) <= LIMIT
    assert max(joint_gaps(motion)) <= 1e-10


@KINDS
def test_power_is_balanced_in_every_form(dimension, kind):
    """And the stress states hold the same energy as the strains."""
    rng = np.random.default_rng(dimension)
    beam = random_beam(rng, random_scale(rng), dimension, kind)
    for variant in ("full", "constant_mass"):
        form = beam.port_hamiltonian(variant, dimension=dimension)
        x, eta, _ = random_state(form)
        assert ph.check_structure(form, x + 0.1 * rng.normal(size=form.state_size)).power < 1e-13
    data, stress = beam.discretize(dimension), form.stress_space.stress(eta)
    assert isinstance(data, FloatingBody)
    stored = stress @ form.stress_space.compliance @ stress / 2
    assert stored == pytest.approx(strain_energy(data, eta), rel=1e-8)


@KINDS
def test_files_hold_every_kind(tmp_path, dimension, kind):
    rng = np.random.default_rng(7)
    beam = random_beam(rng, random_scale(rng), dimension, kind, modes=None)
    model = ph.Model(dimension=dimension)
    model.add(beam, "beam")
    model.add(beam.split(2), "cut", position=(0.0, 5.0, 0.0))
    model.simulate(1e-6, 1e-6, progress=False).save(tmp_path / "run.h5")
    loaded = ph.Motion.load(tmp_path / "run.h5").mechanism
    assert loaded["beam"].body == beam and loaded["cut"].body == beam.split(2)
