"""How much memory bodies take, told before it is needed."""

from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.body import Body
from phlexible.bodies.rod import Rod
from phlexible.bodies.string import String
from phlexible.errors import ParameterError

MOST_BYTES = 32e9
"""That a body takes without being asked for."""
NUMBER = 8.0
BEAM_MATRICES = 45
"""Dense ones over all coordinates of a beam, measured in a run of one in space with 300 elements."""
STRING_ELEMENT, ROD_ELEMENT, PLATE_ELEMENT = 15e3, 100e3, 145e3
"""Bytes; of a plate measured with 6400 elements, of which factors are kept while its shapes are found."""


def check_size(body: Body | SplitBeam | Rod, dimension: int, is_large: bool) -> None:
    """Refuses a body that takes more memory than most machines have.

    Raises:
        ParameterError: says how much, and how to insist.
    """
    if isinstance(body, SplitBeam):
        needed = body.count * _of_beam(body.part, dimension)
        refuse_large(body.count * body.part.elements, needed, "model.add", is_large)
    elif isinstance(body, Beam):
        refuse_large(body.elements, _of_beam(body, dimension), "model.add", is_large)
    elif isinstance(body, String | Rod):
        each = STRING_ELEMENT if isinstance(body, String) else ROD_ELEMENT
        refuse_large(body.elements, each * body.elements * body.order, "model.add", is_large)


def _of_beam(beam: Beam, dimension: int) -> float:
    coordinates = beam.elements * (3 if dimension == 2 else 6)
    return BEAM_MATRICES * NUMBER * coordinates**2


def refuse_large(elements: object, needed: float, where: str, is_large: bool) -> None:
    """Refuses so many elements that the memory for them is out of reach of most machines.

    Args:
        elements: for the message.
        needed: bytes.
        where: takes large=True.
        is_large: whether it was given.

    Raises:
        ParameterError: says how much, and how to insist.
    """
    if needed > MOST_BYTES and not is_large:
        raise ParameterError(
            f"elements = {elements} take about {needed / 1e9:.3g} GB of memory; take fewer, or insist by"
            f" {where}(..., large=True)"
        )
