"""Contacts among many: cost of a step with the search for near pairs and with all pairs, with the same digits.

    python benchmarks/contacts.py

1000 balls, half a million pairs, fly about in space and collide; 1000 spheres of one group fly past the 1000 pieces
of two ropes, a million pairs. "all pairs" looks at each pair in each evaluation. 100 and 10 000 balls that lie in a
box and rub, four deep, show what a contact costs in the second half of a run: the first has what a run begins with.
"""

import time

import numpy as np
from scipy.spatial import cKDTree

import phlexible as ph
from phlexible.step.assembly import families as contact_groups

STEP = 1e-3


def balls(side: int, meet: bool = True) -> ph.Model:
    """side^3 of them on a grid, with random velocities."""
    rng, model = np.random.default_rng(3), ph.Model()
    places = 0.3 * np.stack(np.meshgrid(*[np.arange(side)] * 3), axis=-1).reshape(-1, 3)
    placed = [model.add(ph.PointMass(1.0), position=x, velocity=5 * rng.normal(size=3)) for x in places]
    if meet:
        model.apply(ph.Contact([each.origin for each in placed], radius=0.1, stiffness=1e5))
    return model


def ropes(count: int, meet: bool = True) -> ph.Model:
    """As many balls as pieces of ropes, which they meet."""
    rng, model = np.random.default_rng(4), ph.Model()
    lines = [
        model.add(ph.String(50.0, 0.1, count // 2, ph.LinearLaw(1e3)), f"rope {k}", position=(0, 2.0 * k, 0))
        for k in range(2)
    ]
    places = rng.uniform((0, -1, 0.2), (50, 3, 4), size=(count, 3))
    placed = [model.add(ph.PointMass(0.1), position=x, velocity=(0, 0, -30)) for x in places]
    if meet:
        members = [each.origin for each in placed]
        model.apply(ph.Contact(members, lines, radius=0.02, second_radius=0.05, stiffness=1e3))
    return model


RADIUS = 0.01


def heap(side: int) -> ph.Model:
    """side^2 columns of four balls that lie close in a box, a little out of place, and rub."""
    rng, model = np.random.default_rng(5), ph.Model(gravity=(0, 0, -9.81))
    places = np.stack(np.meshgrid(np.arange(side), np.arange(side), np.arange(4)), axis=-1).reshape(-1, 3) + 0.5
    body, pitch = ph.RigidBody.sphere(RADIUS, 2500.0), 1.998 * RADIUS
    wide = side * pitch
    placed = [model.add(body, position=x) for x in pitch * places + rng.uniform(0, 2e-4, places.shape) * RADIUS]
    box = ph.Surface(model.ground.at((wide / 2, wide / 2, wide / 2)), ph.Box((wide, wide, wide)), inside=True)
    model.apply(ph.Contact(placed, [*placed, box], stiffness=2e3, friction=0.4, damping=4e3))
    return model


def measured(model: ph.Model, duration: float) -> tuple[float, int, ph.Motion]:
    """Seconds of CPU, steps and parts of steps, and the motion."""
    model.simulate(STEP, STEP, progress=False)
    begin = time.process_time()
    motion = model.simulate(duration, STEP, progress=False)
    taken = len(motion.time) - 1 + int(motion.contact_steps[-1])
    return time.process_time() - begin, taken, motion


def main() -> None:
    """Prints both, and the difference of the motions."""
    for name, build, count in (("1000 balls", balls, 10), ("1000 balls, 1000 pieces", ropes, 1000)):
        model, duration = build(count), 0.02
        free, flown, _ = measured(build(count, meet=False), duration)
        found, taken, near = measured(model, duration)
        kept, contact_groups.SKIN = contact_groups.SKIN, 1e12
        slow, searched, every = measured(model.replace(), duration)
        contact_groups.SKIN = kept
        same = np.array_equal(near.recording.position, every.recording.position)
        times = f"{1e3 * found / taken:.2f} ms a step, {1e3 * free / flown:.2f} without contacts"
        times += f", {1e3 * slow / searched:.1f} with all pairs"
        energy = np.ptp(near.energy.total) / near.energy.total[0]
        print(f"{name}: {times}; same digits: {same}; {int(near.contact_steps[-1])} parts, energy {energy:.1e}")
    for side in (5, 50):
        model = heap(side)
        duration = 0.04 if side == 5 else 0.008
        before, begun, _ = measured(model, duration / 2)
        used, taken, motion = measured(model, duration)
        used, taken = used - before, taken - begun
        lies = motion.recording.position[-1]
        count = len(cKDTree(lies).query_pairs(2 * RADIUS)) + int((lies < RADIUS).sum())
        count += int((lies[:, :2] > side * 1.998 * RADIUS - RADIUS).sum())
        ledger = np.ptp(motion.energy.total + motion.energy.dissipated) / motion.energy.total[0]
        parts = int(motion.contact_steps[-1])
        iterations, cost = motion.iterations[-1] / parts, 1e6 * used / (count * taken)
        print(
            f"{4 * side**2} balls in a box, {count} contacts: {cost:.1f} us a contact and part, "
            f"{iterations:.1f} iterations, {parts} parts, ledger {ledger:.1e}"
        )


if __name__ == "__main__":
    main()
