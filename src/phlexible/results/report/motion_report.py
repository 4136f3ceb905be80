"""The report of a motion."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import IntArray
from phlexible.algebra.options import optional_text, whole
from phlexible.display.html import table
from phlexible.errors import ParameterError
from phlexible.mechanism.naming import counted
from phlexible.observables.energy import Energy, busiest
from phlexible.observables.quality.check import MotionCheck
from phlexible.observables.reader import Reader
from phlexible.observables.run import RecordedRun
from phlexible.ports.attachments import Attachment, PlacedBody
from phlexible.results.pictures.telling import Moved
from phlexible.results.report.packing import Packing
from phlexible.results.report.page import (
    findings,
    model_tree,
    page,
    section,
    versions,
)
from phlexible.results.report.scene_data import scene_data
from phlexible.results.report.series import panels_of
from phlexible.results.summaries.key_figures import figures
from phlexible.results.summaries.model_tree import model_parts
from phlexible.scene.build import scene_of
from phlexible.scene.fields import MISES, node_fields
from phlexible.scene.palette import PALETTE
from phlexible.sensors.sensor import Sensor, columns, sensors as checked_sensors

MOST_FRAMES, FEWEST_FRAMES = 600, 60
FRAME_BYTES = 6_000_000
"""Of all frames before they are compressed; a larger model has fewer of them."""


class ReportedMotion(Moved, Protocol):
    """What a report asks of a motion."""

    @property
    def run(self) -> RecordedRun: ...
    @property
    def energy(self) -> Energy: ...
    @property
    def is_complete(self) -> bool: ...
    def check(self) -> MotionCheck: ...


def motion_page(
    motion: ReportedMotion,
    frames: int | None = None,
    points: Sequence[Attachment] = (),
    curves: Mapping[str, ArrayLike] | None = None,
    title: str | None = None,
) -> str:
    """The page as text; see ``Motion.report``.

    Raises:
        ParameterError: a count below 2, or curves of another length.
    """
    heading = optional_text("title", title) or "motion"
    run, pack = motion.run, Packing()
    instants = _instants(run, None if frames is None else whole("frames", frames, least=2))
    scene = scene_of(run, instants)
    head: dict[str, Any] = scene_data(scene, node_fields(run, scene.bodies, instants), pack)
    head["clips"] = [{"name": "", "first": 0, "count": len(instants), "loop": False}]
    head["loop"] = False
    head["opens_at"] = int(np.abs(instants - busiest(run.recording)).argmin())
    head["opens_with"] = next((k for k, each in enumerate(head["fields"]) if each["name"] == MISES), None)
    head["panels"] = panels_of(motion, motion.energy, points, curves or {}, pack)
    head["palette"] = PALETTE
    checked = motion.check()
    facts = figures(run)
    state = "" if motion.is_complete else ", which ended early"
    subtitle = (
        f"{counted(motion.mechanism)}; {run.count} stored instants to t = {motion.time[-1]:g} s{state};"
        f" energy balance off by {checked.balance_error:.0e} of the energies"
    )
    shown = f"{len(instants)} of {run.count} stored instants are in the 3D view; plots keep every peak."
    numbers = [(name, f"{value:.6g}" if isinstance(value, float) else str(value)) for name, value in facts.items()]
    checks = [
        ("energy balance", f"{checked.balance_error:.1e} of the energies in it"),
        ("joints", f"{checked.joint_gap:.1e}, greatest gap over the largest body"),
        ("error of a step", f"{checked.step_error:.1e}, greatest estimate, of the longest body"),
        ("Newton iterations", f"{checked.iterations}, {checked.halvings} halved steps"),
    ]
    gravity = ", ".join(f"{each:g}" for each in motion.mechanism.gravity)
    intro = f"dimension {motion.mechanism.dimension}, gravity ({gravity}) m/s²"
    return page(
        heading,
        subtitle,
        head,
        pack,
        [
            section("Check", table(checks) + findings(checked.findings), is_open=not checked.is_clean),
            section("Summary", table(numbers) + f"<p>{shown}</p>"),
            section("Model", model_tree(model_parts(motion.mechanism), intro)),
            section("Versions", versions()),
        ],
    )


def measured(
    sensors: Sequence[Sensor], reader: Reader, curves: Mapping[str, ArrayLike] | None
) -> dict[str, ArrayLike]:
    """What sensors measured and further curves, by name.

    Raises:
        ParameterError: no sensors, or curves without names.
    """
    if not isinstance(curves, Mapping | None):
        raise ParameterError(f"curves must be values by names, got {curves!r}")
    found: dict[str, ArrayLike] = {}
    for sensor in checked_sensors("sensors", sensors):
        values = sensor.read(reader)
        if values.ndim == 1 or values.shape[1:] == (3,):
            found[f"{sensor} [{sensor.unit}]"] = values
        else:
            found |= columns([sensor], reader)
    return found | dict(curves or {})


def _numbers(placed: PlacedBody) -> int:
    """About how many numbers an instant of it takes in the file."""
    if placed.nodes is None:
        return 2 * (7 + placed.data.elastic_count)
    return 6 * 300 if placed.is_string else 3 * len(placed.nodes.positions)


def _instants(run: RecordedRun, wanted: int | None) -> IntArray:
    """Evenly spread over time, as many as the file should hold."""
    numbers = sum(_numbers(placed) for placed in run.system.bodies)
    count = int(np.clip(FRAME_BYTES / (numbers + 1), FEWEST_FRAMES, MOST_FRAMES)) if wanted is None else wanted
    time = run.recording.time
    if len(time) <= count:
        return np.arange(len(time))
    places = np.searchsorted(time, np.linspace(time[0], time[-1], count) * (1 - 1e-12))
    return np.unique(np.clip(places, 0, len(time) - 1))
