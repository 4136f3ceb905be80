"""What a step of an environment costs: python benchmarks/gym_steps.py [steps]

The flexible pole on its cart as `phlexible.gym.Env`, ten steps of the simulation an interval, once with what the
tutorial observes (places of cart and tip) and once with coordinates and rates of both joints; then many of them as
a `VectorEnv`, one by one and in lanes. Actions are random and made before; an episode ends when the pole leans by
more than 0.3 or the cart is 1 m away.
Times are processor times of this process, the least of five rounds, without resets; of many environments the least
of all steps, without resets, and the mean with them. Beside it the same steps of the simulation alone, with inputs
that were set before, and nothing read: a live batch.
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


def times_in_rows(count, lanes):
    """Of a step of one of the environments of a ``VectorEnv``: the least, and the mean with resets [s]."""
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
    random = np.random.default_rng(0)
    env.step(random.uniform(-1.0, 1.0, (ROWS, 1)))
    took = []
    for _ in range(count):
        actions = random.uniform(-1.0, 1.0, (ROWS, 1))
        begin = process_time()
        env.step(actions)
        took.append(process_time() - begin)
    return min(took) / ROWS, np.mean(took) / ROWS


def times_of_steps(count, lanes):
    """Of the steps of one mechanism alone, as many as a step of an environment has: the least and the mean [s]."""
    model = ph.gallery.flexible_pole()
    live = ph.batch(lambda number: model, {"number": range(ROWS)}).start(1e-3, lanes=lanes)
    random, took = np.random.default_rng(0), []
    live.step(INSIDE)
    for _ in range(count):
        live.inputs["push"] = random.uniform(-20.0, 20.0, ROWS)
        begin = process_time()
        live.step(INSIDE)
        took.append(process_time() - begin)
    return min(took) / ROWS, np.mean(took) / ROWS


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    print(f"{'observed':38s} {'step [s]':>9s} {'us':>8s} {'steps/s':>8s}")
    for name, observe in OBSERVED.items():
        for step in (1e-3, 5e-3):
            took = least_time(observe, step, count)
            print(f"{name:38s} {step:9g} {1e6 * took:8.1f} {1 / took:8.0f}")
    print(f"{ROWS} at a time, steps of {1e-3:g} s{'least us':>28s} {'steps/s':>8s} {'mean us':>8s} {'steps/s':>8s}")
    for lanes, how in ((False, "one by one"), (True, "in lanes")):
        for name, times in (("steps alone", times_of_steps), ("environments", times_in_rows)):
            least, mean = times(count // 5, lanes)
            row = f"{1e6 * least:8.1f} {1 / least:8.0f} {1e6 * mean:8.1f} {1 / mean:8.0f}"
            print(f"{f'{name}, {how}':48s} {row}", flush=True)


if __name__ == "__main__":
    main()
