"""Joints between bent beams do not know the axes of the world: a turned scene moves as the scene does, turned."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from fuzz.copies import Change, copied

RUBBER = ph.Material(youngs_modulus=1e8, density=1000.0)
BEAM = ph.Beam(1.0, ph.RectangularSection(0.05, 0.04), RUBBER, elements=2)
AXIS = (0.3, -0.5, 0.8)
TURN = Rotation.from_rotvec([0.7, -1.1, 0.4]).as_matrix()
JOINTS = {
    "fixed": lambda model, a, b: model.connect(ph.Fixed(a, b)),
    "prismatic": lambda model, a, b: model.connect(ph.Prismatic(a, b, axis=AXIS)),
    "revolute with a spring": lambda model, a, b: model.apply(
        model.connect(ph.Revolute(a, b, axis=AXIS)).spring(5.0, rest=0.5)
    ),
}


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.parametrize("kind", JOINTS)
def test_a_turned_scene_moves_as_the_scene_turned(kind):
    model = ph.Model(gravity=(1.0, -9.81, 2.0))
    one = model.add(BEAM, rotation=Rotation.from_rotvec([0.2, 0.5, -0.3]))
    two = model.add(BEAM, position=one.end.initial_position(), rotation=Rotation.from_rotvec([0.9, -0.4, 0.6]))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), one.start))
    JOINTS[kind](model, one.end, two.start)
    here, there = (
        each.simulate(0.3, 0.01, progress=False) for each in (model, copied(model, Change(rotation=TURN)))
    )
    bent = here.elastic_displacement(one.end)[-1]
    assert np.linalg.norm(bent) > 0.01
    assert there.position(there["beam 2"].end) == pytest.approx(here.position(two.end) @ TURN.T, abs=1e-11)
