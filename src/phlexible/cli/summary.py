"""The short table after a run."""

import math

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.rod.rod import Rod
from phlexible.cli.programs import Program
from phlexible.gallery.table import BeamPoint, Reference
from phlexible.model import Model
from phlexible.observables.quality.check import MotionCheck
from phlexible.ports.attachments import Attachment
from phlexible.results.motion import Motion

ROUND_OFF = 1e-12


def attachment_of(model: Model, point: BeamPoint) -> Attachment:
    """The attachment of a point on a beam of the model."""
    placed = model[point.body]
    return placed.at(point.fraction * length_of(model, point))


def length_of(model: Model, point: BeamPoint) -> float:
    """Length of the beam that the point is on [m]."""
    body = model[point.body].body
    if not isinstance(body, Beam | SplitBeam | Rod):
        raise TypeError(f"{point.body} is not a beam or rod")
    return body.length


def print_summary(console: Console, program: Program, motion: Motion, step: float, wall_time: float) -> None:
    """Prints what was computed, how much work it was, how good it is (``motion.check``), and the peaks."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    model, steps = program.model, max(1, math.ceil(motion.time[-1] / step - 1e-9))
    table.add_row("model", f"{program.name}, bodies: {len(model.bodies)}, joints: {len(model.joints)}")
    table.add_row("simulated", f"{motion.time[-1]:g} s in {steps} steps")
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
        *([] if check.findings else [("check", "nothing was found")]),
    ]


def _peaks(program: Program, motion: Motion) -> Table:
    """Extreme transverse displacements, with the references that hold for them."""
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
    away = max(abs(greatest - reference.greatest), abs(smallest - reference.smallest)) / scale
    numbers = f"{reference.greatest:.6f}", f"{reference.smallest:.6f}"
    return f"  reference: {reference.source}", *numbers, f"{100 * away:.2f} %"


def _energy_rows(motion: Motion) -> list[tuple[str, str]]:
    energy = motion.energy

    def span(values: Array) -> str:
        return f"{values[0]:.6g} J -> {values[-1]:.6g} J, greatest {values.max():.6g} J"

    scale = float(np.max(np.abs(energy.kinetic) + np.abs(energy.strain) + np.abs(energy.gravity)))
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
