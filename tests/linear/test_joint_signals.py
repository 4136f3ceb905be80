"""Joint coordinates as inputs and outputs: closed forms, differences, names, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.measure.sensors import JointPosition, LinearPoint
from phlexible.state.recorded_run import RecordedRun
from phlexible.state.small_motions import centring_matrix, displaced, world_matrix
from refusals import refused

MASS, INERTIA = 2.0, (0.3, 0.4, 0.5)
AXIS = np.array([0.6, 0.0, 0.8])


def on_the_ground(make, dimension=3):
    model = ph.Model(dimension=dimension)
    inertia = INERTIA if dimension == 3 else INERTIA[2]
    body = model.add(ph.RigidBody(MASS, inertia), "body")
    return model, model.connect(make(model.ground.at((0, 0, 0)), body.origin))


ABOUT = float(AXIS @ np.diag(INERTIA) @ AXIS)

# Joint: words of its inputs, and the acceleration along each coordinate of a unit force along it.
CASES = {
    "revolute": (lambda a, b: ph.Revolute(a, b, axis=AXIS), ["torque"], [1 / ABOUT]),
    "prismatic": (lambda a, b: ph.Prismatic(a, b, axis=AXIS), ["force"], [1 / MASS]),
    "slider": (lambda a, b: ph.Slider(a, b, axis=AXIS), ["force"], [1 / MASS]),
    "cylindrical": (lambda a, b: ph.Cylindrical(a, b, axis=AXIS), ["force", "torque"], [1 / MASS, 1 / ABOUT]),
    "planar": (
        lambda a, b: ph.Planar(a, b, axis=AXIS),
        ["force 1", "force 2", "torque"],
        [1 / MASS, 1 / MASS, 1 / ABOUT],
    ),
    "universal": (
        lambda a, b: ph.Universal(a, b, axis=(1, 0, 0), second_axis=(0, 1, 0)),
        ["torque 1", "torque 2"],
        [1 / INERTIA[0], 1 / INERTIA[1]],
    ),
    "spherical": (ph.Spherical, ["torque 1", "torque 2", "torque 3"], [1 / each for each in INERTIA]),
}


@pytest.mark.parametrize("case", CASES)
def test_unit_forces_along_the_coordinates_accelerate_a_body(case):
    make, words, expected = CASES[case]
    model, joint = on_the_ground(make)
    linear = model.linearize([joint], [ph.JointAcceleration(joint), ph.JointPosition(joint)])
    assert linear.inputs == tuple(f"{word} of {joint}" for word in words)
    assert [port.input_unit for port in linear.ports] == ["N" if "force" in w else "N m" for w in words]
    omega, count = 3.0, len(words)
    answer = linear.frequency_response([omega]).values[0]
    assert np.diag(answer[:count]) == pytest.approx(expected, rel=1e-12)
    assert answer[count:] == pytest.approx(-answer[:count] / omega**2)
    units = ["m/s^2" if "force" in word else "rad/s^2" for word in words]
    assert linear.output_units == (*units, *(unit[:-4] for unit in units))
    if case not in ("planar", "spherical"):
        assert linear.outputs[0].split(" of ")[0].removesuffix(" 1") in (
            "angular acceleration",
            "sliding acceleration",
        )


def test_in_the_plane():
    model, joint = on_the_ground(lambda a, b: ph.Revolute(a, b, axis=(0, 0, -1)), 2)
    linear = model.linearize([joint], [joint, ph.AngularVelocity(model["body"].origin, (0, 0, 1))])
    values = linear.frequency_response([2.0]).values[0, :, 0]
    assert values == pytest.approx([1 / (2j * 0.5), -1 / (2j * 0.5)])
    model, joint = on_the_ground(lambda a, b: ph.Prismatic(a, b, axis=(1, 1, 0)), 2)
    linear = model.linearize([joint], [ph.JointRate(joint), ph.Velocity(model["body"].origin, (1, 0, 0))])
    values = linear.frequency_response([2.0]).values[0, :, 0]
    assert values == pytest.approx([1 / (2j * MASS), np.sqrt(0.5) / (2j * MASS)])
    model, joint = on_the_ground(ph.Spherical, 2)
    assert model.linearize([joint]).inputs == (f"torque of {joint}",)


def bent_pair(make):
    beam = ph.Beam(1.0, ph.RectangularSection(0.02, 0.03), ph.Material(1e9, 1000.0), 2)
    turn = Rotation.from_rotvec([0.2, 0.4, -0.3])
    model = ph.Model()
    first = model.add(beam, "first", rotation=turn)
    second = model.add(beam, "second", position=turn.apply([1, 0, 0]), rotation=Rotation.from_rotvec([1, 2, 0]))
    return model, model.connect(make(first.end, second.start))


@pytest.mark.parametrize("case", ["revolute", "prismatic", "slider", "cylindrical", "planar"])
def test_rows_are_the_differences_of_angles_and_displacements(case):
    model, joint = bent_pair(CASES[case][0])
    linear, rng = model.linearize([joint]).linearization, np.random.default_rng(5)
    system, state = linear.system, linear.point.state
    bent = replace(state, eta=0.03 * rng.normal(size=state.eta.size))
    if case != "revolute":
        bent = replace(bent, position=state.position + 0.1 * rng.normal(size=(2, 3)))
    spun = bent.rotation.copy()
    spun[1] = Rotation.from_rotvec(0.7 * AXIS).as_matrix() @ spun[1]
    bent = replace(bent, rotation=spun)
    motion = world_matrix(system, bent) @ centring_matrix(system, bent)
    rows = JointPosition(joint).rows(LinearPoint(system, system.at(bent), motion))
    x, start = rng.normal(size=len(state.velocity)), model.start(1e-3).motion.recording.rows(slice(0, 1))

    def reading(factor):
        moved = displaced(system, bent, factor * motion @ x)
        changed = {name: getattr(moved, name)[None] for name in ("position", "rotation", "eta")}
        return np.ravel(JointPosition(joint).read(RecordedRun(system, replace(start, **changed), False))[0])

    expected = (reading(1e-6) - reading(-1e-6)) / 2e-6
    assert np.array([row @ x for _, _, row in rows]) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_one_coordinate_can_be_picked_and_what_is_refused():
    model, joint = on_the_ground(CASES["planar"][0])
    linear = model.linearize([ph.JointForce(joint, 2)], [ph.JointRate(joint, 1)])
    assert linear.inputs == (f"torque of {joint}",) and linear.outputs == (f"sliding rate 2 of {joint}",)
    with pytest.raises(ph.ParameterError, match="coordinate must be below 3 for Planar.*, got 3"):
        model.linearize([ph.JointForce(joint, 3)])
    for bad in (-1, 1.5, True):
        with pytest.raises(ph.ParameterError, match="coordinate must be a whole number of at least 0"):
            ph.JointPosition(joint, bad)
    refused(ph.ModelError, "acts in a joint, got 'pin'", lambda: ph.JointForce("pin"))
    refused(ph.ModelError, "JointRate: joint must be one of the model", lambda: ph.JointRate(model["body"]))
    fixed, weld = on_the_ground(ph.Fixed)
    refused(ph.ModelError, "leaves no coordinate free", lambda: fixed.linearize([weld]))


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_torque_in_a_spherical_joint_turns_two_bodies_against_each_other(dimension):
    """Bodies joined at their centres of mass: -1/J_1 of the first, 1/J_2 of the second, 1/J_1 + 1/J_2 between."""
    model, about = ph.Model(dimension=dimension), 1 if dimension == 2 else 3
    inertias = [0.5, 0.8] if dimension == 2 else [(0.3, 0.4, 0.5), (0.6, 0.7, 0.8)]
    one, other = (model.add(ph.RigidBody(MASS, inertia)) for inertia in inertias)
    joint = model.connect(ph.Spherical(one.origin, other.origin))
    rates = [ph.AngularVelocity(body.origin, (0, 0, 1)) for body in (one, other)]
    linear = model.linearize([joint], [*rates, ph.JointAcceleration(joint, about - 1)])
    omega = 2.0
    answer = linear.frequency_response([omega]).values[0, :, about - 1]
    turned = np.array([-1 / 0.5, 1 / 0.8]) / (1j * omega)
    assert answer == pytest.approx([*turned, 1 / 0.5 + 1 / 0.8], rel=1e-12)
