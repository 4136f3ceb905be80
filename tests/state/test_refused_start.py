"""What a refused quasi-static start says: how much is held, and what gives way."""

import re

import numpy as np
import pytest

import phlexible as ph
from mechanisms import beam
from phlexible.state.initial_state import InitialKind, initial_state
from phlexible.state.system import system_of

WAY, BENDING = 0.01, 3 * 2e11 * np.pi * 3e-3**4 / 4 / 0.3**3  # [m], 3 EI / L^3 [N/m]


def pulled_in(share):
    """A cantilever whose tip is pulled by a exp(w / way), beside one that nothing pulls.

    k w = a exp(w / way) has a solution as long as a < k way / e, where the tip has gone the way.
    """
    model, size = ph.Model(dimension=2), BENDING * WAY / np.e / share
    pull = ph.Potential(lambda w: -size * WAY * np.exp(w / WAY), lambda w: -size * np.exp(w / WAY), (-WAY, 2 * WAY))
    for name in ("one that nothing pulls", "soft"):
        placed = model.add(beam(2, "cantilever", "linear"), name)
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed.start))
    rail = model.connect(ph.Slider(model.ground.at((0.3, 0, 0)), placed.end, axis=(0, 1, 0)))
    model.apply(rail.spring(0.0, potential=pull))
    return model


def test_it_says_how_much_of_the_loads_is_held_and_by_which_body():
    with pytest.raises(ph.ModelError, match="soft gives way most easily") as told:
        initial_state(system_of(pulled_in(0.6)), InitialKind.QUASI_STATIC)
    held = float(re.search(r"hold up to (\d+)%", str(told.value)).group(1))
    assert 50 <= held <= 60
    found = initial_state(system_of(pulled_in(1.05)), InitialKind.QUASI_STATIC)
    assert abs(found.eta).max() > 0
