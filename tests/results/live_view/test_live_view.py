"""Motions and live runs in a browser: the server runs on this machine, and bodies are where the observables say."""

import urllib.request
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph

pytest.importorskip("viser")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of viser's own packages


def pushed() -> ph.Model:
    """A beam on a hinge, a ball in space above a floor, a string, a spring, a motor torque."""
    model = ph.Model(gravity=(0, 0, -9.81))
    steel = ph.Material(2e11, 7800.0)
    arm = model.add(ph.Beam(0.5, ph.CircularSection(0.01), steel, elements=2), "arm")
    ball = model.add(ph.RigidBody.sphere(0.1, 1000.0), "ball", (1, 0, 0.5), angular_velocity=(1.0, 2.0, 0))
    rope = model.add(ph.String(1.0, 0.1, 4, ph.LinearLaw(200.0)), "rope", shape=((0, 1, 1), (1, 1, 1)))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.start, axis=(0, 1, 0)))
    model.connect(ph.Spherical(model.ground.at((0, 1, 1)), rope.start))
    model.apply(ph.Contact(ball.origin, ph.Plane(model.ground.at((0, 0, 0))), stiffness=1e4, radius=0.1))
    model.apply(ph.SpringDamper(model.ground.at((1, 0, 1)), ball.origin, 5.0))
    model.apply(hinge.torque(0.0, name="motor"))
    model.apply(ph.Force(ball.origin, (0.0, 0.0, 1.0), name="lift"))
    return model


def test_the_slider_of_a_motion_moves_the_bodies():
    motion = pushed().simulate(0.1, 5e-3, progress=False)
    with motion.live() as view:
        assert view.url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(view.url) as page:
            assert page.status == 200 and b"<html" in page.read(2000)
        assert set(view.bodies) == {"arm", "ball", "rope", "plane through ground.at(0, 0, 0)"}
        arm, ball, rope = (view.bodies[name] for name in ("arm", "ball", "rope"))
        for instant in (20, 8):
            view.time = motion.time[instant]
            assert ball.position == pytest.approx(motion.position(motion["ball"].origin)[instant], abs=1e-6)
            turned = Rotation.from_quat(np.roll(ball.wxyz, -1)).as_matrix()
            assert turned == pytest.approx(motion.rotation(motion["ball"])[instant], abs=1e-6)
            end = motion.position(motion["arm"].end)[instant]
            assert np.linalg.norm(arm.vertices - end, axis=1).min() < 6e-3
            assert rope.points[-1, 1] == pytest.approx(motion.position(motion["rope"].end)[instant], abs=1e-6)
        view.play(speed=50.0)
        assert view.is_playing
        view.pause()
        assert not view.is_playing
    assert not view.is_open and "stopped" in repr(view)


def test_a_live_run_takes_inputs_from_the_page():
    """As the same run that is given its inputs in Python."""
    sim, alone = pushed().start(step=5e-3), pushed().start(step=5e-3)
    with sim.live() as view:
        assert set(view.numbers) == {"motor", "lift"}
        view.numbers["motor"].value = 0.5
        view.numbers["lift"].value = (0.0, 0.0, 60.0)
        view.run(0.05, speed=10.0)
        alone.inputs["motor"], alone.inputs["lift"] = 0.5, (0.0, 0.0, 60.0)
        alone.run(0.05)
        assert sim.time == alone.time
        assert sim.motion.recording.position == pytest.approx(alone.motion.recording.position, abs=0)
        assert view.bodies["ball"].position == pytest.approx(sim.instant.position(sim.instant["ball"].origin)[0])
        assert view.is_running
        sim.step()
        view.update()
        assert view.bodies["ball"].position == pytest.approx(sim.instant.position(sim.instant["ball"].origin)[0])


def test_what_cannot_be_shown_is_refused():
    motion = pushed().simulate(0.01, 5e-3, progress=False)
    with pytest.raises(ph.ParameterError, match="frames"):
        motion.live(frames=1)
    with pytest.raises(ph.ParameterError, match="port"):
        motion.live(port=70_000)


def test_the_command_follows_a_file_and_runs_a_model(tmp_path, monkeypatch):
    """Both until somebody ends them; the file grows meanwhile."""
    from phlexible.cli import commands as live
    from phlexible.pictures.live_view import MotionView, RunView

    model, path, ends = pushed(), tmp_path / "run.h5", []
    model.simulate(0.02, 5e-3, output=path, progress=False)

    def nap(seconds):
        model.resume(path, 0.04, 5e-3, progress=False)

    def replaced(view, motion):
        ends.append(motion.time[-1])
        view.stop()

    monkeypatch.setattr(live, "time", SimpleNamespace(sleep=nap))
    monkeypatch.setattr(MotionView, "replace", replaced)
    live.follow(path, 0)
    assert ends == [pytest.approx(0.04)]

    def run(view, duration, speed):
        ends.append(duration)
        view.stop()

    monkeypatch.setattr(RunView, "run", run)
    live.run_live(pushed(), 5e-3, 2.0, 0)
    assert ends[1:] == [120.0]
