"""The papers' equations with collocation and the conserving step reach the same motion."""

from functools import partial

import numpy as np
import pytest

import phlexible as ph
from papers.families import FAMILIES
from phlexible.state.initial_state import initial_state

soft_crank_slider = partial(ph.gallery.crank_slider, elements=2, youngs_modulus=5e8)
# softer than in the gallery, so that the step resolves what is axial
CASES = {
    "crank-slider, linear": (lambda: soft_crank_slider(strain="linear"), "coupler", 3e-3),
    "crank-slider, von Karman": (lambda: soft_crank_slider(), "coupler", 3e-3),
    "flexible pendulum": (lambda: ph.gallery.flexible_pendulum(elements=2, youngs_modulus=2e7), "beam", 0.05),
    "free pair": (lambda: ph.gallery.free_pair(elements=1, youngs_modulus=7e7), "second", 0.013),
}


RADAU_TOO = {"crank-slider, linear", "flexible pendulum"}
"""Cases for which its order is measured too; of the others it is the reference only."""


def place(form, x, port):
    """World position of an attachment, shape (3,)."""
    weights, vectors = form.system.point(port)
    return weights @ vectors.values(form.system.at(form.split(x)))[0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.parametrize(
    "case", [pytest.param(each, marks=pytest.mark.thorough if "crank-slider" in each else ()) for each in CASES]
)
def test_differences_fall_with_the_order(case):
    make, name, duration = CASES[case]
    model = make()
    form = ph.MechanismModel(model)
    start, middle = form.joined(initial_state(form.system)), model[name].at(model[name].data.size / 2)

    def collocated(method, steps):
        return place(form, ph.integrate(form, start, None, duration, duration / steps, method).states[-1], middle)

    def conserved(steps):
        return model.simulate(duration, duration / steps, progress=False).position(middle)[-1]

    best = collocated("radau3", 32 if case in RADAU_TOO else 20)
    gauss = [np.abs(collocated("gauss2", n) - best).max() for n in (8, 16)]
    radau = [np.abs(collocated("radau3", n) - best).max() for n in ((8, 16) if case in RADAU_TOO else ())]
    step = [np.abs(conserved(n) - best).max() for n in (100, 200)]
    assert max(gauss[1], *radau[1:], step[1]) < 1e-6  # metres, of beams of 0.3 to 1 m
    assert np.log2(step[0] / step[1]) == pytest.approx(2, abs=0.15)
    assert np.log2(gauss[0] / gauss[1]) == pytest.approx(4, abs=0.4)
    assert not radau or np.log2(radau[0] / radau[1]) == pytest.approx(5, abs=0.6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.parametrize("family", FAMILIES)
def test_everything_that_bodies_and_joints_can_be_moves_alike(family):
    """Relations, friction, contacts, strings, rods, soft bodies: the step comes to the papers' motion."""
    make, duration = FAMILIES[family]
    model, *ports = make()
    form = ph.MechanismModel(model)
    ends = ph.integrate(form, form.initial_state, None, duration, duration / 26, "radau3").states[-1]
    expected = np.array([place(form, ends, port) for port in ports])

    def differences(steps):
        motion = model.simulate(duration, duration / steps, progress=False)
        return np.abs([motion.position(port)[-1] for port in ports] - expected).max(axis=1)

    step = [differences(n) for n in (100, 200)]
    assert step[1].max() < 1e-6
    assert np.log2(step[0] / step[1]) == pytest.approx(2, abs=0.1)
