"""Export of a motion as VTK files for ParaView: meshes with displacement and stress, other bodies as surfaces."""

from math import ceil
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.flexible.flexible_body import FlexibleBody, MeshedPoints
from phlexible.bodies.flexible.plate_body import PlatePoints
from phlexible.bodies.flexible.skin import von_mises
from phlexible.bodies.flexible.user_mesh import vtk_cells
from phlexible.bodies.skin import BodyStress
from phlexible.description.ports import PlacedBody
from phlexible.errors import ParameterError, writing
from phlexible.extras import optional
from phlexible.pictures.scene import DrawnBody, scene_of
from phlexible.results.progress import is_bar_shown, progress_bar
from phlexible.state.recorded_run import RecordedRun

MOST_INSTANTS = 200
"""Default number of instants, as many as a film of 8 s has."""
HEAD = """<?xml version="1.0"?>
<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">
  <Collection>
"""
END = """  </Collection>
</VTKFile>
"""


def export(run: RecordedRun, path: str, every: int | None, progress: bool | None) -> None:
    """Write the motion of a run as a series of VTK files (.vtu) for ParaView with their index ``path`` (.pvd). The
    index is complete after each instant, so that an interrupted series can be opened. With ``every`` = 3 each
    third instant is written (None: about evenly, up to a limit); ``progress`` says whether a progress bar is
    shown.

    Raises:
        ParameterError: a path that does not end in .pvd.
        ResultFileError: files that cannot be written.
    """
    meshio = optional("meshio", "mesh")
    index = Path(path)
    if index.suffix != ".pvd":
        raise ParameterError(f"path must end in .pvd (the index of a series of .vtu files), got {path!r}")
    instants = np.arange(0, run.count, ceil(run.count / MOST_INSTANTS) if every is None else every)
    scene = scene_of(run, instants)
    bodies = zip(run.system.bodies, scene.bodies, strict=True)
    series = [(placed.name, _Meshed.of(run, placed, drawn) or _Surface(drawn)) for placed, drawn in bodies]
    bar = progress_bar(is_bar_shown(progress), "exporting")
    with writing(path), index.open("w", encoding="utf-8") as file, bar as tell:
        _append(file, HEAD)
        for number, time in enumerate(scene.time):
            for part, (name, shape) in enumerate(series):
                own = index.with_name(f"{index.stem}_{part}_{number:05d}.vtu")
                meshio.write(own, shape.mesh_at(meshio, number))
                _append(file, _entry(float(time), part, name, own.name))
            tell(number + 1, len(scene.time))


def _append(file: TextIO, lines: str) -> None:
    """Write ``lines`` and the closing tags to the index file of a VTK series, so that it is complete. The file
    position is then set back to before the tags, so that the next call overwrites them."""
    file.write(lines)
    offset = file.tell()
    file.write(END)
    file.flush()
    file.seek(offset)


def _entry(time: float, part: int, name: str, file: str) -> str:
    from xml.sax.saxutils import quoteattr

    return f'    <DataSet timestep="{time!r}" part="{part}" name={quoteattr(name)} file={quoteattr(file)}/>\n'


class _Meshed:
    """Mesh of a body with its displacement in world axes and its equivalent stress."""

    def __init__(self, stress: BodyStress, points: MeshedPoints, drawn: DrawnBody) -> None:
        self._stress, self._points, self._drawn = stress, points, drawn
        self._cells = vtk_cells(points.mesh)
        if isinstance(points, PlatePoints):  # both surfaces
            self._cells += [(kind, cells + points.mesh.node_count) for kind, cells in self._cells]
        self._nodes = np.arange(len(points.nodes))

    @classmethod
    def of(cls, run: RecordedRun, placed: PlacedBody, drawn: DrawnBody) -> "_Meshed | None":
        """Return the object that makes the VTK meshes of the flexible body ``placed`` with a finite-element mesh.
        Return None for bodies without a mesh. ``drawn`` has the body's motion as it is drawn."""
        body, stress = placed.resolved, placed.resolved.stress_field()
        if stress is not None and isinstance(body, FlexibleBody) and isinstance(body.points, MeshedPoints):
            return cls(stress, body.points, drawn)
        return None

    def mesh_at(self, meshio: Any, number: int) -> Any:
        """Return the deformed mesh of this flexible body as a meshio object at the drawn instant ``number``, in
        world axes. Its nodes have the elastic displacement [m] in world axes and the von Mises stress [Pa] as
        data."""
        drawn, points = self._drawn, self._points
        eta, rotation = drawn.eta[number], drawn.rotations[number]
        moved = points.shapes @ eta
        positions = (points.nodes + moved) @ rotation.T + drawn.origins[number]
        stress = self._stress.components(eta[None], self._nodes)[0]
        data = {"elastic_displacement": moved @ rotation.T, "von_mises": von_mises(stress)}
        return meshio.Mesh(positions, self._cells, point_data=data)


class _Surface:
    """Surface or lines of a body without a mesh."""

    def __init__(self, drawn: DrawnBody) -> None:
        self._drawn = drawn
        skin = drawn.skin
        self._vertices = drawn.vertices() if skin.has_surface else drawn.nodes()
        self._cells: list[tuple[str, IntArray]] = []
        if skin.has_surface:
            self._cells.append(("triangle", skin.triangles))
        else:
            pairs = [np.column_stack([line[:-1], line[1:]]) for line in skin.lines if len(line) > 1]
            if pairs:
                self._cells.append(("line", np.concatenate(pairs)))
            balls = skin.balls if len(skin.balls) else np.zeros(0 if pairs else 1, dtype=np.int64)
            if len(balls):
                self._cells.append(("vertex", balls[:, None]))

    def mesh_at(self, meshio: Any, number: int) -> Any:
        """Return the surface or lines of a body without a finite-element mesh as a meshio object at the instant
        with this number. Points are in world axes [m]."""
        positions: Array = self._vertices[number]
        return meshio.Mesh(positions, self._cells)
