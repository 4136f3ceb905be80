"""Bodies from meshes against closed forms: inertia, answers to unit loads, frequencies, interfaces, places."""

import numpy as np
import pytest
import skfem

import phlexible as ph
from bodies.flexible.meshes import BAR, STEEL, bar, ends, grid

KINDS = {"triangles": (skfem.MeshTri, 2), "quadrilaterals": (skfem.MeshQuad, 2)}
KINDS |= {"tetrahedra": (skfem.MeshTet, 3), "hexahedra": (skfem.MeshHex, 3)}
LENGTH, HIGH, WIDE = BAR


def made(kind, order=2, **options):
    cell, dimension = KINDS[kind]
    sides = BAR[:dimension]
    thickness = {"thickness": WIDE} if dimension == 2 else {}
    return bar((6, 2, 2)[:dimension], cell, sides, order=order, **thickness, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_inertia_of_a_bar(kind):
    body = made(kind)
    mass = STEEL.density * LENGTH * HIGH * WIDE
    assert body.mass == pytest.approx(mass, rel=1e-12)
    assert body.center == pytest.approx(np.array([LENGTH / 2, 0, 0]), abs=1e-14)
    assert body.inertia[2, 2] == pytest.approx(mass * (LENGTH**2 + HIGH**2) / 12, rel=1e-12)
    if body.dimension == 3:
        assert body.inertia[0, 0] == pytest.approx(mass * (HIGH**2 + WIDE**2) / 12, rel=1e-12)


@pytest.mark.parametrize(("kind", "order"), [(kind, 2) for kind in KINDS] + [("triangles", 1), ("hexahedra", 1)])
@pytest.mark.parametrize("frame", ["start", "mean_axis", ("start", "end")])
@pytest.mark.filterwarnings("ignore:order=1")
def test_a_unit_pull_stretches_a_bar_by_l_over_ea(kind, order, frame):
    """Homogeneous strain is in every mesh, and the answers of both ends are in every basis, whatever holds it."""
    body = made(kind, order, frame=frame, modes=0)
    pull = body.points.interfaces.shapes[1, 0] - body.points.interfaces.shapes[0, 0]
    stretch = (pull**2 / body.frequencies**2).sum()
    assert stretch == pytest.approx(LENGTH / (STEEL.youngs_modulus * HIGH * WIDE), rel=1e-9)


@pytest.mark.parametrize("kind", ["quadrilaterals", "hexahedra"])
def test_a_unit_moment_bends_a_bar_by_l_over_ei(kind):
    body = made(kind, modes=0, frame="start")
    turn = body.points.interfaces.rotations[1, 2]
    modulus = STEEL.youngs_modulus * WIDE * HIGH**3 / 12
    assert (turn**2 / body.frequencies**2).sum() == pytest.approx(LENGTH / modulus, rel=2e-3)  # anticlastic, ends


def test_frequencies_of_a_cantilever_block():
    """Legendre-Ritz with 16 x 8 x 6 functions a component, within 3e-4; hexahedra 12 x 4 x 2."""
    mesh = grid(1.0, 0.2, 0.1, cells=(12, 4, 2))
    block = ph.FlexibleBody.from_mesh(
        mesh, ph.Material(1e6, 1000.0, 0.3), {"start": (ends(1.0)["start"], "rigid")}, modes=8, frame="start"
    )
    exact = [0.1015950704, 0.1980806778, 0.6090493839, 0.7372994777, 1.068930631, 1.577256831]
    assert block.frequencies[:6] * np.sqrt(1000.0 / 1e6) == pytest.approx(exact, rel=5e-3)


def test_effective_mass_of_a_bar_held_at_its_end():
    """8/pi^2 of the mass of a bar are in its first axial mode, 61.3 % in its first bending mode."""
    body = made("hexahedra", modes=20, frame="start")
    assert body.effective_mass.shape == (body.data.elastic_count, 6)
    assert body.effective_mass[:, 0].max() == pytest.approx(8 / np.pi**2, rel=0.02)
    assert body.effective_mass[:2, 1:3].sum(axis=1) == pytest.approx([0.613, 0.613], rel=0.01)
    assert made("hexahedra").effective_mass == pytest.approx(0, abs=1e-10)


PLATE = {"thickness": 0.01, "theory": "kirchhoff"}


@pytest.mark.parametrize("is_list", [False, True])
@pytest.mark.parametrize(
    ("kind", "across", "options"),
    [
        (skfem.MeshHex, (2, 1), {}),
        (skfem.MeshTet, (2, 2), {}),
        (skfem.MeshTri, (2,), {"thickness": 0.1}),
        (skfem.MeshQuad, (1,), PLATE),
        (skfem.MeshTri, (1,), PLATE),
        (skfem.MeshTri, (2,), {**PLATE, "element": "hhj"}),
    ],
)
def test_a_rigid_interface_has_elements_sides_edges_and_nodes(kind, across, options, is_list):
    """A strip of elements and an edge at the other end clamp the mesh as the rest without the strip is clamped."""

    def chosen(x):
        far = (x[0] > 1 - 1e-9) & ((x[2] < 0) if kind.elem.refdom.dim() == 3 else True)
        return (x[0] < 0.25 + 1e-9) | far

    found = []
    for start in (0, 2):
        sides = [np.linspace(-0.1, 0.1, count + 1) for count in across]
        mesh = kind.init_tensor(np.linspace(0, 1, 9)[start:], *sides)
        nodes = np.flatnonzero(chosen(mesh.p)) if is_list else chosen
        body = ph.FlexibleBody.from_mesh(mesh, STEEL, {"both": (nodes, "rigid")}, modes=3, frame="both", **options)
        found.append(body.frequencies[:2])
    assert found[0] == pytest.approx(found[1], rel=2e-4)


@pytest.mark.parametrize("element", ["shear", "hhj"])
def test_a_rim_and_a_rib_are_two_clamped_plates(element):
    """Leissa (1973): 24.58 / (1 / 2)^2 of a clamped plate of sides 1 and 1/2, in units of sqrt(D / rho h)."""
    edges = lambda x: (x[0] * (1 - x[0]) < 1e-9) | (np.abs(x[1]) * (0.5 - np.abs(x[1])) < 1e-9)  # noqa: E731
    options = {"interfaces": {"all": (edges, "rigid")}, "modes": 2, "frame": "all", "element": element}
    plate = ph.Plate(1.0, 1.0, 0.002, STEEL, (8, 8), **options)
    stiffness = STEEL.youngs_modulus * 0.002**2 / 12 / (1 - 0.3**2)
    assert plate.frequencies[0] / np.sqrt(stiffness / STEEL.density) == pytest.approx(98.3, rel=0.01)


def test_a_mean_that_leaves_nodes_out_is_refused():
    mesh = grid(*BAR, cells=(16, 4, 1))
    with pytest.raises(ph.ParameterError, match="the mean is over an area, which leaves out 5 of 15 chosen nodes"):
        start = ends(LENGTH)["start"]
        edge = ends(LENGTH)["end"]
        chosen = {"both": lambda x: start(x) | (edge(x) & (x[2] < -WIDE / 3))}
        ph.FlexibleBody.from_mesh(mesh, STEEL, chosen, modes=2)
    round_ = {"disc": lambda x: (x[2] < -WIDE / 3) & (np.hypot(x[0] - LENGTH / 2, x[1]) < 0.0205)}
    assert ph.FlexibleBody.from_mesh(mesh, STEEL, round_, modes=2).interfaces == ("disc",)


@pytest.mark.parametrize("kind", KINDS)
def test_a_place_in_the_mesh_moves_with_the_shape_functions(kind):
    """Between the nodes of an edge of a straight cell of second order: 3/8, 3/4, -1/8 of theirs."""
    body = made(kind)
    points, mesh = body.points, body.points.mesh
    node = {tuple(np.round(place, 12)): shape for place, shape in zip(mesh.nodes, points.shapes, strict=True)}
    y, size = HIGH / 2, LENGTH / 6
    z = WIDE / 2 if body.dimension == 3 else 0.0
    along = [node[tuple(np.round((size * (1 + k / 2), y, z), 12))] for k in range(3)]
    found = ph.Model(dimension=body.dimension).add(body, "bar").point((1.25 * size, y, z)).point
    expected = 3 / 8 * along[0] + 3 / 4 * along[1] - 1 / 8 * along[2]
    assert found.shapes == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())


def test_the_material_at_a_place_turns_with_half_the_curl():
    placed = ph.Model(dimension=2).add(made("quadrilaterals"), "bar")
    step, at = 1e-6, np.array([0.11, 0.004, 0.0])

    def moved(x, y):
        return placed.point(at + (x, y, 0)).point.shapes

    curl = (moved(step, 0)[1] - moved(-step, 0)[1] - moved(0, step)[0] + moved(0, -step)[0]) / (4 * step)
    assert placed.point(at).point.rotations[2] == pytest.approx(curl, abs=1e-6 * np.abs(curl).max())


def test_loads_act_on_interfaces_only():
    body = made("hexahedra")
    model = ph.Model()
    placed = model.add(body, "bar")
    with pytest.raises(ph.AttachmentError, match="not an interface of bar.*'start', 'end'"):
        model.apply(ph.Force(placed.point((0.1, 0, 0)), (1, 0, 0)))
    with pytest.raises(
        ph.AttachmentError, match="no interface 'tip'; it has 'start', 'end' .*interfaces={'tip': 'rigid'}"
    ):
        placed["tip"]
    with pytest.raises(ph.AttachmentError, match=r"outside the mesh; the nearest node is at \(0.3, 0, 0\)"):
        placed.point((0.301, 0, 0))
    with pytest.raises(ph.AttachmentError, match="have no start: joints .* interfaces, .*'start'"):
        _ = placed.start


def test_materials_of_groups():
    """Half steel, half aluminium: mass, centre and compliance of both in series."""
    mesh = grid(*BAR, cells=(6, 1, 1)).with_subdomains(
        {"left": lambda x: x[0] < 0.15, "right": lambda x: x[0] > 0.15}
    )
    steel, light = ph.Material(2.0e11, 7870.0, 0.0), ph.Material(7.0e10, 2700.0, 0.0)
    body = ph.FlexibleBody.from_mesh(mesh, {"left": steel, "right": light}, ends(LENGTH), modes=0, frame="start")
    area = HIGH * WIDE
    assert body.mass == pytest.approx((STEEL.density + light.density) / 2 * area * LENGTH, rel=1e-12)
    stretch = (body.points.interfaces.shapes[1, 0] ** 2 / body.frequencies**2).sum()
    parts = LENGTH / 2 / area * (1 / STEEL.youngs_modulus + 1 / light.youngs_modulus)
    assert stretch == pytest.approx(parts, rel=1e-9)


def test_summary_says_what_is_kept():
    body = made("hexahedra", modes=3)
    text = body.summary()
    assert f"{body.data.elastic_count} coordinates: 12 of loads" in text
    assert f"{body.frequencies[0] / (2 * np.pi):.6g}" in text
    assert "start, end" in repr(body)
    assert "0.0%" not in text and "carry neither mass nor inertia" in text
    assert "%" in made("hexahedra", modes=3, frame="start").summary()
