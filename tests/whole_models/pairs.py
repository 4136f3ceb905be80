"""Two flexible links with a joint between them, in every frame, for tests of whole runs."""

import numpy as np

import phlexible as ph

RUBBER = ph.Material(youngs_modulus=1e9, density=1500.0)
PROFILE = ph.RectangularSection(width=0.03, height=0.02)


def two_links(dimension, load=True, gravity=(0.0, -9.81, 0.0), **beam):
    """Links "a" and "b" that turn against each other, pinned in the plane, spherical in space."""
    model = ph.Model(dimension=dimension, gravity=gravity)
    link = ph.Beam(1.0, PROFILE, RUBBER, **{"elements": 2, **beam})
    spins = ((0, 0, 2.0), (0, 0, -3.0)) if dimension == 2 else ((0.3, 1.0, 2.0), (0.5, -2.0, 1.0))
    a = model.add(link, "a", velocity=(0, 0, 0), angular_velocity=spins[0])
    b = model.add(link, "b", position=(1, 0, 0), angular_velocity=spins[1])
    model.connect((ph.Revolute if dimension == 2 else ph.Spherical)(a.end, b.start))
    if load:
        model.apply(ph.Force(b.end, lambda t: (2 * np.sin(5 * t), 3 * np.cos(3 * t), 0.0)))
    return model


def places(model):
    """Attachments whose motion is compared."""
    return model["a"].at(0.5), model["a"].end, model["b"].end


def pendulum_chain(dimension):
    """A rigid and a flexible link that hang from the ground, with a joint between two moving bodies."""
    model = ph.Model(dimension=dimension, gravity=(0.0, -9.81, 0.0))
    inertia = 0.1 if dimension == 2 else (0.01, 0.1, 0.1)
    upper = model.add(ph.RigidBody(1.0, inertia, center=(0.5, 0, 0)), "upper")
    spin = (0, 0, -1.5) if dimension == 2 else (0.4, 2.0, -1.5)
    beam = ph.Beam(1.0, PROFILE, RUBBER, elements=2, modes=2)
    lower = model.add(beam, "lower", position=(1, 0, 0), angular_velocity=spin)
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), upper.origin))
    model.connect((ph.Revolute if dimension == 2 else ph.Universal)(upper.point((1, 0, 0)), lower.start))
    return model
