"""State estimation of a flexible arm
=====================================

What a gyro at the hub knows of the tip: a Kalman filter on the reduced model of a flexible arm.

A truth that the filter does not know in full, the nonlinear model with all its coordinates, moves a flexible arm
and shakes its tip with gusts. The filter has a reduced linear model of a few states, the torque of the motor and
two noisy sensors at the hub, an angle and a rate; it estimates the motion of the tip, which nobody measures. Run
it with ``python examples/05_state_estimation.py``; it writes ``state_estimation.png`` into the current folder.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import expm, solve_discrete_are

import phlexible as ph

STEP, DURATION = 2e-3, 4.0
ANGLE_NOISE, RATE_NOISE, GUST = 2e-3, 5e-3, 0.02  # rad, rad/s, N: standard deviations of each sample
rng = np.random.default_rng(1)

# %%
# An aluminium arm of 1 m on a hub, in a horizontal plane. A weak spring centres it, so that all motions are small.


def arm(torque=None, gust=None):
    model = ph.Model(dimension=2)
    hub = model.add(ph.RigidBody(mass=0.5, inertia=2e-2), "hub")
    material = ph.Material(youngs_modulus=7e10, density=2700.0)
    beam = ph.Beam(1.0, ph.RectangularSection(0.004, 0.03), material, elements=8, damping_ratio=0.01)
    placed = model.add(beam, "arm")
    hinge = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), hub.origin))
    model.connect(ph.Fixed(hub.origin, placed.start))
    model.apply(hinge.spring(2.0, damping=0.02))
    if torque is not None:
        model.apply(hinge.torque(torque))
        model.apply(ph.Force(placed.end, gust, axes="body"))
    return model, hinge, placed


# %%
# The truth: a motor that swings the arm, gusts that change at each instant, and what the sensors say of it.

count = int(DURATION / STEP)
gusts = GUST * rng.normal(size=count)


def motor(time):
    return 0.02 * np.sin(2 * np.pi * 0.7 * time) * (time < 2.5)


def wind(time):
    return (0.0, gusts[min(int(time / STEP), count - 1)], 0.0)


model, hinge, placed = arm(motor, wind)
truth = model.simulate(DURATION, STEP, progress=False)
x, y, _ = truth.position(placed.end).T
tip = y
measured = np.stack([truth.angle(hinge), truth.rate(hinge)], axis=1)
measured += rng.normal(size=measured.shape) * (ANGLE_NOISE, RATE_NOISE)

# %%
# The filter's model: the tip and the sensors seen from motor and gusts, reduced to eight states, in steps.

model, hinge, placed = arm()
gust_at = ph.Force(placed.end, (0, 1, 0))
seen = [ph.JointPosition(hinge), ph.JointRate(hinge), ph.Displacement(placed.end, (0, 1, 0))]
linear = model.linearize(inputs=[hinge, gust_at], outputs=seen)
small = linear.reduce(order=8, method="modal").to_state_space()
states = small.nstates
block = np.zeros((states + 2, states + 2))
block[:states, :states], block[:states, states:] = small.A, small.B
moved = expm(block * STEP)
A, (B, G) = moved[:states, :states], moved[:states, states:].T  # one step with inputs held
C, tip_row = np.asarray(small.C)[:2], np.asarray(small.C)[2]

# %%
# Kalman's gain of the steady state, from the strengths of gusts and noise.

Q, R = GUST**2 * np.outer(G, G), np.diag([ANGLE_NOISE**2, RATE_NOISE**2])
P = solve_discrete_are(A.T, C.T, Q + 1e-15 * np.eye(states) * np.trace(Q), R)
gain = P @ C.T @ np.linalg.inv(C @ P @ C.T + R)
expected = np.sqrt(tip_row @ (P - gain @ C @ P) @ tip_row)  # of its own error, by its own books

# %%
# Beside it an observer without measurements, which knows the torque only, and a rigid arm on the measured angle.

estimate, blind = np.zeros(states), np.zeros(states)
estimated, unmeasured = np.zeros(count + 1), np.zeros(count + 1)
for k in range(count + 1):
    estimate = estimate + gain @ (measured[k] - C @ estimate)
    estimated[k], unmeasured[k] = tip_row @ estimate, tip_row @ blind
    torque = motor(k * STEP + STEP / 2)
    estimate, blind = A @ estimate + B * torque, A @ blind + B * torque


def rms(values):
    return float(np.sqrt(np.mean(values[200:] ** 2)))


filtered, open_loop, rigid = rms(estimated - tip), rms(unmeasured - tip), rms(measured[:, 0] - tip)
print(f"motion of the tip: {1e3 * rms(tip):.2f} mm rms, estimated within {1e3 * filtered:.2f} mm rms,")
print(f"by its own books {1e3 * expected:.2f} mm; by the torque alone {1e3 * open_loop:.2f} mm,")
print(f"by the measured angle of a rigid arm {1e3 * rigid:.2f} mm")

figure, axes = plt.subplots(2, 1, figsize=(8, 5), sharex=True, layout="constrained")
axes[0].plot(truth.time, 1e3 * tip, label="tip")
axes[0].plot(truth.time, 1e3 * estimated, "--", label="estimated")
axes[0].set(ylabel="[mm]", title="motion of the tip")
axes[0].legend()
axes[1].plot(truth.time, 1e3 * (measured[:, 0] - tip), lw=0.5, label="rigid arm on the measured angle")
axes[1].plot(truth.time, 1e3 * (unmeasured - tip), label="torque alone")
axes[1].plot(truth.time, 1e3 * (estimated - tip), label="Kalman filter")
axes[1].set(ylabel="error [mm]", xlabel="t [s]")
axes[1].legend(fontsize=8)
figure.savefig("state_estimation.png", dpi=120)
