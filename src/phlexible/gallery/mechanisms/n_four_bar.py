"""A row of parallelograms that passes positions where its links lie in one line."""

import numpy as np

from phlexible.algebra.arrays import finite, positive
from phlexible.bodies.rigid_body import RigidBody
from phlexible.errors import ParameterError
from phlexible.gallery.parameters import ready_model
from phlexible.joints.revolute import Revolute
from phlexible.model import Model
from phlexible.shapes.solids import Box

THICKNESS = 0.01
"""Of the rods over their length; it gives them an inertia about their own axis, which nothing excites."""


@ready_model
def n_four_bar(
    loops: int = 2,
    length: float = 1.0,
    mass: float = 1.0,
    speed: float = 1.0,
    gravity: float = 9.81,
    dimension: int = 2,
) -> Model:
    """Upright cranks on the ground, pinned to a row of coupler rods: all rods equal, thin and rigid.

    Source: multibody benchmark of IFToMM's technical committee, problem A02 (N-four-bar mechanism). Gravity
    along -y; at t = 0 the cranks stand upright and their tips move along x. Twice a turn all rods lie in
    one line, where each loop could also go on as an antiparallelogram.

    Reference: a parallelogram's couplers do not turn, so that with N loops the angle of the cranks from the
    x axis obeys ``((N + 1) / 3 + N) l a'' = -((N + 1) / 2 + N) g cos a``. Solved to 1e-12 with the default
    numbers, the tip of the first crank is at (0.695287, 0.718733) after 0.5 s and at (-0.195021, -0.980799)
    after 1 s. The forces that keep cranks with unequal loads together grow without bound where all rods
    come into one line: one over the angle that is left.

    In space (``dimension=3``) the hinges of each loop hold three motions twice; their forces are then the
    smallest ones.

    Shown by: ``phlexible run n-four-bar``.

    Args:
        loops: N; 2 N + 1 rods move.
        length: of each rod [m].
        mass: of each rod [kg].
        speed: of the tips of the cranks at t = 0, along x [m/s].
        gravity: [m/s2].
        dimension: 2: pins in the plane; 3: the same hinges in space, which are redundant.

    Raises:
        ParameterError: no loop, or lengths and masses out of range.
    """
    if isinstance(loops, bool) or not isinstance(loops, int) or loops < 1:
        raise ParameterError(f"loops must be a whole number of at least 1, got {loops!r}")
    length, mass, speed = positive("length", length), positive("mass", mass), finite("speed", speed)
    across = mass * length**2 / 12
    along = across * 2 * THICKNESS**2
    looks = Box((length, 0.03 * length, 0.03 * length))
    rod = RigidBody(mass, (along, across * (1 + THICKNESS**2), across), center=(length / 2, 0.0, 0.0), shape=looks)
    tip = (length, 0.0, 0.0)
    upright = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])

    model = Model(gravity=(0.0, -gravity, 0.0), dimension=dimension)
    cranks = [
        model.add(
            rod,
            f"crank {k + 1}",
            (k * length, 0.0, 0.0),
            np.pi / 2 if dimension == 2 else upright,
            velocity=(0.0, 0.0, 0.0),
            angular_velocity=(0.0, 0.0, -speed / length),
        )
        for k in range(loops + 1)
    ]
    couplers = [
        model.add(rod, f"coupler {k + 1}", (k * length, length, 0.0), velocity=(speed, 0.0, 0.0))
        for k in range(loops)
    ]
    for k, crank in enumerate(cranks):
        model.connect(Revolute(model.ground.at((k * length, 0.0, 0.0)), crank.origin))
    for k, coupler in enumerate(couplers):
        model.connect(Revolute(cranks[k].point(tip), coupler.origin))
    for k, coupler in enumerate(couplers):
        model.connect(Revolute(coupler.point(tip), cranks[k + 1].point(tip)))
    return model
