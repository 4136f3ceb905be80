"""What forms of strings, rods and soft bodies with strains as states have in common: structure, slopes, efforts."""

from itertools import product

import numpy as np
import pytest

import phlexible as ph
from bodies import test_port_hamiltonian_rod as rods, test_port_hamiltonian_string as strings
from bodies.soft import test_strain_forms as softs

ORDERS, DIMENSIONS = (1, 2), (1, 2, 3)


def rod(dimension, order, start):
    gravity = rods.fall(dimension)
    return rods.rod(dimension, order).port_hamiltonian(dimension=dimension, gravity=gravity, start=start)


def soft(name, strains):
    motion = {"shape": softs.bent, "velocity": softs.speed}
    return softs.soft(name).port_hamiltonian(strains=strains, gravity=(1, 2, -9), **motion)


FORMS = [
    *((rod, *case) for case in product(DIMENSIONS, ORDERS, ("force", "fixed"))),
    *((strings.form, *case, 0.1) for case in product(DIMENSIONS, ORDERS, strings.BOUNDARIES, strings.BOUNDARIES)),
    *((soft, *case) for case in softs.CASES),
]
OF_EACH = [  # whose slopes and efforts take longer
    *((rod, dimension, 1, "force") for dimension in DIMENSIONS),
    *((strings.form, 2, *case) for case in product(ORDERS, strings.BOUNDARIES)),
    *((soft, *case) for case in softs.CASES),
]


def moved(form, make):
    """Away from the start: strains do not belong to the shape, rotations are none."""
    size = 0.02 if make is soft else 0.1
    return form.initial_state + size * np.random.default_rng(0).normal(size=form.state_size)


@pytest.mark.parametrize(("make", "options"), [(make, options) for make, *options in FORMS])
def test_structure_at_the_start_and_moved(make, options):
    form = make(*options)
    for state in (form.initial_state, moved(form, make)):
        figures = ph.check_structure(form, state)
        assert max(figures.skewness, figures.symmetry, figures.definiteness, figures.power) < 1e-14
        assert figures.gradient < 1e-8


@pytest.mark.parametrize(("make", "options"), [(make, options) for make, *options in OF_EACH])
def test_slopes_and_discrete_efforts(make, options):
    """Slopes against differences of forces; efforts times the change of states are the change of the energy."""
    form, rng, close = make(*options), np.random.default_rng(1), 1e-8 if make is soft else 1e-6
    x, u, way = moved(form, make), rng.normal(size=form.port_size), rng.normal(size=form.state_size)
    found = -form.defect_slope(x, 0 * x, u) @ way
    ends = [form.forces(x + t * 1e-6 * way, u) for t in (-1, 1)]
    expected = (ends[1] - ends[0]) / 2e-6
    for block in form.states:
        own = form.state_slice(block.name)
        if block.name != "velocity" or not form.dissipation_matrix(x).nnz:  # how R changes is left out
            assert found[own] == pytest.approx(expected[own], abs=close * np.abs(expected[own]).max(initial=0))
    for step in (0.05, 1e-9):
        far = x + step * way
        change = form.discrete_effort(x, far) @ (form.descriptor_matrix(x) @ (far - x))
        size = abs(form.storage(x))
        round_off = 1e-14 * size if make is soft else 3e-14 * (1 + size)
        assert change == pytest.approx(form.storage(far) - form.storage(x), abs=round_off)
