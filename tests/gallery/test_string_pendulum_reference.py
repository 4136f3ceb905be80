"""The string pendulum against independent numbers of both schemes, and the scheme written out."""

from pathlib import Path

import numpy as np
import pytest

import phlexible as ph
from phlexible.gallery.strings import string_pendulum

REFERENCE = np.genfromtxt(Path(__file__).parent / "reference" / "string_pendulum.csv", delimiter=",", names=True)
PLATEAU = -3.403761620753
DOWN = np.array([1.0, -1.0, 0.0]) / np.sqrt(2)

pytestmark = pytest.mark.filterwarnings("ignore::phlexible.SlackStringWarning")


def paper_form(elements=30, stiffness=20.0):
    string = ph.String(1.0, 1.0, elements, ph.LogarithmicLaw(stiffness))
    return string.port_hamiltonian(dimension=2, gravity=(0, -9.81, 0), shape=lambda s: s * DOWN, start="fixed")


def paper_run(form, step, count, method):
    force = {"end": lambda time: np.ones(2) * np.sin(np.pi * time / 0.2) * (time < 0.2)}
    return ph.integrate(form, form.initial_state, force, count * step, step, method)


def test_the_conserving_step_reproduces_the_discrete_gradient() -> None:
    model = string_pendulum()
    motion = model.simulate(1.0, 0.01, progress=False)
    found = (motion.energy.total, motion.energy.kinetic, *motion.position(model["string"].end).T[:2])
    for values, name in zip(found, ("H_dg", "T_dg", "xtip_dg", "ytip_dg"), strict=True):
        assert values == pytest.approx(REFERENCE[name], abs=1e-9), name
    changes = np.abs(np.diff(motion.energy.total))
    assert changes[20:].max() <= 3e-12 and changes[:20].max() > 1e-3
    assert motion.energy.total[20:] == pytest.approx(np.full(81, PLATEAU), abs=1e-11)
    assert motion.halvings[-1] == 0


@pytest.mark.parametrize(
    ("elements", "stiffness", "step"),
    [(12, 20.0, 0.005), (10, 500.0, 0.01), pytest.param(60, 20.0, 0.01, marks=pytest.mark.thorough)],
)
def test_other_meshes_steps_and_stiffnesses_keep_energy_and_strain(elements, stiffness, step) -> None:
    """C of the form is a state of its own; the kernels' positions give it to round-off (38)."""
    model = string_pendulum(elements=elements, axial_stiffness=stiffness)
    motion = model.simulate(0.5, step, progress=False)
    assert np.abs(np.diff(motion.energy.total))[round(0.2 / step) :].max() <= 1e-11 * stiffness / 20
    count = round(0.3 / step)
    form = paper_form(elements, stiffness)
    trajectory = paper_run(form, step, count, "discrete_gradient")
    squares = motion.stretch(model["string"])[: count + 1] ** 2
    assert squares == pytest.approx(trajectory.states[:, form.state_slice("strain")], abs=1e-9)
    assert max(np.abs(form.strain_gap(x)).max() for x in trajectory.states) <= 1e-11


def test_the_run_warns_of_slack_parts() -> None:
    with pytest.warns(ph.SlackStringWarning, match=r"string: element 2\d is slack from t = 0.2"):
        string_pendulum().simulate(0.3, 0.01, progress=False)
