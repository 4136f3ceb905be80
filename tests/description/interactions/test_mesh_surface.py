"""The surface of meshed bodies and plates in contacts: a bar on a wall, energy and momenta, files, errors."""

import numpy as np
import pytest
import skfem

import phlexible as ph
from description.interactions.test_contact_of_many import ledger, solution_error

LENGTH, SPEED_OF_SOUND = 1.0, 1000.0


def bar(modes, interfaces=None):
    """A bar whose waves are those of a line."""
    mesh = skfem.MeshHex.init_tensor(*2 * (np.linspace(0, 0.1, 3),), np.linspace(0, LENGTH, 21))
    material = ph.Material(1e3 * SPEED_OF_SOUND**2, 1e3, poissons_ratio=0.0)
    return ph.FlexibleBody.from_mesh(mesh, material, modes=modes, interfaces=interfaces)


def low(x):
    return x[2] < 1e-6


@pytest.mark.parametrize(
    ("modes", "interfaces", "late", "rebound"),
    [(10, None, 0.8, 0.85), (40, None, 0.98, 0.999), (0, {"foot": low}, 0.92, 0.98)],
    ids=["10 modes", "40 modes", "answer of the foot"],
)
def test_an_elastic_bar_stays_on_a_wall_for_twice_the_way_of_sound(modes, interfaces, late, rebound):
    """Saint-Venant: 2 L / c, and flies back as fast; the answer of the foot alone does more than ten modes."""
    model = ph.Model()
    body = model.add(bar(modes, interfaces), "bar", position=(0, 0, 1e-4), velocity=(0, 0, -1.0))
    foot, wall = ph.MeshSurface(body, where=low), ph.Plane(model.ground.at((0, 0, 0)))
    assert foot.positions[:, 2] == pytest.approx(np.zeros(9), abs=1e-12)
    model.apply(ph.Contact(foot, wall, stiffness=1e8, restitution=1))
    motion = model.simulate(0.004, 2e-5, progress=False)
    touches = np.ptp(motion.time[motion.energy.spring > 1e-9])
    assert touches == pytest.approx(late * 2 * LENGTH / SPEED_OF_SOUND, rel=0.02)
    assert motion.momentum.linear[-1, 2] / body.body.mass == pytest.approx(rebound, abs=0.01)
    assert ledger(motion) <= 1e-11


def plate(model, **options):
    material = ph.Material(1e9, 1000.0, poissons_ratio=0.3)
    return model.add(
        ph.Plate(0.4, 0.3, 0.01, material, elements=(4, 3), modes=6, interfaces={}), "plate", **options
    )


@pytest.mark.parametrize("friction", [0.0, 0.4])
@pytest.mark.parametrize("kind", ["bar", "plate"])
def test_energy_and_momenta_hold_where_free_bodies_meet_a_meshed_one(kind, friction, tmp_path):
    """A ball, which needs spheres at the corners, and a box; from files, too."""
    model = ph.Model()
    spin = {"angular_velocity": (0.3, 0.2, 0.5)}
    if kind == "bar":
        body, above = model.add(bar(12), "bar", **spin), (0.05, 0.05, 1.13)
    else:
        body, above = plate(model, **spin), (0.2, 0.05, 0.085)
    ball = model.add(ph.RigidBody.sphere(0.07, 300.0), position=above, velocity=(0.1, 0.05, -1.0))
    brick = ph.RigidBody.box((0.2, 0.1, 0.1), 300.0)
    box = model.add(brick, position=(above[0], 0.03, -0.07), velocity=(0.0, 0.1, 1.0))
    law = {"stiffness": 2e4, "friction": friction, "restitution": 1}
    model.apply(ph.Contact([ball, box], ph.MeshSurface(body), second_radius=0.005, **law))
    motion = model.simulate(0.05, 1e-3, progress=False)
    assert motion.contact_steps[-1] > 8 and ledger(motion) <= 1e-12
    assert (motion.energy.dissipated[-1] > 1e-6) == (friction > 0)
    assert np.abs(motion.elastic_coordinates(body)).max() > 1e-6
    for momentum in (motion.momentum.linear, motion.momentum.angular):
        assert np.ptp(momentum, axis=0) == pytest.approx(0, abs=1e-12)
    assert solution_error(model, motion, 1e-4) <= 1e-3
    motion.save(tmp_path / "run.h5")
    assert np.array_equal(ph.Motion.load(tmp_path / "run.h5").energy.spring, motion.energy.spring)


def test_a_plate_that_bends_touches_the_floor_with_its_middle():
    """Held at both ends, which are its interfaces, it would sag by 4 mm and is 3 mm above the floor."""
    lowest = []
    for whole in (True, False):
        model = ph.Model(gravity=(0, 0, -9.81))
        ends = {"left": lambda x: x[0] < 1e-6, "right": lambda x: x[0] > 0.4 - 1e-6}
        material = ph.Material(1e8, 1000.0, poissons_ratio=0.3)
        thin = ph.Plate(0.4, 0.1, 0.002, material, elements=(4, 1), modes=2, interfaces=ends)
        body = model.add(thin, "plate", position=(0, 0, 0.004))
        for end in ends:
            model.connect(ph.Fixed(model.ground.at(body[end].initial_position()), body[end]))
        floor = ph.Plane(model.ground.at((0, 0, 0)))
        model.apply(ph.Contact(body if whole else ph.MeshSurface(body), floor, stiffness=1e4))
        motion = model.simulate(0.1, 2e-3, progress=False)
        assert np.abs(motion.energy.balance_error).max() <= 1e-13 and motion.contact_steps[-1] > 0
        lowest.append(motion.position(body.point((0.2, 0, -0.001)))[:, 2].min())
    assert -3e-4 < lowest[0] < 0 and lowest[0] == lowest[1]


def test_what_has_no_such_surface_is_refused_by_name():
    model = ph.Model()
    ball, body = model.add(ph.RigidBody.sphere(0.1, 500.0), "ball"), model.add(bar(4), "bar", position=(1, 0, 0))
    with pytest.raises(ph.ModelError, match=r"must be a placed FlexibleBody or Plate, got PlacedBody\('ball'"):
        ph.MeshSurface(ball)
    with pytest.raises(ph.ParameterError, match="where.*must return True or False for each place"):
        ph.MeshSurface(body, where=lambda x: 1.0)
    with pytest.raises(ph.ModelError, match=r"MeshSurface\(bar\) has no places"):
        ph.MeshSurface(body, where=lambda x: x[2] < -1.0)
