"""What ``phlexible.integrate`` returns: states, energies and port values over time, pictures, files."""

import json
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from phlexible.algebra.arrays import Array
from phlexible.algebra.options import file_path
from phlexible.errors import ModelError, ResultFileError
from phlexible.port_hamiltonian.model import Port, StateBlock
from phlexible.results.files.replacing import replacing
from phlexible.results.pictures.house_style import finish, house_style, new_figure, picture_path, plain_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARRAYS = ("time", "states", "inputs", "outputs", "energy", "supplied", "dissipated")
KIND = "phlexible trajectory 1"


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """A motion of a port-Hamiltonian model with n states and m inputs at N + 1 instants.

    Attributes:
        method: that it was integrated with.
        state_blocks: the states by name, in order.
        ports: the inputs and outputs by name, in order.
        time: shape (N + 1,) [s].
        states: x, shape (N + 1, n); multipliers at t = 0 are those of the first step.
        inputs: u, shape (N + 1, m).
        outputs: y, shape (N + 1, m).
        energy: H, shape (N + 1,) [J].
        supplied: work of the inputs since t = 0, sum of h b_i u.y over the stages, shape (N + 1,) [J].
        dissipated: what R took since t = 0, shape (N + 1,) [J].
    """

    method: str
    state_blocks: tuple[StateBlock, ...]
    ports: tuple[Port, ...]
    time: Array
    states: Array
    inputs: Array
    outputs: Array
    energy: Array
    supplied: Array
    dissipated: Array

    def __repr__(self) -> str:
        return f"Trajectory({len(self.time) - 1} steps of {self.method} to t = {self.time[-1]:g} s)"

    @property
    def balance_error(self) -> Array:
        """H - H(0) - supplied + dissipated, shape (N + 1,) [J]: round-off with discrete gradients."""
        return np.asarray(self.energy - self.energy[0] - self.supplied + self.dissipated)

    def state(self, name: str) -> Array:
        """A block of states over time, shape (N + 1, size).

        Raises:
            ModelError: there is none of that name.
        """
        return self.states[:, _place(self.state_blocks, name, "state")]

    def input(self, port: str) -> Array:
        """u of a port over time, shape (N + 1, size).

        Raises:
            ModelError: there is none of that name.
        """
        return self.inputs[:, _place(self.ports, port, "port")]

    def output(self, port: str) -> Array:
        """y of a port over time, shape (N + 1, size).

        Raises:
            ModelError: there is none of that name.
        """
        return self.outputs[:, _place(self.ports, port, "port")]

    def power(self, port: str) -> Array:
        """u.y of a port over time, shape (N + 1,) [W].

        Raises:
            ModelError: there is none of that name.
        """
        return np.asarray((self.input(port) * self.output(port)).sum(axis=1))

    def plot_energy(self, path: str | PathLike[str] | None = None) -> "Figure":
        """Energies over time [J], below them the size of the balance error.

        Raises:
            MissingExtraError: matplotlib is not installed.
            ResultFileError: the picture cannot be written.
        """
        path = picture_path(path)
        with house_style():
            figure = new_figure(5.6, 4.2)
            upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
            for label in ("energy", "supplied", "dissipated"):
                upper.plot(self.time, getattr(self, label), label=label, lw=2.0 if label == "energy" else 1.3)
            upper.set_ylabel("energy [J]")
            upper.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.2)
            lower.semilogy(self.time, np.maximum(np.abs(self.balance_error), np.finfo(float).tiny))
            lower.set_ylim(bottom=1e-18)
            lower.set_ylabel("|balance error| [J]")
            lower.set_xlabel("time [s]")
            return finish(figure, path)

    def plot(self, *names: str, path: str | PathLike[str] | None = None) -> "Figure":
        """States and outputs of ports over time, one picture for each name.

        Args:
            names: of blocks of states or of ports.

        Raises:
            ModelError: no name, or one that is neither.
            MissingExtraError: matplotlib is not installed.
            ResultFileError: the picture cannot be written.
        """
        path = picture_path(path)
        if not names:
            raise ModelError("plot needs the name of a state or port, such as plot('coupler.displacement')")
        curves = [self._curves(name) for name in names]
        with house_style():
            figure = new_figure(5.6, 1.2 + 1.8 * len(names))
            for axes, name, (values, unit) in zip(
                figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0], names, curves, strict=True
            ):
                axes.plot(self.time, values)
                axes.set_ylabel(plain_text(f"{name} [{unit}]" if unit else name))
            axes.set_xlabel("time [s]")
            return finish(figure, path)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a NumPy archive (.npz) that ``Trajectory.load`` and ``numpy.load`` read.

        Raises:
            ResultFileError: the disk refuses.
        """
        names = {
            "kind": KIND,
            "method": self.method,
            "states": [[b.name, b.unit, b.size] for b in self.state_blocks],
            "ports": [[p.name, p.input_unit, p.output_unit, p.size] for p in self.ports],
        }
        with replacing(Path(file_path("path", path))) as draft, open(draft, "wb") as file:
            np.savez_compressed(
                file, names=np.array(json.dumps(names)), **{name: getattr(self, name) for name in ARRAYS}
            )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Reads what ``save`` wrote.

        Raises:
            ResultFileError: the file cannot be read, or is none of these.
        """
        place = Path(file_path("path", path))
        try:
            with np.load(place, allow_pickle=False) as file:
                names = json.loads(str(file["names"]))
                arrays = {name: np.asarray(file[name], dtype=np.float64) for name in ARRAYS}
            assert names["kind"] == KIND
            states = tuple(StateBlock(*each) for each in names["states"])
            ports = tuple(Port(*each) for each in names["ports"])
            return cls(names["method"], states, ports, **arrays)
        except OSError as error:
            raise ResultFileError(f"cannot read {place}: {error.strerror or error}") from error
        except Exception as error:
            raise ResultFileError(f"{place} is no trajectory of phlexible: {error}") from error

    def _curves(self, name: str) -> tuple[Array, str]:
        """Values and unit of a state or of the output of a port."""
        for block in self.state_blocks:
            if block.name == name:
                return self.state(name), block.unit
        for port in self.ports:
            if port.name == name:
                return self.output(name), port.output_unit
        known = ", ".join([*(b.name for b in self.state_blocks), *(p.name for p in self.ports)])
        raise ModelError(f"no state or port is named {name!r}; there are: {known}")


def _place(parts: tuple[StateBlock, ...] | tuple[Port, ...], name: str, what: str) -> slice:
    begin = 0
    for part in parts:
        if part.name == name:
            return slice(begin, begin + part.size)
        begin += part.size
    known = ", ".join(part.name for part in parts) or "none"
    raise ModelError(f"no {what} is named {name!r}; the trajectory has: {known}")
