"""The start of a run: velocities that fit the joints, starts that are refused, many starts at once."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from mechanisms import beam, four_bar, grounded
from phlexible.bodies.rigid_body import PointMass, RigidBody
from phlexible.description.joints.joints import Distance, Revolute, Slider, Spherical
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.errors import JointGapError, VelocityError
from phlexible.state.initial_state import InitialKind, InitialStateCache, initial_state
from phlexible.state.many_starts import batched_starts
from phlexible.state.system import system_of

CENTER = (0.2, 0.1, 0.0)
RIGID = RigidBody(2.0, (1.0, 1.5, 2.0), CENTER)


def started(model):
    return initial_state(system_of(model))


def pendulum(dimension=2, joint=Revolute, **motion):
    model = Mechanism(dimension=dimension)
    body = model.add(RIGID, "bob", position=(1.0, 0, 0), **motion)
    model.connect(joint(model.ground.at((0, 0, 0)), body.point((-1.0, 0, 0))))
    return model


def test_a_free_body_starts_at_rest_as_placed():
    model = Mechanism(gravity=(0, 0, -9.81))
    turn = Rotation.from_rotvec([0.1, 0.2, 0.3])
    model.add(beam(), position=(1, 2, 3), rotation=turn)
    state = started(model)
    assert state.time == 0 and not state.velocity.any() and not state.eta.any()
    assert state.position[0] == pytest.approx([1, 2, 3] + turn.apply([0.15, 0, 0]), abs=1e-15)
    assert state.rotation[0] == pytest.approx(turn.as_matrix())


@pytest.mark.parametrize(("dimension", "joint"), [(2, Revolute), (3, Revolute), (3, Spherical)])
def test_rows_that_repeat_others_do_no_harm(dimension, joint):
    system = system_of(four_bar(dimension, joint))
    state = initial_state(system)
    spins = [state.velocity[system.layout.velocity[i + 1] - 1] for i in range(3)]
    # a's tip moves with (-2, 0); b is (2, 0.3) long, c (0, 1.3), so b cannot turn and c turns by 2 / 1.3.
    assert spins == pytest.approx([2, 0, 2 / 1.3], abs=1e-9)
    assert np.abs(system.rows.rates(system.at(state), state.velocity[None])).max() < 1e-9


def test_what_is_left_free_takes_the_least_kinetic_energy():
    """Least m |V|^2 + J w^2 of a pin that moves up at 3 m/s, with the centre of mass at (1.2, 0.1) from it."""
    model = Mechanism(dimension=2)
    body = model.add(RIGID, "bob", position=(1.0, 0, 0))
    model.connect(Revolute(model.ground.moving(lambda t: (0, 3 * t, 0)), body.point((-1.0, 0, 0))))
    spin = -3 * 2.0 * 1.2 / (2.0 * (1.2**2 + 0.1**2) + 2.0)
    assert started(model).velocity == pytest.approx([-0.1 * spin, 3 + 1.2 * spin, spin], rel=1e-9)


def test_only_one_of_the_two_velocities_may_be_given():
    state = started(pendulum(3, Spherical, angular_velocity=(0, 1, 2)))
    assert state.velocity == pytest.approx([-0.2, 2.4, -1.2, 0, 1, 2], abs=1e-12)
    state = started(pendulum(3, Revolute, velocity=(0, 2, 0)))
    assert state.velocity == pytest.approx([-0.2, 2.4, 0, 0, 0, 2], abs=1e-9)


@pytest.mark.parametrize(
    ("offset", "joint", "message"),
    [
        ((1e-3, 0), Revolute, r"Revolute\(ground.at\(0.001, 0, 0\), bob.origin\) .* x is off by -0.001 m"),
        ((0, 2e-3), Revolute, r"point along y is off by -0.002 m \(at most 1e-09\)"),
        ((0, 2e-3), Slider, r"point across the axis, direction 1 is off by .*0.002 m"),
        ((3, 4), lambda a, b: Distance(a, b, 2.0), r"distance is off by 3 m"),
        ((2e-9, 0), Revolute, "does not close"),
    ],
)
def test_open_joints_are_refused(offset, joint, message):
    model = Mechanism(dimension=2)
    body = model.add(PointMass(1.0), "bob")
    model.connect(Revolute(model.add(RigidBody(1.0, 1.0), position=(1, 0, 0)).origin, model.ground.at((1, 0, 0))))
    model.connect(joint(model.ground.at((*offset, 0)), body.origin))
    with pytest.raises(JointGapError, match=message):
        started(model)


@pytest.mark.parametrize("held", ["one end", "both ends"])
@pytest.mark.parametrize("gap", [1e-13, 1e-11, 5e-10])
def test_gaps_of_typed_positions_are_closed_before_the_first_step(held, gap, recwarn):
    """A beam at rest whose position is right to ten digits stays at rest, and no step has to close its joints."""
    body = ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(210e9, 7850.0))
    model, bar, _ = grounded(body, name="bar", position=(gap, -gap, gap))
    if held == "both ends":
        model.connect(ph.Spherical(model.ground.at((1 + 2 * gap, 0, 0)), bar.end))
    motion = model.simulate(0.1, step=1e-3)
    assert not [each for each in recwarn if "energies miss the work" in str(each.message)]
    assert np.abs(motion.position(bar.end) - [1, 0, 0]).max() < 4 * gap
    assert motion.energy.kinetic.max() < (1e-25 if held == "one end" else 1e9 * gap**2)  # of its small stretch


@pytest.mark.parametrize(
    ("motion", "messages"),
    [
        (
            {"velocity": (0, 1, 0), "angular_velocity": (0, 0, 2)},
            [
                r"contradict Revolute\(ground.at\(0, 0, 0\), bob.point\(-1, 0, 0\)\)",
                "point along y is violated by 1 m/s",
                "leave velocity and angular_velocity out",
                r"bob velocity=\[-?0.0, ",
            ],
        ),
        ({"velocity": (1, 0, 0)}, ["point along x is violated by 1 m/s"]),
        ({"velocity": (0, 1, 0), "angular_velocity": (0, 0, 1 + 1e-6)}, ["violated by 1e-06 m/s"]),
    ],
)
def test_contradicting_velocities_are_refused(motion, messages):
    with pytest.raises(VelocityError) as error:
        started(pendulum(**motion))
    for message in messages:
        error.match(message)


def test_the_offered_velocities_fit():
    with pytest.raises(VelocityError) as error:
        started(pendulum(velocity=(0, 1, 0), angular_velocity=(0, 0, 2)))
    offer = str(error.value).split("bob ")[-1]
    started(pendulum(**eval(f"dict({offer})")))


def test_velocities_right_to_round_off_are_kept():
    spin = 1 + 1e-9
    state = started(pendulum(velocity=(0, 1, 0), angular_velocity=(0, 0, spin)))
    assert state.velocity == pytest.approx([-0.1 * spin, 1 + 0.2 * spin, spin], abs=1e-15)


def test_drives_that_no_motion_fits_are_refused():
    model = Mechanism(dimension=2)
    body = model.add(RIGID, "bob")
    for x, speed in ((0.0, 1.0), (1.0, 2.0)):
        pin = model.ground.moving(lambda t, x=x, speed=speed: (x + speed * t, 0, 0))
        model.connect(Revolute(pin, body.point((x, 0, 0))))
    with pytest.raises(VelocityError, match=r"no rigid motion fits all .* contradict Revolute\(moving frame \d"):
        started(model)


@pytest.mark.parametrize("place", [0.0, 1e3])
@pytest.mark.parametrize("path", [lambda t: 0.1 * (1 - np.cos(150 * t)), lambda t: t**2, lambda t: 1e-6 * t**2])
def test_frames_that_start_at_rest_move_redundant_joints(path, place):
    """Differences of the paths are round-off at first: the same in no two joints, and no contradiction."""
    model = Mechanism()
    body = model.add(RIGID, "bob", position=(place, 0, 0))
    for x in (0.0, 1.0):
        frame = model.ground.moving(lambda t, x=x: (place + x + path(t), 2 * path(t), 0))
        model.connect(Revolute(frame, body.point((x, 0, 0))))
    assert np.abs(started(model).velocity).max() < 1e-8


def test_drives_that_start_slowly_are_refused_where_they_contradict_each_other():
    model = Mechanism(dimension=2)
    body = model.add(RIGID, "bob")
    for x, speed in ((0.0, 0.0), (1.0, 1e-6)):
        frame = model.ground.moving(lambda t, x=x, speed=speed: (x + speed * t + t**2, 0, 0))
        model.connect(Revolute(frame, body.point((x, 0, 0))))
    with pytest.raises(VelocityError, match="violated by [0-9.]*e-07 m/s"):
        started(model)


WAY, BENDING = 0.01, 3 * 2e11 * np.pi * 3e-3**4 / 4 / 0.3**3  # [m], 3 EI / L^3 [N/m]


def pulled_in(share):
    """A cantilever whose tip is pulled by a exp(w / way), beside one that nothing pulls.

    k w = a exp(w / way) has a solution as long as a < k way / e, where the tip has gone the way.
    """
    model, size = ph.Model(dimension=2), BENDING * WAY / np.e / share
    pull = ph.Potential(lambda w: -size * WAY * np.exp(w / WAY), lambda w: -size * np.exp(w / WAY), (-WAY, 2 * WAY))
    for name in ("one that nothing pulls", "soft"):
        placed = model.add(beam(2, "cantilever", "linear"), name)
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed.start))
    rail = model.connect(ph.Slider(model.ground.at((0.3, 0, 0)), placed.end, axis=(0, 1, 0)))
    model.apply(rail.spring(0.0, potential=pull))
    return model


def test_it_says_how_much_of_the_loads_is_held_and_by_which_body():
    with pytest.raises(ph.ModelError, match="soft gives way most easily") as told:
        initial_state(system_of(pulled_in(0.6)), InitialKind.QUASI_STATIC)
    assert 50 <= float(re.search(r"hold up to (\d+)%", str(told.value)).group(1)) <= 60
    assert abs(initial_state(system_of(pulled_in(1.05)), InitialKind.QUASI_STATIC).eta).max() > 0


def crank_slider(length=0.3, speed=150.0):
    steel = ph.Material(youngs_modulus=2.0e11, density=7870.0)
    section = ph.CircularSection(diameter=6e-3)
    model = ph.Model(dimension=2)
    coupler = model.add(ph.Beam(length, section, steel, elements=4, modes=2), "coupler", position=(0.15, 0, 0))
    slider = model.add(ph.PointMass(0.033), "slider", position=(0.15 + length, 0, 0))
    pin = model.ground.moving(lambda t: (0.15 * np.cos(speed * t), 0.15 * np.sin(speed * t), 0.0 * t))
    model.connect(ph.Revolute(pin, coupler.start))
    model.connect(ph.Revolute(coupler.end, slider.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    return model


def hinged_pendulum(height=0.0, gap=0.0, spin=2.0, slip=0.0):
    """Box on a pin in space; a second pin on its axis makes joints redundant."""
    model = ph.Model(gravity=(0, 0, -9.81))
    moving = {"velocity": (slip, spin / 2, 0), "angular_velocity": (0, 0, spin)}
    box = model.add(ph.RigidBody(1.0, (0.1, 0.2, 0.3)), "box", position=(0.5 + gap, 0, height), **moving)
    model.connect(ph.Revolute(model.ground.at((0, 0, height)), box.point((-0.5, 0, 0)), axis=(0, 0, 1)))
    return model


def hinged_twice():
    model = hinged_pendulum()
    model.connect(ph.Revolute(model.ground.at((0, 0, 1)), model["box"].point((-0.5, 0, 1)), axis=(0, 0, 1)))
    return model


@pytest.mark.parametrize(
    "models",
    [
        [crank_slider(length, speed) for length, speed in ((0.3, 150.0), (0.35, 150.0), (0.3, -40.0))],
        [hinged_pendulum(height, spin=spin) for height, spin in ((0.0, 2.0), (1.0, 2.0), (0.0, -1.0))],
    ],
)
def test_starts_are_those_of_each_mechanism_alone(models):
    systems = [system_of(model) for model in models]
    for model, start in zip(models, batched_starts(systems), strict=True):
        state, at, is_redundant = InitialStateCache().of(system_of(model), InitialKind.UNDEFORMED)
        assert start is not None
        assert start[2] is is_redundant is False
        for name in ("position", "rotation", "eta", "velocity"):
            expected = pytest.approx(getattr(state, name), rel=1e-12, abs=1e-13)
            assert getattr(start[0], name) == expected
            assert getattr(start[1], name)[0] == expected
        assert start[1].prescribed.frames == pytest.approx(at.prescribed.frames)


def test_open_joints_other_velocities_structures_and_redundant_joints_are_looked_at_alone():
    open_one, fast, plain, other = (
        hinged_pendulum(gap=1e-3),
        hinged_pendulum(slip=1.0),
        hinged_pendulum(height=0.5),
        crank_slider(),
    )
    found = batched_starts([system_of(each) for each in (plain, open_one, fast, other, hinged_pendulum())])
    assert [start is None for start in found] == [False, True, True, True, False]
    assert batched_starts([system_of(hinged_twice()), system_of(hinged_twice())]) == [None, None]
