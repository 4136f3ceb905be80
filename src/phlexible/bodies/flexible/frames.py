"""Which motion of a meshed body counts as rigid (docs/theory.md, 3)."""

from collections.abc import Sequence

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.rotations import cross_matrix
from phlexible.bodies.flexible.structure import ElasticStructure
from phlexible.errors import ParameterError

MEAN_AXIS = "mean_axis"


def frame_rows(
    frame: str | Sequence[str], structure: ElasticStructure, rows: dict[str, Array], positions: dict[str, Array]
) -> Array:
    """F with F u = 0 for elastic displacements u, shape (r, N).

    "mean_axis": u has neither linear nor angular momentum. The name of an interface: it does not move. Two names,
    a chord: the first does not move nor turn about the line to the second, which stays on that line.

    Args:
        rows, positions: of the interfaces by name; rows give displacement and rotation, shape (r, N).

    Raises:
        ParameterError: no such interface.
    """
    if isinstance(frame, str) and frame == MEAN_AXIS:
        return np.asarray((structure.mass @ structure.rigid).T)
    names = [frame] if isinstance(frame, str) else list(frame) if isinstance(frame, tuple | list) else [str(frame)]
    for name in names:
        if name not in rows:
            known = ", ".join(map(repr, rows)) or "none"
            raise ParameterError(
                f'frame must be "{MEAN_AXIS}", the name of an interface ({known}), or two of them for a chord, '
                f"got {frame!r}"
            )
    if len(names) == 1:
        return rows[names[0]]
    if len(names) != 2 or names[0] == names[1]:
        raise ParameterError(f"frame: a chord goes from one interface to another, got {frame!r}")
    first, second = (rows[name] for name in names)
    along = positions[names[1]] - positions[names[0]]
    length = np.linalg.norm(along)
    if not length > 0:
        raise ParameterError(f"frame: interfaces {names[0]!r} and {names[1]!r} have the same place, no chord")
    d = structure.dimension
    if d == 2:
        across = cross_matrix(np.array([0.0, 0.0, 1.0])) @ along / length
        return np.vstack([first[:2], across[None, :2] @ second[:2]])
    _, _, axes = np.linalg.svd((along / length)[None])  # the chord and two axes across it
    return np.vstack([first[:3], axes[1:] @ second[:3], axes[:1] @ first[3:]])
