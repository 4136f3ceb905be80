"""Runs a program and writes the files that were asked for."""

import time
import warnings
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from phlexible.cli.failures import FAILED, INTERRUPTED, UsageError, complain
from phlexible.cli.picture import draw
from phlexible.cli.programs import Program
from phlexible.cli.summary import attachment_of, print_summary
from phlexible.errors import (
    ConvergenceError,
    LargeDeflectionWarning,
    LargeStrainWarning,
    SlackStringWarning,
    StepWarning,
    StiffeningWarning,
)
from phlexible.results.motion import Motion

PICTURES = (".png", ".pdf", ".svg")
FILMS = (".mp4", ".gif")
PAGES = (".html", ".htm")
RESULTS = (".h5", ".hdf5")
IN_SUMMARY = (LargeDeflectionWarning, LargeStrainWarning, SlackStringWarning, StepWarning, StiffeningWarning)
"""What ``motion.check`` says once more, at the end."""


@dataclass(frozen=True)
class Order:
    """What the user asked for; None: not wanted.

    Attributes:
        duration: end of the run, counted from t = 0 [s].
        step: [s].
        initial: "undeformed" or "quasi_static".
        every: each k-th step is stored.
        out: results file.
        plot: picture.
        animation: film.
        report: page with a 3D view.
        resume: continue the run in the results file.
        overwrite: a results file of that name may be replaced.
    """

    duration: float
    step: float
    initial: str
    every: int
    out: Path | None
    plot: Path | None
    animation: Path | None
    report: Path | None
    resume: bool
    overwrite: bool


def carry_out(program: Program, order: Order, console: Console) -> int:
    """Simulates, prints the summary, writes the files.

    Returns:
        0, or the exit code of a run that stopped early; what it computed is written all the same.

    Raises:
        UsageError: files that cannot be written as asked, found before the run.
        PhlexibleError: whatever the model refuses.
    """
    _prepare_files(order)
    start = time.perf_counter()
    motion, exit_code = _simulate(program, order)
    wall_time = time.perf_counter() - start
    print_summary(console, program, motion, order.step, wall_time)
    _write_files(program, order, motion, console)
    return exit_code


def _prepare_files(order: Order) -> None:
    for option, path, suffixes in (
        ("--out", order.out, RESULTS),
        ("--plot", order.plot, PICTURES),
        ("--animate", order.animation, FILMS),
        ("--report", order.report, PAGES),
    ):
        if path is not None:
            _prepare_file(option, path, suffixes)
    if order.resume and order.out is None:
        raise UsageError("--resume continues the run in a results file: say which with --out")
    if order.resume and order.overwrite:
        raise UsageError("--resume keeps the run in the --out file and --overwrite replaces it: leave one out")
    if order.out is not None and order.out.exists() and not (order.resume or order.overwrite):
        raise UsageError(
            f"--out {order.out} exists: add --overwrite to replace it, --resume to go on with it, or name another"
        )


def html_file(option: str, path: Path) -> None:
    """Makes the folder of a page.

    Raises:
        UsageError: another ending.
    """
    _prepare_file(option, path, PAGES)


def _prepare_file(option: str, path: Path, suffixes: tuple[str, ...]) -> None:
    if path.suffix.lower() not in suffixes:
        raise UsageError(f"{option} {path}: the name must end with {' or '.join(suffixes)}")
    path.parent.mkdir(parents=True, exist_ok=True)


def _simulate(program: Program, order: Order) -> tuple[Motion, int]:
    """The motion, as far as it came, and the exit code."""
    try:
        with warnings.catch_warnings():
            for shown in IN_SUMMARY:
                warnings.simplefilter("ignore", shown)
            motion = _motion(program, order)
    except ConvergenceError as error:
        if not isinstance(error.motion, Motion):
            raise
        complain(str(error), None)
        return error.motion, FAILED
    if not motion.is_complete:
        complain(f"interrupted at t = {motion.time[-1]:g} s; what was computed is kept", None)
        return motion, INTERRUPTED
    return motion, 0


def _motion(program: Program, order: Order) -> Motion:
    if order.resume and order.out is not None:
        return program.model.resume(order.out, order.duration, order.step, every=order.every)
    return program.model.simulate(
        order.duration,
        order.step,
        initial=order.initial,
        every=order.every,
        output=order.out,
        overwrite=order.overwrite,
    )


def _write_files(program: Program, order: Order, motion: Motion, console: Console) -> None:
    if order.out is not None and order.out.exists():  # a run without a step leaves none
        console.print(f"wrote {order.out}")
    if order.plot is not None:
        draw(program, motion, order.plot)
        console.print(f"wrote {order.plot}")
    if order.animation is not None:
        motion.animate(order.animation)
        console.print(f"wrote {order.animation}")
    if order.report is not None:
        points = [attachment_of(program.model, point) for point in program.points]
        motion.report(order.report, points=points, title=program.name)
        console.print(f"wrote {order.report}")
