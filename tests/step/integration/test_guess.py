"""Newton's method starts near the solution of a step: recurrences of the last steps tell where."""

import numpy as np
import pytest

import phlexible as ph

TURN = 2 * np.pi / 150.0
QUASI_STATIC = {"initial": "quasi_static"}


def bent_rod():
    model = ph.Model(gravity=(0, -9.81, 0))
    steel = ph.Material(youngs_modulus=2e11, density=7800)
    rod = model.add(ph.Rod(1.0, ph.RectangularSection(0.02, 0.01), steel, elements=8), "rod")
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), rod.start))
    model.apply(ph.Force(rod.end, (0, 20.0, 5.0)))
    return model


@pytest.mark.parametrize(
    ("build", "duration", "step", "options", "most"),
    [
        # smooth; without recurrences three
        (lambda: ph.gallery.crank_slider(elements=4, modes=2), TURN, TURN / 336, QUASI_STATIC, 2.2),
        # an axial vibration that turns by two radians a step; without 5.9
        (lambda: ph.gallery.crank_slider(elements=4, modes=2), TURN, TURN / 336, {}, 4.2),
        # two, whose second update is round-off and must not ask for more; then 2.8
        (ph.gallery.double_pendulum, 0.5, 1e-3, {}, 2.1),
        # many vibrations that are far faster than the steps; where round-off of places is not seen 4.6
        (lambda: ph.gallery.chain(30, youngs_modulus=1e9), 0.05, 1e-3, {}, 4.2),
        (bent_rod, 50e-4, 1e-4, {}, 3.6),  # 3.7 where it asks round-off to fall on
        # ten parts a step, each with a recurrence of its own; without 60
        (lambda: ph.gallery.crank_slider(modes=3), TURN, TURN / 42, {"order": 4}, 50.0),
    ],
)
def test_iterations_of_a_step_are_few(build, duration, step, options, most):
    motion = build().simulate(duration, step, **options)
    count = len(motion.time) - 1
    assert motion.iterations[-1] / count <= most


@pytest.mark.parametrize(
    ("build", "step", "known"),
    [
        (lambda: ph.gallery.crank_slider(elements=4, modes=2), TURN / 336, 9.0),  # rings
        (ph.gallery.double_pendulum, 1e-3, 1.0),  # two iterations after the first step, in which nothing is known
    ],
)
def test_misses_are_kept_from_the_first_step_on_that_needs_them(build, step, known):
    live = build().start(step)
    live.step(20)
    assert live.stepper.memory["known_velocities"][0] == known
