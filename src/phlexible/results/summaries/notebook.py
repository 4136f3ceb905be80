"""How models and motions show themselves in notebooks."""

from typing import Protocol

from phlexible.display.html import beside, table
from phlexible.display.written import written
from phlexible.mechanism.mechanism import Mechanism
from phlexible.mechanism.naming import counted
from phlexible.observables.energy import Energy
from phlexible.observables.run import RecordedRun
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
    rows = [
        (
            placed.name,
            type(placed.body).__name__,
            f"{placed.data.mass:.4g}",
            str(placed.data.elastic_count),
            written(placed.place),
        )
        for placed in mechanism.bodies[:MOST_ROWS]
    ]
    if len(mechanism.bodies) > MOST_ROWS:
        rows.append((f"and {len(mechanism.bodies) - MOST_ROWS} more", "", "", "", ""))
    text = table(rows, ("body", "kind", "mass [kg]", "coordinates", "position [m]"), title)
    if not rows:
        return text
    return beside(picture_html(lambda: plot_model(mechanism), f"picture of the model: {title}"), text)


def motion_html(motion: Shown) -> str:
    """A picture of some instants, figures of the run, and energies."""
    facts = figures(motion.run)
    rows = [(name, f"{facts[name]:.6g}") for name in NUMBERS]
    text = table(rows, title=f"Motion of {counted(motion.run.mechanism)}")
    picture = picture_html(lambda: plot_mechanism(motion.run, min(INSTANTS, motion.run.count)), "the mechanism")
    return beside(picture, text + motion.energy._repr_html_())
