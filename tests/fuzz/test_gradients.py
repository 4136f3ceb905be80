"""Gradients of random mechanisms against differences of whole runs."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import phlexible as ph
from fuzz.case import EQUILIBRIUM, Case
from fuzz.copies import Change, copied
from fuzz.crowds import Crowd
from fuzz.draw import drawn
from phlexible.bodies.rod import RodNode

BATCH = 25
MEASURED = 0.6  # of a batch, at least; the others are refused with a reason, or differences of runs tell nothing
SHARES = 1e-3, 2e-4, 4e-5  # by which parameters change
SHORT = 5e-5, 1e-5, 2e-6  # of bodies that begin and cease to touch, stick and slide
SMOOTH, ROUGH = 1e-5, 1e-3
"""Relative to the largest derivative: slopes of forces jump where bodies touch, and where stiff forces are in
balance at the start, the little that moves has their round-off."""
KNOWN = 1e-3  # how well two differences agree that tell something
ROUND_OFF = 1e-9  # of the cost: gradients difference equations, and stiff forces in balance cancel in them
MOST = 2e-3  # that may be allowed
AT = 1.1  # parameters; at 1 copies keep functions as they are
QUICK = 7, 11, 42


@dataclass(frozen=True)
class Compared:
    """A gradient beside differences of whole runs."""

    off: float  # how far it is from the nearest difference, relative to the largest derivative
    spread: float  # of differences of other sizes
    round_off: float  # of the cost, relative to the largest derivative
    is_rough: bool = False  # whether slopes of forces may jump

    @property
    def allowed(self) -> float:
        return (ROUGH if self.is_rough else SMOOTH) + self.round_off

    @property
    def is_measured(self) -> bool:
        """Whether differences tell something, and the cost changes by more than its round-off."""
        return self.allowed <= MOST and (self.agrees or self.spread <= KNOWN)

    @property
    def agrees(self) -> bool:
        return self.off <= max(self.allowed, self.spread)


def place_of(placed: Any) -> Any:
    if isinstance(placed.body, ph.SoftBody | ph.Shell):
        return placed.node(0)
    return placed.start if isinstance(placed.body, ph.Beam | ph.String) else placed.origin


def cost_of(seed: int) -> Any:
    rng = np.random.default_rng([seed, 20])
    kind, axis, number = rng.integers(4), int(rng.integers(2)), int(rng.integers(100))

    def cost(model: ph.Model) -> ph.Cost:
        at = place_of(model.bodies[number % len(model.bodies)])
        if kind == 0:
            return ph.Cost.final(ph.Position(at), lambda x: x[:, axis])
        if kind == 1:
            return ph.Cost.integral(ph.Velocity(at, (1, 0, 0)), lambda v: v**2)
        if kind == 2:
            return ph.Cost.peak(ph.Velocity(at, (0, 1, 0)))
        return ph.Cost.final(ph.EnergyOf("kinetic"))

    return cost


def changed_parts(seed: int, model: ph.Model) -> list[tuple[Any, str]]:
    """What is changed, and whether masses and forces of it or its times."""
    rng = np.random.default_rng([seed, 21])
    parts = [placed for placed in model.bodies if not isinstance(placed.body, RodNode)]
    parts += [*model.loads, *model.applied_elements]
    chosen = rng.choice(len(parts), size=min(2, len(parts)), replace=False)
    return [(parts[number], str(rng.choice(["mass", "time"]))) for number in chosen]


def stands_still(motion: Any) -> bool:
    """Whether speeds are round-off of places, whose squares differences of runs take for numbers."""
    speeds = np.abs(motion.run.recording.velocity).max()
    return bool(speeds * np.ptp(motion.time) < 1e-12 * motion.run.system.body_length)


def compared(seed: int) -> Compared | str:
    """A gradient and differences; a string: it is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _compared(seed, drawn(seed, is_small=True))
        except ph.PhlexibleError as error:
            return str(error)


def _compared(seed: int, case: Case) -> Compared:
    options = {key: own for key, own in case.options.items() if key != "initial"}
    start = case.options.get("initial", "undeformed")
    cost, duration, parts = cost_of(seed), case.steps * case.step, changed_parts(seed, case.placed)

    def initial(model: ph.Model) -> Any:
        return model.equilibrium() if start == EQUILIBRIUM else start

    def build(p: np.ndarray) -> ph.Model:
        own = {part: Change(**{unit: factor}) for (part, unit), factor in zip(parts, p, strict=True)}
        return copied(case.placed, alone=own)

    if stands_still(
        case.placed.simulate(duration, case.step, progress=False, initial=initial(case.placed), **options)
    ):
        return "nothing moves but for round-off"
    touching = []

    def value(p: np.ndarray) -> float:
        model = build(p)
        made = cost(model)
        motion = model.simulate(duration, case.step, progress=False, initial=initial(model), **options)
        touching.append(bool(motion.contact_steps[-1] or motion.halvings[-1]))
        return float(made.value(motion.time, [motion[sensor] for sensor in made.sensors]))

    begin = initial if start == EQUILIBRIUM else start

    def slopes(p: np.ndarray) -> tuple[float, np.ndarray]:
        return ph.gradient(build, cost, p, duration=duration, step=case.step, initial=begin, **options)

    found = beside_differences(value, slopes, np.full(len(parts), AT))
    return replace(found, is_rough=any(touching) or start != "undeformed")


def beside_differences(
    value: Callable[[np.ndarray], float],
    slopes: Callable[[np.ndarray], tuple[float, np.ndarray]],
    at: np.ndarray,
    shares: tuple[float, float, float] = SHARES,
) -> Compared:
    """What ``slopes``, a value and its gradient, say at a place, beside differences of ``value`` by these shares.

    A step so long that it has several solutions may take one here and another on both sides of it: the gradient is
    then right here, and differences are right about the other one. It is taken on both sides there.
    """
    steps = [share * np.eye(len(at)) for share in shares]
    sides = np.array([[(value(at + row), value(at - row)) for row in rows] for rows in steps])
    here, found = slopes(at)
    rough, fine, finest = (sides[..., 0] - sides[..., 1]) / (2 * np.array(shares)[:, None])
    # Without errors of the second order. A run may jump to another solution of a step, and one of them is wrong.
    differences = [(25 * fine - rough) / 24, (25 * finest - fine) / 24, rough]
    _, above, closest = sides.mean(axis=2) - here
    jump = float(np.abs((25 * closest - above) / 24).max())
    if jump > shares[-1] * np.abs(differences[0]).max():
        found = np.mean([slopes(at + sign * steps[-1][0])[1] for sign in (1, -1)], axis=0)
    size = max(np.abs(differences[0]).max(), np.abs(found).max(), 1e-300)
    off = min(float(np.abs(found - each).max()) for each in differences) / size
    spread = float(np.abs(differences[0] - differences[1]).max()) / size
    return Compared(off, spread, ROUND_OFF * abs(here) / size)


def compared_crowd(seed: int) -> Compared | str:
    crowd = Crowd(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = beside_differences(crowd.value, crowd.slopes, np.ones(len(crowd.names)), SHORT)
        except ph.PhlexibleError as error:
            return str(error)
    return replace(found, is_rough=True)


def check(seeds: list[int], measured: float, compare: Callable[[int], Compared | str] = compared) -> None:
    """That all agree which can be told, and that those are enough."""
    found = {seed: compare(seed) for seed in seeds}
    told = {seed: each for seed, each in found.items() if isinstance(each, Compared) and each.is_measured}
    assert {seed: each for seed, each in told.items() if not each.agrees} == {}
    assert len(told) >= measured * len(seeds), found


def test_gradients_are_compared_on_the_solution_that_runs_beside_them_take():
    """A wrong one is still told."""
    at = np.array([1.1, 0.7])

    def beside(factor: float, jump: float) -> Compared:
        def value(p: np.ndarray) -> float:
            return np.sin(p[0]) * p[1] + jump * np.exp(p[0]) * (np.abs(p - at).max() < 1e-7)

        def slopes(p: np.ndarray) -> tuple[float, np.ndarray]:
            own = jump * np.exp(p[0]) * (np.abs(p - at).max() < 1e-7)
            return value(p), factor * np.array([np.cos(p[0]) * p[1] + own, np.sin(p[0])])

        return beside_differences(value, slopes, at)

    for jump in (0.0, 0.02):
        assert beside(1.0, jump).is_measured and beside(1.0, jump).agrees
        assert beside(1.001, jump).is_measured and not beside(1.001, jump).agrees


def test_gradients_of_few_random_mechanisms_are_those_of_whole_runs():
    """Masses, forces or times of two parts change, a body, a load or an element."""
    check([*QUICK], 1.0)


@pytest.mark.thorough
@pytest.mark.parametrize("first", range(0, 4 * BATCH, BATCH))
def test_gradients_of_random_mechanisms_are_those_of_whole_runs(first):
    check([*range(first, first + BATCH)], MEASURED)


@pytest.mark.thorough
def test_gradients_of_random_bodies_that_meet_are_those_of_whole_runs():
    """Lists of bodies with friction, bristles, resistance to rolling, restitution."""
    check([*range(BATCH)], MEASURED, compared_crowd)
