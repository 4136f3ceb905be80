"""How a model holds a beam: the frame that suits it, and the damping ratios that it changes."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded
from phlexible.bodies.beam.strain import linear_stiffness
from phlexible.bodies.locations import End

BEAM = ph.Beam(1.0, ph.RectangularSection(0.02, 0.03), ph.Material(7e10, 2700.0, 0.3), elements=3)


def test_a_clamped_start_makes_a_cantilever_and_everything_else_a_chord():
    model = ph.Model()
    arm, link, free = (model.add(BEAM, name, (place, 0, 0)) for place, name in enumerate(("arm", "link", "free")))
    tip, start = arm.end, arm.start  # taken before the joint is known
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), start))
    model.connect(ph.Fixed(tip, link.end))
    model.connect(ph.Revolute(link.start, free.start))
    assert [placed.resolved.frame for placed in (arm, link, free)] == [
        "cantilever",
        "simply_supported",
        "simply_supported",
    ]
    assert arm.body is BEAM and np.array_equal(tip.point.shapes, arm.end.point.shapes)
    assert not start.point.shapes.any() and tip.point.shapes[1:].any()
    assert not link.end.point.shapes[1:].any()
    explicit = replace(BEAM, frame="mean_axis")
    other = model.add(explicit, "explicit", (1, 0, 0))
    model.connect(ph.Fixed(arm.end, other.start))
    assert other.resolved is explicit


def test_bodies_of_one_description_share_their_numbers_unless_a_joint_clamps_one():
    """A tip that bends moves across a cantilever and not across a chord: shapes of one are none of the other."""
    model = ph.Model()
    first, second = model.add(BEAM, "first"), model.add(BEAM, "second")
    assert second.data is first.data and second.end.point is first.end.point
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), second.start))
    third, fourth = model.add(BEAM, "third"), model.add(BEAM, "fourth")
    assert second.data is not first.data and fourth.data is third.data
    assert [bool(each.end.point.shapes[1:].any()) for each in (first, second, third, fourth)] == [0, 1, 0, 0]
    there = pickle.loads(pickle.dumps(model))
    assert there.add(there["third"].body, "fifth").data is there["third"].data


def test_the_frame_stays_what_it_was_when_a_motion_was_made():
    model = ph.Model()
    arm = model.add(BEAM, "arm", angular_velocity=(0, 0, 1.0))
    motion = model.simulate(0.01, 0.001)
    before = motion.position(arm.end)
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), arm.start))
    assert arm.resolved.frame == "simply_supported"
    assert np.array_equal(motion.position(arm.end), before)


def test_a_basis_of_a_model_is_one_of_the_description():
    """The modes of a pinned beam, found in a model, are those of the same description with them as basis."""
    model, link, _ = grounded(BEAM, ph.Revolute, dimension=2, name="link")
    model.connect(ph.Slider(model.ground.at((1, 0, 0)), link.end, axis=(1, 0, 0)))
    assert link.resolved.frame == "simply_supported"
    linear = model.linearize([link.at(0.4)])
    basis = BEAM.with_axial(linear.reduce(4, "modal").elastic_basis(link), 2)
    reduced = model.replace(link=replace(BEAM, modes=basis))
    assert reduced["link"].resolved.frame == "cantilever"
    assert reduced.linearize().modes().frequencies[:2] == pytest.approx(linear.modes().frequencies[:2], rel=1e-9)


def test_deformations_in_other_coordinates_are_the_same_deformations():
    """Random ones in space: strain energy, and relative displacement of ends that is no rigid motion."""
    held = BEAM.resolved(is_clamped=False)
    chord, tangent = held.discretize(3), BEAM.discretize(3)
    columns = np.random.default_rng(0).normal(size=(chord.elastic_count, 4))
    moved = BEAM.described_coordinates(columns, held, 3)
    energies = [x.T @ linear_stiffness(data.strain) @ x for x, data in ((columns, chord), (moved, tangent))]
    assert energies[0] == pytest.approx(energies[1], rel=1e-12, abs=1e-12 * np.abs(energies[0]).max())
    stretches = [data.points.locate(End()).shapes[0] @ x for x, data in ((columns, chord), (moved, tangent))]
    assert stretches[0] == pytest.approx(stretches[1], rel=1e-12)


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
