"""Each gallery model against the reference numbers of its docstring."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import phlexible as ph
from phlexible.gallery.entries import BeamPoint, Reference
from phlexible.gallery.table import ENTRIES


def test_the_table_holds_every_model_and_its_points_exist() -> None:
    assert {entry.function.__name__ for entry in ENTRIES} == set(ph.gallery.__all__)
    for entry in (each for each in ENTRIES if each.points):
        model = entry.function()
        for point in entry.points:
            body = model[point.body].body
            assert isinstance(body, ph.Beam)
            model[point.body].at(point.fraction * body.length)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_model_says_its_source_its_reference_and_its_run(entry) -> None:
    text = entry.function.__doc__
    assert all(word in text for word in ("Source:", "Reference:", f"phlexible run {entry.name}"))


def test_crank_slider_names_and_places() -> None:
    model = ph.gallery.crank_slider(crank_length=0.1, coupler_length=0.25)
    assert model["coupler"].end.initial_position() == pytest.approx([0.35, 0, 0])
    assert model["slider"].origin.initial_position() == pytest.approx([0.35, 0, 0])
    assert model["coupler"].data.mass == pytest.approx(0.066756 * 0.25 / 0.3, rel=1e-5)


def test_double_pendulum_follows_lagranges_equations() -> None:
    def rates(t, y):
        a, b, da, db = y
        c, s = np.cos(a - b), np.sin(a - b)
        mass = np.array([[8, 3 * c], [3 * c, 2]])
        force = [-9 * 9.81 * np.sin(a) - 3 * db**2 * s, -3 * 9.81 * np.sin(b) + 3 * da**2 * s]
        return [da, db, *np.linalg.solve(mass, force)]

    a, b, *_ = solve_ivp(rates, (0, 1), [2.0, 2.5, 0, 0], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    expected = [np.sin(a) + np.sin(b), -np.cos(a) - np.cos(b), 0]
    assert expected == pytest.approx([-1.750529, -0.961285, 0], abs=1e-6)  # the docstring

    model = ph.gallery.double_pendulum()
    motion = model.simulate(duration=1.0, step=5e-4, every=100)
    assert motion.position(model["lower"].point((1.0, 0.0, 0.0)))[-1] == pytest.approx(expected, abs=2e-5)


def test_flexible_pendulum_passes_the_vertical_like_a_rigid_one() -> None:
    model = ph.gallery.flexible_pendulum()
    motion = model.simulate(duration=0.55, step=5e-4)
    end = motion.position(model["beam"].end)
    low = np.argmax(end[:, 0] < 0)  # the end crosses the vertical
    assert motion.time[low] == pytest.approx(0.48332, abs=0.005)
    assert np.linalg.norm(motion.velocity(model["beam"].end)[low]) == pytest.approx(5.4249, rel=0.05)
    assert 0.001 < np.abs(motion.elastic_displacement(model["beam"].at(0.5))).max() < 0.03


@pytest.mark.parametrize("links", [1, 3])
def test_chain_in_space_moves_as_in_the_plane(links: int) -> None:
    ends = []
    for dimension in (2, 3):
        model = ph.gallery.chain(links=links, dimension=dimension, elements=2)
        motion = model.simulate(duration=0.1, step=5e-4)
        ends.append(motion.position(model[f"link {links}"].end))
        assert motion.energy.total[0] == 0
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)
    assert ends[0][-1, 1] < -0.01


def test_chain_hangs_at_first_on_a_quarter_of_a_rigid_link() -> None:
    model = ph.gallery.chain(links=1, youngs_modulus=7e13)
    motion = model.simulate(duration=0.02, step=1e-5)
    weight = model["link 1"].data.mass * 9.81
    assert motion.reaction(model.joints[0])[1:, 1].mean() == pytest.approx(weight / 4, rel=0.02)


def test_free_pair_has_the_invariants_of_two_rods() -> None:
    motion = ph.gallery.free_pair().simulate(duration=0.2, step=1e-3)
    assert motion.energy.total == pytest.approx(0.342635, abs=1e-6)
    assert motion.momentum.linear == pytest.approx(np.tile([0.0446317, 0.0285930, 0.0200872], (201, 1)), abs=1e-7)
    start = motion.momentum.angular[0]
    assert start == pytest.approx([-0.0325453, 0.0108199, 0.0313991], abs=1e-7)
    assert motion.momentum.angular == pytest.approx(np.tile(start, (201, 1)), abs=1e-11)


def test_a_reference_holds_for_its_parameters_only() -> None:
    defaults = {"a": 1.0, "b": "x", "n": 8}
    point = BeamPoint("beam", 0.5)
    reference = Reference("", point, 1.0, 0.1, -0.1, allowed={"n": None, "a": (1.0, 2.0)})
    assert reference.holds({}, defaults) and reference.holds({"n": 3, "a": 2.0}, defaults)
    assert not reference.holds({"a": 3.0}, defaults) and not reference.holds({"b": "y"}, defaults)
    other = Reference("", point, 1.0, 0.1, -0.1, required={"b": "y"})
    assert other.holds({"b": "y"}, defaults) and not other.holds({}, defaults)


def test_satellite_is_symmetric_and_free() -> None:
    model = ph.gallery.satellite()
    modes = model.linearize().modes(7)
    assert modes.rigid_modes == 3
    tips = [modes.displacement(model[f"{side} panel"].end)[3:, 1] for side in ("left", "right")]
    hub = modes.displacement(model["hub"].origin)[3:, 1]
    against = np.abs(tips[0] + tips[1]) < 1e-6 * np.abs(tips[0])
    assert against.tolist() == [False, True, False, True]
    assert (np.abs(hub[against]) < 1e-6 * np.abs(tips[0][against])).all()
