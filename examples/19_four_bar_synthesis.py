"""A four-bar linkage that draws a straight line
==============================================

Which lengths make a point of the coupler run along a straight line while the crank turns by half? An optimiser
finds them with exact derivatives of the motion. Slowly turned it is a matter of geometry; turned fast the links
bend, and the lengths that are best change.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import phlexible as ph

GROUND, CRANK, HEIGHT, TOOL = 0.2, 0.1, 0.4, 0.3  # [m], the line is y = 0.4 m; mass of the tool [kg]
START = {"coupler": 0.23, "follower": 0.27, "tracer": 0.45}  # [m]; the tool is so far along the coupler
STEPS = 60

# %%
# The crank turns from a quarter to three quarters, by a given motion. For any lengths the triangle of the crank's
# pin, coupler and follower closes; the coupler goes on beyond the follower to the tool.


def linkage(p, speed):
    tip, pivot = np.array([0.0, CRANK]), np.array([GROUND, 0.0])
    line = pivot - tip
    distance = np.hypot(*line)
    along = (distance**2 + p["coupler"] ** 2 - p["follower"] ** 2) / (2 * distance)
    across = np.sqrt(p["coupler"] ** 2 - along**2)
    knee = tip + (along * line + across * np.array([-line[1], line[0]])) / distance

    def angle(vector):
        return float(np.arctan2(vector[1], vector[0]))

    def pin(t):
        turned = np.pi / 2 + speed * t
        return CRANK * np.cos(turned), CRANK * np.sin(turned), 0.0 * t

    steel, section = ph.Material(2.1e11, 7850.0), ph.RectangularSection(6e-3, 0.02)
    model = ph.Model(dimension=2)
    turn, back = angle(knee - tip), angle(pivot - knee)
    coupler = model.add(ph.Beam(p["tracer"], section, steel, elements=4, modes=2), "coupler", (*tip, 0.0), turn)
    follower = model.add(
        ph.Beam(p["follower"], section, steel, elements=2, modes=1), "follower", (*knee, 0.0), back
    )
    tool = model.add(ph.PointMass(TOOL), "tool", coupler.end.initial_position())
    model.connect(ph.Revolute(model.ground.moving(pin), coupler.start))
    model.connect(ph.Revolute(coupler.at(p["coupler"]), follower.start))
    model.connect(ph.Revolute(follower.end, model.ground.at((*pivot, 0.0))))
    model.connect(ph.Spherical(coupler.end, tool.origin))
    return model


# %%
# What the tool misses the line by at each instant, in millimetres, is to be small: a problem of least squares. Its
# derivatives are those of a sensor's readings, ``motion.sensitivity``, exact for the computed motion.


def designed(speed, start):
    """The best lengths for a speed of the crank [rad/s]; what is missed before and after [mm]; how many runs."""
    duration = np.pi / speed
    step, names, runs = duration / STEPS, [*start], {}

    def run(x):
        p = dict(zip(names, (0.01 * x).tolist(), strict=True))
        if (key := x.tobytes()) not in runs:
            motion = linkage(p, speed).simulate(duration, step, initial="quasi_static", progress=False)
            runs[key] = motion, motion.position(motion.mechanism["tool"].origin)[:, 1]
        return p, *runs[key]

    def missed(x):
        return 1000 * (run(x)[2] - HEIGHT)

    def slopes(x):
        p, motion, _ = run(x)
        found = motion.sensitivity(
            lambda p: linkage(p, speed), p, lambda model: ph.Position(model["tool"].origin), initial="quasi_static"
        )
        return np.stack([10 * found.derivatives[0][name][:, 1] for name in names], axis=1)

    x = 100 * np.array([*start.values()])
    found = least_squares(missed, x, slopes, xtol=1e-8)
    off = [float(np.sqrt(np.mean(missed(each) ** 2))) for each in (x, found.x)]
    return run(found.x)[0], off[0], off[1], len(runs)


slow, guessed, after, runs = designed(1.0, START)
print(
    f"slow: {guessed:.1f} mm off at first, {after:.3f} mm after {runs} runs with",
    *(f"{v:.4f}" for v in slow.values()),
)

# %%
# The lengths are those of Hoekens' linkage, but for a tenth of a percent: follower and both halves of the coupler
# are two and a half times as long as the crank, the ground twice. At sixty radian a second the tool bends its
# coupler by millimetres; designed for that, with shorter links, the line is better again.

FAST = 60.0
fast, bent, better, runs = designed(FAST, slow)
print(
    f"fast: {bent:.2f} mm off with these, {better:.2f} mm after {runs} runs with",
    *(f"{v:.4f}" for v in fast.values()),
)
figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
for label, p, speed in (("slow", slow, 1.0), ("the same, fast", slow, FAST), ("designed for fast", fast, FAST)):
    duration = np.pi / speed
    motion = linkage(p, speed).simulate(duration, duration / STEPS, initial="quasi_static", progress=False)
    path = motion.position(motion.mechanism["tool"].origin)
    axes.plot(1000 * path[:, 0], 1000 * (path[:, 1] - HEIGHT), label=label)
axes.set(xlabel="along the line [mm]", ylabel="off the line [mm]")
axes.legend()
figure.savefig("straight_line.png", dpi=120)
