"""Figures of linear analysis against references: python benchmarks/linear_figures.py.

Prints the table of docs/validation.md; with ``--write`` puts it there. Timings are those of
linear_chain.py.
"""

import csv
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import phlexible as ph

ROOT = Path(__file__).parent.parent
FOUR_BAR = ROOT / "tests" / "linear" / "four_bar.csv"
PAGE = ROOT / "docs" / "validation.md"
BEGIN = "<!-- linear figures: written by benchmarks/linear_figures.py -->\n"
END = "<!-- end of linear figures -->"

# Roots beta L: Blevins 1979, table 8-1; tip mass and hub: Low 1998 and the hub-beam equation, to 13 digits.
FREE = (4.7300407448627, 7.8532046240958, 10.995607838002)
CLAMPED_FREE = (1.875104068712, 4.6940911329742, 7.8547574382376)
CLAMPED_PINNED = (3.9266023120479, 7.0685827456287, 10.210176122813)
TIP_MASS = (1.2479174096065, 4.031139436715, 7.1341322409397)
TIP_INERTIA = (1.195669831093, 2.5050600193962, 4.9750984377933)
HUB = (2.0100033223663, 4.7037942622813, 7.8568235512173)
SMALL_HUB = (2.6389246962966, 4.7937708504578, 7.8756529427778)

# Flap frequencies of a cantilever on a hub of radius 0 over its speed (as Wright et al. 1982), 5 digits.
FLAP = {
    1: (3.6816, 22.1810, 61.8418),
    2: (4.1373, 22.6149, 62.2732),
    4: (5.5850, 24.2734, 63.9668),
    6: (7.3604, 26.8091, 66.6839),
    8: (9.2568, 29.9954, 70.2930),
    10: (11.2023, 33.6404, 74.6493),
    12: (13.1702, 37.6031, 79.6145),
}
ELEMENTS = 60
METHODS = {"modal": 8, "krylov": 10, "balanced": 7, "irka": 8}
"""Orders; the angle of the hub is no state of balanced models."""


def worst(found: Sequence[float] | np.ndarray, exact: Sequence[float] | np.ndarray) -> float:
    """Greatest relative difference."""
    return float(np.abs(np.asarray(found) / np.asarray(exact) - 1).max())


def four_bar(elements: int, count: int) -> tuple[float, float, int]:
    """Error of the first modes at twelve crank angles, greatest |Re s| / |s| of all modes, rigid modes."""
    error, real, rigid = 0.0, 0.0, 0
    for row in csv.DictReader(FOUR_BAR.read_text(encoding="utf-8").splitlines()):
        model = ph.gallery.four_bar(np.deg2rad(float(row["crank_angle_deg"])), elements=elements)
        modes = model.linearize().modes(10_000)
        exact = [float(row[f"omega{k}"]) for k in range(1, count + 1)]
        error = max(error, worst(modes.frequencies[:count], exact))
        real = max(real, float((np.abs(modes.eigenvalues.real) / modes.frequencies).max()))
        rigid = max(rigid, modes.rigid_modes)
    return error, real, rigid


def unit_beam() -> ph.Beam:
    """Length, rho A and EI are 1; axial motion is far above."""
    section = ph.Section(area=1.0, second_moment_y=1e-6)
    return ph.Beam(1.0, section, ph.Material(1e6, 1.0), ELEMENTS, rotary_inertia=False)


def held(start: str, end: str = "free", tip: ph.RigidBody | ph.PointMass | None = None) -> ph.Model:
    """A beam with the start free, pinned, clamped or on a hub, the end free or on rollers, and a tip."""
    model = ph.Model(dimension=2)
    beam = model.add(unit_beam(), "beam")
    origin = model.ground.at((0, 0, 0))
    match start:
        case "clamped":
            model.connect(ph.Fixed(origin, beam.start))
        case "pinned":
            model.connect(ph.Revolute(origin, beam.start))
        case "free":
            pass
        case _:
            hub = model.add(ph.RigidBody(1.0, float(start)), "hub")
            model.connect(ph.Revolute(origin, hub.origin))
            model.connect(ph.Fixed(hub.origin, beam.start))
    if end == "rollers":
        model.connect(ph.Slider(model.ground.at((1, 0, 0)), beam.end, axis=(1, 0, 0)))
    if tip is not None:
        mass = model.add(tip, "tip", position=(1, 0, 0))
        joint = ph.Fixed if isinstance(tip, ph.RigidBody) else ph.Revolute
        model.connect(joint(beam.end, mass.origin))
    return model


def beams() -> list[tuple[str, float]]:
    """Error of the first three bending frequencies of every case."""
    cases = {
        "free": (held("free"), FREE),
        "clamped": (held("clamped"), CLAMPED_FREE),
        "clamped, end on rollers": (held("clamped", "rollers"), CLAMPED_PINNED),
        "pinned": (held("pinned"), CLAMPED_PINNED),
        "pinned, end on rollers": (held("pinned", "rollers"), tuple(np.pi * np.arange(1, 4))),
        "tip mass rho A L": (held("clamped", tip=ph.PointMass(1.0)), TIP_MASS),
        "tip mass rho A L with inertia 0.1 rho A L^3": (
            held("clamped", tip=ph.RigidBody(1.0, 0.1)),
            TIP_INERTIA,
        ),
        "hub inertia rho A L^3": (held("1.0"), HUB),
        "hub inertia 0.1 rho A L^3": (held("0.1"), SMALL_HUB),
    }
    rows = []
    for name, (model, roots) in cases.items():
        found = model.linearize().modes(6).elastic_frequencies[:3]
        rows.append((name, worst(found, np.array(roots) ** 2)))
    return rows


def rotating_cantilever(elements: int) -> float:
    """Of three flap and three chord frequencies at seven speeds."""
    errors = []
    for speed, flap in FLAP.items():
        model = ph.gallery.rotating_cantilever(float(speed), elements=elements)
        found = model.linearize(at="steady_rotation").modes(6).frequencies
        exact = np.sort([*flap, *np.sqrt(np.square(flap) - speed**2)])
        errors.append(worst(found, exact))
    return max(errors)


def spinning_shaft() -> float:
    """Of the first two bending frequencies, each seen twice, at three speeds."""
    errors = []
    omega = np.pi**2 * np.array([1, 4]) * np.sqrt(2.1e11 * 0.005**2 / 7850)
    for speed in (20.0, 100.0, 200.0):
        modes = ph.gallery.spinning_shaft(speed=speed).linearize(at="steady_rotation").modes(5)
        seen = np.sort(np.concatenate([omega - speed, omega + speed]))
        errors.append(worst(modes.elastic_frequencies, seen))
    return max(errors)


def satellite() -> list[tuple[str, float, bool]]:
    """Peak error of models with few states up to the fifth mode, and whether they are passive."""
    model = ph.gallery.satellite()
    hub, tip = model["hub"], model["right panel"].end
    linear = model.linearize(
        inputs=[ph.Torque(hub.origin, (0, 0, 1))],
        outputs=[ph.AngularVelocity(hub.origin, (0, 0, 1)), ph.Acceleration(tip, (0, 1, 0))],
    )
    poles = linear.modes(8).elastic_frequencies
    band = np.sort(np.concatenate([np.linspace(0.01, poles[4], 1000), poles[:5]]))
    rows = []
    for method, order in METHODS.items():
        small = linear.reduce(order, method)
        rows.append(
            (f"order {order} by {method}", float(small.error(band).peak.max()), small.passivity().is_passive)
        )
    return rows


def composition() -> float:
    """Largest difference of the four-bar put together by transformers from that of linearize."""
    linear = ph.gallery.four_bar(0.4).linearize()
    composed = linear.composed()
    names = ("descriptor", "structure", "dissipation", "effort_map")
    pairs = [(getattr(linear, name), getattr(composed, name)) for name in names]
    return max(float(abs(a - b).max()) / (float(abs(a).max()) or 1.0) for a, b in pairs)


def figures() -> str:
    """The Markdown table."""
    rows: list[tuple[str, str]] = []

    def add(what: str, figure: float | int | str) -> None:
        rows.append((what, figure if isinstance(figure, str) else f"{figure:.1e}"))
        print(f"{what}: {rows[-1][1]}", flush=True)

    for elements, count in ((10, 3), (30, 6)):
        error, real, rigid = four_bar(elements, count)
        add(f"four-bar, {elements} elements a link, pulsations 1 to {count}, 12 crank angles", error)
        add(f"the same: greatest abs(Re s) / abs(s) of all modes; rigid modes {rigid}", real)
    for name, error in beams():
        add(f"beam, {name}: first three, {ELEMENTS} elements", error)
    for elements in (20, 40):
        add(
            f"rotating cantilever, {elements} elements: flap and chord 1 to 3, speeds 1 to 12",
            rotating_cantilever(elements),
        )
    add("spinning shaft, 20 elements: omega_n +- speed, n = 1, 2, speeds 20, 100, 200", spinning_shaft())
    for method, error, passive in satellite():
        word = "passive" if passive else "not passive"
        add(f"satellite, {method}, {word}: peak error up to the fifth mode", error)
    add("four-bar put together by transformers against linearize: largest difference", composition())
    lines = ["| what | greatest relative error |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {what} | {figure} |" for what, figure in rows)]) + "\n"


def main(write: bool, make: Callable[[], str] = figures) -> None:
    """Prints the table, and puts it into the page between its marks."""
    table = make()
    print(table)
    if write:
        page = PAGE.read_text(encoding="utf-8")
        head, tail = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(head + BEGIN + table + END + tail, encoding="utf-8")


if __name__ == "__main__":
    main("--write" in sys.argv[1:])
