"""The compiled time step, ready before it is needed."""

from phlexible.algebra.arrays import Array
from phlexible.bodies.rigid_body import RigidBody
from phlexible.interactions.feedback import Feedback
from phlexible.interactions.loads import Force
from phlexible.model import Model


def warm_up() -> None:
    """Load the compiled time step into this process; compile it where no process of this version has done so."""
    model = Model()
    body = model.add(RigidBody(1.0, (1.0, 1.0, 1.0)), "body")
    model.apply(Force(body.origin, Feedback(_nothing, [body.origin])))
    model.simulate(1e-3, 1e-3, progress=False)


def _nothing(time: float, measured: Array) -> tuple[float, float, float]:
    return 0.0, 0.0, 0.0
