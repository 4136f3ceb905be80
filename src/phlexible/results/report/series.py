"""Curves of a report: fewer points than steps, with all peaks."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, numbers
from phlexible.errors import ParameterError
from phlexible.observables.energy import Energy
from phlexible.results.pictures.telling import Moved, Panel, telling_panels
from phlexible.results.report.packing import Packing

MOST_POINTS = 1200
"""Of a curve."""
FLAT = 1e-6
"""Of the greatest energy: the least range of an axis of energies, so that round-off is not drawn large."""
FORMULA = re.compile(r"(?<!\\)\$(.*?)(?<!\\)\$")
"""In a text for Matplotlib."""


def kept_instants(curves: Sequence[Array], count: int = MOST_POINTS) -> Any:
    """Numbers of the instants that keep the ends and, of each stretch of time, every curve's extremes."""
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
    motion: Moved, energy: Energy, points: Sequence[Any], curves: Mapping[str, ArrayLike], pack: Packing
) -> list[dict[str, Any]]:
    """Energies since the start, what tells most, and the curves that somebody chose."""
    chosen = [Panel(name, tuple(_components(name, values, len(motion.time)))) for name, values in curves.items()]
    found = [_energies(energy, motion.time, pack)]
    found += [_packed(panel, motion.time, pack) for panel in [*chosen, *telling_panels(motion, points, most=3)]]
    return found


def _components(name: str, values: ArrayLike, count: int) -> list[tuple[str, Array]]:
    array = numbers(f"curve {name!r}", values)
    if array.shape not in ((count,), (count, 3)) or not np.isfinite(array).all():
        raise ParameterError(
            f"curve {name!r} must be finite numbers of shape ({count},) or ({count}, 3), one for each stored"
            f" instant, got shape {array.shape}"
        )
    return [(name, array)] if array.ndim == 1 else [(axis, array[:, k]) for k, axis in enumerate("xyz")]


def _energies(energy: Energy, time: Array, pack: Packing) -> dict[str, Any]:
    parts = {
        "total": energy.total,
        "kinetic": energy.kinetic,
        "strain": energy.strain,
        "gravity": energy.gravity,
        "spring": energy.spring,
        "supplied": energy.supplied,
        "dissipated": energy.dissipated,
    }
    largest = max(float(np.abs(values).max()) for values in parts.values())
    curves = []
    for name, values in parts.items():
        if name == "total" or values.any():
            start = float(values[0])
            named = name if abs(start) <= FLAT * largest else f"{name} ({start:.4g} J at start)"
            curves.append((named, values - start))
    panel = _packed(Panel("energy since the start [J]", tuple(curves)), time, pack)
    panel["least"] = 2 * FLAT * largest
    for curve in panel["curves"]:
        curve["dash"] = curve["name"].startswith(("supplied", "dissipated"))
    return panel


def _packed(panel: Panel, time: Array, pack: Packing) -> dict[str, Any]:
    kept = kept_instants([values for _, values in panel.curves])
    lowest = min(float(values.min()) for _, values in panel.curves)
    highest = max(float(values.max()) for _, values in panel.curves)
    return {
        "label": _plain(panel.label),
        "summary": f"All values lie between {lowest:.4g} and {highest:.4g}.",
        "time": pack.exact(time[kept]),
        "curves": [
            {"name": _plain(name), "dash": False, "values": pack.exact(values[kept])}
            for name, values in panel.curves
        ],
    }


def _plain(text: str) -> str:
    """Without the signs of formulas."""
    found = FORMULA.sub(lambda match: match[1].replace("\\omega_", "ω").replace("_", ""), text)
    return found.replace(r"\$", "$")
