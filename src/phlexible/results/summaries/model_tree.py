"""A model in words: bodies, joints, loads with their parameters, as tables of text."""

from dataclasses import dataclass

from phlexible.display.written import described, written
from phlexible.mechanism.mechanism import Mechanism


@dataclass(frozen=True)
class Part:
    """One part of a model.

    Attributes:
        heading: name and kind.
        rows: name and value of each parameter that is not None.
    """

    heading: str
    rows: tuple[tuple[str, str], ...]


def model_parts(mechanism: Mechanism) -> dict[str, list[Part]]:
    """All parts of a model, by family; a body placed several times with the same description is told once."""
    bodies = []
    sections = {placed for rod in mechanism.rods for placed in rod.handle.parts}
    for rod in mechanism.rods:
        mass = sum(placed.data.mass for placed in rod.handle.parts)
        place = [("position", written(rod.handle.parts[0].place)), ("sections", str(len(rod.handle.parts)))]
        bodies.append(Part(f"{rod.handle.name}: Rod, {mass:.4g} kg", (*place, *described(rod.handle.body))))
    for placed in (each for each in mechanism.bodies if each not in sections):
        place = [("position", written(placed.place))]
        if placed.data.elastic_count:
            place.append(("coordinates", str(placed.data.elastic_count)))
        heading = f"{placed.name}: {type(placed.body).__name__}, {placed.data.mass:.4g} kg"
        bodies.append(Part(heading, (*place, *described(placed.held))))
    families = {
        "bodies": bodies,
        "joints": [Part(str(joint), tuple(described(joint))) for joint in mechanism.joints],
        "loads": [Part(str(load), tuple(described(load))) for load in mechanism.loads],
        "springs, dampers, motors": [
            Part(str(each), tuple(described(each))) for each in mechanism.applied_elements
        ],
        "drives": [Part(str(drive), tuple(described(drive))) for drive in mechanism.drives],
    }
    return {name: parts for name, parts in families.items() if parts}
