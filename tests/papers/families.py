"""Small models of everything that bodies and what is between them can be, soft enough that a step resolves them."""

import numpy as np

import phlexible as ph

FALL = (0.5, -9.81, 0.0)
RUBBER = ph.Material(2e6, 1000.0, poissons_ratio=0.3, viscosity=1e-3)


def springs():
    """Beam and rigid bodies with every kind of spring, a torque and a drive."""
    model = ph.Model((1.0, -9.0, 0.0), 2)
    a = model.add(ph.Beam(0.3, ph.CircularSection(6e-3), ph.Material(5e8, 7870.0), elements=2), "a")
    b = model.add(ph.RigidBody(0.4, 0.025, center=(0.1, 0.0, 0)), "b", position=(0.3, 0, 0))
    c = model.add(ph.RigidBody(0.3, 0.025), "c", position=(0.6, 0, 0))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), a.start))
    elbow = model.connect(ph.Revolute(a.end, b.origin))
    rail = model.connect(ph.Prismatic(b.origin, c.origin))
    model.apply(elbow.spring(5.0, rest=0.3, damping=2e-3, potential=ph.Potential(np.cosh, np.sinh)))
    model.apply(pin.torque(lambda t: 0.3 * np.cos(500 * t)))
    model.apply(ph.SpringDamper(a.at(0.1), c.origin, 500.0, 0.2, 0.2))
    model.apply(ph.Bushing(b.origin, model.ground.at((0.3, 0, 0)), 200.0, 0.1, 1.0, 1e-3))
    model.apply(rail.drive(position=lambda t: 0.3 + 0.03 * np.sin(80 * t)))
    return model, a.at(0.15)


def gears():
    """Two wheels out of balance and a rack, a damper on a frame that moves, and a force that knows the state."""
    model = ph.Model(FALL, 2)
    a = model.add(ph.RigidBody(1.0, 0.02, center=(0.1, 0, 0)), "a")
    b = model.add(ph.RigidBody(2.0, 0.03, center=(0, 0.1, 0)), "b", position=(0.5, 0, 0))
    c = model.add(ph.RigidBody(0.5, 0.01), "c", position=(0, -0.4, 0))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), a.origin))
    other = model.connect(ph.Revolute(model.ground.at((0.5, 0, 0)), b.origin))
    rail = model.connect(ph.Prismatic(model.ground.at((0, -0.4, 0)), c.origin))
    model.connect(ph.Gear(pin, other, -0.5))
    model.connect(ph.Rack(pin, rail, 0.05))
    shaken = model.ground.moving(lambda t: (0.1 * np.sin(9 * t), -0.7, 0.0))
    model.apply(pin.torque(3.0))
    model.apply(ph.SpringDamper(shaken, c.origin, 30.0, 2.0, relaxation=ph.Maxwell([(40.0, 0.05)])))
    model.apply(ph.StateForce(lambda t, x, v: -0.3 * x - 0.02 * v, of=[other], on=[other]))
    return model, b.point((0.1, 0.1, 0))


def rolling():
    """A disc out of balance that rolls on a plane, and a nut on a screw that carries a pendulum."""
    model = ph.Model((0.3, 0.2, -9.81))
    body, moving = ph.RigidBody(1.0, (0.01, 0.02, 0.01), center=(0.01, 0.0, 0.0)), {"velocity": (0.4, 0, 0)}
    disc = model.add(body, "disc", position=(0, 0, 0.1), angular_velocity=(0.0, 4.0, 0.3), **moving)
    nut = model.add(ph.RigidBody(0.5, (0.01, 0.01, 0.01), center=(0.1, 0, 0)), "nut", position=(0.5, 0, 0))
    model.connect(ph.Rolling(disc.origin, ph.Plane(model.ground.at((0, 0, 0))), 0.1, axis=(0, 1, 0)))
    thread = model.connect(ph.Cylindrical(model.ground.at((0.5, 0, 0)), nut.origin, axis=(0, 0, 1)))
    model.connect(ph.Screw(thread, 0.2))
    model.apply(ph.Torque(nut.origin, (0.0, 0.01, 0.02), axes="body"))
    model.apply(ph.Force(disc.point((0.05, 0, 0)), lambda t: (0.2 * np.cos(8 * t), 0.0, 0.1), axes="body"))
    return model, disc.point((0.05, 0, 0.05)), nut.point((0.1, 0, 0))


def friction():
    """Joints that creep: dry, viscous, and dry by the force that the joint transmits."""
    model = ph.Model(FALL, 2)
    a = model.add(ph.RigidBody(1.0, 0.02, center=(0.3, 0, 0)), "a")
    b = model.add(ph.RigidBody(1.0, 0.02, center=(0.2, 0, 0)), "b", position=(0.5, 0, 0))
    pin = model.connect(ph.Revolute(model.ground.at((0, 0, 0)), a.origin))
    elbow = model.connect(ph.Revolute(a.point((0.5, 0, 0)), b.origin))
    model.apply(pin.friction(0.5, viscous=0.01, bristle=0, stiction_speed=5.0))
    model.apply(elbow.friction(0.1, coefficient=0.2, radius=0.02, bristle=0, stiction_speed=5.0))
    return model, b.point((0.2, 0, 0))


def contacts():
    """A ball and a block that slide on the ground, a ball that rubs on a ball, one at a piece of a line, a stop."""
    model = ph.Model((0, 0, -9.81))
    sphere = ph.RigidBody.sphere(0.1, density=500.0)
    spin = {"velocity": (1.0, 0.2, 0), "angular_velocity": (1, 2, 3.0)}
    ball = model.add(sphere, "ball", position=(0, 0, 0.098), **spin)
    block = model.add(ph.RigidBody(1.0, (0.01,) * 3), "block", position=(1, 0, -0.004), velocity=(1.0, 0.3, 0))
    upper = model.add(sphere, "upper", position=(0.02, 0.0, 0.295), angular_velocity=(0, 3.0, 0))
    rider = model.add(sphere, "rider", position=(0, 2.0, 1.099), **spin)
    cart = model.add(ph.RigidBody(1.0, (0.01,) * 3), "cart", position=(3, 0, 0), velocity=(1.0, 0, 0))
    floor = ph.Plane(model.ground.at((0, 0, 0)))
    rub = {"friction": 0.2, "bristle": 0, "friction_speed": 0.1}
    model.apply(ph.Contact(ball.origin, floor, 2e4, radius=0.1, damping=2e4, **rub))
    model.apply(ph.Contact(block.origin, floor, 2e3, damping=1e3, **rub))
    lower = ph.Surface(ball.origin, ph.Sphere(0.1))
    model.apply(ph.Contact(upper.origin, lower, 2e4, radius=0.1, **rub, restitution=1))
    rail = ph.Capsule(model.ground.at((-1, 2, 0.9)), model.ground.at((1, 2, 0.9)), 0.1)
    model.apply(ph.Contact(rider.origin, rail, 2e4, radius=0.1, **rub, restitution=1))
    slide = model.connect(ph.Prismatic(model.ground.at((3, 0, 0)), cart.origin))
    model.apply(slide.stop(upper=1e-3, stiffness=2e3, damping=10.0))
    return model, ball.point((0.03, 0, 0.05)), block.origin, upper.point((0.03, 0, 0.05)), rider.point((0.1, 0, 0))


def sticking():
    """A slider and a ball that slip, a block and balls that stick, roll and drill."""
    model = ph.Model((0.5, 0.3, -9.81))
    cart = model.add(ph.RigidBody(1.0, (0.01,) * 3), "cart", position=(3, 0, 0), velocity=(1.0, 0, 0))
    block = model.add(ph.RigidBody(1.0, (0.01,) * 3), "block", position=(1, 0, -0.004), velocity=(0.02, 0.01, 0))
    sphere, away = ph.RigidBody.sphere(0.1, density=500.0), {"angular_velocity": (0.2, -0.1, 0.3)}
    ball = model.add(sphere, "ball", position=(0, 0, 0.098), velocity=(0.01, 0.02, 0), **away)
    upper = model.add(sphere, "upper", position=(0.02, 0.0, 0.295), angular_velocity=(0, 0.3, 0.1))
    fast = model.add(sphere, "fast", position=(0, 1, 0.098), velocity=(2.0, 0, 0), angular_velocity=(0, 0, 3.0))
    rail = model.connect(ph.Prismatic(model.ground.at((3, 0, 0)), cart.origin))
    model.apply(rail.friction(1.0, coefficient=0.4, bristle=2e3))
    model.apply(rail.spring(2e3))
    floor, bristle = ph.Plane(model.ground.at((0, 0, 0))), {"friction": 0.5, "bristle": 2e3}
    turns = {"rolling": 2e-2, "drilling": 2e-2}
    model.apply(ph.Contact(block.origin, floor, 2e3, damping=1e3, **bristle))
    model.apply(ph.Contact(ball.origin, floor, 2e4, radius=0.1, damping=2e4, **bristle, **turns))
    lower, slips = (
        ph.Surface(ball.origin, ph.Sphere(0.1)),
        {"friction": 0.1, "bristle": 2e3, "bristle_damping": 20.0},
    )
    model.apply(ph.Contact(upper.origin, lower, 2e4, radius=0.1, **bristle, **turns, restitution=1))
    model.apply(ph.Contact(fast.origin, floor, 2e4, radius=0.1, **slips, restitution=1))
    return model, cart.origin, block.origin, ball.point((0.03, 0, 0.05)), upper.point((0.03, 0, 0.05)), fast.origin


def string():
    """A rope that hangs from the ground and carries a bob; viscous, of a law that is not quadratic."""
    model = ph.Model(FALL)
    body = ph.String(1.0, 0.2, 4, ph.LogarithmicLaw(200.0), viscosity=1e-3)
    rope = model.add(body, "rope", shape=((0, 0, 0), (1.1, 0, 0)))
    bob = model.add(ph.PointMass(0.3), "bob", position=(1.1, 0, 0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), rope.start))
    model.connect(ph.Spherical(rope.end, bob.origin))
    model.apply(ph.Force(bob.origin, lambda t: (0.0, 0.0, np.sin(5 * t))))
    return model, rope.end


def rod():
    """A rod that bends a lot, held by the ground, with a body on a pin at its end."""
    model = ph.Model(FALL)
    placed = model.add(ph.Rod(1.0, ph.CircularSection(0.04), RUBBER, elements=3), "rod")
    body = model.add(ph.RigidBody(0.5, (0.01, 0.02, 0.03)), "body", position=(1, 0, 0))
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed.start))
    model.connect(ph.Revolute(placed.end, body.origin, axis=(0, 0, 1)))
    model.apply(ph.Torque(body.origin, (0.1, 0.05, 0), axes="body"))
    return model, placed.end, body.point((0.1, 0, 0.1))


def soft():
    """A sheet of rubber in space, held at two corners, with a weight at a third and a pressure that follows."""
    points = [(x, y, 0.0) for y in (0.0, 0.3) for x in (0.0, 0.3, 0.6)]
    triangles = [(0, 1, 4), (0, 4, 3), (1, 2, 5), (1, 5, 4)]
    sheet = ph.SoftBody((points, triangles), ph.NeoHookean(2e5, 0.4), 1000.0, 1e-2, order=1, viscosity=1e-3)
    model = ph.Model((0.0, -1.0, -9.81))
    placed = model.add(sheet, "sheet")
    weight = model.add(ph.PointMass(0.2), "weight", position=(0.6, 0.3, 0))
    for corner in (0, 3):
        node = placed.node(corner)
        model.connect(ph.Spherical(model.ground.at(node.initial_position()), node))
    model.connect(ph.Spherical(placed.node(5), weight.origin))
    model.apply(ph.Pressure(placed, lambda t: 100.0 * np.sin(30 * t)))
    return model, placed.node(2), weight.origin


FAMILIES = {
    "springs, dampers and a drive": (springs, 3e-3),
    "gears": (gears, 0.3),
    "rolling and a screw": (rolling, 0.3),
    "friction of joints": (friction, 0.2),
    "contacts that rub": (contacts, 0.02),
    "friction that sticks": (sticking, 0.02),
    "string": (string, 0.06),
    "rod": (rod, 0.1),
    "soft body": (soft, 0.05),
}
"""Models with points of them, and how long both ways are compared [s]."""
