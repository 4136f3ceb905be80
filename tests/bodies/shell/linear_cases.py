"""Linear problems of shells with published answers, each as value over reference, for n elements a side."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.material import Material
from phlexible.bodies.product_elements import ProductElements
from phlexible.bodies.shell.shell import Shell

XYZ = (0, 1, 2)


class LinearShell:
    """Stiffness of a shell at rest, with held components and loads."""

    def __init__(self, shell: Shell) -> None:
        self.mesh, self.body = shell.soft_mesh, shell.discretize(3)
        rest = self.mesh.vectors(shell.nodes, self.mesh.gyration * self.mesh.directors)
        self.stiffness = sum(matrix_at_rest(each, rest) for each in self.body.products)
        self.load = np.zeros((len(self.mesh.nodes), 3))
        self.held: list[IntArray] = []
        self.given = np.zeros_like(self.load)
        self.areas = np.zeros(len(shell.nodes))
        np.add.at(self.areas, np.searchsorted(self.mesh.used, self.mesh.cells), self.mesh.elements.node_areas)

    def hold(self, points: IntArray, components: Sequence[int], directors: Sequence[int] = ()) -> None:
        owners = np.isin(self.mesh.director_nodes, points)
        for at, axes in ((self.mesh.node_at[points], components), (self.mesh.director_at[owners], directors)):
            self.held.append((3 * at[:, None] + np.array(axes, dtype=int)).ravel())

    def displacements(self) -> Array:
        return self.solution()[self.mesh.node_at]

    def solution(self) -> Array:
        """Displacements of all unknown vectors; held ones have the given values, shape (N + k, 3)."""
        free = np.setdiff1d(np.arange(self.load.size), np.concatenate([np.zeros(0, dtype=int), *self.held]))
        result = self.given.ravel().copy()
        result[free] = 0.0
        load = self.load.ravel() - self.stiffness @ result
        result[free] = splu(self.stiffness.tocsc()[free][:, free]).solve(load[free])
        return result.reshape(-1, 3)


def matrix_at_rest(group: ProductElements, vectors: Array) -> sparse.csr_array:
    """Stiffness of elements that are not strained, from their products alone."""
    own = vectors[group.nodes]
    e, k = group.nodes.shape
    chord = np.eye(k)
    chord[: group.position_count, 0] -= group.position_count > 0
    chord = chord[group.position_count > 0 :]
    y = np.einsum("ck,eki->eci", chord, own)
    n = len(group.pairs)
    slopes = np.zeros((e, n, len(chord), 3))
    for p, (a, b) in enumerate(group.pairs):
        slopes[:, p, a] += y[:, b]
        slopes[:, p, b] += y[:, a]
    H, first, number = np.zeros((e, n, n)), 0, 0
    for size in group.blocks:
        own_block = group.stiffness[:, number : number + size**2].reshape(e, size, size)
        H[:, first : first + size, first : first + size] = own_block
        first, number = first + size, number + size**2
    rows = np.einsum("epci,ck->epki", slopes, chord).reshape(e, n, 3 * k)
    blocks = rows.swapaxes(1, 2) @ H @ rows
    at = (3 * group.nodes[:, :, None] + np.arange(3)).reshape(e, -1)
    both = np.broadcast_arrays(at[:, :, None], at[:, None])
    entries = (blocks.ravel(), tuple(each.ravel() for each in both))
    return sparse.coo_array(entries, shape=(vectors.size,) * 2).tocsr()


def grid(n: int, m: int, distortion: float | str = 0.0) -> tuple[Array, Array, IntArray, IntArray]:
    """Coordinates u and v in the unit square, elements and numbers of nodes of a mesh of n x m elements.

    It is regular, or its inner nodes are moved at random by a share of a side, or along Bathe's lines ("bathe").
    """
    u, v = np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, m + 1), indexing="ij")
    if distortion == "bathe":
        one, two = (np.concatenate([[0.0], np.cumsum(np.arange(1.0, k + 1))]) for k in (n, m))
        one, two = one / one[-1], two / two[-1]
        a, b = np.meshgrid(one, 1 - two[::-1], indexing="ij")
        c, d = np.meshgrid(1 - one[::-1] - one, two - (1 - two[::-1]), indexing="ij")
        v = (b + d * a) / (1 - c * d)  # of the lines u = a + c v, v = b + d u
        u = a + c * v
    elif distortion:
        rng = np.random.default_rng(0)
        inner = np.zeros(u.shape, dtype=bool)
        inner[1:-1, 1:-1] = True
        u = u + distortion / n * np.where(inner, rng.uniform(-1, 1, u.shape), 0)
        v = v + distortion / m * np.where(inner, rng.uniform(-1, 1, u.shape), 0)
    numbers = np.arange(u.size).reshape(u.shape)
    cells = np.stack([numbers[:-1, :-1], numbers[1:, :-1], numbers[1:, 1:], numbers[:-1, 1:]], axis=-1)
    return u.ravel(), v.ravel(), cells.reshape(-1, 4), numbers


def shell_of(
    points: Array, cells: IntArray, thickness: float, E: float, nu: float, directors: Array | None = None
) -> LinearShell:
    return LinearShell(Shell((points, cells), thickness, Material(E, 1.0, nu), directors=directors))


def shares(count: int) -> Array:
    """Shares of a uniform line load on equally spaced nodes."""
    result = np.ones(count)
    result[[0, -1]] = 0.5
    return result / result.sum()


def scordelis_lo(n: int, distortion: float | str = 0.0) -> float:
    """Deflection of the middle of the free edge of a roof under its weight over 0.3024 (MacNeal and Harder)."""
    u, v, cells, numbers = grid(n, n, distortion)
    angle = np.radians(40.0) * u
    D = np.column_stack([np.sin(angle), np.zeros_like(u), np.cos(angle)])
    shell = shell_of(25 * D + np.outer(25 * v, [0, 1, 0]), cells, 0.25, 4.32e8, 0.0, D)
    shell.hold(numbers[:, 0], (0, 2))
    shell.hold(numbers[:, -1], (1,), (1,))
    shell.hold(numbers[0], (0,), (0,))
    shell.load[shell.mesh.node_at] = np.outer(shell.areas, [0, 0, -90.0])
    return -shell.displacements()[numbers[-1, -1], 2] / 0.3024


def pinched_cylinder(n: int, distortion: float | str = 0.0) -> float:
    """Deflection under a pair of forces on a cylinder with end diaphragms over 1.8248e-5 (Belytschko)."""
    u, v, cells, numbers = grid(n, n, distortion)
    D = np.column_stack([np.sin(np.pi / 2 * u), np.zeros_like(u), np.cos(np.pi / 2 * u)])
    shell = shell_of(300 * D + np.outer(300 * v, [0, 1, 0]), cells, 3.0, 3e6, 0.3, D)
    shell.hold(numbers[:, 0], (0, 2))
    shell.hold(numbers[:, -1], (1,), (1,))
    shell.hold(numbers[0], (0,), (0,))
    shell.hold(numbers[-1], (2,), (2,))
    shell.load[shell.mesh.node_at[numbers[0, -1]], 2] = -0.25
    return -shell.displacements()[numbers[0, -1], 2] / 1.8248e-5


def hemisphere(n: int, distortion: float | str = 0.0) -> float:
    """Displacement under two pairs of forces on a hemisphere with a hole of 18 degrees over 0.093."""
    u, v, cells, numbers = grid(n, n, distortion)
    a, b = np.pi / 2 * u, np.radians(72.0) * v
    D = np.column_stack([np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)])
    shell = shell_of(10 * D, cells, 0.04, 6.825e7, 0.3, D)
    shell.hold(numbers[0], (1,), (1,))
    shell.hold(numbers[-1], (0,), (0,))
    shell.hold(numbers[0, :1], (2,))
    return _pinched(shell, numbers[0, 0], numbers[-1, 0]) / 0.093


def closed_hemisphere(n: int) -> float:
    """Displacement under two pairs of forces on a hemisphere of three patches over 0.0924.

    Each side of an octant has n elements.
    """
    h, axes = n // 2, np.eye(3)
    u, v, quads, _ = grid(h, h)
    places, cells = [], []
    for k in range(3):
        a, b, d = axes[k], (axes[k] + axes[k - 2]) / 2, (axes[k] + axes[k - 1]) / 2
        corners = [each / np.linalg.norm(each) for each in (a, b, np.ones(3), d)]
        weights = ((1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v)
        patch = sum(np.outer(w, corner) for w, corner in zip(weights, corners, strict=True))
        places.append(10 * patch / np.linalg.norm(patch, axis=1, keepdims=True))
        cells.append(quads + k * len(u))
    points, joined = np.unique(np.round(np.concatenate(places), 10), axis=0, return_inverse=True)
    shell = shell_of(points, joined.ravel()[np.concatenate(cells)], 0.04, 6.825e7, 0.3, points)
    shell.hold(np.flatnonzero(np.abs(points[:, 1]) < 1e-9), (1,), (1,))
    shell.hold(np.flatnonzero(np.abs(points[:, 0]) < 1e-9), (0,), (0,))
    shell.hold(np.array([points[:, 2].argmax()]), (2,))
    return _pinched(shell, int(points[:, 0].argmax()), int(points[:, 1].argmax())) / 0.0924


def _pinched(shell: LinearShell, first: int, second: int) -> float:
    shell.load[shell.mesh.node_at[first], 0], shell.load[shell.mesh.node_at[second], 1] = 1.0, -1.0
    found = shell.displacements()
    return float(found[first, 0] - found[second, 1]) / 2


def clamped_plate(n: int, distortion: float | str = 0.0) -> float:
    """Deflection of a clamped square plate of t / a = 1e-3 under a central force over 0.0056118 P a^2 / D."""
    u, v, cells, numbers = grid(n, n, distortion)
    t = 1e-3
    shell = shell_of(np.column_stack([u / 2, v / 2, 0 * u]), cells, t, 1e6, 0.3)
    shell.hold(numbers[-1], XYZ, XYZ)
    shell.hold(numbers[:, -1], XYZ, XYZ)
    shell.hold(numbers[0], (0,), (0,))
    shell.hold(numbers[:, 0], (1,), (1,))
    shell.load[shell.mesh.node_at[numbers[0, 0]], 2] = 0.25
    return shell.displacements()[numbers[0, 0], 2] * 1e6 * t**3 / 12 / (1 - 0.09) / 0.0056118


def twisted_beam(n: int, m: int, thickness: float, axis: int) -> float:
    """Deflection along y (1) or z (2) of a beam that is twisted by 90 degrees, over that of Zupan and Saje."""
    u, v, cells, numbers = grid(n, m)
    angle, across = np.pi / 2 * u, 1.1 * (v - 0.5)
    shell = shell_of(
        np.column_stack([12 * u, across * np.cos(angle), across * np.sin(angle)]), cells, thickness, 0.29e8, 0.22
    )
    force, references = (1.0, (0.0017532, 0.0054245)) if thickness == 0.32 else (1e-6, (0.001294, 0.005256))
    return _tip_deflection(shell, numbers, axis, force) / references[axis - 1]


def _tip_deflection(shell: LinearShell, numbers: IntArray, axis: int, force: float) -> float:
    """Mean deflection of the last edge under a force along an axis; the first edge is clamped."""
    shell.hold(numbers[0], XYZ, XYZ)
    weights = shares(len(numbers[-1]))
    shell.load[shell.mesh.node_at[numbers[-1]], axis] = force * weights
    return float(weights @ shell.displacements()[numbers[-1], axis])


def raasch_hook(n: int, m: int) -> float:
    """Tip deflection of Raasch's hook under a force across its plane over 5.0220."""
    _, v, cells, numbers = grid(n, m)
    first = max(1, round(n * 60 / 210 * 0.8))
    angle = np.concatenate(
        [
            np.radians(60) * np.linspace(0, 1, first + 1)[:-1],
            np.radians(60 + 150 * np.linspace(0, 1, n - first + 1)),
        ]
    )
    small, third = angle < np.radians(60), np.pi / 3
    turn = np.where(small, angle, 2 * third - angle)
    D = np.column_stack([np.sin(turn), -np.cos(turn)])
    end = 14 * np.array([np.sin(third), 1 - np.cos(third)])
    middle = end + 46 * np.array([np.sin(third), -np.cos(third)])
    arc = np.where(small[:, None], np.array([0.0, 14.0]) + 14 * D, middle - 46 * D)
    at = np.repeat(np.arange(n + 1), m + 1)
    zero = np.zeros_like(v)
    shell = shell_of(np.column_stack([arc[at], 20 * v]), cells, 2.0, 3300.0, 0.35, np.column_stack([D[at], zero]))
    return _tip_deflection(shell, numbers, 2, 1.0) / 5.0220


def cook(n: int) -> float:
    """Deflection of Cook's membrane over 23.96."""
    u, v, cells, numbers = grid(n, n)
    shell = shell_of(np.column_stack([48 * u, 44 * u + v * (44 - 28 * u), 0 * u]), cells, 1.0, 1.0, 1 / 3)
    shell.hold(numbers[0], XYZ, XYZ)
    shell.hold(numbers.ravel(), (2,))
    shell.load[shell.mesh.node_at[numbers[-1]], 1] = shares(n + 1)
    return float(shell.displacements()[numbers[-1, n // 2], 1]) / 23.96


def slender_beam(kind: str, axis: int) -> float:
    """Tip deflection of MacNeal and Harder's slender beam of six elements, in plane (1) or out of it (2)."""
    bottom = np.linspace(0, 6, 7)
    top = bottom.copy()
    zigzag = 0.1 * np.array([0, 1, -1, 1, -1, 1, 0])
    if kind == "trapezoids":
        top, bottom = top + zigzag, bottom - zigzag
    elif kind == "parallelograms":
        top[1:-1], bottom[1:-1] = top[1:-1] + 0.1, bottom[1:-1] - 0.1
    _, _, cells, numbers = grid(6, 1)
    points = np.zeros((14, 3))
    points[numbers[:, 0], 0], points[numbers[:, 1], 0], points[numbers[:, 1], 1] = bottom, top, 0.2
    return _tip_deflection(shell_of(points, cells, 0.1, 1e7, 0.3), numbers, axis, 1.0) / (0.1081, 0.4321)[axis - 1]


def z_section(along: int, flange: int, web: int) -> float:
    """Axial stress at the edge of a flange of a twisted Z section over 108 MPa (NAFEMS LE5)."""
    y = np.concatenate([np.linspace(-1, 0, flange + 1)[:-1], np.zeros(web), np.linspace(0, 1, flange + 1)])
    z = np.concatenate([np.ones(flange), np.linspace(1, -1, web + 1)[:-1], -np.ones(flange + 1)])
    u, _, cells, numbers = grid(along, 2 * flange + web)
    points = np.column_stack([10 * u, np.tile(y, along + 1), np.tile(z, along + 1)])
    shell = shell_of(points, cells, 0.1, 210e9, 0.3)
    assert len(shell.mesh.folds) == 2 * (along + 1)
    shell.hold(numbers[0], XYZ, XYZ)
    for force, edge in ((0.6e6, numbers[-1, : flange + 1]), (-0.6e6, numbers[-1, -flange - 1 :])):
        shell.load[shell.mesh.node_at[edge], 1] += force * shares(flange + 1)
    at, found = along // 4, shell.displacements()
    strain = (found[numbers[at + 1, 0], 0] - found[numbers[at - 1, 0], 0]) / (20 / along)
    return abs(210e9 * strain) / 108e6
