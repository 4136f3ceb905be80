"""A satellite: from the mechanism to a state space
=================================================

A hub with two flexible panels. Its linear model has named inputs and outputs, modes, responses and, reduced,
a small state space for the design of controllers. At the end the nonlinear satellite answers the same torque.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import lsim

import phlexible as ph

# %%
# Inputs are loads, outputs are sensors: the torque on the hub, its rate, and the acceleration of a tip.

model = ph.gallery.satellite()
hub, tip = model["hub"], model["right panel"].end
axis, across = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)
linear = model.linearize(
    inputs=[ph.Torque(hub.origin, axis)],
    outputs=[ph.AngularVelocity(hub.origin, axis), ph.Acceleration(tip, across)],
)
print(linear)

# %%
# Three rigid motions have no frequency. Modes in which both panels go to the same side do not answer to the torque.

modes = linear.modes(8)
swing = modes.elastic_frequencies[0]
print(f"{modes.rigid_modes} rigid modes; then {np.round(modes.elastic_frequencies, 3)} rad/s")
modes.plot(path="satellite_modes.png")

# %%
# The response over frequency, and a model of eight states in place of hundred that has the same one. Each reduction
# is port-Hamiltonian again and thus passive: it can be controlled without inventing energy.

small = linear.reduce(order=8, method="modal")
omega = np.geomspace(0.3, 60.0, 200)
full, reduced = linear.frequency_response(omega), small.frequency_response(omega)
figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.loglog(omega, full.magnitude[:, 1, 0], label="full model")
axes.loglog(omega, reduced.magnitude[:, 1, 0], "--", label="8 states")
axes.set(xlabel="pulsation [rad/s]", ylabel="tip acceleration / torque")
axes.legend()
figure.savefig("satellite_response.png", dpi=120)
print(f"passive: {small.passivity().is_passive}")

# %%
# ``to_state_space`` is a ``StateSpace`` of python-control with the same names, ready for ``lqr`` and the like.
# Here it answers a torque that turns the satellite by a few degrees.

space = small.to_state_space()
time = np.linspace(0.0, 10.0, 2001)


def torque(t):
    return 2.0 * np.sin(2 * np.pi * t / 10.0)


_, outputs, _ = lsim((space.A, space.B, space.C, space.D), torque(time), time)
predicted = outputs[:, 0]

# %%
# The nonlinear model: a torque is applied to the hub and the mechanism is stepped.

flying = ph.gallery.satellite()
flying.apply(ph.Torque(flying["hub"].origin, lambda t: (0.0, 0.0, torque(t))))
motion = flying.simulate(duration=10.0, step=5e-3)
rate = motion[ph.AngularVelocity(flying["hub"].origin, axis)]
difference = np.abs(rate - predicted).max() / np.abs(rate).max()
print(f"rate of the hub up to {np.abs(rate).max():.4f} rad/s, the small model is off by {100 * difference:.2f} %")
motion.report("satellite.html", title="A satellite turns")
