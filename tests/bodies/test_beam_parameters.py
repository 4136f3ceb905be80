"""What a beam accepts and what it refuses."""

import dataclasses

import numpy as np
import pytest

from phlexible.bodies.beam.bases import Frame
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.beam.strain import Strain
from phlexible.bodies.material import Material
from phlexible.elements.sections import CircularSection
from phlexible.errors import ParameterError

GOOD = {"length": 0.3, "section": CircularSection(6e-3), "material": Material(2e11, 7870.0)}


def test_option_strings_become_enumerations_at_once():
    beam = Beam(**GOOD, frame="mean_axis", strain="linear")
    assert beam.frame is Frame.MEAN_AXIS and beam.strain is Strain.LINEAR
    assert beam == Beam(**GOOD, frame=Frame.MEAN_AXIS, strain=Strain.LINEAR)
    default = Beam(**GOOD)
    assert default.frame is Frame.AUTO and default.strain is Strain.VON_KARMAN


def test_a_beam_is_immutable_and_changed_by_a_copy():
    beam = Beam(**GOOD)
    with pytest.raises(dataclasses.FrozenInstanceError):
        beam.length = 2.0
    assert dataclasses.replace(beam, length=2).length == 2.0 and beam.length == 0.3


def test_size_and_mass():
    body = Beam(**GOOD).discretize(2)
    assert body.size == 0.3 and body.mass == pytest.approx(7870 * 0.3 * np.pi * 9e-6, rel=1e-14, abs=0)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("length", 0, "positive"),
        ("length", -0.3, "positive"),
        ("length", np.nan, "finite"),
        ("length", "long", "one number"),
        ("length", 5e-3, "not be below the thickness of the section, 0.006 m"),
        ("section", 6e-3, "a Section, CircularSection or RectangularSection"),
        ("material", "steel", "a Material"),
        ("elements", 0, "a whole number of at least 1"),
        ("elements", 2.5, "a whole number of at least 1"),
        ("elements", True, "a whole number of at least 1"),
        ("frame", "clamped", "one of 'auto', 'cantilever', 'simply_supported', 'mean_axis'"),
        ("frame", None, "one of 'auto', 'cantilever'"),
        ("strain", "von karman", "one of 'von_karman', 'linear'|one of 'linear', 'von_karman'"),
        ("rotary_inertia", "no", "True or False"),
        ("modes", 0, "a whole number of at least 1"),
        ("modes", -3, "a whole number of at least 1"),
        ("modes", 1.5, "a whole number of at least 1"),
        ("damping_ratio", -0.01, "not be negative"),
        ("damping_ratio", np.inf, "finite"),
    ],
)
def test_a_bad_parameter_is_refused_by_name_and_value(name, value, expected):
    with pytest.raises(ParameterError) as refused:
        Beam(**(GOOD | {name: value}))
    message = str(refused.value)
    assert message.startswith(f"{name} must ") and message.endswith(f"got {value!r}")
    assert any(each in message for each in expected.split("|"))


def test_a_dimension_is_2_or_3():
    for value, hint in ((4, "$"), (1, "; on a line there are PointMass, String and Rod")):
        with pytest.raises(ParameterError, match=rf"must be 2 \(the xy plane\) or 3 \(space\), got {value}{hint}"):
            Beam(**GOOD).discretize(value)
