"""Entries of the gallery, which the command line runs and judges; checks of parameters, and shared motions."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Any, ParamSpec, get_args, get_type_hints

import numpy as np

from phlexible.algebra.arrays import finite, text, vector, whole
from phlexible.errors import ParameterError
from phlexible.model import Model

TOPICS: Mapping[str, str] = {
    "mechanisms": "Mechanisms",
    "beams": "Beams",
    "machines": "Machines",
    "plates": "Plates",
    "rigid_bodies": "Rigid bodies, tops and balls",
    "strings": "Strings and cables",
    "rods": "Rods",
    "shells": "Shells",
    "soft_bodies": "Soft bodies",
    "contacts": "Contact and friction",
}
"""Of the models, by the file that they are in."""


@dataclass(frozen=True)
class BeamPoint:
    """A point on the axis of a beam whose elastic displacement is worth looking at.

    Attributes:
        body: name of the beam in the model.
        fraction: place along the beam, 0 at its start and 1 at its end.
    """

    body: str
    fraction: float


@dataclass(frozen=True)
class Reference:
    """Extreme transverse displacements u_y / L of a point, from outside of this package.

    Attributes:
        source: where the numbers come from.
        point: that they belong to.
        duration: from t = 0 that they were taken over [s].
        greatest: largest u_y / L.
        smallest: smallest u_y / L.
        allowed: parameters that may differ from the defaults, with the values for which the numbers
            hold (None: any value).
        required: parameters that must have this value.
    """

    source: str
    point: BeamPoint
    duration: float
    greatest: float
    smallest: float
    allowed: Mapping[str, tuple[object, ...] | None] = field(default_factory=dict)
    required: Mapping[str, object] = field(default_factory=dict)

    def holds(self, parameters: Mapping[str, object], defaults: Mapping[str, object]) -> bool:
        """Return whether these reference values apply to a model of the gallery with the given ``parameters``.
        Parameters in ``required`` must have that value, parameters in ``allowed`` one of its values (None: any),
        all others their default."""
        for name, default in defaults.items():
            value = parameters.get(name, default)
            if name in self.required:
                if value != self.required[name]:
                    return False
            elif name in self.allowed:
                values = self.allowed[name]
                if values is not None and value not in values:
                    return False
            elif value != default:
                return False
        return True


@dataclass(frozen=True)
class GalleryEntry:
    """A model that can be run by name.

    Attributes:
        function: builds the model from keyword parameters.
        duration: of a run that shows something [s].
        step: that resolves it [s].
        points: whose displacement is summarised and plotted.
        references: numbers to compare with.
        operating_point: what the modes of the command line are about.
    """

    function: Callable[..., Model]
    duration: float
    step: float
    points: tuple[BeamPoint, ...] = ()
    references: tuple[Reference, ...] = ()
    operating_point: str = "given"

    @property
    def name(self) -> str:
        """Return the name of this ready model on the command line: that of its function, with hyphens."""
        return self.function.__name__.replace("_", "-")

    @property
    def topic(self) -> str:
        """Return the topic under which this ready model is listed, such as "Beams", by the file that it is in."""
        return TOPICS[self.function.__module__.split(".")[-1]]

    @property
    def title(self) -> str:
        """Return the first line of the docstring of this ready model's function, which lists show."""
        return (self.function.__doc__ or "").strip().splitlines()[0]


P = ParamSpec("P")


def ready_model(**entry: Any) -> Callable[[Callable[P, Model]], Callable[P, Model]]:
    """Decorator that makes a function which builds a model an entry of the gallery. Calls then check and convert
    their arguments by the annotations; ParameterError is raised for unknown parameters and wrong values. ``entry``
    has the fields of the ``GalleryEntry``, such as duration and time step, which is stored as attribute ``entry``.

    The function refuses parameters that it does not have, or that are of another kind than annotated.

    Args:
        entry: fields of its ``GalleryEntry`` beside the function.
    """

    def decorated(function: Callable[P, Model]) -> Callable[P, Model]:
        @functools.cache
        def declared() -> tuple[inspect.Signature, dict[str, Any]]:
            return inspect.signature(function), get_type_hints(function)

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> Model:
            signature, hints = declared()
            try:
                given = signature.bind(*args, **kwargs).arguments
            except TypeError as error:
                known = ", ".join(signature.parameters)
                raise ParameterError(f"{function.__name__} {error}; its parameters are {known}") from None
            values: Any = {name: _checked(name, value, hints[name]) for name, value in given.items()}
            return function(**values)  # type: ignore[call-arg]  # they are those of the signature

        vars(checked)["entry"] = GalleryEntry(checked, **entry)
        return checked

    return decorated


def _checked(name: str, value: object, kind: object) -> object:
    """Return an argument ``value`` of a gallery function, checked and converted as its type annotation ``kind``
    says: a finite number, a whole number, a text or a vector of three. None is returned where it is allowed;
    values with other annotations are returned unchanged. ParameterError, with ``name``, is raised if the
    conversion fails."""
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    if value is None and NoneType in kinds:
        return None
    if float in kinds:
        return finite(name, value)  # type: ignore[arg-type]
    if int in kinds:
        return whole(name, value, least=0)
    if str in kinds:
        return text(name, value)
    if any(get_args(each) == (float, float, float) for each in kinds):
        return tuple(vector(name, value).tolist())  # type: ignore[arg-type]
    return value


Place = tuple[float, float, float]


def smooth_step(time: float, begin: float, end: float) -> float:
    """Return the value of a cubic step function at a ``time``: 0 until ``begin``, 1 from ``end`` on. In between it
    is x^2 (3 - 2 x) with x = (time - begin) / (end - begin)."""
    x = min(max((time - begin) / (end - begin), 0.0), 1.0)
    return x * x * (3 - 2 * x)


def smoother_step(x: Any) -> Any:
    """Return a polynomial of degree 5 of ``x`` (a number or an array, between 0 and 1) that rises from 0 to 1. Its
    slope and its curvature are zero at both ends."""
    return x**3 * (10 - 15 * x + 6 * x**2)


def run_up(speed: float, rise: float) -> Callable[[float], float]:
    """Return a function of time, the angle of a motor [rad]. Its angular velocity grows linearly from rest to
    ``speed`` [rad/s] at the time ``rise`` [s] and stays constant."""

    def angle(time: float) -> float:
        rising = min(time, rise)
        return speed * (0.5 * rising * rising / rise + time - rising)

    return angle


def smooth_run_up(speed: float, rise: float) -> Callable[[Any], Any]:
    """Return a function of time (a number or an array), the angle of a hub [rad]. Its angular velocity grows from
    rest to ``speed`` [rad/s] at the time ``rise`` [s] without a jump of its angular acceleration, and stays
    constant."""

    def angle(time: Any) -> Any:
        s = np.minimum(time, rise)
        turned = s**2 / 2 + (rise / (2 * np.pi)) ** 2 * (np.cos(2 * np.pi * s / rise) - 1)
        return speed / rise * turned + speed * (time - s)

    return angle


def around_circle(radius: float, omega: float) -> tuple[Callable[[float], Place], Callable[[float], Place]]:
    """Return two functions of time, position [m] and velocity [m/s] of a point that moves on a circle at constant
    speed. The circle is about the origin in the xy plane; the point starts on the x axis. ``omega`` is the angular
    velocity [rad/s]."""

    def position(time: float) -> Place:
        return radius * np.cos(omega * time), radius * np.sin(omega * time), 0.0

    def velocity(time: float) -> Place:
        return -radius * omega * np.sin(omega * time), radius * omega * np.cos(omega * time), 0.0

    return position, velocity
