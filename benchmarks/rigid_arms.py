"""Rigid arms and chains beside MuJoCo, at equal error: python benchmarks/rigid_arms.py

Both take the same arms from rest for a second, on one thread, by turns; processor times, the least of a few runs.
MuJoCo (the extra ``bench``) works in the coordinates of the joints; its loop of steps is in C, building is not
counted. Errors are those of the end of the arm, the greatest over the second, against MuJoCo's ``RK4`` with a far
smaller step; how far phlexible with small steps of order 4 is from that is printed too. Beside a run of one arm
stands what an arm takes among as many as the processor has lanes (``ph.batch``): the compiled loop over steps.
"""

import os
import time

import numpy as np
from batches import TimedLoop

import phlexible as ph
from phlexible.step.compilation.number_kinds import lanes_of_processor
from phlexible.step.integration import lane_loop

try:
    import mujoco
except ImportError:
    mujoco = None

LENGTH, MASS, INERTIA = 0.3, 2.0, (2e-3, 1.6e-2, 1.7e-2)
DURATION, KEPT, ROUNDS = 1.0, 50, 5
AXES = {
    "arm of 6 axes": ((0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)),
    "chain of 30 links": ((0, 1, 0),) * 30,
}
OUR_STEPS = {2: (50, 100, 200, 400, 1000, 2000, 4000), 4: (50, 100, 150, 200, 400)}
THEIR_STEPS = {"implicitfast": (200, 1000, 4000, 20000), "RK4": (50, 100, 200, 300, 400, 600, 1000)}
LEVELS = 1e-2, 1e-4, 1e-6, 1e-8


def ours(kind, factor=1.0):
    """The arm, of which all masses may be multiplied, and its end."""
    model = ph.Model((0.0, 0.0, -9.81))
    port = model.ground.at((0.0, 0.0, 0.0))
    for k, axis in enumerate(AXES[kind]):
        inertia = tuple(factor * each for each in INERTIA)
        link = ph.RigidBody(factor * MASS, inertia, center=(LENGTH / 2, 0.0, 0.0))
        placed = model.add(link, f"link {k}", position=(k * LENGTH, 0.0, 0.0))
        model.connect(ph.Revolute(port, placed.origin, axis=axis))
        port = placed.point((LENGTH, 0.0, 0.0))
    return model, port


def theirs(kind, integrator, step):
    """The same in MuJoCo, without contact."""
    axes = AXES[kind]
    inner = f'<site name="end" pos="{LENGTH} 0 0"/>'
    for k in reversed(range(len(axes))):
        inner = (
            f'<body pos="{LENGTH if k else 0} 0 0"><joint type="hinge" axis="{" ".join(map(str, axes[k]))}"/>'
            f'<inertial pos="{LENGTH / 2} 0 0" mass="{MASS}" diaginertia="{INERTIA[0]} {INERTIA[1]} {INERTIA[2]}"/>'
            f"{inner}</body>"
        )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 0 -9.81" timestep="{step}" integrator="{integrator}">'
        f'<flag contact="disable"/></option><worldbody>{inner}</worldbody></mujoco>'
    )


def their_run(kind, integrator, steps):
    """Seconds, and places of the end, shape (KEPT + 1, 3)."""
    model = theirs(kind, integrator, DURATION / steps)
    data, every = mujoco.MjData(model), steps // KEPT
    mujoco.mj_forward(model, data)
    places, spent = [data.site_xpos[0].copy()], 0.0
    for _ in range(KEPT):
        begin = time.process_time()
        mujoco.mj_step(model, data, every)
        spent += time.process_time() - begin
        mujoco.mj_kinematics(model, data)
        places.append(data.site_xpos[0].copy())
    return spent, np.array(places)


def our_run(kind, order, steps):
    """The same; all of ``simulate`` is counted, with what it costs before the first step."""
    model, end = ours(kind)
    model.simulate(DURATION / steps, DURATION / steps, order=order, progress=False)
    begin = time.process_time()
    motion = model.simulate(DURATION, DURATION / steps, order=order, every=steps // KEPT, progress=False)
    return time.process_time() - begin, motion.position(end)


def our_batch(kind, order, steps):
    """Seconds of the compiled loop an arm, of arms in lanes whose masses differ, and places of the first."""
    loop, lanes = TimedLoop(), lanes_of_processor()
    lane_loop.advance = loop
    rows = ph.batch(lambda factor: ours(kind, factor)[0], {"factor": 1.0 + 0.1 * np.arange(lanes) / lanes})
    runs = rows.simulate(
        DURATION,
        DURATION / steps,
        lambda model: {"end": ph.Position(model.bodies[-1].point((LENGTH, 0.0, 0.0)))},
        order=order,
        every=steps // KEPT,
        threads=1,
        lanes=True,
        progress=False,
    )
    return loop.seconds / lanes, runs["end"][0]


def curve(run, kind, choices, best):
    """(error, seconds, what) of all steps, seconds the least of the rounds."""
    found = []
    for way, counts in choices.items():
        for steps in counts:
            runs = [run(kind, way, steps) for _ in range(ROUNDS)]
            error = np.abs(runs[0][1] - best).max()
            found.append((error, min(seconds for seconds, _ in runs), f"{words(way)}, {steps} steps"))
    return found


def words(way):
    return f"order {way}" if isinstance(way, int) else way


def cheapest(found, level):
    """The fastest that is at most so far off."""
    good = [each for each in found if each[0] <= level]
    return min(good, key=lambda each: each[1]) if good else None


if __name__ == "__main__":
    if mujoco is None:
        raise SystemExit("MuJoCo is needed: pip install mujoco")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(f"MuJoCo {mujoco.__version__}; an error of the end in metres, milliseconds for a second of motion\n")
    print("| arm | error | phlexible | in lanes, an arm | MuJoCo | ratios |\n| --- | --- | --- | --- | --- | --- |")
    for kind in AXES:
        best = their_run(kind, "RK4", 100_000)[1]
        apart = np.abs(our_run(kind, 4, 10_000)[1] - best).max()
        curves = [curve(run, kind, OUR_STEPS, best) for run in (our_run, our_batch)]
        curves.append(curve(their_run, kind, THEIR_STEPS, best))
        for level in LEVELS:
            found = [cheapest(each, level) for each in curves]
            if None in found:
                continue
            texts = [f"{1e3 * seconds:.2f} ms ({what})" for _, seconds, what in found]
            ratios = [f"{seconds / found[-1][1]:.1f}" for _, seconds, _ in found[:-1]]
            print(f"| {kind} | {level:g} | {' | '.join(texts)} | {', '.join(ratios)} |", flush=True)
        print(f"{kind}: both with small steps are {apart:.1e} m apart")
