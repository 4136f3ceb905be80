"""Shells with small displacements in a floating frame, against shells of all nodes and published answers."""

from types import SimpleNamespace

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded
from refusals import refused

STEEL = ph.Material(2e11, 7850.0, 0.3)


def twisted(thickness: float) -> ph.Shell:
    """MacNeal's beam that is twisted by 90 degrees."""

    def place(u: float, v: float) -> tuple[float, float, float]:
        angle, across = np.pi / 2 * u, 1.1 * (v - 0.5)
        return 12 * u, across * np.cos(angle), across * np.sin(angle)

    edges = {"u0": "rigid", "u1": "average"}
    return ph.Shell.of(place, thickness, ph.Material(0.29e8, 1.0, 0.22), (12, 2), edges)


@pytest.mark.parametrize("frame", ["mean_axis", "u0"])
@pytest.mark.parametrize(
    ("thickness", "force", "published"), [(0.32, 1.0, (0.0017532, 0.0054245)), (0.0032, 1e-6, (0.001294, 0.005256))]
)
def test_a_twisted_beam_deflects_as_published(thickness, force, published, frame) -> None:
    part = twisted(thickness).flexible_body(modes=0, frame=frame, strain="linear")
    for axis, reference in enumerate(published, start=1):
        model, beam, _ = grounded(part, by="u0", name="beam")
        load = np.zeros(3)
        load[axis] = 1e-3 * force
        model.apply(ph.Force(beam["u1"], load))
        moved = model.equilibrium().position(beam["u1"]) - beam["u1"].initial_position()
        assert moved[axis] == pytest.approx(1e-3 * reference, rel=1.3e-2)


def test_a_curved_mesh_is_a_shell_that_is_reduced() -> None:
    """The beam that is twisted, from a mesh in millimetres, also of two kinds of elements; what shells lack is
    refused by name."""
    shell = twisted(0.32)
    cells = shell.soft_mesh.cells
    blocks = [SimpleNamespace(type="quad", data=cells)]
    empty: dict[str, object] = {}
    points = 1e3 * shell.soft_mesh.points
    mesh = SimpleNamespace(
        points=points, cells=blocks, cell_data=empty, cell_sets=empty, point_sets=empty, field_data=empty
    )
    ends = {"root": (lambda x: x[0] < 1e-9, "rigid"), "tip": lambda x: x[0] > 12 - 1e-9}
    options = {"modes": 0, "frame": "root", "strain": "linear", "thickness": 0.32, "scale": 1e-3}
    part = ph.FlexibleBody.from_mesh(mesh, ph.Material(0.29e8, 1.0, 0.22), ends, **options)
    assert part.mass == pytest.approx(shell.mass, rel=1e-12)
    model, beam, _ = grounded(part, by="root", name="beam")
    model.apply(ph.Force(beam["tip"], (0, 0, 1e-3)))
    rest = model.equilibrium()
    moved = rest.position(beam["tip"]) - beam["tip"].initial_position()
    assert moved[2] == pytest.approx(1e-3 * 0.0054245, rel=1.3e-2)
    refused(ph.ModelError, "a Shell was reduced to has no stress", lambda: rest.mesh_stress(beam))
    for name, value in {"theory": "kirchhoff", "element": "hhj", "modal_derivatives": True, "cache": "."}.items():
        with pytest.raises(ph.ParameterError, match=f"{name}= is not for a surface in space"):
            ph.FlexibleBody.from_mesh(mesh, ph.Material(0.29e8, 1.0, 0.22), ends, **options, **{name: value})
    halves = np.concatenate([cells[::2, [0, 1, 2]], cells[::2, [0, 2, 3]]])
    mesh.cells = [SimpleNamespace(type=k, data=data) for k, data in (("quad", cells[1::2]), ("triangle", halves))]
    mixed = ph.FlexibleBody.from_mesh(mesh, ph.Material(0.29e8, 1.0, 0.22), ends, **options)
    assert mixed.mass == pytest.approx(shell.mass, rel=2e-3)
    mesh.points = points * (1, 1, 0)
    with pytest.raises(ph.ParameterError, match="must be of one kind, got quad"):
        ph.FlexibleBody.from_mesh(mesh, STEEL, thickness=0.01)
    mesh.points, mesh.cells = points * (1, 1, 0) + (0, 0, 0.3), blocks
    with pytest.raises(ph.ParameterError, match="plane z = 0 of its axes, this mesh is at z = 0.3; move"):
        ph.FlexibleBody.from_mesh(mesh, STEEL, thickness=0.01, theory="mindlin")


def panel(kind: str = "average") -> ph.Shell:
    edges = {"u0": kind, "u1": kind}
    return ph.Shell.of(
        lambda u, v: (np.sin(u), v, np.cos(u)), 0.01, STEEL, (8, 6), edges, directors=lambda x: (x[0], 0, x[2])
    )


def test_frequencies_and_inertia_are_those_of_all_nodes() -> None:
    free, reduced = ph.Model(), ph.Model()
    shell = free.add(panel(), "panel")
    part = panel().flexible_body(modes=8)
    reduced.add(part, "panel")
    all_nodes, few = (model.linearize().modes(12).frequencies for model in (free, reduced))
    assert few == pytest.approx(all_nodes, rel=1e-6, abs=1e-4)
    body, points = shell.body, shell.data
    assert part.mass == pytest.approx(body.mass, rel=1e-12)
    masses, q = (
        points.nodal_mass.toarray(),
        body.soft_mesh.vectors(body.nodes, body.soft_mesh.gyration * body.soft_mesh.directors),
    )
    spread = q.T @ masses @ q
    about = np.trace(spread) * np.eye(3) - spread
    center = part.center
    assert about - part.mass * (center @ center * np.eye(3) - np.outer(center, center)) == pytest.approx(
        part.inertia, rel=1e-9, abs=1e-9
    )


@pytest.mark.parametrize(("gamma", "published"), [(1.0, 3.6394), (4.0, 5.5614), (10.0, 11.1946)])
def test_a_rotating_plate_is_stiffened_by_the_stress_of_its_rotation(gamma, published) -> None:
    """First frequency of a square cantilever plate that turns about the normal at its clamp (Ritz): 0.2 %, and
    0.05, 0.01, 0.001 % with 16 x 16 elements."""
    t = 2e-3
    unit = np.sqrt(2e11 * t**2 / 12 / (1 - 0.3**2) / 7850.0)
    plate = ph.Shell.plate(1.0, 1.0, t, STEEL, (8, 8), {"start": "rigid"}).flexible_body(modes=8, frame="start")
    model, spin = ph.Model(), gamma * unit
    hub = model.add(ph.RigidBody(1e3, (1e3, 1e3, 1e3)), "hub", angular_velocity=(0, 0, spin))
    axle = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), hub.origin, axis=(0, 0, 1)))
    model.apply(axle.drive(angle=lambda t: spin * t, rate=lambda t: spin))
    model.connect(ph.Fixed(hub.origin, model.add(plate, "plate", angular_velocity=(0, 0, spin))["start"]))
    lowest = model.linearize(at="steady_rotation").modes(1).frequencies[0] / unit
    assert lowest == pytest.approx(published, rel=2.5e-3)


def test_edges_without_orientation_are_refused() -> None:
    refused(ph.ParameterError, "average or rigid", panel("hinged").flexible_body)
