"""Plates as bodies (docs/theory.md, 3): places, mass, interfaces, stress, files, and what is refused."""

import numpy as np
import pytest
import skfem

import phlexible as ph
from mechanisms import grounded
from phlexible.bodies.flexible import plate_elements
from phlexible.bodies.flexible.mesh_matrices import PlaneState as Plane, element_materials
from phlexible.bodies.flexible.moment_elements import mixed_bending
from phlexible.bodies.flexible.user_mesh import element_mesh, user_mesh
from refusals import refused

STEEL = ph.Material(2.0e11, 8000.0, 0.3)
SIDES = (1.2, 0.8, 0.01)


def plate(**options):
    chosen = {"elements": (3, 2), "modes": 4, "interfaces": {"start": "rigid", "end": "average"}, **options}
    return ph.Plate(*SIDES, STEEL, **chosen)


def test_mass_centre_and_inertia_are_those_of_the_block():
    length, width, thickness = SIDES
    body = plate(theory="mindlin")
    mass = length * width * thickness * STEEL.density
    squares = np.array([width**2 + thickness**2, length**2 + thickness**2, length**2 + width**2])
    assert body.mass == pytest.approx(mass)
    assert body.center == pytest.approx([length / 2, 0, 0], abs=1e-12)
    assert np.diag(body.inertia) == pytest.approx(mass * squares / 12, rel=1e-9)


def test_places_on_both_surfaces_and_in_between():
    """A point off the middle surface moves with the turn of its normal; nodes lie on both surfaces."""
    body = plate()
    part = ph.Model().add(body, "plate")
    above, below, middle = (part.point((0.7, 0.2, z)).point for z in (0.005, -0.005, 0.0))
    assert middle.shapes == pytest.approx((above.shapes + below.shapes) / 2, abs=1e-12)
    turned = np.cross(middle.rotations, np.array([0, 0, 0.005]), axisa=0).T
    assert above.shapes - middle.shapes == pytest.approx(turned, abs=1e-12)
    step = 1e-6  # the normal follows the slope: no shear
    slope = (part.point((0.7 + step, 0.2, 0)).point.shapes[2] - middle.shapes[2]) / step
    assert slope[0] == pytest.approx(-middle.rotations[1, 0], rel=0.01)  # of the first bending
    node = body.points.nearest(np.array([1.2, 0.4, -0.005]))
    corner = part.point(body.points.nodes[node]).point
    assert corner.shapes == pytest.approx(body.points.shapes[node], abs=1e-12)
    refused(ph.AttachmentError, "nearest node is at", lambda: part.point((0.7, 0.2, 0.02)))


@pytest.mark.parametrize(
    ("region", "kind"),
    [(name, kind) for name in ("start", "boundary", "end left") for kind in ("average", "rigid")]
    + [("face", "average")],
)
def test_interfaces_follow_a_rigid_motion_and_hold_what_they_carry(region, kind):
    """A plate on one interface that carries its weight: the reaction is that weight and its moment."""
    model = ph.Model(gravity=(0, 0, -9.81))
    body = plate(interfaces={region: kind}, modes=2)
    part = model.add(body, "plate")
    where = part[region].initial_position()
    joint = model.connect(ph.Fixed(model.ground.at(where), part[region]))
    still = model.equilibrium().motion
    weight = 9.81 * body.mass
    assert still.reaction(joint)[0] == pytest.approx([0, 0, weight], abs=1e-6 * weight)
    sag = still.position(part.point((0.6, 0, 0)))[0] - (0.6, 0, 0)
    moment = np.cross(body.center + sag - where, [0, 0, weight])
    assert still.reaction_moment(joint)[0] == pytest.approx(moment, abs=2e-3 * weight)


@pytest.mark.parametrize("element", ["shear", "hhj"])
def test_stress_of_a_clamped_plate_under_pressure(element):
    """Timoshenko and Woinowsky-Krieger: moments 0.0231 q a^2 in the middle and -0.0513 q a^2 at the edges."""
    edges = {"boundary": "rigid", "face": "average"}
    options = {"frame": "boundary", "modes": 2, "moments": False, "element": element}
    body = ph.Plate(1.0, 1.0, 0.01, STEEL, (14, 14), interfaces=edges, **options)
    model, part, _ = grounded(body, at=(0.5, 0, 0), by="boundary", name="plate")
    pressure = 100.0
    model.apply(ph.Pressure(part["face"], pressure))
    still = model.equilibrium().motion
    upper, lower = (body.points.nearest(np.array([0.5, 0.0, z])) for z in (0.005, -0.005))
    edge = body.points.nearest(np.array([1.0, 0.0, 0.005]))
    stress = still.mesh_stress(part, [upper, lower, edge]).components[0, :, 0]
    of_moment = 6 * pressure / 0.01**2
    assert stress[0] == pytest.approx(-0.0231 * of_moment, rel=0.02)
    assert stress[1] == pytest.approx(-stress[0], rel=1e-6)
    assert stress[2] == pytest.approx(0.0513 * of_moment, rel=0.03)


def test_turns_of_edges_give_rotations_and_moments_of_nodes():
    """Rigid motions are those of nodes; w = x^2 - 3 x y has its gradient and moments -D grad grad w."""
    given = skfem.MeshTri().refined(2)
    inner = (np.abs(given.p - 0.5) < 0.49).all(axis=0)
    shaken = given.p + 0.05 * inner * np.random.default_rng(0).normal(size=given.p.shape)
    mesh = element_mesh(user_mesh(skfem.MeshTri(shaken, given.t)), 2)
    materials = element_materials(STEEL, {}, mesh.cell_count, 2, Plane.STRESS, 0.01)
    section = plate_elements.plate_section(
        mesh, materials, plate_elements.PlateTheory.KIRCHHOFF, plate_elements.PlateElement.HHJ
    )
    bent, nodal = mixed_bending(mesh, section), plate_elements.plate_unknowns(mesh)
    assert bent.nodal @ bent.unknowns.rigid_fields() == pytest.approx(nodal.rigid_fields(), abs=1e-12)
    x, y = mesh.nodes[:, :2].T
    w, w_x, w_y = x**2 - 3 * x * y, 2 * x - 3 * y, -3 * x
    ends = mesh.vertex_nodes[mesh.mesh.facets].T.ravel()
    axes = bent.unknowns.axes[3 * len(x) :]
    q = np.zeros(len(bent.unknowns.node))
    q[2 : 3 * len(x) : 3] = w
    q[3 * len(x) :] = axes[:, 0] * w_y[ends] - axes[:, 1] * w_x[ends]
    found = (bent.nodal @ q).reshape(-1, 5)
    assert found[:, 2:] == pytest.approx(np.column_stack([w, w_y, -w_x]), abs=1e-12)
    moments = -section.bending[0] @ (2.0, 0.0, -6.0)  # of xx, yy, 2 xy
    assert (bent.moments @ q).reshape(-1, 3) == pytest.approx(np.tile(moments, (len(x), 1)), rel=1e-10)
    assert q @ (bent.stiffness @ q) == pytest.approx(-moments @ (2.0, 0.0, -6.0), rel=1e-10)


@pytest.mark.parametrize("element", ["shear", "hhj"])
def test_files_and_series_hold_plates(tmp_path, element):
    model, part, _ = grounded(plate(element=element), by="start", name="plate")
    model.apply(ph.Force(part["end"], (0, 0, 5.0)))
    motion = model.simulate(2e-3, 1e-3, progress=False)
    motion.save(tmp_path / "run.h5")
    again = ph.Motion.load(tmp_path / "run.h5")
    same = again["plate"]
    assert again.position(same["end"]) == pytest.approx(motion.position(part["end"]), abs=0)
    assert again.mesh_stress(same).von_mises == pytest.approx(motion.mesh_stress(part).von_mises, rel=1e-12)
    motion.export(tmp_path / "run.pvd")
    import meshio

    mesh = meshio.read(tmp_path / "run_0_00002.vtu")
    assert len(mesh.points) == len(part.body.points.nodes)
    assert set(np.concatenate([each.data.ravel() for each in mesh.cells])) == set(range(len(mesh.points)))
    assert np.abs(mesh.point_data["elastic_displacement"]).max() > 0


@pytest.mark.parametrize("element", ["shear", "hhj"])
def test_a_smaller_basis_of_a_plate(element):
    """All coordinates in another order and mixture are the same plate."""
    body = plate(modes=3, element=element)
    n = body.data.elastic_count
    same = body.reduced(np.random.default_rng(0).normal(size=(n, n)))
    assert same.frequencies == pytest.approx(body.frequencies, rel=1e-6)
    eta = 3.0 * np.random.default_rng(1).normal(size=n) / body.frequencies  # a few thicknesses
    chosen = np.linalg.lstsq(same.points.shapes.reshape(-1, n), body.points.shapes.reshape(-1, n) @ eta)[0]
    if body.points.moments is not None:
        moments = same.points.moments @ chosen
        assert moments == pytest.approx(body.points.moments @ eta, abs=1e-6 * np.abs(moments).max())
    energies = []
    for data, coordinates in ((body.data, eta), (same.data, chosen)):
        strain = data.strain
        squares = strain.factors * (strain.squares @ coordinates) ** 2 / 2
        eps = strain.rows @ coordinates + np.bincount(strain.square_strain, squares, minlength=len(strain.rows))
        energies.append(coordinates @ strain.stiffness @ coordinates / 2 + strain.weights @ eps**2 / 2)
    assert energies[1] == pytest.approx(energies[0], rel=1e-3)


def test_quadratic_strains_do_not_see_a_turn_in_the_plane():
    """Q(turn, phi) = -B (e_z x phi) of (3.18), for all kinds of strain; smooth fields, so that shear is exact."""
    mesh = element_mesh(user_mesh(skfem.MeshQuad.init_tensor(np.linspace(0, 1.2, 4), np.linspace(-0.4, 0.4, 3))), 2)
    materials = element_materials(STEEL, {}, mesh.cell_count, 2, Plane.STRESS, 0.2)
    section = plate_elements.plate_section(mesh, materials, plate_elements.PlateTheory.MINDLIN)
    unknowns, rng = plate_elements.plate_unknowns(mesh), np.random.default_rng(0)
    x, y, _ = mesh.nodes.T
    basis = np.array([np.ones_like(x), x, y, x * x, x * y, y * y])
    fields = rng.normal(size=(3, 5, 6))
    fields[:, 3:, 3:] = 0  # linear rotations
    nodal = np.einsum("fcm,mN->Ncf", fields, basis)
    turned = np.stack([-nodal[:, 1], nodal[:, 0], 0 * nodal[:, 2], -nodal[:, 4], nodal[:, 3]], axis=1)
    shapes, moved = (each.reshape(-1, 3) for each in (nodal, turned))
    spin = unknowns.rotation(2)
    work = plate_elements.plate_geometric_stiffness(mesh, section, np.column_stack([shapes, spin]))[:3, 3, :3]
    expected = -(plate_elements.plate_stiffness(mesh, section) @ shapes).T @ moved
    assert work == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())


def meshed(mesh, interfaces=None, thickness=0.1, **options):
    return ph.FlexibleBody.from_mesh(mesh, STEEL, interfaces, thickness=thickness, **options)


HHJ = {"theory": "kirchhoff", "element": "hhj"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plate(interfaces={"top": "rigid"}), "a plate has 'start', 'end'"),
        (lambda: plate(interfaces={"start": "welded"}), "kind of interface 'start'"),
        (lambda: plate(interfaces={"start": "hinged"}), "lies on one line and is hinged"),
        (lambda: plate(interfaces={"start": "rigid", "left": "rigid"}), "both rigid and share"),
        (lambda: plate(interfaces={"one": ([0], "rigid")}), "cover no side"),
        (lambda: plate(element="hhj", theory="mindlin"), "theory must be \"kirchhoff\", got 'mindlin'"),
        (lambda: meshed(skfem.MeshQuad(), **HHJ), "needs straight triangles, this mesh has quadrilaterals"),
        (lambda: meshed(skfem.MeshTri2.init_circle(1), **HHJ), "this mesh has curved ones"),
        (lambda: plate().discretize(2), "cannot move in a model in the plane"),
        (lambda: meshed(skfem.MeshTet(), thickness=None, theory="mindlin"), "a plate is made of a plane mesh"),
        (lambda: meshed(skfem.MeshQuad(), theory="mindlin", order=1), "order must be 2"),
        (lambda: meshed(skfem.MeshQuad(), {"a": ([0, 1], "hinged")}), '"hinged" is for plates'),
    ],
)
def test_what_is_no_plate_is_refused(call, message):
    refused(ph.ParameterError, message, call)
