"""Bodies from meshes of solid elements."""

from collections.abc import Iterator

import numpy as np
from skfem import MeshHex

import phlexible as ph
from published.number import Number

NAFEMS = "NAFEMS FV12, free thin square plate (FinEtoolsFlexStructures.jl)"
RING = "Code_Aster SDLS109, free ring (mboct-fem-pkg)"
MACNEAL = "R. H. MacNeal, R. L. Harder, twisted beam; D. Zupan, M. Saje (FinEtools)"


def grid(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> MeshHex:
    return MeshHex.init_tensor(x, y, z)


def plate() -> Iterator[Number]:
    """10 m square, 50 mm thick, elements of second order."""
    side = np.linspace(0, 10, 17)
    mesh = grid(side, side, np.array([-0.025, 0.025]))
    body = ph.FlexibleBody.from_mesh(mesh, ph.Material(200e9, 8000.0, 0.3), modes=6)
    found = np.sort(body.frequencies)[:6] / (2 * np.pi)
    for k, exact in enumerate((1.622, 2.360, 2.922, 4.190)):
        yield Number(NAFEMS, f"free plate, frequency {k + 1} [Hz]", exact, float(found[k]))


def ring() -> Iterator[Number]:
    """Mean radius 0.369 m, 48 mm by 50 mm."""
    turns = np.linspace(0, 2 * np.pi, 49)
    mesh = grid(turns, np.linspace(0.345, 0.393, 3), np.linspace(-0.025, 0.025, 3))
    angle, radius, height = mesh.p
    places = np.round([radius * np.cos(angle), radius * np.sin(angle), height], 12) + 0.0
    closed = MeshHex(places, mesh.t).remove_duplicate_nodes()
    body = ph.FlexibleBody.from_mesh(closed, ph.Material(185e9, 7800.0, 0.3), modes=8)
    found = np.sort(body.frequencies)[:8] / (2 * np.pi)
    for k, exact in ((0, 205.89), (2, 210.55), (4, 587.92), (6, 588.88)):
        yield Number(RING, f"free ring, frequencies {k + 1} and {k + 2} [Hz]", exact, float(found[k]))


def twisted() -> Iterator[Number]:
    """12 long, 1.1 wide, 0.32 thick, twisted by 90 degrees; unit forces at the tip in both directions."""
    mesh = grid(np.linspace(0, 12, 25), np.linspace(-0.55, 0.55, 5), np.linspace(-0.16, 0.16, 3))
    x, y, z = mesh.p
    turn = np.pi / 2 * x / 12
    mesh = MeshHex(np.array([x, y * np.cos(turn) - z * np.sin(turn), y * np.sin(turn) + z * np.cos(turn)]), mesh.t)
    body = ph.FlexibleBody.from_mesh(
        mesh,
        ph.Material(0.29e8, 1.0, 0.22),
        {"root": (lambda x: x[0] < 1e-9, "rigid"), "tip": lambda x: x[0] > 12 - 1e-9},
        modes=4,
        frame="root",
        strain="linear",
    )
    cases = {"z": ((0, 0, 1.0), 0.005424534868469), "y": ((0, 1.0, 0), 0.001753248285256)}
    for name, (force, exact) in cases.items():
        model = ph.Model()
        part = model.add(body, "part")
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), part["root"]))
        model.apply(ph.Force(part["tip"], force))
        rest = model.equilibrium()
        moved = rest.position(part["tip"]) - (12.0, 0, 0)
        yield Number(MACNEAL, f"twisted beam, unit force along {name}", exact, float(moved @ np.array(force)))


CASES = (plate, ring, twisted)
