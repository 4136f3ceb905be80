"""Small cases of the fuzzer, the same ones each time; ``make fuzz`` runs large ones."""

from dataclasses import replace

import numpy as np
import pytest

import phlexible as ph
from formulas import formula
from fuzz.case import EQUILIBRIUM, Case
from fuzz.checks import LIMIT, balance_error
from fuzz.contacts import outcome_of_meeting
from fuzz.copies import Change, copied
from fuzz.draw import drawn
from fuzz.outcomes import outcome_of, outcome_of_seed
from fuzz.told import smallest

BATCH = 25
FINE = 0.8  # of a batch, at least; the others are refused with a reason, most of them loops that cannot close


@pytest.mark.parametrize("first", [0, pytest.param(BATCH, marks=pytest.mark.thorough)])
def test_random_mechanisms_obey_the_laws(first):
    """A failure prints its seed and the smallest program that shows it."""
    kinds, programs = [], []
    for seed in range(first, first + BATCH):
        outcome, case = outcome_of_seed(seed, is_small=True)
        kinds.append(outcome.kind)
        if outcome.is_failure:
            programs.append(f"seed {seed}: {outcome.kind}: {outcome.text}")
            programs.append(smallest(case, outcome, seed, 20.0) if case else "")
    assert not programs, "\n".join(programs)
    assert kinds.count("fine") >= FINE * BATCH


@pytest.mark.filterwarnings("ignore::UserWarning")  # of slack strings and bent beams
@pytest.mark.parametrize("seeds", [(0, 2, 5), pytest.param(range(10, 60), marks=pytest.mark.thorough)])
def test_bodies_of_all_kinds_that_meet_obey_the_laws(seeds):
    outcomes = {seed: outcome_of_meeting(seed) for seed in seeds}
    assert [(seed, each.text) for seed, each in outcomes.items() if each.is_failure] == []
    assert sum(each.kind == "fine" for each in outcomes.values()) >= len(seeds) / 3  # they met


def test_what_is_let_go_at_its_equilibrium_may_move():
    model = ph.Model(dimension=2)
    bob = model.add(ph.PointMass(1.0), "bob", position=(1.0, 0, 0))
    model.apply(ph.SpringDamper(model.ground.at((0, 0, 0)), bob.origin, stiffness=100.0, length=1.0))
    model.connect(ph.Slider(model.ground.at((0, 0, 0)), bob.origin, axis=(1, 0, 0)))
    force = formula("lambda time: np.array([{force}, 0.0, 0.0]) * (time <= 0)", force=1.0)
    model.apply(ph.Force(bob.origin, force))
    assert outcome_of(Case(model, 0.01, 10, {"initial": EQUILIBRIUM}), seed=1).kind == "fine"


@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_stiff_beams_at_rest_move_by_the_last_digits_of_places(shift):
    """Their energy is 4e-22 J here and grows with the square of the distance from the origin."""
    case = drawn(1648)
    moved = copied(case.placed, Change(shift=np.array([shift, 0.0, 0.0])))
    motion = replace(case, model=moved, is_assembled=False).run()
    assert 0 < np.abs(motion.energy.balance_error).max() < 1e-16
    assert balance_error(motion) < LIMIT


SHELL, SLIDING, FRICTION, DRIVE, MOTOR = "Shell", "Sliding", "Tendon with friction", "TendonDrive", "TendonMotor"


def kinds(case):
    """What a case has of shells, sliding joints, ropes that rub, and winches."""
    found = {type(part).__name__ for part in (*case.model.joints, *case.model.applied_elements)}
    found |= {type(placed.body).__name__ for placed in case.model.bodies}
    rubs = any(isinstance(each, ph.Tendon) and each.friction for each in case.model.applied_elements)
    return found | ({FRICTION} if rubs else set())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("kind", "seed"), [(SHELL, 23), (SLIDING, 2), (FRICTION, 84), (DRIVE, 19), (MOTOR, 7), (SHELL, 84)]
)
def test_what_is_drawn_last_obeys_the_laws(kind, seed):
    case = drawn(seed, is_small=True)
    assert kind in kinds(case)
    outcome = outcome_of(case, seed)
    assert (outcome.kind, outcome.text) == ("fine", "")
