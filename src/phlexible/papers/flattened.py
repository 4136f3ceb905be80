"""A composed model as its parts and one skew matrix between their ports: the fast way to all products.

Each part has inputs and outputs of the same numbers; each multiplier counts as one more: its output is its own
value, its input the row of the equations that belongs to it. Then a transformer, a gyrator and an exchange of
input and output, (38)-(44) of Brugnoli et al. (2020), say the same; k, a, b are numbers, L new multipliers::

    input = K(x) output + outer inputs,    K skew
    gyrator:      K[a, b] = -C,  K[b, a] = C^T
    transformer:  K[a, L] = -C,  K[L, a] = C^T,  K[b, L] = I,  K[L, b] = -I
    exchange:     K[k, L] = I,   K[L, k] = -I,   and L stands for the port from then on
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import LARGEST, Array, IntArray, function_error
from phlexible.errors import PhlexibleError
from phlexible.papers.compiled_bodies import FACTORS, CompiledBodies, Joints
from phlexible.papers.floating_forms import FloatingBodyForm
from phlexible.papers.kernels.floating_form import DEFECTS, DEFECTS_OF, FLOWS, INPUTS, PORTS
from phlexible.papers.kernels.ports import packed_joints
from phlexible.port_hamiltonian.interconnection import (
    COUPLING,
    SOMEWHERE,
    ConnectionKind,
    Interconnection,
    Inverted,
)
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.port_hamiltonian.model import (
    Matrix,
    MorePorts,
    Port,
    PortHamiltonianModel,
    Renamed,
    StateBlock,
    difference_steps,
)

NONE = np.zeros(0, dtype=np.int64)
TRIALS = 2
DENSE = 300


@dataclass(frozen=True, eq=False)
class TurningCoupling:
    """A coupling that depends on states: K[rows, columns] = -C(x), K[columns, rows] = C(x)^T.

    Attributes:
        model: with the coupling; its states begin at ``begin`` in the whole.
        begin: of its states.
        rows, columns: numbers, shapes of the two sides of C.
    """

    model: Interconnection
    begin: int
    rows: IntArray
    columns: IntArray

    @cached_property
    def _own(self) -> tuple[slice, slice]:
        """Where the states are that the function gets: those of both models without exchanged multipliers."""
        a, b, middle = self.model.a, self.model.b, self.begin + self.model.a.state_size
        sizes = [len(model.own_state(model.rest_state)) for model in (a, b)]
        return slice(self.begin, self.begin + sizes[0]), slice(middle, middle + sizes[1])

    def many(self, x: Array) -> Array:
        """Entries of C of T states, shape (T, entries)."""
        (a, b), function = self._own, self.model.coupling
        shape = (len(self.rows), len(self.columns))
        result = np.empty((len(x), *shape))
        for found, each in zip(result, x, strict=True):
            try:
                value = np.asarray(function(each[a], each[b]))
            except PhlexibleError:
                raise
            except Exception as error:
                raise function_error(COUPLING, error, SOMEWHERE) from error
            if value.dtype != np.float64 or value.shape != shape:
                value = self.matrix(each)
            found[:] = value
        if not np.vdot(result, result) <= LARGEST:  # no small numbers: the model refuses them in its own words
            for each in x:
                self.matrix(each)
        return result.reshape(len(x), -1)

    def matrix(self, x: Array) -> Array:
        """C of one state."""
        middle = self.begin + self.model.a.state_size
        return self.model.coupling_matrix(x[self.begin : middle], x[middle : middle + self.model.b.state_size])

    @property
    def entries(self) -> slice:
        """Of the state, those that C may depend on."""
        return slice(self.begin, self.begin + self.model.a.state_size + self.model.b.state_size)


class Flattened(PortHamiltonianModel):
    """A model of parts; its states and ports are those of the composed model. Floating bodies are compiled.

    Args:
        model: composed or not.
    """

    def __init__(self, model: PortHamiltonianModel) -> None:
        self.model = model
        self.states: tuple[StateBlock, ...] = model.states
        self.ports: tuple[Port, ...] = model.ports
        self.parts: list[tuple[PortHamiltonianModel, slice, slice]] = []
        self._leaves = _leaf_ports(model)
        self._next_leaf, self._next_multiplier = 0, self._leaves
        self._rows: list[int] = []
        self._entries: list[tuple[float, int, int]] = []
        self.turnings: list[TurningCoupling] = []
        self.outer = self._walk(model, 0)
        self.size = self._next_multiplier
        self.rows = np.array(self._rows, dtype=np.int64)
        forms, states, ports = list[FloatingBodyForm](), list[int](), list[int]()
        self._others = list[tuple[PortHamiltonianModel, slice, slice]]()
        for part, own, places in self.parts:
            if isinstance(part, FloatingBodyForm) and type(part) in FACTORS:
                forms, states, ports = [*forms, part], [*states, own.start], [*ports, places.start]
            else:
                self._others.append((part, own, places))
        self.bodies = CompiledBodies(forms, states, ports)

    def _walk(self, model: PortHamiltonianModel, begin: int) -> IntArray:
        """Numbers of the ports of a model whose state begins there."""
        if isinstance(model, LinearPHDAE):
            return self._leaf(model, begin)
        match model:
            case MorePorts():
                return self._walk(model.model, begin)[model.sources]
            case Renamed():
                return self._walk(model.model, begin)
            case Inverted():
                numbers = self._walk(model.model, begin)
                own = self._multipliers(begin + model.model.state_size, model.multipliers)
                self._couple(np.eye(len(own)), numbers[model.columns], own, -1.0)
                numbers = numbers.copy()
                numbers[model.columns] = own
                return numbers
            case Interconnection():
                return self._joined(model, begin)
            case _:
                return self._leaf(model, begin)

    def _leaf(self, model: PortHamiltonianModel, begin: int) -> IntArray:
        places = slice(self._next_leaf, self._next_leaf + model.port_size)
        self._next_leaf = places.stop
        self.parts.append((model, slice(begin, begin + model.state_size), places))
        return np.arange(places.start, places.stop)

    def _joined(self, model: Interconnection, begin: int) -> IntArray:
        middle = begin + model.a.state_size
        end = middle + model.b.state_size
        numbers_a, numbers_b = self._walk(model.a, begin), self._walk(model.b, middle)
        inner_a, inner_b = numbers_a[model.inner_a], numbers_b[model.inner_b]
        if model.kind is ConnectionKind.TRANSFORMER:
            own = self._multipliers(end, model.multipliers)
            self._couple(np.eye(len(own)), inner_b, own, -1.0)
            inner_b = own
        if model.constant is not None:
            self._couple(model.constant, inner_a, inner_b, 1.0)
        else:
            self.turnings.append(TurningCoupling(model, begin, inner_a, inner_b))
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
    def _couplings(self) -> tuple[Array, IntArray, IntArray, IntArray, IntArray]:
        """K: what is constant in it with its places, and places of the entries of all C that turn."""
        values, rows, columns = zip(*self._entries, strict=True) if self._entries else ((), (), ())
        grids = [np.meshgrid(turning.rows, turning.columns, indexing="ij") for turning in self.turnings]
        turned = [np.concatenate([np.zeros(0), *(grid[k].ravel() for grid in grids)]) for k in range(2)]
        places = [np.array(each, dtype=np.int64) for each in (rows, columns, *turned)]
        return np.array(values, dtype=np.float64), places[0], places[1], places[2], places[3]

    @cached_property
    def _coupled(self) -> IntArray:
        """Numbers that K has entries for."""
        return np.unique(np.concatenate(self._couplings[1:]))

    @cached_property
    def _constant(self) -> Array:
        """K without what turns, shape (size, size)."""
        values, rows, columns, _, _ = self._couplings
        k = np.zeros((self.size, self.size))
        np.add.at(k, (rows, columns), values)
        return k

    @cached_property
    def _turned_places(self) -> IntArray:
        """Of what turns in K, first of -C, then of C^T, in a row of all its entries."""
        _, _, _, rows, columns = self._couplings
        return np.concatenate([rows * self.size + columns, columns * self.size + rows])

    @cached_property
    def _links(self) -> tuple[IntArray, Array]:
        """All places of K, and the numbers of what is constant in it, as kernels take them."""
        values, rows, columns, turned_rows, turned_columns = self._couplings
        links, turned = np.column_stack([rows, columns]), np.column_stack([turned_rows, turned_columns])
        return packed_joints(links, turned, self.outer, self.rows, self._has_spread), values

    def _joints(self, x: Array) -> Joints:
        """Of T states, or of one."""
        return *self._links, self._turned(x)

    @cached_property
    def _has_spread(self) -> bool:
        """Whether distributed ports are coupled."""
        return bool(np.isin(self._coupled, self.bodies.spread).any())

    @cached_property
    def _coupled_others(self) -> list[tuple[PortHamiltonianModel, slice, IntArray, IntArray]]:
        """Parts that are not compiled and are coupled: part, states, its ports, their numbers."""
        found = []
        for part, states, ports in self._others:
            mine = self._coupled[(self._coupled >= ports.start) & (self._coupled < ports.stop)]
            if len(mine):
                found.append((part, states, mine - ports.start, mine))
        return found

    @cached_property
    def _turners(self) -> list[list[int]]:
        """Entries of x that each turning depends on, as states near the rest tell; all where C refuses these."""
        return [_dependencies(turning, self.rest_state) for turning in self.turnings]

    @cached_property
    def curved_entries(self) -> list[int] | None:
        """Entries of x, other than velocities of bodies, that rows of multipliers depend on; None: not known."""
        return None if self._others else sorted({entry for each in self._turners for entry in each})

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
        result = self._other_efforts(x)
        result = x.copy() if result is x else result
        self.bodies.efforts(x, result)
        return result

    def _other_efforts(self, x: Array) -> Array:
        """The states, with efforts in the places of parts that are not compiled."""
        if not self._others:
            return x
        result = x.copy()
        for part, states, _ in self._others:
            result[:, states] = part.efforts(x[:, states])
        return result

    def descriptor_products(self, x: Array, rate: Array) -> Array:
        """E rate of the parts, 0 of multipliers."""
        result = np.zeros(x.shape)
        self.bodies.descriptor_products(x, rate, result)
        for part, states, _ in self._others:
            result[:, states] = part.descriptor_products(x[:, states], rate[:, states])
        return result

    def descriptor_solutions(self, x: Array, rows: Array) -> Array:
        """E^-1 of the parts, multipliers as they are."""
        result = rows.copy()
        self.bodies.descriptor_solutions(x, rows, result)
        for part, states, _ in self._others:
            result[:, states] = part.descriptor_solutions(x[states], rows[:, states])
        return result

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """The parts with the inputs that K gives them."""
        result = np.empty(x.shape)
        inputs = self._product(FLOWS, x, z, x[:0], u, result)
        for part, states, ports in self._others:
            result[:, states] = part.flows(x[:, states], z[:, states], inputs[:, ports])
        return result

    def constraint_flows(self, x: Array, multipliers: Array) -> Array:
        """(J - R) z of efforts that are multipliers alone, (k, n), at one state (n,), shape (k, n)."""
        result, outputs = np.zeros(multipliers.shape), np.zeros((len(multipliers), self.size))
        u = np.zeros((len(multipliers), len(self.outer)))
        inputs = self.bodies.joined(
            PORTS, self._joints(x[None]), x[None], multipliers, x[None, :0], u, outputs, result
        )
        for part, states, ports in self._others:
            own = np.broadcast_to(x[states], (len(multipliers), states.stop - states.start))
            result[:, states] = part.flows(own, multipliers[:, states], inputs[:, ports])
        return result

    def defects(self, x: Array, rate: Array, u: Array, efforts: Array | None = None) -> Array:
        """E rate - (J - R) z - B u of T states, with z(x) where no other is given."""
        result = np.empty(x.shape)
        z = self._other_efforts(x) if efforts is None else efforts
        inputs = self._product(DEFECTS if efforts is None else DEFECTS_OF, x, z, rate, u, result)
        for part, states, ports in self._others:
            result[:, states] = part.descriptor_products(x[:, states], rate[:, states])
            result[:, states] -= part.flows(x[:, states], z[:, states], inputs[:, ports])
        return result

    def gaps(self, x: Array, u: Array) -> Array:
        """Flows as far as floating bodies have no part in them: rows of multipliers are right, shape (T, n)."""
        z, result = self._other_efforts(x), np.zeros(x.shape)
        inputs = self._product(INPUTS, x, z, x[:0], u, result)
        for part, states, ports in self._others:
            result[:, states] = part.flows(x[:, states], z[:, states], inputs[:, ports])
        return result

    def output_products(self, x: Array, z: Array, wanted: IntArray | slice = slice(None)) -> Array:
        """Of the ports that are left."""
        numbers = self.outer[wanted]
        result = np.zeros((len(x), self.size))
        self.bodies.outputs(x, z, result)
        for part, states, ports in self._others:
            mine = numbers[(numbers >= ports.start) & (numbers < ports.stop)]
            if len(mine):
                result[:, mine] = part.output_products(x[:, states], z[:, states], mine - ports.start)
        result[:, self._leaves :] = z[:, self.rows]
        return result[:, numbers]

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """Those of the parts, multipliers at the mean."""
        result = (x0 + x1) / 2
        self.bodies.discrete_efforts(x0, x1, result)
        for part, states, _ in self._others:
            result[states] = part.discrete_effort(x0[states], x1[states])
        return result

    def defect_slope(self, x: Array, rate: Array, u: Array, input_slope: Array | None = None) -> Matrix:
        """Blocks of the parts, joined by K and by what K changes with the states; dense where it is small.

        Args:
            input_slope: du/dx, shape (outer, n); None: inputs do not depend on the state.
        """
        n, steps, joints = self.state_size, difference_steps(self._sizes(x)), self._joints(x[None])
        z = self._other_efforts(x[None])
        outputs, unused = self._other_outputs(x[None], z), np.empty((1, n))
        inputs = self.bodies.joined(INPUTS, joints, x[None], z, x[None, :0], u[None], outputs, unused)[0]
        own = [part.defect_slope(x[mine], rate[mine], inputs[ports]) for part, mine, ports in self._others]
        moving = np.flatnonzero(input_slope.any(axis=1)) if input_slope is not None else NONE
        gains = self._gains(x, np.concatenate([self._coupled, self.outer[moving]]))
        joined = self._joint_slope(x, outputs[0], joints[2][0], steps, gains[:, : len(self._coupled)])
        if input_slope is not None:
            joined = np.concatenate([joined, input_slope[moving]])
        if n <= DENSE:
            total = -gains @ joined
            self.bodies.add_slopes(x, rate, inputs, steps, total)
            for (_, mine, _), block in zip(self._others, own, strict=True):
                total[mine, mine] += block.toarray() if sparse.issparse(block) else block
            return total
        blocks = [_placed(block, mine, n) for (_, mine, _), block in zip(self._others, own, strict=True)]
        entries = self.bodies.slopes(x, rate, inputs, steps), self.bodies.places
        compiled = sparse.coo_array(entries, (n, n)).tocsr()
        return sparse.csr_array(sum(blocks, compiled)) - sparse.csr_array(gains) @ sparse.csr_array(joined)

    def _gains(self, x: Array, numbers: IntArray) -> Array:
        """What the inputs of those numbers do, shape (n, numbers)."""
        count = len(numbers)
        units, result = np.zeros((count, self.size)), np.zeros((count, self.state_size))
        units[np.arange(count), numbers] = 1.0
        self.bodies.port_flows(x, units, result)
        for part, own, ports in self._others:
            mine = np.flatnonzero((numbers >= ports.start) & (numbers < ports.stop))
            if len(mine):
                result[mine, own] = part.port_columns(x[own], numbers[mine] - ports.start).T
        result[:, self.rows] = units[:, self._leaves :]
        return result.T

    def _joint_slope(self, x: Array, outputs: Array, c: Array, steps: Array, gains: Array) -> Array:
        """d(K output)/dx of the coupled numbers, shape (coupled, n); c: entries that turn in K; gains: theirs."""
        slopes, turned = np.zeros((2, self.size, self.state_size))
        slopes[np.ix_(self._coupled, self.bodies.states)] = gains[self.bodies.states].T
        self.bodies.output_slopes(x, steps, slopes, self._has_spread)
        for part, states, ports, mine in self._coupled_others:
            own = part.output_slope(x[states], ports)
            slopes[mine, states] = own.toarray() if sparse.issparse(own) else own
        slopes[np.arange(self._leaves, self.size), self.rows] = 1.0
        k = self._constant + np.bincount(self._turned_places, np.concatenate([-c, c]), self.size**2).reshape(
            self.size, self.size
        )
        begin = 0
        for turning, entries in zip(self.turnings, self._turners, strict=True):
            a, b = turning.rows, turning.columns
            shape, size = (len(a), len(b)), len(a) * len(b)
            moved, step = np.tile(x, (len(entries), 1)), 1e-7 * np.maximum(np.abs(x[entries]), 1.0)
            moved[np.arange(len(entries)), entries] += step
            changes = (turning.many(moved) - c[begin : begin + size]) / step[:, None]
            for entry, change in zip(entries, changes.reshape(-1, *shape), strict=True):
                turned[a, entry] -= change @ outputs[b]
                turned[b, entry] += change.T @ outputs[a]
            begin += size
        return np.asarray(k[self._coupled] @ slopes + turned[self._coupled])

    def descriptor_matrix(self, x: Array) -> Matrix:
        """E of the parts."""
        n = self.state_size
        if n <= DENSE:
            result = np.zeros((n, n))
            self.bodies.put_descriptor(x, result)
            for part, mine, _ in self._others:
                block = part.descriptor_matrix(x[mine])
                result[mine, mine] = block.toarray() if sparse.issparse(block) else block
            return result
        blocks = [_placed(part.descriptor_matrix(x[mine]), mine, n) for part, mine, _ in self._others]
        own = sparse.coo_array((self.bodies.descriptor_entries(x), self.bodies.places), (n, n))
        return sparse.csr_array(sum(blocks, own.tocsr()))

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
        return float(self.storages(x[None])[0])

    def storages(self, x: Array) -> Array:
        """H of all parts, shape (T,) [J]."""
        others = sum(part.storages(x[:, states]) for part, states, _ in self._others)
        return np.asarray(self.bodies.storages(x) + others)

    def _product(self, what: int, x: Array, z: Array, rate: Array, u: Array, out: Array) -> Array:
        """That of the compiled bodies and the rows of multipliers, into ``out``; all inputs, shape (T, size)."""
        return self.bodies.joined(what, self._joints(x), x, z, rate, u, self._other_outputs(x, z), out)

    def _other_outputs(self, x: Array, z: Array) -> Array:
        """Outputs of the numbers of parts that are not compiled and that K has entries for, shape (T, size)."""
        result = np.zeros((len(x), self.size))
        for part, states, ports, mine in self._coupled_others:
            result[:, mine] = part.output_products(x[:, states], z[:, states], ports)
        return result

    def _turned(self, x: Array) -> Array:
        """Entries of all C that turn, shape (T, entries)."""
        if not self.turnings:
            return np.zeros((len(x), 0))
        many = x[:1] if x.strides[0] == 0 else x  # the same state over and over
        found = [turning.many(many) for turning in self.turnings]
        whole = found[0] if len(found) == 1 else np.concatenate(found, axis=1)
        return whole if len(whole) == len(x) else np.tile(whole, (len(x), 1))


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


def _dependencies(turning: TurningCoupling, rest: Array) -> list[int]:
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
