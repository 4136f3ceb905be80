"""Static problems of shells of large rotation with published answers (Sze, Liu and Lo 2004)."""

import numpy as np
import pytest

import phlexible as ph
from bodies.shell.linear_cases import grid
from phlexible.algebra.arrays import Array, IntArray
from phlexible.description.ports import Attachment, PlacedBody


class LargeCase:
    """A shell on a grid of nodes, whose edges are held to the ground and which forces pull."""

    def __init__(self, points: Array, cells: IntArray, shell: tuple[float, float, float], directors=None) -> None:
        self.thickness, E, nu = shell
        self.mesh, self.material, self.directors = (points, cells), ph.Material(E, 1.0, nu), directors
        self.model, self.placed = ph.Model(), None

    def hold(self, **edges: tuple[IntArray, str]) -> PlacedBody:
        shell = ph.Shell(self.mesh, self.thickness, self.material, edges, directors=self.directors)
        self.placed = self.model.add(shell, "shell")
        for name in edges:
            port = self.placed[name]
            if port.point.fixed_nodes:
                self.model.connect(ph.Fixed(self.model.ground.at(port.initial_position()), port))
        return self.placed

    def pull(self, port: Attachment, force: Array) -> None:
        self.model.apply(ph.Force(port, np.asarray(force, dtype=float)))

    def moved(self, *numbers: int) -> Array:
        """Displacements of nodes at rest under the forces, shape (k, 3)."""
        rest = self.model.equilibrium()
        nodes = [self.placed.node(int(number)) for number in numbers]
        return np.array([rest.position(node) - node.initial_position() for node in nodes])


def cantilever(n: int, m: int, load: float = 1.0) -> dict[str, float]:
    """Tip of a strip under an end force over 3.286 and 6.698."""
    u, v, cells, numbers = grid(n, m)
    case = LargeCase(np.column_stack([10 * u, v, 0 * u]), cells, (0.1, 1.2e6, 0.0))
    strip = case.hold(start=(numbers[0], "rigid"), end=(numbers[-1], "average"))
    case.pull(strip["end"], (0, 0, 4.0 * load))
    moved = case.moved(numbers[-1, 0])[0]
    return {"-u": -moved[0] / 3.286, "w": moved[2] / 6.698}


def slit_annulus(n: int, m: int, load: float = 1.0) -> dict[str, float]:
    """Lift of both corners of an annulus that is slit and pulled at one side of the slit, over 17.528, 13.891."""
    u, v, cells, numbers = grid(n, m)
    r, a = 6 + 4 * u, 2 * np.pi * v
    case = LargeCase(np.column_stack([r * np.cos(a), r * np.sin(a), 0 * r]), cells, (0.03, 21e6, 0.0))
    with pytest.warns(ph.MeshWarning, match="has a slit there"):
        sheet = case.hold(start=(numbers[:, 0], "rigid"), end=(numbers[:, -1], "average"))
    case.pull(sheet["end"], (0, 0, 3.2 * load))
    moved = case.moved(numbers[-1, -1], numbers[0, -1])[:, 2]
    return {"outer": moved[0] / 17.528, "inner": moved[1] / 13.891}


def hemisphere(n: int, load: float = 1.0) -> dict[str, float]:
    """Displacements under two pairs of forces on a hemisphere with a hole over 4.067 (outwards) and 8.178.

    A quarter of it has n x n elements; a weak spring keeps it from floating away along its axis.
    """
    u, v, cells, numbers = grid(n, n)
    a, b = np.pi / 2 * u, np.radians(72.0) * v
    D = np.column_stack([np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)])
    case = LargeCase(10 * D, cells, (0.04, 6.825e7, 0.3), D)
    ball = case.hold(first=(numbers[0], "symmetric"), second=(numbers[-1], "symmetric"))
    low = ball.node(int(numbers[0, 0]))
    below = case.model.ground.at(low.initial_position() - [0, 0, 100.0])
    case.model.apply(ph.SpringDamper(below, low, stiffness=1.0))
    case.pull(low, (200 * load, 0, 0))
    case.pull(ball.node(int(numbers[-1, 0])), (0, -200 * load, 0))
    one, two = case.moved(numbers[0, 0], numbers[-1, 0])
    return {"out": one[0] / 4.067, "in": -two[1] / 8.178}


def pulled_cylinder(n: int, m: int, load: float = 1.0) -> dict[str, float]:
    """Displacements of a cylinder that two forces pull out, over 2.768, 4.551 and 3.269; an eighth of it."""
    u, v, cells, numbers = grid(n, m)
    a = np.pi / 2 * u
    D = np.column_stack([np.sin(a), 0 * a, np.cos(a)])
    case = LargeCase(4.953 * D + np.outer(10.35 / 2 * v, (0, 1, 0)), cells, (0.094, 10.5e6, 0.3125), D)
    tube = case.hold(
        top=(numbers[0], "symmetric"), side=(numbers[-1], "symmetric"), middle=(numbers[:, -1], "symmetric")
    )
    case.pull(tube.node(int(numbers[0, -1])), (0, 0, 1e4 * load))
    A, B, C = case.moved(numbers[0, -1], numbers[-1, -1], numbers[-1, 0])
    return {"A": A[2] / 2.768, "B": -B[0] / 4.551, "C": -C[0] / 3.269}


ROOF_DEPTHS = np.array([0.693, 1.638, 3.087, 4.477, 5.802, 7.057, 8.237, 9.339, 10.358]) * 1e-3
ROOF_FORCES = 3000 * np.array([0.0877, 0.1980, 0.3473, 0.4686, 0.5647, 0.6381, 0.6908, 0.7246, 0.7412])
"""Deflections of the middle [m] and forces [N] of the hinged roof of 12.7 mm, from Sze, Liu and Lo as cited by the
program PENGoLINS (its case of an isotropic hinged cylinder)."""


def hinged_roof(thickness: float, depths: Array, n: int = 8) -> tuple[Array, Array]:
    """Force on the middle of a flat cylindrical roof [N], and energy of the roof [J], at each of its deflections
    ``depths``, which a link prescribes as a function of time. A quarter of it has n x n elements."""
    u, v, cells, numbers = grid(n, n)
    D = np.column_stack([np.sin(0.1 * u), 0 * u, np.cos(0.1 * u)])
    case = LargeCase(2.54 * D + np.outer(0.254 * v, (0, 1, 0)), cells, (thickness, 3.10275e9, 0.3), D)
    roof = case.hold(
        crown=(numbers[0], "symmetric"), middle=(numbers[:-1, 0], "symmetric"), side=(numbers[-1], "hinged")
    )
    top = roof.node(int(numbers[0, 0]))
    above = case.model.ground.at(top.initial_position() + [0, 0, 1.0])
    link = case.model.connect(ph.Distance(above, top, length=lambda t: 1.0 + t))
    rest, found = None, []
    for depth in depths:
        rest = case.model.equilibrium(rest, time=depth)
        found.append((-4 * rest.reaction(link)[2], 4 * rest.potential_energy))
    forces, energies = np.transpose(found)
    return forces, energies
