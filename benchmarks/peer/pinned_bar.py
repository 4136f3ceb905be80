"""A bar of finite elements that falls about a pin at its end: our model of it, and a file for Exudyn's."""

from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy import sparse
from skfem import Basis, BilinearForm, ElementHex2, MeshHex, asm
from skfem.helpers import dot

import phlexible as ph

LENGTH, GRAVITY = 0.5, 9.81
YOUNGS_MODULUS, POISSON, DENSITY = 1e9, 0.3, 2700.0
ANSWERS = 6  # shapes that answer forces on both ends, beside the modes


@lru_cache(maxsize=1)
def matrices() -> tuple[sparse.csr_array, sparse.csr_array, np.ndarray]:
    """Mass and stiffness of 10 x 2 x 2 quadratic hexahedra, and the places (N, 3) of the nodes."""
    sides = np.linspace(0, LENGTH, 11), np.linspace(-0.01, 0.01, 3), np.linspace(-0.015, 0.015, 3)
    basis = Basis(MeshHex.init_tensor(*sides), ElementHex2())
    shear = YOUNGS_MODULUS / (2 * (1 + POISSON))
    first = 2 * shear * POISSON / (1 - 2 * POISSON)

    def part(i: int, j: int) -> sparse.csr_array:
        def form(u, v, _):  # type: ignore[no-untyped-def]
            same = shear * dot(u.grad, v.grad) if i == j else 0.0
            return first * v.grad[i] * u.grad[j] + shear * v.grad[j] * u.grad[i] + same

        place = sparse.coo_array(([1.0], ([i], [j])), (3, 3))
        return sparse.kron(asm(BilinearForm(form), basis), place)

    stiffness = sum(part(i, j) for i in range(3) for j in range(3))
    mass = sparse.kron(asm(BilinearForm(lambda u, v, _: DENSITY * u * v), basis), sparse.eye_array(3))
    return sparse.csr_array(mass), sparse.csr_array(stiffness), basis.doflocs.T


def end_nodes(x: float) -> list[int]:
    """Numbers of the nodes of the face at x."""
    return np.flatnonzero(np.abs(matrices()[2][:, 0] - x) < 1e-9).tolist()


@lru_cache(maxsize=4)
def bar(coordinates: int) -> ph.FlexibleBody:
    """With so many elastic coordinates."""
    ends = {"pin": end_nodes(0.0), "tip": end_nodes(LENGTH)}
    modes = coordinates - ANSWERS
    return ph.FlexibleBody.from_matrices(*matrices(), ends, modes, moments=False, inertial_shapes=False)


def model(coordinates: int) -> ph.Model:
    """Released at rest along +x."""
    falling = ph.Model(gravity=(0.0, -GRAVITY, 0.0))
    body = falling.add(bar(coordinates), "bar")
    falling.connect(ph.Spherical(falling.ground.at((0.0, 0.0, 0.0)), body["pin"]))
    return falling


def write(coordinates: int, path: Path) -> None:
    """What Exudyn needs, with the same shapes."""
    mass, stiffness, nodes = matrices()
    shapes = bar(coordinates).points.shapes.reshape(3 * len(nodes), -1)
    parts = {
        f"{name}_{key}": getattr(each, key)
        for name, each in (("mass", mass), ("stiffness", stiffness))
        for key in ("data", "indices", "indptr")
    }
    np.savez(path, nodes=nodes, shapes=shapes, pin=end_nodes(0.0), tip=end_nodes(LENGTH), **parts)
