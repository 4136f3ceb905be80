"""Every wrong value for every parameter of the gallery: refused with a reason, or a model."""

import inspect
from typing import get_type_hints

import pytest

import phlexible as ph
from bad_inputs.outcomes import Call, outcome
from bad_inputs.wrong_values import simple_values

# By the annotation of a parameter: what may be taken, and need not (a model may have no negative length).
TAKEN = {
    "bool": {"True", "False"},
    "float": {"-1", "0", "1"},
    "int": {"0", "1"},
    "int | None": {"None", "0", "1"},
    "str": set(),
    "tuple[float, float, float]": {"(1, 2, 3)"},
    "phlexible.bodies.string_law.StringLaw | None": {"None"},
}
SMALL = {"elements": 4, "modes": 1, "plain": True}  # of the models that are built, where they have them


LONG_TO_BUILD = ("dropped_bracket", "solid_crank_slider")
"""Models that are meshed for each value."""


@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=pytest.mark.thorough if k in LONG_TO_BUILD else ()) for k in ph.gallery.__all__]
)
def test_wrong_parameters_are_refused(name):
    function = getattr(ph.gallery, name)
    parameters = inspect.signature(function).parameters
    small = {key: value for key, value in SMALL.items() if key in parameters}
    parts = dict.fromkeys(
        parameters, "[a-z]+"
    )  # the part that gets the value refuses it, by its own argument's name
    call = Call(name, lambda s: function, lambda s: small, {}, lambda: None, words=parts)
    surprises = []
    for parameter in parameters:
        hint = get_type_hints(function)[parameter]
        taken = TAKEN[hint.__name__ if isinstance(hint, type) else str(hint)]
        usual = {"0.5", "1"} if hint is float else {"0.5"}  # fewer numbers to build models of
        for label in simple_values().keys() - usual:
            result = outcome(call, parameter, label)
            if result != "refused" and not (label in taken and result in ("accepted", "warned")):
                surprises.append(f"{name}({parameter}={label}): {result}")
    assert surprises == []


def test_unknown_parameters_are_refused_with_the_known_ones():
    with pytest.raises(ph.ParameterError, match="crank_slider got an unexpected .* 'speed'; its parameters are"):
        ph.gallery.crank_slider(speed=3.0)
    with pytest.raises(ph.ParameterError, match="dzhanibekov too many positional arguments"):
        ph.gallery.dzhanibekov(*range(30))
