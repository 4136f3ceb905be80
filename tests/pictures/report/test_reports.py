"""Reports: what is in the file is where the motion says, in a file that is small and needs nothing else."""

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import phlexible as ph
from phlexible.bodies.skin import tube_skin
from phlexible.pictures.reports import FLATTEST, asset, plotted_instants, visible_skin
from phlexible.shapes.surfaces import outline_of
from pictures.report.decoding import Decoded
from refusals import refused
from results.samples import sample

VIEWER = Path(__file__).parents[3] / "viewer"


def number(report: Decoded, name: str) -> int:
    return next(k for k, body in enumerate(report.head["bodies"]) if body["name"] == name)


def test_bodies_are_where_the_motion_says(tmp_path):
    motion = sample()
    motion.report(tmp_path / "run.html")
    report = Decoded(tmp_path / "run.html")
    arm, ball = number(report, "arm"), number(report, "ball")
    last = report.head["skins"][report.head["bodies"][arm]["skin"]]["nodes"] - 1
    assert report.array(report.head["time"]) == pytest.approx(motion.time)
    tolerance = 1e-4 * report.head["size"]  # of 16 bits for positions, turns and coordinates
    assert report.node(arm, last) == pytest.approx(motion.position(motion["arm"].end), abs=tolerance)
    assert report.node(ball, 0) == pytest.approx(motion.position(motion["ball"].origin), abs=tolerance)


def test_strings_frames_and_loads_of_the_crane(tmp_path):
    motion = ph.gallery.crane().simulate(1.0, 0.02, progress=False)
    motion.report(tmp_path / "run.html", frames=20)
    report = Decoded(tmp_path / "run.html")
    cable = number(report, "cable")
    time = report.array(report.head["time"])
    kept = np.searchsorted(motion.time, time - 1e-6)
    assert len(time) == 20
    assert report.node(cable, 20) == pytest.approx(motion.position(motion["cable"].end)[kept], abs=1e-3)
    force = report.array(report.head["arrows"][0]["values"])
    assert force[1:] == pytest.approx(np.tile([150.0, 0, 0], (19, 1)), abs=0.01)
    field = report.head["fields"][0]
    assert (field["name"], field["unit"], field["map"]) == ("axial force", "N", "sequential")
    shades = report.array(report.head["bodies"][cable]["fields"][0]["values"])
    tension = motion.tension(motion["cable"])[kept]
    assert shades[:, 10] / 255 * field["high"] == pytest.approx(tension[:, 9:11].mean(axis=1), rel=0.01)


def test_a_page_is_small_and_asks_the_network_for_nothing(tmp_path):
    """5 bodies with 400 nodes, 300 frames."""
    beam = ph.Beam(1.0, ph.CircularSection(0.02), ph.Material(7e10, 2700.0), elements=20)
    model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
    port = model.ground.at((0, 0, 0))
    for k in range(5):
        link = model.add(beam, f"link {k}", (k, 0, 0))
        model.connect(ph.Revolute(port, link.start))
        port = link.end
    motion = model.simulate(0.3, 1e-3, progress=False)
    motion.report(tmp_path / "run.html", title="</script> <b>&", curves={"tip": motion.position(port)})
    report = Decoded(tmp_path / "run.html")
    assert sum(report.head["skins"][body["skin"]]["nodes"] for body in report.head["bodies"]) >= 320
    assert len(report.array(report.head["time"])) == 301
    assert (tmp_path / "run.html").stat().st_size < 1_000_000
    assert len(report.head["skins"]) == 1  # equal bodies share theirs
    assert "&lt;/script&gt; &lt;b&gt;&amp;" in report.page
    assert re.findall(r'(?:src|href|action)="(?!data:,")[^"]*"', report.page) == []
    assert "@import" not in report.page and "url(" not in report.page
    tip = next(panel for panel in report.head["panels"] if panel["label"] == "tip")
    assert [curve["name"] for curve in tip["curves"]] == ["x", "y", "z"]
    assert report.array(tip["curves"][1]["values"])[-1] == pytest.approx(motion.position(port)[-1, 1], rel=1e-6)


@pytest.mark.parametrize("count", [20_001, pytest.param(100_001, marks=pytest.mark.thorough)])
def test_many_steps_make_a_small_file_that_keeps_every_peak(tmp_path, count):
    short = sample()
    rows = np.arange(count) % 21
    record = replace(short.recording.rows(rows), time=np.linspace(0.0, 5000.0, count))
    record.kinetic[14_321] += 100.0
    ph.Motion(short.run.system, record).report(tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size < 100 * count
    report = Decoded(tmp_path / "run.html")
    kinetic = next(c for c in report.head["panels"][0]["curves"] if c["name"].startswith("kinetic"))
    values = report.array(kinetic["values"])
    assert len(values) < 5000
    assert values.max() == pytest.approx(np.ptp(record.kinetic[[0, 14_321]]), rel=1e-5)
    assert kinetic["range"][1] == pytest.approx(values.max(), rel=1e-6)
    shown = report.array(report.head["time"])  # numbers beside curves are those of the pictures
    for panel in report.head["panels"]:
        assert set(shown) <= set(report.array(panel["time"]))
    own = values[np.searchsorted(report.array(report.head["panels"][0]["time"]), shown)]
    rows = np.round(shown / 5000.0 * (count - 1)).astype(int)
    np.testing.assert_allclose(own, record.kinetic[rows] - record.kinetic[0], rtol=1e-5, atol=1e-6)


def test_few_points_keep_the_ends_and_the_peaks():
    values = np.zeros(10_000)
    values[7777], values[123] = 3.0, -2.0
    kept = plotted_instants([values], 100)
    assert {0, 123, 7777, 9999} <= set(kept.tolist()) and len(kept) < 210
    assert plotted_instants([values[:50]], 100).tolist() == list(range(50))


def test_modes_move_through_a_period(tmp_path):
    modes = ph.gallery.satellite().linearize().modes(5)
    modes.report(tmp_path / "modes.html")
    report = Decoded(tmp_path / "modes.html")
    clips = report.head["clips"]
    assert [clip["count"] for clip in clips] == [25] * 5
    assert f"mode 4: {modes.frequencies[3]:.5g} rad/s" == clips[3]["name"]
    tip = report.node(number(report, "right panel"), 48)
    first = clips[3]["first"]
    path = tip[first : first + 25] - [6.75, 0, 0]
    assert np.abs(path).max() == pytest.approx(0.1 * 13.5, rel=0.05)  # a tenth of the extent
    assert path[12] == pytest.approx(-path[0], abs=0.12) and path[6] == pytest.approx(np.zeros(3), abs=0.12)
    strung = ph.gallery.crane().linearize(at="static").modes(2)
    strung.report(tmp_path / "strung.html")
    assert len(strung.plot().axes) == 2


def test_what_cannot_be_written_is_refused(tmp_path):
    motion = sample()
    refused(ph.ParameterError, r"must end in .html, got 'run.pdf'", lambda: motion.report("run.pdf"))
    with pytest.raises(ph.ParameterError, match=r"curve 'x' must be finite numbers of shape \(21,\)"):
        motion.report(tmp_path / "run.html", curves={"x": [1.0, 2.0]})
    refused(ph.ResultFileError, "cannot write", lambda: motion.report(tmp_path / "no folder" / "run.html"))
    assert not (tmp_path / "run.html").exists()


def test_the_bundled_viewer_is_that_of_the_sources():
    """Whoever changes viewer/src runs ``make viewer``."""
    if not VIEWER.is_dir():
        pytest.skip("an installed package has no sources of the viewer")
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted((VIEWER / "src").iterdir())))
    bundle = asset("viewer.js")
    assert digest.hexdigest() in bundle[:400], "run: make viewer"
    assert "three.js" in bundle[:400] and "MIT License" in asset("three.LICENSE.txt")[:60]
    assert asset("three.LICENSE.txt").strip() in asset("page.html")  # its licence asks for it in every copy
    assert json.loads((VIEWER / "package.json").read_text())["dependencies"].keys() == {"three"}


def test_thin_strips_are_seen_from_their_edge_and_thick_tubes_are_left_alone() -> None:
    ends, still = np.array([[0.0, 0, 0], [0.1, 0, 0]]), np.zeros((2, 3, 0))
    strip = tube_skin(ends, still, still, [outline_of(ph.RectangularSection(1e-5, 0.1))] * 2)
    assert np.ptp(visible_skin(strip, 1.0).offsets, axis=0) == pytest.approx([0, FLATTEST, 0.1])
    thick = tube_skin(ends, still, still, [outline_of(ph.RectangularSection(0.05, 0.1))] * 2)
    assert np.array_equal(visible_skin(thick, 1.0).offsets, thick.offsets)
