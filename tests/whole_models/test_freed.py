"""Models and motions are freed as soon as nobody uses them, without the collector of circular references."""

import gc
import weakref

import pytest

import phlexible as ph


@pytest.mark.parametrize(
    "name", ["crank_slider", "chain", "robot_arm", "bouncing_ball", "cable_robot", "deployable_panels"]
)
def test_model_and_motion_are_freed_at_once(name):
    model = getattr(ph.gallery, name)()
    motion = model.simulate(4e-4, 1e-4, progress=False)
    motion.energy, motion.run.velocities, motion.recording.multipliers  # noqa: B018  # read on demand
    live = model.start(1e-4)
    live.step()
    used = [weakref.ref(each) for each in (model, motion, motion.run, motion.run.system, live)]
    gc.disable()
    try:
        del model, motion, live
        assert [reference() for reference in used] == [None] * len(used)
    finally:
        gc.enable()


def test_motion_keeps_its_mechanism_when_the_model_changes():
    model = ph.Model(gravity=(0, 0, -9.81))
    stone = model.add(ph.PointMass(1.0), "stone")
    motion = model.simulate(0.1, 0.01, progress=False)
    model.add(ph.PointMass(1.0), "later")
    model.apply(ph.Force(stone.origin, (1, 0, 0)))
    assert [body.name for body in motion.mechanism.bodies] == ["stone"]
    assert not motion.mechanism.loads
    with pytest.raises(ph.ModelError, match="no body is named 'later'"):
        motion["later"]
    assert [body.name for body in model.bodies] == ["stone", "later"]
