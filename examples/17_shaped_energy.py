"""A flexible arm that falls into its target
=========================================

A motor shall lift a limp arm with a load and hold it. Energy shaping (IDA-PBC) gives the hinge a potential whose
minimum, with all weights, is the wanted pose, and a damper: arm and motor then are one system whose energy can only
fall. A PD controller has the same gains. Which is better, and by which measure?
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import phlexible as ph

TARGET, STIFFNESS, DAMPING = 0.6, 30.0, 6.0  # [rad], [N m/rad], [N m s/rad]
DURATION, STEP = 3.0, 5e-3

# %%
# The arm starts level and at rest. Its beam has three modes; the rotor of the motor sits in the hinge.


def arm():
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    aluminium = ph.Material(7e10, 2700.0)
    beam = ph.Beam(0.8, ph.RectangularSection(12e-3, 0.03), aluminium, elements=4, frame="cantilever", modes=3)
    rotor = model.add(ph.RigidBody(0.5, 0.05), "rotor")
    link = model.add(beam, "link")
    load = model.add(ph.PointMass(0.5), "load", position=(0.8, 0.0, 0.0))
    model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), rotor.origin, name="hinge"))
    model.connect(ph.Fixed(rotor.origin, link.start))
    model.connect(ph.Spherical(link.end, load.origin))
    return model


# %%
# The shape holds the weight, of which it knows masses and centers, and the torque by which the bent beam would miss
# the target; it is found from equilibria.

shaped = arm()
shape = ph.energy_shaping(shaped, shaped.joint("hinge"), TARGET, stiffness=STIFFNESS, damping=DAMPING)
shaped.apply(shape)
rest = shaped.equilibrium()
miss = rest.angle(shaped.joint("hinge")) - TARGET
print(f"the minimum of the energy is {miss:.0e} rad from the target, and stable: {rest.is_stable}")

# %%
# The rivals: a PD controller that knows no weights, and one that adds the torque of the shape. Both are sampled, as
# controllers in computers are.


def law(weight):
    a, b = shape.weight

    def torque(t, seen):
        own = b * np.cos(seen[0]) - a * np.sin(seen[0]) + shape.offset
        return STIFFNESS * (TARGET - seen[0]) - DAMPING * seen[1] + weight * own

    return torque


def controlled(weight, period):
    model = arm()
    hinge = model.joint("hinge")
    model.apply(hinge.torque(ph.Feedback(law(weight), [hinge], period=period)))
    return model


# %%
# The measure is the energy that the shaped loop would have in the same state, above that of its rest: what is still
# to be taken away. It counts motion, bending, height, and the distance in the hinge.

models = {
    "shaped": shaped,
    "PD, 200 Hz": controlled(0.0, 5e-3),
    "PD and weight, 200 Hz": controlled(1.0, 5e-3),
    "PD and weight, 100 Hz": controlled(1.0, 1e-2),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
left, total = {}, {}
for name, model in models.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the last one swings out of all bounds, of which phlexible warns
        motion = model.simulate(DURATION if "100" not in name else 1.2, STEP, progress=False)
    angle, energy = motion.angle(model.joint("hinge")), motion.energy
    stored = energy.kinetic + energy.strain + energy.gravity + [shape.potential.energy_at(x) for x in angle]
    stored -= rest.potential_energy
    left[name], total[name] = stored[-1], float(np.trapezoid(stored, motion.time))
    print(f"{name}: {left[name]:.1e} J left at {motion.time[-1]:g} s, {total[name]:.2f} J s")
    axes[0].plot(motion.time, angle, label=name)
    axes[1].semilogy(motion.time, np.maximum(stored, 1e-6), label=name)
    if name == "shaped":
        risen = max(0.0, float(np.diff(energy.total).max() / stored[0]))
axes[0].axhline(TARGET, color="gray", lw=0.5)
axes[0].set(xlabel="time [s]", ylabel="angle of the hinge [rad]", ylim=(-0.1, 0.9))
axes[1].set(xlabel="time [s]", ylabel="energy to be taken away [J]")
axes[1].legend()
figure.savefig("shaped_energy.png", dpi=120)

# %%
# PD alone sags under the weight. With the weight it is the same law as the shape, and, sampled fast enough, as
# good: in one joint the shape is no better a controller, but one with a certificate. No sampling, step or flexible
# mode can make it unstable; at 100 Hz the sampled law feeds the arm.

share, same = total["shaped"] / total["PD, 200 Hz"], total["PD and weight, 200 Hz"] / total["shaped"]
print(f"energy times time: the shape has {share:.2f} of the PD's, the PD with the weight {same:.2f} of the shape's")
print(f"the greatest rise of the shaped energy in a step is {risen:.0e} of it")
