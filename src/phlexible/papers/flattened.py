"""A composed model as its parts and one skew matrix between their ports: the fast way to all products.

Each part has inputs and outputs of the same numbers; each multiplier counts as one more: its output is its own
value, its input the row of the equations that belongs to it. Then a transformer, a gyrator and an exchange of
input and output, (38)-(44) of Brugnoli et al. (2020), say the same; k, a, b are numbers, L new multipliers::

    input = K(x) output + outer inputs,    K skew
    gyrator:      K[a, b] = -C,  K[b, a] = C^T
    transformer:  K[a, L] = -C,  K[L, a] = C^T,  K[b, L] = I,  K[L, b] = -I
    exchange:     K[k, L] = I,   K[L, k] = -I,   and L stands for the port from then on
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array, IntArray
from phlexible.port_hamiltonian.interconnection import ConnectionKind, Interconnection, Inverted
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import Matrix, MorePorts, Port, PortHamiltonianModel, Renamed, StateBlock

TRIALS = 2
DENSE = 300


@dataclass(frozen=True, eq=False)
class Turning:
    """A coupling that depends on states: K[rows, columns] = -C(x), K[columns, rows] = C(x)^T.

    Attributes:
        matrix: C of the states of the whole.
        rows, columns: numbers, shapes of the two sides of C.
        entries: of the state, those that C may depend on.
    """

    matrix: Callable[[Array], Array]
    rows: IntArray
    columns: IntArray
    entries: slice


class Flattened(PortHamiltonianModel):
    """A model of parts; its states and ports are those of the composed model.

    Args:
        model: composed or not.
        part: what takes the place of a part (a faster model of the same matrices).
    """

    def __init__(
        self, model: PortHamiltonianModel, part: Callable[[PortHamiltonianModel], PortHamiltonianModel]
    ) -> None:
        self.model = model
        self.states: tuple[StateBlock, ...] = model.states
        self.ports: tuple[Port, ...] = model.ports
        self.parts: list[tuple[PortHamiltonianModel, slice, slice]] = []
        self._leaves = _leaf_ports(model)
        self._next_leaf, self._next_multiplier = 0, self._leaves
        self._rows: list[int] = []
        self._entries: list[tuple[float, int, int]] = []
        self.turnings: list[Turning] = []
        self.outer = self._walk(model, 0, part)
        self.size = self._next_multiplier
        self.rows = np.array(self._rows, dtype=np.int64)

    def _walk(self, model: PortHamiltonianModel, begin: int, part: Callable[..., PortHamiltonianModel]) -> IntArray:
        """Numbers of the ports of a model whose state begins there."""
        if isinstance(model, LinearPHDAE):
            return self._leaf(model, begin, part)
        match model:
            case MorePorts():
                return self._walk(model.model, begin, part)[model.sources]
            case Renamed():
                return self._walk(model.model, begin, part)
            case Inverted():
                numbers = self._walk(model.model, begin, part)
                own = self._multipliers(begin + model.model.state_size, model.multipliers)
                self._couple(np.eye(len(own)), numbers[model.columns], own, -1.0)
                numbers = numbers.copy()
                numbers[model.columns] = own
                return numbers
            case Interconnection():
                return self._joined(model, begin, part)
            case _:
                return self._leaf(model, begin, part)

    def _leaf(self, model: PortHamiltonianModel, begin: int, part: Callable[..., PortHamiltonianModel]) -> IntArray:
        places = slice(self._next_leaf, self._next_leaf + model.port_size)
        self._next_leaf = places.stop
        self.parts.append((part(model), slice(begin, begin + model.state_size), places))
        return np.arange(places.start, places.stop)

    def _joined(self, model: Interconnection, begin: int, part: Callable[..., PortHamiltonianModel]) -> IntArray:
        middle = begin + model.a.state_size
        end = middle + model.b.state_size
        numbers_a, numbers_b = self._walk(model.a, begin, part), self._walk(model.b, middle, part)
        inner_a, inner_b = numbers_a[model.inner_a], numbers_b[model.inner_b]
        if model.kind is ConnectionKind.TRANSFORMER:
            own = self._multipliers(end, model.multipliers)
            self._couple(np.eye(len(own)), inner_b, own, -1.0)
            inner_b = own
        if model.constant is not None:
            self._couple(model.constant, inner_a, inner_b, 1.0)
        else:

            def matrix(x: Array) -> Array:
                return model.coupling_matrix(x[begin:middle], x[middle:end])

            self.turnings.append(Turning(matrix, inner_a, inner_b, slice(begin, end)))
        outer_a = np.setdiff1d(np.arange(model.a.port_size), model.inner_a)
        outer_b = np.setdiff1d(np.arange(model.b.port_size), model.inner_b)
        return np.concatenate([numbers_a[outer_a], numbers_b[outer_b]])

    def _multipliers(self, row: int, count: int) -> IntArray:
        self._rows += range(row, row + count)
        self._next_multiplier += count
        return np.arange(self._next_multiplier - count, self._next_multiplier)

    def _couple(self, c: Array, rows: IntArray, columns: IntArray, sign: float) -> None:
        """K[rows, columns] -= sign C, K[columns, rows] += sign C^T."""
        for i, j in zip(*np.nonzero(c), strict=True):
            self._entries.append((-sign * c[i, j], int(rows[i]), int(columns[j])))
            self._entries.append((sign * c[i, j], int(columns[j]), int(rows[i])))

    @cached_property
    def _constant(self) -> sparse.csr_array:
        """What is constant in K."""
        values, rows, columns = zip(*self._entries, strict=True) if self._entries else ((), (), ())
        return sparse.coo_array((values, (rows, columns)), (self.size, self.size), dtype=np.float64).tocsr()

    @cached_property
    def _outer_places(self) -> Array | sparse.csr_array:
        """Which input each outer input adds to, shape (outer inputs, size)."""
        count = len(self.outer)
        found = sparse.coo_array((np.ones(count), (np.arange(count), self.outer)), (count, self.size))
        return found.toarray() if count * self.size <= DENSE**2 else found.tocsr()

    @cached_property
    def _coupled(self) -> IntArray:
        """Numbers that K has entries for."""
        found = [np.unique(self._constant.nonzero()[0])]
        found += [np.concatenate([turning.rows, turning.columns]) for turning in self.turnings]
        return np.unique(np.concatenate(found))

    @cached_property
    def _small(self) -> Array:
        """What is constant in K between coupled numbers, dense."""
        return np.asarray(self._constant[self._coupled][:, self._coupled].toarray())

    @cached_property
    def _wanted(self) -> list[tuple[PortHamiltonianModel, slice, IntArray, IntArray]]:
        """Parts with coupled ports: part, states, its ports, places among the coupled numbers."""
        found = []
        for part, states, ports in self.parts:
            mine = np.flatnonzero((self._coupled >= ports.start) & (self._coupled < ports.stop))
            if len(mine):
                found.append((part, states, self._coupled[mine] - ports.start, mine))
        return found

    @cached_property
    def _coupled_multipliers(self) -> tuple[IntArray, IntArray]:
        """Places among the coupled numbers, and in the state."""
        mine = np.flatnonzero(self._coupled >= self._leaves)
        return mine, self.rows[self._coupled[mine] - self._leaves]

    @cached_property
    def _turned(self) -> list[tuple[Turning, IntArray, IntArray]]:
        """Turnings with their places among the coupled numbers."""
        find = np.searchsorted
        return [(t, find(self._coupled, t.rows), find(self._coupled, t.columns)) for t in self.turnings]

    @cached_property
    def _turners(self) -> list[list[int]]:
        """Entries of x that each turning depends on, as states near the rest tell; all where C refuses these."""
        return [_dependencies(turning, self.rest_state) for turning in self.turnings]

    @property
    def rest_state(self) -> Array:
        """State at rest of the whole model."""
        return self.model.rest_state

    @property
    def coordinates(self) -> IntArray:
        """Those of all parts."""
        none = np.zeros(0, dtype=np.int64)
        return np.concatenate([none, *(part.coordinates + states.start for part, states, _ in self.parts)])

    def given_inputs(self, times: Array, x: Array) -> Array:
        """Of the model."""
        return self.model.given_inputs(times, x)

    @property
    def given_input_states(self) -> IntArray:
        """Of the model."""
        return self.model.given_input_states

    def efforts(self, x: Array) -> Array:
        """z of the parts, and the multipliers."""
        result = x.copy()
        for part, states, _ in self.parts:
            result[:, states] = part.efforts(x[:, states])
        return result

    def descriptor_products(self, x: Array, rate: Array) -> Array:
        """E rate of the parts, 0 of multipliers."""
        result = np.zeros_like(x)
        for part, states, _ in self.parts:
            result[:, states] = part.descriptor_products(x[:, states], rate[:, states])
        return result

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """The parts with the inputs that K gives them."""
        coupled = self._coupled_inputs(x, self._coupled_outputs(x, z))
        inputs = u @ self._outer_places
        inputs[:, self._coupled] += coupled
        result = np.empty_like(x)
        for part, states, ports in self.parts:
            result[:, states] = part.flows(x[:, states], z[:, states], inputs[:, ports])
        result[:, self.rows] = inputs[:, self._leaves :]
        return result

    def output_products(self, x: Array, z: Array, wanted: IntArray | slice = slice(None)) -> Array:
        """Of the ports that are left."""
        numbers = self.outer[wanted]
        result = np.zeros((len(x), self.size))
        for part, states, ports in self.parts:
            mine = numbers[(numbers >= ports.start) & (numbers < ports.stop)]
            if len(mine):
                result[:, mine] = part.output_products(x[:, states], z[:, states], mine - ports.start)
        result[:, self._leaves :] = z[:, self.rows]
        return result[:, numbers]

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Those of the parts, multipliers at the mean."""
        result = (x0 + x1) / 2
        for part, states, _ in self.parts:
            result[states] = part.discrete_effort(x0[states], x1[states])
        return result

    def defect_slope(self, x: Array, rate: Array, u: Array) -> Matrix:
        """Blocks of the parts, joined by K and by what K changes with the states; dense where it is small."""
        n = self.state_size
        outputs = self._coupled_outputs(x[None], self.efforts(x[None]))
        inputs = u @ self._outer_places
        inputs[self._coupled] += self._coupled_inputs(x[None], outputs)[0]
        own = [part.defect_slope(x[mine], rate[mine], inputs[places]) for part, mine, places in self.parts]
        gains, joined = self._coupled_gains(x), self._joint_slope(x, outputs[0])
        if n <= DENSE:
            total = -gains @ joined
            for (_, mine, _), block in zip(self.parts, own, strict=True):
                total[mine, mine] += block.toarray() if sparse.issparse(block) else block
            return total
        blocks = [_placed(block, mine, n) for (_, mine, _), block in zip(self.parts, own, strict=True)]
        return sparse.csr_array(sum(blocks)) - sparse.csr_array(gains) @ sparse.csr_array(joined)

    def _coupled_gains(self, x: Array) -> Array:
        """What the inputs of the coupled numbers do, shape (n, coupled)."""
        result = np.zeros((self.state_size, len(self._coupled)))
        for part, states, ports, mine in self._wanted:
            result[states, mine] = part.port_columns(x[states], ports)
        mine, rows = self._coupled_multipliers
        result[rows, mine] = 1.0
        return result

    def _joint_slope(self, x: Array, outputs: Array) -> Array:
        """d(K output)/dx of the coupled numbers, shape (coupled, n)."""
        slopes, turned = np.zeros((2, len(self._coupled), self.state_size))
        k = self._small.copy()
        for part, states, ports, mine in self._wanted:
            own = part.output_slope(x[states], ports)
            slopes[mine, states] = own.toarray() if sparse.issparse(own) else own
        mine, rows = self._coupled_multipliers
        slopes[mine, rows] = 1.0
        for (turning, a, b), entries in zip(self._turned, self._turners, strict=True):
            c = turning.matrix(x)
            k[np.ix_(a, b)] -= c
            k[np.ix_(b, a)] += c.T
            for entry in entries:
                moved, step = x.copy(), 1e-7 * max(abs(x[entry]), 1.0)
                moved[entry] += step
                change = (turning.matrix(moved) - c) / step
                turned[a, entry] -= change @ outputs[b]
                turned[b, entry] += change.T @ outputs[a]
        return np.asarray(k @ slopes + turned)

    def descriptor_matrix(self, x: Array) -> Matrix:
        """E of the parts."""
        blocks = [_placed(part.descriptor_matrix(x[mine]), mine, self.state_size) for part, mine, _ in self.parts]
        return sparse.csr_array(sum(blocks))

    def structure_matrix(self, x: Array) -> Matrix:
        """J of the model."""
        return self.model.structure_matrix(x)

    def dissipation_matrix(self, x: Array) -> Matrix:
        """R of the model."""
        return self.model.dissipation_matrix(x)

    def port_matrix(self, x: Array) -> Matrix:
        """B of the model."""
        return self.model.port_matrix(x)

    def effort(self, x: Array) -> Array:
        """z of the model."""
        return np.asarray(self.efforts(x[None])[0])

    def storage(self, x: Array) -> float:
        """H of all parts [J]."""
        return sum(part.storage(x[states]) for part, states, _ in self.parts)

    def storages(self, x: Array) -> Array:
        """H of all parts, shape (T,) [J]."""
        return np.asarray(sum(part.storages(x[:, states]) for part, states, _ in self.parts))

    def _coupled_outputs(self, x: Array, z: Array) -> Array:
        """Outputs of the coupled numbers, shape (T, coupled)."""
        result = np.empty((len(x), len(self._coupled)))
        for part, states, ports, mine in self._wanted:
            result[:, mine] = part.output_products(x[:, states], z[:, states], ports)
        mine, rows = self._coupled_multipliers
        result[:, mine] = z[:, rows]
        return result

    def _coupled_inputs(self, x: Array, outputs: Array) -> Array:
        """K output, shape (T, coupled)."""
        result: Array = np.asarray(outputs @ self._small.T)
        is_one = x.strides[0] == 0  # the same state over and over
        for turning, a, b in self._turned:
            c = np.array([turning.matrix(each) for each in (x[:1] if is_one else x)])
            result[:, a] -= (c @ outputs[:, b, None])[..., 0]
            result[:, b] += (outputs[:, None, a] @ c)[:, 0]
        return result


def _placed(block: Matrix, places: slice, size: int) -> sparse.csr_array:
    """A block of the diagonal among zeros, shape (size, size)."""
    entries = sparse.coo_array(block)
    rows, columns = (each + places.start for each in entries.coords)
    return sparse.coo_array((entries.data, (rows, columns)), (size, size)).tocsr()


def _leaf_ports(model: PortHamiltonianModel) -> int:
    """Number of ports of all parts."""
    if isinstance(model, Renamed | Inverted):
        return _leaf_ports(model.model)
    if isinstance(model, Interconnection):
        return _leaf_ports(model.a) + _leaf_ports(model.b)
    return model.port_size


def _dependencies(turning: Turning, rest: Array) -> list[int]:
    generator, found = np.random.default_rng(0), set()
    places = range(turning.entries.start, turning.entries.stop)
    try:
        for _ in range(TRIALS):
            near = rest + 1e-2 * generator.normal(size=len(rest))
            c = turning.matrix(near)
            for k in places:
                moved = near.copy()
                moved[k] += 1e-3
                if (turning.matrix(moved) != c).any():
                    found.add(k)
    except Exception:  # a function of the user that is made for true states only
        return list(places)
    return sorted(found)
