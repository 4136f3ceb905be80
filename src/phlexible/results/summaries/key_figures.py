"""A run in a few numbers."""

import numpy as np

from phlexible.observables.energy import energy_of
from phlexible.observables.run import RecordedRun


class Figures(dict[str, str | int | float]):
    """Numbers by name; ``print`` shows them as aligned lines."""

    def __str__(self) -> str:
        return text(self)


def figures(run: RecordedRun) -> Figures:
    """Sizes, duration, work of the solver and the ledger at the end, in SI units."""
    rec, mechanism = run.recording, run.mechanism
    energy = energy_of(rec)
    found: dict[str, str | int | float] = {
        "bodies": len(mechanism.bodies),
        "joints": len(mechanism.joints),
        "velocities": rec.velocity.shape[1],
        "constraints": rec.multipliers.shape[1],
        "instants": run.count,
        "duration [s]": float(rec.time[-1] - rec.time[0]),
        "Newton iterations": int(rec.iterations[-1]),
        "halved steps": int(rec.halvings[-1]),
        "energy at the start [J]": float(energy.total[0]),
        "energy at the end [J]": float(energy.total[-1]),
        "supplied [J]": float(energy.supplied[-1]),
        "dissipated [J]": float(energy.dissipated[-1]),
        "largest balance error [J]": float(np.abs(energy.balance_error).max()),
    }
    return Figures(found)


def text(numbers: Figures) -> str:
    """The figures as aligned lines."""
    width = max(map(len, numbers))
    return "\n".join(
        f"{name:<{width}}  {value:.6g}" if isinstance(value, float) else f"{name:<{width}}  {value}"
        for name, value in numbers.items()
    )
