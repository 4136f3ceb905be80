"""Rods as tables of their own against the same rods as general functions: the same motion by another way."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.step.assembly import families as rods

STEPS = 40


def swung(order: int, dimension: int) -> ph.Motion:
    """A curved rod with a full stiffness matrix and viscosity, pinned and thrown."""
    draw = np.random.default_rng(1).normal(size=(6, 6))
    stiffness = np.diag([1e4, 2e3, 3e3, 40.0, 50.0, 60.0]) + 5 * draw @ draw.T
    section = ph.GeneralSection(stiffness, mass=np.diag([1.0, 1.0, 1.0, 0.02, 0.01, 0.01]), viscosity=1e-3)
    model = ph.Model(gravity=(0, -9.81, 0), dimension=dimension)
    rod = model.add(
        ph.Rod(1.0, section, elements=6 // order, order=order), "rod", shape=lambda s: (np.sin(s), 1 - np.cos(s), 0)
    )
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), rod.start))
    out_of_plane = 25.0 if dimension == 3 else 0.0
    model.apply(ph.Force(rod.end, lambda t: (20 * np.sin(40 * t), 60.0, out_of_plane)))
    return model.simulate(STEPS * 5e-3, 5e-3, numerical_damping=0.1)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("order", [1, 2])
def test_rods_move_as_their_general_functions_do(
    order: int, dimension: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = swung(order, dimension)
    monkeypatch.setattr(rods, "_turns_about_its_centre", lambda data: False)
    expected = swung(order, dimension)
    assert np.abs(np.diff(expected.rotation(expected["rod"].end), axis=0)).max() > 0.05
    np.testing.assert_allclose(found.recording.position, expected.recording.position, atol=1e-13)
    np.testing.assert_allclose(found.recording.rotation, expected.recording.rotation, atol=1e-12)
    scale = np.abs(expected.recording.forces).max()
    np.testing.assert_allclose(found.recording.forces, expected.recording.forces, atol=1e-10 * scale)
    np.testing.assert_allclose(found.energy.dissipated, expected.energy.dissipated, rtol=1e-9, atol=1e-12)
    assert abs(found.iterations[-1] - expected.iterations[-1]) < 3  # an exact derivative, too
    assert np.abs(found.energy.balance_error).max() < 1e-11 * found.energy.supplied.max()
