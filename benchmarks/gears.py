"""How exactly a gear pair keeps its ratio and its energy over many steps, and what a step costs.

python benchmarks/gears.py [steps]
"""

import sys
import time

import numpy as np

import phlexible as ph


def gear_pair() -> tuple[ph.Model, ph.Revolute, ph.Revolute]:
    """Wheels on axes that are askew, the second one eccentric under its weight; ratio -2, 40 rad/s."""
    model = ph.Model(gravity=(0, -9.81, 0))
    a = model.add(ph.RigidBody(2.0, (0.02, 0.02, 0.03)), "a", angular_velocity=(0, 0, 40.0))
    b = model.add(ph.RigidBody(1.0, (2e-3, 2e-3, 3e-3), center=(0.03, 0, 0)), "b", position=(0.5, 0, 0))
    first = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), a.origin))
    second = model.connect(ph.Revolute(model.ground.at((0.5, 0, 0)), b.origin, axis=(0, 0.6, 0.8)))
    model.connect(ph.Gear(first, second, ratio=-2.0))
    return model, first, second


def main(steps: int) -> None:
    """Prints the figures."""
    model, first, second = gear_pair()
    model.simulate(0.02, 2e-3, progress=False)  # compiles
    begin = time.perf_counter()
    motion = model.simulate(steps * 2e-3, 2e-3, every=max(1, steps // 100_000), progress=False)
    cost = (time.perf_counter() - begin) / steps
    a, b = motion.angle(first), motion.angle(second)
    print(f"{steps} steps, {a[-1] / (2 * np.pi):.0f} turns, {cost * 1e6:.1f} us a step")
    print(f"ratio: |a + 2 b| <= {np.abs(a + 2 * b).max() / np.abs(a).max():.1e} of the angle")
    print(f"energy: {np.ptp(motion.energy.total) / motion.energy.kinetic.max():.1e} of itself")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
