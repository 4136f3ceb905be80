"""Whether shooting, in one or several shots, swings a flexible pole up, from first values that know nothing of it.

python benchmarks/swing_up.py [first seed] [last seed] [shots]

An elastic pole with a mass at its tip hangs from a cart on a rail; sought is the push, within 20 N and of the least
effort, after which it stands upright above where the cart began, at rest. First values are noise. Printed for each
seed: which way round it goes, the least effort, iterations and runs, and the processor time.
"""

import sys
from time import process_time
from typing import Any

import numpy as np

import phlexible as ph

DURATION, STEP, SAMPLES = 1.6, 5e-3, 21
ITERATIONS = 1000


def pole(p: Any) -> ph.Model:
    """A cart with a pole; the first vibration of the pole has a period of about 0.16 s."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    cart = model.add(ph.RigidBody(1.0, 0.01), "cart")
    rail = model.connect(ph.Prismatic(model.ground.at((0.0, 0.0, 0.0)), cart.origin, name="rail"))
    strip, material = ph.RectangularSection(width=0.02, height=5e-3), ph.Material(7e10, 2700.0, viscosity=5e-3)
    beam = ph.Beam(0.6, strip, material, elements=1, frame="cantilever")
    placed = model.add(beam, "pole", rotation=-np.pi / 2)
    tip = model.add(ph.PointMass(0.1), "tip", position=(0.0, -0.6, 0.0))
    model.connect(ph.Revolute(cart.origin, placed.start, name="pin"))
    model.connect(ph.Revolute(placed.end, tip.origin))
    model.apply(rail.force(p["push"]))
    return model


def sensors(model: ph.Model) -> dict[str, Any]:
    """Place and speed of the cart, angle and rate of the pole."""
    rail, pin = model.joint("rail"), model.joint("pin")
    places = {"place": ph.JointPosition(rail), "angle": ph.JointPosition(pin)}
    return places | {"speed": ph.JointRate(rail), "rate": ph.JointRate(pin)}


def main() -> None:
    given = ((1, 0), (2, 11), (3, 1))
    first, last, shots = (int(sys.argv[k]) if len(sys.argv) > k else default for k, default in given)
    print(f"{'seed':>4}{'turn':>6}{'effort':>10}{'iterations':>12}{'runs':>6}{'s':>7}")
    for seed in range(first, last + 1):
        noise = ph.Signal(np.linspace(0.0, DURATION, SAMPLES), np.random.default_rng(seed).normal(size=SAMPLES))
        turn, begin = np.pi * (1 if seed % 2 else -1), process_time()
        try:
            best = ph.optimal_inputs(
                pole,
                None,
                {"push": noise},
                DURATION,
                STEP,
                sensors=sensors,
                final={"place": 0.0, "speed": 0.0, "angle": turn, "rate": 0.0},
                weights={"push": 1.0},
                bounds={"push": (-20.0, 20.0)},
                shots=shots,
                iterations=ITERATIONS,
                progress=False,
            )
        except ph.ConvergenceError as error:
            print(f"{seed:4}{turn:6.2f}  {error}", flush=True)
            continue
        seconds = process_time() - begin
        print(f"{seed:4}{turn:6.2f}{best.cost:10.4f}{len(best.history):12}{best.runs:6}{seconds:7.1f}", flush=True)


if __name__ == "__main__":
    main()
