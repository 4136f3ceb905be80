"""A crane that learns its push
============================

A trolley shall carry a load over one metre in four seconds, and nothing shall swing at the end. The push is a
function of time with 41 samples; an optimiser finds them with the exact gradient of the computed motion.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import phlexible as ph

TROLLEY, LOAD, LINE, GRAVITY = 100.0, 250.0, 1.2, 9.81
DURATION, STEP, DISTANCE = 4.0, 0.02, 1.0
SAMPLES = np.linspace(0.0, DURATION, 41)
UNIT = 100.0  # [N], so that what the optimiser sees is about one

# %%
# A model as a function of its parameters. ``ph.Signal`` is linear between its samples; the force reads it.


def crane(p, length=6.0):
    model = ph.Model(gravity=(0.0, -GRAVITY, 0.0), dimension=2)
    trolley = model.add(ph.PointMass(TROLLEY), "trolley")
    cable = ph.String(length, LINE, 3, ph.LinearLaw(2.0e6), viscosity=2e-3)

    def depth(s):
        return s + GRAVITY * (LOAD * s + LINE * (length * s - s**2 / 2)) / 2.0e6

    rope = model.add(cable, "cable", shape=lambda s: (0.0, -depth(s)))
    load = model.add(ph.PointMass(LOAD), "load", position=(0.0, -depth(length), 0.0))
    model.connect(ph.Slider(model.ground.at((0.0, 0.0, 0.0)), trolley.origin, axis=(1.0, 0.0, 0.0)))
    model.connect(ph.Spherical(trolley.origin, rope.start))
    model.connect(ph.Spherical(rope.end, load.origin))
    push = p["push"]
    model.apply(ph.Force(trolley.origin, lambda t: (UNIT * push(t), 0.0 * t, 0.0 * t)))
    return model


# %%
# The cost is made of sensors: at the end trolley and load shall be there, and at rest.


def cost(model):
    total = 0.0
    for name in ("trolley", "load"):
        port = model[name].origin
        total += ph.Cost.final(ph.Displacement(port), lambda x: (x - DISTANCE) ** 2)
        total += ph.Cost.final(ph.Velocity(port), np.square)
    return total


# %%
# The first guess pushes and brakes by half a sine each, as if trolley and load were one body.

mass = TROLLEY + LOAD + LINE * 6.0
guess = ph.Signal(
    SAMPLES, 2 * np.pi * mass * DISTANCE / DURATION**2 / UNIT * np.sin(2 * np.pi * SAMPLES / DURATION)
)
objective = ph.Objective(crane, cost, {"push": guess}, duration=DURATION, step=STEP)
found = minimize(objective, objective.start, jac=True, method="L-BFGS-B", options={"maxiter": 60, "ftol": 1e-14})
before, after = objective(objective.start)[0], float(found.fun)
print(f"cost {before:.3g} before, {after:.1e} after {found.nit} iterations, {found.nfev} runs with gradient")

# %%
# Both motions, and two seconds beyond: the learned push leaves nothing that swings. The centre of mass does not
# know of the cable: whatever the push, it moves by the integral of (T - t) F / m.

figure, axes = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
swings = {}
for name, signal in {"first guess": guess, "learned": objective.parameters(found.x)["push"]}.items():
    model = crane({"push": lambda t, signal=signal: signal(t) * (t < DURATION)})
    motion = model.simulate(duration=DURATION + 2.0, step=STEP, progress=False)
    beside = motion[ph.Displacement(model["load"].origin)] - motion[ph.Displacement(model["trolley"].origin)]
    swings[name] = float(np.abs(beside[motion.time > DURATION]).max())
    axes[0].plot(SAMPLES, UNIT * signal(SAMPLES), label=name)
    axes[1].plot(motion.time, 1000 * beside, label=f"{name}: swings on by {1000 * swings[name]:.2g} mm")
moved = float(np.trapezoid((DURATION - SAMPLES) * UNIT * signal(SAMPLES), SAMPLES)) / mass
left = swings["learned"]
print(f"the load swings on by {1000 * swings['first guess']:.1f} mm, and by {1000 * left:.2f} mm")
print(f"by its impulse the learned push moves the centre of mass by {moved:.4f} m")
axes[0].set(xlabel="time [s]", ylabel="push [N]")
axes[1].set(xlabel="time [s]", ylabel="load beside the trolley [mm]")
for each in axes:
    each.legend()
figure.savefig("learned_push.png", dpi=120)

# %%
# How much does the answer hang on the cable's length? The same gradient, for another parameter: where the cost is
# smallest its first derivative says nothing, but that of the final speed of the load does.


def longer(p):
    return crane({"push": objective.parameters(found.x)["push"]}, p["length"])


_, slopes = ph.gradient(
    longer,
    lambda model: ph.Cost.final(ph.Velocity(model["load"].origin)),
    {"length": 6.0},
    duration=DURATION,
    step=STEP,
)
print(f"a cable longer by 1 cm leaves the load with {10 * slopes['length']:.3f} mm/s")
