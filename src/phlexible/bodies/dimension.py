"""The plane or space."""

from phlexible.errors import ParameterError


def plane_or_space(dimension: int) -> None:
    """Refuses a dimension that is neither 2 nor 3.

    Raises:
        ParameterError: naming the value.
    """
    if dimension not in (2, 3):
        raise ParameterError(f"dimension must be 2 or 3, got {dimension!r}")
