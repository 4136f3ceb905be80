"""Figures and films: what is drawn, where it goes, and what is refused."""

import logging
from dataclasses import replace

import numpy as np
import pytest

from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.bodies.point_mass import PointMass
from phlexible.elements.sections import CircularSection
from phlexible.errors import MissingExtraError, ModelError, ParameterError, ResultFileError
from phlexible.joints.revolute import Revolute
from phlexible.model import Model
from phlexible.results import extras
from phlexible.results.motion import Motion
from phlexible.results.pictures.drawing import scene
from phlexible.results.pictures.mechanism_plot import picked_instants
from results.samples import TIMES, balanced, pendulum, sample, untouched

matplotlib = pytest.importorskip("matplotlib")


def size_of(path) -> tuple[int, int]:
    from PIL import Image

    with Image.open(path) as image:
        colors = image.convert("RGB").getcolors(10**6)
        assert len(colors) > 20, "an empty picture"
        return image.size


def test_energy_plot_shows_what_is_not_zero(tmp_path):
    figure = balanced(sample()).plot_energy(tmp_path / "energy.png")
    upper, lower = figure.axes
    assert [line.get_label() for line in upper.lines] == ["total", "kinetic", "strain"]
    assert upper.lines[0].get_ydata() == pytest.approx(np.full(len(TIMES), 2.0))
    assert lower.get_ylabel() == "|error| [J]"
    assert size_of(tmp_path / "energy.png") == (1120, 840)
    labels = [line.get_label() for line in sample().plot_energy().axes[0].lines]
    assert labels == ["total", "kinetic", "strain", "spring", "gravity", "supplied", "dissipated"]


def test_a_ledger_that_closes_exactly_is_drawn_too(tmp_path):
    motion = balanced(sample())
    still = replace(motion.recording, kinetic=0 * TIMES, strain=0 * TIMES)
    figure = Motion(motion.run.system, still).plot_energy(tmp_path / "energy.pdf")
    assert figure.axes[1].get_yscale() == "linear"
    assert (tmp_path / "energy.pdf").read_bytes().startswith(b"%PDF")


def test_displacement_plot(tmp_path):
    motion = sample()
    end = motion["arm"].end
    figure = motion.plot_displacement(end, tmp_path / "u.png")
    assert [line.get_ydata()[3] for line in figure.axes[0].lines] == pytest.approx(motion.displacement(end)[3])
    normalized = motion.plot_displacement(end, normalized=True).axes[0]
    assert normalized.lines[1].get_ydata() == pytest.approx(motion.displacement(end)[:, 1] / 0.5)
    assert normalized.get_ylabel() == "displacement / length"
    with pytest.raises(ModelError, match="ball has no size"):
        motion.plot_displacement(motion["ball"].origin, normalized=True)


@pytest.mark.parametrize("motion", [sample, pendulum, untouched])
def test_mechanism_plot(tmp_path, motion):
    figure = motion().plot_mechanism(3, tmp_path / "mechanism.png")
    width, height = size_of(tmp_path / "mechanism.png")
    assert width == 1120 and 400 <= height <= 1400
    assert motion().plot_mechanism([0.5]).axes[0].get_title(loc="right") == "t = 0.5 s"
    assert "3 instants" in figure.axes[0].get_title(loc="right")


def test_drawn_points_are_where_the_observables_say():
    motion = sample()
    instants = np.array([0, 7, 20])
    drawn = scene(motion.run, instants)
    arm, rotor, ball = drawn.bodies
    assert arm.lines[0][:, -1] == pytest.approx(motion.position(motion["arm"].end)[instants])
    assert rotor.points[:, 0] == pytest.approx(motion.position(motion["rotor"].point((0.05, 0, 0)))[instants])
    assert rotor.lines[0][:, 0] == pytest.approx(motion.position(motion["rotor"].origin)[instants])
    assert ball.points[:, 0] == pytest.approx(motion.position(motion["ball"].origin)[instants])
    assert drawn.joints.shape == (3, 2, 3)
    assert drawn.ground.shape == (0, 3)
    assert len(drawn.guides) == 1
    twice = scene(motion.run, instants, scale=2.0).bodies[0].lines[0]
    stiff = scene(motion.run, instants, scale=0.0).bodies[0].lines[0]
    assert twice - arm.lines[0] == pytest.approx(arm.lines[0] - stiff, abs=1e-14)
    lengths = np.linalg.norm(stiff[:, -1] - stiff[:, 0], axis=1)
    assert lengths == pytest.approx(np.full(3, 0.5))


def test_a_picked_instant_is_the_nearest():
    time = np.array([0.0, 0.1, 0.2, 0.5])
    assert list(picked_instants(time, [0.0, 0.04, 0.06, 0.36, 0.5])) == [0, 0, 1, 3, 3]
    assert list(picked_instants(time, 2)) == [0, 3]
    assert list(picked_instants(time, 1)) == [3]
    assert list(picked_instants(time[:1], 3)) == [0, 0, 0]
    for wrong in (0, [], [0.6], [-0.1]):
        with pytest.raises(ParameterError, match="times must"):
            picked_instants(time, wrong)


@pytest.mark.parametrize("make", [sample, pendulum])
@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_films(tmp_path, make, ending):
    if ending == "mp4":
        pytest.importorskip("imageio_ffmpeg")
    motion, told = make(), []
    target = tmp_path / f"film.{ending}"
    trace = motion["ball"].origin
    motion.animate(
        target,
        trace=trace,
        seconds=0.4,
        frames_per_second=10,
        progress=lambda done, count: told.append((done, count)),
    )
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert 2_000 < target.stat().st_size < 400_000
    if ending == "gif":
        from PIL import Image

        with Image.open(target) as film:
            assert film.n_frames == 4
    else:
        assert target.read_bytes()[4:8] == b"ftyp"


def test_refused_films_and_figures(tmp_path):
    motion = pendulum()
    with pytest.raises(ParameterError, match=r"path must end in .mp4 or .gif, got 'film.avi'"):
        motion.animate("film.avi")
    with pytest.raises(ParameterError, match="seconds and frames_per_second must be positive, got -1"):
        motion.animate("film.gif", seconds=-1)
    with pytest.raises(ResultFileError, match="cannot write"):
        motion.animate(tmp_path / "no folder" / "film.gif", seconds=0.1)
    with pytest.raises(ParameterError, match="cannot write a figure"):
        motion.plot_energy(tmp_path / "energy.docx")
    with pytest.raises(ResultFileError, match="cannot write"):
        motion.plot_energy(tmp_path / "no folder" / "energy.png")


def test_missing_packages_are_named_with_their_command(tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    motion = pendulum()
    monkeypatch.setattr(extras, "import_module", missing)
    for wanted, extra in (
        (motion.plot_energy, "plot"),
        (motion.plot_mechanism, "plot"),
        (lambda: motion.animate(tmp_path / "film.mp4"), "plot"),
        (motion.to_xarray, "xarray"),
    ):
        with pytest.raises(MissingExtraError, match=rf"pip install phlexible\[{extra}\]"):
            wanted()


def test_an_mp4_without_its_encoder_suggests_a_gif(tmp_path, monkeypatch):
    def without_encoder(name):
        if name == "imageio_ffmpeg":
            raise ImportError(name)
        return real(name)

    real = extras.import_module
    monkeypatch.setattr(extras, "import_module", without_encoder)
    with pytest.raises(MissingExtraError, match=r"a \.gif does not"):
        pendulum().animate(tmp_path / "film.mp4")


def test_figures_touch_no_global_state(monkeypatch):
    before, logger = dict(matplotlib.rcParams), logging.getLogger("matplotlib.font_manager")
    monkeypatch.setattr(logger, "level", 23)
    pendulum().plot_energy()
    assert dict(matplotlib.rcParams) == before
    assert logger.level == 23


def test_a_motion_in_a_few_words():
    motion = sample()
    numbers = motion.summary()
    assert (numbers["bodies"], numbers["instants"], numbers["duration [s]"]) == (3, 21, 1.0)
    assert numbers["largest balance error [J]"] == pytest.approx(np.abs(motion.energy.balance_error).max())
    assert "Newton iterations          20" in motion.report()
    assert repr(motion).startswith("Motion(21 instants to t = 1 s, Mechanism(dimension=3, 3 bodies")
    with pytest.raises(ModelError, match="no body is named 'wing'"):
        motion["wing"]


def test_the_path_of_a_moving_frame_is_a_curve_however_few_instants_are_stored():
    """A circle through five instants is drawn round, also from a file, which holds no functions."""
    model = Model(dimension=2)
    mass = model.add(PointMass(1.0), position=(0.2, 0, 0))
    pin = model.ground.moving(lambda t: (0.2 * np.cos(2 * np.pi * t), 0.2 * np.sin(2 * np.pi * t), 0.0))
    model.connect(Revolute(pin, mass.origin))
    motion = model.simulate(1.0, 0.01, every=25, progress=False)
    paths = scene(motion.run, np.arange(5)).paths
    assert paths.shape[0] > 200 and paths.shape[1:] == (1, 3)
    assert np.linalg.norm(paths[:, 0], axis=1) == pytest.approx(0.2, rel=0.03)
    assert paths[0, 0] == pytest.approx([0.2, 0, 0]) and paths[-1, 0] == pytest.approx([0.2, 0, 0])
    assert scene(sample().run, np.arange(1)).paths.shape[1] == sample().recording.frames.shape[1]


def test_a_beam_in_parts_is_drawn_as_one(tmp_path):
    model = Model(dimension=2, gravity=(0, -9.81, 0))
    bar = Beam(1.0, CircularSection(0.02), Material(2e11, 7870.0), elements=2)
    arm = model.add(bar.split(3), "arm")
    mass = model.add(PointMass(1.0), "mass", position=(1, 0, 0))
    model.connect(Revolute(model.ground.at((0, 0, 0)), arm.start))
    model.connect(Revolute(arm.end, mass.origin))
    motion = model.simulate(0.1, 1e-3, progress=False)
    drawn = scene(motion.run, np.array([0, 100]))
    assert [(body.name, len(body.lines)) for body in drawn.bodies] == [("arm", 3), ("mass", 0)]
    assert drawn.joints.shape == (2, 1, 3)
    figure = motion.plot_mechanism(2, tmp_path / "arm.png")
    colors = {line.get_color() for line in figure.axes[0].lines if len(line.get_xdata()) == 33}
    assert len(colors) == 1


def test_a_table_of_a_motion_has_rows():
    """Models without drives, frames or strings have none in their data."""
    pytest.importorskip("xarray")
    model = Model(dimension=2)
    model.add(PointMass(1.0), "ball", velocity=(1, 0, 0))
    data = model.simulate(0.1, 1e-2, progress=False).to_xarray()
    assert len(data.to_dataframe()) == np.prod(list(data.sizes.values())) > 0
    assert "paths" not in data and data["kinetic"].values == pytest.approx(0.5)
