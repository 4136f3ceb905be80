"""Simulation of a program, with its files and a short table."""

import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.rod import Rod
from phlexible.cli.failures import FAILED, INTERRUPTED, UsageError, complain
from phlexible.cli.programs import ModelToRun
from phlexible.description.ports import Attachment
from phlexible.display import how_many
from phlexible.errors import ConvergenceError, deferred_warnings
from phlexible.gallery.entries import BeamPoint, Reference
from phlexible.measure.quality import MotionCheck
from phlexible.model import Model
from phlexible.results.files.files import load
from phlexible.results.motion import Motion

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# The short table after a run.

ROUND_OFF = 1e-12
SAME_STEP = 1e-9


def attachment_of(model: Model, point: BeamPoint) -> Attachment:
    """Return the attachment on a beam of the model at which a point is, given by body name and fraction of the
    length."""
    placed = model[point.body]
    return placed.at(point.fraction * length_of(model, point))


def length_of(model: Model, point: BeamPoint) -> float:
    """Return the length of the beam or rod of a ``model`` on which a point lies [m]."""
    body = model[point.body].body
    if not isinstance(body, Beam | SplitBeam | Rod):
        raise TypeError(f"{point.body} is not a beam or rod")
    return body.length


def print_summary(console: Console, program: ModelToRun, motion: Motion, step: float, wall_time: float) -> None:
    """Print the summary of a run (``motion`` of the model of ``program``) to the ``console`` as a table:
    model, time steps, energies, accuracy checks and peak displacements. ``step`` is the time step,
    ``wall_time`` the computing time [s]."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    model, steps = program.model, max(1, math.ceil(motion.time[-1] / step - 1e-9))
    table.add_row("model", f"{program.name}, bodies: {len(model.bodies)}, joints: {len(model.joints)}")
    table.add_row("simulated", f"{motion.time[-1]:g} s in {how_many(steps, 'step')}")
    table.add_row("wall time", f"{wall_time:.2f} s, with loading of compiled code")
    table.add_row("Newton", f"{motion.iterations[-1] / steps:.2f} iterations a step")
    table.add_row("halved steps", f"{motion.halvings[-1]}")
    check = motion.check()
    for row in (*_energy_rows(motion), *_quality_rows(check)):
        table.add_row(*row)
    console.print(table)
    if check.findings:
        findings = Table(box=None, show_header=False, pad_edge=False)
        for finding in check.findings:
            findings.add_row("-", Text(finding))
        console.print("\n[bold]look at[/bold]")
        console.print(findings)
    if program.points:
        console.print()
        console.print(_peaks(program, motion))


def _quality_rows(check: MotionCheck) -> list[tuple[str, str]]:
    return [
        ("joints", f"open by at most {check.joint_gap:.1e} of the largest body"),
        ("error of a step", f"at most {check.step_error:.1e} of the longest body, estimated"),
        *([] if check.findings else [("check", "no problems found")]),
    ]


def _peaks(program: ModelToRun, motion: Motion) -> Table:
    """Return a printable table of the largest and smallest transverse displacements of beam points in a
    ``motion``, divided by the beam length. Rows follow for reference values of the gallery program, only for the
    first transverse axis and runs of the reference's duration. Displacements along the third axis at round-off are
    left out."""
    table = Table(box=None, pad_edge=False)
    table.add_column("peaks of the elastic displacement")
    for head in ("greatest", "smallest", "away" if program.references else ""):
        table.add_column(head, justify="right")
    for point in program.points:
        attachment = attachment_of(program.model, point)
        ratio = motion.elastic_displacement(attachment) / length_of(program.model, point)
        for axis in range(1, program.model.dimension):
            peaks = float(ratio[:, axis].max()), float(ratio[:, axis].min())
            if axis == 2 and max(peaks[0], -peaks[1]) < ROUND_OFF:
                continue
            table.add_row(f"{attachment} u_{'xyz'[axis]}/L", f"{peaks[0]:.6f}", f"{peaks[1]:.6f}")
            for reference in program.references if axis == 1 else ():
                if reference.point == point and abs(motion.time[-1] - reference.duration) < 1e-9:
                    table.add_row(*_reference_row(reference, *peaks))
    return table


def _reference_row(reference: Reference, greatest: float, smallest: float) -> tuple[str, str, str, str]:
    scale = max(abs(reference.greatest), abs(reference.smallest))
    difference = max(abs(greatest - reference.greatest), abs(smallest - reference.smallest)) / scale
    numbers = f"{reference.greatest:.6f}", f"{reference.smallest:.6f}"
    return f"  reference: {reference.source}", *numbers, f"{100 * difference:.2f} %"


def _energy_rows(motion: Motion) -> list[tuple[str, str]]:
    energy = motion.energy

    def span(values: Array) -> str:
        return f"{values[0]:.6g} J -> {values[-1]:.6g} J, greatest {values.max():.6g} J"

    scale = float(np.max(energy.absolute))
    error = float(np.max(np.abs(energy.balance_error)))
    relative = f", {error / scale:.0e} of the greatest energy" if scale > 0 else ""
    return [
        ("kinetic energy", span(energy.kinetic)),
        ("strain energy", span(energy.strain)),
        *([("gravity", span(energy.gravity))] if np.any(energy.gravity) else []),
        ("total energy", span(energy.total)),
        ("supplied, dissipated", f"{energy.supplied[-1]:.6g} J, {energy.dissipated[-1]:.6g} J"),
        ("energy balance", f"off by {error:.1e} J{relative}"),
    ]


# One picture of a run.


def draw(program: ModelToRun, motion: Motion, path: Path | None) -> "Figure":
    """Return a matplotlib figure of the main curves of a run, and save it if a ``path`` is given. ``motion`` is the
    run of the model of ``program``; ``motion.plot`` draws it, with the displacements of the beam points that
    ``program`` lists.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ResultFileError: the file cannot be written.
    """
    return motion.plot(path, points=[attachment_of(program.model, point) for point in program.points])


# Simulation of a program, and the requested files.

PICTURES = (".png", ".pdf", ".svg")
FILMS = (".mp4", ".gif")
PAGES = (".html", ".htm")
RESULTS = (".h5", ".hdf5")


@dataclass(frozen=True)
class Order:
    """Options of a run that the user requested; None: not requested.

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
        overwrite: whether a results file of that name may be replaced.
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


def carry_out(program: ModelToRun, order: Order, console: Console) -> int:
    """Simulate the model of ``program`` as the command line requests (``order``), print the summary to the
    ``console`` and write the files. Return the exit code of the program.

    Returns:
        0, or the exit code of a run that stopped early, whose results are written all the same.

    Raises:
        UsageError: files that cannot be written, which is checked before the run.
        PhlexibleError: an error of the model.
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
        prepare_file(option, path, suffixes)
    if order.resume and order.out is None:
        raise UsageError("--resume continues the run in a results file: name it with --out")
    if order.resume and order.overwrite:
        raise UsageError("--resume keeps the run in the --out file and --overwrite replaces it: leave one out")
    if order.overwrite and order.out is None:
        raise UsageError("--overwrite replaces the results file of --out: name it with --out, or leave it out")
    if order.out is not None and order.out.exists() and not (order.resume or order.overwrite):
        raise UsageError(
            f"--out {order.out} exists: add --overwrite to replace it, --resume to go on with it, or name another"
        )


def prepare_file(option: str, path: Path | None, suffixes: tuple[str, ...]) -> None:
    """Create the folder of the output file ``path`` that a command line ``option`` names, and raise
    UsageError if no such file can be written. ``suffixes`` are the allowed endings of its name.

    Raises:
        UsageError: another ending, or no file can be written there.
    """
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise UsageError(f"{option} {path}: the name must end with {' or '.join(suffixes)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option} {path}: the folder cannot be made: {error}") from error
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(
            f"{option} {path}: {'is a folder' if path.is_dir() else 'cannot be written'}; name another"
        )


def _simulate(program: ModelToRun, order: Order) -> tuple[Motion, int]:
    """Simulate the model of ``program`` as the command line options ``order`` say, and return its motion and the
    exit code. Without convergence or after an interruption, the message is printed and the motion so far is
    returned with the code of that failure. Other errors are raised after collected warnings are printed. Warnings
    of a successful run are printed later, by the summary."""
    with deferred_warnings() as warned:
        try:
            motion = _motion(program, order)
        except Exception as error:
            if isinstance(error, ConvergenceError) and isinstance(error.motion, Motion):
                complain(str(error), None)
                return error.motion, FAILED
            for text in warned:
                complain(text, None)
            raise
    if not motion.is_complete:
        complain(f"interrupted at t = {motion.time[-1]:g} s; the results so far are kept", None)
        return motion, INTERRUPTED
    return motion, 0


def _motion(program: ModelToRun, order: Order) -> Motion:
    if order.resume and order.out is not None:
        checkpoint = load(order.out).checkpoint
        if checkpoint is not None and abs(checkpoint.step - order.step) > SAME_STEP * checkpoint.step:
            raise UsageError(
                f"{order.out} holds steps of {checkpoint.step:g} s, and {order.step:g} s are requested: continue"
                f" with --step {checkpoint.step:g}, or restart with --overwrite in place of --resume"
            )
        return program.model.resume(order.out, order.duration, order.step, every=order.every)
    return program.model.simulate(
        order.duration,
        order.step,
        initial=order.initial,
        every=order.every,
        output=order.out,
        overwrite=order.overwrite,
    )


def _write_files(program: ModelToRun, order: Order, motion: Motion, console: Console) -> None:
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
