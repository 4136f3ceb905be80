"""A robot arm with control
==========================

Two flexible links, a motor in each joint, a payload. The controllers are plain Python functions of time and of what
they measure; they are called once a step and hold their torque during it, as a sampled controller does.
``ph.gallery.robot_arm()`` is the same in space, with six joints.
"""

import numpy as np

import phlexible as ph

# %%
# The mechanism: a hub with the rotor of the first motor, a link, the housing of the second motor, a second
# link, and the hand. A motor needs inertia on both of its sides: the bare end of a beam has next to none.

GRAVITY = 9.81
aluminium = ph.Material(youngs_modulus=7.0e10, density=2700.0, viscosity=2e-5)
tube = ph.RectangularSection(width=0.02, height=0.03)
upper_link, fore_link = ph.Beam(0.6, tube, aluminium, elements=4), ph.Beam(0.5, tube, aluminium, elements=4)

model = ph.Model(gravity=(0.0, -GRAVITY, 0.0), dimension=2)
shoulder = model.add(ph.RigidBody(1.0, 0.1), "shoulder")
upper = model.add(upper_link, "upper arm")
housing = model.add(ph.RigidBody(1.2, 0.02), "elbow housing", position=(0.6, 0.0, 0.0))
rotor = model.add(ph.RigidBody(0.3, 0.02), "elbow rotor", position=(0.6, 0.0, 0.0))
fore = model.add(fore_link, "forearm", position=(0.6, 0.0, 0.0))
hand = model.add(ph.RigidBody(0.8, 2e-3), "hand", position=(1.1, 0.0, 0.0))
first = model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), shoulder.origin))
model.connect(ph.Fixed(shoulder.origin, upper.start))
model.connect(ph.Fixed(upper.end, housing.origin))
second = model.connect(ph.Revolute(housing.origin, rotor.origin))
model.connect(ph.Fixed(rotor.origin, fore.start))
model.connect(ph.Fixed(fore.end, hand.origin))

# %%
# Each motor follows a smooth path to its target with a proportional and a derivative gain. ``measured`` is
# angle and rate of the joint. Controllers have values in runs only, so that the links start unbent, with
# ``initial="quasi_static"`` too.

RISE, TARGETS, STIFFNESS, DAMPING = 0.8, (0.9, -1.4), (900.0, 250.0), (60.0, 12.0)


def servo(joint):
    def controller(time, measured):
        s = min(time / RISE, 1.0)
        angle = TARGETS[joint] * s**3 * (10 - 15 * s + 6 * s**2)
        rate = TARGETS[joint] * 30 * s**2 * (1 - s) ** 2 / RISE
        return STIFFNESS[joint] * (angle - measured[0]) + DAMPING[joint] * (rate - measured[1])

    return controller


motors = [model.apply(joint.motor(servo(k), name=f"motor {k + 1}")) for k, joint in enumerate((first, second))]
motion = model.simulate(duration=2.5, step=1e-3, initial="quasi_static")

# %%
# What remains at the end is the error that carries the weight: gain times error is the static torque, which the
# positions and masses give independently.

error = TARGETS[0] - motion.angle(first)[-1]
places = [
    motion.position(port)[-1, 0]
    for port in (upper.at(0.3), housing.origin, rotor.origin, fore.at(0.25), hand.origin)
]
masses = [0.6 * tube.area * 2700.0, 1.2, 0.3, 0.5 * tube.area * 2700.0, 0.8]
carried, weight = STIFFNESS[0] * error, GRAVITY * np.dot(masses, places)
print(f"torque at the shoulder {carried:.3f} N m, weight asks for {weight:.3f} N m")

# %%
# The ledger books the work of each motor by its name, and what the material took.

for motor in motors:
    print(f"{motor}: {motion.energy.work[str(motor)][-1]:.2f} J")
print(f"dissipated in the links: {motion.energy.dissipated[-1]:.2e} J")
motion.plot("robot_arm.png", points=[upper.end, fore.end])
motion.report("robot_arm.html", title="A robot arm")

# %%
# A controller may also measure elsewhere: ``ph.Feedback(controller, measured=[...])`` takes sensors of other
# joints or of points as values of ``joint.torque`` and ``ph.Force``. The gains alone carry weight and inertia here,
# with errors up to 47 mrad. ``motion.required`` of a driven arm is the torque of the path: the page on inverse
# problems adds it to the controller and starts from the driven arm, ``initial=driven.at(0.0)``.
