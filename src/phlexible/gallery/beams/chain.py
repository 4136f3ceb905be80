"""A chain of flexible links, in the plane or in space."""

from itertools import pairwise
from operator import index

from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.material import Material
from phlexible.elements.sections import CircularSection
from phlexible.errors import ParameterError
from phlexible.gallery.parameters import ready_model
from phlexible.joints.revolute import Revolute
from phlexible.joints.spherical import Spherical
from phlexible.model import Model


@ready_model
def chain(
    links: int = 5,
    dimension: int = 2,
    elements: int = 4,
    modes: int | None = None,
    link_length: float = 0.2,
    diameter: float = 2e-3,
    youngs_modulus: float = 7.0e10,
    density: float = 2700.0,
    gravity: float = 9.81,
) -> Model:
    """Equal flexible links that hang from the origin, released at rest along +x, gravity along -y.

    The bodies are "link 1" (at the ground) to "link n". Joints are ``Revolute`` in the plane and
    ``Spherical`` in space, where the motion is the same: nothing leaves the plane.

    Source: the falling chain, a usual test of solvers, because the cost a step should grow in
    proportion to the number of links.

    Reference: the energy stays what it was, zero; until elastic waves matter the first reaction of the
    ground on one rigid rod would be m g / 4 upwards, and the plane and the spatial chain agree.

    Shown by: ``phlexible run chain --set links=20``.

    Args:
        links: number of links.
        dimension: 2 or 3.
        elements: of each link.
        modes: bending and torsion modes of each link that are kept; None: all finite element coordinates.
        link_length: of each link [m].
        diameter: of the round section [m].
        youngs_modulus: [Pa].
        density: [kg/m3].
        gravity: [m/s2].
    """
    links = _at_least_one("links", links)
    link = Beam(
        length=link_length,
        section=CircularSection(diameter),
        material=Material(youngs_modulus, density),
        elements=elements,
        frame="simply_supported",
        modes=modes,
    )
    joint = Revolute if dimension == 2 else Spherical
    model = Model(gravity=(0.0, -gravity, 0.0), dimension=dimension)
    bodies = [model.add(link, f"link {k + 1}", position=(k * link.length, 0.0, 0.0)) for k in range(links)]
    model.connect(joint(model.ground.at((0.0, 0.0, 0.0)), bodies[0].start))
    for before, after in pairwise(bodies):
        model.connect(joint(before.end, after.start))
    return model


def _at_least_one(name: str, value: int) -> int:
    """The value as an integer of at least 1."""
    try:
        number = index(value)
    except TypeError:
        raise ParameterError(f"{name} must be an integer of at least 1, got {value!r}") from None
    if number < 1:
        raise ParameterError(f"{name} must be an integer of at least 1, got {value!r}")
    return number
