"""The floating body of matrices that another program wrote (docs/theory.md, 2 and 3)."""

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.user_functions import called, check_callable
from phlexible.bodies.flexible.condensation import Choice, Condensed, condensed, interface_motion
from phlexible.bodies.flexible.inertia import nodal_moments, rigid_momenta
from phlexible.bodies.flexible.interfaces import Interface
from phlexible.bodies.flexible.matrices.nodal_model import GeometricStiffness, NodalModel
from phlexible.bodies.flexible.points import NodePoints
from phlexible.bodies.flexible.retained_body import retained_body
from phlexible.bodies.flexible.stiffening import condensed_strain, linear_strain, projected
from phlexible.bodies.floating_body import FloatingBody, StrainEnergy
from phlexible.errors import ParameterError

INERTIAL = "inertial"


def body_of_matrices(
    model: NodalModel,
    interfaces: tuple[Interface, ...],
    choice: Choice,
    geometric: GeometricStiffness | None,
    viscosity: float,
) -> tuple[FloatingBody, Condensed]:
    """The data of the body, and what was kept.

    Raises:
        ParameterError: matrices that are no body's, or geometric stiffness that does not fit.
    """
    rigid_momenta(model.mass, model.unknowns)
    found = condensed(model.mass, model.stiffness, model.unknowns, interfaces, choice)
    shapes, frequencies, unknowns = found.shapes, found.kept.frequencies, model.unknowns
    damping = np.diag(2 * choice.damping_ratio * frequencies)
    if model.damping is not None:
        own = shapes.T @ (model.damping @ shapes)
        damping = damping + (own + own.T) / 2
    rotates = (unknowns.component >= 3).any()
    points = NodePoints(
        unknowns.vectors(shapes, len(model.places)),
        interface_motion(interfaces, found.moved, found.turned),
        model.places,
        unknowns.rotations(shapes, len(model.places)) if rotates else None,
    )
    moments = nodal_moments(model.mass, unknowns, shapes)
    strain = _strain(model, found, interfaces, choice, geometric)
    data = retained_body(unknowns.dimension, model.places, moments, strain, damping, viscosity, points)
    return data, found


def _strain(
    model: NodalModel,
    found: Condensed,
    interfaces: tuple[Interface, ...],
    choice: Choice,
    geometric: GeometricStiffness | None,
) -> StrainEnergy:
    frequencies = found.kept.frequencies
    if geometric is None:
        return linear_strain(frequencies)
    if not isinstance(geometric, Mapping):
        check_callable("geometric_stiffness", geometric, "u")
        whole, name = np.zeros(int(model.kept.max()) + 1), "geometric_stiffness(u)"

        def matrix_of(shape: Array) -> sparse.csr_array:
            whole[model.kept] = shape
            return model.restricted(name, called(geometric, name, whole.copy(), at="at a shape of the body"))

        return condensed_strain(frequencies, projected(found.shapes, matrix_of) + found.tied_work)
    loads = _labelled(model, interfaces, choice, geometric)
    mixture = found.mixture()  # of the answers to all loads, (loads, n)
    small = [found.shapes.T @ (matrix @ found.shapes) for matrix in loads.values()]
    rows = mixture[list(loads)]
    return condensed_strain(frequencies, np.einsum("lk,lij->kij", rows, np.array(small)) + found.tied_work)


def _labelled(
    model: NodalModel,
    interfaces: tuple[Interface, ...],
    choice: Choice,
    geometric: Mapping[str, object],
) -> dict[int, sparse.csr_array]:
    """Matrices by the number of their load among those that the shapes answer."""
    each = model.unknowns.dimension + (len(model.unknowns.spin_axes) if choice.moments else 0)
    names = [interface.name for interface in interfaces]
    spins = 4 if model.unknowns.dimension == 2 else 12
    known = {name: (number * each, each) for number, name in enumerate(names)}
    if choice.inertial_shapes:
        known[INERTIAL] = (len(names) * each, spins)
    found: dict[int, sparse.csr_array] = {}
    for name, matrices in geometric.items():
        if name not in known:
            raise ParameterError(
                f"geometric_stiffness: {name!r} is none of the loads, which are {', '.join(map(repr, known))}"
            )
        first, count = known[name]
        if not isinstance(matrices, list | tuple) or len(matrices) > count:
            raise ParameterError(f"geometric_stiffness[{name!r}] must be a list of at most {count} matrices")
        for number, matrix in enumerate(matrices):
            if matrix is not None:
                found[first + number] = model.restricted(f"geometric_stiffness[{name!r}][{number}]", matrix)
    if not found:
        raise ParameterError("geometric_stiffness holds no matrices; leave it out for linear strain")
    return found
