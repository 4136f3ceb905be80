"""Meshes that are no body are refused or warned about by name."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import skfem

import phlexible as ph
from bodies.flexible.meshes import BAR, STEEL, bar, ends, grid

MESH = grid(*BAR, cells=(3, 1, 1))


def refused(message, mesh=MESH, material=STEEL, interfaces=None, **options):
    with pytest.raises(ph.ParameterError, match=message):
        ph.FlexibleBody.from_mesh(mesh, material, interfaces, **options)


def moved(mesh, node, place):
    places = mesh.p.copy()
    places[:, node] = place
    return type(mesh)(places, mesh.t)


def test_inverted_elements():
    hexahedra = grid(1.0, 1.0, 1.0, cells=(2, 2, 2))
    inner = int(np.abs(hexahedra.p.T - (0.5, 0, 0)).sum(axis=1).argmin())
    refused("elements .* inverted", moved(hexahedra, inner, (1.3, 0.3, 0.2)))
    quads = grid(1.0, 1.0, cells=(2, 2))
    refused(
        "elements .* inverted", moved(quads, int(np.abs(quads.p.T - (0.5, 0)).sum(axis=1).argmin()), (1.2, 0.1))
    )
    turned = quads.t.copy()
    turned[:, 2] = turned[::-1, 2]
    refused(
        r"elements 2 are inverted.* \(elements count from 0, in the order of the mesh\)",
        skfem.MeshQuad(quads.p, turned),
    )
    for kind, sides in ((skfem.MeshTri, (1.0, 1.0)), (skfem.MeshTet, (1.0, 1.0, 1.0))):
        mesh = grid(*sides, cells=(2,) * len(sides), kind=kind)
        inner = int(np.abs(mesh.p.T - (0.5, *(0,) * (len(sides) - 1))).sum(axis=1).argmin())
        refused("elements .* inverted", moved(mesh, inner, (1.2, 0.3, 0.1)[: len(sides)]))


def test_elements_and_options_that_make_no_body():
    refused("elements 1 are flat", skfem.MeshTri(np.array([[0, 2, 0, 1], [0, 0, 2, 1]]), [[0, 1], [1, 3], [2, 2]]))
    curved = skfem.MeshTri2.from_mesh(skfem.MeshTri())
    refused("order must be 2 on a mesh of second order", curved, order=1)
    places = curved.doflocs.copy()
    places[:, 4] = (0.5, 0.45)
    refused("elements 0 are inverted", replace(curved, doflocs=places))
    twice = MESH + MESH.translated((1.0, 0, 0))
    refused(r"falls into 2 parts that share no nodes \(of 3, 3 elements\)", twice)
    corner = grid(1.0, 1.0, cells=(1, 1)) + grid(1.0, 1.0, cells=(1, 1)).translated((1.0, 1.0))
    refused("elements . touch the others in nodes or edges only, as a hinge does", corner, thickness=0.1)
    refused("elements 3 are listed more than once", skfem.MeshHex(MESH.p, np.hstack([MESH.t, MESH.t[:, :1]])))
    everywhere = {"a": (ends(BAR[0])["end"], "rigid"), "b": (lambda x: x[0] > 0.15, "rigid")}
    refused("both rigid and share", interfaces=everywhere)
    refused("pass interfaces=", modal_derivatives=True)
    options = {"thickness": 0.01, "theory": "kirchhoff", "modal_derivatives": True}
    refused("modal_derivatives= is for solid and plane bodies", grid(*BAR[:2], cells=(3, 1)), **options)
    refused("no group of elements 'web'", material={"web": STEEL})
    refused("poissons_ratio must be below", material=ph.Material(1e6, 1000, 0.5))
    refused("2 elements are in none", MESH.with_subdomains({"left": lambda x: x[0] < 0.15}), {"left": STEEL})
    refused("order must be 1 or 2", order=3)
    refused("frame", interfaces=ends(BAR[0]), frame=("start", "start"))
    refused("thickness is that of a plane mesh", thickness=0.1)
    refused("thickness of a plane mesh is needed", grid(1.0, 0.1, cells=(2, 1)))
    refused("modes must be at most", modes=10**4)
    rigid = {"all": (lambda x: x[0] > -1.0, "rigid")}
    refused(
        r"at most 0 with 6 unknowns \(of which a rigid interface has 6 for all its nodes\)",
        interfaces=rigid,
        modes=2,
    )
    refused("no elastic coordinates: .* interfaces=, which leave nodes free", interfaces=rigid, modes=0)
    refused("has no elastic coordinates", modes=0, inertial_shapes=False)
    with pytest.warns(ph.MeshWarning, match="tetrahedrons of order 1 lock"):
        bar((2, 1, 1), skfem.MeshTet, order=1)
    body = bar((2, 1, 1))
    with pytest.raises(ph.ParameterError, match="cannot move in a model in the plane"):
        ph.Model(dimension=2).add(body, "bar")


def test_nodes_without_elements():
    spare = skfem.MeshHex(np.hstack([MESH.p, [[5.0], [5.0], [5.0]]]), MESH.t)
    with pytest.warns(ph.MeshWarning, match=r"1 nodes that belong to no element \(16\)"):
        body = ph.FlexibleBody.from_mesh(spare, STEEL, ends(BAR[0]), modes=2)
    assert body.mass == pytest.approx(STEEL.density * np.prod(BAR))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([0], "1 node.* needs an area"),
        (lambda x: (x[0] < 1e-9) & (x[1] < 0), "2 node.* needs an area"),
        (lambda x: x[0] == 7.0, "no nodes of the mesh: the mesh lies in 0 <= x <= 0.3"),
        (lambda x: 3.0, "must return True or False"),
        (lambda x: x[7], "raised IndexError"),
        ([99], "nodes are 0 to 15, got 99"),
        ("flange", "no group 'flange'"),
        (2.5, "must be numbers of nodes"),
        ((ends(BAR[0])["end"], "soft"), "'average', 'rigid'"),
    ],
)
def test_interfaces_without_area_or_nodes(nodes, message):
    refused(message, interfaces={"tip": nodes})


def test_units_that_are_not_si():
    with pytest.warns(ph.MeshWarning, match="millimetres and tonnes"):
        bar((2, 1, 1), modes=1)
        ph.FlexibleBody.from_mesh(MESH, ph.Material(2.1e5, 7.85e-9), ends(BAR[0]), modes=1)


def test_a_plane_mesh_that_is_not_at_zero_is_told_where_it_is():
    quads = grid(1.0, 0.2, cells=(4, 2))
    cells = [SimpleNamespace(type="quad", data=quads.t.T)]
    for height in (0.3, -2e-3, 0.0):
        points = np.column_stack([quads.p.T, np.full(quads.p.shape[1], height)])
        mesh = SimpleNamespace(points=points, cells=cells, point_sets={}, cell_sets={}, field_data={})
        words = f"does not have the height z = {height:g} m .it is at z = 0 of its axes; place it by position="
        if height:
            with pytest.warns(ph.MeshWarning, match=words):
                part = ph.FlexibleBody.from_mesh(mesh, STEEL, thickness=0.01)
        else:
            part = ph.FlexibleBody.from_mesh(mesh, STEEL, thickness=0.01)
        assert part.mass == pytest.approx(0.2 * 0.01 * STEEL.density)
