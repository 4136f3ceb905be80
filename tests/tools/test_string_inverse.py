"""Loads on strings that follow a path: by the step, by flatness, by the closed form of a heavy chain."""

import numpy as np
import pytest
from scipy.special import betainc

import phlexible as ph
from phlexible.errors import ParameterError

DURATION, LENGTH, LOAD, G = 3.0, 5.0, 50.0, 9.81
DOWN = (0.0, -G, 0.0)


def path(t):
    """Three metres to the right over a hill of 0.3 m, with seven smooth derivatives at both ends."""
    s = betainc(8, 8, np.clip(t / DURATION, 0.0, 1.0))
    return np.stack([3 * s, 0.3 * np.sin(np.pi * s) ** 2, 0 * s], axis=-1)


def rope(elements=6, line=0.4, stiffness=1e5, **options):
    return ph.String(LENGTH, line, elements, ph.LinearLaw(stiffness), **options)


def carried(inverse, string, step):
    """The motion of string and load under a start that moves as found."""
    model = ph.Model(gravity=DOWN, dimension=2)
    placed = model.add(string, "rope", shape=inverse.nodes[0])
    load = model.add(ph.PointMass(LOAD), "load", position=inverse.nodes[0, -1])
    model.connect(ph.Spherical(model.ground.moving(inverse.delayed), placed.start))
    model.connect(ph.Spherical(placed.end, load.origin))
    return model.simulate(DURATION + 2 * inverse.lead, step, progress=False)


@pytest.mark.parametrize("viscosity", [pytest.param(0.0, marks=pytest.mark.thorough), 2e-3])
def test_the_load_follows_and_the_force_does_its_work(viscosity):
    """Both to second order in the step, at swings of 0.38 rad."""
    missed, forces, works, string = [], [], [], rope(viscosity=viscosity)
    for step in (2e-2, 1e-2):
        inverse = ph.string_inverse(string, path, DURATION, step, load=LOAD, gravity=DOWN)
        motion = carried(inverse, string, step)
        asked = path(motion.time - inverse.lead)
        missed.append(np.abs(motion.position(motion["load"].origin) - asked).max())
        reaction = motion.reaction(motion.mechanism.joints[0])
        forces.append(np.abs(reaction - inverse.force).max() / np.abs(inverse.force).max())
        start = inverse.nodes[:, 0]
        work = np.cumsum((inverse.force[1:] + inverse.force[:-1]) / 2 * np.diff(start, axis=0), axis=0).sum(axis=1)
        energy = motion.energy
        works.append(np.abs(work - energy.supplied[1:]).max() / np.abs(energy.supplied).max())
        assert np.abs(energy.balance_error).max() < 1e-11 * np.abs(energy.supplied).max()
    chord = inverse.nodes[:, -1] - inverse.nodes[:, 0]
    assert np.abs(np.arctan2(chord[:, 0], -chord[:, 1])).max() > 0.35
    for errors, limit in ((missed, 2e-3), (forces, 4e-2), (works, 2e-2)):
        assert errors[1] < limit and errors[1] < 0.35 * errors[0]


def test_without_mass_it_is_the_flat_output():
    """The start is one length away from the load, against the force that it needs (M. Fliess et al. 1995)."""
    inverse = ph.string_inverse(rope(4, 1e-7, 1e9), path, DURATION, 2e-3, load=LOAD, gravity=DOWN)
    h = 1e-3
    acceleration = (path(inverse.time + h) - 2 * path(inverse.time) + path(inverse.time - h)) / h**2
    pull = np.array(DOWN) - acceleration
    exact = path(inverse.time) - LENGTH * pull / np.linalg.norm(pull, axis=1, keepdims=True)
    assert inverse.nodes[:, 0] == pytest.approx(exact, abs=1e-4)
    assert inverse.force == pytest.approx(-LOAD * pull, abs=1e-2)
    assert inverse(1.2345) == pytest.approx(inverse.delayed(1.2345 + inverse.lead))


def test_a_heavy_chain_starts_before_its_end_does():
    """The mean of y(t + 2 sqrt(L / g) sin a) over all angles a (N. Petit, P. Rouchon 2001), in any axes."""
    off, angles = [], np.linspace(0, 2 * np.pi, 200, endpoint=False)
    for elements in (8, 16):
        inverse = ph.string_inverse(
            rope(elements, stiffness=1e6), lambda t: (0, 0.01 * path(t)[0], 0), DURATION, 1e-2
        )
        delays = inverse.time[:, None] + 2 * np.sqrt(LENGTH / G) * np.sin(angles)
        exact = 0.01 * path(delays)[..., 0].mean(axis=1)
        off.append(np.abs(inverse.nodes[:, 0, 1] - exact).max() / 0.03)
        early = np.abs(inverse.nodes[inverse.time < 0][:, 0, 1]).max()
        assert early > 1e-3 * 0.03 and np.abs(inverse.nodes[:5, 0, 1]).max() < 1e-6
    assert off[0] < 4e-3 and off[1] < 0.35 * off[0]


def test_refusals():
    with pytest.raises(ParameterError, match="goes slack at t = "):
        ph.string_inverse(rope(), lambda t: (0, 10 * path(t * 3)[1], 0), 1.0, 1e-2, load=LOAD, gravity=DOWN)
    with pytest.raises(ParameterError, match=r"String with order=1"):
        ph.string_inverse(rope(order=2), path, DURATION, 1e-2, gravity=DOWN)
    with pytest.raises(ParameterError, match="gravity must not vanish"):
        ph.string_inverse(rope(), path, DURATION, 1e-2, gravity=(0, 0, 0))
    with pytest.raises(ParameterError, match="at most a tenth"):
        ph.string_inverse(rope(), path, DURATION, 0.5, gravity=DOWN)
