"""Forces spread along a beam or rod."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import ANY_SIZE, Array, finite, numbers, vector
from phlexible.algebra.options import option
from phlexible.algebra.user_functions import check_callable
from phlexible.bodies.beam.beam import Beam, SplitBeam
from phlexible.bodies.rod.node import RodNode
from phlexible.bodies.rod.rod import Rod
from phlexible.elements.quadrature import gauss
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.loads import Axes, Force, Load, PointLoad
from phlexible.ports.attachments import PlacedBody
from phlexible.ports.placed_whole import PlacedWhole, line_parts

Distribution = Callable[[float, float], ArrayLike]

POINTS = 3  # Gauss points an element: exact for the cubic shape functions under loads up to quadratic


@dataclass(frozen=True, eq=False, repr=False)
class DistributedForce(Load):
    """A force per length [N/m of the undeformed axis] along a beam, a rod or a part of it.

    The consistent nodal load: its work is that of the force at three Gauss points of every element,
    which the ledger holds to round-off.

    Attributes:
        body: the beam, also one that was added in parts, or the rod.
        value: shape (3,); a function ``f(x, t)`` of the place [m] and the time [s] that returns it; or
            with ``at`` a table of shape (k, 3), linear between its places and constant in time.
        axes: "world", or "body": turning with the section at each place (a follower load, like a
            pressure, which times the width of the beam is a force per length).
        at: the places of the table along the beam, ascending, shape (k,) [m]; nothing acts beyond them.
        start, end: where the load begins and ends along the beam [m]; None: at the ends of the beam.
            A function that jumps along x is best given as two loads.

    Raises:
        ModelError: no beam.
        ParameterError: values or places of a wrong shape, not finite, or off the beam.
    """

    body: PlacedBody | PlacedWhole
    value: ArrayLike | Distribution
    axes: Axes | str = Axes.WORLD
    at: ArrayLike | None = field(default=None, kw_only=True)
    start: float | None = field(default=None, kw_only=True)
    end: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        is_beam = isinstance(self.body, PlacedWhole) or (
            isinstance(self.body, PlacedBody) and isinstance(self.body.body, Beam)
        )
        if not is_beam:
            raise ModelError(
                f"{type(self).__name__} acts on a beam or rod that model.add returned, got {self.body!r}"
            )
        super().__post_init__()
        object.__setattr__(self, "axes", option("axes", self.axes, Axes))
        if self.at is not None:
            self._check_table()
        elif callable(self.value):
            check_callable(f"value of {self}", self.value, "x", "time")
        else:
            vector(f"value of {self}", self.value)
        begin, end = self.extent
        if not 0 <= begin < end <= self._length * (1 + ROUND_OFF):
            raise ParameterError(
                f"{self} must act within 0 <= start < end <= {self._length:g} (the length of the beam),"
                f" got {begin:g} to {end:g}"
            )
        self.entries()
        if callable(self.value):
            for placed, _ in line_parts(self.body):
                placed.expect(self)

    @property
    def extent(self) -> tuple[float, float]:
        """Where the load begins and ends along the beam [m]."""
        if self.at is not None:
            places = np.asarray(self.at, dtype=np.float64)
            return float(places[0]), float(places[-1])
        begin = 0.0 if self.start is None else finite("start", self.start)
        return begin, self._length if self.end is None else finite("end", self.end)

    def entries(self) -> tuple[PointLoad, ...]:
        """Forces at the Gauss points."""
        return self._entries

    def quadrature(self) -> tuple[Array, Array]:
        """Places along the beam and weights, each of shape (points,) [m]."""
        places, weights = zip(*(each[2:] for each in self._points()), strict=True)
        return np.array(places), np.array(weights)

    def __repr__(self) -> str:
        return self.name or f"distributed force on {self.body.name}"

    @cached_property
    def _entries(self) -> tuple[PointLoad, ...]:
        found = []
        for placed, local, x, weight in self._points():
            name = f"{self} at x = {x:g} m"
            found.append(Force(placed.at(local), self._force(x, weight), self.axes, name=name))
            placed.receive(found[-1])  # with this load
        return tuple(found)

    def _points(self) -> list[tuple[PlacedBody, float, float, float]]:
        """The part, the place on it, the place on the whole beam and the weight of each Gauss point."""
        begin, end = self.extent
        shares, weights = gauss(POINTS)
        points = []
        for placed, offset in line_parts(self.body):
            beam = placed.body
            assert isinstance(beam, Beam | RodNode)
            nodes = offset + np.linspace(0.0, beam.length, beam.elements + 1)
            kinks = [begin, end] if self.at is None else np.asarray(self.at, dtype=np.float64).tolist()
            inner = [x for x in kinks if nodes[0] < x < nodes[-1]]
            cuts = np.unique(np.concatenate([nodes[(nodes >= begin) & (nodes <= end)], inner]))
            for left, right in pairwise(cuts):
                if right - left > ROUND_OFF * self._length:
                    for share, weight in zip(shares, weights, strict=True):
                        x = float(left + share * (right - left))
                        points.append((placed, x - offset, x, float(weight * (right - left))))
        return points

    def _force(self, x: float, weight: float) -> Any:
        """What a Gauss point carries: three numbers, or a function of time that also takes many times."""
        if not callable(self.value):
            if self.at is None:
                return weight * np.asarray(self.value, dtype=np.float64)
            places, table = (np.asarray(each, dtype=np.float64) for each in (self.at, self.value))
            return weight * np.array([np.interp(x, places, column) for column in table.T])
        return _ForceAt(self, x, weight)

    def _check_table(self) -> None:
        if callable(self.value):
            raise ParameterError(
                f"{self}: at= are the places of a table of values, got the function {self.value!r}"
            )
        assert self.at is not None
        places, table = numbers("at", self.at), numbers(f"value of {self}", self.value, "a table (k, 3)")
        if self.start is not None or self.end is not None:
            raise ParameterError(f"{self}: a table begins and ends where its places at= do; leave start and end")
        if places.ndim != 1 or len(places) < 2 or table.shape != (len(places), 3):
            raise ParameterError(
                f"{self}: a table needs at least two places at= and as many rows of three numbers,"
                f" got shapes {places.shape} and {table.shape}"
            )
        if not (np.isfinite(places).all() and np.isfinite(table).all() and (np.diff(places) > 0).all()):
            raise ParameterError(f"{self}: places at= must ascend, and all numbers must be finite")

    @property
    def _length(self) -> float:
        body = self.body.body
        assert isinstance(body, Beam | SplitBeam | Rod)
        return float(body.length)


ROUND_OFF = 1e-12


@dataclass(frozen=True, eq=False)
class _ForceAt:
    """What a Gauss point carries of a load that is a function, as a function of time."""

    load: DistributedForce
    x: float
    weight: float

    def __call__(self, time: float) -> Any:
        assert callable(self.load.value), "other loads are numbers"
        value = self.load.value(self.x, time)
        try:
            return [self.weight * numbers("component", component, largest=ANY_SIZE) for component in value]  # type: ignore[union-attr]
        except (TypeError, ParameterError):
            raise ParameterError(
                f"{self.load} at x = {self.x:g} m must be a function f(x, t) of three numbers, got {value!r}"
            ) from None
