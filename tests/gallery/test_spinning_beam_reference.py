"""The spin-up: geometric stiffening holds the beam, and a model without it is found out."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import phlexible as ph

REFERENCE = Path(__file__).parent / "reference" / "spin_up.csv"
TIME, TRANSVERSE = 0, 3
LENGTH = 8.0


@pytest.mark.parametrize("options", [{}, {"modes": 3}, {"elements": 12}])
def test_the_tip_follows_the_reference_with_von_karman_strain(options) -> None:
    reference = np.loadtxt(REFERENCE, delimiter=",")
    model = ph.gallery.spinning_beam(**options)
    motion = model.simulate(20.0, 0.01, progress=False)
    tip = motion.elastic_displacement(model["beam"].end)
    peak = np.argmin(tip[:, 1])
    assert tip[peak, 1] == pytest.approx(reference[:, TRANSVERSE].min(), rel=0.01)
    assert motion.time[peak] == pytest.approx(6.55, abs=0.05)
    own = CubicSpline(motion.time, tip[:, 1])(reference[:, TIME])
    assert np.abs(own - reference[:, TRANSVERSE]).max() < 0.01 * np.abs(reference[:, TRANSVERSE]).max()
    late = motion.time > 16
    assert tip[late, 0].mean() == pytest.approx(2.446e-4, rel=0.02)  # stretched by rho Omega^2 L^3 / (3 E)


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.filterwarnings("ignore::phlexible.LargeStrainWarning")
@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_without_stiffening_the_beam_grows_and_the_warning_says_why() -> None:
    model = ph.gallery.spinning_beam(strain="linear")
    with pytest.warns(ph.StiffeningWarning) as caught:
        motion = model.simulate(9.0, 0.02, progress=False)
    assert np.abs(motion.elastic_displacement(model["beam"].end)[-1, 1]) > LENGTH
    (told,) = [each for each in caught if each.category is ph.StiffeningWarning]
    text = str(told.message)
    assert told.filename == __file__
    for part in ("beam left its axis by 30 %", "geometric stiffening", "2.91 rad/s", 'strain="von_karman"'):
        assert part in text
    assert motion.missing_stiffening() == [text]


@pytest.mark.parametrize(
    ("strain", "duration"),
    [("linear", 6.0), ("von_karman", 12.0)],  # before it grows; with stiffening
)
@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.filterwarnings("ignore::phlexible.LargeStrainWarning")
@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_there_is_no_warning_where_there_is_no_blow_up(strain, duration) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ph.StiffeningWarning)
        ph.gallery.spinning_beam(strain=strain).simulate(duration, 0.02, progress=False)


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.filterwarnings("ignore::phlexible.LargeStrainWarning")
@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_a_beam_that_only_bends_far_is_not_told_of_stiffening() -> None:
    """A large load on a beam of linear strain at rest is another mistake."""
    model = ph.Model(dimension=2)
    soft = ph.Material(1e7, 1000.0)
    beam = model.add(ph.Beam(1.0, ph.CircularSection(0.02), soft, elements=2, strain="linear"), "beam")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    model.apply(ph.Force(beam.end, (0, 0.1, 0)))
    motion = model.simulate(2.0, 0.01, progress=False)
    assert motion.elastic_displacement(beam.end)[:, 1].max() > 0.3
    assert motion.missing_stiffening() == []
