"""``phlexible modes``: frequencies and damping ratios of a model, and pictures of its shapes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from phlexible.cli.failures import UsageError
from phlexible.cli.programs import Program, gallery_entry
from phlexible.cli.settings import parse_settings, parse_sweep
from phlexible.results.pictures.mode_sweep import mode_sweep


def show_sweep(
    name: str,
    settings: Sequence[str],
    sweep: str,
    count: int,
    at: str | None,
    plot: Path | None,
    console: Console,
) -> None:
    """Prints the lowest frequencies over a parameter of a gallery model, and writes a picture of them.

    Raises:
        UsageError: no such model or parameter, or one that is set and swept.
    """
    entry = gallery_entry(name)
    parameters = parse_settings(entry.function, settings)
    key, values = parse_sweep(entry.function, sweep)
    if key in parameters:
        raise UsageError(f"{key} is set and swept; leave out --set {key}=...")
    kind = entry.operating_point if at is None else at
    found = mode_sweep(
        lambda value: entry.function(**parameters, **{key: value}), values, count, at=kind, parameter=key
    )
    console.print(f"[bold]{entry.name}[/bold], {kind.replace('_', ' ')}: frequencies \\[rad/s]")
    table = Table(box=None, pad_edge=False)
    for head in (key, *(f"mode {number + 1}" for number in range(count))):
        table.add_column(head, justify="right")
    for value, row in zip(found.values, found.frequencies, strict=True):
        table.add_row(f"{value:.6g}", *("" if np.isnan(omega) else f"{omega:.6f}" for omega in row))
    console.print(table)
    if plot is not None:
        found.plot(plot)
        console.print(f"wrote {plot}")


def show_modes(
    program: Program,
    count: int,
    at: str,
    plot: Path | None,
    animation: Path | None,
    chosen: int | None,
    report: Path | None,
    console: Console,
) -> None:
    """Prints the lowest modes; writes a picture of all or of one, and a film of one, if paths are given.

    Raises:
        UsageError: the number of a mode that is not among them, from 1.
    """
    modes = program.model.linearize(at=at).modes(count)
    console.print(f"[bold]{program.name}[/bold], {at.replace('_', ' ')}: {modes.rigid_modes} rigid modes")
    table = Table(box=None, pad_edge=False)
    for head in ("mode", "frequency [rad/s]", "[Hz]", "damping ratio"):
        table.add_column(head.replace("[", "\\["), justify="right")
    for number, (omega, ratio) in enumerate(zip(modes.frequencies, modes.damping_ratios, strict=True)):
        table.add_row(f"{number + 1}", f"{omega:.6f}", f"{omega / (2 * np.pi):.6f}", f"{ratio:.3g}")
    console.print(table)
    if chosen is not None and chosen > len(modes.frequencies):
        raise UsageError(f"--mode must be 1 to {len(modes.frequencies)}, got {chosen}; see --count")
    if plot is not None:
        modes.plot(None if chosen is None else chosen - 1, plot)
        console.print(f"wrote {plot}")
    if animation is not None:
        first = min(modes.rigid_modes, len(modes.frequencies) - 1)
        modes.animate(first if chosen is None else chosen - 1, animation)
        console.print(f"wrote {animation}")
    if report is not None:
        modes.report(report, title=f"{program.name}, {at.replace('_', ' ')}")
        console.print(f"wrote {report}")
