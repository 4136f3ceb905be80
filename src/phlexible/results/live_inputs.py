"""Inputs of a live run: constant loads, torques and forces of its model."""

from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, read_only, reals
from phlexible.display import how_many
from phlexible.errors import ParameterError

if TYPE_CHECKING:
    from phlexible.step.integration.stepper import Stepper


class Inputs(MutableMapping[str, Array]):
    """Values of constant loads, torques and forces by their names; a new value holds from the next step on."""

    def __init__(self, stepper: "Stepper", dimension: int) -> None:
        self._known, self._dimension = stepper.inputs, dimension
        self._values = {name: known.value.copy() for name, known in self._known.items()}
        self.is_new = False

    def __getitem__(self, name: str) -> Array:
        """Return the present value of an input (a constant load, torque or joint force) by its name, read-only.
        Shape (1,) of a force or torque in a joint, (3,) of a load [N or N m]."""
        self._check(name)
        return read_only(self._values[name])

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        """Set the input ``name`` of the live run to a ``value``: one number (force or torque in a joint) or
        three (load vector) [N or N m]. It acts from the next time step on.

        Raises:
            ParameterError: no input of that name, not its count of finite numbers, or a force out of the plane of
                a planar model.
        """
        self._check(name)
        wanted = self._values[name].shape
        found = np.atleast_1d(reals(f"input {name!r}", value))
        if found.shape != wanted or not np.isfinite(found).all():
            raise ParameterError(f"input {name!r} takes {how_many(wanted[0], 'finite number')}, got {value!r}")
        if (load := self._known[name].load) is not None:
            load.check_components(found, self._dimension)
        self._values[name], self.is_new = found, True

    def __delitem__(self, name: str) -> None:
        """Raise a ``ParameterError``, since an input (``name``) of a live run cannot be removed but only set
        to zero."""
        raise ParameterError(f"input {name!r} cannot be removed; set it to zero")

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        return f"Inputs({', '.join(f'{name!r}: {value.tolist()}' for name, value in self._values.items())})"

    def changes(self, size: int) -> Array:
        """Return the differences between the present loads of the live run and those of its model, due to all
        inputs. Shape (size,) [N or N m]."""
        total = np.zeros(size)
        for name, (begin, value, _) in self._known.items():
            total[begin : begin + len(value)] = self._values[name] - value
        return total

    def checked_rows(self, name: str, data: ArrayLike, count: int) -> Array:
        """Return the values ``data`` of the input ``name`` for ``count`` mechanisms as an array of shape
        (count, components of the input). Shape and finiteness are checked; a single value is repeated for
        all.

        Raises:
            ParameterError: no input of that name, another shape, numbers that are not finite or not in the plane.
        """
        self._check(name)
        size, values = len(self._values[name]), reals(f"input {name!r}", data)
        shape = (count, size) if size > 1 else (count,)
        if values.shape not in (shape, shape[1:], (count, size)) or not np.isfinite(values).all():
            raise ParameterError(f"input {name!r} takes finite numbers of shape {shape}, got {data!r}")
        rows = np.broadcast_to(values.reshape(-1, size) if values.ndim else values, (count, size))
        if (load := self._known[name].load) is not None:
            load.check_components(rows, self._dimension)
        return rows

    def change_of(self, name: str, rows: Array) -> tuple[slice, Array]:
        """Return a tuple for the input ``name``: its slice of the array of all load values, and ``rows``
        minus the constant values of the model. ``rows`` are values of the input for several mechanisms, shape
        (mechanisms, components), as is the difference [N or N m]."""
        begin, value, _ = self._known[name]
        return slice(begin, begin + len(value)), rows - value

    def set_all(self, values: dict[str, Array]) -> None:
        """Set all inputs of the live run to copies of these values, given by name."""
        self._values, self.is_new = {name: value.copy() for name, value in values.items()}, True

    def copy(self) -> dict[str, Array]:
        """Return copies of the present values of all inputs of the live run, by name."""
        return {name: value.copy() for name, value in self._values.items()}

    def _check(self, name: str) -> None:
        if not isinstance(name, str) or name not in self._known:
            known = ", ".join(repr(each) for each in self._known) or "none"
            raise ParameterError(
                f"no input is named {name!r}; inputs are constant loads, torques and forces of the model: {known}"
            )
