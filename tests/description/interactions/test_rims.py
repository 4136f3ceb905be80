"""Cylinders and tori are round where they touch planes: they roll, stand, lie and fall without corners."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph

G, R, AXES = 9.81, 0.05, np.eye(3)
WHEEL = ph.RigidBody.cylinder(R, 0.1, 1000.0, axis=(0, 1, 0))
RING = ph.RigidBody(0.3, (3e-4, 6e-4, 3e-4), shape=ph.Torus(0.04, 0.01, axis=(0, 1, 0)))
ASIDE = 0.5  # [rad], sides of a groove


def on_planes(wheel, normals, position, velocity=(0, 0, 0), spin=(0, 0, 0), rotation=AXES, turned=AXES):
    """A body on planes through the origin; all of the model turned."""
    model = ph.Model(gravity=turned @ (0, 0, -G))
    ground = model.ground.at((0, 0, 0))
    planes = [ph.Plane(ground, normal=turned @ np.asarray(each, dtype=float)) for each in normals]
    moving = {"velocity": turned @ velocity, "angular_velocity": turned @ spin}
    body = model.add(wheel, "wheel", position=turned @ position, rotation=turned @ rotation, **moving)
    model.apply(ph.Contact(body, planes, stiffness=2e5, friction=0.3, damping=2.0))
    return model, body


def speeds(model, body, along, step=2e-3):
    motion = model.simulate(3.0, step=step, progress=False)
    assert abs(motion.energy.balance_error).max() < 1e-12 * abs(motion.energy.total).max() + 1e-12
    return (motion.velocity(body.origin) @ along)[[len(motion.time) * k // 3 for k in (1, 2)] + [-1]]


@pytest.mark.parametrize(
    ("wheel", "tilt", "height", "share"),
    [
        (WHEEL, 0.0, R, 2 / 3),
        (WHEEL, ASIDE, R * (1 + np.tan(ASIDE)), 2 / 3),
        (RING, 0.0, R, 1 / (1 + 6e-4 / (0.3 * R**2))),
        (RING, ASIDE, 0.04 + 0.01 / np.cos(ASIDE), 1 / (1 + 6e-4 / (0.3 * (0.04 + 0.01 * np.cos(ASIDE)) ** 2))),
    ],
    ids=["cylinder", "cylinder in a groove", "torus", "torus in a groove"],
)
def test_a_wheel_that_slides_at_first_rolls_on_at_the_speed_of_textbooks(wheel, tilt, height, share):
    normals = [(0, side * np.sin(tilt), np.cos(tilt)) for side in (1, -1)[: 2 if tilt else 1]]
    model, body = on_planes(wheel, normals, (0, 0, height), (1, 0, 0))
    assert speeds(model, body, (1, 0, 0)) == pytest.approx(share, abs=1e-3)


@pytest.mark.parametrize("turn", [(0, 0, 0), (0.4, -1.1, 0.7)])
def test_a_wheel_rolls_down_a_slope_as_in_textbooks(turn):
    tilt = np.radians(10)
    normal, down = np.array([np.sin(tilt), 0, np.cos(tilt)]), np.array([np.cos(tilt), 0, -np.sin(tilt)])
    depth = 0.2 * G * np.cos(tilt) / 2e5  # it begins as deep as it rests
    turned = Rotation.from_rotvec(turn).as_matrix()
    model, body = on_planes(WHEEL, [normal], (R - depth) * normal, turned=turned)
    assert np.diff(speeds(model, body, turned @ down)) == pytest.approx(2 / 3 * G * np.sin(tilt), rel=1e-3)


@pytest.mark.parametrize(("degrees", "height"), [(0, R), (20, R), (44, R), (46, R)])
def test_a_cylinder_stands_up_from_small_tilts_and_lies_down_from_large_ones(degrees, height):
    """As long as it is thick it balances at 45 degrees."""
    tilt = np.radians(degrees)
    rotation = Rotation.from_rotvec([0, tilt, 0]) * Rotation.from_rotvec([np.pi / 2, 0, 0])
    high = R * (np.cos(tilt) + np.sin(tilt))
    model, body = on_planes(WHEEL, [(0, 0, 1)], (0, 0, high), rotation=rotation.as_matrix())
    motion = model.simulate(2.0, step=2e-3, progress=False)
    axis = motion.rotation(body)[-1] @ (0, 1, 0)
    assert motion.position(body.origin)[-1, 2] == pytest.approx(height, abs=1e-3)
    assert abs(axis[2]) == pytest.approx(1.0 if degrees < 45 else 0.0, abs=0.05)


@pytest.mark.parametrize(("body", "height", "radius"), [(WHEEL, R, 2 / 3 * R), (RING, 0.01, 0.04)])
def test_a_body_that_spins_on_its_flat_side_is_slowed_by_friction_at_its_mean_radius(body, height, radius):
    flat = Rotation.from_rotvec([np.pi / 2, 0, 0]).as_matrix()
    depth, moment = body.mass * G / 2e5, 0.3 * body.mass * G * radius
    model, body = on_planes(body, [(0, 0, 1)], (0, 0, height - depth), spin=(0, 0, 10.0), rotation=flat)
    slowed = -np.diff(model.simulate(0.1, step=1e-3, progress=False).angular_velocity(body)[[20, -1], 2])[0] / 0.08
    inertia = 6e-4 if radius == 0.04 else body.data.mass * R**2 / 2
    assert slowed == pytest.approx(moment / inertia, rel=1e-3)


def test_what_lies_and_stands_rests_as_deep_as_its_weight_presses_it():
    flat = Rotation.from_rotvec([np.pi / 2, 0, 0]).as_matrix()
    for body, rotation, height, rims in ((WHEEL, AXES, R, 2), (WHEEL, flat, R, 1), (RING, flat, 0.01, 1)):
        model, placed = on_planes(body, [(0, 0, 1)], (0, 0, height), rotation=rotation)
        rest = model.equilibrium().position(placed.origin)
        assert height - rest[2] == pytest.approx(body.mass * G / (rims * 2e5), rel=1e-9)


def test_a_wheel_rolls_in_the_plane_and_a_lying_cylinder_is_refused():
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    wheel = ph.RigidBody.cylinder(0.05, 0.02, 1000.0, axis=(0, 0, 1))
    wheel = model.add(wheel, "wheel", position=(0, 0.05, 0), velocity=(1.0, 0, 0))
    floor = ph.Plane(model.ground.at((0, 0, 0)), (0, 1, 0))
    model.apply(ph.Contact([wheel], [floor], stiffness=1e5, friction=0.3))
    motion = model.simulate(1.0, 1e-3, progress=False)
    assert motion.velocity(wheel.origin)[-1] == pytest.approx((2 / 3, 0, 0), abs=1e-3)
    lying = model.add(ph.RigidBody.cylinder(0.05, 0.02, 1000.0, axis=(1, 0, 0)), "lying", position=(0, 1, 0))
    with pytest.raises(ph.ModelError, match=r"lying: in the plane contacts support axis=\(0, 0, 1\)"):
        model.apply(ph.Contact([lying], [floor], stiffness=1e5))


RAIL = ph.Box((4.0, 0.04, 0.04))
NARROW = {
    "rail": RAIL,
    "post": ph.Box((0.04, 0.04, 0.04)),
    "rail of triangles": ph.TriangleMesh(RAIL.centred().vertices, RAIL.centred().triangles),
    "tube": ph.Cylinder(0.02, 4.0, axis=(1, 0, 0)),
    "ring": ph.Torus(0.03, 0.01),
}
WIDE = {
    "wheel": WHEEL,
    "log": ph.RigidBody.cylinder(R, 0.3, 1000.0, axis=(0, 1, 0)),
    "standing wheel": ph.RigidBody.cylinder(R, 0.1, 1000.0, axis=(0, 0, 1)),
    "box": ph.RigidBody.box((0.1, 0.1, 0.1), 1000.0),
    "ball": ph.RigidBody.sphere(R, 1000.0),
}


@pytest.mark.parametrize(
    ("wide", "name"), [(a, b) for a in WIDE for b in NARROW if b != "ring" or a not in ("ball", "log")]
)
def test_what_is_wider_than_a_surface_stays_on_it(wide, name):
    """Its own corners and rims are beside the surface."""
    for listed in (False, True):
        model = ph.Model(gravity=(0, 0, -G))
        shape, top = NARROW[name], 0.01 if name == "ring" else 0.02
        body = model.add(WIDE[wide], "body", position=(0, 0, top + R))
        surface = ph.Surface(model.ground.at((0, 0, 0)), shape)
        sides = ([body], [surface]) if listed else (body, surface)
        model.apply(ph.Contact(*sides, stiffness=2e5, friction=0.3))
        motion = model.simulate(0.1, 2e-3, progress=False)  # a free fall is 49 mm
        assert motion.position(body.origin)[-1, 2] == pytest.approx(top + R, abs=4e-4)


@pytest.mark.parametrize("name", ["rail", "rail of triangles"])
def test_a_wheel_that_is_wider_than_a_rail_is_round_on_it(name):
    model = ph.Model(gravity=(0, 0, -G))
    body = model.add(WHEEL, "wheel", position=(-1.0, 0, R + 0.02), velocity=(1, 0, 0))
    rail = ph.Surface(model.ground.at((0, 0, 0)), NARROW[name])
    model.apply(ph.Contact(body, rail, stiffness=2e5, friction=0.3, damping=2.0))
    assert speeds(model, body, (1, 0, 0)) == pytest.approx(2 / 3, abs=1e-3)
