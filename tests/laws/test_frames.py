"""The floating frame is a choice: the three frames of a beam converge to the same motion of its points."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph

FRAMES = ["cantilever", "simply_supported", "mean_axis"]
LENGTH = 1.0


def flexible_pendulum(frame, elements, dimension, rotary_inertia):
    """A beam of slenderness 40 with a mass at its end that swings down from the horizontal."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=dimension)
    section, material = ph.RectangularSection(0.025, 0.03), ph.Material(youngs_modulus=1e9, density=1200.0)
    beam = ph.Beam(LENGTH, section, material, elements, frame, rotary_inertia=rotary_inertia)
    space = dimension == 3
    turn = Rotation.from_rotvec([0.5, 0.3, 0.0]).as_matrix() if space else 0.0
    body = model.add(beam, "beam", rotation=turn)
    mass = model.add(ph.PointMass(0.3), "mass", body.end.initial_position())
    hinge = ph.Revolute(model.ground.at((0, 0, 0)), body.start, axis=(0.2 * space, 0, 1))
    model.connect(hinge)
    model.connect(ph.Spherical(body.end, mass.origin))
    return model


def places(frame, elements, dimension, rotary_inertia):
    """World positions of the middle and the end after 0.5 s, in lengths, and the largest deflection."""
    model = flexible_pendulum(frame, elements, dimension, rotary_inertia)
    motion = model.simulate(0.5, 5e-4, every=20, progress=False)
    beam = model["beam"]
    ends = [motion.position(port) / LENGTH for port in (beam.start, beam.at(LENGTH / 2), beam.end)]
    sag = np.linalg.norm(ends[1] - (ends[0] + ends[2]) / 2, axis=1).max()
    return np.array([each[-1] for each in ends[1:]]), sag


@pytest.mark.parametrize(("dimension", "rotary_inertia"), [(2, False), (3, True)])
def test_frames_converge_to_the_same_motion(dimension, rotary_inertia):
    """Undeformed start: a quasi-static one would put each frame's closest pose. von Karman strain.

    The differences fall from 7e-5 to 3e-6 of the length, with a sag of 2e-3.
    """
    gaps = []
    for elements in (2, 4, 8):
        found, sags = zip(*(places(f, elements, dimension, rotary_inertia) for f in FRAMES), strict=True)
        assert min(sags) > 1e-3
        gaps.append(max(np.abs(each - found[0]).max() for each in found[1:]))
    assert all(fine < coarse / 2 for coarse, fine in pairwise(gaps))
    assert gaps[0] < 1e-4 and gaps[-1] < 5e-6
