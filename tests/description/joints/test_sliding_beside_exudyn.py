"""Joints that slide along rods beside Exudyn 1.13.6: ``JointSliding2D`` and ``JointALEMoving2D`` on ANCF cables.

Exudyn took 16 cable elements, the local form of its sliding joint, and steps of 0.2 ms (0.15 ms for the
eyelet) with a spectral radius of 0.6; twice the elements change the sixth digit. Cables have E A = 1e6 N,
E I = 100 N m2 and 0.5 kg/m.
"""

import numpy as np
import pytest

import phlexible as ph

SECTION = ph.GeneralSection(np.diag([1e6, 1e6, 1e6, 100, 100, 100]), np.diag([0.5, 0.5, 0.5, 2e-6, 1e-6, 1e-6]))
ROD = ph.Rod(2.0, SECTION, elements=16, order=2)


@pytest.mark.parametrize("path", [None, lambda t: 0.5 + 2 * t], ids=["free", "driven"])
def test_a_mass_moves_along_a_cantilever_as_on_sliding_and_moving_elements(path):
    expected = {
        False: [(1.3555745, -0.1612439), (1.9795334, -0.2684719)],
        True: [(1.2899706, -0.1475620), (1.9800777, -0.2648334)],
    }[path is not None]
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    rod = model.add(ROD, "rod")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), rod.start))
    bead = model.add(ph.PointMass(1.0), "bead", position=(0.5, 0, 0), velocity=(2.0, 0, 0))
    slide = model.connect(ph.Sliding(bead.origin, rod))
    if path is not None:
        model.apply(slide.drive(position=path))
    motion = model.simulate(0.4, step=1e-3)
    moved = np.hypot(0.86, 0.16)
    for port, place in zip((bead.origin, rod.end), expected, strict=True):
        assert np.linalg.norm(motion.position(port)[-1, :2] - place) < 1e-3 * moved
    assert np.abs(motion.energy.balance_error).max() < 1e-13


def test_a_rod_falls_through_an_eyelet_as_a_cable_through_a_sliding_joint():
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    along = np.array([0.5, -np.sqrt(0.75), 0])
    rod = model.add(ROD, "rod", shape=[tuple(-1.2 * along), tuple(0.8 * along)])
    model.connect(ph.Sliding(model.ground.at((0, 0, 0)), rod))
    motion = model.simulate(0.3, step=1e-3)
    for port, place in ((rod.end, (0.6710028, -0.9683160)), (rod.start, (-0.4765693, 0.6696395))):
        assert motion.position(port)[-1, :2] == pytest.approx(place, abs=1e-4)
