"""Points of a shell at which joints and loads act: nodes, and edges and patches with three directions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.locations import Interface, Location, MaterialPoint, SurfaceParameters
from phlexible.bodies.shell.elements import MIDDLE
from phlexible.bodies.shell.mesh import ShellMesh
from phlexible.bodies.soft_mesh import NodeGroup, SoftPoints
from phlexible.display import short_repr
from phlexible.errors import ParameterError

LEANING = 1e-6
"""Angle between a director and the normal of an element that is no round-off [rad]."""
SLIM = 0.05
"""Extent of positions and directors across a plane, over that along it, below which they lie in the plane."""


class EdgeKind(StrEnum):
    """Choice of what a fixed joint holds of an edge or patch of a shell.

    AVERAGE: the mean position and orientation, as other joints do. RIGID: each node and director. HINGED: each
    node. SYMMETRIC: each node and director in the plane in which they lie.
    """

    AVERAGE = "average"
    RIGID = "rigid"
    HINGED = "hinged"
    SYMMETRIC = "symmetric"


@dataclass(frozen=True, eq=False)
class ShellInterface(NodeGroup):
    """Named edge or patch of a shell on which joints and loads act.

    Attributes:
        kind: what a fixed joint holds of it.
    """

    kind: EdgeKind = EdgeKind.AVERAGE

    def refuse_leaning(self, mesh: ShellMesh) -> None:
        """Raise ``ParameterError`` if this edge is symmetric and its directors do not lie in its plane of
        symmetry. This happens where directors are mean normals of elements of a curved shell. It is recognized by
        elements at the edge whose normals differ from directors away from it, but not on it. Other kinds of edges
        are not checked. ``mesh`` is the mesh of the shell."""
        if self.kind is not EdgeKind.SYMMETRIC:
            return
        inside, D = np.isin(mesh.cells, self.points) & (mesh.corner_shares > 0), mesh.elements.D
        across = np.linalg.norm(np.cross(D, mesh.elements.normals(MIDDLE)), axis=2)
        leans = across > LEANING * np.linalg.norm(mesh.elements.normals(MIDDLE), axis=2)
        at_edge = inside.sum(axis=1) == 2
        if (at_edge & ~(leans & inside).any(axis=1) & (leans & ~inside).any(axis=1)).any():
            raise ParameterError(
                f"interface {self.name!r}: directors of a symmetric edge must lie in its plane, but those of a"
                " curved shell by means of elements lean away from it; give the exact normals, directors="
            )

    def directions(self, mesh: ShellMesh) -> Array | None:
        """Return weights of a shell's unknown vectors whose weighted sums are three directions that rotate with
        this edge or patch. The shape is (3, N + k), for N node positions and k directors. In the undeformed shell,
        the directions are the principal axes of the positions and directors of the interface, fitted by least
        squares. Where these lie in a plane, as along a straight edge, the third direction is the slope across the
        edge, fitted to the adjacent nodes too. Return None if three directions are not determined, as for a single
        node.

        They are columns of the mean deformation gradient, along the principal axes of the positions and directors,
        and rotate with the shell in a rigid motion. Where these lie in a plane, as of a straight edge, the third is
        the slope of the shell across the edge, by a parabola through the two rows of nodes beside it.
        """
        mean, own = self.weights(mesh), mesh.vectors(mesh.points[mesh.used], mesh.directors)
        directors, shares = self._directors(mesh, mean)
        edge, arms = np.flatnonzero(mean), own - mean @ own
        element = float(np.sqrt(mesh.elements.areas.sum(axis=1).mean()))
        spread = np.einsum("k,ki,kj->ij", mean[edge], arms[edge], arms[edge])
        spread += element**2 * np.einsum("k,ki,kj->ij", shares, own[directors], own[directors])
        values, axes = np.linalg.eigh(spread)
        result, is_known = np.zeros((3, len(mean))), values > SLIM**2 * values[2]
        known = axes[:, is_known] / values[is_known]
        result[is_known] += mean * (arms @ known).T * (mean > 0)
        result[np.ix_(is_known, directors)] += (element**2 * shares[:, None] * (own[directors] @ known)).T
        if not is_known.all():
            rows = self._adjacent_rows(mesh)
            if is_known.sum() < 2 or not len(rows):
                return None
            fitted = np.concatenate([edge, rows])
            u, p, q = (arms[fitted] @ axes).T / np.sqrt(values[2])  # eigenvalues ascend: u is across the edge
            terms = np.stack([np.ones_like(u), u, p, q, u * p, u * q, u * u], axis=1)
            result[0, fitted] = np.linalg.pinv(terms, rcond=1e-6)[1] / np.sqrt(values[2])
        result[:, mesh.director_at] /= mesh.gyration
        return result

    def _directors(self, mesh: ShellMesh, mean: Array) -> tuple[IntArray, Array]:
        """Return the indices of the unknown directors at the nodes of this interface, shape (k,), and their
        weights in the mean over it, shape (k,). ``mean`` has the weights of the nodes; directors of a folded node
        divide its weight equally. ``mesh`` is the mesh of the shell."""
        owners = mesh.node_at[mesh.director_nodes]
        own = np.flatnonzero(mean[owners])
        count = np.bincount(owners[own], minlength=len(mean))
        return mesh.director_at[own], mean[owners[own]] / count[owners[own]]

    def _adjacent_rows(self, mesh: ShellMesh) -> IntArray:
        """Return the indices of the position unknowns of nodes near this edge, not on it. Near are the nodes of
        elements with a node on the edge, and of the elements next to these. ``mesh`` is the mesh of the shell."""
        reached = self.points
        for _ in range(2):
            reached = mesh.cells[np.isin(mesh.cells, reached).any(axis=1)]
        return np.asarray(mesh.node_at[np.setdiff1d(reached, self.points)])


@dataclass(frozen=True, eq=False)
class ShellPoints(SoftPoints):
    """Material points of a shell: its nodes, with their directors, and its edges and patches.

    Attributes:
        groups: edges and patches by name.
    """

    groups: Mapping[str, ShellInterface] = field(default_factory=dict)

    __repr__ = short_repr

    def locate(self, location: Location) -> MaterialPoint:
        """Return the material point of this shell at a ``location``: a node, an interface, parameters u and v, or
        an undeformed position where a node is. Its position is a weighted sum of the unknown vectors; so are the
        directions that rotate with it. Rigid and symmetric interfaces also name nodes that are fixed with it.
        Raise ``AttachmentError`` for other locations.

        Raises:
            AttachmentError: no node there, or a location that shells do not have.
        """
        mesh = self.mesh
        assert isinstance(mesh, ShellMesh), "of a shell"
        if isinstance(location, SurfaceParameters):
            position, director = mesh.weights_at(location.u, location.v)
            point = MaterialPoint.of_nodes(position, self.dimension)
            if point.node is None:
                return replace(point, directions=director[None])
        else:
            point = super().locate(location)
        if isinstance(location, Interface):
            group = self.groups[location.name]
            fixed = () if group.kind is EdgeKind.AVERAGE else tuple(group.points.tolist())
            return replace(
                point,
                directions=group.directions(mesh),
                fixed_nodes=fixed,
                fixes_directors=group.kind is EdgeKind.RIGID,
                stays_in_plane=group.kind is EdgeKind.SYMMETRIC,
            )
        assert point.node is not None, "other locations are nodes"
        own = mesh.director_at[mesh.director_nodes == mesh.nodes[point.node]]
        directors = np.zeros((len(own), len(mesh.nodes)))
        directors[np.arange(len(own)), own] = 1.0
        return replace(point, directions=directors)
