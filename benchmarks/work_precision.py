"""Work against precision on the slider crank of the Test Set for IVP Solvers: python benchmarks/work_precision.py.

Prints the tables of docs/validation.md, with ``--write`` puts them and the diagram there. Takes a minute.
"""

import sys
import time
from pathlib import Path

import numpy as np
from published import elastic_rod

import phlexible as ph

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "validation.md"
BEGIN = "<!-- work and precision: written by benchmarks/work_precision.py -->\n"
END = "<!-- end of work and precision -->"
DURATION, REPEATS = 0.1, 3
STEPS = {2: (1e-4, 2.5e-5, 5e-6, 1e-6), 4: (2e-4, 1e-4, 5e-5, 2.5e-5, 1e-5), 6: (2e-4, 1e-4, 5e-5, 2.5e-5)}
REFERENCE = 5e-6  # s, order 6
COMPOSED = (("gauss2", 5e-5), ("radau3", 5e-5))
POSITIONS = ("phi2", "x3")


def run(order: int, step: float) -> tuple[dict[str, float], float]:
    """End values, and the processor time of a run [s]."""
    model, start = elastic_rod.mechanism()
    begin = time.process_time()
    motion = model.simulate(DURATION, step, initial=start, order=order, every=1000, progress=False)
    return elastic_rod.end_values(motion), time.process_time() - begin


def composed(method: str, step: float) -> tuple[dict[str, float], float]:
    """The same of the composed port-Hamiltonian model with a reference integrator."""
    whole, start, crank = elastic_rod.composed()
    begin = time.process_time()
    trajectory = ph.integrate(whole, start, crank, DURATION, step, method)
    return elastic_rod.composed_end_values(trajectory), time.process_time() - begin


def beam(elements: int) -> dict[str, float]:
    """End values with a ``ph.Beam`` on whose nodes the four shapes are interpolated; masses as they are."""
    model, start = elastic_rod.mechanism(1.0, elastic_rod.interpolated(elements))
    return elastic_rod.end_values(model.simulate(DURATION, 2.5e-5, initial=start, order=6, progress=False))


def digits(found: dict[str, float], exact: dict[str, float]) -> tuple[float, float]:
    """Digits of angle and place, and of the coordinates over the greatest of them: -log10 of the greatest error."""
    q = [name for name in found if name not in POSITIONS]
    rigid = max(abs(found[name] / exact[name] - 1) for name in POSITIONS)
    elastic = max(abs(found[name] - exact[name]) for name in q) / max(abs(exact[name]) for name in q)
    return -float(np.log10(rigid)), -float(np.log10(elastic))


def measured() -> tuple[str, dict[str, list[tuple[float, float]]]]:
    """Tables in Markdown, and the points of the diagram: time and digits of q by scheme."""
    run(2, 1e-4)  # loads the kernels
    exact, _ = run(6, REFERENCE)
    lines, points = [], {}
    for order, steps in STEPS.items():
        for step in steps:
            ends, times = zip(*(run(order, step) for _ in range(REPEATS)), strict=True)
            rigid, elastic = digits(ends[0], exact)
            points.setdefault(f"order {order}", []).append((min(times), elastic))
            lines.append(f"| order {order} | {1e6 * step:g} | {min(times):.2f} | {rigid:.1f} | {elastic:.1f} |")
    for method, step in COMPOSED:
        found, spent = composed(method, step)
        rigid, elastic = digits(found, exact)
        points[f"composed, {method}"] = [(spent, elastic)]
        lines.append(f"| composed, {method} | {1e6 * step:g} | {spent:.1f} | {rigid:.1f} | {elastic:.1f} |")
    rigid, elastic = digits(exact, elastic_rod.END)
    light, start = elastic_rod.mechanism(1.0)
    true = elastic_rod.end_values(
        light.simulate(DURATION, 2.5e-5, initial=start, order=6, every=1000, progress=False)
    )
    shown = ", ".join(f"{name} {value:.7g}" for name, value in true.items())
    near = digits(beam(32), true)
    text = "\n".join(
        [
            f"Order 6 with {1e6 * REFERENCE:g} us agrees with the test set to {rigid:.1f} digits of angle and place"
            f" and {elastic:.1f} of q.",
            "",
            "| scheme | step [us] | processor time [s] | digits of phi2, x3 | digits of q |",
            "| --- | --- | --- | --- | --- |",
            *lines,
            "",
            f"With the true axial masses the run ends at {shown}; a `ph.Beam` of 32 elements with the four shapes"
            f" on its nodes (`modes=basis`) agrees with these to {near[0]:.1f} digits of angle and place and"
            f" {near[1]:.1f} of q.",
            "",
        ]
    )
    return text, points


def diagram(points: dict[str, list[tuple[float, float]]], path: Path) -> None:
    """Processor time over digits."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    for name, row in points.items():
        times, reached = zip(*row, strict=True)
        axes.semilogy(reached, times, "o-" if len(row) > 1 else "s", label=name)
    axes.set(xlabel="digits of q at 0.1 s", ylabel="processor time [s]")
    axes.grid(alpha=0.3, which="both")
    axes.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    written, found = measured()
    print(written)
    if "--write" in sys.argv[1:]:
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        PAGE.write_text(before + BEGIN + written + END + rest.split(END)[1], encoding="utf-8")
        diagram(found, DOCS / "images" / "slider_crank_work.png")
