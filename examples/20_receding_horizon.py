"""A crane that looks ahead
========================

Optimal inputs that are found once know nothing of what comes: a gust, a load that is heavier than the model says.
Found again every half second, from where the crane is then, they become a controller: *receding horizon* or *model
predictive* control. Here the controller's model is a stiff pendulum, and the crane has a cable with mass.
"""

import matplotlib.pyplot as plt
import numpy as np

import phlexible as ph

TROLLEY, LOAD, LENGTH, GRAVITY = 100.0, 250.0, 6.0, 9.81
TARGET, WALL = 3.0, 3.5  # [m]
MOST = 400.0  # of the motor [N]

# %%
# The crane: a load that is a tenth heavier than the controller believes, and a gust on it from the fifth second on.


def crane(push):
    model = ph.Model(gravity=(0.0, -GRAVITY, 0.0), dimension=2)
    cable = ph.String(LENGTH, 1.2, 4, ph.LinearLaw(2.0e6), viscosity=2e-3)
    trolley = model.add(ph.PointMass(TROLLEY), "trolley")
    rope = model.add(cable, "cable", shape=((0.0, 0.0, 0.0), (0.0, -LENGTH, 0.0)))
    load = model.add(ph.PointMass(1.1 * LOAD), "load", position=(0.0, -LENGTH, 0.0))
    rail = model.ground.at((0.0, 0.0, 0.0))
    model.connect(ph.Slider(rail, trolley.origin, axis=(1.0, 0.0, 0.0)))
    model.connect(ph.Spherical(trolley.origin, rope.start))
    model.connect(ph.Spherical(rope.end, load.origin))
    motor = ph.Force(trolley.origin, (1.0, 0.0, 0.0))
    model.apply(ph.Feedback(push, measured=[trolley.origin, load.origin], on=[motor], period=PERIOD))
    gust = ph.Signal([5.0, 5.1, 5.7, 5.8], [0.0, 200.0, 200.0, 0.0])
    model.apply(ph.Force(load.origin, lambda t: (gust(t), 0.0, 0.0)))
    return model


# %%
# What the controller believes, from a state that was measured: two points and a massless rod. It sees the gust no
# earlier than in what that has moved.

PERIOD, SAMPLES, STEP = 0.5, 8, 0.05  # looks four seconds ahead


def pendulum(state, push):
    place, speed, angle, rate = state
    model = ph.Model(gravity=(0.0, -GRAVITY, 0.0), dimension=2)
    along, down = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([np.sin(angle), -np.cos(angle), 0.0])
    trolley = model.add(ph.PointMass(TROLLEY), "trolley", (place, 0.0, 0.0), velocity=(speed, 0.0, 0.0))
    at = np.array([place, 0.0, 0.0]) + LENGTH * down
    load = model.add(ph.PointMass(LOAD), "load", at, velocity=np.array([speed, 0.0, 0.0]) + LENGTH * rate * along)
    model.connect(ph.Slider(model.ground.at((0.0, 0.0, 0.0)), trolley.origin, axis=(1.0, 0.0, 0.0)))
    model.connect(ph.Distance(trolley.origin, load.origin))
    model.apply(ph.Force(trolley.origin, lambda t: (push(t), 0.0 * t, 0.0 * t)))
    return model


# %%
# What is wanted: the load at its target, soon, without swinging, and never beyond the wall behind it. A limit of a
# path is a cost that begins to grow before it. What comes after the end of a plan is a cost of that end.


def wanted(model):
    def beside(x):
        return (x[:, 0] - TARGET) ** 2 + 300.0 * np.maximum(x[:, 0] - (WALL - 0.2), 0.0) ** 2

    load, trolley = model["load"].origin, model["trolley"].origin
    end = ph.Cost.final(ph.Position(trolley), lambda x: 4.0 * (x[:, 0] - TARGET) ** 2)
    for each in (load, trolley):
        end = end + ph.Cost.final(ph.Velocity(each), lambda v: 4.0 * v**2)
    return ph.Cost.integral(ph.Position(load), beside) + end


# %%
# The controller: measures, makes a plan from there that begins with the rest of the last one, and does its first
# half second.


class Ahead:
    def __init__(self, accuracy=1e-3):
        self.accuracy = accuracy
        self.plan = ph.Signal(PERIOD * np.arange(SAMPLES), np.zeros(SAMPLES), "constant")
        self.plans = []

    def __call__(self, time, measured):
        trolley, speed, load, velocity = measured.reshape(4, 3)
        apart = load - trolley
        angle = np.arctan2(apart[0], -apart[1])
        rate = (velocity - speed) @ [np.cos(angle), np.sin(angle), 0.0] / LENGTH
        state = trolley[0], speed[0], angle, rate
        first = self.plan.with_values(np.append(self.plan.values[1:], 0.0))
        best = ph.optimal_inputs(
            lambda p: pendulum(state, p["push"]),
            wanted,
            {"push": first},
            PERIOD * SAMPLES,
            STEP,
            weights={"push": 1e-6},
            bounds={"push": (-MOST, MOST)},
            accuracy=self.accuracy,
            progress=False,
        )
        self.plan = best["push"]
        self.plans.append((time, best.motion))
        return self.plan.values[:1]


ahead = Ahead()
motion = crane(ahead).simulate(10.0, 0.02)

# %%
# Beside it the first plan alone, which is all that one search gives, however accurate. It knows neither the load
# nor the gust.

once = Ahead(accuracy=1e-5)
once(0.0, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -LENGTH, 0.0, 0.0, 0.0, 0.0]))
alone = crane(lambda t, measured: [once.plan(t) if t < PERIOD * SAMPLES else 0.0]).simulate(10.0, 0.02)

figure, axes = plt.subplots(2, 1, figsize=(8, 5.4), sharex=True, layout="constrained")
for start, plan in ahead.plans:
    axes[0].plot(start + plan.time, plan.position(plan["load"].origin)[:, 0], color="0.8", lw=0.8)
for run, label in ((alone, "first plan alone"), (motion, "planned again every half second")):
    axes[0].plot(run.time, run.position(run["load"].origin)[:, 0], label=label)
    axes[1].plot(run.time, run[ph.Position(run["trolley"].origin)][:, 0], label=label)
axes[0].axhline(WALL, color="k", lw=1.5)
axes[0].axhline(TARGET, color="k", lw=0.8, ls=":")
axes[0].axvspan(5.0, 5.8, color="0.93")
axes[0].text(5.05, 0.1, "gust")
axes[0].text(0.1, WALL + 0.06, "wall")
axes[0].set(ylabel="load [m]", ylim=(-0.2, 4.4), xlim=(0.0, 10.0))
axes[1].set(xlabel="time [s]", ylabel="trolley [m]")
axes[0].legend(loc="lower right")
figure.savefig("receding_horizon.png", dpi=120)

farthest, hit = (float(run.position(run["load"].origin)[:, 0].max()) for run in (motion, alone))
left = float(np.abs(motion.position(motion["load"].origin)[motion.time > 9.0, 0] - TARGET).max())
print(f"the load comes to {farthest:.3f} m, with the first plan alone to {hit:.3f} m; the wall is at {WALL} m")
print(f"in the last second it is within {1000 * left:.0f} mm of its target")

# %%
# A check from outside: what the motor, the gust and the cable's loss did is the energy that is there.

missing = float(np.abs(motion.energy.balance_error).max())
print(f"the energy balance closes to {missing:.0e} J of {motion.energy.kinetic.max():.0f} J")
