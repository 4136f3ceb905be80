"""Meshed bodies that bend far and move, against all nodes, beam theory and geometrically exact beams."""

from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import phlexible as ph
from bodies.flexible.meshes import bar, ends, grid
from bodies.flexible.saint_venant import equilibrium
from phlexible.bodies.flexible.mesh_matrices import PlaneState as Plane, element_materials, mass_matrix
from phlexible.bodies.flexible.user_mesh import element_mesh, user_mesh

LENGTH, HIGH, THICK = 1.0, 0.02, 0.01
SOFT = ph.Material(1e9, 1000.0, 0.3)
GRID = grid(LENGTH, HIGH, cells=(30, 1))
MESH = element_mesh(user_mesh(GRID), 2)
MATERIALS = element_materials(SOFT, {}, MESH.cell_count, 2, Plane.STRESS, THICK)
START, END = (np.flatnonzero(where(MESH.nodes.T)) for where in ends(LENGTH).values())


def strip(**options):
    rigid = {name: (where, "rigid") for name, where in ends(LENGTH).items()}
    return ph.FlexibleBody.from_mesh(GRID, SOFT, rigid, thickness=THICK, **options)


def unknowns(nodes):
    return (2 * nodes[:, None] + np.arange(2)).ravel()


def fixed(model, port):
    model.connect(ph.Fixed(model.ground.at(port.initial_position()), port))


def test_a_clamped_strip_under_its_weight_hardens_like_the_full_model():
    """Deflection of one and a half thicknesses within 0.2 %; linear strain gives 2.5 times as much."""
    weight = 1000.0
    load = np.zeros(2 * MESH.node_count)
    load[1::2] = -weight * (mass_matrix(MESH, MATERIALS) @ np.ones(MESH.node_count))
    u = equilibrium(MESH, MATERIALS, unknowns(np.concatenate([START, END])), load)
    middle = int(np.abs(MESH.nodes - (LENGTH / 2, 0, 0)).sum(axis=1).argmin())
    assert -u[middle, 1] == pytest.approx(1.5 * HIGH, rel=0.05)
    found = {}
    for strain in ("green_lagrange", "linear"):
        model = ph.Model(gravity=(0, -weight, 0), dimension=2)
        part = model.add(strip(modes=6, strain=strain), "strip")
        fixed(model, part["start"])
        fixed(model, part["end"])
        still = model.equilibrium()
        found[strain] = still.position(part.point((LENGTH / 2, 0, 0)))[1]
        if strain == "green_lagrange":
            tension = still.motion.mesh_stress(part, [middle]).components[0, 0, 0]
    assert found["green_lagrange"] == pytest.approx(u[middle, 1], rel=2e-3)
    assert found["linear"] < 2.2 * u[middle, 1]
    line = np.flatnonzero(np.abs(MESH.nodes[:, 1]) < 1e-12)
    line = line[np.argsort(MESH.nodes[line, 0])]
    longer = np.linalg.norm(np.diff(MESH.nodes[line, :2] + u[line], axis=0), axis=1).sum() - LENGTH
    assert tension == pytest.approx(SOFT.youngs_modulus * longer / LENGTH, rel=0.01)


def tip_error(deflection, exact, **options):
    """Of a cantilever under a force at its end, relative."""
    model = ph.Model(dimension=2)
    part = model.add(strip(modes=6, **options), "strip")
    fixed(model, part["start"])
    model.apply(ph.Force(part["end"], (0, force_of(deflection), 0)))
    return model.equilibrium().position(part["end"])[1] / exact - 1


def force_of(deflection):
    return 3 * SOFT.youngs_modulus * THICK * HIGH**3 / 12 * deflection


def exact_tip(deflection):
    load = np.zeros(2 * MESH.node_count)
    load[2 * END[np.abs(MESH.nodes[END, 1]).argmin()] + 1] = force_of(deflection)
    return equilibrium(MESH, MATERIALS, unknowns(START), load)[END].mean(axis=0)[1]


FRAMES = {"mean_axis": 3e-3, ("start", "end"): 3e-3, "start": 6e-3}


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
def test_a_cantilever_is_off_by_the_square_of_its_slope():
    """0.2 % at a deflection of 5 % of the length, four times as much at 10 %, in the frames for it.

    With modal derivatives it is within 0.05 % at 10 % and 20 %.
    """
    exact = {deflection: exact_tip(deflection) for deflection in (0.05, 0.1, 0.2)}
    for frame, most in FRAMES.items():
        errors = [tip_error(deflection, exact[deflection], frame=frame) for deflection in (0.05, 0.1)]
        assert abs(errors[0]) < most
        assert 3.0 < errors[1] / errors[0] < 4.6
        for deflection in (0.1, 0.2):
            assert abs(tip_error(deflection, exact[deflection], frame=frame, modal_derivatives=True)) < 5e-4


@pytest.mark.parametrize(("speed", "flap", "lag"), [(1, 3.6816, 3.5432), (2, 4.1373, 3.6218), (4, 5.5850, 3.8977)])
def test_a_spinning_cantilever_of_hexahedra_has_the_frequencies_of_beam_theory(speed, flap, lag):
    """Out of and in the plane of rotation, in units of sqrt(EI / (rho A l^4)), within 0.1 %."""
    high = 0.01
    unit = np.sqrt(1e9 * high**2 / 12 / 1000.0)
    mesh, hub = grid(1.0, high, high, cells=(24, 1, 1)), {"hub": (ends(1.0)["start"], "rigid")}
    body = ph.FlexibleBody.from_mesh(mesh, ph.Material(1e9, 1000.0, 0.0), hub, modes=6)
    model = ph.Model()
    blade = model.add(body, "blade")
    hub = model.ground.moving(lambda t: (0, 0, 0), rotation=lambda t: speed * unit * t)
    model.connect(ph.Fixed(hub, blade["hub"]))
    found = model.linearize(at="steady_rotation").modes(2).frequencies / unit
    assert found == pytest.approx([lag, flap], rel=1e-3)


REFERENCE = Path(__file__).parents[2] / "gallery" / "reference"
DIAMETER, BAR_LENGTH = 6e-3, 0.3
AREA, MOMENT = np.pi * DIAMETER**2 / 4, np.pi * DIAMETER**4 / 64
BAR_HEIGHT = np.sqrt(12 * MOMENT / AREA)  # of the rectangle with area and second moment of the round section


def coupler(dimension, **options):
    """24 x 2 quadrilaterals or 24 x 1 x 1 hexahedra of second order; Poisson's ratio 0, as a beam."""
    mesh = grid(
        *(BAR_LENGTH, BAR_HEIGHT, AREA / BAR_HEIGHT)[:dimension], cells=(24, 2) if dimension == 2 else (24, 1, 1)
    )
    thickness = AREA / BAR_HEIGHT if dimension == 2 else None
    material = ph.Material(0.2e12, 7870.0, 0.0)
    return ph.FlexibleBody.from_mesh(mesh, material, ends(BAR_LENGTH), thickness=thickness, **options)


def crank_slider(body, radius=0.15, speed=150.0):
    """The crank turns one end of the coupler, the slider of the other end moves along x."""
    model = ph.Model(dimension=body.dimension)
    part = model.add(body, "coupler", position=(radius, 0, 0))
    slider = model.add(ph.PointMass(0.033378), "slider", position=(radius + BAR_LENGTH, 0, 0))
    pin = model.ground.moving(
        lambda t: (radius * np.cos(speed * t), radius * np.sin(speed * t), 0.0),
        velocity=lambda t: (-radius * speed * np.sin(speed * t), radius * speed * np.cos(speed * t), 0.0),
    )
    model.connect(ph.Revolute(pin, part["start"]))
    model.connect((ph.Revolute if body.dimension == 2 else ph.Spherical)(part["end"], slider.origin))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), slider.origin, axis=(1, 0, 0)))
    return model


@pytest.mark.parametrize(
    ("dimension", "options"),
    [(2, {"modes": 5}), (2, {"modes": 5, "frame": ("start", "end"), "moments": False}), (3, {"modes": 4})],
)
def test_the_coupler_bends_like_a_geometrically_exact_beam(dimension, options):
    """At every time of two turns, from its chord; linear strain is 28 % off."""
    time, bend = np.loadtxt(
        REFERENCE / "crank_slider_geometrically_exact.csv", delimiter=",", skiprows=1, usecols=(0, 1)
    ).T
    time, bend = time[time <= 0.1 + 1e-9], bend[time <= 0.1 + 1e-9]
    model = crank_slider(coupler(dimension, **options))
    motion = model.simulate(0.1, 2e-5, progress=False)
    part = model["coupler"]
    start, end, middle = (
        motion.position(p) for p in (part["start"], part["end"], part.point((BAR_LENGTH / 2, 0, 0)))
    )
    chord = (end - start) / np.linalg.norm(end - start, axis=1)[:, None]
    own = np.cross(chord, middle - start)[:, 2] / BAR_LENGTH
    assert np.abs(CubicSpline(motion.time, own)(time) - bend).max() <= 0.005 * np.abs(bend).max()
    assert np.abs(motion.energy.balance_error).max() <= 1e-13 * motion.energy.kinetic.max()


def spun_up_tip(body):
    """Farthest place of the tip from where the hub would carry it, across the blade [m]."""
    angle = next(iter(ph.gallery.spinning_beam().joints)).first.rotation
    spun = ph.Model(dimension=body.dimension)
    blade = spun.add(body, "blade")
    spun.connect(ph.Fixed(spun.ground.moving(lambda t: (0.0, 0.0, 0.0), rotation=angle), blade["start"]))
    motion = spun.simulate(8.0, 0.02, progress=False)
    hub = np.array([np.asarray(angle(t)) for t in motion.time])
    return np.einsum("ta,ta->t", hub[:, :, 1], motion.position(blade["end"])).min()


def blade(dimension, **options):
    """8 m; in space of a square section with the same E I and rho A, so that it does not buckle sideways."""
    length, modulus, area, moment, density = 8.0, 6.895e10, 7.2968e-5, 8.2181e-9, 2766.67
    high = np.sqrt(12 * moment / area)
    if dimension == 2:
        mesh, material = grid(length, high, cells=(48, 1)), ph.Material(modulus, density, 0.0)
        return ph.FlexibleBody.from_mesh(mesh, material, ends(length), thickness=area / high, **options)
    material = ph.Material(modulus * moment / (high**4 / 12), density * area / high**2, 0.0)
    return ph.FlexibleBody.from_mesh(grid(length, high, high, cells=(48, 1, 1)), material, ends(length), **options)


GEOMETRICALLY_EXACT = -0.7506  # m, of a beam in 8 parts


@pytest.mark.parametrize(
    ("dimension", "options", "digits"),
    [
        pytest.param(2, {"modes": 5}, 0.015, marks=pytest.mark.thorough),
        (3, {"modes": 10}, 0.015),
        (2, {"modes": 5, "modal_derivatives": True}, 2e-3),
    ],
)
def test_a_blade_that_is_spun_up_lags_as_far_as_an_exact_beam(dimension, options, digits):
    """Averaged interfaces; with modal derivatives, but as if their nodes did not move when they turn, 2 % off."""
    assert spun_up_tip(blade(dimension, **options)) == pytest.approx(GEOMETRICALLY_EXACT, rel=digits)


def test_without_the_answers_to_inertial_loads_it_is_too_stiff():
    """A frame at the root needs them most: with them 1.1 % too far, without 13 % too little."""
    assert spun_up_tip(blade(2, modes=5, frame="start", inertial_shapes=False)) > 0.9 * GEOMETRICALLY_EXACT


@pytest.mark.parametrize("dimension", [2, 3])
def test_frames_agree(dimension):
    """The same bar swung by its end: where its tip goes does not depend on what holds the elastic coordinates."""
    paths = []
    for frame in ("mean_axis", "start", ("start", "end")):
        sides = (0.3, 0.01, 0.01)[:dimension]
        thickness = {"thickness": 0.01} if dimension == 2 else {}
        model = ph.Model(gravity=(0, -9.81, 0), dimension=dimension)
        part = model.add(bar((6, 1, 1)[:dimension], sides=sides, modes=8, frame=frame, **thickness), "bar")
        model.connect(ph.Revolute(model.ground.at((0, 0, 0)), part["start"]))
        model.apply(ph.Force(part["end"], lambda t: (0, 40 * np.sin(300 * t), 0)))
        motion = model.simulate(0.05, 1e-4, progress=False)
        tip, start = motion.position(part["end"]), motion.position(part["start"])
        paths.append(tip)
        assert np.abs(start).max() < 1e-12
    reach = np.abs(paths[0] - (0.3, 0, 0)).max()
    assert reach > 0.05
    for other in paths[1:]:
        assert np.abs(other - paths[0]).max() < 1e-4 * reach
