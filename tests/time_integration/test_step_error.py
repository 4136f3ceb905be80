"""The estimated error of a step is the true one, and a tolerance for it is kept (docs/theory.md, 4)."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.assembly.assembly import assemble
from phlexible.system.system import system_of
from phlexible.time_integration.conserving import ConservingStepper
from phlexible.time_integration.run import Simulation
from phlexible.time_integration.stepper import Storage

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
        self.steppers = [ConservingStepper(assemble(self.system)) for _ in range(2)]

    def error(self, state, step):
        """Of the displacement, relative to the longest body, weighted as in (4.22)."""
        ends = []
        for stepper, parts in zip(self.steppers, (1, PARTS), strict=True):
            stepper.begin(state)
            instants = state.time + step * np.arange(parts + 1) / parts
            ends.append(stepper.advance(instants, step / parts, Storage(every=parts)).rows)
        return max(self.distances(*ends)) / self.system.largest_length

    def distances(self, one, other):
        """Between the bodies of two states [m]."""
        layout, weight = self.system.layout, self.steppers[0]._memory["velocity_weight"]
        for index, data in enumerate(self.system.frames):
            own = layout.place(index)
            moved = (one["position"] - other["position"])[0, index, : data.dimension]
            turned = Rotation.from_matrix(one["rotation"][0, index].T @ other["rotation"][0, index]).as_rotvec()
            eta = slice(int(layout.eta[index]), int(layout.eta[index + 1]))
            bent = (one["eta"] - other["eta"])[0, eta]
            yield np.linalg.norm(weight[own] * np.concatenate([moved, turned[list(data.rotation_axes)], bent]))
        yield np.linalg.norm((one["position"] - other["position"])[0, layout.frames :], axis=1).max(initial=0.0)


@pytest.mark.parametrize(
    ("make", "least", "most"),
    [
        pytest.param(ph.gallery.heavy_top, 0.7, 1.4, id="heavy top"),
        # the part of nu along the joints, which changes its sign in each step, counts too
        pytest.param(ph.gallery.double_pendulum, 0.7, 4.0, id="double pendulum"),
    ],
)
def test_the_estimate_is_the_error_of_a_step(make, least, most):
    """Where the error is not just passing through zero; of third order."""
    model = make()
    greatest = []
    for step in (8e-3, 4e-3):
        motion, truth = model.simulate(0.4, step), Truth(model)
        rows = range(2, len(motion.time) - 1, 7)
        true = np.array([truth.error(motion.recording.state(k), step) for k in rows])
        estimated = motion.step_error[[k + 1 for k in rows]]
        large = true > 0.3 * true.max()
        assert ((least * true[large] <= estimated[large]) & (estimated[large] <= most * true[large])).all()
        greatest.append(estimated.max())
    assert np.log2(greatest[0] / greatest[1]) == pytest.approx(3, abs=0.2)


@pytest.mark.filterwarnings("ignore::phlexible.SlackStringWarning")
@pytest.mark.parametrize("tolerance", [1e-4, 1e-5])
@pytest.mark.parametrize("case", CASES)
def test_a_tolerance_is_kept(case, tolerance, monkeypatch):
    """True errors of steps are at most three times the tolerance; energy and joints are exact all the same."""
    make, duration, interval = CASES[case]
    taken, original = {}, Simulation._advance

    def advance(self, instants, step, storage):
        for time in instants[:-1]:
            taken[float(time)] = step  # steps that are taken again come later
        return original(self, instants, step, storage)

    monkeypatch.setattr(Simulation, "_advance", advance)
    model = make()
    motion, truth = (
        model.simulate(duration, interval, initial=START.get(case, "quasi_static"), tolerance=tolerance),
        Truth(model),
    )
    rows = np.unique(np.linspace(0, len(motion.time) - 2, 8).astype(int))
    errors = [truth.error(motion.recording.state(k), taken[float(motion.time[k])]) for k in rows]
    assert max(errors) <= 3 * tolerance
    assert motion.step_error.max() <= tolerance
    check = motion.check()
    assert check.balance_error < 1e-12 and check.joint_gap < 1e-12
    assert motion.time == pytest.approx(interval * np.arange(len(motion.time)), rel=1e-14)


def test_a_tolerance_has_to_be_positive_and_goes_with_order_two():
    model = ph.gallery.double_pendulum()
    for options, message in (({"tolerance": -1e-3}, "tolerance must be"), ({"order": 4}, "goes with order=2")):
        with pytest.raises(ph.ParameterError, match=message):
            model.simulate(1.0, 0.1, **{"tolerance": 1e-3, **options})
