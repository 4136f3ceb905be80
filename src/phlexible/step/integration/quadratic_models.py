"""Which models the linearly implicit step takes (docs/theory.md, 5)."""

from collections.abc import Iterator

from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.soft_law import QuadraticConstitution
from phlexible.bodies.string_law import StVenantKirchhoffLaw
from phlexible.description.interactions.contact import Contact
from phlexible.description.interactions.functions import AngleCoordinate, DistanceCoordinate
from phlexible.description.interactions.state_force import StateLaw
from phlexible.description.mechanism.mechanism import Mechanism
from phlexible.errors import ModelError
from phlexible.state.system import moving_frames

MARK = "linearly implicit; "
"""What layouts of snapshots of its stepper begin with."""


def check_quadratic(mechanism: Mechanism) -> None:
    """Refuses models whose masses are not constant, or whose strains are not quadratic.

    Raises:
        ModelError: names what does not fit, and the remedy.
    """
    if found := list(dict.fromkeys(_others(mechanism))):
        raise ModelError(
            'scheme="linearly_implicit" is for point masses, strings and soft bodies of the law of St. Venant and'
            " Kirchhoff, springs along positions of joints, joints and loads; this model has "
            f'{", ".join(found)}; take scheme="conserving"'
        )


def _others(mechanism: Mechanism) -> Iterator[str]:
    """What such a step cannot take."""
    dimension = mechanism.dimension
    for placed in mechanism.bodies:
        data = placed.data
        if isinstance(data, AbsoluteBody):
            laws = [isinstance(each.law, StVenantKirchhoffLaw) for each in data.strains]
            laws += [isinstance(each.law, QuadraticConstitution) for each in data.elements]
            if not all(laws):
                yield f"{placed.name} of another law"
        elif data.rotates or data.elastic_count:
            yield f"{placed.name}, whose frame turns or deforms"
    for element in mechanism.elements:
        if isinstance(element, Contact) and element.is_searched:
            yield f"{element} (contact)"
            continue
        for force in element.forces(dimension):
            if isinstance(force.coordinate, AngleCoordinate | DistanceCoordinate):
                yield f"{element}, along a {force.coordinate.name}"
            elif force.potential or force.contact or force.friction or force.is_servo:
                yield f"{element}, whose force is not linear"
            elif isinstance(force.value, StateLaw):
                yield f"{element}, a function of the state"
    for load in mechanism.loads:
        if any(isinstance(entry.value, StateLaw) for entry in load.entries()):
            yield f"{load}, a function of the state"
    yield from (f"{joint}, which is driven" for joint in mechanism.joints if joint.path is not None)
    yield from map(str, mechanism.drives)
    yield from (f"{each}, a relation" for each in mechanism.relations)
    yield from (f"{frame}, which moves" for frame in moving_frames(mechanism))
    yield from (f"the event {event.text}" for event in mechanism.events)
