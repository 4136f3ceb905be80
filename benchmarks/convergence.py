"""Convergence of the crank-slider in elements, modes and step: python benchmarks/convergence.py.

Prints the tables of docs/validation.md; with ``--write`` puts them there.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

import phlexible as ph

ROOT = Path(__file__).parent.parent
REFERENCE = ROOT / "tests" / "gallery" / "reference"
PAGE = ROOT / "docs" / "validation.md"
BEGIN = "<!-- convergence: written by benchmarks/convergence.py -->\n"
END = "<!-- end of convergence -->"
STEP = 2e-5


def error(reference: str, step: float = STEP, **parameters: Any) -> float:
    """Greatest difference of u_y/L at the coupler's middle from the reference, relative to its peak [%]."""
    table = np.loadtxt(REFERENCE / f"crank_slider_{reference}.csv", delimiter=",", skiprows=1)
    table = table[table[:, 0] <= 0.1 + 1e-9]
    model = ph.gallery.crank_slider(**parameters)
    motion = model.simulate(duration=0.1, step=step)
    bend = motion.elastic_displacement(model["coupler"].at(0.15))[:, 1] / 0.3
    there = CubicSpline(motion.time, bend)(table[:, 0])
    return float(100 * np.abs(there - table[:, 1]).max() / np.abs(table[:, 1]).max())


def table(title: str, heads: list[str], rows: list[list[Any]]) -> str:
    """A Markdown table with a line of text above it."""

    def line(cells: list[Any]) -> str:
        return "| " + " | ".join(f"{c:.3f}" if isinstance(c, float) else str(c) for c in cells) + " |"

    return "\n".join([title, "", line(heads), line(["---"] * len(heads)), *map(line, rows)]) + "\n"


def tables() -> str:
    """All tables."""
    strains = {"linear": "linear_strain", "von_karman": "von_karman"}

    def both(**parameters: Any) -> list[float]:
        return [error(file, strain=strain, **parameters) for strain, file in strains.items()]

    heads = ["linear strain", "von Karman strain"]
    usual = [
        ["linear strain", error("linear_strain", strain="linear")],
        ["von Karman strain", error("von_karman")],
        ["von Karman strain, 3 bending modes with all axial coordinates", error("von_karman", modes=3)],
        [
            "von Karman strain against geometrically exact beams (slider of 0.033378 kg)",
            error("geometrically_exact", slider_mass=0.033378),
        ],
    ]
    by_elements = [[n, *both(elements=n, step=2.5e-6)] for n in (2, 4, 8, 16)]
    by_step = [[f"{1e6 * h:g}", *both(elements=16, step=h)] for h in (1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2.5e-6)]
    by_modes = [[m, error("von_karman", elements=16, modes=m, step=2.5e-6)] for m in (1, 2, 3, 5, 8)]
    return "\n".join(
        [
            table("With 8 elements and a step of 20 us, as in the gallery:", ["model", "error [%]"], usual),
            table("Error [%] by the number of elements, step 2.5 us:", ["elements", *heads], by_elements),
            table("Error [%] by the step, 16 elements:", ["step [us]", *heads], by_step),
            table(
                "Error [%] by the number of bending modes kept of 16 elements, with all axial coordinates; "
                "von Karman strain, step 2.5 us:",
                ["modes", "error"],
                by_modes,
            ),
        ]
    )


if __name__ == "__main__":
    text = tables()
    print(text)
    if "--write" in sys.argv[1:]:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1], encoding="utf-8")
