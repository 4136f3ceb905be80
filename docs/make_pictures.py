"""Draws the pictures of the documentation into docs/images: python docs/make_pictures.py [NAME ...].

Without names also the film of the README.
"""

import sys
from collections.abc import Callable
from contextlib import chdir
from functools import partial
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

import phlexible as ph

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
FOUR_BAR = Path(__file__).parent.parent / "tests" / "linear" / "four_bar.csv"
REFERENCE = Path(__file__).parent.parent / "tests" / "gallery" / "reference" / "crank_slider_von_karman.csv"
ENLARGEMENT = 3
BODY, FORCE, MOMENT, AXIS, MUTED = "#c9d7e8", "#c1272d", "#1b7f3b", "#1f3a5f", "0.45"


def arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], color: str, width: float = 1.8) -> None:
    ax.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=13, color=color, lw=width, shrinkA=0, shrinkB=0
        )
    )


def turn(ax: Axes, center: tuple[float, float], radius: float, counterclockwise: bool, color: str) -> None:
    """A three-quarter circle with a head."""
    ends = np.radians([-60.0, 60.0] if counterclockwise else [60.0, -60.0])
    a, b = (np.array(center) + radius * np.array([np.cos(e), np.sin(e)]) for e in ends)
    bow = 0.65 if counterclockwise else -0.65
    ax.add_patch(
        FancyArrowPatch(
            a,
            b,
            connectionstyle=f"arc3,rad={bow}",
            arrowstyle="-|>",
            mutation_scale=13,
            color=color,
            lw=1.8,
            shrinkA=0,
            shrinkB=0,
        )
    )


def out_of_page(ax: Axes, at: tuple[float, float], towards_viewer: bool, color: str, size: float = 0.055) -> None:
    ax.add_patch(Circle(at, size, fill=True, fc="white", ec=color, lw=1.6, zorder=4))
    if towards_viewer:
        ax.add_patch(Circle(at, size / 4, color=color, zorder=5))
    else:
        d = size * np.sqrt(0.5)
        for sign in (1, -1):
            ax.plot([at[0] - d, at[0] + d], [at[1] - sign * d, at[1] + sign * d], color=color, lw=1.4, zorder=5)


def bare(ax: Axes, title: str, x: tuple[float, float], y: tuple[float, float]) -> None:
    ax.set(xlim=x, ylim=y, aspect="equal")
    ax.axis("off")
    ax.set_title(title, fontsize=11, loc="left", color=AXIS)


def side_view(ax: Axes, up: str, into_page: bool, moment: str, counterclockwise: bool) -> None:
    """A beam cut open: axes at the start, section forces on the positive face."""
    other = {"y": "z", "z": "y"}[up]
    bare(ax, f"x{up} plane", (-0.75, 3.25), (-0.8, 1.05))
    ax.add_patch(Rectangle((0, -0.17), 2.0, 0.34, fc=BODY, ec=AXIS, lw=1.2))
    ax.plot([2.0, 2.0], [-0.17, 0.17], color=FORCE, lw=3)
    ax.plot([-0.15, 2.05], [0, 0], color=AXIS, lw=0.8, ls="-.")
    arrow(ax, (0, 0), (0.75, 0), AXIS)
    arrow(ax, (0, 0), (0, 0.75), AXIS)
    out_of_page(ax, (0, 0), not into_page, AXIS)
    ax.text(0.72, 0.06, "x", color=AXIS, fontsize=12, va="bottom", ha="right")
    ax.text(0.07, 0.72, up, color=AXIS, fontsize=12)
    ax.text(-0.1, 0.1, other, color=AXIS, fontsize=12, ha="right")
    ax.text(-0.1, -0.32, "start\nx = 0", color=MUTED, fontsize=9, ha="right", va="top")
    ax.text(1.9, -0.32, "positive face\n(normal along +x)", color=MUTED, fontsize=9, ha="center", va="top")
    arrow(ax, (2.0, 0), (2.85, 0), FORCE)
    ax.text(2.9, 0, "N", color=FORCE, fontsize=12, va="center")
    arrow(ax, (2.06, 0.05), (2.06, 0.8), FORCE)
    ax.text(2.06, 0.83, f"$Q_{up}$", color=FORCE, fontsize=12, ha="center", va="bottom")
    turn(ax, (2.2, 0.0), 0.42, counterclockwise, MOMENT)
    ax.text(2.62, 0.36, f"${moment}$", color=MOMENT, fontsize=12)


def section_view(ax: Axes) -> None:
    bare(ax, "section from +x", (-1.0, 1.3), (-0.85, 1.05))
    width, height = 0.7, 1.0
    ax.add_patch(Rectangle((-width / 2, -height / 2), width, height, fc=BODY, ec=AXIS, lw=1.2))
    arrow(ax, (0, 0), (0.85, 0), AXIS)
    arrow(ax, (0, 0), (0, 0.85), AXIS)
    out_of_page(ax, (0, 0), True, AXIS)
    ax.text(0.88, 0, "y", color=AXIS, fontsize=12, va="center")
    ax.text(0, 0.88, "z", color=AXIS, fontsize=12, ha="center")
    ax.text(-0.08, 0.05, "x", color=AXIS, fontsize=12, ha="right")
    ax.annotate("", (-width / 2, -0.64), (width / 2, -0.64), arrowprops={"arrowstyle": "<->", "color": MUTED})
    ax.text(0, -0.68, "width", color=MUTED, fontsize=10, ha="center", va="top")
    ax.annotate("", (-0.5, -height / 2), (-0.5, height / 2), arrowprops={"arrowstyle": "<->", "color": MUTED})
    ax.text(-0.55, 0, "height", color=MUTED, fontsize=10, ha="right", va="center", rotation=90)
    turn(ax, (0.0, 0.0), 0.62, True, MOMENT)
    ax.text(0.5, 0.5, "$M_x$", color=MOMENT, fontsize=12)


def frame_view(ax: Axes, name: str) -> None:
    """A bent beam with its body frame."""
    s = np.linspace(0, 1, 60)
    shape, note = {
        "cantilever": (0.42 * s**2, "clamped to the start"),
        "simply_supported": (0.3 * np.sin(np.pi * s), "x axis through both ends"),
        "mean_axis": (0.32 * (np.sin(np.pi * s) - 2 / np.pi), "no mean motion, no mean turn"),
    }[name]
    bare(ax, name, (-0.3, 2.35), (-0.5, 0.7))
    ax.plot([0, 2], [0, 0], color=MUTED, ls="--", lw=1)
    ax.plot(2 * s, shape, color=AXIS, lw=5, solid_capstyle="round", alpha=0.35)
    ax.plot(2 * s, shape, color=AXIS, lw=1)
    arrow(ax, (0, 0), (0.55, 0), FORCE)
    arrow(ax, (0, 0), (0, 0.55), FORCE)
    ax.text(0.58, -0.05, "x", color=FORCE, va="top")
    ax.text(0.04, 0.55, "y", color=FORCE)
    k = 30
    arrow(ax, (2 * s[k], 0), (2 * s[k], shape[k]), MOMENT, 1.3)
    ax.text(2 * s[k] + 0.05, shape[k] / 2, "$u_f$", color=MOMENT, va="center")
    ax.text(1.0, -0.42, note, color=MUTED, fontsize=9.5, ha="center")


def conventions() -> plt.Figure:
    """Axes, positive section forces and body frames of a beam."""
    figure = plt.figure(figsize=(11, 5.0), layout="constrained")
    rows = figure.subfigures(2, 1, height_ratios=(1.3, 1))
    top = rows[0].subplots(1, 3, width_ratios=(4, 4, 2.85))
    side_view(top[0], "y", into_page=False, moment="M_z", counterclockwise=True)
    side_view(top[1], "z", into_page=True, moment="M_y", counterclockwise=False)
    section_view(top[2])
    for ax, name in zip(rows[1].subplots(1, 3), ("cantilever", "simply_supported", "mean_axis"), strict=True):
        frame_view(ax, name)
    return figure


def floating_view(ax: Axes) -> None:
    """A deformed body in its frame, with the position of a material point."""
    bare(ax, "1. state of a body", (-0.35, 2.75), (-0.25, 2.0))
    angle, origin, s = 0.42, np.array([0.75, 0.55]), np.linspace(0.0, 1.0, 60)
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    straight, bent = (origin + (rotation @ [1.9 * s, y]).T for y in (0 * s, 0.38 * s**2))
    ax.plot(*straight.T, color=MUTED, ls="--", lw=1)
    ax.plot(*bent.T, color=AXIS, lw=6, solid_capstyle="round", alpha=0.35)
    ax.plot(*bent.T, color=AXIS, lw=1)
    for direction, name in (((0.55, 0.0), "x"), ((0.0, 0.55), "y")):
        arrow(ax, (0, 0), direction, MUTED)
        ax.text(*(1.12 * np.array(direction)), name, color=MUTED, ha="center", va="center")
        arrow(ax, tuple(origin), tuple(origin + rotation @ direction), FORCE)
    arrow(ax, (0, 0), tuple(origin), AXIS, 1.3)
    ax.text(0.48, 0.16, "$r$", color=AXIS, fontsize=13)
    ax.text(0.5, 1.12, "$R$", color=FORCE, fontsize=13, ha="right")
    k = 48
    arrow(ax, tuple(straight[k]), tuple(bent[k]), MOMENT, 1.3)
    ax.text(*(straight[k] + (0.0, -0.14)), r"$R\,\Phi\eta$", color=MOMENT, fontsize=13, va="center")
    ax.plot(*bent[k], "o", color=AXIS, ms=5)
    ax.text(*(bent[k] + (-0.06, 0.1)), "$x$", color=AXIS, fontsize=13, ha="right")


def secant_view(ax: Axes) -> None:
    """The energy of a spring, and the secant whose slope is the force of a step."""
    ax.set_title("2. force of a step", fontsize=11, loc="left", color=AXIS)
    theta, (start, end) = np.linspace(-0.1, 1.9, 80), (0.45, 1.55)
    ax.plot(theta, 0.2 + 0.55 * theta**2 + 0.1 * np.sin(3 * theta), color=AXIS, lw=1.8)
    energies = [0.2 + 0.55 * each**2 + 0.1 * np.sin(3 * each) for each in (start, end)]
    ax.plot((start, end), energies, color=FORCE, lw=2, marker="o", ms=5)
    ax.plot((start, end, end), (energies[0], energies[0], energies[1]), color=MUTED, lw=1, ls=":")
    ax.text(1.0, energies[0] - 0.05, r"$\Delta\theta$", color=MUTED, fontsize=13, ha="center", va="top")
    ax.text(end + 0.05, sum(energies) / 2, r"$\Delta U$", color=MUTED, fontsize=13, va="center")
    ax.text(1.0, 1.4, r"slope $\frac{\Delta U}{\Delta\theta} = -F$", color=FORCE, fontsize=13, ha="right")
    ax.set(xticks=(start, end), xticklabels=(r"$\theta_n$", r"$\theta_{n+1}$"), yticks=(), xlim=(-0.1, 2.1))
    ax.set_ylabel(r"energy $U(\theta)$")
    ax.spines[["top", "right"]].set_visible(False)


def exchange_view(ax: Axes) -> None:
    """Energy that bodies store, and what their interactions do with it."""
    bare(ax, "3. balance of energy", (-0.1, 3.1), (-0.2, 1.9))
    for x in (0.0, 2.1):
        ax.add_patch(Rectangle((x, 0.75), 0.9, 0.5, fc=BODY, ec=AXIS, lw=1.2))
        ax.text(x + 0.45, 1.0, "body\n$T + V$", color=AXIS, ha="center", va="center")
    ax.add_patch(Circle((1.5, 1.0), 0.27, fc="white", ec=AXIS, lw=1.2))
    ax.text(1.5, 1.0, "joint\n0", color=AXIS, ha="center", va="center")
    ax.plot((0.9, 1.23), (1.0, 1.0), color=AXIS, lw=1.2)
    ax.plot((2.1, 1.5 + 0.27), (1.0, 1.0), color=AXIS, lw=1.2)
    arrow(ax, (0.45, 1.7), (0.45, 1.28), MOMENT)
    ax.text(0.55, 1.55, "load, drive: supplied", color=MOMENT, va="center")
    arrow(ax, (2.55, 0.72), (2.55, 0.2), FORCE)
    ax.text(2.55, 0.08, "damper: dissipated", color=FORCE, ha="center", va="center")
    ax.annotate("", (0.45, 0.72), (0.45, 0.2), arrowprops={"arrowstyle": "<|-|>", "color": AXIS, "lw": 1.6})
    ax.text(0.45, 0.08, "spring: stored $U$", color=AXIS, ha="center", va="center")


def theory() -> plt.Figure:
    """State of a floating body, force of a step, and balance of energy."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.1), layout="constrained", width_ratios=(4, 3, 4))
    for ax, view in zip(axes, (floating_view, secant_view, exchange_view), strict=True):
        view(ax)
    return figure


def crank_slider() -> plt.Figure:
    """The crank-slider at some instants, and how its coupler bends beside the reference."""
    model = ph.gallery.crank_slider()
    motion = model.simulate(duration=0.1, step=2e-5)
    coupler = model["coupler"]
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", width_ratios=(1.35, 1))

    points = [coupler.at(x) for x in np.linspace(0.0, 0.3, 41)]
    extra = [(ENLARGEMENT - 1) * motion.elastic_displacement(point) for point in points]
    turned = np.einsum("tij,ptj->pti", motion.rotation(coupler), extra)
    axis = np.array([motion.position(point) for point in points]) + turned  # (41, N + 1, 3)
    angle = np.linspace(0, 2 * np.pi, 200)
    left.plot(0.15 * np.cos(angle), 0.15 * np.sin(angle), color=MUTED, lw=0.8, ls=":")
    left.axhline(0, color=MUTED, lw=0.8, ls=(0, (6, 4)))
    instants = np.searchsorted(motion.time, [0.0055, 0.0125, 0.0225, 0.0345, 0.0385])
    for k, opacity in zip(instants, np.linspace(0.25, 1, len(instants)), strict=True):
        x, y = axis[:, k, 0], axis[:, k, 1]
        left.plot([0, x[0]], [0, y[0]], color=MUTED, lw=3, alpha=0.5 * opacity, solid_capstyle="round")
        left.plot(x, y, color=AXIS, lw=3, alpha=opacity, solid_capstyle="round")
        left.plot(x[[0, -1]], y[[0, -1]], color=FORCE, lw=1, ls="--", alpha=opacity)
        left.plot(x[:1], y[:1], "o", ms=6, mfc="white", mec=AXIS, alpha=opacity, zorder=4)
        left.plot(x[-1:], y[-1:], "s", ms=9, color=FORCE, alpha=opacity, zorder=4)
    left.plot([0], [0], "^", ms=10, mfc="#c8c8c8", mec="black")
    left.set(aspect="equal", xlim=(-0.19, 0.49), ylim=(-0.18, 0.18))
    left.text(0.49, -0.17, f"bending drawn {ENLARGEMENT} times", color=MUTED, fontsize=9, ha="right")
    left.axis("off")

    time, bend = np.loadtxt(REFERENCE, delimiter=",", skiprows=1, usecols=(0, 1)).T
    own = motion.elastic_displacement(coupler.at(0.15))[:, 1] / 0.3
    right.plot(1000 * motion.time, 100 * own, color=AXIS, lw=1.8, label="phlexible, 8 elements")
    right.plot(1000 * time[::30], 100 * bend[::30], "o", ms=4, mfc="none", mec=FORCE, label="reference")
    right.set(xlabel="time [ms]", ylabel="bend of the coupler / length [%]", xlim=(0, 100))
    right.spines[["top", "right"]].set_visible(False)
    right.grid(color="0.9")
    right.legend(loc="upper center", ncols=2, frameon=False, bbox_to_anchor=(0.5, 1.15))
    return figure


def four_bar_sweep() -> plt.Figure:
    """Fig. 6 of Brugnoli et al. (2020) with the exact pulsations as circles."""
    angles = np.linspace(0.0, 2 * np.pi, 181)
    sweep = ph.mode_sweep(ph.gallery.four_bar, angles, 3, parameter="crank angle [rad]")
    figure = sweep.plot()
    table = np.loadtxt(FOUR_BAR, delimiter=",", skiprows=1)
    figure.axes[0].plot(np.radians(table[:, 0]), table[:, 3:6], "o", mfc="none", mec="0.2", ms=5)
    return figure


def four_bar_modes() -> plt.Figure:
    """The six lowest modes at the crank angle 0."""
    return ph.gallery.four_bar().linearize().modes(6).plot()


def section_forces() -> plt.Figure:
    """Section forces along the coupler of the crank-slider."""
    model = ph.gallery.crank_slider()
    motion = model.simulate(duration=0.1, step=2e-5)
    return motion.plot_section_forces(model["coupler"], times=[0.0055, 0.0125, 0.0225])


def elastica() -> plt.Figure:
    """A cantilever in parts under growing dead end loads, beside the tips of the elastica."""
    figure, ax = plt.subplots(figsize=(5.6, 4.0), layout="constrained")
    exact = {1: (0.056433, 0.301721), 2: (0.160642, 0.493457), 5: (0.387628, 0.713792)}
    for parts, color in ((1, FORCE), (4, MOMENT), (8, AXIS)):
        for load in exact:
            slender = ph.Section(area=1.0, second_moment_y=1e-8)
            steel = ph.Material(youngs_modulus=1e8, density=1.0)
            beam = ph.Beam(1.0, slender, steel, elements=8, frame="simply_supported")
            model = ph.Model(dimension=2)
            body = model.add(beam.split(parts), "beam")
            model.connect(ph.Fixed(model.ground.at((0, 0, 0)), body.start))
            model.apply(ph.Force(body.end, (0.0, load, 0.0)))
            motion = model.simulate(1e-4, 1e-4, initial="quasi_static")
            x, y, _ = np.array([motion.position(body.at(x))[0] for x in np.linspace(0, 1, 65)]).T
            name = f"{parts} parts" if parts > 1 else "uncut"
            ax.plot(x, y, color=color, lw=1.6, label=name if load == 1 else None)
    for load, (u, w) in exact.items():
        ax.plot(1 - u, w, "o", ms=6, mfc="none", mec="black", label="elastica" if load == 1 else None)
        ax.annotate(f"$P L^2/EI = {load}$", (1 - u, w), (8, -2), textcoords="offset points", fontsize=9)
    ax.set(aspect="equal", xlabel="x / L", ylabel="y / L", xlim=(0, 1.22))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.9")
    ax.legend(frameon=False, loc="upper left")
    return figure


def plot_of_page(page: str, name: str) -> plt.Figure:
    """The plot that the first program of a page ends with, of its variable ``name``."""
    path = DOCS / page
    names: dict[str, ph.OptimalInputs | ph.Motion] = {}
    program = path.read_text(encoding="utf-8").split("```python")[1].split(f"{name}.plot")[0]
    with chdir(path.parent):  # where its input files are
        exec(program, names)
    return names[name].plot()


PICTURES: dict[str, Callable[[], plt.Figure]] = {
    "beam_conventions": conventions,
    "crank_slider": crank_slider,
    "four_bar_modes": four_bar_modes,
    "four_bar_sweep": four_bar_sweep,
    "section_forces": section_forces,
    "elastica": elastica,
    "contact": partial(plot_of_page, "contact.md", "motion"),
    "shells": partial(plot_of_page, "shells.md", "motion"),
    **{
        page: partial(plot_of_page, f"how_to/{page}.md", "motion")
        for page in (
            "gravity_compensation",
            "hoist_a_load",
            "lead_a_rope_over_pulleys",
            "make_friction_stick",
            "roll_a_wheel",
            "import_from_abaqus",
        )
    },
    "optimal_arm": partial(plot_of_page, "optimal_control.md", "best"),
    "theory": theory,
}


def film() -> None:
    """One turn of the crank-slider, deflections three times enlarged."""
    motion = ph.gallery.crank_slider().simulate(2 * np.pi / 150, 4e-5)
    motion.animate(IMAGES / "crank_slider.gif", seconds=3.0, frames_per_second=12, scale=3.0)


def main(names: list[str]) -> None:
    IMAGES.mkdir(exist_ok=True)
    if not names:
        film()
    for name in names or list(PICTURES):
        PICTURES[name]().savefig(IMAGES / f"{name}.png", dpi=130)
        print(IMAGES / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
