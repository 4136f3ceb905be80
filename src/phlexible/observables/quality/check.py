"""What a motion is worth, at a glance: balances, joints, steps, limits of the models (docs/theory.md, 4)."""

from dataclasses import dataclass

import numpy as np

from phlexible.observables.energy import energy_of
from phlexible.observables.quality.step_quality import long_steps
from phlexible.observables.quality.stiffening import missing_stiffening
from phlexible.observables.quality.unheld import unheld_bodies
from phlexible.observables.quality.validity import large_deflections, large_strains
from phlexible.observables.run import RecordedRun
from phlexible.observables.tension import slack_parts


@dataclass(frozen=True)
class MotionCheck:
    """Findings on a motion; printed, one line each.

    Attributes:
        balance_error: of energy, relative to the energies in the balance.
        joint_gap: greatest gap of a joint or drive, relative to the largest body.
        step_error: greatest estimated error of a step (4.22).
        halvings: steps that were halved.
        iterations: Newton iterations in all.
        findings: what should be looked at, in words; empty where nothing was found.
    """

    balance_error: float
    joint_gap: float
    step_error: float
    halvings: int
    iterations: int
    findings: tuple[str, ...]

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __str__(self) -> str:
        lines = [
            f"energy balance    {self.balance_error:9.1e}  of the energies in it",
            f"joints            {self.joint_gap:9.1e}  greatest gap over the largest body",
            f"error of a step   {self.step_error:9.1e}  greatest estimate, of the longest body",
            f"Newton iterations {self.iterations:9d}  {self.halvings} halved steps",
        ]
        return "\n".join([*lines, *(f"- {text}" for text in self.findings or ("nothing was found",))])


def checked(run: RecordedRun) -> MotionCheck:
    """All findings on a run."""
    record = run.recording
    energy = energy_of(record)
    stored = energy.kinetic + np.abs(energy.strain) + np.abs(energy.gravity) + np.abs(energy.spring)
    scale = float(stored.max()) + sum(float(np.abs(work).max()) for work in energy.work.values())
    gaps = np.abs(run.gaps()) / run.system.gap_lengths
    slack = [part.text for part in slack_parts(run)]
    limits = [each.text for each in (*large_deflections(run), *large_strains(run))]
    return MotionCheck(
        float(np.abs(energy.balance_error).max()) / scale if scale else 0.0,
        float(gaps.max(initial=0.0)),
        float(record.step_error.max()),
        int(record.halvings[-1]),
        int(record.iterations[-1]),
        tuple([*long_steps(run), *limits, *missing_stiffening(run), *slack, *unheld_bodies(run)]),
    )
