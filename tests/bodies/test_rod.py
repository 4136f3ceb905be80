"""Descriptions of rods: the mass of their sections, curves."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.bodies.rod import rod_pose

STEEL = ph.Material(2e11, 7800.0)
SECTION = ph.RectangularSection(0.02, 0.01)


def rod(**options):
    return ph.Rod(**{"length": 2.0, "section": SECTION, "material": STEEL, "elements": 8, **options})


@pytest.mark.parametrize(("elements", "order"), [(1, 1), (2, 1), (4, 1), (8, 1), (1, 2), (5, 2)])
def test_sections_have_the_mass_of_the_rod(elements, order):
    """Lumped so that the rod turns like itself: int s^2 ds, exactly from two elements on."""
    given = rod(elements=elements, order=order)
    masses = np.array([node.discretize(3).mass for node in given.nodes()])
    assert masses.sum() == pytest.approx(7800 * 2e-4 * 2.0, rel=1e-14)
    assert masses @ given.node_positions == pytest.approx(masses.sum() * 1.0, rel=1e-14)
    if elements * order > 1:
        assert masses @ given.node_positions**2 == pytest.approx(masses.sum() * 4 / 3, rel=1e-14)


def test_sections_have_the_inertia_of_flat_ones():
    node = rod().nodes()[3]
    turning = node.discretize(3).second_moments[:, :, 0, 0]
    moments = 7800 * node.weight * np.array([0.0, SECTION.second_moment_z, SECTION.second_moment_y])
    assert turning == pytest.approx(np.diag(moments), rel=1e-14)


def test_sections_follow_a_curve_without_twist():
    """A helix: x axes are its tangents, and the y axes turn about them no more than they must."""
    radius, pitch = 0.3, 0.1
    speed = np.hypot(radius, pitch)

    def helix(s):
        return radius * np.cos(s / speed), radius * np.sin(s / speed), pitch * s / speed

    given = rod(elements=200)
    pose = rod_pose(given, "rod", 3, helix, np.zeros(3), np.eye(3))
    assert np.abs(np.swapaxes(pose.rotations, 1, 2) @ pose.rotations - np.eye(3)).max() <= 1e-13
    s = given.node_positions
    tangents = np.stack([-radius * np.sin(s / speed), radius * np.cos(s / speed), pitch + 0 * s], axis=1) / speed
    assert pose.rotations[:, :, 0] == pytest.approx(tangents, abs=1e-8)
    rates = np.gradient(pose.rotations, s, axis=0)
    twist = np.einsum("ki,ki->k", rates[:, :, 1], pose.rotations[:, :, 2])
    assert twist[2:-2] == pytest.approx(np.zeros(197), abs=1e-3)  # the helix itself winds by pitch / speed^2 = 1


def test_shapes_that_a_rod_cannot_have_are_refused():
    model = ph.Model()
    with pytest.raises(ph.ParameterError, match=r"order must be 1 \(two nodes an element\) or 2"):
        rod(order=3)
    with pytest.raises(ph.ParameterError, match=r"shape is 1 m long and the rod 2 m; give Rod\(length=1\)"):
        model.add(rod(), "rod", shape=[(0, 0, 0), (0, 1, 0)])
    corner = np.array([(min(s, 1.0), max(s - 1.0, 0.0), 0.0) for s in np.linspace(0, 2, 9)])
    with pytest.raises(ph.ParameterError, match="join two rods with Fixed at a corner"):
        model.add(rod(), "rod", shape=corner)
    with pytest.raises(ph.ParameterError, match="must not stop along s"):
        model.add(rod(stress_free="straight"), "rod", shape=lambda s: (0.0, 0.0, 0.0))
