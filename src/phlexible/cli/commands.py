"""Commands of the command line and their options."""

import math
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from phlexible.algebra.arrays import whole
from phlexible.cli.failures import UsageError, one_line_failures
from phlexible.cli.programs import (
    ModelToRun,
    build_file,
    defaults_of,
    find_program,
    gallery_entry,
    parameter_text,
    parse_settings,
    parse_sweep,
)
from phlexible.cli.simulation import FILMS, PAGES, PICTURES, RESULTS, Order, carry_out, prepare_file
from phlexible.display import how_many
from phlexible.gallery.entries import TOPICS
from phlexible.gallery.table import ENTRIES
from phlexible.model import Model
from phlexible.pictures.modes import mode_sweep
from phlexible.results.motion import Motion
from phlexible.version import __version__

# ``phlexible modes``: frequencies and damping ratios of a model, and pictures of its shapes.


def show_sweep(
    name: str,
    settings: Sequence[str],
    sweep: str,
    count: int,
    at: str | None,
    plot: Path | None,
    console: Console,
) -> None:
    """Print the lowest ``count`` natural frequencies [rad/s] of the gallery model ``name`` for several values of a
    parameter. ``sweep`` is the text of the parameter and its values, ``settings`` set other parameters, ``at`` is
    the state to linearize about (None: that of the gallery). If ``plot`` is a path, a plot is written to it.
    UsageError for unknown names.

    Raises:
        UsageError: no such model or parameter, or one that is set and swept.
    """
    prepare_file("--plot", plot, PICTURES)
    entry = gallery_entry(name)
    parameters = parse_settings(entry.function, settings)
    key, values = parse_sweep(entry.function, sweep)
    if key in parameters:
        raise UsageError(f"{key} is set and swept; leave out --set {key}=...")
    kind = entry.operating_point if at is None else at
    sweep_of_modes = mode_sweep(
        lambda value: entry.function(**parameters, **{key: value}), values, count, at=kind, parameter=key
    )
    console.print(f"[bold]{entry.name}[/bold], {kind.replace('_', ' ')}: frequencies \\[rad/s]")
    table = Table(box=None, pad_edge=False)
    for head in (key, *(f"mode {number + 1}" for number in range(count))):
        table.add_column(head, justify="right")
    for value, row in zip(sweep_of_modes.values, sweep_of_modes.frequencies, strict=True):
        table.add_row(f"{value:.6g}", *("" if np.isnan(omega) else f"{omega:.6f}" for omega in row))
    console.print(table)
    if plot is not None:
        sweep_of_modes.plot(plot)
        console.print(f"wrote {plot}")


def show_modes(
    program: ModelToRun,
    count: int,
    at: str,
    plot: Path | None,
    animation: Path | None,
    mode: int | None,
    report: Path | None,
    console: Console,
) -> None:
    """Print the lowest ``count`` modes of the model of ``program``, linearized ``at`` a state, to the
    ``console``. Write a picture of all modes or of the ``mode`` one (``plot``), a film of one
    (``animation``), and a ``report``, if paths are given.

    Raises:
        UsageError: a mode number out of range, or files that cannot be written.
    """
    prepare_file("--plot", plot, PICTURES)
    prepare_file("--animate", animation, FILMS)
    prepare_file("--report", report, PAGES)
    whole("count", count)
    modes = program.model.linearize(at=at).modes(count)
    if mode is not None and mode > len(modes.frequencies):
        raise UsageError(f"--mode must be 1 to {len(modes.frequencies)}, got {mode}; see --count")
    rigid = how_many(modes.rigid_modes, "rigid mode")
    console.print(f"[bold]{program.name}[/bold], {at.replace('_', ' ')}: {rigid}")
    table = Table(box=None, pad_edge=False)
    for head in ("mode", "frequency [rad/s]", "[Hz]", "damping ratio"):
        table.add_column(head.replace("[", "\\["), justify="right")
    for number, (omega, ratio) in enumerate(zip(modes.frequencies, modes.damping_ratios, strict=True)):
        table.add_row(f"{number + 1}", f"{omega:.6f}", f"{omega / (2 * np.pi):.6f}", f"{ratio:.3g}")
    console.print(table)
    if plot is not None:
        modes.plot(None if mode is None else mode - 1, plot)
        console.print(f"wrote {plot}")
    if animation is not None:
        first = min(modes.rigid_modes, len(modes.frequencies) - 1)
        modes.animate(first if mode is None else mode - 1, animation)
        console.print(f"wrote {animation}")
    if report is not None:
        modes.report(report, title=f"{program.name}, {at.replace('_', ' ')}")
        console.print(f"wrote {report}")


# Motions and running models in a browser, until the user ends it.

PATIENCE = 1.0
"""Time between two checks of a file that may grow [s]."""
BETWEEN = 60.0
"""Time after which the past of a live run is deleted [s], so that runs may be endless."""


def follow(results: Path, port: int) -> None:
    """Show the motion in the file ``results`` in a browser, until the page is closed. The file is checked for
    changes at intervals, and loaded again if a running simulation has added time steps. ``port`` is the TCP port
    of the local page, whose address is printed."""
    with Motion.load(results).live(port=port) as view:
        print(f"{results} is at {view.url}; Ctrl-C ends it", flush=True)
        view.play()
        seen = results.stat().st_mtime_ns
        while view.is_open:
            time.sleep(PATIENCE)
            if results.stat().st_mtime_ns != seen:
                seen = results.stat().st_mtime_ns
                view.replace(Motion.load(results))


def run_live(model: Model, step: float, speed: float, port: int) -> None:
    """Simulate a model in real time, from its initial state, and show it in a browser until the page is closed.
    ``step`` is the time step [s], ``speed`` the model's seconds per real second, ``port`` the TCP port of the
    local page, whose address is printed. Stored instants are discarded as the run goes on."""
    run = model.start(step=step)
    with run.live(port=port) as view:
        print(f"the model runs at {view.url}; Ctrl-C ends it", flush=True)
        while view.is_running:
            view.run(BETWEEN * speed, speed)
            run.discard_earlier()


app = typer.Typer(
    help="Flexible multibody dynamics in port-Hamiltonian form.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Program = Annotated[
    str, typer.Argument(help="A name of 'phlexible list', or a Python file that defines 'model' or 'build'.")
]
Settings = Annotated[
    list[str], typer.Option("--set", metavar="KEY=VALUE", help="Change a parameter; may be repeated.")
]


class Initial(StrEnum):
    """Elastic coordinates at the start of a run."""

    UNDEFORMED = "undeformed"
    QUASI_STATIC = "quasi-static"


class OperatingPointOption(StrEnum):
    """Operating point of a linear model."""

    GIVEN = "given"
    UNLOADED = "unloaded"
    STATIC = "static"
    STEADY_ROTATION = "steady-rotation"


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"phlexible {__version__}")
        raise typer.Exit


@app.callback()
def phlexible(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version.")
    ] = False,
) -> None:
    """Flexible multibody dynamics in port-Hamiltonian form."""


@app.command("list")
def list_models() -> None:
    """Print the models of the gallery by topic, with their parameters and defaults."""
    width = max(len(entry.name) for entry in ENTRIES) + 4
    for number, topic in enumerate(TOPICS.values()):
        print(f"\n{topic}" if number else topic)
        for entry in (model for model in ENTRIES if model.topic == topic):
            print(f"  {entry.name:{width - 2}}{entry.title}")
            console = Console(width=100, highlight=False, soft_wrap=False)
            for line in console.render_lines(parameter_text(defaults_of(entry.function)), pad=False):
                print(" " * width + "".join(segment.text for segment in line).rstrip())


@app.command()
def run(
    model: Program,
    set_: Settings = [],  # noqa: B006  # typer reads it
    duration: Annotated[float | None, typer.Option(help="Time to simulate [s].")] = None,
    step: Annotated[float | None, typer.Option(help="Time step [s].")] = None,
    initial: Annotated[Initial, typer.Option(help="Elastic deformation at the start.")] = Initial.UNDEFORMED,
    out: Annotated[Path | None, typer.Option(help="Results file, HDF5.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Picture of the run: png, pdf or svg.")] = None,
    animate: Annotated[Path | None, typer.Option(help="Film of the mechanism: mp4 or gif.")] = None,
    report: Annotated[Path | None, typer.Option(help="Page with a 3D view and linked plots: html.")] = None,
    every: Annotated[int, typer.Option(help="Keep each k-th step only.", min=1)] = 1,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in the --out file.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the --out file once there are new results.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Simulate a model from the gallery or a file, print a summary, and write the results, plot, film and report
    that options name."""
    with one_line_failures(debug):
        program = find_program(model, set_)
        order = Order(
            duration=_requested_or_usual("duration", duration, program.duration),
            step=_requested_or_usual("step", step, program.step),
            initial=initial.value.replace("-", "_"),
            every=every,
            out=out,
            plot=plot,
            animation=animate,
            report=report,
            resume=resume,
            overwrite=overwrite,
        )
        exit_code = carry_out(program, order, Console(highlight=False))
    raise typer.Exit(exit_code)


@app.command()
def modes(
    model: Program,
    set_: Settings = [],  # noqa: B006  # typer reads it
    count: Annotated[int, typer.Option(help="How many modes, rigid ones included.", min=1)] = 6,
    at: Annotated[
        OperatingPointOption | None, typer.Option(help="What the model is linearized about; usual: by the model.")
    ] = None,
    sweep: Annotated[
        str | None,
        typer.Option(metavar="KEY=START:STOP:COUNT", help="Frequencies over a parameter instead of shapes."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Picture of the shapes, or of the sweep: png, pdf or svg.")
    ] = None,
    animate: Annotated[Path | None, typer.Option(help="Film of a mode: mp4 or gif.")] = None,
    report: Annotated[Path | None, typer.Option(help="Page in which every mode moves in a 3D view: html.")] = None,
    mode: Annotated[int | None, typer.Option(help="Which mode --plot and --animate show.", min=1)] = None,
    debug: Debug = False,
) -> None:
    """Print natural frequencies and damping ratios of a model, and write pictures of its mode shapes, or of a sweep
    over a parameter."""
    with one_line_failures(debug):
        if sweep is not None:
            if animate is not None or mode is not None or report is not None:
                raise UsageError("--animate, --mode and --report show one model; leave out --sweep")
            point = None if at is None else at.value.replace("-", "_")
            show_sweep(model, set_, sweep, count, point, plot, Console(highlight=False))
            return
        program = find_program(model, set_)
        kind = program.operating_point if at is None else at.value.replace("-", "_")
        show_modes(program, count, kind, plot, animate, mode, report, Console(highlight=False))


@app.command()
def report(
    results: Annotated[Path, typer.Argument(help="A results file of 'phlexible run --out'.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page to write: html; usual: beside the file.")
    ] = None,
    frames: Annotated[int | None, typer.Option(help="Instants of the 3D view.", min=2)] = None,
    debug: Debug = False,
) -> None:
    """Write a web page with a 3D view, linked plots and checks of a run from its results file; the page needs no
    network."""
    with one_line_failures(debug):
        prepare_file("--output", output, PAGES)
        motion = Motion.load(results)
        target = results.with_suffix(".html") if output is None else output
        motion.report(target, frames=frames, title=results.stem)
        print(f"wrote {target}")


@app.command()
def live(
    model: Annotated[
        str,
        typer.Argument(help="A results file (may still grow), a name of 'phlexible list', a Python file."),
    ],
    set_: Settings = [],  # noqa: B006  # typer reads it
    step: Annotated[float | None, typer.Option(help="Time step of a model [s].")] = None,
    speed: Annotated[float, typer.Option(help="Seconds of a model in one second.", min=1e-9, max=1e9)] = 1.0,
    port: Annotated[int, typer.Option(help="Of the page; 0: any that is free.", min=0, max=65535)] = 0,
    debug: Debug = False,
) -> None:
    """Show a motion from a results file, or a model that runs in real time, in a browser on this machine; Ctrl-C
    ends it."""
    with one_line_failures(debug):
        if Path(model).suffix.lower() in RESULTS:
            follow(Path(model), port)
        else:
            program = find_program(model, set_)
            run_live(program.model, _requested_or_usual("step", step, program.step), speed, port)


@app.command()
def build(
    model: Annotated[Path, typer.Argument(help="A Python file that defines 'model' or 'build', and 'step'.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The library: so, dll, dylib, wasm; fmu; html: a live page; or zip: its sources."
        ),
    ],
    target: Annotated[
        str | None, typer.Option(help="The platform, such as linux-aarch64; usual: this one.")
    ] = None,
    fmi: Annotated[int, typer.Option(help="Version of an FMU.", min=2, max=3)] = 3,
    duration: Annotated[
        float | None, typer.Option(help="Up to which functions of time become tables [s].", min=1e-12)
    ] = None,
    debug: Debug = False,
) -> None:
    """Write a model from a Python file as a compiled library, FMU or web page that takes its time steps
    without Python."""
    from phlexible.libraries.linking import ARCHIVE, FMU, PAGES, SUFFIXES, TABLES

    with one_line_failures(debug):
        prepare_file("--output", output, (*SUFFIXES, FMU, *PAGES, ARCHIVE, TABLES))
        print(f"wrote {build_file(model, output, None if target is None else [target], duration, fmi)}")


@app.command()
def warmup(debug: Debug = False) -> None:
    """Compile the time step with all bodies and forces in advance, so that the first run of any model starts at
    once.

    If the installed package has compiled code for this processor, nothing is compiled.
    """
    from phlexible.step.programs import load_all, where_code_is  # here: what it imports takes a while
    from phlexible.tools.study import cores

    with one_line_failures(debug):
        begin = time.perf_counter()
        for name, seconds in load_all(cores()):
            print(f"{seconds:5.1f} s  {name}", flush=True)
        print(f"the time step is compiled, {where_code_is()} ({time.perf_counter() - begin:.1f} s)")


def _requested_or_usual(name: str, requested: float | None, usual: float | None) -> float:
    """Return the number that the user ``requested`` for the command line option ``name``, or else the ``usual``
    value in the model's file. Raise UsageError if both are None, or if the number is not positive and finite."""
    number = usual if requested is None else requested
    if number is None:
        raise UsageError(f"--{name} is missing: pass it, or write {name} = ... into the file")
    if not 0 < number < math.inf:
        raise UsageError(f"--{name} must be positive, got {number:g}")
    return number
