"""``phlexible modes``: frequencies and damping ratios of a model, and pictures of its shapes."""

from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from phlexible.cli.programs import Program


def show_modes(program: Program, count: int, at: str, plot: Path | None, console: Console) -> None:
    """Prints the lowest modes and writes a picture if a path is given."""
    modes = program.model.linearize(at=at).modes(count)
    console.print(f"[bold]{program.name}[/bold], {at.replace('_', ' ')}: {modes.rigid_modes} rigid modes")
    table = Table(box=None, pad_edge=False)
    for head in ("mode", "frequency [rad/s]", "[Hz]", "damping ratio"):
        table.add_column(head.replace("[", "\\["), justify="right")
    for number, (omega, ratio) in enumerate(zip(modes.frequencies, modes.damping_ratios, strict=True)):
        table.add_row(f"{number + 1}", f"{omega:.6f}", f"{omega / (2 * np.pi):.6f}", f"{ratio:.3g}")
    console.print(table)
    if plot is not None:
        modes.plot(path=plot)
        console.print(f"wrote {plot}")
