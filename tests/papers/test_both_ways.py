"""The papers' equations with collocation and the conserving step reach the same motion."""

import numpy as np
import pytest

import phlexible as ph
from papers.histories import collocate
from phlexible.papers.collocation import GAUSS_LEGENDRE_2, RADAU_IIA_3
from phlexible.papers.mechanism_model import MechanismModel
from phlexible.state.initial_state import initial_state


def spring_mechanism():
    """Beam and rigid bodies with every kind of element, a torque and a drive."""
    model = ph.Model((1.0, -9.0, 0.0), 2)
    rod = ph.Beam(0.3, ph.CircularSection(6e-3), ph.Material(5e8, 7870.0), elements=2)
    a = model.add(rod, "a")
    b = model.add(ph.RigidBody(0.4, 0.025, center=(0.1, 0.0, 0)), "b", position=(0.3, 0, 0))
    c = model.add(ph.RigidBody(0.3, 0.025), "c", position=(0.6, 0, 0))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), a.start))
    elbow = model.connect(ph.Revolute(a.end, b.origin))
    rail = model.connect(ph.Prismatic(b.origin, c.origin))
    model.apply(elbow.spring(5.0, rest=0.3, damping=2e-3, potential=ph.Potential(np.cosh, np.sinh)))
    model.apply(pin.torque(lambda t: 0.3 * np.cos(500 * t)))
    model.apply(ph.SpringDamper(a.at(0.1), c.origin, 500.0, 0.2, 0.2))
    model.apply(ph.Bushing(b.origin, model.ground.at((0.3, 0, 0)), 200.0, 0.1, 1.0, 1e-3))
    model.apply(rail.drive(position=lambda t: 0.3 + 0.03 * np.sin(80 * t)))
    return model


# softer than in the gallery, so that the step resolves what is axial
CASES = {
    "crank-slider, linear": (
        lambda: ph.gallery.crank_slider(elements=2, strain="linear", youngs_modulus=5e8),
        "coupler",
        3e-3,
    ),
    "crank-slider, von Karman": (
        lambda: ph.gallery.crank_slider(elements=2, youngs_modulus=5e8),
        "coupler",
        3e-3,
    ),
    "flexible pendulum": (lambda: ph.gallery.flexible_pendulum(elements=2, youngs_modulus=2e7), "beam", 0.05),
    "springs, dampers and a drive": (spring_mechanism, "a", 3e-3),
    "free pair": (lambda: ph.gallery.free_pair(elements=1, youngs_modulus=7e7), "second", 0.013),
}


RADAU_TOO = {"crank-slider, linear", "crank-slider, von Karman", "flexible pendulum"}
"""Cases for which its order is measured too; of the others it is the reference only."""


def place(form, x, port):
    """World position of an attachment, shape (3,)."""
    weights, vectors = form.system.point(port)
    return weights @ vectors.places(form.system.at(form.split(x)))[0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.parametrize("case", CASES)
def test_differences_fall_with_the_order(case):
    make, name, duration = CASES[case]
    model = make()
    form = MechanismModel(model)
    start, middle = form.joined(initial_state(form.system)), model[name].at(model[name].data.size / 2)

    def collocated(tableau, steps):
        return place(form, collocate(form, tableau, start, duration, steps, form.inputs).states[-1], middle)

    def conserved(steps):
        motion = model.simulate(duration, duration / steps, progress=False)
        return motion.position(middle)[-1]

    best = collocated(RADAU_IIA_3, 32 if case in RADAU_TOO else 20)
    gauss = [np.abs(collocated(GAUSS_LEGENDRE_2, n) - best).max() for n in (8, 16)]
    radau = [np.abs(collocated(RADAU_IIA_3, n) - best).max() for n in ((8, 16) if case in RADAU_TOO else ())]
    step = [np.abs(conserved(n) - best).max() for n in (100, 200)]
    assert max(gauss[1], *radau[1:], step[1]) < 1e-6  # metres, of beams of 0.3 to 1 m
    assert np.log2(step[0] / step[1]) == pytest.approx(2, abs=0.15)
    assert np.log2(gauss[0] / gauss[1]) == pytest.approx(4, abs=0.4)
    assert not radau or np.log2(radau[0] / radau[1]) == pytest.approx(5, abs=0.6)
