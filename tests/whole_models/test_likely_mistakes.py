"""What looks like a mistake is named: degrees, GPa, a body that nothing holds. What is only unusual is not."""

import warnings

import numpy as np
import pytest

import phlexible as ph
from phlexible.pictures.animation import speed_in_words
from phlexible.pictures.panels import default_panels


def test_degrees_and_gigapascals_are_asked_about():
    with pytest.warns(ph.UnitWarning, match=r"radians: np.radians\(90\)"):
        ph.Model(dimension=2).add(ph.RigidBody(1.0, 1.0), "body", rotation=90)
    with pytest.warns(ph.UnitWarning, match="youngs_modulus = 210 Pa at 7870 kg/m3"):
        ph.Material(210, 7870.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ph.Model(dimension=2).add(ph.RigidBody(1.0, 1.0), "body", rotation=-2 * np.pi)
        ph.Material(2.1e5, 7.85e-9)  # steel in mm, t, s
        ph.Material(1.0, 1.0)
        ph.Material(2e4, 1000.0)  # a gel


def fallen(hold, gravity=(0, -9.81, 0), velocity=None):
    model = ph.Model(gravity=gravity, dimension=2)
    boxes = [model.add(ph.RigidBody(1.0, 1.0), f"box {k}", position=(k, 0, 0), velocity=velocity) for k in (1, 2)]
    hold(model, *boxes)
    return model.simulate(0.01, 1e-3, progress=False).check()


def test_bodies_that_nothing_holds_are_named():
    def hinge(model, one, two):
        model.connect(ph.Revolute(one.origin, two.point((-1, 0, 0))))

    def hung(model, one, two):
        hinge(model, one, two)
        model.apply(ph.SpringDamper(model.ground.at((0, 1, 0)), one.origin, 10.0, 1.0))

    def pushed(model, one, two):
        hinge(model, one, two)
        model.apply(ph.Force(two.origin, (0, 19.0, 0)))

    assert any("nothing holds box 1, box 2:" in text for text in fallen(hinge).findings)
    alone = fallen(lambda model, one, two: model.connect(ph.Fixed(model.ground.at((1, 0, 0)), one.origin)))
    assert any("nothing holds box 2:" in text for text in alone.findings)
    for quiet in (
        fallen(hung),
        fallen(pushed),
        fallen(hinge, gravity=(0, 0, 0)),
        fallen(hinge, velocity=(1, 5, 0)),
    ):
        assert not any("nothing holds" in text for text in quiet.findings)


def test_pictures_take_the_names_of_joints_and_films_say_how_fast_they_are():
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    arm = model.add(ph.RigidBody(2.0, 0.1, center=(0.3, 0, 0)), "arm")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin, name="elbow"))
    motion = model.simulate(0.1, 1e-3, progress=False)
    panels = {panel.label: panel for panel in default_panels(motion.run, [], most=9)}
    assert [name for name, _ in panels["angle of joints [rad]"].curves] == ["elbow"]
    words = [speed_in_words(speed) for speed in (1.0, 0.1, 2.5)]
    assert words == ["real time", "10 times slower", "2.5 times as fast"]


def test_a_driven_arm_at_rest_says_what_holds_it():
    """m g l/2 cos(angle) of a rod that leans by its drive; and it has all sensors."""
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    arm = model.add(ph.RigidBody(2.0, 0.1, center=(0.3, 0, 0)), "arm")
    elbow = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin, name="elbow"))
    model.apply(elbow.drive(angle=lambda t: 0.0))
    rest = model.equilibrium()
    assert rest.required(elbow) == pytest.approx(2.0 * 9.81 * 0.3, rel=1e-12) and rest.required(elbow).shape == ()
    assert rest[ph.Acceleration(arm.point((0.3, 0, 0)), (0, 1, 0))] == 0.0
    assert rest.elastic_coordinates(arm).shape == (0,)
