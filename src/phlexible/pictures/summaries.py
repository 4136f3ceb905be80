"""Models and motions in a few words and numbers, also in notebooks."""

from dataclasses import dataclass

import numpy as np

from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.description.mechanism.parts import part_counts
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import PlacedBody
from phlexible.display import described, in_row, table, written
from phlexible.measure.energy import Energy, energy_of
from phlexible.pictures.mechanism_plot import plot_mechanism, plot_model
from phlexible.pictures.style import picture_html
from phlexible.state.recorded_run import RecordedRun

# A run in a few numbers.


class Figures(dict[str, str | int | float]):
    """Dictionary of numbers by name, which ``print`` shows as aligned lines."""

    def __str__(self) -> str:
        return text(self)


def figures(run: RecordedRun, step: float | None = None) -> Figures:
    """Return numbers that summarize a recorded ``run``: sizes of the model, duration, solver iterations, energies
    at start and end. They are named by texts with the unit, such as "bodies" and "duration [s]". The time ``step``
    [s] is among them if it is not None."""
    rec, mechanism = run.recording, run.mechanism
    energy = energy_of(rec)
    found: dict[str, str | int | float] = {
        "bodies": len(mechanism.bodies),
        "joints": len(mechanism.joints),
        "velocities": rec.velocity.shape[1],
        "constraints": rec.multipliers.shape[1],
        "instants": run.count,
        "duration [s]": float(rec.time[-1] - rec.time[0]),
        **({} if step is None else {"step [s]": step}),
        "Newton iterations": int(rec.iterations[-1]),
        "halved steps": int(rec.halvings[-1]),
        "energy at the start [J]": float(energy.total[0]),
        "energy at the end [J]": float(energy.total[-1]),
        "supplied [J]": float(energy.supplied[-1]),
        "dissipated [J]": float(energy.dissipated[-1]),
        "largest balance error [J]": float(np.abs(energy.balance_error).max()),
    }
    return Figures(found)


def text(values: Figures) -> str:
    """Return named numbers of a run as text with one aligned line for each."""
    width = max(map(len, values))
    return "\n".join(
        f"{name:<{width}}  {value:.6g}" if isinstance(value, float) else f"{name:<{width}}  {value}"
        for name, value in values.items()
    )


# A model in words: bodies, joints, loads with their parameters, as tables of text.


@dataclass(frozen=True)
class Part:
    """One part of a model.

    Attributes:
        heading: name and kind.
        rows: name and value of each parameter that is not None.
    """

    heading: str
    rows: tuple[tuple[str, str], ...]


def model_parts(mechanism: Mechanism) -> dict[str, list[Part]]:
    """Return descriptions of all components of a ``mechanism`` for display, as lists by family: bodies, joints,
    loads, force elements and drives. A description has a heading and a list of parameters. A rod is one entry with
    its number of sections; empty families are left out."""
    bodies = []
    sections = {placed for rod in mechanism.rods for placed in rod.handle.parts}
    for rod in mechanism.rods:
        mass = sum(placed.data.mass for placed in rod.handle.parts)
        row = [("position", written(rod.handle.parts[0].origin_position)), ("sections", str(len(rod.handle.parts)))]
        bodies.append(Part(f"{rod.handle.name}: Rod, {mass:.4g} kg", (*row, *described(rod.handle.body))))
    for placed in (each for each in mechanism.bodies if each not in sections):
        row = [("position", written(placed.origin_position))]
        if placed.data.elastic_count:
            row.append(("coordinates", str(placed.data.elastic_count)))
        heading = f"{placed.name}: {type(placed.body).__name__}, {placed.data.mass:.4g} kg"
        bodies.append(Part(heading, (*row, *described(placed.resolved))))
    families = {
        "bodies": bodies,
        "joints": [Part(str(joint), tuple(described(joint))) for joint in mechanism.joints],
        "loads": [Part(str(load), tuple(described(load))) for load in mechanism.loads],
        "springs, dampers, motors": [
            Part(str(each), tuple(described(each))) for each in mechanism.applied_elements
        ],
        "drives": [Part(str(drive), tuple(described(drive))) for drive in mechanism.drives],
    }
    return {name: parts for name, parts in families.items() if parts}


# How models and motions show themselves in notebooks.

MOST_ROWS = 12
INSTANTS = 5
SHOWN = ("instants", "duration [s]", "Newton iterations", "halved steps", "largest balance error [J]")


def model_html(mechanism: Mechanism) -> str:
    """Return HTML for notebooks that shows a model ``mechanism``: a picture as the user placed its bodies, beside
    a table. The table has kind, mass [kg], number of coordinates and position [m] of each body, for the first
    bodies if there are many. Without bodies only the table is returned."""
    title = f"{type(mechanism).__name__}: {part_counts(mechanism)}"
    wholes = {part: whole for whole in mechanism.wholes.values() for part in whole.parts}
    rows = [_row(body) for body in dict.fromkeys(wholes.get(placed, placed) for placed in mechanism.bodies)]
    if len(rows) > MOST_ROWS:
        rows[MOST_ROWS:] = [(f"and {len(rows) - MOST_ROWS} more", "", "", "", "")]
    text = table(rows, ("body", "kind", "mass [kg]", "coordinates", "position [m]"), title)
    if not rows:
        return text
    return in_row(picture_html(lambda: plot_model(mechanism), f"picture of the model: {title}"), text)


def _row(body: PlacedBody | PlacedWhole) -> tuple[str, ...]:
    """Return a table row of texts for a body: name, kind, mass, number of elastic coordinates, position. For a rod
    or divided beam, mass and number are sums over its segments."""
    parts = body.parts if isinstance(body, PlacedWhole) else (body,)
    mass, count = sum(part.data.mass for part in parts), sum(part.data.elastic_count for part in parts)
    return body.name, type(body.body).__name__, f"{mass:.4g}", str(count), written(parts[0].origin_position)


def motion_html(run: RecordedRun, energy: Energy) -> str:
    """Return HTML for notebooks that shows a recorded motion: a picture at some instants, numbers of the run, and
    energies."""
    facts = figures(run)
    rows = [(name, f"{facts[name]:.6g}") for name in SHOWN]
    text = table(rows, title=f"Motion of {part_counts(run.mechanism)}")
    picture = picture_html(lambda: plot_mechanism(run, min(INSTANTS, run.count)), "the mechanism")
    return in_row(picture, text + energy._repr_html_())
