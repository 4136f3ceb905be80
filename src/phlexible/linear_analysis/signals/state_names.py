"""Names and units of the states of linear models."""

from collections.abc import Iterable

from phlexible.bodies.absolute_body import AbsoluteBody
from phlexible.bodies.mechanics.floating import kept_velocities
from phlexible.interactions.functions import Row
from phlexible.port_hamiltonian.model import StateBlock
from phlexible.ports.attachments import PlacedBody
from phlexible.system.system import System

UNIT_MASS = "kg^0.5 m"
"""Of coordinates in which the mass matrix is the identity."""

UNIT_ENERGY = "J^0.5"
"""Of states x with the energy x.x / 2."""


def body_coordinates(placed: PlacedBody) -> tuple[StateBlock, ...]:
    """One for each component of the body's velocity: small motions in its own axes."""
    data = placed.data
    if isinstance(data, AbsoluteBody):
        return tuple(
            StateBlock(f"{placed.name} node {k} {axis}", "m", 1)
            for k in range(data.node_count)
            for axis in "xyz"[: data.dimension]
        )
    words = ("x", "y", "z", "turn x", "turn y", "turn z")
    units = ("m", "m", "m", "rad", "rad", "rad", *data.coordinate_units)
    names = (*words, *(f"eta {k}" for k in range(data.elastic_count)))
    return tuple(StateBlock(f"{placed.name} {names[k]}", units[k], 1) for k in kept_velocities(data))


def coordinates(system: System) -> tuple[StateBlock, ...]:
    """Those of all bodies."""
    return tuple(block for placed in system.bodies for block in body_coordinates(placed))


def rates(blocks: Iterable[StateBlock]) -> tuple[StateBlock, ...]:
    """The time derivatives of coordinates."""
    return tuple(
        StateBlock(f"rate of {block.name}", "1/s" if block.unit == "1" else f"{block.unit}/s", block.size)
        for block in blocks
    )


def multipliers(system: System) -> tuple[StateBlock, ...]:
    """One for each row of the joints."""
    return tuple(
        StateBlock(f"multiplier {k}: {joint}, {row.label}", row_units(row)[0], 1)
        for k, (joint, row) in enumerate(system.owners)
    )


def row_units(row: Row) -> tuple[str, str]:
    """Units of the multiplier of a joint function and of its rate: a length, or the cosine of an angle."""
    return ("N m", "rad/s") if row.is_angle else ("N", "m/s")


def same_unit(names: Iterable[str], unit: str) -> tuple[StateBlock, ...]:
    """States of one entry each."""
    return tuple(StateBlock(name, unit, 1) for name in names)
