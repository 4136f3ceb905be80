"""Frequencies of plates against exact ones and the Legendre-Ritz method; omega a^2 sqrt(rho h / D), nu = 0.3."""

import numpy as np
import pytest
import skfem
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh, spsolve

import phlexible as ph
from phlexible.bodies.flexible.mesh_matrices import PlaneState as Plane, element_materials, mass_matrix
from phlexible.bodies.flexible.plate_elements import PlateTheory, plate_mass, plate_section, plate_stiffness
from phlexible.bodies.flexible.user_mesh import element_mesh, user_mesh
from phlexible.papers import thin_plate

STEEL = ph.Material(2.0e11, 8000.0, 0.3)
# Leissa's cases of square plates (1973), computed anew by 22 Legendre polynomials a direction.
SUPPORTS = {
    "hinged": ({"boundary": "hinged"}, "boundary", [19.7392, 49.3480, 49.3480, 78.9568, 98.6960, 98.6960]),
    "clamped": ({"boundary": "rigid"}, "boundary", [35.98519, 73.39385, 73.39385, 108.2165, 131.5808, 132.2048]),
    "free": ({}, "mean_axis", [13.468197, 19.596137, 24.270201, 34.800891, 34.800891, 61.093234]),
    "cantilever": ({"start": "rigid"}, "start", [3.471008, 8.506286, 21.28409, 27.19874, 30.95460, 54.18437]),
}


def unit(thickness, width=1.0):
    bending = STEEL.youngs_modulus * thickness**3 / 12 / (1 - STEEL.poissons_ratio**2)
    return np.sqrt(bending / (STEEL.density * thickness)) / width**2


def frequencies(support, cells, thickness=1e-3, element="shear"):
    edges, frame, exact = SUPPORTS[support]
    options = {"modes": 8, "strain": "linear", "inertial_shapes": False, "element": element}
    plate = ph.Plate(1.0, 1.0, thickness, STEEL, (cells, cells), interfaces=edges, frame=frame, **options)
    return plate.frequencies[:6] / unit(thickness), np.array(exact)


@pytest.mark.parametrize("support", SUPPORTS)
def test_thin_plates_do_not_lock_and_converge_with_the_fourth_power(support):
    """Thickness 1/1000 of the width; 0.5 % with 10 x 10 elements."""
    found, exact = frequencies(support, 10)
    assert found == pytest.approx(exact, rel=5e-3)
    coarse, fine = (frequencies(support, cells)[0] / exact - 1 for cells in (4, 8))
    if support == "cantilever":  # corners of a clamped and a free edge: less smooth
        assert (coarse[2:] / fine[2:] > 7).all()
    else:
        assert (coarse[1:] / fine[1:] > 11).all()


@pytest.mark.parametrize("support", SUPPORTS)
def test_moments_as_unknowns_lead_to_the_frequencies_of_the_mixed_model(support):
    """Without the moments of neighbours joined, as ``thin_plate`` has them; but for the inertia of rotation, 1e-6.

    From below where those of Plate are from above; of the fourth order.
    """
    found, exact = frequencies(support, 8, element="hhj")
    lines = np.linspace(0, 1, 9)
    mesh = skfem.MeshTri.init_tensor(lines, lines).with_boundaries(
        {"start": lambda x: x[0] < 1e-9, "rim": lambda x: x[0] > -1}
    )
    edges = {"hinged": {"supported": "rim"}, "clamped": {"clamped": "rim"}, "cantilever": {"clamped": "start"}}
    mixed = thin_plate(mesh, STEEL.youngs_modulus, 0.3, STEEL.density, 1e-3, **edges.get(support, {}))
    v, m = (mixed.state_slice(name) for name in ("velocity", "moment"))
    rate = mixed.structure[m, v]
    stiffness = (rate.T @ spsolve(mixed.descriptor[m, m].tocsc(), rate.tocsc())).toarray()
    rigid = 3 if support == "free" else 0
    squares = eigh(stiffness, mixed.descriptor[v, v].toarray(), eigvals_only=True)[rigid : rigid + 6]
    assert found == pytest.approx(np.sqrt(squares) / unit(1e-3), rel=1e-5)
    assert found == pytest.approx(exact, rel=5e-3)
    if support != "hinged":
        assert (found < exact).all() and (frequencies(support, 8)[0] > exact).all()


def test_a_rim_of_triangles_is_an_edge():
    """Triangles at corners of the plate have all of their corners on the rim; they are no area."""
    lines = np.linspace(0, 1, 9)
    rim = {"rim": (lambda x: (np.abs(x[:2] - 0.5) > 0.5 - 1e-9).any(axis=0), "rigid")}
    options = {"frame": "rim", "strain": "linear", "theory": "kirchhoff", "inertial_shapes": False}
    mesh = skfem.MeshTri.init_tensor(lines, lines)
    plate = ph.FlexibleBody.from_mesh(mesh, STEEL, rim, modes=4, thickness=1e-3, **options)
    assert plate.frequencies[:3] / unit(1e-3) == pytest.approx(SUPPORTS["clamped"][2][:3], rel=1e-2)


def test_edges_whose_vertices_descend_are_the_same():
    """Meshes of other programs list vertices in any order: triangles turned round."""
    lines = np.linspace(0, 1, 5)
    mesh = skfem.MeshTri.init_tensor(lines, lines)
    turned = skfem.MeshTri(mesh.p, np.roll(mesh.t, 1, axis=0), sort_t=False)
    found = [
        ph.FlexibleBody.from_mesh(
            each, STEEL, modes=4, strain="linear", thickness=1e-2, theory="kirchhoff", element="hhj"
        )
        for each in (mesh, turned)
    ]
    assert found[1].frequencies == pytest.approx(found[0].frequencies, rel=1e-9)


@pytest.mark.parametrize(
    ("ratio", "exact"),
    [
        (0.01, [19.73202, 49.30316, 49.30316, 78.84211, 98.51690]),
        (0.1, [19.06497, 45.48268, 45.48268, 69.79436, 85.03801]),
        (0.2, [17.44859, 38.15217, 38.15217, 55.15008, 65.14528]),
    ],
)
@pytest.mark.parametrize(("kind", "most"), [(skfem.MeshQuad, 4e-3), (skfem.MeshTri, 5e-3)])
def test_plates_with_shear(kind, most, ratio, exact):
    """Mindlin (1951), edges without deflection and turn along them, 8 x 8 elements."""
    lines = np.linspace(0, 1, 9)
    mesh = element_mesh(user_mesh(kind.init_tensor(lines, lines)), 2)
    materials = element_materials(STEEL, {}, mesh.cell_count, 2, Plane.STRESS, ratio)
    section = plate_section(mesh, materials, PlateTheory.MINDLIN)
    x, y = mesh.nodes[:, 0], mesh.nodes[:, 1]
    along_x, along_y = (y < 1e-9) | (y > 1 - 1e-9), (x < 1e-9) | (x > 1 - 1e-9)
    held = np.zeros((mesh.node_count, 5), dtype=bool)
    held[:, :2] = True  # no motion in its plane
    held[:, 2], held[:, 3], held[:, 4] = along_x | along_y, along_y, along_x
    free = np.flatnonzero(~held.ravel())
    stiffness = plate_stiffness(mesh, section)[free][:, free]
    mass = plate_mass(mass_matrix(mesh, materials), section)[free][:, free]
    squares = eigsh(stiffness.tocsc(), k=5, M=mass.tocsc(), sigma=0)[0]
    assert np.sqrt(np.sort(squares)) / unit(ratio) == pytest.approx(exact, rel=most)


@pytest.mark.parametrize("theory", ["kirchhoff", "mindlin"])
def test_a_round_plate_of_curved_triangles(theory):
    """Clamped: lambda = 10.2158, 21.260 (twice), 34.877 (twice), 39.771 for omega R^2 sqrt(rho h / D)."""
    thickness = 2e-3
    rim = {"rim": (lambda x: np.hypot(x[0], x[1]) > 1 - 1e-9, "rigid")}
    options = {"modes": 8, "frame": "rim", "strain": "linear", "theory": theory}
    plate = ph.FlexibleBody.from_mesh(skfem.MeshTri2.init_circle(3), STEEL, rim, thickness=thickness, **options)
    exact = [10.2158, 21.260, 21.260, 34.877, 34.877, 39.771]
    assert plate.frequencies[:6] / unit(thickness) == pytest.approx(exact, rel=5e-3)
    assert plate.mass == pytest.approx(np.pi * thickness * STEEL.density, rel=1e-4)
