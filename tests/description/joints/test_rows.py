"""Every joint's functions: how many, closed at the initial pose, and refused where they have no meaning."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from phlexible.bodies.rigid_body import PointMass, RigidBody
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.joints import (
    Cylindrical,
    Distance,
    Fixed,
    Planar,
    Prismatic,
    Revolute,
    Slider,
    Spherical,
    Universal,
)
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.errors import ModelError, ParameterError
from phlexible.state.initial_velocity import undeformed
from phlexible.state.system import system_of

ROWS = {  # joint: rows in the plane (None: refused), rows in space; docs/theory.md, 8
    Fixed: (3, 6),
    Revolute: (2, 5),
    Prismatic: (2, 5),
    Cylindrical: (None, 4),
    Universal: (None, 4),
    Spherical: (2, 3),
    Planar: (None, 3),
    Slider: (1, 2),
    Distance: (1, 1),
}
CASES = [(kind, d) for kind, counts in ROWS.items() for d, rows in zip((2, 3), counts, strict=True) if rows]


def leaves(kind):
    return {kind} if not kind.__subclasses__() else set().union(*map(leaves, kind.__subclasses__()))


def model_with(kind, dimension):
    model = Mechanism(dimension=dimension)
    turn = 0.4 if dimension == 2 else Rotation.from_rotvec([0.4, -0.2, 0.3])
    first, second = (
        model.add(RigidBody(1.0, (1, 1, 1)), position=place, rotation=turn)
        for place in ((0.5, -0.3, 0), (1.5, -0.3, 0))
    )
    apart = (1.0, 0, 0) if kind in (Slider, Prismatic, Cylindrical, Distance) else (0, 0, 0)
    there = second.rotation.T @ (np.array(apart) - [1, 0, 0])
    model.connect(kind(first.origin, second.point(there)))
    return model


def test_no_joint_is_forgotten():
    assert {kind for kind in leaves(Joint) if kind.__module__.startswith("phlexible")} == set(ROWS)


@pytest.mark.parametrize(("kind", "dimension"), CASES)
def test_rows_are_as_many_as_the_motions_held(kind, dimension):
    system = system_of(model_with(kind, dimension))
    at, expected = system.at(undeformed(system)), ROWS[kind][dimension - 2]
    assert system.rows.values(at)[0] == pytest.approx(np.zeros(expected), abs=1e-15)
    matrix = system.rows.matrix(at).toarray()
    assert np.linalg.matrix_rank(matrix) == expected


@pytest.mark.parametrize("kind", [kind for kind, (plane, _) in ROWS.items() if plane is None])
def test_joints_that_need_space_say_so(kind):
    with pytest.raises(ModelError, match=r"needs space|already in its plane"):
        model_with(kind, 2)


@pytest.mark.parametrize("kind", [Fixed, Prismatic, Cylindrical, Universal, Planar, Revolute])
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
        assert len(model.connect(Revolute(a.origin, b.origin, axis=axis)).rows(2)) == 2
