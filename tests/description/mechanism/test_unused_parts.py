"""Joints, springs and loads that were made and never given to a model do nothing: a warning says so."""

import control
import numpy as np
import pytest

import phlexible as ph


def pendulum():
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    body = model.add(ph.RigidBody(1.0, 0.3, center=(1, 0, 0)), "bob")
    return model, body, model.connect(ph.Revolute(model.ground.at((0, 0, 0)), body.origin))


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda m, b, pin: ph.Distance(m.ground.at((0, 0, 0)), b.point((1, 0, 0))), r"Distance\(ground.at"),
        (lambda m, b, pin: pin.spring(3.0, name="brake"), "brake made"),
        (lambda m, b, pin: pin.drive(angle=np.sin), "drive of angle in Revolute"),
        (lambda m, b, pin: pin.motor(lambda t, measured: 1.0), "motor in Revolute"),
        (lambda m, b, pin: ph.SpringDamper(m.ground.at((0, 1, 0)), b.origin, 2.0), "SpringDamper"),
        (lambda m, b, pin: ph.Bushing(m.ground.at((0, 0, 0)), b.origin, 2.0), "Bushing"),
        (lambda m, b, pin: ph.Force(b.origin, lambda t: (0, 0, 0)), "force on bob.origin"),
        (lambda m, b, pin: ph.Feedback(lambda t, y: -y[1], [pin], on=[pin]), "feedback on Revolute"),
        (lambda m, b, pin: ph.Feedback(lambda t, y: 0, on=[ph.Force(b.origin, (2, 0, 0))]), "^feedback on force"),
        (lambda m, b, pin: ph.StateForce(lambda t, x, v: -x, of=[b.origin], on=[b.origin]), "state force on bob"),
        (lambda m, b, pin: ph.StateForce(lambda t, x, v: -x[:1], of=[pin], on=[pin], name="law"), "law made"),
    ],
)
def test_what_was_made_and_not_used_is_named(make, name):
    model, body, pin = pendulum()
    make(model, body, pin)
    with pytest.warns(ph.UnusedPartWarning, match=name):
        model.simulate(0.1, 0.01, progress=False)


@pytest.mark.parametrize("ask", [ph.Model.equilibrium, lambda model: model.start(step=0.01)])
def test_equilibria_and_live_runs_name_them_too(ask):
    model = ph.Model()
    shell = model.add(ph.Shell.plate(1.0, 0.2, 0.01, ph.Material(1e6, 1000.0), (2, 1), {"start": "rigid"}), "sheet")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), shell["start"]))
    ph.Tendon([model.ground.at((2, 0, 0)), shell["end"]], stiffness=5.0)
    with pytest.warns(ph.UnusedPartWarning, match="Tendon"):
        ask(model)


def test_what_was_used_refused_or_copied_is_not():
    model, body, pin = pendulum()
    for value in (3.0, 4.0):
        model.apply(pin.spring(value))  # the second one gets another name
    model.apply(pin.drive(angle=lambda t: 0.0 * t))
    with pytest.raises(ph.ModelError, match="already driven"):
        model.apply(pin.drive(angle=np.sin))
    ph.Force(body.origin, (0, 1, 0))  # may be an input of a linear model
    model.apply(ph.Force(body.origin, ph.Feedback(lambda t, measured: (0, 0, 0), [pin])))
    model.apply(ph.Feedback(lambda t, y: -y[1], [pin], on=[pin], name="brake"))
    model.apply(
        ph.Feedback(lambda t, y: np.zeros(4), on=[ph.Torque(body.origin, (0, 0, 2)), body.origin], name="both")
    )
    model.apply(ph.StateForce(lambda t, x, v: np.append(-x, 0), of=[body.origin], on=[body.origin, pin]))
    with pytest.raises(ph.ParameterError):
        ph.Prismatic(model.ground.at((0, 0, 0)), body.origin, axis=(0, 0, 0))
    for each in (model, model.replace(gravity=(0, 0, 0)), model.assemble().model):
        each.simulate(0.1, 0.01, progress=False)


def test_a_controller_of_a_linear_model_is_used():
    model, body, pin = pendulum()
    hand = ph.Torque(body.origin, (0, 0, 1), name="hand")
    linear = model.linearize([hand], [ph.JointPosition(pin), ph.JointRate(pin)], at="unloaded")
    linear.interconnect(ph.Feedback(control.ss([], [], [], [[0.0, -1.0]]), [pin], on=[hand]))
    model.simulate(0.1, 0.01, progress=False)


def test_loads_that_consist_of_forces_are_used_with_them():
    model = ph.Model(dimension=2)
    rod = ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(2e11, 7800.0), elements=1)
    beam = model.add(rod, "beam")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    model.apply(ph.DistributedForce(beam, lambda x, t: (0, 1e3 * t, 0)))
    model.simulate(1e-3, 1e-3, progress=False)
    model.linearize([ph.DistributedForce(beam, (0, 1, 0))], [ph.Velocity(beam.end, (0, 1, 0))])
    model.simulate(1e-3, 1e-3, progress=False)
    for value in (lambda x, t: (0, t, 0), (0, 1e3, 0)):
        copy = model.replace(beam=rod)
        ph.DistributedForce(copy["beam"], value)
        with pytest.warns(ph.UnusedPartWarning, match="distributed force on beam"):
            copy.simulate(1e-3, 1e-3, progress=False)


@pytest.mark.parametrize("value", [1e3, lambda t: 1e3 * t])
def test_pressures_that_nobody_applies_are_named(value):
    model = ph.Model()
    sheet = model.add(ph.Shell.plate(1.0, 0.2, 0.01, ph.Material(1e6, 1000.0), (2, 1)), "sheet")
    model.apply(ph.Pressure(sheet, value))
    model.simulate(1e-3, 1e-3, progress=False)
    ph.Pressure(sheet, value)
    with pytest.warns(ph.UnusedPartWarning, match="pressure on"):
        model.simulate(1e-3, 1e-3, progress=False)
