"""Rods and beams in parts: large deflections at rest, large motions."""

from collections.abc import Iterator

import numpy as np

import phlexible as ph
from published.number import Number

MATTIASSON = "K. Mattiasson 1981, elliptic integrals of the elastica"
SONNEVILLE = (
    "V. Sonneville et al. 2014, bend of 45 degrees of Bathe and Bolourchi (Chrono, `utest_MOD_curved_beam`)"
)
SIMO_1986 = "J. C. Simo, L. Vu-Quoc 1986, bend of 45 degrees, coarse elements"
SIMPSON = "R. J. Simpson, R. Palacios 2013, cantilever of Geradin and Cardona (SHARPy)"
OBREZKOV = "L. Obrezkov et al. 2022, Princeton beam, beam elements of ANSYS"
SHEARED = "K. Nachbagauer et al. 2011, shear-deformable cantilever, 1024 elements (EXUDYN)"
ANCF = "EXUDYN, `ANCFcantileverTest.py`, converged Kirchhoff beam"
ROLL_UP = "roll-up by an end moment (closed form; Code_Aster V6.04.138)"
ELBOW = "J. C. Simo, L. Vu-Quoc 1988, elbow cantilever; 40 elements a leg of EXUDYN"
SPAGHETTI = "J. C. Simo, L. Vu-Quoc 1986, flying spaghetti; AeroBeams.jl"
SZE = "K. Y. Sze, X. H. Liu, S. H. Lo 2004, cantilever strip, shell elements S4R (TACS)"
WANG = "Q. Wang et al. 2017, composite cantilever with coupled bending and torsion (Kynema-FMB)"
ORIGIN = (0.0, 0.0, 0.0)
UNIT_MASS = np.diag([1.0, 1.0, 1.0, 2.0, 1.0, 1.0])  # of no influence at rest


def cantilever(rod: ph.Rod, dimension: int = 3, shape: object = None) -> tuple[ph.Model, object]:
    model = ph.Model(dimension=dimension)
    placed = model.add(rod, "rod", shape=shape)
    model.connect(ph.Fixed(model.ground.at(ORIGIN), placed.start))
    return model, placed


def loaded(rod: ph.Rod, force: tuple[float, float, float], dimension: int = 3, shape: object = None) -> np.ndarray:
    """Place of the end under a dead force there, raised in steps."""
    model, placed = cantilever(rod, dimension, shape)
    model.apply(ph.Force(placed.end, force))
    return model.equilibrium().position(placed.end)


def elastica() -> Iterator[Number]:
    """Tip of an inextensible cantilever under a dead load P, EI = L = 1."""
    exact = {
        1: (0.056433, 0.301721),
        2: (0.160642, 0.493457),
        3: (0.254420, 0.603253),
        5: (0.387628, 0.713792),
        10: (0.554996, 0.810609),
    }
    for load, (back, up) in exact.items():
        rod = ph.Rod(1.0, ph.Section(1e6, 1.0), ph.Material(1.0, 1.0, 0.0), 16, 2)
        x, y, _ = loaded(rod, (0.0, float(load), 0.0), 2)
        yield Number(MATTIASSON, f"cantilever, P L^2 / EI = {load}, tip up, of L", up, float(y), 1.0)
        yield Number(MATTIASSON, f"cantilever, P L^2 / EI = {load}, tip back, of L", back, float(1 - x), 1.0)


def parts() -> Iterator[Number]:
    """The same by a floating beam in sixteen parts."""
    beam = ph.Beam(1.0, ph.Section(1.0, 1e-6), ph.Material(1e6, 1.0), 16)
    model = ph.Model(dimension=2)
    body = model.add(beam.split(16), "beam")
    model.connect(ph.Fixed(model.ground.at(ORIGIN), body.start))
    model.apply(ph.Force(body.end, (0.0, 2.0, 0.0)))
    _, y, _ = model.equilibrium().position(body.end)
    yield Number(MATTIASSON, "P L^2 / EI = 2, beam in 16 parts, tip up, of L", 0.493457, float(y), 1.0)


def bend() -> Iterator[Number]:
    """An eighth of a circle of radius 100 under a force across its plane."""

    def arc(s: float) -> tuple[float, float, float]:
        return 100 * np.sin(s / 100), 100 * (1 - np.cos(s / 100)), 0.0

    rod = ph.Rod(25 * np.pi, ph.RectangularSection(1.0, 1.0), ph.Material(1e7, 1.0, 0.0), 16, 2)
    start = np.array([100 * np.sin(np.pi / 4), 100 * (1 - np.cos(np.pi / 4)), 0.0])
    moved = loaded(rod, (0.0, 0.0, 600.0), shape=arc) - start
    for name, exact, ours in zip(("along", "inwards", "up"), (-23.821, -13.732, 53.610), moved, strict=True):
        yield Number(SONNEVILLE, f"bend, P = 600, tip {name}", exact, float(ours), 100.0)
    section = ph.Section(1.0, 1 / 12, torsion_constant=0.141, shear_area_y=1.0)
    for load, tip in {300: (58.84, 22.33, 40.08), 450: (52.32, 18.62, 48.39)}.items():
        place = loaded(
            ph.Rod(25 * np.pi, section, ph.Material(1e7, 1.0, 0.0), 16, 2), (0.0, 0.0, float(load)), shape=arc
        )
        for axis, exact, ours in zip("xyz", tip, place, strict=True):
            yield Number(SIMO_1986, f"bend, P = {load}, {axis} of the tip", exact, float(ours), 100.0)


def strip() -> Iterator[Number]:
    """10 long, 1 wide, 0.1 thick, nu = 0, up to a force of 4 at its end."""
    rod = ph.Rod(10.0, ph.RectangularSection(1.0, 0.1), ph.Material(1.2e6, 1.0, 0.0), 16, 2)
    cases = {0.25: (3.015, 0.563), 0.5: (4.933, 1.604), 0.75: (6.031, 2.541), 1.0: (6.698, 3.286)}
    for share, (across, back) in cases.items():
        place = loaded(rod, (0.0, 0.0, 4.0 * share))
        yield Number(SZE, f"strip, {share} of the load, tip across", across, float(place[2]))
        yield Number(SZE, "the same, tip back", back, float(10 - place[0]))


def composite() -> Iterator[Number]:
    """10 long, bending and torsion coupled, a force of 150 across at the end; the mass has no influence at rest."""
    stiffness = np.diag([1368.17e3, 88.56e3, 38.78e3, 16.96e3, 59.12e3, 141.47e3])
    for (row, column), value in {(3, 4): 17.61e3, (3, 5): -0.351e3, (4, 5): -0.37e3}.items():
        stiffness[row, column] = stiffness[column, row] = value
    rod = ph.Rod(10.0, ph.GeneralSection(stiffness, UNIT_MASS), elements=16, order=2)
    moved = loaded(rod, (0.0, 0.0, 150.0)) - (10.0, 0.0, 0.0)
    for axis, exact, ours in zip("xyz", (-0.0902726627566, -0.0647488486259, 1.22973648292371), moved, strict=True):
        yield Number(WANG, f"composite cantilever, tip along {axis}", exact, float(ours))


def geradin() -> Iterator[Number]:
    """5 m long under 600 kN; EA = 4.8e8, GA = 3.231e8, GJ = 1e6, EI = 9.346e6."""
    stiffness = np.diag([4.8e8, 3.231e8, 3.231e8, 1e6, 9.346e6, 9.346e6])
    model, rod = cantilever(ph.Rod(5.0, ph.GeneralSection(stiffness, UNIT_MASS), elements=16, order=2))
    model.apply(ph.Force(rod.end, (0.0, 0.0, -600e3)))
    rest = model.equilibrium()
    place, turned = rest.position(rod.end), rest.rotation(rod.end)
    yield Number(SIMPSON, "cantilever, 600 kN, tip down [m]", -2.159, float(place[2]))
    yield Number(SIMPSON, "the same, shortening [m]", 0.596, float(5 - place[0]))
    yield Number(
        SIMPSON, "the same, rotation of the tip [rad]", 0.6720, float(np.arctan2(-turned[2, 0], turned[0, 0]))
    )


def princeton() -> Iterator[Number]:
    """Tip across the thin side of the section, for angles of the force from the wide side."""
    cases = [
        (8.896, 30, 0.0793948),
        (8.896, 45, 0.1089879),
        (8.896, 60, 0.1298876),
        (8.896, 90, 0.1462460),
        (13.345, 45, 0.1564672),
    ]
    for force, angle, exact in cases:
        model = ph.gallery.princeton_beam(angle=np.deg2rad(angle), force=force)
        tip = model.equilibrium().position(model["beam"].end)
        yield Number(
            OBREZKOV,
            f"Princeton beam, {force} N at {angle} degrees, across the thin side [m]",
            exact,
            float(tip[2]),
        )


def sheared() -> Iterator[Number]:
    """2 m long, 0.5 m high, 0.1 m wide, E = 2.07e11, nu = 0.3, F = 5e8 h^3."""
    section = ph.RectangularSection(0.5, 0.1, shear_coefficient=10 * 1.3 / (12 + 11 * 0.3))
    rod = ph.Rod(2.0, section, ph.Material(2.07e11, 7850.0, 0.3), 16, 2)
    for factor, exact in ((1.0, 0.71056837), (1e-3, 8.0990e-4)):
        place = loaded(rod, (0.0, 5e8 * 0.5**3 * factor, 0.0), 2)
        yield Number(SHEARED, f"thick cantilever, {factor:g} F, tip across [m]", exact, float(place[1]))
        if factor == 1.0:
            yield Number(SHEARED, "the same, tip back [m]", 0.15097103, float(2 - place[0]))


def kirchhoff() -> Iterator[Number]:
    """2 m long, 0.1 m square, E = 2.07e11, f = 3 EI / L^2; without shear, taken a thousand times as stiff."""
    area, moment, young = 0.01, 0.1**4 / 12, 2.07e11
    units = young * np.array([area, 1e3 * area, 1e3 * area, moment, moment, moment])
    rod = ph.Rod(2.0, ph.GeneralSection(np.diag(units), UNIT_MASS), elements=32, order=2)
    place = loaded(rod, (0.0, -3 * young * moment / 4, 0.0), 2)
    yield Number(ANCF, "slender cantilever, 3 EI / L^2, tip back [m]", -0.508537304326, float(place[0] - 2))
    yield Number(ANCF, "the same, tip down [m]", -1.207239854550, float(place[1]))


def roll_up() -> Iterator[Number]:
    model = ph.gallery.roll_up(turns=0.5, elements=16)
    place = model.equilibrium().position(model["strip"].end)
    yield Number(ROLL_UP, "half a turn, tip across, of L", 2 / np.pi, float(place[1]))


def elbow() -> Iterator[Number]:
    """Two legs of 10 m, the elbow is pushed out of the plane for 2 s."""
    section = ph.GeneralSection(np.diag([1e6, 1e6, 1e6, 1e3, 1e3, 1e3]), np.diag([1.0, 1.0, 1.0, 20.0, 10.0, 10.0]))
    model, first = cantilever(ph.Rod(10.0, section, elements=10, order=2))
    second = model.add(ph.Rod(10.0, section, elements=10, order=2), "second", shape=[(10, 0, 0), (10, 10, 0)])
    model.connect(ph.Fixed(first.end, second.start))
    model.apply(ph.Force(first.end, lambda t: (0, 0, 50 * max(0.0, 1 - abs(t - 1))), breakpoints=[1, 2]))
    motion = model.simulate(18.0, 0.02, progress=False)
    tip, knee = motion.position(second.end)[:, 2], motion.position(first.end)[:, 2]
    yield Number(ELBOW, "elbow cantilever, highest tip [m]", 8.25, float(tip.max()))
    yield Number(ELBOW, "the same, lowest tip [m]", -9.73, float(tip.min()))
    yield Number(ELBOW, "the same, lowest elbow [m]", -4.06, float(knee.min()))


def spaghetti() -> Iterator[Number]:
    model = ph.gallery.flying_spaghetti()
    motion, rod = model.simulate(7.5, 0.01, progress=False), model["rod"]
    away = motion.position(rod.start) - motion.position(rod.start)[0]
    yield Number(SPAGHETTI, "momentum after 2.5 s [kg m/s] (exact)", 20.0, float(motion.momentum.linear[-1, 0]))
    yield Number(SPAGHETTI, "loaded end, farthest along x [m]", 11.0911, float(away[:, 0].max()))
    yield Number(SPAGHETTI, "the same, highest [m]", 8.9328, float(away[:, 1].max()))


CASES = (elastica, parts, bend, strip, composite, geradin, princeton, sheared, kirchhoff, roll_up, elbow, spaghetti)
