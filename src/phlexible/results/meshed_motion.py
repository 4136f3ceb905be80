"""What a motion answers about bodies from meshes."""

from collections.abc import Sequence
from os import PathLike

from phlexible.algebra.options import file_path, whole
from phlexible.observables import mesh_stress as mesh_stresses
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import PlacedBody
from phlexible.results import vtk_series


class MeshedMotion:
    """The part of ``Motion`` for meshes.

    Attributes:
        run: the numbers with the system that they are of.
    """

    run: RecordedRun

    def mesh_stress(
        self, body: PlacedBody, nodes: Sequence[int] | None = None, every: int = 1
    ) -> mesh_stresses.MeshStress:
        """Stress of a meshed body at nodes, ``motion.mesh_stress(part).von_mises``.

        The mean of the elements around each node, so that peaks at notches need a fine mesh there.

        Args:
            body: of ``FlexibleBody.from_mesh``.
            nodes: numbers of ``body.points.nodes``; None: those of the surface at corners of elements.
            every: each so many instants.

        Raises:
            ModelError: a body without a mesh, or of another model.
            ParameterError: numbers out of range.
        """
        return mesh_stresses.mesh_stress(self.run, body, nodes, whole("every", every))

    def export(self, path: str | PathLike[str], every: int | None = None, *, progress: bool | None = None) -> None:
        """Writes a series of VTK files for ParaView (needs ``phlexible[mesh]``).

        Meshed bodies with all nodes, their elastic displacement (world axes) and von Mises stress; other bodies as
        their surface or lines.

        Args:
            path: of the index, ending in ``.pvd``; the ``.vtu`` files lie beside it. It is whole after each
                instant: what was written before a stop can be opened.
            every: each so many instants; None: as many as leave at most 200.
            progress: a bar; None: on a terminal.

        Raises:
            ParameterError: another ending.
            MissingExtraError: meshio is not installed.
            ResultFileError: a file cannot be written.
        """
        chosen = None if every is None else whole("every", every)
        vtk_series.export(self.run, file_path("path", path), chosen, progress)
