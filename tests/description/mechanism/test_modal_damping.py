"""Warnings of damping ratios that a model changes, against ratios of its modes."""

import warnings

import pytest

import phlexible as ph

STEEL = ph.Material(2.1e11, 7850.0, 0.3)


def plate(frame="mean_axis"):
    edges = {"start": "rigid", "end": "average"}
    return ph.Plate(1.0, 0.2, 0.01, STEEL, (4, 2), interfaces=edges, modes=6, frame=frame, damping_ratio=0.02)


def beam(frame="auto"):
    return ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=4, frame=frame, damping_ratio=0.02)


def clamped(body, port, hub=None):
    """The body is clamped to the ground, or to a ``hub`` that is free."""
    model = ph.Model()
    placed = model.add(body, "part")
    held = port(placed)
    if hub is None:
        other = model.ground.at(held.initial_position())
    else:
        other = model.add(hub, "hub", position=held.initial_position()).origin
    model.connect(ph.Fixed(other, held))
    return model


@pytest.mark.parametrize(
    ("body", "port"),
    [
        (plate(), lambda placed: placed["start"]),
        (beam(), lambda placed: placed.end),
        (beam("mean_axis"), lambda placed: placed.start),
        (beam("cantilever"), lambda placed: placed.end),
    ],
    ids=["plate", "beam clamped at its end", "beam with mean axes", "cantilever the other way round"],
)
def test_a_ratio_that_the_first_mode_does_not_have_is_said_with_the_one_it_has(body, port):
    model = clamped(body, port)
    with pytest.warns(ph.DampingWarning, match="clamped as in this model") as given:
        ratio = model.linearize().modes(1).damping_ratios[0]
    assert len(given) == 1 and f"its first mode has {ratio:.2g}:" in str(given[0].message)
    assert ratio < 0.01


@pytest.mark.parametrize(
    ("body", "port", "hub"),
    [
        (plate("start"), lambda placed: placed["start"], None),
        (beam(), lambda placed: placed.start, None),
        (plate(), lambda placed: placed["end"], ph.RigidBody.sphere(0.01, 1000.0)),  # a sensor on it
    ],
    ids=["plate by its edge", "beam by its start", "a small mass on a plate"],
)
def test_ratios_of_bodies_that_move_as_in_their_frame_are_not_warned_of(body, port, hub):
    model = clamped(body, port, hub)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.linearize()


def test_heavy_bodies_clamp_as_the_ground_does_and_runs_warn_too():
    model = clamped(plate(), lambda placed: placed["start"], ph.RigidBody.sphere(0.3, 7850.0))
    with pytest.warns(ph.DampingWarning, match="0.02 holds in the frame"):
        model.simulate(1e-3, 1e-3, progress=False)


def test_the_ratio_does_not_depend_on_units():
    """Levers and displacements differ by many powers of ten from rotations in other units."""
    for length in (1e-6, 1.0, 1e12):  # of a metre
        steel = ph.Material(2.1e11 / length, 7850.0 / length**3, 0.3)
        body = ph.Beam(
            length, ph.CircularSection(0.01 * length), steel, elements=4, frame="mean_axis", damping_ratio=0.02
        )
        model = clamped(body, lambda placed: placed.end)
        with pytest.warns(ph.DampingWarning, match=r"its first mode has 0\.0014:"):
            model.linearize()
