"""Fields that say by their types what users may give."""

import pickle
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated

import numpy as np

from phlexible.algebra.arrays import Name, Positive, Vector, convert_fields, option_of


class Side(Enum):
    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, eq=False)
class Wheel:
    radius: Positive
    center: Vector = (0.0, 0.0, 0.0)
    width: Positive | None = None
    side: Annotated[Side | str, option_of(Side)] = Side.LEFT
    name: Name = None

    def __post_init__(self):
        convert_fields(self)


@dataclass(frozen=True, eq=False)
class Tyre(Wheel):
    pressure: Positive = 2


def test_fields_hold_what_their_types_say():
    """Also those of a class that is derived, of a copy and of a pickle."""
    wheel = Tyre(1, [1, 2, 3], side="right", pressure=np.int64(3))
    for each in (wheel, replace(wheel), pickle.loads(pickle.dumps(wheel))):
        assert [type(each.radius), type(each.pressure), each.side] == [float, float, Side.RIGHT]
        assert each.center.tolist() == [1.0, 2.0, 3.0] and each.width is None and each.name is None
