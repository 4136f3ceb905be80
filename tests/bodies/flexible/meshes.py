"""Meshes and bodies that the tests of flexible bodies share."""

import numpy as np
import skfem

import phlexible as ph

STEEL = ph.Material(2.0e11, 7870.0, 0.3)
BAR = (0.3, 0.03, 0.02)  # [m]


def ends(length):
    return {"start": lambda x: x[0] < 1e-9 * length, "end": lambda x: x[0] > (1 - 1e-9) * length}


def grid(*sides, cells, kind=None):
    """A bar along x, centred across, of quadrilaterals or hexahedra unless another kind is asked for."""
    kind = kind or (skfem.MeshQuad if len(sides) == 2 else skfem.MeshHex)
    lines = [np.linspace(0, sides[0], cells[0] + 1)]
    lines += [np.linspace(-side / 2, side / 2, count + 1) for side, count in zip(sides[1:], cells[1:], strict=True)]
    return kind.init_tensor(*lines)


def bar(cells=(4, 1, 1), kind=None, sides=BAR, **options):
    chosen = {"interfaces": ends(sides[0]), "modes": 4, **options}
    return ph.FlexibleBody.from_mesh(grid(*sides, cells=cells, kind=kind), STEEL, **chosen)
