"""The parameters of the runs of a study: a grid, a list, or random samples."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Protocol

import numpy as np

from phlexible.algebra.arrays import finite
from phlexible.algebra.options import text, whole
from phlexible.errors import ParameterError

Parameters = dict[str, Any]


class Distribution(Protocol):
    """What ``scipy.stats`` gives, for example ``norm(1.0, 0.1)``."""

    def rvs(self, *, size: int, random_state: np.random.Generator) -> Any:
        """So many random numbers."""


def runs_of(
    parameters: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
) -> tuple[list[Parameters], dict[str, list[Any]] | None]:
    """The parameters of all runs in their order, and the values along each axis where they are a grid.

    Raises:
        ParameterError: neither a grid nor a list, or an empty one, or runs that have not the same parameters.
    """
    if isinstance(parameters, Mapping):
        return _grid(parameters)
    if not isinstance(parameters, list | tuple) or not parameters:
        raise ParameterError(
            f"parameters must be a grid such as {{'speed': [1, 2]}} or a list such as [{{'speed': 1}}], got"
            f" {parameters!r}"
        )
    for each in parameters:
        if not isinstance(each, Mapping) or set(each) != set(parameters[0]):
            raise ParameterError(
                f"all runs of a study have the same parameters, got {each!r} and {parameters[0]!r}"
            )
    return [{text("parameter", name): value for name, value in each.items()} for each in parameters], None


def _grid(parameters: Mapping[str, Sequence[Any]]) -> tuple[list[Parameters], dict[str, list[Any]]]:
    axes: dict[str, list[Any]] = {}
    for name, values in parameters.items():
        if not isinstance(values, list | tuple | np.ndarray | range) or len(values) == 0:
            raise ParameterError(f"{name} must be a list of values such as [1.0, 2.0], got {values!r}")
        axes[text("parameter", name)] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if not axes:
        raise ParameterError("a study needs at least one parameter, got {}")
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())], axes


def samples(count: int, seed: int = 0, **ranges: tuple[float, float] | Distribution) -> list[Parameters]:
    """Random parameters for ``study``: the same for the same seed.

    Args:
        count: how many.
        seed: of NumPy's generator.
        ranges: by the name of the parameter (low, high), or a distribution of ``scipy.stats``.

    Raises:
        ParameterError: a range that is neither, or whose ends are the wrong way round.
    """
    number, random = whole("count", count), np.random.default_rng(whole("seed", seed, least=0))
    columns: dict[str, list[float]] = {}
    for name, given in ranges.items():
        if isinstance(given, list | tuple) and len(given) == 2:
            low, high = finite(f"low end of {name}", given[0]), finite(f"high end of {name}", given[1])
            if low > high:
                raise ParameterError(f"{name} must be (low, high) with low <= high, got {given!r}")
            columns[name] = random.uniform(low, high, number).tolist()
        elif hasattr(given, "rvs"):
            columns[name] = np.asarray(given.rvs(size=number, random_state=random), dtype=np.float64).tolist()
        else:
            raise ParameterError(f"{name} must be (low, high) or a distribution of scipy.stats, got {given!r}")
    if not columns:
        raise ParameterError("samples takes ranges by name, such as samples(100, speed=(1.0, 2.0))")
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
