"""The commands and their options."""

import math
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from phlexible.cli.failures import UsageError, one_line_failures
from phlexible.cli.live import follow, run_live
from phlexible.cli.mode_table import show_modes, show_sweep
from phlexible.cli.programs import find_program
from phlexible.cli.settings import defaults_of, described
from phlexible.cli.simulation import RESULTS, Order, carry_out, html_file
from phlexible.exchange.fmu import write_fmu
from phlexible.gallery.table import ENTRIES, TOPICS
from phlexible.results.motion import Motion
from phlexible.version import __version__

app = typer.Typer(
    help="Flexible multibody dynamics in port-Hamiltonian form.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


class Initial(StrEnum):
    """Where the elastic coordinates start."""

    UNDEFORMED = "undeformed"
    QUASI_STATIC = "quasi-static"


class OperatingPoint(StrEnum):
    """What a model is linearized about."""

    GIVEN = "given"
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
    """Show the models of the gallery by topic, with their parameters."""
    width = max(len(entry.name) for entry in ENTRIES) + 4
    for number, topic in enumerate(TOPICS.values()):
        print(f"\n{topic}" if number else topic)
        for entry in (each for each in ENTRIES if each.topic == topic):
            print(f"  {entry.name:{width - 2}}{entry.title}")
            console = Console(width=100, highlight=False, soft_wrap=False)
            for line in console.render_lines(described(defaults_of(entry.function)), pad=False):
                print(" " * width + "".join(segment.text for segment in line).rstrip())


@app.command()
def run(
    model: Annotated[
        str, typer.Argument(help="A name of 'phlexible list', or a Python file that defines 'model'.")
    ],
    set_: Annotated[
        list[str], typer.Option("--set", metavar="KEY=VALUE", help="Change a parameter; may be repeated.")
    ] = [],  # noqa: B006  # typer reads it
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
    """Simulate a model, print a summary and write files."""
    with one_line_failures(debug):
        program = find_program(model, set_)
        order = Order(
            duration=_chosen("duration", duration, program.duration),
            step=_chosen("step", step, program.step),
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
    model: Annotated[
        str, typer.Argument(help="A name of 'phlexible list', or a Python file that defines 'model'.")
    ],
    set_: Annotated[
        list[str], typer.Option("--set", metavar="KEY=VALUE", help="Change a parameter; may be repeated.")
    ] = [],  # noqa: B006  # typer reads it
    count: Annotated[int, typer.Option(help="How many modes, rigid ones included.", min=1)] = 6,
    at: Annotated[
        OperatingPoint | None, typer.Option(help="What the model is linearized about; usual: by the model.")
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
    """Show natural frequencies, damping ratios and mode shapes."""
    with one_line_failures(debug):
        if sweep is not None:
            if animate is not None or mode is not None or report is not None:
                raise UsageError("--animate, --mode and --report show one model; leave out --sweep")
            point = None if at is None else at.value.replace("-", "_")
            show_sweep(model, set_, sweep, count, point, plot, Console(highlight=False))
            return
        program = find_program(model, set_)
        kind = program.operating_point if at is None else at.value.replace("-", "_")
        if report is not None:
            html_file("--report", report)
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
    """Write a page with a 3D view, linked plots and checks of a run; it needs no network."""
    with one_line_failures(debug):
        target = results.with_suffix(".html") if output is None else output
        html_file("--output", target)
        Motion.load(results).report(target, frames=frames, title=results.stem)
        print(f"wrote {target}")


@app.command()
def live(
    model: Annotated[
        str,
        typer.Argument(help="A results file (may still grow), a name of 'phlexible list', a Python file."),
    ],
    set_: Annotated[
        list[str], typer.Option("--set", metavar="KEY=VALUE", help="Change a parameter; may be repeated.")
    ] = [],  # noqa: B006  # typer reads it
    step: Annotated[float | None, typer.Option(help="Time step of a model [s].")] = None,
    speed: Annotated[float, typer.Option(help="Seconds of a model in one second.", min=1e-9)] = 1.0,
    port: Annotated[int, typer.Option(help="Of the page; 0: any that is free.", min=0)] = 0,
    debug: Debug = False,
) -> None:
    """Show a motion, or a model that runs, in a browser on this machine; Ctrl-C ends it (phlexible[live])."""
    with one_line_failures(debug):
        if Path(model).suffix.lower() in RESULTS:
            follow(Path(model), port)
        else:
            program = find_program(model, set_)
            run_live(program.model, _chosen("step", step, program.step), speed, port)


@app.command()
def fmu(
    model: Annotated[Path, typer.Argument(help="A Python file that defines 'model' or 'build', and 'step'.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The FMU to write: fmu.")],
    debug: Debug = False,
) -> None:
    """Write a model as an FMU for co-simulation (FMI 3.0)."""
    with one_line_failures(debug):
        print(f"wrote {write_fmu(model, output)}")


@app.command()
def warmup(debug: Debug = False) -> None:
    """Compile the time step with all bodies and forces, so that the first run of any model starts at once."""
    from phlexible.compilation.compiled import kept_in  # here: the compiler takes long to import
    from phlexible.kernels.loop import advance
    from phlexible.kernels.programs import compile_all
    from phlexible.studies.warm_up import warm_up

    with one_line_failures(debug):
        last = begin = time.perf_counter()
        for name in compile_all():
            now = time.perf_counter()
            print(f"{now - last:5.1f} s  {name}", flush=True)
            last = now
        warm_up()
        print(f"{time.perf_counter() - last:5.1f} s  the loop over steps")
        folder = kept_in(advance)
        kept = "for this process only" if folder is None else f"kept in {folder}"
        print(f"the time step is compiled, {kept} ({time.perf_counter() - begin:.1f} s)")


def _chosen(name: str, asked: float | None, usual: float | None) -> float:
    """The number that was asked for, or else the usual one of the program."""
    number = usual if asked is None else asked
    if number is None:
        raise UsageError(f"how long? give --{name}, or write {name} = ... into the file")
    if not 0 < number < math.inf:
        raise UsageError(f"--{name} must be positive, got {number:g}")
    return number
