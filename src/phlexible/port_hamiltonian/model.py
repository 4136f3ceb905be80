"""The contract of a port-Hamiltonian descriptor model (docs/theory.md, 1)::

    E(x) dx/dt = (J(x) - R(x)) z(x) + B(x) u,   y = B(x)^T z(x),   E(x)^T z(x) = grad H(x)
    J = -J^T,  R = R^T >= 0    =>   dH/dt = u.y - z^T R z

(16), (30) of Brugnoli et al. (2020), who write **e** for the state x and **z** for the effort. A row of
E that is zero is an algebraic equation; the state that belongs to it is a multiplier.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError

Matrix: TypeAlias = Any
"""A NumPy array or a SciPy sparse array of shape (rows, columns)."""


@dataclass(frozen=True)
class StateBlock:
    """Successive entries of the state that belong together.

    Attributes:
        name: unique in its model.
        unit: of the entries, "" where they differ.
        size: number of entries.
    """

    name: str
    unit: str
    size: int


@dataclass(frozen=True)
class Port:
    """Inputs u and their collocated outputs y; u.y is a power [W].

    Attributes:
        name: unique in its model.
        input_unit: of u, for example "N".
        output_unit: of y, for example "m/s".
        size: number of inputs, and of outputs.
        mass: M_d or M_b of Remark 4, shape (size, size): the outputs are ``y = mass @ coordinates``,
            where the coordinates are those of the output field; None: the identity.
    """

    name: str
    input_unit: str
    output_unit: str
    size: int
    mass: Matrix | None = field(default=None, compare=False, repr=False)


class PortHamiltonianModel(ABC):
    """E, J, R, B, z and H as functions of the state x, shape (n,); m inputs. No time, no solver.

    Attributes:
        states: the entries of x by name, in order.
        ports: the columns of B by name, in order.
    """

    states: tuple[StateBlock, ...]
    ports: tuple[Port, ...]

    @abstractmethod
    def descriptor_matrix(self, x: Array) -> Matrix:
        """E(x), shape (n, n)."""

    @abstractmethod
    def structure_matrix(self, x: Array) -> Matrix:
        """J(x) = -J(x)^T, shape (n, n)."""

    @abstractmethod
    def dissipation_matrix(self, x: Array) -> Matrix:
        """R(x) = R(x)^T >= 0, shape (n, n)."""

    @abstractmethod
    def port_matrix(self, x: Array) -> Matrix:
        """B(x), shape (n, m)."""

    @abstractmethod
    def effort(self, x: Array) -> Array:
        """z(x) with E^T z = grad H, shape (n,)."""

    @abstractmethod
    def storage(self, x: Array) -> float:
        """H(x) [J]."""

    def force_slope(self, x: Array) -> Matrix | None:
        """d((J - R) z)/dx, shape (n, n), where E and B are constant; None: not written out."""
        return None

    @property
    def state_size(self) -> int:
        """n."""
        return sum(block.size for block in self.states)

    @property
    def port_size(self) -> int:
        """m."""
        return sum(port.size for port in self.ports)

    def output(self, x: Array) -> Array:
        """y = B^T z, shape (m,)."""
        return np.asarray(self.port_matrix(x).T @ self.effort(x))

    def forces(self, x: Array, u: Array) -> Array:
        """(J - R) z + B u, which is E dx/dt, shape (n,)."""
        z = self.effort(x)
        structure = self.structure_matrix(x) @ z - self.dissipation_matrix(x) @ z
        return np.asarray(structure + self.port_matrix(x) @ u)

    def state_slice(self, name: str) -> slice:
        """Where a block sits in x.

        Raises:
            ModelError: there is none of that name.
        """
        return _slice(self.states, name, "state")

    def port_slice(self, name: str) -> slice:
        """Which columns of B, entries of u and of y belong to a port.

        Raises:
            ModelError: there is none of that name.
        """
        return _slice(self.ports, name, "port")

    def port(self, name: str) -> Port:
        """The port of that name.

        Raises:
            ModelError: there is none.
        """
        self.port_slice(name)
        return next(port for port in self.ports if port.name == name)

    def output_coordinates(self, x: Array, name: str) -> Array:
        """Coordinates of the output field of a port, without the mass matrix (Remark 4), shape (size,)."""
        port, output = self.port(name), self.output(x)[self.port_slice(name)]
        if port.mass is None:
            return output
        mass = port.mass if isinstance(port.mass, np.ndarray) else port.mass.toarray()
        return np.asarray(np.linalg.solve(mass, output))


class DiscreteGradientModel(PortHamiltonianModel):
    """A model with constant E and B whose effort has a discrete counterpart for a step from x0 to x1."""

    @abstractmethod
    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """z(x0, x1) with E^T z . (x1 - x0) = H(x1) - H(x0) and z(x, x) = z(x), shape (n,)."""

    @abstractmethod
    def force_slope(self, x: Array) -> Matrix:
        """d((J - R) z)/dx, shape (n, n)."""


def check_model(name: str, value: object) -> None:
    """Refuses what is no port-Hamiltonian model.

    Raises:
        ModelError: says what came.
    """
    if not isinstance(value, PortHamiltonianModel):
        raise ModelError(
            f"{name} must be a port-Hamiltonian model such as model.linearize() returns, got {value!r}"
        )


def check_names(parts: Iterable[StateBlock | Port], what: str) -> None:
    """Refuses a name that occurs twice.

    Raises:
        ModelError: naming it.
    """
    seen: set[str] = set()
    for part in parts:
        if part.name in seen:
            raise ModelError(
                f"two {what}s are named {part.name!r}; give the models prefixes first: with_prefix(model, 'crank')"
            )
        seen.add(part.name)


def _slice(parts: tuple[StateBlock, ...] | tuple[Port, ...], name: str, what: str) -> slice:
    begin = 0
    for part in parts:
        if isinstance(name, str) and part.name == name:
            return slice(begin, begin + part.size)
        begin += part.size
    known = ", ".join(part.name for part in parts) or "none"
    raise ModelError(f"no {what} is named {name!r}; the model has: {known}")
