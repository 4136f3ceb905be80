"""How much memory bodies may take, told before it is needed."""

from phlexible.errors import ParameterError

MOST_BYTES = 32e9
"""That a body takes without being asked for."""


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
