"""Runs that are out of the depth of a model or of a step say so; slack parts of strings are found."""

import warnings

import numpy as np
import pytest

import phlexible as ph
from phlexible.measure.quality import alternating_share


def clamped(modulus=2e8, gravity=9.81, **options):
    """A soft strip of 1 m, clamped, under its weight."""
    model = ph.Model(gravity=(0, -gravity, 0), dimension=2)
    strip = ph.Beam(1.0, ph.RectangularSection(0.02, 0.02), ph.Material(modulus, 1000.0), elements=4, **options)
    placed = model.add(strip, "strip")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed.start))
    return model


def messages(run):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motion = run()
    return motion, [(each.category, str(each.message)) for each in caught]


def test_a_beam_that_bends_too_far_is_told_to_be_cut():
    motion, found = messages(lambda: clamped().simulate(0.6, 2e-3))
    assert [category for category, _ in found] == [ph.LargeDeflectionWarning]
    text = found[0][1]
    assert text.startswith("strip bends further") and "beam.split(" in text
    deflection = np.linalg.norm(motion.elastic_displacement(motion["strip"].end)[:, 1:], axis=1).max()
    assert f"deflection up to {deflection:.2g} of its length" in text
    assert motion.check().findings == (text,) and text in str(motion.check())


def test_a_cut_beam_and_a_stiff_one_are_not():
    for model in (clamped(modulus=5e9), clamped(gravity=0.5)):
        motion, found = messages(lambda model=model: model.simulate(0.3, 2e-3))
        assert not found and motion.check().is_clean


def test_gigapascal_in_place_of_pascal_show_as_strain():
    motion, found = messages(lambda: clamped(modulus=210.0).simulate(0.2, 1e-3))
    texts = [text for category, text in found if category is ph.LargeStrainWarning]
    assert len(texts) == 1 and "Young's modulus is 210 Pa" in texts[0]
    assert set(texts) <= set(motion.check().findings)


def test_long_steps_are_told():
    _, found = messages(lambda: ph.gallery.heavy_top().simulate(0.5, 1e-2))
    assert [category for category, _ in found] == [ph.StepWarning] and "motion.step_error" in found[0][1]
    _, found = messages(lambda: ph.gallery.heavy_top().simulate(0.5, 1e-3))
    assert not found


def test_motions_so_slow_that_round_off_of_positions_shows_are_told():
    """Two hinged bars that turn at so many rad/s. The estimate is the error of the balance to a factor of 20."""
    for rate, far, is_told in ((1e-6, 0.0, True), (1e-3, 100.0, True), (1.0, 0.0, False), (1.0, 100.0, False)):
        model, pin = ph.Model(dimension=2), np.array([far, 0, 0])
        bar = ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0))
        first = model.add(bar, None, pin, velocity=(0, 0, 0), angular_velocity=(0, 0, rate))
        second = model.add(bar, None, pin + (1, 0, 0), velocity=(0, rate, 0), angular_velocity=(0, 0, -2 * rate))
        model.connect(ph.Revolute(model.ground.at(pin), first.origin))
        model.connect(ph.Revolute(first.point((1, 0, 0)), second.origin))
        motion, found = messages(lambda model=model: model.simulate(0.02, 1e-5))
        error = np.abs(motion.energy.balance_error).max() / motion.energy.kinetic[0]
        assert (error > 1e-10) == is_told
        assert [category for category, _ in found] == [ph.StepWarning] * is_told
        if is_told:
            lost = float(found[0][1].split("changes about ")[1].split(" ")[0])
            assert lost / 20 < error < 20 * lost


def test_vibrations_that_alternate_from_step_to_step_are_told():
    """A rod whose end is pulled suddenly rings along its axis, much faster than the step."""
    model = clamped(modulus=1e9, gravity=0.0)
    model.apply(ph.Force(model["strip"].end, (1e4, 0, 0)))
    _, found = messages(lambda: model.simulate(0.2, 5e-3))
    assert any(category is ph.StepWarning and "change their sign in every step" in text for category, text in found)
    _, found = messages(lambda: model.simulate(0.02, 2e-5))
    assert not found


def test_a_hinged_beam_that_is_turned_alternates_alike_in_all_frames():
    """The frame of a cantilever turns against its elastic rates, which say 1067 % of the energy alone."""
    shares = []
    for frame in ("cantilever", "simply_supported", "mean_axis"):
        model = ph.Model(dimension=2)
        steel = ph.Material(youngs_modulus=2e11, density=7870.0)
        beam = model.add(ph.Beam(1.0, ph.CircularSection(0.01), steel, elements=4, frame=frame), "beam")
        model.apply(model.connect(ph.Revolute(model.ground.at((0, 0, 0)), beam.start)).torque(1.0))
        motion, found = messages(lambda model=model: model.simulate(0.1, 2e-3))
        assert not found
        shares.append(alternating_share(motion.run))
        assert alternating_share(motion.run, least=100.0) >= shares[-1]
    assert shares == pytest.approx(3 * [0.0141], rel=0.05)


def test_a_check_says_what_was_kept():
    check = ph.gallery.double_pendulum().simulate(0.5, 1e-3).check()
    assert check.is_clean and "no problems found" in str(check)
    assert check.balance_error < 1e-13 and check.joint_gap < 1e-13 and 0 < check.step_error < 1e-5
    assert check.halvings == 0 and check.iterations > 500


def test_warnings_that_count_steps_are_findings_of_the_check_too():
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    arm = model.add(ph.RigidBody(1.0, 0.1, center=(0.5, 0, 0)), "arm")
    model.apply(model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin)).spring(5.0, rest=92.0))
    motion, found = messages(lambda: model.simulate(0.5, 1e-2))
    texts = sorted(text for _, text in found)
    assert any("iterations a step" in text for text in texts) and texts == sorted(motion.check().findings)


pytestmark = pytest.mark.filterwarnings("ignore::phlexible.SlackStringWarning")
LAWS = [ph.LogarithmicLaw(5.0), ph.LinearLaw(5.0), ph.StVenantKirchhoffLaw(5.0)]


def first_slack(law, places):
    """Of a free string whose nodes are at these x."""
    model = ph.Model()
    nodes = np.outer(places, [1.0, 0, 0])
    model.add(ph.String(1.0, 0.3, len(places) - 1, law), "rope", shape=nodes)
    return model.simulate(1e-3, 1e-3, progress=False).slack_parts()


@pytest.mark.parametrize("law", LAWS)
def test_a_string_that_is_pressed_everywhere_is_slack_from_the_start(law):
    assert first_slack(law, [0.0, 0.2, 0.4]) == [("rope", 0, 0.0)]


@pytest.mark.parametrize("law", LAWS)
def test_the_part_that_is_pressed_most_is_slack_even_if_its_tension_is_small(law):
    """The tension of a Saint-Venant-Kirchhoff string that is pressed together to nothing is zero."""
    assert first_slack(law, [0.0, 1.0, 1.01]) == [("rope", 1, 0.0)]


@pytest.mark.parametrize("law", LAWS)
def test_a_stretched_string_has_no_slack_part(law):
    assert first_slack(law, [0.0, 0.6, 1.2]) == []


def held_string(law, stretch, place=0.0, speed=0.0):
    """Pinned at both ends, straight and evenly stretched."""
    model = ph.Model(dimension=2)
    ends = ((place, 0.0), (place + 0.6 * stretch, 0.8 * stretch))
    rope = model.add(ph.String(1.0, 0.1, 4, law), "rope", shape=ends, velocity=lambda s: (0.0, speed, 0.0))
    if not speed:
        for end, at in ((rope.start, ends[0]), (rope.end, ends[1])):
            model.connect(ph.Spherical(model.ground.at((*at, 0.0)), end))
    return model


def test_a_warning_that_is_an_error_has_the_motion():
    with warnings.catch_warnings(), pytest.raises(ph.SlackStringWarning) as caught:
        warnings.simplefilter("error")
        held_string(LAWS[0], 0.9).simulate(0.02, 1e-3, progress=False)
    assert caught.value.motion.is_complete


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("place", [0.0, 1e4])
def test_round_off_is_not_slack(law, place):
    """A string that flies unstretched; its tensions are round-off of both signs."""
    motion = held_string(law, 1.0, place, speed=3.0).simulate(0.5, 1e-2, progress=False)
    assert not motion.slack_parts()
    assert np.abs(motion.tension(motion["rope"])).max() < 1e-9 * 5
