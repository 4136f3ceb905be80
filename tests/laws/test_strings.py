"""Random mechanisms with a string in them obey the laws, with every stored energy and at any step."""

import pytest
from hypothesis import given, strategies as st

from laws.cases import LAW_CASES
from laws.examples import SEEDS, examples, resolved
from laws.figures import energy_error, joint_gaps, momentum_errors
from laws.models import Wishes, random_mechanism

LAWS = [pytest.param(d, law, id=f"{law.__name__}-{d}D") for d in (2, 3) for law in LAW_CASES]
H_OMEGA = (1.0, 0.1, 10.0)


@pytest.mark.parametrize(("dimension", "law"), LAWS)
@examples(2)
@given(seed=SEEDS, h_omega=st.sampled_from(H_OMEGA))
def test_free_flight_keeps_momenta_and_energy(dimension, law, seed, h_omega):
    motion = resolved(random_mechanism(seed, Wishes(dimension, h_omega, law=law)).simulate)
    assert max(momentum_errors(motion)) <= 1e-11
    assert energy_error(motion) <= 1e-11
    assert not motion.energy.supplied.any()
    assert max(joint_gaps(motion)) <= 1e-12
