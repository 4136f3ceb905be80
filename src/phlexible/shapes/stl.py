"""Surfaces from STL files, text or binary."""

from pathlib import Path

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ParameterError
from phlexible.shapes.solids import TriangleMesh
from phlexible.shapes.surface import Surface, enclosed

HEADER, FACET = 84, 50  # bytes of a binary file


def read_stl(path: Path, scale: float) -> TriangleMesh:
    """The surface in a file, times a scale; turned inside out where its triangles go round the wrong way.

    Raises:
        ParameterError: no such file, or no triangles in it.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ParameterError(f"path: cannot read {path}: {error}") from error
    corners = _binary(content)
    if corners is None:
        corners = _text(content)
    if corners is None or not len(corners) or not np.isfinite(corners).all():
        raise ParameterError(f"{path} holds no triangles of an STL file")
    vertices, found = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    triangles = found.reshape(-1, 3).astype(np.int64)
    flat = (triangles == np.roll(triangles, 1, axis=1)).any(axis=1)
    triangles = triangles[~flat]
    surface = Surface(scale * vertices, triangles)
    if enclosed(surface).volume < 0:
        triangles = triangles[:, ::-1]
    return TriangleMesh(scale * vertices, triangles)


def _binary(content: bytes) -> Array | None:
    """Corners (t, 3, 3), or None where the length is not that of a binary file."""
    if len(content) < HEADER:
        return None
    count = int.from_bytes(content[80:84], "little")
    if len(content) != HEADER + FACET * count:
        return None
    facets = np.frombuffer(content[HEADER:], dtype=np.uint8).reshape(count, FACET)[:, 12:48]
    return np.ascontiguousarray(facets).view("<f4").reshape(count, 3, 3).astype(np.float64)


def _text(content: bytes) -> Array | None:
    """Corners (t, 3, 3) of the lines "vertex x y z"."""
    words = [line.split() for line in content.decode("ascii", errors="replace").splitlines()]
    try:
        places = [[float(each) for each in line[1:4]] for line in words if line[:1] == ["vertex"]]
        return np.array(places).reshape(-1, 3, 3)
    except ValueError:
        return None
