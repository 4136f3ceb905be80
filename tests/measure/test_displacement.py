"""Displacement is that in the world, in the frame of a body it is elastic; the old name warns where it misleads."""

import warnings

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
    with pytest.warns(
        FutureWarning, match=r"displacement\(bracket.end\) is the elastic displacement .* in the world"
    ):
        assert np.array_equal(rest.displacement(tip), in_frame)
    motion = model.simulate(1e-3, 1e-4, initial=rest.state, progress=False)
    with pytest.warns(FutureWarning, match="Write elastic_displacement"):
        motion.plot_displacement(tip)
    assert motion[ph.ElasticDisplacement(tip)].shape == (11, 3)


def test_the_old_name_is_quiet_where_it_misleads_nobody():
    """A coupler that goes round, a cantilever whose frame stays where it is, a rigid body."""
    coupler = ph.gallery.crank_slider()
    clamped = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    beam = clamped.add(
        ph.Beam(0.3, ph.CircularSection(6e-3), ph.Material(2e11, 7870.0), elements=4, frame="cantilever"), "beam"
    )
    clamped.connect(ph.Fixed(clamped.ground.at((0, 0, 0)), beam.start))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        motion = coupler.simulate(0.02, 5e-5, progress=False)
        point = coupler["coupler"].at(0.15)
        assert np.array_equal(motion.displacement(point), motion.elastic_displacement(point))
        assert not motion.displacement(coupler["slider"].origin).any()
        assert clamped.equilibrium().displacement(beam.end)[1] < 0
