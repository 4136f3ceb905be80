"""Bodies from meshes of solid elements, and mixed models of solids."""

from collections.abc import Iterator

import numpy as np
from scipy.integrate import solve_ivp
from skfem import MeshHex, MeshTri

import phlexible as ph
from phlexible.papers import solid
from published.number import Number

NAFEMS = "NAFEMS FV12, free thin square plate (FinEtoolsFlexStructures.jl)"
RING = "Code_Aster SDLS109, free ring (mboct-fem-pkg)"
MACNEAL = "R. H. MacNeal, R. L. Harder, twisted beam; D. Zupan, M. Saje (FinEtools)"

IN_PLANE = "N. S. Bardell et al., *On the free in-plane vibration of isotropic rectangular plates*, 1996"
STOKES = "P. E. Bjorstad, B. P. Tjostheim, *High precision solutions of two fourth order eigenvalue problems*, 1999"
COLUMN = (
    "column of A. Brugnoli, D. Matignon, J. Morlier, *Nonlinear Dynamics*, 2025; its finite elements written anew, "
    "in time by DOP853 of SciPy"
)
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


def thrown_column() -> Iterator[Number]:
    """1 m x 1 m x 6 m of the law of St. Venant and Kirchhoff in three bricks, thrown; and one that creeps."""
    mesh = grid(np.linspace(0, 1, 2), np.linspace(0, 1, 2), np.linspace(0, 6, 4))
    top = int(np.argmax(mesh.p.sum(axis=0)))
    for what, branches in (("", []), (", creeping", [(17e6, 0.02)])):
        place, lost = column_by_scipy(mesh, branches, 0.1)
        body = ph.SoftBody(
            mesh,
            ph.StVenantKirchhoff(17e6, 0.3),
            1100.0,
            order=1,
            relaxation=ph.Maxwell(branches) if branches else None,
        )
        model = ph.Model()
        placed = model.add(body, "column", velocity=lambda x: (5 / 3 * x[2], 0 * x[2], 0 * x[2]))
        for node in np.flatnonzero(mesh.p[2] < 1e-9).tolist():
            model.connect(ph.Spherical(model.ground.at(mesh.p[:, node]), placed.node(node)))
        motion = model.simulate(0.1, 5e-5, progress=False)
        ours = motion.position(placed.node(top))[-1]
        for axis in (0, 2):
            name = f"column thrown at 10 m/s, place of its upper corner after 0.1 s, {'xyz'[axis]} [m]{what}"
            yield Number(COLUMN, name, float(place[top, axis]), float(ours[axis]), 1.0)
        if branches:
            yield Number(
                COLUMN, "column thrown at 10 m/s, lost in 0.1 s [J], creeping", lost, motion.energy.dissipated[-1]
            )


def column_by_scipy(
    mesh: MeshHex, branches: list[tuple[float, float]], duration: float
) -> tuple[np.ndarray, float]:
    """Places of the nodes (N, 3) [m] and what the dashpots lost [J]: bricks of eight nodes and points."""
    start, cells = mesh.p.T, mesh.t.T
    at, weights = np.polynomial.legendre.leggauss(2)
    points = np.array(np.meshgrid(at, at, at)).reshape(3, -1).T
    corners = np.sign(start[cells[0]] - start[cells[0]].mean(axis=0))
    sides = np.ptp(start[cells], axis=1)
    factors = (1 + corners * points[:, None]) / 2  # (q, 8, 3)
    values = factors.prod(axis=2)
    slopes = np.stack([corners[:, a] * np.delete(factors, a, axis=2).prod(axis=2) for a in range(3)], axis=2)
    gradients = slopes / sides[:, None, None]  # (e, q, 8, 3)
    volumes = sides.prod(axis=1)[:, None] * np.einsum("i,j,k->ijk", weights, weights, weights).ravel() / 8
    mass = np.zeros((len(start),) * 2)
    for nodes, volume in zip(cells, volumes, strict=True):
        mass[np.ix_(nodes, nodes)] += 1100.0 * np.einsum("q,qi,qj->ij", volume, values, values)
    free = np.flatnonzero(start[:, 2] > 1e-9)
    inverse = np.linalg.inv(mass[np.ix_(free, free)])
    shear = 17e6 / (2 * 1.3)
    lame = 2 * shear * 0.3 / 0.4

    def stress(strain: np.ndarray) -> np.ndarray:
        trace = np.einsum("...aa->...", strain)[..., None, None]
        return lame * trace * np.eye(3) + 2 * shear * strain

    shape, split = (len(branches), *volumes.shape, 3, 3), np.cumsum([3 * len(free)] * 2)

    def rates(time: float, state: np.ndarray) -> np.ndarray:
        x, v = start.copy(), np.zeros_like(start)
        own, velocity, rest = np.split(state, split)
        x[free], v[free], e = own.reshape(-1, 3), velocity.reshape(-1, 3), rest[:-1].reshape(shape)
        F, G = (np.einsum("eka,eqkb->eqab", each[cells], gradients) for each in (x, v))
        pull = stress((np.swapaxes(F, 2, 3) @ F - np.eye(3)) / 2)
        strain_rate = (np.swapaxes(F, 2, 3) @ G + np.swapaxes(G, 2, 3) @ F) / 2
        de, loss = np.zeros(shape), 0.0
        for k, (stiffness, relaxation) in enumerate(branches):
            own_stress = stiffness / 17e6 * stress(e[k])
            pull = pull + own_stress
            de[k] = strain_rate - e[k] / relaxation
            loss += np.einsum("eq,eqab,eqab->", volumes, own_stress, e[k]) / relaxation
        forces, each = np.zeros_like(start), np.einsum("eq,eqab,eqbc,eqkc->eka", volumes, F, pull, gradients)
        np.add.at(forces, cells, each)
        return np.concatenate([velocity, -(inverse @ forces[free]).ravel(), de.ravel(), [loss]])

    throw = np.outer(start[free, 2], [5 / 3, 0.0, 0.0]).ravel()
    first = np.concatenate([start[free].ravel(), throw, np.zeros(int(np.prod(shape)) + 1)])
    end = solve_ivp(rates, (0, duration), first, "DOP853", rtol=1e-10, atol=1e-10).y[:, -1]
    x = start.copy()
    x[free] = end[: 3 * len(free)].reshape(-1, 3)
    return x, float(end[-1])


CASES = (plate, ring, twisted, stress_in_h_div, thrown_column)
