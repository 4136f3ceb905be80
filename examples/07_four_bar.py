"""A four-bar: closing a loop, modes, a driven crank
===================================================

Three flexible links and the ground make a loop. The links are placed by eye, ``assemble`` closes the joints;
then come the natural frequencies, which are known for this linkage, and a run with a driven crank.
"""

# sphinx_gallery_thumbnail_number = 2
import numpy as np

import phlexible as ph

# %%
# The data are those of section 6.1 of Brugnoli et al. (2020): aluminium links, and a mass at each moving pin.

aluminium = ph.Material(youngs_modulus=7.1e10, density=2714.0)


def link(length, area, flexural_rigidity):
    section = ph.Section(area, flexural_rigidity / aluminium.youngs_modulus)
    return ph.Beam(length, section, aluminium, elements=10, rotary_inertia=False)


def four_bar(is_driven):
    model = ph.Model(dimension=2)
    crank = model.add(link(0.108, 1.0774e-4, 11.472), "crank")
    coupler = model.add(link(0.2794, 4.0645e-5, 0.616), "coupler", position=(0.1, 0.0, 0.0), rotation=1.2)
    follower = model.add(link(0.2705, 4.0645e-5, 0.616), "follower", position=(0.2, 0.25, 0.0), rotation=-1.3)
    pin = ph.PointMass(0.042)
    one = model.add(pin, "first pin", position=(0.1, 0.0, 0.0))
    two = model.add(pin, "second pin", position=(0.2, 0.25, 0.0))
    pillar = model.ground.at((0.0, 0.0, 0.0))
    if is_driven:
        hinge = model.connect(ph.Revolute(pillar, crank.start))
        model.apply(hinge.drive(angle=lambda t: 10.0 * t**2))
    else:
        model.connect(ph.Fixed(pillar, crank.start))
    model.connect(ph.Revolute(crank.end, coupler.start))
    model.connect(ph.Revolute(coupler.end, follower.start))
    model.connect(ph.Revolute(follower.end, model.ground.at((0.254, 0.0, 0.0))))
    model.connect(ph.Revolute(coupler.start, one.origin))
    model.connect(ph.Revolute(follower.start, two.origin))
    return model


# %%
# Placed by eye, the joints are open by some centimetres; a run would refuse that and give the gap. ``assemble``
# moves the bodies as little as possible until everything fits. The crank stays where it is.

assembled = four_bar(is_driven=False).assemble(fixed=["crank"])
print(assembled)
model = assembled.model

# %%
# ``linearize`` is the model of small motions, here about the pose itself with the crank clamped. The exact
# pulsations, from dynamic stiffness matrices, are 269.618, 305.716 and 383.353 rad/s.

modes = model.linearize().modes(6)
pulsations = modes.frequencies
print("pulsations [rad/s]:", np.round(pulsations, 3))
modes.plot(path="four_bar_modes.png")

# %%
# In motion: the crank is driven, faster and faster. What the drive takes is known to the last digit, since it
# is all the energy that there is.

moving = four_bar(is_driven=True).assemble(fixed=["crank"]).model
motion = moving.simulate(duration=1.0, step=5e-4)
drive = moving.drives[0]
torque = motion.element_force(drive)
balance = np.abs(motion.energy.balance_error).max() / motion.energy.kinetic.max()
print(f"torque of the drive up to {np.abs(torque).max():.3f} N m, energies balance to {balance:.1e}")
motion.plot("four_bar.png", points=[moving["coupler"].at(0.14), moving["follower"].at(0.135)])
motion.report("four_bar.html", title="A four-bar speeds up")
