"""Figures and films: what is drawn, where it goes, and what is refused."""

import logging
from dataclasses import replace

import numpy as np
import pytest

import phlexible as ph
from phlexible import extras
from phlexible.pictures.mechanism_plot import picked_instants
from refusals import refused
from results.samples import TIMES, balanced, pendulum, sample, untouched

matplotlib = pytest.importorskip("matplotlib")


def size_of(path) -> tuple[int, int]:
    from PIL import Image

    with Image.open(path) as image:
        assert len(image.convert("RGB").getcolors(10**6)) > 20, "an empty picture"
        return image.size


def test_energy_plot_shows_what_is_not_zero(tmp_path):
    upper, lower = balanced(sample()).plot_energy(tmp_path / "energy.png").axes
    assert [line.get_label() for line in upper.lines] == ["total (2)", "kinetic (2)", "strain"]
    assert upper.lines[0].get_ydata() == pytest.approx(np.zeros(len(TIMES)))
    assert upper.lines[1].get_ydata() == pytest.approx(np.cos(9 * TIMES) - 1)
    assert "in brackets: energy at the start [J]" in lower.texts[0].get_text()
    assert lower.get_ylabel() == "|error| [J]"
    assert size_of(tmp_path / "energy.png") == (1120, 840)
    labels = [line.get_label().split(" (")[0] for line in sample().plot_energy().axes[0].lines]
    assert labels == ["total", "kinetic", "strain", "gravity", "spring", "supplied", "dissipated"]


def test_a_ledger_that_closes_exactly_is_drawn_too(tmp_path):
    motion = balanced(sample())
    still = replace(motion.recording, kinetic=0 * TIMES, strain=0 * TIMES)
    figure = ph.Motion(motion.run.system, still).plot_energy(tmp_path / "energy.pdf")
    assert figure.axes[1].get_yscale() == "linear"
    assert (tmp_path / "energy.pdf").read_bytes().startswith(b"%PDF")


def test_displacement_plot(tmp_path):
    motion = sample()
    end = motion["arm"].end
    figure = motion.plot_elastic_displacement(end, tmp_path / "u.png")
    bent = motion.elastic_displacement(end)
    assert not bent[:, 1:].any(), "no curve of zeros is drawn"
    assert [line.get_ydata()[3] for line in figure.axes[0].lines] == pytest.approx(bent[3, :1])
    normalized = motion.plot_elastic_displacement(end, normalized=True).axes[0]
    assert normalized.lines[0].get_ydata() == pytest.approx(bent[:, 0] / 0.5)
    assert normalized.get_ylabel().startswith("elastic displacement / length")
    with pytest.raises(ph.ModelError, match="ball has no size"):
        motion.plot_elastic_displacement(motion["ball"].origin, normalized=True)


@pytest.mark.parametrize("motion", [sample, pendulum, untouched])
def test_mechanism_plot(tmp_path, motion):
    figure = motion().plot_mechanism(3, tmp_path / "mechanism.png")
    width, height = size_of(tmp_path / "mechanism.png")
    assert width == 1120 and 400 <= height <= 1400
    for drawn, words in ((motion().plot_mechanism([0.5]), "t = 0.5 s"), (figure, "3 instants, t = ")):
        assert any(text.get_text().startswith(words) for text in drawn.findobj(matplotlib.text.Text))


def test_a_picked_instant_is_the_nearest():
    time = np.array([0.0, 0.1, 0.2, 0.5])
    assert list(picked_instants(time, [0.0, 0.04, 0.06, 0.36, 0.5])) == [0, 0, 1, 3, 3]
    assert list(picked_instants(time, 2)) == [0, 3]
    assert list(picked_instants(time, 1)) == [3]
    assert list(picked_instants(time[:1], 3)) == [0, 0, 0]
    for wrong in (0, [], [0.6], [-0.1]):
        with pytest.raises(ph.ParameterError, match="times must"):
            picked_instants(time, wrong)


@pytest.mark.parametrize(("ending", "make"), [("gif", sample), ("mp4", pendulum)])
def test_films(tmp_path, make, ending):
    if ending == "mp4":
        pytest.importorskip("imageio_ffmpeg")
    motion, told = make(), []
    target = tmp_path / f"film.{ending}"
    trace = motion["ball"].origin
    motion.animate(target, trace=trace, seconds=0.4, frames_per_second=10, progress=lambda *now: told.append(now))
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
    refused(ph.ParameterError, r"path must end in .mp4 or .gif, got 'film.avi'", lambda: motion.animate("film.avi"))
    refused(ph.ParameterError, "seconds must be positive, got -1", lambda: motion.animate("film.gif", seconds=-1))
    with pytest.raises(ph.ResultFileError, match="cannot write .*film.gif: there is no folder .*no folder$"):
        motion.animate(tmp_path / "no folder" / "film.gif", seconds=0.1)
    refused(ph.ParameterError, "cannot write a figure", lambda: motion.plot_energy(tmp_path / "energy.docx"))
    with pytest.raises(ph.ResultFileError, match="cannot write .*energy.png: there is no folder .*no folder$"):
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
        with pytest.raises(ph.MissingExtraError, match=rf"pip install phlexible\[{extra}\]"):
            wanted()


def test_an_mp4_without_its_encoder_suggests_a_gif(tmp_path, monkeypatch):
    def without_encoder(name):
        if name == "imageio_ffmpeg":
            raise ImportError(name)
        return real(name)

    real = extras.import_module
    monkeypatch.setattr(extras, "import_module", without_encoder)
    refused(ph.MissingExtraError, r"a \.gif does not", lambda: pendulum().animate(tmp_path / "film.mp4"))


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
    assert "Newton iterations          20" in str(motion.summary())
    assert repr(motion).startswith("Motion(21 instants to t = 1 s, Mechanism(dimension=3, 3 bodies")
    refused(ph.ModelError, "no body is named 'wing'", lambda: motion["wing"])


def test_axes_that_are_given_are_drawn_into_and_returned():
    from matplotlib.figure import Figure

    motion = sample(dimension=2)
    joint = motion.mechanism.joints[0]
    drawings = (
        motion.plot_energy,
        lambda axes: motion.plot_elastic_displacement(motion["arm"].end, axes=axes),
        lambda axes: motion.plot_reaction(joint, axes=axes),
        lambda axes: motion.plot_mechanism(2, axes=axes),
    )
    for draw in drawings:
        figure = Figure()
        axes = figure.subplots()
        assert draw(axes=axes) is axes and (axes.lines or axes.patches)
        assert figure.axes == [axes]
    satellite = ph.gallery.satellite()
    linear = satellite.linearize(inputs=[satellite["hub"].origin])
    figure = Figure()
    axes = figure.subplots()
    modes = linear.modes(4)
    assert modes.plot(3, axes=axes) is axes and axes.get_title().startswith("3.0481")
    refused(ph.ParameterError, "say which with mode=", lambda: modes.plot(axes=axes))
    pair = Figure().subplots(2, 1)
    assert linear.frequency_response([1.0, 2.0]).plot(axes=pair) is pair and len(pair[1].lines) == 3
    swept = ph.mode_sweep(lambda length: ph.gallery.satellite(panel_length=length), [5.0, 6.0], 4)
    axes = Figure().subplots()
    assert swept.plot(axes=axes) is axes and len(axes.lines) == 4
    refused(ph.ParameterError, "projection", lambda: sample().plot_mechanism(axes=Figure().subplots()))
    force = motion.plot_reaction(joint).axes[0].lines[1].get_ydata()
    assert force == pytest.approx(motion.reaction(joint)[:, 1])


def test_a_table_of_a_motion_has_rows():
    """Models without drives, frames or strings have none in their data."""
    pytest.importorskip("xarray")
    model = ph.Model(dimension=2)
    model.add(ph.PointMass(1.0), "ball", velocity=(1, 0, 0))
    data = model.simulate(0.1, 1e-2, progress=False).to_xarray()
    assert len(data.to_dataframe()) == np.prod(list(data.sizes.values())) > 0
    assert "paths" not in data and data["kinetic"].values == pytest.approx(0.5)
