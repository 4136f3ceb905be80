"""Every model of the gallery at its step, at ten times and a tenth of it, and from its own equilibrium."""

import warnings
from typing import Any

import phlexible as ph
from fuzz.case import EQUILIBRIUM, Case
from fuzz.checks import LIMIT, balance_error
from laws.examples import GALLERY
from laws.figures import joint_gaps
from phlexible.gallery.entries import GalleryEntry

STEPS, FACTORS = 4, (10.0, 1.0, 0.1)
GENTLE = "tape-spring"
"""In four short steps from rest its drive does 1e-7 J of work, whose round-off is that of forces of thin shells."""
WITHOUT_EQUILIBRIUM = (
    "deployable-panels",
    "flying-spaghetti",
    "gear-train",
    "dominoes",
    "sand",
    "cam-follower",
    "dropped-bracket",
    "twisted-ring",
    "panel-satellite",
    "solar-sail",
)
"""What is driven or pushed and free to go, what falls, and what lies on a mesh, which equilibria do not see."""


@GALLERY
def test_models_obey_the_laws_at_other_steps_and_starts(entry: GalleryEntry) -> None:
    model = entry.function()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of long steps, and what runs of the models warn of anyway
        warnings.simplefilter("error", RuntimeWarning)
        motions = [run(model, factor * entry.step) for factor in FACTORS[: 2 if entry.name == GENTLE else None]]
        if entry.name not in WITHOUT_EQUILIBRIUM:
            motions.append(run(model, entry.step, initial=EQUILIBRIUM))
    for motion in motions:
        assert balance_error(motion) <= LIMIT / 10
        assert max(joint_gaps(motion)) <= LIMIT / 10


def run(model: ph.Model, step: float, **options: Any) -> ph.Motion:
    return Case(model, step, STEPS, options).run()
