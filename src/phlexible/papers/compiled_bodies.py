"""Floating bodies whose products are compiled: the same matrices, what integrators ask for without them."""

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, IntArray
from phlexible.bodies.mechanics.floating import elastic_mass
from phlexible.papers.flattened import Flattened
from phlexible.papers.floating_forms import (
    ConstantMassForm,
    FloatingBodyForm,
    FullForm,
    PrintedForm,
    ZerothOrderForm,
)
from phlexible.papers.kernels.floating_form import DESCRIPTOR, EFFORTS, FLOWS, OUTPUTS, BodyTables, body_products
from phlexible.port_hamiltonian.model import Matrix, Port, PortHamiltonianModel, StateBlock

FACTORS: dict[type[FloatingBodyForm], tuple[float, ...]] = {
    FullForm: (1, 2, 2, 3, 2, 3, 1, 1),
    ConstantMassForm: (0, 1, 1, 1, 1, 1, 0, 1),
    ZerothOrderForm: (0, 2, 2, 3, 1, 2, 0, 1),
    PrintedForm: (0, 2, 2, 3, 2, 3, 0, 0),
}
"""Of each variant, see ``FACTORS`` there."""


def fast(model: PortHamiltonianModel) -> PortHamiltonianModel:
    """The same model as parts, those with a compiled form compiled."""
    return Flattened(model, _part)


def _part(model: PortHamiltonianModel) -> PortHamiltonianModel:
    return CompiledBody(model) if type(model) in FACTORS else model


class CompiledBody(PortHamiltonianModel):
    """A form of a floating body with compiled products.

    Args:
        form: of one of the variants in ``FACTORS``.
    """

    def __init__(self, form: PortHamiltonianModel) -> None:
        assert isinstance(form, FloatingBodyForm)
        self.form = form
        self.states: tuple[StateBlock, ...] = form.states
        self.ports: tuple[Port, ...] = form.ports
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
        self._distributed = column
        converts, resists = isinstance(form, ConstantMassForm) and n > 0, body.viscosity != 0
        self._tables = BodyTables(
            factors=np.array(FACTORS[type(form)], dtype=np.float64),
            constants=np.array([body.mass, body.viscosity]),
            first=_block(body.first_moments),
            second=_block(body.all_moments),
            filled=np.abs(body.all_moments).max(axis=(2, 3)) > 0,
            rows=_block(space.rows),
            squares=_block(space.squares),
            weights=_block(space.factors),
            compliance=_block(space.compliance),
            damping=_block(body.damping if body.damping.any() else np.zeros((0, 0))),
            elasticity=_block(np.linalg.inv(space.compliance) if resists else np.zeros((0, 0))),
            inverse_mass=_block(np.linalg.inv(elastic_mass(body)) if converts else np.zeros((0, 0))),
            gravity=_block(form.gravity),
            fixed=_block(form.fixed_rotation.ravel()),
            kept=form.kept,
            positions=_block(np.array([p.position for p in points]).reshape(len(points), 3)),
            shapes=_block(np.array([p.shapes for p in points]).reshape(len(points), 3, n)),
            turns=_block(np.array(turned).reshape(len(turned), 3, n)),
            forces=np.array(forces, dtype=np.int64).reshape(len(points), body.dimension),
            moments=np.array(moments, dtype=np.int64).reshape(len(turned), len(body.rotation_axes)),
            axes=np.array(body.rotation_axes, dtype=np.int64),
        )

    @property
    def rest_state(self) -> Array:
        """State at rest of the body's form."""
        return self.form.rest_state

    def efforts(self, x: Array) -> Array:
        """z of the form."""
        return self._product(EFFORTS, x, x, NOTHING, x.shape[1])

    def descriptor_products(self, x: Array, rate: Array) -> Array:
        """E(x) rate of the form."""
        return self._product(DESCRIPTOR, x, rate, NOTHING, x.shape[1])

    def flows(self, x: Array, z: Array, u: Array) -> Array:
        """(J - R) z + B u of the form."""
        result = self._product(FLOWS, x, z, u, x.shape[1])
        if (spread := u[:, self._distributed :]).any():
            for k, each in enumerate(x):
                result[k] += self.form.port_matrix(each)[:, self._distributed :] @ spread[k]
        return result

    def output_products(self, x: Array, z: Array, wanted: IntArray | slice = slice(None)) -> Array:
        """B^T z of the form."""
        result = self._product(OUTPUTS, x, z, NOTHING, self._distributed)
        last = wanted.stop if isinstance(wanted, slice) else max(wanted.tolist(), default=-1) + 1
        if last is None or last > self._distributed:
            result = np.hstack([result, self._distributed_outputs(x, z)])
        return np.asarray(result[:, wanted])

    def _distributed_outputs(self, x: Array, z: Array) -> Array:
        """The velocity field against uniform fields and against Phi, shape (T, d + n)."""
        form, body, n = self.form, self.form.body, self.form.body.elastic_count
        first, second = body.first_moments, body.all_moments
        eta = x[:, form.state_slice("displacement")] if n else np.zeros((len(x), 0))
        xi = np.hstack([np.ones((len(x), 1)), self._tables.factors[7] * eta])
        full = np.zeros((len(z), 18 + 2 * n + self.form.stress_space.size))
        full[:, self.form.kept] = z
        v, w, rate = np.split(full[:, 12 + n : 18 + 2 * n], (3, 6), axis=1)
        if isinstance(form, ConstantMassForm):
            rate = rate + np.array([form.convection(e) @ turn for e, turn in zip(eta, w, strict=True)])
        products = (xi @ second.reshape(9 * (n + 1), n + 1).T).reshape(len(x), 3, 3, n + 1)
        uniform = body.mass * v + np.cross(w, xi @ first.T) + rate @ first[:, 1:].T
        elastic = v @ first[:, 1:] + rate @ elastic_mass(body)
        for k in range(3):
            a, b = (k + 1) % 3, (k + 2) % 3
            elastic += w[:, [k]] * (products[:, b, a] - products[:, a, b])[:, 1:]
        return np.asarray(np.hstack([uniform[:, : body.dimension], elastic]))

    def port_columns(self, x: Array, wanted: IntArray) -> Array:
        """B of the form: what unit inputs do where there are no efforts."""
        units, same = np.zeros((len(wanted), self.port_size)), np.broadcast_to(x, (len(wanted), len(x)))
        units[np.arange(len(wanted)), wanted] = 1.0
        return self.flows(same, np.zeros(same.shape), units).T

    def discrete_effort(self, x0: Array, x1: Array) -> Array:
        """That of the form, with the kinetic slopes of six motions at once; docs/theory.md, 2."""
        middle, change = (x0 + x1) / 2, x1 - x0
        if not self.form.body.elastic_count:
            return np.asarray(self.efforts(middle[None])[0])
        eta = self.form.state_slice("displacement")
        nu = slice(eta.stop, len(x0) - self.form.stress_space.size)
        states = np.tile(middle, (7, 1))
        shares = np.array([[1, 0, 0], [0, 0, 0], [0, 1, 0], [1, 1, 1], [1, 1, 0], [1, -1, 1], [1, -1, 0]])
        states[:, nu] = shares[:, :2] @ np.array([middle[nu], change[nu]])
        states[:, eta] += shares[:, 2:] * change[eta]
        efforts = self.efforts(states)
        z, (still, moved, a, b, c, d) = efforts[0], efforts[1:, eta]
        turned = (a - b - c + d) / 16  # the weight, the same at one rotation, goes out
        z[eta] += (moved - still) / 4 + turned
        return np.asarray(z)

    def descriptor_matrix(self, x: Array) -> Matrix:
        """E of the form."""
        return self.form.descriptor_matrix(x)

    def structure_matrix(self, x: Array) -> Matrix:
        """J of the form."""
        return self.form.structure_matrix(x)

    def dissipation_matrix(self, x: Array) -> Matrix:
        """R of the form."""
        return self.form.dissipation_matrix(x)

    def port_matrix(self, x: Array) -> Matrix:
        """B of the form."""
        return self.form.port_matrix(x)

    def effort(self, x: Array) -> Array:
        """z of the form."""
        return self.form.effort(x)

    def storage(self, x: Array) -> float:
        """H of the form [J]."""
        return self.form.storage(x)

    def storages(self, x: Array) -> Array:
        """H of the form: half the velocities and stresses times E of them, and the weight."""
        form, body = self.form, self.form.body
        if isinstance(form, PrintedForm):  # its H is not that of its E
            return super().storages(x)
        full = np.zeros((len(x), 18 + 2 * body.elastic_count + form.stress_space.size))
        full[:, 3:12] = form.fixed_rotation.ravel()
        full[:, form.kept] = x
        moving = np.where(form.kept >= 12 + body.elastic_count, x, 0.0)
        inner = (moving * self.descriptor_products(x, moving)).sum(axis=1) / 2
        xi = np.hstack([np.ones((len(x), 1)), full[:, 12 : 12 + body.elastic_count]])
        centers = np.einsum("tij,jk,tk->ti", full[:, 3:12].reshape(-1, 3, 3), body.first_moments, xi)
        return np.asarray(inner - (body.mass * full[:, :3] + centers) @ form.gravity)

    def _product(self, what: int, x: Array, z: Array, u: Array, size: int) -> Array:
        result = np.empty((len(x), size))
        body_products(what, tuple(self._tables), _block(x), _block(z), _block(u), result)
        return result


def _block(values: ArrayLike) -> Array:
    return np.ascontiguousarray(values, dtype=np.float64)


NOTHING = np.zeros((0, 0))
