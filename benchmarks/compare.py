"""phlexible beside Exudyn, at equal error: python benchmarks/compare.py [--write] [--peer PYTHON] [CASE ...]

Both run one after the other, again and again, on one thread; the least processor time of each. Each run of Exudyn
is a process of its own with a limit of time: a variant that does not end within it counts as one that does not
converge. ``--write`` puts each row into the table of docs/performance.md as soon as it is measured, which keeps its
other rows. Exudyn comes with the extra ``bench``, or from another environment's interpreter, ``--peer``.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from peer import pinned_bar

import phlexible as ph

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- compare: written by benchmarks/compare.py -->\n", "<!-- end of compare -->"
PEER = Path(__file__).parent / "peer" / "exudyn_models.py"
REPEATS = 5
COMPARED, FINER = 200, 16  # steps after which errors are measured; how much finer the steps of the exact run are
TURN = 2 * np.pi / 150.0
COMPARED_TURNS, TIMED_TURNS = 2, 10
KEPT_A_TURN = 21
SIZES = (2, 4, 6, 8)  # elements
STEPS_A_TURN = {  # by the order
    2: (126, 210, 252, 273, 294, 315, 336, 378, 420, 630, 840, 1050, 1260, 1470, 1680),
    4: (21, 25, 30, 36, 42, 63, 84, 126),
}
LIMIT, TRIES = 120.0, 2  # of one process of Exudyn, which may hang on a busy machine [s]
EXACT, FLEXIBLE = {"shear": 0}, {"shear": 1}


class PeerError(Exception):
    """A run of Exudyn that does not converge, or does not end."""


@dataclass(frozen=True)
class Run:
    """What was measured: seconds, instants, and what is compared at them."""

    seconds: float
    times: np.ndarray
    values: np.ndarray


def ours(build: Callable[[], ph.Model], value: Callable, duration: float, step: float, **options: Any) -> Run:
    """The fastest of a few runs of models that are built anew.

    ``simulate`` is counted in full, building is not, nor are the tables, which a run of one step makes before, as
    ``Assemble`` does in Exudyn.
    """
    best = None
    for _ in range(options.pop("repeats", 1)):
        model = build()
        model.simulate(step, step, progress=False)
        begin = time.process_time()
        motion = model.simulate(duration, step, progress=False, **options)
        seconds = time.process_time() - begin
        if best is None or seconds < best.seconds:
            best = Run(seconds, motion.time, value(model, motion))
    return best


def theirs(python: str, case: str, **numbers: float | Path) -> tuple[Run, str]:
    """One run of Exudyn, fastest of a few within one process, and its version.

    Raises:
        PeerError: it fails, or takes longer than the limit each time.
    """
    words = [f"{key}={value}" for key, value in numbers.items()]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for _ in range(TRIES):
        try:
            done = subprocess.run(
                [python, "-W", "ignore", str(PEER), case, *words],
                capture_output=True,
                text=True,
                env=environment,
                check=True,
                timeout=LIMIT,
            )
        except subprocess.CalledProcessError as failure:
            raise PeerError(f"{case}: {failure.stderr[-300:]}") from failure
        except subprocess.TimeoutExpired:
            continue
        found = json.loads(done.stdout.strip().splitlines()[-1])
        return Run(found["seconds"], np.array(found["times"]), np.array(found["places"])), found["version"]
    raise PeerError(f"{case} does not end within {LIMIT:g} s")


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


def crank(parameters: dict[str, Any], step: float, every: int, turns: int = COMPARED_TURNS, **options: Any) -> Run:
    """Some turns of the crank."""
    return ours(
        lambda: ph.gallery.crank_slider(**parameters),
        lambda model, motion: motion.elastic_displacement(model["coupler"].at(0.15))[:, 1],
        turns * TURN,
        step,
        every=every,
        **options,
    )


def cheapest(
    kinds: Iterable[dict[str, Any]], run: Callable[..., Run], exact: Run, goal: float
) -> tuple[dict[str, Any], int, float]:
    """Kind, steps a turn and error of the cheapest that reaches the goal.

    It must reach it with all shorter steps, too: errors of elements and of steps can cancel.
    """
    best = None
    for kind in kinds:
        longest = None
        for n in sorted(STEPS_A_TURN[kind.get("order", 2)], reverse=True):
            try:
                found = run(kind, n)
            except PeerError:
                break
            wrong = error(found, found.values, exact)
            if wrong > goal:
                break
            longest = kind, n, wrong
        if longest is not None:
            seconds = run(*longest[:2], TIMED_TURNS).seconds
            if best is None or seconds < best[0]:
                best = (seconds, longest)
    if best is None:
        raise SystemExit(f"no choice reaches {goal:g}")
    return best[1]


def peer_crank(
    python: str, kind: dict[str, Any], n: int, turns: int = COMPARED_TURNS, repeats: int = 1, **keys: Any
) -> Run:
    """The same of Exudyn, undeformed at the start."""
    keys = {"duration": turns * TURN, "step": TURN / n, "every": TURN / KEPT_A_TURN, "repeats": repeats} | keys
    run, _ = theirs(python, "crank_slider", **keys, **kind, sparse=0, damping=0.9)
    return Run(run.seconds, run.times, bend(run.values))


@lru_cache
def exact_peer(python: str) -> Run:
    """With 16 elements and far smaller steps."""
    return peer_crank(python, {"elements": 16, **EXACT}, 1, step=4e-6, every=2e-5)


@lru_cache
def peer_turns(python: str, elements: int, shear: int, n: int, turns: int) -> Run:
    """Some turns of a kind of the peer, run once: all goals ask for the same."""
    return peer_crank(python, {"elements": elements, "shear": shear}, n, turns)


@lru_cache
def cheapest_peer(python: str, goal: float) -> tuple[dict[str, Any], int, float]:
    """Its cheapest kind, as ``cheapest`` has it."""

    def run(kind: dict[str, Any], n: int, turns: int = COMPARED_TURNS) -> Run:
        return peer_turns(python, kind["elements"], kind["shear"], n, turns)

    kinds = [{"elements": m, **each} for each in (EXACT, FLEXIBLE) for m in SIZES]
    return cheapest(kinds, run, exact_peer(python), goal)


def crank_at(python: str, times: int, goal: float, start: str) -> tuple[float, float, str]:
    """Seconds a turn of both at an error of ``goal``, and how.

    Errors are those of the first turns, of ours beside the exact motion from the same start. Ours may take steps of
    order 4, the peer cannot; both may have the same numbers of elements.
    """

    def mine(kind: dict[str, Any], n: int, turns: int = COMPARED_TURNS, **options: Any) -> Run:
        repeats = 3 if turns == TIMED_TURNS else 1
        step = {
            "step": TURN / n,
            "every": max(1, n // KEPT_A_TURN),
            "initial": start,
            "turns": turns,
            "repeats": repeats,
        }
        return crank(**kind, **step, **options)

    sizes = [{"elements": n, **kept} for n in SIZES[1:] for kept in ({}, *({"modes": k} for k in (1, 2, 3, 6)))]
    kinds = [{"parameters": each, "order": order} for each in sizes for order in STEPS_A_TURN]
    ours_is, n, wrong = cheapest(kinds, mine, crank({"elements": 16}, 5e-6, 4, initial=start), goal)
    theirs_is, m, peer_wrong = cheapest_peer(python, goal)
    mine(ours_is, n, specialize=True)  # its program is made
    rows = []
    for _ in range(times):
        runs = mine(ours_is, n, TIMED_TURNS), mine(ours_is, n, TIMED_TURNS, specialize=True)
        runs = *runs, peer_crank(python, theirs_is, m, TIMED_TURNS, 3)
        rows.append(tuple(run.seconds / TIMED_TURNS for run in runs))
    seconds, own_program, peer = least(rows)
    words = ", ".join(
        f"{count} {name if count > 1 else name.removesuffix('s')}" for name, count in ours_is["parameters"].items()
    )
    words += f", {n} steps of order {ours_is['order']}, error {100 * wrong:.2f} %; with `specialize=True`"
    words += f" {amount(own_program)}, ratio {peer / own_program:.1f}; Exudyn {theirs_is['elements']} elements,"
    words += f" shear {theirs_is['shear']}, {m} steps, error {100 * peer_wrong:.2f} %"
    return seconds, peer, words


def least(rows: list[tuple[float, ...]]) -> list[float]:
    """Of each column."""
    return [min(column) for column in zip(*rows, strict=True)]


def a_step(
    python: str,
    times: int,
    build: Callable[[], ph.Model],
    watched: Callable[[ph.Model], Any],
    case: str,
    step: float,
    steps: int,
    **numbers: float,
) -> tuple[float, float, str]:
    """Seconds a step of both, Exudyn in its fastest variant, and errors of a point of each after some of them."""

    def mine(count: int, parts: int, repeats: int = 1) -> Run:
        def places(model: ph.Model, motion: ph.Motion) -> np.ndarray:
            return motion.position(watched(model))[:, :2]

        return ours(build, places, count * step, step / parts, every=count * parts, repeats=repeats)

    def other(variant: dict[str, float], count: int, parts: int, repeats: int = 1) -> Run:
        keys = {"duration": count * step, "step": step / parts, "every": count * step, "damping": 0.8}
        run, _ = theirs(python, case, **keys, **variant, repeats=repeats)
        return Run(
            run.seconds, run.times, run.values[len(run.values) // 2]
        )  # the point in the middle, or the only one

    mine(2, 1)
    kinds = (EXACT, FLEXIBLE) if "elements" in numbers else ({},)
    variants = [{**numbers, "sparse": sparse, **kind} for sparse in (0, 1) for kind in kinds]
    known = {}
    for number, variant in enumerate(variants):
        try:
            known[number] = other(variant, steps, 1).seconds
        except PeerError:
            continue  # this variant does not converge
    best = variants[min(known, key=known.__getitem__)]
    pairs = []
    for _ in range(times):
        pairs.append((mine(steps, 1, 2).seconds / steps, other(best, steps, 1, 2).seconds / steps))
    few = min(steps, COMPARED)
    wrong = [way_off(mine(few, 1), mine(few, FINER)), float("nan")]
    for parts in (FINER, FINER // 4):
        try:
            wrong[1] = way_off(other(best, few, 1), other(best, few, parts))
            break
        except PeerError:
            continue  # with shorter steps it does not converge
    words = ", ".join(f"{name} {best[name]}" for name in ("shear", "sparse") if name in best)
    peer_wrong = "unknown" if np.isnan(wrong[1]) else f"{100 * wrong[1]:.2g} %"
    return (
        *least(pairs),
        f"h = {step:g}, error after {few} steps {100 * wrong[0]:.2g} %; Exudyn: {words},"
        f" error {peer_wrong}, {len(known)} of {len(variants)} variants converge",
    )


def way_off(run: Run, exact: Run) -> float:
    """Distance of a point from where it should be at the end, over the way that it went."""
    way = np.linalg.norm(exact.values[-1] - exact.values[0])
    return float(np.linalg.norm(run.values[-1] - exact.values[-1]) / way)


def floating_body(python: str, times: int, coordinates: int) -> tuple[float, float, str]:
    """Seconds a step of both with the same shapes, Exudyn in its faster variant."""
    steps, step, fine = 1000, 1e-3, 16

    def repeats(parts: int) -> int:
        return 1 if parts > 1 else 3

    def mine(parts: int) -> Run:
        return ours(
            lambda: pinned_bar.model(coordinates),
            lambda model, motion: motion.position(model["bar"]["tip"])[:, :2],
            steps * step,
            step / parts,
            every=10 * parts,
            repeats=repeats(parts),
        )

    with TemporaryDirectory() as folder:
        path = Path(folder) / "bar.npz"
        pinned_bar.write(coordinates, path)
        keys = {"duration": steps * step, "every": 10 * step, "damping": 0.8, "file": path}

        def other(parts: int, sparse: int) -> Run:
            run = theirs(
                python, "pinned_bar", **keys, step=step / parts, sparse=sparse, repeats=1 if parts > 1 else 3
            )[0]
            return Run(run.seconds, run.times, run.values.mean(axis=0))

        exact = mine(fine), other(fine, 0)
        best = min((0, 1), key=lambda sparse: other(1, sparse).seconds)
        pairs = [(mine(1), other(1, best)) for _ in range(times)]
    wrong = [
        100 * np.linalg.norm(run.values - true.values[: len(run.values)], axis=1).max() / pinned_bar.LENGTH
        for run, true in zip(pairs[0], exact, strict=True)
    ]
    apart = 100 * np.linalg.norm(exact[0].values - exact[1].values, axis=1).max() / pinned_bar.LENGTH
    words = f"h = {step:g}, error of the tip {wrong[0]:.2g} %; Exudyn: sparse {best}, error {wrong[1]:.2g} %;"
    words += f" with h = {step / fine:g} they are {apart:.2g} % apart"
    return *least([(a.seconds / steps, b.seconds / steps) for a, b in pairs]), words


def cases(python: str, repeats: int) -> dict[str, Callable[[], tuple[float, float, str]]]:
    """All rows of the table."""

    def chain(links: int, modulus: float) -> Callable[[], tuple[float, float, str]]:
        steps = max(50, 5000 // links)
        return lambda: a_step(
            python,
            repeats,
            lambda: ph.gallery.chain(links, youngs_modulus=modulus),
            lambda model: model.bodies[-1].end,
            "chain",
            1e-3,
            steps,
            links=links,
            elements=4,
            modulus=modulus,
        )

    return {
        **{
            f"crank-slider, a turn at {goal:g} %, {start.replace('_', '-')} start": partial(
                crank_at, python, repeats, goal / 100, start
            )
            for start in ("undeformed", "quasi_static")
            for goal in (1.0, 0.1)
        },
        "crank-slider, a step, 8 elements": lambda: a_step(
            python,
            repeats,
            ph.gallery.crank_slider,
            lambda model: model["coupler"].at(0.15),
            "crank_slider",
            2e-5,
            5000,
            elements=8,
        ),
        "chain of 10, E = 2e11": chain(10, 2e11),
        "chain of 10, E = 1e9": chain(10, 1e9),
        "chain of 100, E = 2e11": chain(100, 2e11),
        "chain of 100, E = 1e9": chain(100, 1e9),
        **{
            f"floating body with {n} shapes in space, a step": partial(floating_body, python, repeats, n)
            for n in (8, 14, 20)
        },
        "double pendulum, a step": lambda: a_step(
            python,
            repeats,
            ph.gallery.double_pendulum,
            lambda model: model.bodies[1].origin,
            "double_pendulum",
            1e-3,
            20000,
        ),
    }


def amount(seconds: float) -> str:
    """With a unit, in three digits."""
    value, unit = (1e3 * seconds, "ms") if seconds >= 1e-3 else (1e6 * seconds, "us")
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def main() -> None:
    """The table, to standard output and on demand into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    parser.add_argument("--peer", default=sys.executable, help="interpreter of an environment with exudyn")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="alternating runs of each case")
    parser.add_argument("cases", nargs="*", help="words in the names of the cases; all if none")
    given = parser.parse_args()
    version = subprocess.run(
        [given.peer, "-W", "ignore", "-c", "import exudyn; print(exudyn.__version__)"],
        capture_output=True,
        text=True,
    )
    if version.returncode:
        raise SystemExit("exudyn is not installed: pip install 'phlexible[bench]', or name an interpreter, --peer")
    head = [
        f"{platform.machine()}, {os.cpu_count()} cores, one thread, Python {platform.python_version()}, phlexible"
        f" {ph.__version__}, Exudyn {version.stdout.strip()}; the least of {given.repeats} alternating runs,"
        f" load {os.getloadavg()[0]:.1f} when they began.",
        "",
        "| case | phlexible | Exudyn | ratio | how |",
        "| --- | --- | --- | --- | --- |",
    ]
    print("\n".join(head), flush=True)
    rows = {}
    for name, measure in cases(given.peer, given.repeats).items():
        if given.cases and not any(word in name for word in given.cases):
            continue
        try:
            a, b, words = measure()
        except PeerError as failure:
            print(f"{name}: {failure}", flush=True)
            continue
        rows[name] = f"| {name} | {amount(a)} | {amount(b)} | {b / a:.1f} | {words} |"
        print(rows[name], flush=True)
        if given.write:
            write(head, rows, list(cases(given.peer, given.repeats)))


def write(head: list[str], rows: dict[str, str], names: list[str]) -> None:
    """Into the page, in the order of the names; rows that were not measured stay."""
    before, rest = PAGE.read_text().split(BEGIN)
    table, after = rest.split(END)
    known = {line.split("|")[1].strip(): line for line in table.splitlines() if line.startswith("| ")}
    kept = [(rows.get(name) or known.get(name)) for name in names]
    PAGE.write_text(before + BEGIN + "\n".join([*head, *filter(None, kept)]) + "\n" + END + after)


if __name__ == "__main__":
    main()
