"""Condensed Green-Lagrange strain against all nodes with St. Venant-Kirchhoff elements, and against beam theory."""

import numpy as np
import pytest

import phlexible as ph
from bodies.flexible.meshes import ends, grid
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
