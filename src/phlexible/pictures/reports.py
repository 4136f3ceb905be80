"""Reports of motions and modes."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, IntArray, optional_text, reals, whole
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.mechanism.parts import part_counts
from phlexible.description.ports import Attachment, PlacedBody
from phlexible.display import how_many, table
from phlexible.errors import ParameterError
from phlexible.linear.linearize import Linearization
from phlexible.linear.modes import Modes
from phlexible.measure.energy import Energy, energy_of, most_deformed_instant
from phlexible.measure.quality import motion_check
from phlexible.measure.sensors import checked_sensors, reading_columns
from phlexible.pictures.panels import Panel, default_panels
from phlexible.pictures.plots import energy_curves
from phlexible.pictures.report_page import (
    Packing,
    findings,
    html_path,
    model_sections,
    page,
    scene_data,
    section,
    write_page,
)
from phlexible.pictures.scenes import MISES, PHASES, node_fields, scene_of, scene_of_modes
from phlexible.pictures.summaries import figures
from phlexible.state.recorded_run import RecordedRun

# Curves of a report: fewer points than steps, with all peaks.

MOST_POINTS = 1200
"""Of a curve."""
FLAT = 1e-6
"""Of the greatest energy: the least range of an axis of energies, so that round-off is not drawn large."""
FORMULA = re.compile(r"(?<!\\)\$(.*?)(?<!\\)\$")
"""In a text for Matplotlib."""


def plotted_instants(curves: Sequence[Array], count: int = MOST_POINTS) -> Any:
    """Return indices of about ``count`` instants with which curves over time are plotted. The ends and the extremes
    of every curve in each interval are included, so that no peak is lost."""
    size = len(curves[0])
    if size <= count:
        return np.arange(size)
    stretches = max(1, count // (2 * len(curves)))
    edges = np.linspace(0, size, stretches + 1).astype(int)
    kept = {0, size - 1}
    for values in curves:
        for begin, end in pairwise(edges):
            part = values[begin:end]
            kept.update((begin + int(part.argmin()), begin + int(part.argmax())))
    return np.array(sorted(kept))


def panels_of(
    run: RecordedRun, points: Sequence[Any], curves: Mapping[str, ArrayLike], pack: Packing, shown: IntArray
) -> list[dict[str, Any]]:
    """Return the plots of a report on the recorded motion ``run`` as dictionaries: energies, ``curves`` of
    the user (values by name), and the most informative curves of the motion, such as deflections of
    ``points``. Arrays are stored in ``pack``; all curves contain the instants with the indices ``shown``."""
    chosen = [Panel(name, tuple(_components(name, values, run.count))) for name, values in curves.items()]
    found = [_energies(energy_of(run.recording), run.time, pack, shown)]
    found += [_packed(panel, run.time, pack, shown) for panel in [*chosen, *default_panels(run, points, most=3)]]
    return found


def _components(name: str, values: ArrayLike, count: int) -> list[tuple[str, Array]]:
    array = reals(f"curve {name!r}", values)
    if array.shape not in ((count,), (count, 3)) or not np.isfinite(array).all():
        raise ParameterError(
            f"curve {name!r} must be finite numbers of shape ({count},) or ({count}, 3), one for each stored"
            f" instant, got shape {array.shape}"
        )
    return [(name, array)] if array.ndim == 1 else [(axis, array[:, k]) for k, axis in enumerate("xyz")]


def _energies(energy: Energy, time: Array, pack: Packing, shown: IntArray) -> dict[str, Any]:
    found, curves = energy_curves(energy), []
    largest = max(float(np.abs(values).max()) for values in found.values())
    for name, values in found.items():
        start = float(values[0])
        named = name if abs(start) <= FLAT * largest else f"{name} ({start:.4g} J at start)"
        curves.append((named, values - start))
    panel = _packed(Panel("energy since the start [J]", tuple(curves)), time, pack, shown)
    panel["least"] = 2 * FLAT * largest
    for curve in panel["curves"]:
        curve["dash"] = curve["name"].startswith(("supplied", "dissipated"))
    return panel


def _packed(panel: Panel, time: Array, pack: Packing, shown: IntArray) -> dict[str, Any]:
    kept = np.union1d(plotted_instants([values for _, values in panel.curves]), shown)
    lowest = min(float(values.min()) for _, values in panel.curves)
    highest = max(float(values.max()) for _, values in panel.curves)
    return {
        "label": _without_formulas(panel.label),
        "summary": f"All values lie between {lowest:.4g} and {highest:.4g}.",
        "time": pack.store_exact(time[kept]),
        "curves": [
            {
                "name": _without_formulas(name),
                "dash": False,
                "values": pack.store_exact(values[kept]),
                "range": [float(values.min()), float(values.max())],
            }
            for name, values in panel.curves
        ],
    }


def _without_formulas(text: str) -> str:
    """Return a text for Matplotlib without the signs of formulas, so that HTML can show it."""
    found = FORMULA.sub(lambda match: match[1].replace("\\omega_", "ω").replace("_", ""), text)
    return found.replace(r"\$", "$")


# The report of a motion.

MOST_FRAMES, FEWEST_FRAMES = 600, 60
FRAME_BYTES = 6_000_000
"""Of all frames before they are compressed; a larger model has fewer of them."""


def motion_page(
    run: RecordedRun,
    is_complete: bool,
    frames: int | None = None,
    points: Sequence[Attachment] = (),
    curves: Mapping[str, ArrayLike] | None = None,
    title: str | None = None,
    script: str = "",
) -> str:
    """Return the HTML report of the recorded motion ``run`` as text: 3D view, plots, checks and the model.
    ``is_complete`` says whether the run reached its end, ``frames`` is the number of instants in the view,
    ``points`` are those whose deflections are plotted, ``title`` is the heading. ``curves`` are further
    values over time, ``script`` code that follows the viewer; see ``Motion.report``.

    Raises:
        ParameterError: a count below 2, or curves of another length.
    """
    heading = optional_text("title", title) or "motion"
    pack = Packing()
    instants = _instants(run, None if frames is None else whole("frames", frames, least=2))
    scene = scene_of(run, instants)
    head: dict[str, Any] = scene_data(scene, node_fields(run, scene.bodies, instants), pack)
    head["opens_at"] = int(np.abs(instants - most_deformed_instant(run.recording)).argmin())
    head["opens_with"] = next((k for k, each in enumerate(head["fields"]) if each["name"] == MISES), None)
    head["panels"] = panels_of(run, points, curves or {}, pack, instants)
    check = motion_check(run)
    state = "" if is_complete else ", which ended early"
    subtitle = (
        f"{part_counts(run.mechanism)}; {run.count} stored instants to t = {run.time[-1]:g} s{state};"
        f" energy balance off by {check.balance_error:.0e} of the energies"
    )
    shown = f"{len(instants)} of {run.count} stored instants are in the 3D view; plots keep every peak."
    sections = [*motion_sections(run, shown), *model_sections(run.mechanism)]
    return page(heading, subtitle, head, pack, sections, script)


def motion_sections(run: RecordedRun, remarks: str) -> list[str]:
    """Return two HTML sections about a run, checks (energy balance, joint gaps, time step errors) and
    summary, with further ``remarks``."""
    check, facts = motion_check(run), figures(run)
    checks = [
        ("energy balance", f"{check.balance_error:.1e} of the energies in it"),
        ("joints", f"{check.joint_gap:.1e}, greatest gap over the largest body"),
        ("error of a step", f"{check.step_error:.1e}, greatest estimate, of the longest body"),
        ("Newton iterations", f"{check.iterations}, {check.halvings} halved steps"),
    ]
    numbers = [(name, f"{value:.6g}" if isinstance(value, float) else str(value)) for name, value in facts.items()]
    return [
        section("Check", table(checks) + findings(check.findings), is_open=not check.is_clean),
        section("Summary", table(numbers) + f"<p>{escape(remarks)}</p>"),
    ]


def readings(
    sensors: Sequence[Sensor], run: RecordedRun, curves: Mapping[str, ArrayLike] | None
) -> dict[str, ArrayLike]:
    """Return the readings of ``sensors`` over a ``run`` and further ``curves`` (values by name), by name with
    unit, for the plots of a report.

    Raises:
        ParameterError: no sensors, or curves without names.
    """
    if not isinstance(curves, Mapping | None):
        raise ParameterError(f"curves must be values by names, got {curves!r}")
    values_by_name: dict[str, ArrayLike] = {}
    for sensor in checked_sensors("sensors", sensors):
        values = sensor.read(run)
        if values.ndim == 1 or values.shape[1:] == (3,):
            values_by_name[f"{sensor} [{sensor.unit}]"] = values
        else:
            values_by_name |= reading_columns([sensor], run)
    return values_by_name | dict(curves or {})


def _values_per_instant(placed: PlacedBody) -> int:
    """Return about how many numbers one instant of the body ``placed`` takes in a report file, from which the
    number of stored instants is chosen."""
    if placed.nodes is None:
        return 2 * (7 + placed.data.elastic_count)
    return 6 * 300 if placed.is_string else 3 * len(placed.nodes.positions)


def _instants(run: RecordedRun, wanted: int | None) -> IntArray:
    """Return indices of evenly spread instants of the recorded motion ``run`` for the 3D view of a report:
    ``wanted`` ones, or between 60 and 600, so that they take about 6 MB. It is all instants if there are no
    more."""
    numbers = sum(_values_per_instant(placed) for placed in run.system.bodies)
    count = int(np.clip(FRAME_BYTES / (numbers + 1), FEWEST_FRAMES, MOST_FRAMES)) if wanted is None else wanted
    time = run.recording.time
    if len(time) <= count:
        return np.arange(len(time))
    indices = np.searchsorted(time, np.linspace(time[0], time[-1], count) * (1 - 1e-12))
    return np.unique(np.clip(indices, 0, len(time) - 1))


# The report of mode shapes.


MODE_HEADS = ("mode", "frequency [rad/s]", "[Hz]", "damping ratio")


def mode_rows(modes: Modes) -> list[tuple[str, ...]]:
    """Return table rows of texts with number, frequency [rad/s], frequency [Hz] and damping ratio of each mode."""
    pairs = enumerate(zip(modes.frequencies, modes.damping_ratios, strict=True), start=1)
    return [(f"{k}", f"{w:.6g}", f"{w / (2 * np.pi):.6g}", f"{zeta:.3g}") for k, (w, zeta) in pairs]


def report_modes(modes: Modes, linear: Linearization, path: str | PathLike[str], title: str | None = None) -> None:
    """Write an HTML report to the file ``path`` in which all ``modes`` of the model ``linear`` move in a 3D
    view; see ``ModeShapes.report``. ``title`` is the heading (None: "modes")."""
    target, heading = html_path(path), optional_text("title", title) or "modes"
    pack, count = Packing(), len(modes.eigenvalues)
    scene = scene_of_modes(linear, [modes.shapes[:, number] for number in range(count)])
    head: dict[str, Any] = scene_data(scene, {}, pack)
    names = [f"mode {k + 1}: {omega:.5g} rad/s" for k, omega in enumerate(modes.frequencies)]
    head["clips"] = [
        {"name": name, "first": k * (PHASES + 1), "count": PHASES + 1, "loop": True} for k, name in enumerate(names)
    ]
    head |= {"loop": True, "can_amplify": False, "arrows": []}
    mechanism = linear.system.mechanism
    frequencies = section("Frequencies", table(mode_rows(modes), MODE_HEADS), is_open=True)
    sections = [frequencies, *model_sections(mechanism)]
    subtitle = f"{part_counts(mechanism)}; {how_many(count, 'mode')}, {modes.rigid_modes} of them rigid"
    write_page(target, page(heading, subtitle, head, pack, sections))
