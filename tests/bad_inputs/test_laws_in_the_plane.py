"""What functions and controllers return in a run of a planar model: forces out of its plane, imaginary parts."""

import numpy as np
import pytest

import phlexible as ph
from bad_inputs.wrong_values import Hinged

UP, ACROSS = (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)


def fed_back(answer, on):
    return lambda s: ph.Feedback(lambda t, measured: answer, measured=[s.joint], on=[on(s)])


def of_state(answer, on):
    return lambda s: ph.StateForce(lambda t, x, v: answer, of=[s.joint], on=[on(s)])


def tip(s):
    return s.body.point((1.0, 0.0, 0.0))


def hinge(s):
    return s.joint


@pytest.mark.parametrize(
    "part",
    [
        lambda s: ph.Force(s.body.origin, lambda t: (0.0, 0.0, float(t > 0.02))),
        lambda s: ph.Torque(s.body.origin, lambda t: (float(t > 0.02), 0.0, 0.0)),
        lambda s: ph.Force(s.body.origin, ph.Feedback(lambda t, measured: UP, measured=[s.joint])),
        lambda s: ph.Torque(s.body.origin, ph.Feedback(lambda t, measured: ACROSS, measured=[s.joint])),
        fed_back(UP, tip),
        fed_back(1.0, lambda s: ph.Force(tip(s), UP)),
    ],
)
def test_loads_stay_in_the_plane(part):
    here = Hinged()
    with pytest.raises(ph.ParameterError, match=r"must be \((f_x, f_y, 0|0, 0, m_z)\) in a planar model"):
        here.model.apply(part(here))
        here.model.simulate(0.05, 0.01, progress=False)


def test_laws_of_the_state_stay_in_the_plane_and_are_real():
    for answer, on, words in (
        (UP, tip, "in a planar model"),
        (1j, hinge, "1 finite numbers"),
        (np.array([1j]), hinge, "1 finite numbers"),
    ):
        here = Hinged()
        here.model.apply(of_state(answer, on)(here))
        with pytest.raises(ph.ParameterError, match=f"{words}.* at t = 0.005 s"):
            here.model.simulate(0.05, 0.01, progress=False)


@pytest.mark.parametrize("answer", [1j, np.array([1j]), np.array([1 + 0j]), "1"])
def test_controllers_return_real_numbers(answer):
    here = Hinged()
    here.model.apply(fed_back(answer, hinge)(here))
    with pytest.raises(ph.ParameterError, match="must return one finite number"):
        here.model.simulate(0.05, 0.01, progress=False)


@pytest.mark.parametrize("period", [None, 0.02])
def test_controllers_that_raise_are_named_with_the_time(period):
    here = Hinged()
    joint = hinge(here)
    here.model.apply(
        ph.Feedback(lambda t, measured: {}["gain"], measured=[joint], on=[joint], period=period, name="servo")
    )
    with pytest.raises(ph.FunctionError, match="the controller of servo raised KeyError at t = 0 s: 'gain'"):
        here.model.simulate(0.05, 0.01, progress=False)


def test_inputs_of_live_runs_stay_in_the_plane():
    here = Hinged()
    here.model.apply(ph.Force(tip(here), (0.0, 1.0, 0.0), name="push"))
    here.model.apply(ph.Torque(tip(here), (0.0, 0.0, 1.0), name="turn"))
    run = here.model.start(0.01)
    for name, wrong in (("push", UP), ("turn", ACROSS)):
        with pytest.raises(ph.ParameterError, match=f"{name} must be .* in a planar model"):
            run.inputs[name] = wrong
    run.inputs["push"], run.inputs["turn"] = (1.0, 2.0, 0.0), UP
    run.step()
    assert run.inputs["turn"].tolist() == [0.0, 0.0, 1.0]


def test_what_lies_in_the_plane_up_to_rounding_is_taken():
    here = Hinged()
    here.model.apply(ph.Force(tip(here), lambda t: (1.0, 2.0, 1e-17)))
    here.model.apply(fed_back((1.0, 2.0, -1e-17), tip)(here))
    assert len(here.model.simulate(0.05, 0.01, progress=False).time) == 6
