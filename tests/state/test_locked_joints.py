"""Axes that other joints hold are named; those of doors, guides, drives, at dead centres, of elastic bodies not."""

import warnings

import numpy as np
import pytest

import phlexible as ph

Z = (0, 0, 1)


def turned(angle):
    return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])


def body(model, name="body", place=(0, 0, 0), angle=0.0):
    own = ph.RigidBody(1.0, 1.0 if model.dimension == 2 else (1.0, 1.0, 1.0))
    return model.add(own, name, place, rotation=angle if model.dimension == 2 else turned(angle))


def hinges(dimension, *places, axis=Z):
    model = ph.Model(gravity=(0, -9.81, 0), dimension=dimension)
    plate, options = body(model), {} if dimension == 2 else {"axis": axis}
    for k, place in enumerate(places):
        model.connect(ph.Revolute(model.ground.at(place), plate.point(place), **options, name=f"hinge {k}"))
    return model


def between_fixed():
    model = ph.Model(gravity=(0, -9.81, 0))
    one, two = body(model, "one"), body(model, "two", (1, 0, 0))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), one.origin))
    model.connect(ph.Fixed(model.ground.at((1, 0, 0)), two.origin))
    model.connect(ph.Revolute(one.point((0.5, 0, 0)), two.point((-0.5, 0, 0)), name="hinge"))
    return model


def welded_loop():
    """A revolute in a triangle of bodies that are fixed to each other, flying."""
    model = ph.Model()
    one, two, three = (body(model, name, (k, k * k, 0)) for k, name in enumerate(("one", "two", "three")))
    model.connect(ph.Fixed(one.point((0.5, 0.5, 0)), two.point((-0.5, -0.5, 0))))
    model.connect(ph.Fixed(two.point((0.5, 1.5, 0)), three.point((-0.5, -1.5, 0))))
    model.connect(ph.Revolute(three.point((-2, -4, 0)), one.origin, name="hinge"))
    return model


def crossed_rails():
    model = ph.Model()
    slide = body(model)
    for k, axis in enumerate(((1, 0, 0), (0, 0, 1))):
        model.connect(ph.Prismatic(model.ground.at((0, 0, k)), slide.point((0, 0, k)), axis, name=f"rail {k}"))
    return model


def linkage(crank, coupler, rocker, angle=None, gravity=-9.81):
    """Hinges along z in space; the coupler goes on where the crank points, or as the closure asks at an angle."""
    model, end = ph.Model(gravity=(0, gravity, 0)), np.array([2.5, 0.0, 0.0])
    if angle is None:
        reach = crank + coupler
        angle = np.arccos((reach**2 + end[0] ** 2 - rocker**2) / (2 * reach * end[0]))
    pin = crank * np.array([np.cos(angle), np.sin(angle), 0])
    away = np.linalg.norm(end - pin)
    inside = np.arccos(np.clip((coupler**2 + away**2 - rocker**2) / (2 * coupler * away), -1, 1))
    lean = np.arctan2(*(end - pin)[1::-1]) + inside
    far = pin + coupler * np.array([np.cos(lean), np.sin(lean), 0])
    links = [
        body(model, "crank", (0, 0, 0), angle),
        body(model, "coupler", pin, lean),
        body(model, "rocker", end, np.arctan2(*(far - end)[1::-1])),
    ]
    ports = [
        (model.ground.at((0, 0, 0)), links[0].origin),
        (links[0].point((crank, 0, 0)), links[1].origin),
        (links[1].point((coupler, 0, 0)), links[2].point((rocker, 0, 0))),
        (model.ground.at(end), links[2].origin),
    ]
    for k, (one, other) in enumerate(ports):
        model.connect(ph.Revolute(one, other, axis=Z, name=f"pin {k}"))
    return model


def slider_crank(angle):
    model = ph.Model(gravity=(0, -9.81, 0))
    pin, length = np.array([np.cos(angle), np.sin(angle), 0]), 2.0
    far = np.array([pin[0] + np.sqrt(length**2 - pin[1] ** 2), 0, 0])
    crank, rod = body(model, "crank", (0, 0, 0), angle), body(model, "rod", pin, np.arctan2(*(far - pin)[1::-1]))
    slider = body(model, "slider", far)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), crank.origin, axis=Z))
    model.connect(ph.Revolute(crank.point((1, 0, 0)), rod.origin, axis=Z))
    model.connect(ph.Revolute(rod.point((length, 0, 0)), slider.origin, axis=Z))
    model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    return model


def driven(of_time):
    model = linkage(1.0, 2.0, 2.0, 1.0)
    model.apply(model.joints[0].drive(angle=of_time))
    return model


def brought_to_rest():
    model = linkage(1.0, 2.0, 2.0, 1.0)
    model.at(0.0, lock=model.joints[0])
    return model


def guides():
    """A carriage on two rods: each bearing slides and does not turn."""
    model = ph.Model(gravity=(0, -9.81, 0))
    carriage = body(model)
    for place in ((0, 0, 0), (1, 0, 0)):
        model.connect(ph.Cylindrical(model.ground.at(place), carriage.point(place), axis=Z))
    return model


def elastic_bar():
    """A beam pinned at both ends, its pins twice."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    steel = ph.Material(2e11, 7870.0)
    bar = model.add(ph.Beam(1.0, ph.RectangularSection(0.02, 0.02), steel, elements=2), "bar")
    for place, port in (((0, 0, 0), bar.start), ((1, 0, 0), bar.end)):
        for _ in range(2):
            model.connect(ph.Revolute(model.ground.at(place), port))
    return model


def moving_base():
    model = ph.Model(gravity=(0, -9.81, 0))
    plate = body(model)
    for place in np.array([(0.0, 0, 0), (1.0, 0, 0)]):
        frame = model.ground.moving(lambda t, place=place: place + (0, 0.1 * np.sin(t), 0))
        model.connect(ph.Revolute(frame, plate.point(place), axis=Z))
    return model


def told(model, step=1e-3):
    """What warnings of the start and what the check say of axes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motion = model.simulate(5 * step, step, progress=False)
    assert any(each.category is ph.RedundancyWarning for each in caught)
    texts = [str(each.message) for each in caught], motion.check().findings
    return [[text for text in own if "cannot move" in text] for own in texts]


LOCKED = {
    "two hinges of a plate in the plane": (lambda: hinges(2, (0, 0, 0), (1, 0, 0)), "axes of hinge 0, hinge 1"),
    "two hinges beside each other": (lambda: hinges(3, (0, 0, 0), (1, 0, 0)), "axes of hinge 0, hinge 1"),
    "a hinge between what is fixed": (between_fixed, "axis of hinge"),
    "a hinge in a welded loop": (welded_loop, "axis of hinge"),
    "rails that cross": (crossed_rails, "axes of rail 0, rail 1"),
}

FREE = {
    "a door": lambda: hinges(3, (0, 0, 0), (0, 0, 1)),
    "two hinges that do nothing else, in the plane": lambda: hinges(2, (0, 0, 0), (0, 0, 0)),
    "a four-bar linkage": lambda: linkage(1.0, 2.0, 2.0, 1.0),
    "one at a dead centre": lambda: linkage(1.0, 2.0, 2.0),
    "a parallelogram that lies flat": lambda: linkage(1.0, 2.5, 1.0, 0.0, gravity=0.0),
    "one that stands": lambda: linkage(1.0, 2.5, 1.0, np.pi / 2),
    "a slider-crank": lambda: slider_crank(1.0),
    "one at a dead centre far out": lambda: slider_crank(0.0),
    "one at a dead centre close in": lambda: slider_crank(np.pi),
    "one that a drive turns": lambda: driven(lambda t: 2.0 * t),
    "one that a drive holds": lambda: driven(lambda t: 0.0),
    "one that a lock holds": brought_to_rest,
    "guides": guides,
    "an elastic bar": elastic_bar,
    "a plate on a base that moves": moving_base,
}


@pytest.mark.parametrize("name", LOCKED)
def test_axes_that_cannot_move_are_named(name):
    make, words = LOCKED[name]
    for own in told(make()):
        (text,) = own
        assert f"the {words} cannot move" in text


@pytest.mark.parametrize("name", FREE)
def test_axes_that_can_move_or_are_held_on_purpose_are_not(name):
    assert told(FREE[name]()) == [[], []]


def test_what_is_held_by_just_enough_joints_is_a_structure():
    """A triangle of bars on a pin and a roller."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    plate = body(model)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), plate.origin))
    model.connect(ph.Slider(model.ground.at((1, 0, 0)), plate.point((1, 0, 0)), axis=(1, 0, 0)))
    motion = model.simulate(0.01, 1e-3, progress=False)
    assert not any("cannot move" in text for text in motion.check().findings)
