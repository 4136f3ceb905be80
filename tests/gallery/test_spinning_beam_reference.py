"""The spin-up of a beam, and the beam of [B] 6.3, against other programs and exact balances."""

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


SPATIAL_REFERENCE = Path(__file__).parent / "reference" / "spatial_beam.csv"
TORQUE_ENDS, BLOW_BEGINS, BLOW_ENDS = 0.0102, 0.015, 0.0154


@pytest.fixture(scope="module")
def motion() -> ph.Motion:
    return ph.gallery.spatial_beam(elements=8).simulate(0.05, 1e-5, every=5, progress=False)


@pytest.fixture(scope="module")
def spatial_reference() -> np.ndarray:
    """Columns t, kinetic, total, hinge rate, H_z, tip x, y, z at the stored instants."""
    return np.loadtxt(SPATIAL_REFERENCE, delimiter=",", skiprows=1)


def test_the_tip_stays_within_a_millimetre(motion, spatial_reference) -> None:
    assert motion.time == pytest.approx(spatial_reference[:, 0], abs=1e-12)
    gap = np.linalg.norm(motion.position(motion["beam"].end) - spatial_reference[:, 5:8], axis=1)
    assert gap.max() < 1e-3
    assert gap[motion.time < BLOW_BEGINS].max() < 1e-4


def test_the_total_energy_follows_the_reference_and_the_loads(motion, spatial_reference) -> None:
    total, time = motion.energy.total, motion.time
    assert np.abs(total - spatial_reference[:, 2]).max() < 5e-3 * spatial_reference[:, 2].max()
    for rest in ((time >= TORQUE_ENDS) & (time <= BLOW_BEGINS), time >= BLOW_ENDS):
        assert np.ptp(total[rest]) < 1e-12 * total.max()
    assert set(motion.energy.work) == {"torque", "blow"}
    assert np.abs(motion.energy.balance_error).max() < 1e-12 * total.max()


def test_the_angular_momentum_about_z_is_the_impulse_of_the_torque(motion) -> None:
    about_z = motion.momentum.angular[motion.time > TORQUE_ENDS - 1e-9, 2]
    assert about_z == pytest.approx(np.full(len(about_z), 2e-3), rel=1e-9)


def test_the_hinge_turns_as_the_reference_on_average(motion, spatial_reference) -> None:
    """The rate at the hinge converges slowly; its mean over the free rotation is a tip angle."""
    rate = motion.angular_velocity(motion["beam"].start)[:, 2]
    free = (motion.time > TORQUE_ENDS) & (motion.time < BLOW_BEGINS)
    assert rate[free].mean() == pytest.approx(spatial_reference[free, 3].mean(), rel=0.01)
