"""The figures of the papers, as printed and corrected, of the pages docs/paper_*.md.

``python benchmarks/papers_figures.py`` draws them into docs/images. Figures without curves are sketches.
"""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from errata import LENGTH, crank_slider

import phlexible as ph

ROOT = Path(__file__).parent.parent
FOUR_BAR = ROOT / "tests" / "linear" / "four_bar.csv"
ALUMINIUM = (7.1e10, 2714.0)
LINKS = (("crank", 0.108, 1.0774e-4, 11.472, 0.0), ("coupler", 0.2794, 4.0645e-5, 0.616, 0.042))
LINKS += (("follower", 0.2705, 4.0645e-5, 0.616, 0.042),)
PAIRS = (("as printed", "printed"), ("full model", "full"))


def turn(angle: float) -> np.ndarray:
    """(40)."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def four_bar(angles: tuple[float, float, float], variant: str, elements: int = 12) -> np.ndarray:
    """Three pulsations [rad/s] of the four-bar of 6.1 in its Hermite spaces, for angles of its links."""
    links = []
    for name, length, area, rigidity, mass in LINKS:
        beam = ph.Beam(
            length,
            ph.Section(area, rigidity / ALUMINIUM[0]),
            ph.Material(*ALUMINIUM),
            elements,
            frame="cantilever",
            strain="linear",
            rotary_inertia=False,
        )
        form = ph.linearized(beam.port_hamiltonian(variant, dimension=2, stress="hermite"))
        descriptor, rigid = form.descriptor.tolil(), form.state_slice("velocity")
        descriptor[rigid, rigid] += mass * np.eye(2)  # (48)
        links.append(ph.with_prefix(replace(form, descriptor=descriptor), name))
    whole = links[0]
    for k, other in enumerate(links[1:], start=1):
        ports = (f"{LINKS[k - 1][0]}.end force", f"{LINKS[k][0]}.start force")
        whole = ph.transformer(whole, other, turn(angles[k] - angles[k - 1]), ports)
    for port in ("crank.start force", "crank.start moment", "follower.end force"):
        whole = ph.inverted(whole, port)
    return ph.LinearModel.of(whole).modes(3).frequencies


def exact_four_bar() -> list[tuple[tuple[float, float, float], np.ndarray]]:
    """Angles [rad] and exact pulsations [rad/s] of the twelve poses of the reference."""
    rows = list(csv.DictReader(FOUR_BAR.read_text(encoding="utf-8").splitlines()))
    return [
        (
            (
                float(np.deg2rad(float(row["crank_angle_deg"]))),
                float(row["coupler_angle_rad"]),
                float(row["follower_angle_rad"]),
            ),
            np.array([float(row[f"omega{k}"]) for k in (1, 2, 3)]),
        )
        for row in rows
    ]


def fig_6(path: Path, elements: int = 12, every: int = 1) -> dict[str, np.ndarray]:
    """At rest (32)-(37) are right: both sides are the same, and exact to 1e-6."""
    poses, found = exact_four_bar()[::every], {}
    figure, panels = side_by_side(1)
    for axes, (title, variant) in zip(panels, PAIRS, strict=True):
        found[variant] = np.array([four_bar(angles, variant, elements) for angles, _ in poses])
        angles = [pose[0] for pose, _ in poses]
        axes.plot(angles, found[variant], "x", ms=7)
        axes.plot(angles, [exact for _, exact in poses], "o", mfc="none", mec="black", ms=7)
        axes.set(title=title, xlabel="crank angle [rad]", xlim=(-0.2, 6.0))
    panels[0].set_ylabel("pulsations [rad/s]")
    found["exact"] = np.array([exact for _, exact in poses])
    return drawn(figure, path, found)


def fig_8(path: Path, duration: float = 0.1, step: float = 2e-5) -> dict[str, np.ndarray]:
    """Midpoint of the coupler along and across, over its length."""
    figure, panels = side_by_side(2)
    shapes = ph.gallery.crank_slider(elements=4, strain="linear")["coupler"].at(LENGTH / 2).point.shapes
    found = {}
    for k, (title, variant) in enumerate(PAIRS):
        time, across, _, run = crank_slider(variant, duration, step)
        along = run.state("coupler.displacement") @ shapes[0] / LENGTH
        panels[k].plot(time, along, lw=0.4)
        panels[2 + k].plot(time, across)
        panels[k].set(title=title)
        panels[2 + k].set(xlabel="time [s]")
        found[variant] = np.array([along, across])
    panels[0].set_ylabel("u_x(L/2) / L")
    panels[2].set_ylabel("u_y(L/2) / L")
    return drawn(figure, path, found)


def fig_10(path: Path, duration: float = 0.05, step: float = 1e-5, elements: int = 8) -> dict[str, np.ndarray]:
    """Energy and rate about the vertical at the hinge, with the length of Table 2 and the one that was meant."""
    figure, panels = side_by_side(2)
    found = {}
    for k, (title, length) in enumerate((("Table 2: 141.45 mm", 0.14145), ("100 sqrt(2) = 141.42 mm", 0.14142))):
        model = ph.gallery.spatial_beam(elements=elements)
        model = model.replace(beam=replace(model["beam"].body, length=length))
        motion = model.simulate(duration, step, progress=False)
        rate = motion.angular_velocity(model["beam"].start)[:, 2]
        panels[k].plot(motion.time, motion.energy.total, label="total")
        panels[k].plot(motion.time, motion.energy.kinetic, lw=0.8, label="kinetic")
        panels[k].set(title=title)
        panels[k].legend()
        panels[2 + k].plot(motion.time, rate, lw=0.8)
        panels[2 + k].set(xlabel="time [s]")
        found[("printed", "right")[k]] = np.array([motion.energy.total, rate])
    panels[0].set_ylabel("energy [J]")
    panels[2].set_ylabel("rate at the hinge [rad/s]")
    return drawn(figure, path, found)


def strings(path: Path, duration: float = 1.0, step: float = 0.01) -> dict[str, np.ndarray]:
    """Figures 2 to 5 of the paper on strings: snapshots, energies, H and its change in each step."""
    law, down = ph.LogarithmicLaw(20.0), np.array([1.0, -1.0, 0.0]) / np.sqrt(2)
    string = ph.String(1.0, 1.0, 30, law)
    form = string.port_hamiltonian(dimension=2, gravity=(0, -9.81, 0), shape=lambda s: s * down, start="fixed")
    inputs = {"end": lambda t: np.ones(2) * np.sin(np.pi * t / 0.2) * (t < 0.2)}
    runs = {
        label: ph.integrate(form, form.initial_state, inputs, duration, step, method)
        for label, method in (("DG", "discrete_gradient"), ("MP", "midpoint"))
    }
    ours = runs["DG"]
    places = ours.state("position").reshape(len(ours.time), -1, 2)
    speeds = ours.state("velocity")
    own = form.state_slice("velocity")
    mass = np.asarray(form.descriptor_matrix(form.initial_state)[own, own].todense())
    kinetic = ((speeds @ mass) * speeds).sum(axis=1) / 2
    figure, panels = side_by_side(2, shares=False)
    for k in range(0, len(ours.time), max(len(ours.time) // 10, 1)):
        shape = np.vstack([np.zeros((1, 2)), places[k]])
        panels[0].plot(*shape.T, color="tab:blue", alpha=0.25 + 0.75 * k / len(ours.time), lw=1.0)
    panels[0].set(title="Fig. 2: snapshots", xlabel="x [m]", ylabel="y [m]", xlim=(-0.9, 0.9), aspect="equal")
    for label, values in (("H", ours.energy), ("T", kinetic), ("V", ours.energy - kinetic)):
        panels[1].plot(ours.time, values, label=label)
    panels[1].set(title="Fig. 3: energies", xlabel="t [s]", ylabel="[J]")
    for label, run in runs.items():
        panels[2].plot(run.time, run.energy, label=label)
        changes = np.maximum(np.abs(np.diff(run.energy)), 1e-17)
        panels[3].semilogy(run.time[1:], changes, ".", ms=3, label=label)
    panels[2].set(title="Fig. 4: H", xlabel="t [s]", ylabel="[J]")
    panels[3].set(title="Fig. 5: change of H in a step", xlabel="t [s]", ylabel="[J]")
    for axes in panels[1:]:
        axes.legend()
    found = {label: run.energy for label, run in runs.items()}
    return drawn(figure, path, found | {"kinetic": kinetic})


def side_by_side(rows: int, shares: bool = True):
    """A figure of two columns and its axes, row by row."""
    from phlexible.pictures.style import house_style, new_figure

    with house_style():
        figure = new_figure(7.2, 2.2 * rows + 0.6)
        axes = figure.subplots(rows, 2, sharex=shares, sharey="row" if shares else False)
    return figure, list(np.ravel(axes))


def drawn(figure, path: Path, found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Writes the figure; what it shows."""
    from phlexible.pictures.style import finish, house_style

    with house_style():
        finish(figure, path)
    return found


FIGURES: dict[str, Callable[[Path], dict[str, np.ndarray]]] = {
    "fig_6": fig_6,
    "fig_8": fig_8,
    "fig_10": fig_10,
    "strings_fig_2_to_5": strings,
}


if __name__ == "__main__":
    for name, draw in FIGURES.items():
        draw(ROOT / "docs" / "images" / f"{name}.png")
