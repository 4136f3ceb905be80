"""The displacement of a point is that in the world, the elastic displacement that in the frame of the body."""

import numpy as np
import pytest

import phlexible as ph
from bodies.flexible.meshes import bar


def bracket():
    """Clamped at one end and bent by its weight; the mean axis of the part tilts with it."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    part = model.add(bar(cells=(4, 1), sides=(0.3, 0.03), thickness=0.02), "bracket")
    model.connect(ph.Fixed(model.ground.at(part["start"].initial_position()), part["start"]))
    return model, part["end"]


def test_a_tip_is_displaced_in_the_world_and_in_its_frame():
    model, tip = bracket()
    rest = model.equilibrium()
    in_world, in_frame = rest[ph.Displacement(tip, (0, 1, 0))], rest[ph.ElasticDisplacement(tip)]
    assert np.array_equal(in_frame, rest.elastic_displacement(tip)) and in_frame.shape == (3,)
    assert in_world == pytest.approx(rest.position(tip)[1] - tip.initial_position()[1], rel=1e-12)
    assert in_world < 3 * in_frame[1] < 0
    assert rest[ph.ElasticDisplacement(tip, (0, 2, 0))] == in_frame[1]
    motion = model.simulate(1e-3, 1e-4, initial=rest.state, progress=False)
    assert motion[ph.ElasticDisplacement(tip)].shape == (11, 3)
