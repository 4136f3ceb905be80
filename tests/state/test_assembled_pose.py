"""The nearest closed pose and velocities, from approximate ones."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.description.ports import Attachment
from phlexible.state.initial_velocity import undeformed
from phlexible.state.system import system_of
from refusals import refused

BAR = ph.RigidBody(1.0, 1 / 12, center=(0.5, 0, 0))


def gaps(model):
    system = system_of(model)
    return np.abs(system.rows.values(system.at(undeformed(system)))).max()


def stays(move):
    return max(np.abs(move.shift).max(), np.abs(move.turn).max()) < 1e-15


def disturbed(model, seed, shift=0.03, turn=0.05):
    """The same model with its bodies at slightly wrong places."""
    rng = np.random.default_rng(seed)
    wrong = ph.Model(gravity=model.gravity, dimension=model.dimension)
    wrong.ground = model.ground
    for placed in model.bodies:
        move, angles = shift * rng.normal(size=3), turn * rng.normal(size=3)
        if model.dimension == 2:
            move[2], angles[:2] = 0, 0
        rotation = Rotation.from_rotvec(angles).as_matrix() @ placed.rotation
        wrong.add(placed.body, placed.name, placed.position + move, rotation)
    for joint in model.joints:
        ports = [
            Attachment(wrong[port.placed.name], port.location) if hasattr(port, "placed") else port
            for port in (joint.first, joint.second)
        ]
        axes = {name: getattr(joint, name) for name in ("axis", "second_axis") if hasattr(joint, name)}
        wrong.connect(type(joint)(*ports, **axes))
    return wrong


def test_a_bar_goes_to_its_pin_on_the_shortest_way():
    """Least int |R(a) s - p - R(b) s|^2 has R(a) e along p l^2 / 2 + R(b) e l^3 / 3."""
    model = ph.Model(dimension=2)
    place, angle = np.array([0.1, -0.2, 0.0]), 0.4
    bar = model.add(BAR, "bar", place, angle)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin))
    found = model.assemble()
    direction = place / 2 + np.array([np.cos(angle), np.sin(angle), 0]) / 3
    assert found.model["bar"].rotation[:, 0] == pytest.approx(direction / np.linalg.norm(direction), abs=1e-9)
    assert gaps(found.model) < 1e-15
    assert found.moves["bar"].shift == pytest.approx(-place)
    assert found.gap_before == pytest.approx(0.2 / 0.7887, rel=1e-3) and found.gap_after < 1e-15
    assert "bar: moved 0.223607 m" in str(found)


@pytest.mark.parametrize("order", [1, 2])
def test_a_rod_goes_to_its_pin_like_a_bar_and_is_not_strained(order):
    """The same closed form, with the inertia h^2 / 12 of its sections."""
    model = ph.Model(dimension=2)
    place, angle = np.array([0.1, -0.2, 0.0]), 0.4
    square = ph.Rod(1.0, ph.RectangularSection(0.02, 0.02), ph.Material(1e9, 1e3), elements=4, order=order)
    rod = model.add(square, "rod", place, angle, velocity=(0.3, 0.2, 0.0), angular_velocity=(0, 0, 2.0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), rod.start))
    found = model.assemble().model
    direction = place / 2 + np.array([np.cos(angle), np.sin(angle), 0]) * (1 / 3 + 0.02**2 / 12)
    turned = found["rod"].start.placed.rotation[:, 0]
    assert turned == pytest.approx(direction / np.linalg.norm(direction), abs=1e-9)
    motion = found.simulate(1e-3, 1e-4, progress=False)
    assert motion.energy.spring.max() < 1e-10 * motion.energy.kinetic[0]


def test_a_rod_that_cannot_close_as_a_whole_is_bent_or_stretched():
    """Between two pins that are further apart than its ends are."""
    model = ph.Model(dimension=2)
    rod = model.add(ph.Rod(1.0, ph.RectangularSection(1e-2, 1e-2), ph.Material(1e6, 1e3), elements=2), "rod")
    for x, end in ((0.0, rod.start), (1.03, rod.end)):
        model.connect(ph.Spherical(model.ground.at((x, 0, 0)), end))
    found = model.assemble()
    assert found.gap_after < 1e-12
    assert gaps(found.model) < 1e-12


@pytest.mark.parametrize("weight", [1.0, 20.0])
def test_a_four_bar_closes_at_the_nearest_pose(weight):
    """Against a general optimizer over the one coordinate that the closed loop has left."""
    model = ph.Model(dimension=2)
    crank = model.add(BAR, "crank", (0.02, 0.03, 0), 1.2)
    coupler = model.add(BAR, "coupler", (0.4, 0.9, 0), 0.3)
    follower = model.add(BAR, "follower", (1.25, 1.1, 0), -1.0)
    end = (1.0, 0, 0)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), crank.origin))
    model.connect(ph.Revolute(crank.point(end), coupler.origin))
    model.connect(ph.Revolute(coupler.point(end), follower.origin))
    model.connect(ph.Revolute(follower.point(end), model.ground.at((1.6, 0, 0))))
    found = model.assemble(weights={"follower": weight})
    assert gaps(found.model) < 1e-14

    def links(angle):
        first = np.exp(1j * angle)
        rest = 1.6 - first
        second = rest / 2 + 1j * rest / abs(rest) * np.sqrt(1 - abs(rest / 2) ** 2)
        return (0, first), (first, first + second), (first + second, 1.6)

    def cost(angle):
        total, weights = 0.0, (1.0, 1.0, weight)
        for share, placed, (a, b) in zip(weights, model.bodies, links(float(angle[0])), strict=True):
            old = placed.position[0] + 1j * placed.position[1]
            wrong = a - old, b - old - (placed.rotation[0, 0] + 1j * placed.rotation[1, 0])
            total += share * sum(abs(x) ** 2 for x in (*wrong, wrong[0] + wrong[1])) / 6  # Simpson: exact
        return total

    best = minimize(cost, [1.1], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-16}).x[0]
    turn = found.model["crank"].rotation
    assert np.arctan2(turn[1, 0], turn[0, 0]) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("name", ["four_bar", "spatial_slider_crank", "crank_slider"])
def test_disturbed_models_close_and_run(name):
    model = disturbed(getattr(ph.gallery, name)(), seed=1)
    with pytest.raises(ph.JointGapError, match=r"take the nearest pose that closes: model = model.assemble"):
        model.simulate(1e-3, 1e-3)
    found = model.assemble()
    assert gaps(found.model) < 1e-12
    assert max(np.linalg.norm(move.shift) for move in found.moves.values()) < 0.3
    found.model.simulate(1e-3, 1e-3, progress=False)
    again = found.model.assemble()
    assert all(stays(move) for move in again.moves.values())


def test_axes_of_joints_turn_with_their_first_body():
    model = ph.Model()
    arm = model.add(ph.RigidBody(1.0, (0.1, 0.2, 0.3)), "arm", position=(1, 0, 0))
    link = model.add(ph.RigidBody(1.0, (0.1, 0.2, 0.3)), "link", position=(2, 0, 0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), arm.point((-1, 0, 0))))
    model.connect(ph.Revolute(arm.point((1, 0, 0)), link.origin, axis=(0, 0.6, 0.8)))
    model.connect(ph.Spherical(model.ground.at((1.8, 0.9, 0.4)), link.point((0, 1, 0))))
    found = model.assemble().model
    turned, axis = found["arm"].rotation, found.joints[1].axis
    assert np.abs(turned @ [0, 0.6, 0.8] - [0, 0.6, 0.8]).max() > 0.05
    assert axis == pytest.approx(turned @ [0, 0.6, 0.8], abs=1e-12)


def test_fixed_bodies_stay():
    model = disturbed(ph.gallery.chain(3), seed=3)
    for fixed in (model["link 3"], "link 3"):
        found = model.assemble(fixed=[fixed])
        assert gaps(found.model) < 1e-13
        assert stays(found.moves["link 3"])
        assert found.moves["link 1"].turn.any()


def test_a_loop_that_cannot_close_is_refused_with_its_gap():
    """Two bars of 1 m between pins 3 m apart: a third of the missing metre is open at each pin."""
    model = ph.Model(dimension=2)
    left, right = model.add(BAR, "left", rotation=0.1), model.add(BAR, "right", (1.5, 0, 0), 0.2)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), left.origin))
    model.connect(ph.Revolute(left.point((1, 0, 0)), right.origin))
    model.connect(ph.Revolute(right.point((1, 0, 0)), model.ground.at((3, 0, 0))))
    words = r"cannot close near the given poses: where they come closest.* open by -?0.3333"
    refused(ph.JointGapError, words, model.assemble)
    refused(ph.JointGapError, "cannot close", lambda: model.assemble(fixed=["left", "right"]))
    refused(ph.ModelError, "no body is named 'third'", lambda: model.assemble(fixed=["third"]))
    refused(ph.ParameterError, "weight of left", lambda: model.assemble(weights={"left": 0.0}))


def test_given_velocities_become_the_nearest_that_fit():
    """A pinned bar: of the velocity of its origin and its spin only the spin about the pin is left."""
    model = ph.Model(dimension=2)
    bar = model.add(BAR, "bar", rotation=0.3, velocity=(0.5, 0.2, 0), angular_velocity=(0, 0, 2.0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), bar.origin))
    with pytest.raises(ph.VelocityError):
        model.simulate(1e-3, 1e-3)
    after = model.assemble().model["bar"]
    momentum = 2.0 / 3 + np.cross(np.array([np.cos(0.3), np.sin(0.3), 0]) / 2, (0.5, 0.2, 0))[2]
    assert after.angular_velocity == pytest.approx([0, 0, 3 * momentum], rel=1e-9)
    assert after.velocity == pytest.approx(np.zeros(3), abs=1e-12)
    free = ph.Model(dimension=2)
    free.add(BAR, "bar", velocity=(0.5, 0.2, 0))
    assert free.assemble().model["bar"].velocity == pytest.approx([0.5, 0.2, 0])


def test_an_edge_of_a_shell_turns_with_what_it_is_fixed_to():
    """Together they keep the angular momentum that the arm had."""
    model = ph.Model(gravity=(0, 0, 0))
    arm = model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), "arm", angular_velocity=(0.0, 0.0, 2.0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), arm.origin))
    sheet = ph.Shell.plate(0.4, 0.3, 0.01, ph.Material(1e7, 1000.0), (2, 2), {"start": "hinged"})
    placed = model.add(sheet, "sheet", position=(1.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0))
    edge = placed["start"]
    model.connect(ph.Fixed(arm.point(edge.initial_position()), edge))
    refused(ph.VelocityError, "contradict", lambda: model.simulate(1e-3, 1e-4))
    motion = model.assemble().model.simulate(1e-3, 1e-4)
    position = motion.recording.position[0][1:]
    speed = motion.recording.velocity[0][motion.run.system.layout.span(1)].reshape(-1, 3)
    nodes = edge.point.fixed_nodes
    turning = np.cross(motion.angular_velocity(arm)[0], position[list(nodes)])
    assert len(nodes) == 3 and motion.momentum.angular[0, 2] == pytest.approx(0.1 * 2.0, rel=1e-9)
    assert speed[list(nodes)] == pytest.approx(turning, abs=1e-12)


def test_velocities_that_joints_leave_nothing_of_become_zero():
    """Not the round-off of those given, which the next check would find to contradict the joints."""
    for angle in np.linspace(0.1, 3.0, 12):
        model, along = ph.Model(dimension=2), np.array([np.cos(angle), np.sin(angle), 0])
        bar = model.add(BAR, "bar", 0.02 * along, angle + 0.01, (0.5, 0.2, 0), (0, 0, 2.0))
        model.connect(ph.Slider(model.ground.at((0, 0, 0)), bar.origin, axis=(0.7, 0.1, 0)))
        model.connect(ph.Spherical(model.ground.at(0.97 * along), bar.point((1, 0, 0))))
        after = model.assemble().model
        assert not after["bar"].velocity.any() and not after["bar"].angular_velocity.any()
        assert after.simulate(1e-3, 1e-3).energy.kinetic[0] == 0
