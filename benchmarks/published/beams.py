"""Beams: frequencies at rest and in rotation, sections, stresses."""

from collections.abc import Iterator

import numpy as np

import phlexible as ph
from published.number import Number

BLEVINS = "R. D. Blevins, *Formulas for Natural Frequency and Mode Shape*, 1979, table 8-1"
BRUCH = "J. C. Bruch, T. P. Mitchell, *Vibrations of a mass-loaded clamped-free Timoshenko beam*, 1987"
WRIGHT = "A. D. Wright et al., *Vibration modes of centrifugally stiffened beams*, 1982"
HAMZA = "S. M. Hamza cherif, A. Houmat, ICAS 2004, table 2"
KIRCHHOFF = "G. Kirchhoff, 1879 (Bessel functions)"
NACHBAGAUER = "K. Nachbagauer et al. 2013, 256 elements (EXUDYN, `ANCFBeamEigTest.py`)"
KITIS = "data of L. Kitis, R. G. Lindenberg 1990; exact dynamic stiffness matrices"
ARGYRIS = "J. Argyris, L-frame (FinEtoolsFlexStructures.jl, `argyr_l_frame_modal_examples.jl`)"
GENTA = "rotating shafts: natural pulsation plus and minus the speed (textbook)"
GOODIER = "S. P. Timoshenko, J. N. Goodier, *Theory of Elasticity*, torsion of a bar of square section"
CENTRIFUGAL = "Code_Aster V3.04.105, centrifugal bar"
MBOCT = "mboct-fem-pkg, `fem_tests_060.tst`, rotating bar"
ORIGIN = (0.0, 0.0, 0.0)


def unit_beam(elements: int = 60) -> ph.Beam:
    """Length, rho A and EI are 1; axial motion is far above."""
    return ph.Beam(1.0, ph.Section(1.0, 1e-6), ph.Material(1e6, 1.0), elements, rotary_inertia=False)


def held_beam(kind: str) -> list[float]:
    """beta L of the lowest elastic modes in the plane."""
    model = ph.Model(dimension=2)
    beam = model.add(unit_beam(), "beam")
    if kind.startswith("clamped"):
        model.connect(ph.Fixed(model.ground.at(ORIGIN), beam.start))
    if kind == "clamped-pinned":
        model.connect(ph.Slider(model.ground.at((1, 0, 0)), beam.end, axis=(1, 0, 0)))
    if kind == "clamped-mass":
        mass = model.add(ph.PointMass(1.0), "tip", position=(1, 0, 0))
        model.connect(ph.Revolute(beam.end, mass.origin))
    return [float(np.sqrt(w)) for w in model.linearize().modes(6).elastic_frequencies[:3]]


def at_rest() -> Iterator[Number]:
    """Roots beta L of uniform beams."""
    cases = {
        "free-free": (4.7300407448627, 7.8532046240958, 10.995607838002),
        "clamped-free": (1.875104068712, 4.6940911329742, 7.8547574382376),
        "clamped-pinned": (3.9266023120479, 7.0685827456287, 10.210176122813),
    }
    for kind, roots in cases.items():
        for k, (exact, found) in enumerate(zip(roots, held_beam(kind), strict=True), 1):
            yield Number(BLEVINS, f"{kind} beam, root {k}, beta L", exact, found)
    for k, (exact, found) in enumerate(
        zip((1.2479174096065, 4.031139436715), held_beam("clamped-mass")[:2], strict=True), 1
    ):
        yield Number(BRUCH, f"cantilever with a tip mass rho A L, root {k}, beta L (slender)", exact, found)


def rotating() -> Iterator[Number]:
    """Of a cantilever on a hub of radius 0, in units of sqrt(EI / (rho A L^4))."""
    for speed, flaps in {6: (7.3604, 26.8091, 66.6839), 12: (13.1702, 37.6031, 79.6145)}.items():
        found = (
            ph.gallery.rotating_cantilever(float(speed), elements=40)
            .linearize(at="steady_rotation")
            .modes(8)
            .frequencies
        )
        for k, exact in enumerate(flaps, 1):
            ours = float(found[np.abs(found - exact).argmin()])
            yield Number(WRIGHT, f"rotating cantilever at speed {speed}, flap {k}", exact, ours)
    for speed, flap, chord in ((4, 5.5850, 3.888), (10, 11.2023, 4.97)):
        model = ph.gallery.rotating_cantilever(float(speed), slenderness=70.0, elements=40)
        found = model.linearize(at="steady_rotation").modes(6).frequencies
        for name, exact in (("flap", flap), ("chord, extensible", chord)):
            ours = float(found[np.abs(found - exact).argmin()])
            yield Number(HAMZA, f"rotating cantilever, slenderness 70, speed {speed}, {name} 1", exact, ours)


def sharp() -> Iterator[Number]:
    """A wedge and a cone, clamped at their thick ends: omega / sqrt(EI / (rho A L^4)) of the root."""
    steel = ph.Material(2e11, 7800.0, 0.3)
    shapes = {
        "wedge": (lambda x: ph.RectangularSection(0.05 * (1 - x), 0.02), (5.31510, 15.20717)),
        "cone": (lambda x: ph.CircularSection(0.05 * (1 - x)), (8.71926, 21.14566)),
    }
    for name, (section, exacts) in shapes.items():
        model = ph.Model(dimension=2)
        placed = model.add(ph.Beam(1.0, section, steel, 64, rotary_inertia=False), "beam")
        model.connect(ph.Fixed(model.ground.at(ORIGIN), placed.start))
        root = section(0.0)
        unit = np.sqrt(2e11 * root.second_moment_z / (7800.0 * root.area))
        for k, exact in enumerate(exacts):
            ours = float(model.linearize().modes(2).frequencies[k] / unit)
            yield Number(KIRCHHOFF, f"{name}, pulsation {k + 1}", exact, ours)


def thick() -> Iterator[Number]:
    """On supports, 2 m long and 0.4 m thick, sections that shear."""
    section = ph.RectangularSection(0.4, 0.4, shear_coefficient=10 * 1.3 / (12 + 11 * 0.3))
    beam = ph.Beam(2.0, section, ph.Material(1e9, 7850.0, 0.3), 30, theory="timoshenko", strain="linear")
    model = ph.Model(dimension=2)
    placed = model.add(beam, "beam")
    model.connect(ph.Revolute(model.ground.at(ORIGIN), placed.start))
    model.connect(ph.Slider(model.ground.at((2, 0, 0)), placed.end, axis=(1, 0, 0)))
    found = model.linearize().modes(8).frequencies
    for exact in (95.6356, 332.254):
        ours = float(found[np.abs(found - exact).argmin()])
        yield Number(NACHBAGAUER, "thick beam on supports, bending [rad/s]", exact, ours)


def four_bar() -> Iterator[Number]:
    for angle, exacts in {0: (269.618, 305.716, 383.353), 90: (292.768, 314.908, 508.594)}.items():
        found = ph.gallery.four_bar(np.deg2rad(angle), elements=20).linearize().modes(3).frequencies
        for k, exact in enumerate(exacts):
            yield Number(
                KITIS, f"four-bar, crank at {angle} degrees, pulsation {k + 1} [rad/s]", exact, float(found[k])
            )


def l_frame() -> Iterator[Number]:
    """Two legs of 240 mm, 3 mm by 30 mm, clamped at one end."""
    leg = ph.Beam(0.24, ph.RectangularSection(30e-3, 3e-3), ph.Material(71240e6, 5000.0, 0.31), 12)
    model = ph.Model()
    one = model.add(leg, "one")
    upright = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    two = model.add(leg, "two", position=(0.24, 0, 0), rotation=upright)
    model.connect(ph.Fixed(model.ground.at(ORIGIN), one.start))
    model.connect(ph.Fixed(one.end, two.start))
    found = model.linearize().modes(3).frequencies / (2 * np.pi)
    for k, exact in enumerate((11.2732, 30.5269)):
        yield Number(ARGYRIS, f"L-frame, frequency {k + 1} [Hz]", exact, float(found[k]))


def shaft() -> Iterator[Number]:
    omega, speed = np.pi**2 * np.sqrt(2.1e11 * 0.005**2 / 7850), 100.0
    found = ph.gallery.spinning_shaft(speed=speed).linearize(at="steady_rotation").modes(5).elastic_frequencies
    for name, exact in (("backward", omega - speed), ("forward", omega + speed)):
        yield Number(
            GENTA,
            f"spinning shaft at 100 rad/s, {name}, seen turning [rad/s]",
            exact,
            float(found[np.abs(found - exact).argmin()]),
        )


def sections_and_stress() -> Iterator[Number]:
    square = ph.RectangularSection(1.0, 1.0)
    yield Number(GOODIER, "torsion constant of the unit square", 0.1406, float(square.torsion_constant))
    length, speed, young, density = 1.0, 100.0, 7e10, 2700.0
    bar = ph.Beam(length, ph.RectangularSection(0.01, 0.01), ph.Material(young, density), 30)
    model = ph.Model(dimension=2)
    placed = model.add(bar, "bar")
    hub = model.ground.moving(lambda t: ORIGIN, rotation=lambda t: speed * t)
    model.connect(ph.Fixed(hub, placed.start))
    motion = model.simulate(1e-5, 1e-5, initial="quasi_static", progress=False)
    alpha = np.sqrt(density / young) * speed
    exact = np.sin(alpha * length) / (alpha * np.cos(alpha * length)) - length
    yield Number(
        CENTRIFUGAL, "stretch of a spinning bar [m]", exact, float(motion.elastic_displacement(placed.end)[0, 0])
    )
    stations = motion.section_forces(placed)
    x, normal = float(stations.x[0]), float(stations.normal[0, 0]) / 1e-4
    yield Number(
        MBOCT, "stress near the root of a spinning bar [Pa]", density * speed**2 * (length**2 - x**2) / 2, normal
    )


CASES = (at_rest, rotating, sharp, thick, four_bar, l_frame, shaft, sections_and_stress)
