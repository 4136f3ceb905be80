"""Every body has a port-Hamiltonian form, and power is balanced in it at any state."""

import numpy as np
import pytest

import phlexible as ph
from bodies.forms import random_state
from laws.cases import BODY_CASES, random_scale
from laws.examples import EVERY_BODY
from phlexible.bodies.body import NodalBody

SEEDS = pytest.mark.parametrize("seed", range(2))


def weight(dimension):
    return np.array([0.5, -9.81, 1.0]) * (np.arange(3) < dimension)


@SEEDS
@EVERY_BODY
def test_power_is_balanced_at_any_state(dimension, body, seed):
    """Also for rows of R and stresses that no motion makes."""
    rng = np.random.default_rng(seed)
    # The check differentiates by steps of a percent: right for energies of degree 4, for no logarithms of C.
    options = {"law": ph.StVenantKirchhoff(1e6, 0.3)} if body is ph.SoftBody else {}
    drawn = BODY_CASES[body].make(rng, random_scale(rng), dimension, **options)
    form = drawn.port_hamiltonian(dimension=dimension, gravity=weight(dimension))
    x = form.initial_state if isinstance(drawn, NodalBody) else random_state(form, seed)[0]
    assert ph.check_structure(form, x + 0.1 * rng.normal(size=form.state_size)).power < 1e-14
