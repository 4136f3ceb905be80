"""Every joint's functions: how many, closed at the initial pose, and refused where they have no meaning."""

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

from laws.cases import JOINT_CASES
from phlexible.bodies.rigid_body import PointMass, RigidBody
from phlexible.description.joints.joints import Distance, Revolute, Slider, Spherical, Universal
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.errors import ModelError, ParameterError
from phlexible.state.forces import coordinate_row
from phlexible.state.initial_velocity import undeformed
from phlexible.state.system import system_of

CASES = [(kind, d) for kind, case in JOINT_CASES.items() for d in case.dimensions]


def model_with(kind, dimension):
    """Two bodies on a joint along axes of the world, apart along one that leaves them free to be so."""
    model, case = Mechanism(dimension=dimension), JOINT_CASES[kind]
    turn = 0.4 if dimension == 2 else Rotation.from_rotvec([0.4, -0.2, 0.3])
    first, second = (
        model.add(RigidBody(1.0, (1, 1, 1)), position=place, rotation=turn)
        for place in ((0.5, -0.3, 0), (1.5, -0.3, 0))
    )
    apart = np.eye(3)[case.offset[0]] if case.offset else np.zeros(3)
    model.connect(case.make(first.origin, second.point(second.rotation.T @ (apart - [1, 0, 0])), np.eye(3)))
    return model


@pytest.mark.parametrize(("kind", "dimension"), CASES)
def test_rows_are_as_many_as_the_motions_held_and_coordinates_tell_those_left_apart(kind, dimension):
    model, case = model_with(kind, dimension), JOINT_CASES[kind]
    system = system_of(model)
    at = system.at(undeformed(system))
    left = [k for k in case.slides if k < dimension] + [k for k in case.turns if dimension == 3 or k == 2]
    expected = (3 if dimension == 2 else 6) - len(left)
    assert system.rows.values(at)[0] == pytest.approx(np.zeros(expected), abs=1e-15)
    matrix = system.rows.matrix(at).toarray()
    assert np.linalg.matrix_rank(matrix) == expected
    free = null_space(matrix)
    rates = [coordinate_row(system, at, each)[0] @ free for each in model.joints[0].coordinates(dimension)]
    assert not rates or np.linalg.matrix_rank(np.array(rates)) == len(rates) <= len(left)


@pytest.mark.parametrize("kind", [kind for kind, case in JOINT_CASES.items() if 2 not in case.dimensions])
def test_joints_that_need_space_say_so(kind):
    with pytest.raises(ModelError, match=r"needs space|already in its plane"):
        model_with(kind, 2)


@pytest.mark.parametrize("kind", [kind for kind, case in JOINT_CASES.items() if 3 not in case.point_mass])
def test_joints_that_need_an_orientation_refuse_point_masses(kind):
    model = Mechanism()
    body, mass = model.add(RigidBody(1.0, (1, 1, 1))), model.add(PointMass(1.0))
    for ports in ((body.origin, mass.origin), (mass.origin, body.origin)):
        with pytest.raises(ModelError, match=r"point mass 1.origin has no orientation .*Spherical"):
            model.connect(kind(*ports))


def test_a_slider_needs_the_orientation_of_its_line_only():
    model = Mechanism()
    body, mass = model.add(RigidBody(1.0, (1, 1, 1))), model.add(PointMass(1.0))
    model.connect(Slider(body.origin, mass.origin))
    with pytest.raises(ModelError, match="has no orientation"):
        model.connect(Slider(mass.origin, body.origin))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda a, b, g: Spherical(g, g), ModelError, "connects the ground with itself"),
        (lambda a, b, g: Spherical(a.origin, a.point((1, 0, 0))), ModelError, "connects a with itself"),
        (lambda a, b, g: Spherical(a, b.origin), ModelError, "Spherical: first must be a port such as beam.end"),
        (
            lambda a, b, g: Universal(a.origin, b.origin, (1, 0, 0), (1, 1, 0)),
            ParameterError,
            "must be perpendicular",
        ),
        (lambda a, b, g: Distance(a.origin, b.origin), ModelError, "the points coincide"),
    ],
)
def test_bad_joints_are_refused(make, error, message):
    model = Mechanism()
    a, b = (model.add(RigidBody(1.0, (1, 1, 1)), name) for name in "ab")
    with pytest.raises(error, match=message):
        model.connect(make(a, b, model.ground.at((0, 0, 0))))


def test_an_axis_out_of_the_plane_is_refused():
    model = Mechanism(dimension=2)
    body = model.add(PointMass(1.0))
    with pytest.raises(ParameterError, match="must lie in the xy plane"):
        model.connect(Slider(model.ground.at((0, 0, 0)), body.origin, axis=(0, 0, 1)))


def test_the_axis_of_a_pin_in_the_plane_is_z():
    model = Mechanism(dimension=2)
    a, b = (model.add(RigidBody(1.0, 1.0), name) for name in "ab")
    for axis in ((1, 0, 0), (0, 0.1, 1)):
        with pytest.raises(ParameterError, match=r"axis of Revolute\(a.origin, b.origin\) must be along z"):
            model.connect(Revolute(a.origin, b.origin, axis=axis))
    for axis in ((0, 0, 2.0), (0, 0, -1)):
        assert len(model.connect(Revolute(a.origin, b.origin, axis=axis)).constraints(2)) == 2
