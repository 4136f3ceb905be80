"""The adjoint of random mechanisms of everything against differences of whole runs."""

from dataclasses import replace

import numpy as np
import pytest

from laws.cases import BODY_CASES, LAW_CASES
from laws.elements import ELEMENT_CASES, with_elements
from laws.models import Wishes, random_mechanism
from phlexible.derivatives.runs import differentiable, take_run
from phlexible.derivatives.sweeps import adjoints
from phlexible.derivatives.variations import Variation, variation_between
from phlexible.state.initial_state import initial_state
from phlexible.state.system import system_of
from phlexible.step.integration.schemes import StepOptions

STEPS = 4
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def relative_error(model, step, seed, damping=0.0):
    """Of the derivative of a random number of the last state along a random change of the first velocities."""
    rng, system = np.random.default_rng(seed), system_of(model)
    assembly, start = differentiable(system), initial_state(system)
    options = StepOptions(numerical_damping=damping)
    run = take_run(assembly, start, STEPS * step, step, options)
    weight = np.asarray(assembly.memory["velocity_weight"])
    slopes = Variation(*np.zeros((2, len(run.times), len(weight))))
    slopes.pose[-1], slopes.velocity[-1] = rng.normal(size=(2, len(weight))) * weight
    slopes.velocity[-1] *= step
    change = rng.normal(size=len(weight)) / weight
    rows = system.rows.matrix(system.at(start)).toarray()
    if len(rows):
        change -= np.linalg.lstsq(rows / weight, rows @ change, rcond=1e-10)[0] / weight
    size = 1e-7 * system.largest_length / step / STEPS / np.abs(change * weight).max()
    ends = []
    for sign in (1, -1):
        moved = replace(start, velocity=start.velocity + sign * size * change)
        ends.append(take_run(assembly, moved, STEPS * step, step, options).rows)
    found = variation_between(system.layout, *({n: ends[k][n][-1] for n in ends[k]} for k in (1, 0)))
    expected = (slopes.pose[-1] @ found.pose + slopes.velocity[-1] @ found.velocity) / (2 * size)
    scale = np.abs(slopes.pose[-1] * found.pose).sum() + np.abs(slopes.velocity[-1] * found.velocity).sum()
    return abs(adjoints(run, [slopes])[0].start.velocity @ change - expected) / (scale / (2 * size))


@pytest.mark.parametrize("body", BODY_CASES, ids=lambda body: body.__name__)
def test_bodies_on_moving_ground_with_loads_and_weight(body):
    sample = random_mechanism(2, Wishes(3, 1.0, "moving", gravity=True, loads=1, body=body, bodies=3))
    assert relative_error(sample.model, sample.step, seed=2, damping=0.1) < 1e-7


@pytest.mark.parametrize("kind", ELEMENT_CASES)
def test_elements_between_bodies(kind):
    sample = random_mechanism(1, Wishes(3, 1.0, bodies=3))
    assert with_elements(1, sample, [kind], True, remembers=False)
    assert relative_error(sample.model, sample.step, seed=1) < 1e-7


def test_strings():
    for law in LAW_CASES:
        sample = random_mechanism(3, Wishes(2, 1.0, "fixed", gravity=True, law=law))
        assert relative_error(sample.model, sample.step, seed=3) < 1e-7
