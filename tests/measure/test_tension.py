"""Slack parts of strings are found whatever the law and however far they are pressed."""

import warnings

import numpy as np
import pytest

import phlexible as ph

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
