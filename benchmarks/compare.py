"""phlexible beside Exudyn, at equal error: python benchmarks/compare.py [--write] [--peer PYTHON] [CASE ...]

Both run one after the other, again and again, on one thread; medians. ``--write`` puts the table into
docs/performance.md. Exudyn comes with the extra ``bench``, or from another environment's interpreter, ``--peer``.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import phlexible as ph

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- compare: written by benchmarks/compare.py -->\n", "<!-- end of compare -->"
PEER = Path(__file__).parent / "peer" / "exudyn_models.py"
REPEATS = 5
TURN = 2 * np.pi / 150.0
EXACT, FLEXIBLE = {"shear": 0}, {"shear": 1}


@dataclass(frozen=True)
class Run:
    """What was measured: seconds, instants, and what is compared at them."""

    seconds: float
    times: np.ndarray
    values: np.ndarray


def ours(build: Callable[[], ph.Model], value: Callable, duration: float, step: float, **options: Any) -> Run:
    """One run of a model that is built anew; building is not counted, ``simulate`` in full is."""
    model = build()
    begin = time.perf_counter()
    motion = model.simulate(duration, step, progress=False, **options)
    seconds = time.perf_counter() - begin
    return Run(seconds, motion.time, value(model, motion))


def theirs(python: str, case: str, **numbers: float) -> tuple[Run, str]:
    """One run of Exudyn, fastest of a few within one process, and its version."""
    words = [f"{key}={value}" for key, value in numbers.items()]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [python, "-W", "ignore", str(PEER), case, *words],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    found = json.loads(done.stdout.strip().splitlines()[-1])
    return Run(found["seconds"], np.array(found["times"]), np.array(found["places"])), found["version"]


def bend(places: np.ndarray) -> np.ndarray:
    """Deflection of the middle from the line between the ends, places (3, times, 2)."""
    start, middle, end = places
    line = end - start
    across = line[:, 0] * (middle - start)[:, 1] - line[:, 1] * (middle - start)[:, 0]
    return across / np.linalg.norm(line, axis=1)


def error(run: Run, values: np.ndarray, exact: Run) -> float:
    """Greatest difference at the instants of the coarser one, over the peak."""
    there = np.interp(run.times, exact.times, exact.values)
    return float(np.abs(values - there).max() / np.abs(exact.values).max())


def crank(parameters: dict[str, Any], step: float, every: int) -> Run:
    """Two turns of the crank."""
    return ours(
        lambda: ph.gallery.crank_slider(**parameters),
        lambda model, motion: motion.displacement(model["coupler"].at(0.15))[:, 1],
        2 * TURN,
        step,
        every=every,
    )


def crank_at(python: str, goal: float) -> tuple[float, float, str]:
    """Seconds a turn of both at an error of ``goal``, and how; the cheapest that reaches it."""
    period = 1e-3
    exact = crank({"elements": 16}, 5e-6, 20)
    choices = [({"modes": m}, h) for m in (2, 3, 4) for h in (2e-4, 1e-4, 5e-5, 2.5e-5)]
    choices += [({"elements": n}, h) for n in (4, 8) for h in (1e-4, 5e-5, 2.5e-5)]
    mine = None
    for parameters, step in choices:
        run = crank(parameters, step, max(1, round(period / step)))
        wrong = error(run, run.values, exact)
        if wrong <= goal and (mine is None or run.seconds < mine[0]):
            mine = (run.seconds, parameters, step, wrong)
    peer_exact, _ = theirs(
        python,
        "crank_slider",
        duration=2 * TURN,
        step=4e-6,
        every=2e-5,
        elements=16,
        sparse=0,
        damping=0.9,
        **EXACT,
    )
    peer_exact = Run(0.0, peer_exact.times, bend(peer_exact.values))
    other = None
    for kind in (EXACT, FLEXIBLE):
        for n in (2, 4, 8):
            for step in (4e-4, 2e-4, 1e-4, 5e-5, 2.5e-5):
                keys = {"duration": 2 * TURN, "step": step, "every": period, "elements": n, "sparse": 0}
                run, _ = theirs(python, "crank_slider", **keys, damping=0.9, **kind)
                wrong = error(run, bend(run.values), peer_exact)
                if wrong <= goal and (other is None or run.seconds < other[0]):
                    other = (run.seconds, {**keys, **kind}, step, wrong)
    if mine is None or other is None:
        raise SystemExit(f"no choice reaches {goal:g}: {mine}, {other}")
    pairs = []
    for _ in range(REPEATS):
        a = crank(mine[1], mine[2], max(1, round(period / mine[2]))).seconds
        b = theirs(python, "crank_slider", repeats=3, damping=0.9, **other[1])[0].seconds
        pairs.append((a / 2, b / 2))
    words = f"{mine[1]}, h = {mine[2]:g}, error {100 * mine[3]:.2f} %"
    words += f"; Exudyn {other[1]['elements']} elements, shear {other[1]['shear']}, h = {other[2]:g},"
    return *medians(pairs), f"{words} error {100 * other[3]:.2f} %"


def medians(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Of both columns."""
    first, second = zip(*pairs, strict=True)
    return statistics.median(first), statistics.median(second)


def a_step(
    python: str, build: Callable[[], ph.Model], case: str, step: float, steps: int, **numbers: float
) -> tuple[float, float, str]:
    """Seconds a step of both, Exudyn in its fastest variant."""
    build().simulate(2 * step, step, progress=False)
    variants = [
        {**numbers, "sparse": sparse, **kind}
        for sparse in (0, 1)
        for kind in ((EXACT, FLEXIBLE) if "elements" in numbers else ({},))
    ]
    keys = {"duration": steps * step, "step": step, "every": steps * step, "damping": 0.8}
    known = {}
    for number, variant in enumerate(variants):
        try:
            known[number] = theirs(python, case, **keys, **variant)[0].seconds
        except subprocess.CalledProcessError:
            continue  # this variant does not converge
    best = variants[min(known, key=known.__getitem__)]
    pairs = []
    for _ in range(REPEATS):
        a = ours(build, lambda model, motion: None, steps * step, step, every=steps).seconds
        b = theirs(python, case, repeats=2, **keys, **best)[0].seconds
        pairs.append((a / steps, b / steps))
    words = ", ".join(f"{name} {best[name]}" for name in ("shear", "sparse") if name in best)
    return *medians(pairs), f"h = {step:g}; Exudyn: {words}, {len(known)} of {len(variants)} variants converge"


def cases(python: str) -> dict[str, Callable[[], tuple[float, float, str]]]:
    """All rows of the table."""

    def chain(links: int, modulus: float) -> Callable[[], tuple[float, float, str]]:
        steps = max(50, 5000 // links)
        return lambda: a_step(
            python,
            lambda: ph.gallery.chain(links, youngs_modulus=modulus),
            "chain",
            1e-3,
            steps,
            links=links,
            elements=4,
            modulus=modulus,
        )

    return {
        "crank-slider, a turn at 1 %": lambda: crank_at(python, 1e-2),
        "crank-slider, a turn at 0.1 %": lambda: crank_at(python, 1e-3),
        "crank-slider, a step, 8 elements": lambda: a_step(
            python, ph.gallery.crank_slider, "crank_slider", 2e-5, 5000, elements=8
        ),
        "chain of 10, E = 2e11": chain(10, 2e11),
        "chain of 10, E = 1e9": chain(10, 1e9),
        "chain of 100, E = 2e11": chain(100, 2e11),
        "chain of 100, E = 1e9": chain(100, 1e9),
        "double pendulum, a step": lambda: a_step(
            python, ph.gallery.double_pendulum, "double_pendulum", 1e-3, 20000
        ),
    }


def amount(seconds: float) -> str:
    """With a unit."""
    return f"{1e3 * seconds:.1f} ms" if seconds >= 2e-3 else f"{1e6 * seconds:.1f} us"


def main() -> None:
    """The table, to standard output and on demand into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    parser.add_argument("--peer", default=sys.executable, help="interpreter of an environment with exudyn")
    parser.add_argument("cases", nargs="*", help="words in the names of the cases; all if none")
    given = parser.parse_args()
    version = subprocess.run(
        [given.peer, "-W", "ignore", "-c", "import exudyn; print(exudyn.__version__)"],
        capture_output=True,
        text=True,
    )
    if version.returncode:
        raise SystemExit("exudyn is not installed: pip install 'phlexible[bench]', or name an interpreter, --peer")
    lines = [
        f"{platform.machine()}, {os.cpu_count()} cores, one thread, Python {platform.python_version()}, phlexible"
        f" {ph.__version__}, Exudyn {version.stdout.strip()}; medians of {REPEATS} alternating runs.",
        "",
        "| case | phlexible | Exudyn | ratio | how |",
        "| --- | --- | --- | --- | --- |",
    ]
    print("\n".join(lines), flush=True)
    for name, measure in cases(given.peer).items():
        if given.cases and not any(word in name for word in given.cases):
            continue
        a, b, words = measure()
        lines.append(f"| {name} | {amount(a)} | {amount(b)} | {b / a:.1f} | {words} |")
        print(lines[-1], flush=True)
    if given.write:
        text = PAGE.read_text()
        before, rest = text.split(BEGIN)
        PAGE.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
