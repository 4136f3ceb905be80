"""Floating bodies whose products are compiled: the same matrices, what integrators ask for without them."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.mechanics.floating import elastic_mass
from phlexible.papers.floating_forms import (
    ConstantMassForm,
    FloatingBodyForm,
    FullForm,
    PrintedForm,
    ZerothOrderForm,
    skew_moments,
)
from phlexible.papers.kernels.floating_form import (
    ALL_OUTPUTS,
    DEFECTS,
    DESCRIPTOR,
    EFFORTS,
    ENTRIES,
    FLOWS,
    OUTPUTS,
    PORTS,
    SOLUTIONS,
    BodyTables,
    body_products,
    packed,
)
from phlexible.papers.kernels.ports import packed_joints

FACTORS: dict[type[FloatingBodyForm], tuple[float, ...]] = {
    FullForm: (1, 2, 2, 3, 2, 3, 1, 1),
    ConstantMassForm: (0, 1, 1, 1, 1, 1, 0, 1),
    ZerothOrderForm: (0, 2, 2, 3, 1, 2, 0, 1),
    PrintedForm: (0, 2, 2, 3, 2, 3, 0, 0),
}
"""Of each variant, see ``FACTORS`` there."""

NOTHING, NONE = np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
Joints: TypeAlias = tuple[IntArray, Array, Array]
"""What ``packed_joints`` returns, the numbers of what is constant in K, and those of what turns."""
NO_JOINTS: Joints = (packed_joints(NONE, NONE, NONE, NONE, False), np.zeros(0), NOTHING)
SHARES = np.array([[1, 0, 0], [0, 0, 0], [0, 1, 0], [1, 1, 1], [1, 1, 0], [1, -1, 1], [1, -1, 0]])
"""Of the mean and the change of velocities and of the change of displacements in the motions of a body."""
SECANT = np.array([0, -1 / 4, 1 / 4, 1 / 16, -1 / 16, -1 / 16, 1 / 16])
"""Of the efforts of displacements in these motions, what is added to those at the mean."""


class CompiledBodies:
    """Forms of floating bodies with compiled products, which are written into the columns of the bodies.

    Args:
        forms: each of one of the variants in ``FACTORS``.
        begins: where the states of each are among those of the whole.
        ports: where the inputs of each are among all inputs; None: they have none.

    Attributes:
        states: places of all their states, shape (own,).
        spread: numbers of the inputs of distributed ports.
        places: rows and columns of the blocks of all bodies in a matrix of the whole.
    """

    def __init__(
        self, forms: Sequence[FloatingBodyForm], begins: Sequence[int], ports: Sequence[int] | None = None
    ) -> None:
        self.forms, self._begins = tuple(forms), tuple(begins)
        self._ports = [0] * len(forms) if ports is None else ports
        self._tables = packed([tables_of(form) for form in forms], begins, self._ports)
        sizes = [form.state_size for form in forms]
        none = np.zeros(0, dtype=np.int64)
        self.states = np.concatenate([none, *(np.arange(a, a + n) for a, n in zip(begins, sizes, strict=True))])
        spread = [form.body.dimension + form.body.elastic_count for form in forms]
        self.spread = np.concatenate(
            [
                none,
                *(
                    np.arange(a + f.port_size - n, a + f.port_size)
                    for f, a, n in zip(forms, self._ports, spread, strict=True)
                ),
            ]
        )
        self._most = max(sizes, default=0)  # entries of different bodies can be changed together
        self._turn = np.concatenate([none, *(np.arange(n) for n in sizes)])
        self._parts = [slice(a, a + n) for a, n in zip(begins, sizes, strict=True)]
        self._port_parts = [slice(a, a + form.port_size) for a, form in zip(self._ports, forms, strict=True)]
        pairs = list(zip(begins, sizes, strict=True))
        rows = np.concatenate([none, *(np.repeat(np.arange(a, a + n), n) for a, n in pairs)])
        columns = np.concatenate([none, *(np.tile(np.arange(a, a + n), n) for a, n in pairs)])
        self._column_turns = np.concatenate([none, *(np.tile(np.arange(n), n) for _, n in pairs)])
        self.places = rows, columns
        flexible = [(form, a) for form, a in zip(forms, begins, strict=True) if form.body.elastic_count]
        eta = [a + np.arange(f.state_size)[f.state_slice("displacement")] for f, a in flexible]
        nu = [
            np.arange(e[-1] + 1, a + f.state_size - f.stress_space.size)
            for (f, a), e in zip(flexible, eta, strict=True)
        ]
        self._displacements, velocities = np.concatenate([none, *eta]), np.concatenate([none, *nu])
        self._bent_turn = np.concatenate([none, *(np.arange(len(each)) for each in eta)])
        self._bent_parts = [slice(0, 0)] * len(forms)
        for k, form in enumerate(forms):
            if form.body.elastic_count:
                own = form.state_slice("displacement")
                self._bent_parts[k] = slice(begins[k] + own.start, begins[k] + own.stop)
        whole = SHARES if flexible else SHARES[:1]  # of all entries, those of other parts too
        size = 1 + self.states.max(initial=-1)
        self._of_middle, self._of_change = np.ones((len(whole), size)), np.zeros((len(whole), size))
        self._of_middle[:, velocities], self._of_change[:, velocities] = whole[:, :1], whole[:, 1:2]
        self._of_change[:, self._displacements] = whole[:, 2:]

    def efforts(self, x: Array, out: Array) -> None:
        """z of T states."""
        self._product(EFFORTS, x, out)

    def descriptor_products(self, x: Array, rate: Array, out: Array) -> None:
        """E(x) rate of T states."""
        self._product(DESCRIPTOR, x, out, rate=rate)

    def descriptor_solutions(self, x: Array, rows: Array, out: Array) -> None:
        """E(x)^-1 of rows (k, n) at one state (n,)."""
        self._product(SOLUTIONS, x[None], out, rate=rows)

    def flows(self, x: Array, z: Array, u: Array, out: Array) -> None:
        """(J - R) z + B u of T states."""
        self._product(FLOWS, x, out, z=z, inputs=u)

    def port_flows(self, x: Array, u: Array, out: Array) -> None:
        """B u of inputs (k, ports) at one state (n,)."""
        self._product(PORTS, x[None], out, inputs=u)

    def defects(self, x: Array, rate: Array, u: Array, out: Array) -> None:
        """E(x) rate - (J - R) z(x) - B u of T states; of rates and inputs one row may stand for all."""
        self._product(DEFECTS, x, out, rate=rate, inputs=u)

    def outputs(self, x: Array, z: Array, out: Array, has_spread: bool = True) -> None:
        """B^T z of T states, shape (T, ports); ``has_spread``: also those of distributed ports."""
        self._product(ALL_OUTPUTS if has_spread else OUTPUTS, x, out, z=z)

    def joined(
        self, what: int, joints: Joints, x: Array, z: Array, rate: Array, u: Array, outputs: Array, out: Array
    ) -> Array:
        """A product with inputs that joints make of outputs, into ``out``; the inputs, shape (T, numbers).

        Args:
            what: INPUTS, PORTS, FLOWS, DEFECTS or DEFECTS_OF, see the kernel.
            outputs: those of all parts that are no compiled bodies, shape (T, numbers).
        """
        inputs = np.empty_like(outputs)
        given = (in_one_piece(x), in_one_piece(z), in_one_piece(rate), in_one_piece(u))
        body_products(what, *self._tables, *joints, *given, outputs, inputs, out)
        return inputs

    def discrete_efforts(self, x0: Array, x1: Array, out: Array) -> None:
        """Those of the forms, with the kinetic slopes of six motions at once, shape (n,); docs/theory.md, 2."""
        size, eta = self._of_middle.shape[1], self._displacements
        states = self._of_middle * ((x0 + x1) / 2)[:size] + self._of_change * (x1 - x0)[:size]
        efforts = np.empty(states.shape)
        self.efforts(states, efforts)
        out[self.states] = efforts[0, self.states]
        if len(eta):
            out[eta] += SECANT @ efforts[:, eta]  # the weight, the same in all, goes out

    def descriptor_entries(self, x: Array) -> Array:
        """E(x) of one state at ``places``."""
        return np.asarray(self._entries(x)[self._column_turns, self.places[0]])

    def put_descriptor(self, x: Array, out: Array) -> None:
        """E(x) of one state into a matrix of the whole."""
        found = self._entries(x)
        for own in self._parts:
            out[own, own] = found[: own.stop - own.start, own]

    def _entries(self, x: Array) -> Array:
        """Row k of E of each body, in row k."""
        found = np.empty((self._most, len(x)))
        self._product(ENTRIES, x[None], found)
        return found

    def slopes(self, x: Array, rate: Array, u: Array, steps: Array) -> Array:
        """d(defects)/dx of one state at ``places``, by differences of those steps (n,)."""
        return np.asarray(self._slopes(x, rate, u, steps)[self._column_turns, self.places[0]])

    def add_slopes(self, x: Array, rate: Array, u: Array, steps: Array, out: Array) -> None:
        """The same, added to a matrix of the whole."""
        found = self._slopes(x, rate, u, steps)
        for own in self._parts:
            out[own, own] += found[: own.stop - own.start, own].T

    def _slopes(self, x: Array, rate: Array, u: Array, steps: Array) -> Array:
        """d(defects)/dx of entry k of each body, in row k."""
        states = self._changed(x, steps, self._turn, self.states)
        found = np.zeros(states.shape)  # columns of other parts stay, and are subtracted too
        self.defects(states, rate[None], u[None], found)
        slopes = found[1:] - found[0]
        for own in self._parts:
            slopes[: own.stop - own.start, own] /= steps[own, None]
        return np.asarray(slopes)

    def output_slopes(self, x: Array, steps: Array, out: Array, has_spread: bool = True) -> None:
        """dy/dx of one state along displacements into (ports, n): along velocities it is B^T, otherwise zero."""
        states = self._changed(x, steps, self._bent_turn, self._displacements)
        found = np.zeros((len(states), len(out)))
        self.outputs(states, states, found, has_spread)
        for eta, ports in zip(self._bent_parts, self._port_parts, strict=True):
            changes = found[1 : 1 + eta.stop - eta.start, ports] - found[0, ports]
            out[ports, eta] = (changes / steps[eta, None]).T

    def _changed(self, x: Array, steps: Array, turn: IntArray, entries: IntArray) -> Array:
        """A state, and the same with entries of different bodies changed at their turn."""
        states = np.tile(x, (2 + turn.max(initial=-1), 1))
        states[1 + turn, entries] += steps[entries]
        return states

    def storages(self, x: Array) -> Array:
        """H of all forms, shape (T,): half the velocities and stresses times E of them, and the weight."""
        total = np.zeros(len(x))
        moving, momenta = np.zeros(x.shape), np.zeros(x.shape)
        for form, begin in zip(self.forms, self._begins, strict=True):
            own, n = slice(begin, begin + form.state_size), form.body.elastic_count
            if isinstance(form, PrintedForm):  # its H is not that of its E
                total += [form.storage(each) for each in x[:, own]]
                continue
            moving[:, own] = np.where(form.kept >= 12 + n, x[:, own], 0.0)
            full = np.zeros((len(x), 18 + 2 * n + form.stress_space.size))
            full[:, 3:12] = form.fixed_rotation.ravel()
            full[:, form.kept] = x[:, own]
            xi = np.hstack([np.ones((len(x), 1)), full[:, 12 : 12 + n]])
            centers = np.einsum("tij,jk,tk->ti", full[:, 3:12].reshape(-1, 3, 3), form.body.first_moments, xi)
            total -= (form.body.mass * full[:, :3] + centers) @ form.gravity
        self.descriptor_products(x, moving, momenta)
        return np.asarray(total + (moving * momenta)[:, self.states].sum(axis=1) / 2)

    def _product(
        self,
        what: int,
        x: Array,
        out: Array,
        z: Array = NOTHING,
        rate: Array = NOTHING,
        inputs: Array = NOTHING,
    ) -> None:
        if self.forms:
            given = (in_one_piece(x), in_one_piece(z), in_one_piece(rate), NOTHING, NOTHING, in_one_piece(inputs))
            body_products(what, *self._tables, *NO_JOINTS, *given, out)


def tables_of(form: FloatingBodyForm) -> BodyTables:
    """What compiled products know of a form."""
    body, space, n = form.body, form.stress_space, form.body.elastic_count
    points = [body.points.locate(location) for location in form.locations.values()]
    turned = [p.rotations for p in points if body.rotates and p.rotations is not None]
    forces, moments, column = [], [], 0
    for point in points:
        forces.append(range(column, column + body.dimension))
        column += body.dimension
        if body.rotates and point.rotations is not None:
            moments.append(range(column, column + len(body.rotation_axes)))
            column += len(body.rotation_axes)
    turning = -skew_moments(body)
    converts, resists = isinstance(form, ConstantMassForm) and n > 0, body.viscosity != 0
    return BodyTables(
        factors=np.array(FACTORS[type(form)], dtype=np.float64),
        constants=np.array([body.mass, body.viscosity]),
        gravity=in_one_piece(form.gravity),
        fixed=in_one_piece(form.fixed_rotation.ravel()),
        first=in_one_piece(body.first_moments),
        second=in_one_piece(body.all_moments),
        filled=in_one_piece(np.abs(body.all_moments).max(axis=(2, 3)) > 0),
        turning=in_one_piece(turning),
        turned=in_one_piece(np.abs(turning).max(axis=(1, 2)) > 0),
        elastic=in_one_piece(sum(body.all_moments[a, a] for a in range(3))),
        rows=in_one_piece(space.rows),
        squares=in_one_piece(space.squares),
        weights=in_one_piece(space.factors),
        compliance=in_one_piece(space.compliance),
        damping=in_one_piece(body.damping if body.damping.any() else np.zeros((0, 0))),
        elasticity=in_one_piece(np.linalg.inv(space.compliance) if resists else np.zeros((0, 0))),
        inverse_mass=in_one_piece(np.linalg.inv(elastic_mass(body)) if converts else np.zeros((0, 0))),
        positions=in_one_piece(np.array([p.position for p in points]).reshape(len(points), 3)),
        shapes=in_one_piece(np.array([p.shapes for p in points]).reshape(len(points), 3, n)),
        turns=in_one_piece(np.array(turned).reshape(len(turned), 3, n)),
        kept=form.kept,
        forces=np.array(forces, dtype=np.int64).reshape(len(points), body.dimension),
        moments=np.array(moments, dtype=np.int64).reshape(len(turned), len(body.rotation_axes)),
        axes=np.array(body.rotation_axes, dtype=np.int64),
    )


def in_one_piece(values: ArrayLike) -> Array:
    """In one piece, and writable: Numba compiles anew for what is not."""
    if isinstance(values, np.ndarray) and values.flags.carray and values.dtype == np.float64:
        return values
    found = np.ascontiguousarray(values, dtype=np.float64)
    return found if found.flags.writeable else found.copy()
