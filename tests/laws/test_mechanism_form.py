"""The papers' form takes any body and any mechanism: random ones with all elements, and the whole gallery."""

import numpy as np
import pytest

import phlexible as ph
from bodies.forms import random_state
from laws.cases import BODY_CASES, random_scale
from laws.elements import ELEMENT_CASES, with_elements, with_relation
from laws.examples import EVERY_BODY, GALLERY
from laws.models import Wishes, random_mechanism
from phlexible.bodies.body import NodalBody
from phlexible.description.interactions.joint_limits import JointStop

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


PAIRS = "dominoes ball-bearing sand geneva-drive cam-follower soft-gripper dropped-bracket twisted-ring"
REFUSED = {
    "robot-arm": "is a controller that is called once a step",
    "collar-on-rod": "depends on the speed of an impact",
    **dict.fromkeys(PAIRS.split(), "write a Contact for each pair"),
}
KINKED = ph.Contact, JointStop  # differences of their energies see the kink
KINDS = [kind for kind in ELEMENT_CASES if kind not in KINKED]


@GALLERY
@pytest.mark.filterwarnings("ignore")
def test_the_gallery_moves_with_its_energy_or_is_refused_by_name(entry):
    """A short step of the midpoint rule, which misses energies that are not quadratic by h^3."""
    model = entry.function()
    if entry.name in REFUSED:
        with pytest.raises(ph.ModelError, match=REFUSED[entry.name]):
            ph.MechanismModel(model)
        return
    form = ph.MechanismModel(model)
    x = form.initial_state
    step = entry.step / (1000 if entry.name == "solar-sail" else 10)  # a thin membrane: the rule needs short steps
    run = ph.integrate(form, x, None, step, step, "midpoint")
    terms = form.effort(run.states[-1]) * (form.descriptor_matrix(x) @ run.states[-1])  # what H is the sum of
    size = np.abs(terms).sum() + np.abs(run.supplied).max()
    assert np.abs(run.balance_error).max() <= 1e-5 * size
    assert run.dissipated[-1] >= -1e-9 * size


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_structure_of_random_mechanisms_with_elements_and_a_relation(dimension, seed):
    sample = random_mechanism(seed, Wishes(dimension, 0.1, "moving", gravity=True, loads=1))
    with_elements(seed, sample, KINDS, damped=True, remembers=False)
    with_relation(seed, sample)
    form = ph.MechanismModel(sample.model)
    x = form.initial_state + 1e-3 * np.random.default_rng(seed).normal(size=form.state_size)
    figures = ph.check_structure(form, x)
    assert figures.skewness == 0
    assert figures.power < 1e-13
