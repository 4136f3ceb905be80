"""Bodies from meshes of solid elements, and mixed models of solids."""

from collections.abc import Iterator

import numpy as np
from skfem import MeshHex, MeshTri

import phlexible as ph
from phlexible.papers import solid
from published.number import Number

NAFEMS = "NAFEMS FV12, free thin square plate (FinEtoolsFlexStructures.jl)"
RING = "Code_Aster SDLS109, free ring (mboct-fem-pkg)"
MACNEAL = "R. H. MacNeal, R. L. Harder, twisted beam; D. Zupan, M. Saje (FinEtools)"

IN_PLANE = "N. S. Bardell et al., *On the free in-plane vibration of isotropic rectangular plates*, 1996"
STOKES = "P. E. Bjorstad, B. P. Tjostheim, *High precision solutions of two fourth order eigenvalue problems*, 1999"
LAME = "G. Lame 1852, free square, omega = sqrt(2) pi c_T / a at any Poisson's ratio"


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


def stress_in_h_div() -> Iterator[Number]:
    """Squares of 288 triangles, E = rho = a = 1: plane stress, and plane strain that does not lock."""
    side = np.linspace(0, 1, 13)
    square = MeshTri.init_tensor(side, side).with_boundaries({"rim": lambda x: x[0] > -1})

    def frequencies(poissons_ratio: float, clamped: str | None, plane: str, count: int) -> np.ndarray:
        model = solid(square, 1.0, poissons_ratio, 1.0, clamped=clamped, stress="h_div", plane=plane)
        return ph.LinearModel.of(model).modes(count).elastic_frequencies

    unit = np.sqrt(1 - 0.3**2)
    for clamped, name, known in (
        ("rim", "clamped", {1: 3.555, 3: 4.235, 4: 5.186}),
        (None, "free", {1: 2.321, 2: 2.472, 4: 2.628}),
    ):
        found = unit * frequencies(0.3, clamped, "stress", 7)
        for k, exact in known.items():
            yield Number(
                IN_PLANE, f"{name} square of triangles, in its plane, pulsation {k}", exact, float(found[k - 1])
            )
    nu = 0.49999
    speed = np.sqrt(0.5 / (1 + nu))
    found = frequencies(nu, "rim", "strain", 1)
    what = "clamped square of triangles, nu = 0.49999, pulsation 1 (Stokes' flow)"
    yield Number(STOKES, what, float(np.sqrt(52.34469116) * speed), float(found[0]))
    found = frequencies(nu, None, "strain", 5)
    exact = float(np.sqrt(2) * np.pi * speed)
    yield Number(LAME, "free square of triangles, nu = 0.49999, pulsation 2", exact, float(found[1]))


CASES = (plate, ring, twisted, stress_in_h_div)
