"""A model accepts what fits together and refuses the rest where it is given, with a message."""

import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.description.mechanism.mechanism import Mechanism
from refusals import refused

STEEL = ph.Material(youngs_modulus=2e11, density=7870.0, poissons_ratio=0.3)
BEAM = ph.Beam(length=1.0, section=ph.CircularSection(diameter=0.01), material=STEEL, elements=2)
RIGID = ph.RigidBody(2.0, (1.0, 1.0, 1.0))


def pendulum(dimension=2):
    model = Mechanism(gravity=(0, -9.81, 0), dimension=dimension)
    beam = model.add(BEAM, "beam")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), beam.start))
    model.apply(ph.Force(beam.at(0.5), (0, 1, 0)))
    model.apply(ph.Torque(beam.end, (0, 0, 1), name="motor"))
    return model


def test_bodies_are_named_by_their_kind():
    model = Mechanism()
    names = [model.add(body).name for body in (BEAM, BEAM, ph.PointMass(1.0), RIGID)]
    assert names == ["beam 1", "beam 2", "point mass 1", "rigid body 1"]
    assert [placed.name for placed in model.bodies] == names and model["beam 2"] is model.bodies[1]


def test_a_name_that_was_given_by_hand_is_not_given_again():
    model = Mechanism()
    model.add(BEAM, "beam 2")
    assert [model.add(BEAM).name, model.add(BEAM).name] == ["beam 3", "beam 4"]


def test_loads_get_names_of_their_own():
    model = pendulum()
    end = model["beam"].end
    loads = [model.apply(ph.Force(end, (1, 0, 0))) for _ in range(3)] + [model.apply(ph.Torque(end, (0, 0, 1)))]
    assert [str(load) for load in loads] == [
        "force on beam.end",
        "force on beam.end 2",
        "force on beam.end 3",
        "torque on beam.end",
    ]
    assert model.loads[2:] == tuple(loads)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Mechanism((0, 0, -9.81), dimension=2), ph.ParameterError, "gravity must have z = 0"),
        (lambda: pendulum()["boom"], ph.ModelError, "no body is named 'boom'; the model has: beam"),
        (lambda: Mechanism()["boom"], ph.ModelError, "no body yet"),
    ],
)
def test_bad_models_are_refused(make, error, message):
    refused(error, message, make)


@pytest.mark.parametrize(
    ("dimension", "body", "arguments", "error", "message"),
    [
        (2, BEAM, {"name": "beam"}, ph.ModelError, "'beam' is already in the model"),
        (2, BEAM, {"name": " "}, ph.ParameterError, "name of a body must be text that is not empty"),
        (2, BEAM, {"position": (1, 2, 3)}, ph.ParameterError, "position must have z = 0"),
        (2, BEAM, {"rotation": Rotation.from_euler("x", 1)}, ph.ParameterError, "must rotate about z"),
        (3, BEAM, {"rotation": 1.0}, ph.ParameterError, "got the angle 1.0"),
        (2, BEAM, {"velocity": (1, 2, 3)}, ph.ParameterError, "velocity must have z = 0"),
        (2, BEAM, {"angular_velocity": (1, 0, 3)}, ph.ParameterError, r"angular_velocity must be \(0, 0, w_z\)"),
        (3, ph.PointMass(1.0), {"angular_velocity": (0, 0, 1)}, ph.ModelError, "no angular velocity"),
        (3, ph.RigidBody(1.0, 1.0), {}, ph.ParameterError, "enough in the plane only"),
    ],
)
def test_bad_bodies_are_refused(dimension, body, arguments, error, message):
    model = pendulum(dimension)
    refused(error, message, lambda: model.add(body, **arguments))
    assert len(model.bodies) == 1


def test_a_massless_motion_names_the_body(monkeypatch):
    def refuse(data):
        raise ph.SingularMassError("no inertia in the direction of w_x")

    monkeypatch.setattr("phlexible.description.mechanism.membership.check_mass", refuse)
    with pytest.raises(ph.SingularMassError, match="needle: no inertia in the direction of w_x"):
        Mechanism().add(BEAM, "needle")


JOINT_CASES = [
    (3, lambda m, p: ph.Revolute(p.origin, m["beam"].end), "has no orientation", ph.PointMass(1.0)),
    (2, lambda m, p: ph.Cylindrical(p.end, m["beam"].end), "needs space", BEAM),
    (2, lambda m, p: "hinge", "connect takes a joint such as Revolute", BEAM),
    (2, lambda m, p: m.joints[0], "is already connected", BEAM),
    (2, lambda m, p: ph.Force(p.end, (0, 0, 0)), "connect takes a joint .* got force on .*go to model.apply", BEAM),
    (2, lambda m, p: ph.Fixed(pendulum()["beam"].end, p.end), "beam.end is on a body of another model", BEAM),
    (2, lambda m, p: ph.Fixed(p.end, Mechanism(dimension=2).add(BEAM, "x").end), "x.end is on a body", BEAM),
]


@pytest.mark.parametrize(("dimension", "make", "message", "body"), JOINT_CASES)
def test_bad_joints_are_refused(dimension, make, message, body):
    model = pendulum(dimension)
    placed = model.add(body)
    refused(ph.ModelError, message, lambda: model.connect(make(model, placed)))
    assert len(model.joints) == 1


def test_a_joint_out_of_the_plane_is_refused():
    model = pendulum()
    with pytest.raises(ph.ParameterError, match=r"ground.at\(0, 0, 1\) must have z = 0 in a planar model"):
        model.connect(ph.Spherical(Mechanism().ground.at((0, 0, 1)), model["beam"].end))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda end: ph.Force(end, (0, 0, 1)), r"force on beam.end must be \(f_x, f_y, 0\) in a planar model"),
        (lambda end: ph.Force(end, lambda t: (0, 0, 1)), r"must be \(f_x, f_y, 0\)"),
        (lambda end: ph.Torque(end, (1, 0, 1)), r"torque on beam.end must be \(0, 0, m_z\) .*\[1.0, 0.0, 1.0\]"),
    ],
)
def test_bad_load_values_are_refused(make, message):
    model = pendulum()
    refused(ph.ParameterError, message, lambda: model.apply(make(model["beam"].end)))
    assert len(model.loads) == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda model: "push", "part must be a load such as Force"),
        (lambda model: ph.Revolute(model.ground.at((0, 0, 0)), model["beam"].end), "joints go to model.connect"),
        (lambda model: model.loads[0], "is already applied"),
        (lambda model: ph.Force(pendulum()["beam"].end, (0, 0, 0)), "on a body of another model"),
    ],
)
def test_bad_loads_are_refused(make, message):
    model = pendulum()
    refused(ph.ModelError, message, lambda: model.apply(make(model)))


def test_a_copy_has_other_parameters_and_the_same_places():
    model, stiff = pendulum(), ph.Beam(2.0, ph.CircularSection(diameter=0.02), STEEL, elements=3)
    copy = model.replace(gravity=(0, 0, 0), beam=stiff)
    placed = copy["beam"]
    assert placed.body is stiff and not copy.gravity.any() and copy.dimension == 2
    assert copy.joints[0].second.placed is placed and str(copy.joints[0]) == str(model.joints[0])
    assert copy.loads[0].attachment.point.position.tolist() == [0.5, 0, 0]
    assert copy.loads[1].attachment.point.position.tolist() == [2.0, 0, 0]
    assert [str(load) for load in copy.loads] == [str(load) for load in model.loads]
    assert model["beam"].body is BEAM and model.gravity[1] == -9.81


def test_a_copy_without_changes_is_independent():
    model = pendulum()
    copy = model.replace()
    copy.add(BEAM)
    assert len(model.bodies) == 1 and copy.bodies[0].body is BEAM and copy.gravity[1] == -9.81


def test_bodies_that_a_copy_does_not_change_share_their_data():
    model = ph.Model()
    for name in ("one", "two"):
        model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), name)
    copy = model.replace(gravity=(0, 0, -1), two=ph.RigidBody(2.0, (0.1, 0.1, 0.1)))
    assert copy["one"].data is model["one"].data
    assert copy["two"].data.mass == 2.0 and copy.copy()["two"].data is copy["two"].data


def test_a_copy_of_a_subclass_is_of_the_subclass():
    class Model(Mechanism):
        pass

    assert type(Model(dimension=2).replace()) is Model


def test_names_that_are_no_keywords_are_replaced_too():
    model = Mechanism()
    model.add(BEAM, "gravity")
    model.add(BEAM, "link 1")
    copy = model.replace(bodies={"gravity": RIGID, "link 1": RIGID})
    assert all(placed.body is RIGID for placed in copy.bodies)


def test_bad_copies_are_refused():
    refused(ph.ModelError, "no body is named 'boom'", lambda: pendulum().replace(boom=BEAM))
    with pytest.raises(ph.AttachmentError):
        pendulum().replace(beam=RIGID)
