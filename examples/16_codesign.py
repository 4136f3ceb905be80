"""A satellite and its controller, designed together
=================================================

Thick panels hardly bend when the satellite turns, thin ones are light. A gentle controller leaves them in peace, a
stiff one holds against the pressure of the sun, and one that is too quick follows the noise of its sensor. Designed
one after the other, structure and controller each do their best with what they are given. Designed together, with
the exact gradient of the computed motion, they do better.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import phlexible as ph

TURN, SLEW, DURATION, STEP = 0.5, 12.0, 24.0, 0.1  # [rad], [s]
SUN, NOISE = 0.02, 1e-8  # torque [N m], of the star tracker [rad^2/Hz]
HEAVY, WANTED = 30.0, 3e-4  # what mass of panels [kg] and what error [rad] cost one each
HUB, RADIUS = 60.0, 0.75

# %%
# The hub turns by half a radian in twelve seconds. The wheel gives the torque that a rigid satellite would need,
# and that of a spring and a damper to the wanted angle: a PD controller without sampling, of which derivatives are
# known. What has a name is found again.


def wanted(t):
    """Angle, rate and acceleration."""
    s = np.clip(t / SLEW, 0.0, 1.0)
    rate = 30 * s**2 * (1 - s) ** 2 / SLEW
    return TURN * s**3 * (10 - 15 * s + 6 * s**2), TURN * rate, TURN * 60 * s * (1 - s) * (1 - 2 * s) / SLEW**2


def mass_and_inertia(model):
    """Of both panels; and of all about the hub's axis."""
    panel = model["right panel"].body
    line, end = panel.material.density * panel.section.area, RADIUS + panel.length
    return 2 * line * panel.length, HUB + 2 * line * (end**3 - RADIUS**3) / 3


def satellite(p):
    model = ph.gallery.satellite(hub_inertia=HUB, hub_radius=RADIUS, panel_thickness=p["thickness"], elements=2)
    hub = model["hub"].origin
    pin = model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), hub, name="attitude"))
    _, inertia = mass_and_inertia(model)

    def wheel(t):
        angle, rate, acceleration = wanted(t)
        return p["stiffness"] * angle + p["damping"] * rate + inertia * acceleration

    model.apply(pin.spring(p["stiffness"], name="stiffness"))
    model.apply(pin.damper(p["damping"], name="damping"))
    model.apply(pin.torque(wheel, name="wheel"))
    model.apply(ph.Torque(hub, (0.0, 0.0, SUN), name="sun"))
    return model


# %%
# What it costs: the mass of the panels, and the mean square of the pointing error after the turn. The noise of the
# sensor is white; a rigid satellite makes of it the variance :math:`S (k/d + d/J) / 4`.


def cost(model):
    mass, inertia = mass_and_inertia(model)
    k, d = model.part("stiffness").stiffness, model.part("damping").damping
    error = ph.Cost.integral(
        ph.JointPosition(model.joint("attitude")),
        lambda angle: (angle - TURN) ** 2,
        weight=lambda t: float(t >= SLEW) / (DURATION - SLEW),
    )
    return mass / HEAVY + (error + NOISE * (k / d + d / inertia) / 4) * (1 / WANTED**2)


# %%
# ``ph.Objective`` is the cost as optimisers take it. They work with logarithms here, of the cost as well. The first
# guess is a common rule: a controller five times slower than the panels.

START = {"thickness": 0.025, "stiffness": 290.0, "damping": 670.0}


def improved(start, free):
    """The best that the free parameters make of a design, and its cost."""
    given = {name: start[name] for name in free}
    objective = ph.Objective(lambda p: satellite({**start, **p}), cost, given, duration=DURATION, step=STEP)

    def scaled(change):
        x = objective.start * np.exp(change)
        value, slopes = objective(x)
        return np.log(value), slopes * x / value

    bounds = [(-3.0, 3.0)] * len(free)
    found = minimize(scaled, np.zeros(len(free)), jac=True, bounds=bounds, options={"ftol": 1e-4})
    best = objective.parameters(objective.start * np.exp(found.x))
    return {**start, **best}, float(np.exp(found.fun))


structure, _ = improved(START, ["thickness"])
one_by_one, sequential = improved(structure, ["stiffness", "damping"])
both, together = improved(START, [*START])
ratio = together / sequential

# %%
# The panels of the first way are nearly twice as heavy: they were made stiff for a gentle controller that is no
# longer there. Repeating the first way again and again would lead to the second, in the end.

figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
for name, p in {"first guess": START, "one after the other": one_by_one, "together": both}.items():
    model = satellite(p)
    motion = model.simulate(duration=DURATION, step=STEP, progress=False)
    error = motion.angle(model.joint("attitude")) - wanted(motion.time)[0]
    mass, inertia = mass_and_inertia(model)
    late = motion.time >= SLEW
    noise = NOISE * (p["stiffness"] / p["damping"] + p["damping"] / inertia) / 4
    pointing = np.sqrt(np.mean(error[late] ** 2) + noise)
    print(
        f"{name}: {1000 * p['thickness']:.1f} mm, {mass:.1f} kg, k = {p['stiffness']:.0f}, d = {p['damping']:.0f};"
        f" {1e6 * pointing:.0f} microradian, cost {mass / HEAVY + (pointing / WANTED) ** 2:.2f}"
    )
    axes[0].plot(motion.time, 1000 * error, label=name)
    axes[1].plot(mass, 1e6 * pointing, "o", label=name)
axes[0].set(xlabel="time [s]", ylabel="error [mrad]", ylim=(-1.2, 1.8))
axes[1].set(
    xlabel="mass of the panels [kg]", ylabel="pointing error [microradian]", ylim=(0.0, None), xlim=(0.0, None)
)
shares = np.linspace(0.02, 1.0, 200)
same = 1e6 * WANTED * np.sqrt(together * (1.0 - shares))
axes[1].plot(HEAVY * together * shares, same, "k:", label="the cost of the last")
for each in axes:
    each.legend()
figure.savefig("codesign.png", dpi=120)
print(f"together the cost is {100 * ratio:.0f} % of what it is one after the other")

# %%
# A check from outside: when all is quiet the sun holds against the spring, whatever bends.

rest = model.equilibrium(motion.at(DURATION))
sag = rest.angle(model.joint("attitude")) - TURN
held = SUN / p["stiffness"]
missing = abs(sag - held)
print(f"error at rest {1e6 * sag:.3f} microradian, torque of the sun over stiffness {1e6 * held:.3f}")
