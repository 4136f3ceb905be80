"""Every body has a port-Hamiltonian form, and it is checked; a body that is not listed fails."""

import numpy as np
import pytest

from bodies.forms import BODIES, random_state
from phlexible.bodies.body import Body
from phlexible.bodies.string.law import LogarithmicLaw
from phlexible.bodies.string.string import String
from phlexible.port_hamiltonian.structure_check import check_structure


def all_bodies():
    found, queue = set(), [Body]
    while queue:
        for each in queue.pop().__subclasses__():
            if each.__module__.startswith("phlexible."):
                found.add(each)
            queue.append(each)
    return found


def test_every_body_is_listed():
    missing = all_bodies() - {type(body) for body in BODIES.values()} - {String}  # see below
    assert not missing, f"add {missing} to BODIES in tests/bodies/forms.py"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", BODIES)
def test_power_is_balanced_at_any_state(name, seed):
    for dimension in (2, 3):
        form = BODIES[name].port_hamiltonian(dimension=dimension, gravity=(0.0, -9.81, 0.0))
        x = random_state(form, seed)[0] + 0.1 * np.random.default_rng(seed).normal(size=form.state_size)
        figures = check_structure(form, x)  # also for rows of R and stresses that no motion makes
        assert figures.power < 1e-14


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_power_of_a_string_is_balanced_at_any_state(dimension, seed):
    string = String(1.0, 0.5, 3, LogarithmicLaw(20.0), order=1 + seed % 2, viscosity=0.1)
    gravity = np.array([0.5, -9.81, 1.0]) * (np.arange(3) < dimension)
    form = string.port_hamiltonian(dimension=dimension, gravity=gravity)
    x = form.initial_state + 0.1 * np.random.default_rng(seed).normal(size=form.state_size)
    assert check_structure(form, x).power < 1e-14
