"""How models and motions show themselves in notebooks."""

from typing import Protocol

from phlexible.display.html import beside, table
from phlexible.display.written import written
from phlexible.mechanism.mechanism import Mechanism
from phlexible.mechanism.naming import counted
from phlexible.observables.energy import Energy
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import PlacedBody
from phlexible.ports.placed_whole import PlacedWhole
from phlexible.results.pictures.house_style import picture_html
from phlexible.results.pictures.mechanism_plot import plot_mechanism, plot_model
from phlexible.results.summaries.key_figures import figures

MOST_ROWS = 12
INSTANTS = 5
NUMBERS = ("instants", "duration [s]", "Newton iterations", "halved steps", "largest balance error [J]")


class Shown(Protocol):
    """What is shown of a motion."""

    @property
    def run(self) -> RecordedRun: ...
    @property
    def energy(self) -> Energy: ...


def model_html(mechanism: Mechanism) -> str:
    """A picture of the model as it was put together, and its bodies."""
    title = f"{type(mechanism).__name__}: {counted(mechanism)}"
    wholes = {part: whole for whole in mechanism.wholes.values() for part in whole.parts}
    rows = [_row(body) for body in dict.fromkeys(wholes.get(placed, placed) for placed in mechanism.bodies)]
    if len(rows) > MOST_ROWS:
        rows[MOST_ROWS:] = [(f"and {len(rows) - MOST_ROWS} more", "", "", "", "")]
    text = table(rows, ("body", "kind", "mass [kg]", "coordinates", "position [m]"), title)
    if not rows:
        return text
    return beside(picture_html(lambda: plot_model(mechanism), f"picture of the model: {title}"), text)


def _row(body: PlacedBody | PlacedWhole) -> tuple[str, ...]:
    """Name, kind, mass, coordinates, position; of a rod or of a beam in parts those of all parts."""
    parts = body.parts if isinstance(body, PlacedWhole) else (body,)
    mass, count = sum(part.data.mass for part in parts), sum(part.data.elastic_count for part in parts)
    return body.name, type(body.body).__name__, f"{mass:.4g}", str(count), written(parts[0].place)


def motion_html(motion: Shown) -> str:
    """A picture of some instants, figures of the run, and energies."""
    facts = figures(motion.run)
    rows = [(name, f"{facts[name]:.6g}") for name in NUMBERS]
    text = table(rows, title=f"Motion of {counted(motion.run.mechanism)}")
    picture = picture_html(lambda: plot_mechanism(motion.run, min(INSTANTS, motion.run.count)), "the mechanism")
    return beside(picture, text + motion.energy._repr_html_())
