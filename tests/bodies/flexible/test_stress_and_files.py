"""Stress at nodes, surfaces, pressure, files and series for ParaView of meshed bodies."""

from xml.etree import ElementTree

import meshio
import numpy as np
import pytest
import skfem

import phlexible as ph
from bodies.flexible.meshes import BAR, STEEL, bar, ends, grid
from phlexible.bodies.flexible.user_mesh import element_mesh, user_mesh
from refusals import refused

LENGTH, HIGH, WIDE = BAR


def under(body, force, moment=(0, 0, 0)):
    """Elastic coordinates of a body held at its start under loads on its end."""
    points = body.points.interfaces
    work = np.asarray(force) @ points.shapes[1] + np.asarray(moment) @ points.rotations[1]
    return work / body.frequencies**2


@pytest.mark.parametrize("kind", [skfem.MeshTri, skfem.MeshQuad, skfem.MeshTet, skfem.MeshHex])
def test_a_pulled_bar_has_the_stress_of_force_over_area(kind):
    dimension = 3 if kind in (skfem.MeshTet, skfem.MeshHex) else 2
    thickness = {"thickness": WIDE} if dimension == 2 else {}
    body = bar((3, 2, 1)[:dimension], kind, BAR[:dimension], frame="start", strain="linear", **thickness)
    nodes = np.arange(len(body.points.nodes))
    stress = body.stress_field().components(under(body, (1e3, 0, 0))[None], nodes)[0]
    assert stress[:, 0] == pytest.approx(1e3 / HIGH / WIDE, rel=1e-8)
    assert np.abs(stress[:, 1:]).max() < 1e-8 * stress[0, 0]


def test_a_bent_bar_has_the_stress_of_moment_over_section_modulus():
    body = bar((8, 2, 2), frame="start", strain="linear")
    eta = under(body, (0, 0, 0), (0, 0, 10.0))
    top = [k for k, x in enumerate(body.points.nodes) if np.abs(x[:2] - (LENGTH / 2, HIGH / 2)).max() < 1e-9]
    stress = body.stress_field().components(eta[None], np.array(top))[0]
    assert stress[:, 0] == pytest.approx(-10.0 * (HIGH / 2) / (WIDE * HIGH**3 / 12), rel=0.01)


def test_plane_strain_has_stress_across_the_plane():
    body = bar((3, 2), skfem.MeshQuad, BAR[:2], frame="start", thickness=WIDE, plane="strain", strain="linear")
    stress = body.stress_field().components(under(body, (1e3, 0, 0))[None], np.arange(5))[0]
    assert stress[:, 2] == pytest.approx(STEEL.poissons_ratio * stress[:, 0], rel=1e-8)


def hung(**options):
    model = ph.Model(gravity=(0, -9.81, 0))
    part = model.add(bar((3, 1, 1), modes=2, color="blue", **options), "bar")
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), part["start"], axis=(0, 0, 1)))
    model.add(ph.RigidBody(1.0, (0.1, 0.1, 0.1)), "box", position=(1, 0, 0))
    model.apply(ph.Pressure(part["end"], lambda t: 1e6 * np.sin(2000 * t)))
    return model, model.simulate(0.01, 1e-3, progress=False)


def test_pressure_pushes_with_its_area_and_turns_with_the_face():
    model = ph.Model(dimension=3)
    part = model.add(bar((3, 1, 1), modes=2), "bar", angular_velocity=(0, 0, 5.0), velocity=(0, 0, 0))
    model.apply(ph.Pressure(part["end"], 2e5))
    motion = model.simulate(0.05, 1e-3, progress=False)
    momentum = motion.momentum.linear
    pushed = -2e5 * HIGH * WIDE * motion.rotation(part["end"])[:, :, 0]
    impulse = np.trapezoid(pushed, motion.time, axis=0)
    assert momentum[-1] - momentum[0] == pytest.approx(impulse, abs=2e-3 * np.linalg.norm(impulse))
    round_part = skfem.MeshTri.init_circle(3)
    disc = ph.FlexibleBody.from_mesh(
        round_part, STEEL, {"rim": lambda x: np.hypot(x[0], x[1]) > 0.99}, modes=3, thickness=0.1
    )
    refused(ph.ModelError, "is not flat", lambda: ph.Pressure(ph.Model(dimension=2).add(disc, "disc")["rim"], 1.0))
    refused(ph.ModelError, "acts on an interface", lambda: ph.Pressure(part.point((0.1, 0, 0)), 1.0))


def test_a_saved_motion_comes_back_with_its_mesh(tmp_path):
    model, motion = hung()
    motion.save(tmp_path / "run.h5")
    loaded = ph.Motion.load(tmp_path / "run.h5")
    part, same = model["bar"], loaded["bar"]
    for here, there in ((part["end"], same["end"]), (part.point((0.1, 0, 0)), same.point((0.1, 0, 0)))):
        assert np.array_equal(motion.position(here), loaded.position(there))
    assert np.array_equal(motion.mesh_stress(part).von_mises, loaded.mesh_stress(same).von_mises)
    assert same.body.color == part.body.color
    further = model.resume(tmp_path / "run.h5", 0.02, 1e-3, progress=False)
    assert further.time[-1] == pytest.approx(0.02)
    other = hung(strain="linear")[0]
    refused(ph.ResultFileError, "bodies/bar", lambda: other.resume(tmp_path / "run.h5", 0.03, 1e-3, progress=False))


def test_a_series_for_paraview(tmp_path):
    """Nodes where the motion has them, cells that a reader of meshes takes for the same volume, a surface each."""
    model, motion = hung()
    motion.export(tmp_path / "run.pvd", every=5)
    index = ElementTree.parse(tmp_path / "run.pvd").getroot().findall("./Collection/DataSet")
    assert [float(each.get("timestep")) for each in index if each.get("name") == "bar"] == [0.0, 0.005, 0.01]
    last = meshio.read(tmp_path / [each.get("file") for each in index if each.get("name") == "bar"][-1])
    part = model["bar"]
    for node in (0, 7, 30):
        place = motion.position(part.point(part.body.points.nodes[node]))[-1]
        assert last.points[node] == pytest.approx(place, abs=1e-12)
    volume = sum(each.weights.sum() for each in element_mesh(user_mesh(last), 2).quadrature(4))
    assert volume == pytest.approx(LENGTH * HIGH * WIDE, rel=1e-3)
    stress = motion.mesh_stress(part, np.arange(len(part.body.points.nodes))).von_mises[-1]
    assert last.point_data["von_mises"] == pytest.approx(stress, rel=1e-9)
    box = meshio.read(tmp_path / [each.get("file") for each in index if each.get("name") == "box"][-1])
    assert "triangle" in box.cells_dict
    refused(ph.ParameterError, r"must end in \.pvd", lambda: motion.export(tmp_path / "run.vtk"))


def test_a_series_of_a_long_run_is_thinned_and_can_be_opened_after_a_stop(tmp_path, monkeypatch):
    """At most 200 instants unless asked otherwise; the index lists what was written, from the first instant on."""
    model = ph.Model()
    model.add(ph.RigidBody(1.0, (1, 1, 1), shape=ph.Box((1, 1, 1))), "box", velocity=(1, 0, 0))
    motion = model.simulate(0.5, 1e-3, progress=False)
    motion.export(tmp_path / "run.pvd")

    def times(name):
        index = ElementTree.parse(tmp_path / name).getroot().findall("./Collection/DataSet")
        assert all((tmp_path / each.get("file")).is_file() for each in index)
        return [float(each.get("timestep")) for each in index]

    assert times("run.pvd") == pytest.approx(np.arange(0, 0.5005, 0.003)) and len(times("run.pvd")) <= 200
    write, written = meshio.write, []

    def stopped(path, mesh):
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(path)
        write(path, mesh)

    monkeypatch.setattr(meshio, "write", stopped)
    with pytest.raises(KeyboardInterrupt):
        motion.export(tmp_path / "stopped.pvd", every=100, progress=False)
    assert times("stopped.pvd") == pytest.approx([0.0, 0.1, 0.2])


def test_meshes_of_files(tmp_path):
    """A Nastran-like mesh in a file with named groups of elements, of sides and of nodes."""
    mesh = grid(*BAR, cells=(4, 1, 1), kind=skfem.MeshTet)
    sides = mesh.facets[:, mesh.facets_satisfying(lambda x: x[0] < 1e-9, boundaries_only=True)].T
    tip = np.flatnonzero(mesh.p[0] > LENGTH * (1 - 1e-9))
    cells, root = [("tetra", mesh.t.T), ("triangle", sides)], [np.zeros(0, dtype=int), np.arange(len(sides))]
    file = meshio.Mesh(mesh.p.T, cells, point_sets={"tip": tip}, cell_sets={"root": root})
    meshio.write(tmp_path / "bar.inp", file)
    body = ph.FlexibleBody.from_mesh(tmp_path / "bar.inp", STEEL, {"root": "root", "tip": "tip"}, modes=2)
    same = ph.FlexibleBody.from_mesh(
        mesh, STEEL, {"root": ends(LENGTH)["start"], "tip": ends(LENGTH)["end"]}, modes=2
    )
    assert body.frequencies == pytest.approx(same.frequencies, rel=1e-6)
    refused(ph.ParameterError, "there is no file", lambda: ph.FlexibleBody.from_mesh(tmp_path / "other.msh", STEEL))
    (tmp_path / "bad.msh").write_text("no mesh")
    refused(ph.ParameterError, "cannot be read", lambda: ph.FlexibleBody.from_mesh(tmp_path / "bad.msh", STEEL))
