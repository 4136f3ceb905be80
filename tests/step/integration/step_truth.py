"""True errors of steps, against the same interval in many steps; used by benchmarks/tolerance.py too."""

import warnings
from unittest.mock import patch

import numpy as np
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.state.system import system_of
from phlexible.step.assembly.assembly import assemble
from phlexible.step.integration.run import Run
from phlexible.step.integration.step_calls import completed
from phlexible.step.integration.stepper import Stepper
from phlexible.step.integration.stored_rows import Storage

PARTS = 16  # of a step, for the truth

CASES = {
    "crank-slider": (lambda: ph.gallery.crank_slider(modes=3), 0.04, 4e-3),
    "four-bar in motion": (lambda: ph.gallery.four_bar(crank_speed=10.0), 0.6, 6e-2),
    "spin-up": (ph.gallery.spinning_beam, 4.0, 0.4),
    "string pendulum": (ph.gallery.string_pendulum, 0.2, 2e-2),
    "squeezer": (ph.gallery.andrews_squeezer, 0.03, 3e-3),
    "free flight": (ph.gallery.free_pair, 0.2, 2e-2),
    "heavy top": (ph.gallery.heavy_top, 0.2, 2e-2),
}


START = {"free flight": "undeformed", "string pendulum": "undeformed"}


class Truth:
    """Errors of single steps from given states, against the same interval in many steps."""

    def __init__(self, model):
        self.system = system_of(model)
        self.steppers = [Stepper(assemble(self.system)) for _ in range(2)]

    def error(self, state, step):
        """Of the displacement, relative to the longest body, weighted as in (4.22) of docs/theory.md, 4."""
        ends = []
        for stepper, parts in zip(self.steppers, (1, PARTS), strict=True):
            stepper.begin(state)
            instants = state.time + step * np.arange(parts + 1) / parts
            ends.append(completed(stepper.advance(instants, step / parts, Storage(every=parts))).rows)
        return max(self.distances(*ends)) / self.system.largest_length

    def distances(self, one, other):
        """Between the bodies of two states [m]."""
        layout, weight = self.system.layout, self.steppers[0].memory["velocity_weight"]
        for index, data in enumerate(self.system.frames):
            own = layout.span(index)
            moved = (one["position"] - other["position"])[0, index, : data.dimension]
            turned = Rotation.from_matrix(one["rotation"][0, index].T @ other["rotation"][0, index]).as_rotvec()
            bent = (one["eta"] - other["eta"])[0, slice(int(layout.eta[index]), int(layout.eta[index + 1]))]
            yield np.linalg.norm(weight[own] * np.concatenate([moved, turned[list(data.rotation_axes)], bent]))
        yield np.linalg.norm((one["position"] - other["position"])[0, layout.frames :], axis=1).max(initial=0.0)


def with_tolerance(case, tolerance, instants=8):
    """A run of a case, true errors of steps at so many of its instants, and how many steps it took."""
    make, duration, interval = CASES[case]
    taken, original = {}, Run.steps

    def steps(self, times, step, *arguments, **options):
        for time in times[:-1]:
            taken[float(time)] = step  # steps that are taken again come later
        return original(self, times, step, *arguments, **options)

    model, initial = make(), START.get(case, "quasi_static")
    with patch.object(Run, "steps", steps), warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.SlackStringWarning)
        motion = model.simulate(duration, interval, initial=initial, tolerance=tolerance)
    truth = Truth(model)
    rows = np.unique(np.linspace(0, len(motion.time) - 2, instants).astype(int))
    errors = [truth.error(motion.recording.state(k), taken[float(motion.time[k])]) for k in rows]
    return motion, max(errors), round(sum(interval / taken[float(t)] for t in motion.time[:-1]))
