"""Motions and live runs in a browser: the server runs on this machine, and bodies are where the observables say."""

import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Timer
from types import SimpleNamespace

import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from pictures.report.decoding import Decoded


def pushed() -> ph.Model:
    """A beam on a hinge, a ball in space above a floor, a string, a spring, a motor torque."""
    model = ph.Model(gravity=(0, 0, -9.81))
    arm = model.add(ph.Beam(0.5, ph.CircularSection(0.01), ph.Material(2e11, 7800.0), elements=2), "arm")
    ball = model.add(ph.RigidBody.sphere(0.1, 1000.0), "ball", (1, 0, 0.5), angular_velocity=(1.0, 2.0, 0))
    rope = model.add(ph.String(1.0, 0.1, 4, ph.LinearLaw(200.0)), "rope", shape=((0, 1, 1), (1, 1, 1)))
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.start, axis=(0, 1, 0)))
    model.connect(ph.Spherical(model.ground.at((0, 1, 1)), rope.start))
    model.apply(ph.Contact(ball.origin, ph.Plane(model.ground.at((0, 0, 0))), stiffness=1e4, radius=0.1))
    model.apply(ph.SpringDamper(model.ground.at((1, 0, 1)), ball.origin, 5.0))
    model.apply(hinge.torque(0.0, name="motor"))
    model.apply(ph.Force(ball.origin, (0.0, 0.0, 1.0), name="lift"))
    return model


def asked(view, after: int) -> dict:
    with urllib.request.urlopen(f"{view.url}/news?after={after}") as answer:
        return json.load(answer)


def told(view, headers: dict | None = None, **what) -> None:
    request = urllib.request.Request(f"{view.url}/set", json.dumps(what).encode(), headers or {})
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 200


def test_a_motion_is_its_report_and_its_slider_is_moved_from_here_and_there():
    motion = pushed().simulate(0.1, 5e-3, progress=False)
    with motion.live() as view:
        assert view.url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(view.url) as page:
            shown = Decoded(page.read().decode())
        names = [body["name"] for body in shown.head["bodies"]]
        assert names == ["arm", "ball", "rope", "plane through ground.at(0, 0, 0)"]
        assert shown.array(shown.head["time"]) == pytest.approx(motion.time)
        ball = motion.position(motion["ball"].origin)
        assert shown.array(shown.head["bodies"][1]["origins"]) == pytest.approx(ball, abs=1e-5)
        assert view.time == 0.0 and not view.is_playing
        view.time = motion.time[8]
        news = asked(view, 0)
        assert (news["time"], news["playing"], news["number"]) == (motion.time[8], False, 1)
        told(view, time=0.07, playing=True, speed=2.0, number=0)  # before it heard the news
        assert view.time == motion.time[8] and not view.is_playing
        told(view, time=0.07, playing=True, speed=2.0, number=1)
        assert view.time == 0.07 and view.is_playing
        view.pause()
        assert not view.is_playing
        view.play(speed=50.0)
        assert view.is_playing and asked(view, 2)["speed"] == 50.0
        view.time = 7.0
        assert view.time == motion.time[-1]
    assert not view.is_open and "stopped" in repr(view)


def test_news_come_when_there_are_some():
    motion = pushed().simulate(0.01, 5e-3, progress=False)
    with motion.live() as view, ThreadPoolExecutor() as pool:
        waiting = pool.submit(asked, view, 0)
        assert not waiting.done()
        view.replace(motion)
        assert waiting.result(timeout=30)["version"] == 1
        last = pool.submit(asked, view, 1)
        view.stop()
        with suppress(OSError):  # an answer on its way may be cut off
            assert last.result(timeout=30)["is_open"] is False


def test_other_sites_are_refused():
    with pushed().start(step=5e-3).live() as view:
        for headers in ({"Origin": "http://elsewhere.org"}, {"Host": "elsewhere.org:80"}):
            with pytest.raises(urllib.error.HTTPError, match="400"):
                told(view, headers, end=True)
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(urllib.request.Request(view.url, headers=headers))
        for wrong in ({"inputs": {"engine": [1.0]}}, {"inputs": {"lift": [1.0]}}, {"inputs": {"motor": ["fast"]}}):
            with pytest.raises(urllib.error.HTTPError, match="400"):
                told(view, **wrong)
        assert view.is_running
        told(view, end=True)
        assert not view.is_running


def test_a_live_run_takes_inputs_from_the_page():
    """As the same run that is given its inputs in Python."""
    sim, alone = pushed().start(step=5e-3), pushed().start(step=5e-3)
    with sim.live() as view:
        assert Decoded(view.page).head["inputs"] == {"motor": [0.0], "lift": [0.0, 0.0, 1.0]}
        told(view, inputs={"motor": [0.5]})
        told(view, inputs={"lift": [0.0, 0.0, 60.0]})
        view.run(0.05, speed=10.0)
        alone.inputs["motor"], alone.inputs["lift"] = 0.5, (0.0, 0.0, 60.0)
        alone.run(0.05)
        assert sim.time == alone.time
        assert sim.motion.recording.position == pytest.approx(alone.motion.recording.position, abs=0)
        assert view.is_running
        for _ in range(2):
            news = asked(view, -1)
            moved = Decoded(f"""<script id="head">{json.dumps(news["moved"])}</script>
                <script id="block">{news["block"]}</script>""")
            assert moved.array(moved.head["time"]) == pytest.approx([sim.time])
            ball, rope = (moved.head["bodies"][k] for k in (1, 2))
            now = sim.instant
            assert moved.array(ball["origins"]) == pytest.approx(now.position(now["ball"].origin), abs=1e-6)
            turned = Rotation.from_quat(moved.array(ball["turns"])).as_matrix()
            assert turned == pytest.approx(now.rotation(now["ball"]), abs=1e-6)
            assert moved.array(rope["places"])[:, -1] == pytest.approx(now.position(now["rope"].end), abs=1e-6)
            sim.step()
            view.update()


def test_a_run_ends_where_round_off_puts_its_last_step_before_the_end():
    """0.05 + 0.01 is more than 60 * 1e-3."""
    sim = pushed().start(step=1e-3)
    with sim.live() as view:
        view.run(0.05, speed=10.0)
        patience = Timer(20.0, view.stop)
        patience.start()
        view.run(0.01, speed=10.0)
        assert view.is_running and sim.time == pytest.approx(0.06)
        patience.cancel()


def test_the_command_follows_a_file_and_runs_a_model(tmp_path, monkeypatch):
    """Both until somebody ends them; the file grows meanwhile."""
    from phlexible.cli import commands as live
    from phlexible.results.live import RunView
    from phlexible.results.motion_pictures import MotionView

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
