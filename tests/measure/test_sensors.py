"""Sensors read motions, equilibria and tables alike."""

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded
from phlexible.errors import ParameterError

STEEL = ph.Material(2e11, 7800.0)


def spinning(turns):
    """A rigid plate that turns about z at 2 pi/s, its corner in the unit circle."""
    model = ph.Model()
    plate = model.add(ph.RigidBody(2.0, (0.1, 0.2, 0.3)), "plate", angular_velocity=(0.0, 0.0, 2 * np.pi))
    return plate, plate.point((1.0, 0.0, 0.0)), model.simulate(turns, 0.01, progress=False)


def test_points_and_turns_of_a_known_rotation():
    plate, corner, motion = spinning(2.5)
    time = motion.time
    half = 2 * np.arctan(0.01 * np.pi / 1) / 0.01  # what the step turns in a second
    along = {
        ph.Displacement(corner, (1, 0, 0)): np.cos(half * time) - 1,
        ph.Displacement(corner, (0, 2, 0)): np.sin(half * time),
        ph.Angle(corner, (0, 0, 1)): half * time,
        ph.Angle(corner, (0, 0, -3)): -half * time,
        ph.AngularVelocity(corner, (0, 0, 1)): np.full(len(time), 2 * np.pi),
        ph.EnergyOf("kinetic"): np.full(len(time), 0.5 * 0.3 * (2 * np.pi) ** 2),
    }
    for sensor, expected in along.items():
        assert motion[sensor] == pytest.approx(expected, abs=1e-10), str(sensor)
    assert motion[ph.Velocity(corner, (0, 1, 0))] == pytest.approx(2 * np.pi * np.cos(half * time), abs=1e-9)
    acceleration = motion[ph.Acceleration(corner, (1, 0, 0))]
    assert acceleration == pytest.approx(-((2 * np.pi) ** 2) * np.cos(half * time), abs=0.2)
    assert motion[ph.Position(corner)] == pytest.approx(motion.position(corner))
    assert motion[ph.Rotation(plate)] == pytest.approx(motion.rotation(plate))
    quaternion = motion[ph.Quaternion(plate)]
    assert quaternion[:, 2] == pytest.approx(np.sin(half * time / 2), abs=1e-10)  # through both signs, no jump


def test_joints_forces_and_sections():
    part = ph.Beam(1.0, ph.RectangularSection(0.02, 0.01), STEEL, elements=4)
    model, beam, pin = grounded(part, ph.Revolute, gravity=(0.0, -9.81, 0.0), dimension=2, name="beam")
    spring = model.apply(pin.spring(50.0))
    motion = model.simulate(0.05, 1e-3, progress=False)
    assert motion[ph.JointPosition(pin)] == pytest.approx(motion.angle(pin))
    assert motion[ph.JointRate(pin, 0)] == pytest.approx(motion.rate(pin))
    assert motion[ph.Reaction(pin)] == pytest.approx(motion.reaction(pin))
    assert motion[ph.ReactionMoment(pin, "body")] == pytest.approx(motion.reaction_moment(pin, "body"))
    assert motion[ph.ElementForce(spring)] == pytest.approx(-50.0 * motion.angle(pin), abs=1e-3)  # means of steps
    middle = motion.section_forces(beam, [0.5])
    assert motion[ph.SectionForce(beam, 0.5)][:, 5] == pytest.approx(middle.moment_z[:, 0])
    depth = 6 * np.abs(middle.moment_z[:, 0]) / (0.01 * 0.02**2)
    assert np.abs(motion[ph.Stress(beam, 0.5)]) == pytest.approx(depth, rel=0.05, abs=1e4)
    with pytest.raises(ph.ParameterError, match="coordinate must be below 1"):
        motion[ph.JointRate(pin, 1)]


def test_the_acceleration_of_a_falling_rod():
    """-3 g / 2 L at the start."""
    body = ph.RigidBody(2.0, 2.0 / 12, center=(0.5, 0.0, 0.0))
    model, rod, pin = grounded(body, ph.Revolute, gravity=(0.0, -9.81, 0.0), dimension=2, name="rod")
    motion = model.simulate(0.01, 1e-3, progress=False)
    assert motion[ph.JointAcceleration(pin)][0] == pytest.approx(-1.5 * 9.81, rel=1e-3)
    assert motion[ph.AngularAcceleration(rod.origin, (0, 0, 1))][0] == pytest.approx(-1.5 * 9.81, rel=1e-3)


def test_tables_have_a_column_a_component(tmp_path):
    _, corner, motion = spinning(0.1)
    sensors = [ph.Position(corner), ph.Angle(corner, (0, 0, 1)), ph.EnergyOf("total")]
    motion.to_csv(tmp_path / "run.csv", sensors)
    head, *rows = (tmp_path / "run.csv").read_text().splitlines()
    names = ("x [m]", "y [m]", "z [m]")
    assert head.startswith('time [s],"position of plate.point(1, 0, 0) x [m]"')
    assert len(rows) == len(motion.time)
    numbers = np.array([[float(each) for each in row.split(",")] for row in rows])
    assert np.array_equal(numbers[:, 1:4], motion.position(corner))  # all digits
    pandas = pytest.importorskip("pandas")
    frame = motion.to_dataframe(sensors)
    assert isinstance(frame, pandas.DataFrame)
    assert [name for name in frame.columns if name.endswith(names)] == list(frame.columns[:3])
    assert frame.to_numpy() == pytest.approx(numbers[:, 1:])


@pytest.mark.filterwarnings("ignore:the linear model leaves out the initial rotation")
def test_coordinates_of_joints_go_by_their_names_as_those_of_springs():
    """In motions, linear models and controllers, by number or by name; other names are refused."""
    model = ph.Model(dimension=3)
    rod = model.add(ph.RigidBody(1.0, (1.0, 1.0, 2.0)), "rod", velocity=(0.3, 0, 0), angular_velocity=(0.5, 0, 0))
    joint = model.connect(ph.Cylindrical(model.ground.at((0, 0, 0)), rod.origin, axis=(1, 0, 0)))
    motion = model.simulate(0.1, 1e-2, progress=False)
    for number, name in enumerate(("position", "angle")):
        np.testing.assert_array_equal(motion[ph.JointRate(joint, name)], motion[ph.JointRate(joint, number)])
    assert ph.JointPosition(joint, "angle").unit == "rad"
    signals = [ph.JointPosition(joint, "angle"), ph.JointRate(joint, "position")]
    linear = model.linearize(inputs=[ph.JointForce(joint, "angle")], outputs=signals)
    assert [output.split(" of ")[0] for output in linear.outputs] == ["angle", "sliding rate"]
    assert [name.split(" of ")[0] for name in linear.inputs] == ["torque"]
    for part in (ph.JointPosition, ph.JointForce):
        with pytest.raises(ph.ModelError, match="no coordinate 'turn'; it has: 'position', 'angle'"):
            part(joint, "turn")


@pytest.mark.parametrize("angle", [-3.0, -1.6, -1.5, 0.0, 1.6, 3.0])
@pytest.mark.parametrize("axis", [(1, 0, 0), (0, -1, 0), (0, 0, 1), (1, -2, 0.5)])
def test_the_angle_at_one_instant_is_within_half_a_turn(angle, axis):
    model, body, hinge = grounded(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), ph.Revolute, axis=axis)
    model.apply(hinge.spring(2.0))
    model.apply(hinge.torque(2.0 * angle))
    rest = model.equilibrium()
    assert rest[ph.Angle(body.origin, axis)] == pytest.approx(angle, abs=1e-9)
    on = model.simulate(0.02, step=0.01, initial=rest)
    assert on[ph.Angle(body.origin, axis)] == pytest.approx([angle] * 3, abs=1e-9)


@pytest.mark.parametrize("sensor", [ph.Angle, ph.AngularVelocity, ph.AngularAcceleration])
def test_angles_in_the_plane_are_about_z(sensor):
    model = ph.Model(dimension=2)
    wheel = model.add(ph.RigidBody(1.0, 0.1), "wheel")
    torque = model.apply(ph.Torque(wheel.origin, (0, 0, 0.2)))
    motion = model.simulate(1.0, step=1e-2)
    model.remove(torque)
    expected = {ph.Angle: 0.9801, ph.AngularVelocity: 1.98, ph.AngularAcceleration: 2.0}[sensor]
    assert motion[sensor(wheel.origin)][-2] == pytest.approx(expected, rel=5e-5)
    (value,) = (
        model.linearize([ph.Torque(wheel.origin, (0, 0, 1))], [sensor(wheel.origin)])
        .frequency_response([1.0])
        .values.ravel()
    )
    assert value == pytest.approx(10.0 * {ph.Angle: -1, ph.AngularVelocity: -1j, ph.AngularAcceleration: 1}[sensor])
    with pytest.raises(
        ParameterError, match=r"direction must be \(0, 0, 1\) or .* in dimension 2, got \[1.0, 0.0, 0.0\]"
    ):
        sensor(wheel.origin, (1, 0, 0))


def test_points_in_the_plane_move_in_it():
    with pytest.raises(ParameterError, match="direction must be in the xy plane in dimension 2"):
        ph.Velocity(ph.Model(dimension=2).add(ph.PointMass(1.0), "bob").origin, (0, 0, 1))
    with pytest.raises(ParameterError, match="direction must be along x in dimension 1"):
        ph.Displacement(ph.Model(dimension=1).add(ph.PointMass(1.0), "bob").origin, (0, 1, 0))
