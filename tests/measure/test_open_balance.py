"""``motion.check()`` says when energies do not add up; those of small motions and of bodies at rest do."""

from dataclasses import replace

import numpy as np
import pytest

import phlexible as ph
from phlexible.measure.quality import motion_check
from phlexible.state.recorded_run import RecordedRun

STEEL = ph.Material(2.1e11, 7850.0)


def hanging(gravity=9.81, step=1e-3, place=(0, 0, 0), hold=ph.Fixed):
    """A steel beam that is held at a place, with gravity along it."""
    model = ph.Model(gravity=(gravity, 0, 0))
    beam = model.add(ph.Beam(0.4, ph.RectangularSection(0.01, 0.02), STEEL, elements=2), "beam", place)
    model.connect(hold(model.ground.at(place), beam.start))
    return model.simulate(30 * step, step, progress=False)


def told(run):
    return [text for text in motion_check(run).findings if "do not add up" in text]


@pytest.mark.filterwarnings("ignore:the motion is too slow")
@pytest.mark.parametrize("gravity", [0.0, 1e-6, 9.81])
@pytest.mark.parametrize("step", [1e-5, 1e-2])
@pytest.mark.parametrize("hold", [ph.Fixed, ph.Spherical])
def test_ordinary_models_add_up(gravity, step, hold):
    for place in ((0, 0, 0), (0.4, 0, 0), (100.0, -3.0, 7.0)):
        motion = hanging(gravity, step, place, hold)
        assert told(motion.run) == []
        assert motion.check().balance_error < 1e-9  # bodies at rest too, without energy that it could be a share of


@pytest.mark.parametrize("name", ["kinetic", "strain", "gravity", "dissipated", "work"])
def test_a_share_that_is_missing_is_told(name):
    """Of a double pendulum with a motor and a damper."""
    model = ph.gallery.double_pendulum()
    joint = model.joints[0]
    model.apply(joint.torque(0.5, name="motor"))
    model.apply(joint.damper(0.01))
    spring = ph.SpringDamper(model.ground.at((0, 2, 0)), model.bodies[1].origin, 10.0)
    model.apply(spring)
    run = model.simulate(0.1, 1e-3, progress=False).run
    assert told(run) == []
    values = np.array(getattr(run.recording, name))
    values[57] += 1e-3
    (text,) = told(RecordedRun(run.system, replace(run.recording, **{name: values})))
    assert f"at t = {run.recording.time[57]:.4g} s 0.001 J are missing or too much" in text
