"""Momenta: without external load they are constant, with weight they grow by its impulse."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from phlexible.system.constraints import mechanism_layout

from laws.cases import joint_types
from laws.examples import examples, resolved
from laws.figures import momenta, momentum_errors, states
from laws.models import H_OMEGA, Wishes, random_mechanism
from phlexible.bodies.mechanics.floating import mass_matrix
from phlexible.initial.initial_state import InitialKind

LIMIT = 1e-11
JOINTS = [pytest.param(d, kind, id=f"{kind.__name__}-{d}D") for d in (2, 3) for kind in joint_types(d)]


@pytest.mark.parametrize(("dimension", "kind"), JOINTS)
@examples(5)
@given(seed=st.integers(0, 2**32 - 1), h_omega=st.sampled_from(H_OMEGA), initial=st.sampled_from(InitialKind))
def test_no_joint_changes_momenta_in_free_flight(dimension, kind, seed, h_omega, initial):
    wishes = Wishes(dimension, h_omega, initial=initial, first_joint=kind)
    motion = resolved(random_mechanism(seed, wishes).simulate)
    assert max(momentum_errors(motion)) <= LIMIT
    total, spin = motion.momentum.linear, motion.momentum.angular
    parts = momenta(motion, states(motion, [-1])[0])
    for reported, each in zip((total, spin), parts, strict=True):
        assert reported[-1] == pytest.approx(each.sum(axis=0), abs=1e-13 * np.abs(each).sum())


@pytest.mark.parametrize("dimension", [2, 3])
@examples(8)
@given(seed=st.integers(0, 2**32 - 1), h_omega=st.sampled_from(H_OMEGA[:4]))
def test_weight_changes_momenta_by_its_impulse(dimension, seed, h_omega):
    """delta(p) = h m g and delta(L) = h mean(sum m x_c) x g in every step, not only in the limit."""
    motion = resolved(random_mechanism(seed, Wishes(dimension, h_omega, gravity=True)).simulate)
    assert momentum_errors(motion)[0] <= LIMIT
    assume(motion.halvings[-1] == 0)
    moments = np.array([mass_moment(motion, state) for state in states(motion, range(len(motion.time)))])
    steps = np.diff(motion.time)[:, None]
    expected = steps * np.cross((moments[:-1] + moments[1:]) / 2, motion.mechanism.gravity)
    spins = motion.momentum.angular
    parts = momenta(motion, states(motion, [-1])[0])[1]
    scale = max(np.abs(spins).max(), np.linalg.norm(parts, axis=1).sum())
    assert np.diff(spins, axis=0) == pytest.approx(expected, abs=1e-12 * scale)


def mass_moment(motion, state):
    """sum m x_c of all bodies, shape (3,): M(eta) holds m c in its coupling of v and w."""
    layout, total = mechanism_layout(motion.mechanism), np.zeros(3)
    for index, placed in enumerate(motion.mechanism.bodies):
        data = placed.data
        eta = state.elastic[layout.elastic[index] : layout.elastic[index + 1]]
        center = data.first_moments @ [1.0, *eta]
        assert mass_matrix(data, eta)[0, 0] == data.mass
        total += data.mass * state.position[index] + state.rotation[index] @ center
    return total
