"""What a step of an environment costs: python benchmarks/gym_steps.py [steps]

The flexible pole on its cart as `phlexible.gym.Env`, ten steps of the simulation an interval, once with what the
tutorial observes (places of cart and tip) and once with coordinates and rates of both joints; then many of them as
a `VectorEnv`, one by one and in lanes. Actions are random and made before; an episode ends when the pole leans by
more than 0.3 or the cart is 1 m away.
Times are processor times of this process, the least of five rounds, without resets.
"""

import os
import sys
from time import process_time

import numpy as np

import phlexible as ph
from phlexible.gym import Env, VectorEnv

INSIDE, ROUNDS, ROWS = 10, 5, 1000
OBSERVED = {
    "places of cart and tip": lambda model: [ph.Position(model["cart"].origin), ph.Position(model["tip"].origin)],
    "coordinates and rates of both joints": lambda model: [
        sensor(joint) for joint in model.joints[:2] for sensor in (ph.JointPosition, ph.JointRate)
    ],
}


def has_fallen(seen):
    """Of either observation: place of the cart first; the tip is (x, y, z), the angle of the hinge a number."""
    lean = seen[3] - seen[0] if len(seen) == 6 else seen[2]
    return bool(abs(lean) > 0.3 or abs(seen[0]) > 1.0)


def least_time(observe, step, count):
    """Of a step of the environment [s]."""
    env = Env(
        ph.gallery.flexible_pole(),
        step=step,
        interval=INSIDE * step,
        actions={"push": (-20.0, 20.0)},
        observe=observe,
        reward=lambda seen, push: 1.0 - abs(float(seen[0])),
        is_over=has_fallen,
        duration=1e9,
    )
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (count, 1))
    env.step(actions[0])
    least = float("inf")
    for _ in range(ROUNDS):
        total, is_over = 0.0, True
        for action in actions:
            if is_over:
                env.reset()
            begin = process_time()
            is_over = env.step(action)[2]
            total += process_time() - begin
        least = min(least, total / count)
    return least


def time_in_rows(count, lanes):
    """Of a step of one of the environments of a ``VectorEnv``, at the begin of their episodes [s]."""
    env = VectorEnv(
        ph.gallery.flexible_pole(),
        ROWS,
        step=1e-3,
        interval=INSIDE * 1e-3,
        actions={"push": (-20.0, 20.0)},
        observe=OBSERVED["coordinates and rates of both joints"],
        reward=lambda seen, push: 1.0 - abs(seen[:, 0]),
        is_over=lambda seen: (abs(seen[:, 2]) > 0.3) | (abs(seen[:, 0]) > 1.0),
        duration=1e9,
        lanes=lanes,
    )
    env.reset(seed=0)
    random, least = np.random.default_rng(0), float("inf")
    for _ in range(count):
        actions = random.uniform(-1.0, 1.0, (ROWS, 1))
        begin = process_time()
        env.step(actions)
        least = min(least, process_time() - begin)
    return least / ROWS


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"{'observed':38s} {'step [s]':>9s} {'us':>8s} {'steps/s':>8s}")
    for name, observe in OBSERVED.items():
        for step in (1e-3, 5e-3):
            took = least_time(observe, step, count)
            print(f"{name:38s} {step:9g} {1e6 * took:8.1f} {1 / took:8.0f}")
    for lanes, how in ((False, "one by one"), (True, "in lanes")):
        took = time_in_rows(count // 10, lanes)
        print(f"{f'{ROWS} {how}, coordinates and rates':38s} {1e-3:9g} {1e6 * took:8.1f} {1 / took:8.0f}")


if __name__ == "__main__":
    main()
