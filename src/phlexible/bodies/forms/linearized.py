"""Small motions of one body about rest; (45) of Brugnoli et al. (2020)."""

import numpy as np

from phlexible.bodies.forms.floating import BodyState, FloatingBodyForm
from phlexible.errors import ModelError
from phlexible.port_hamiltonian.linear import LinearPHDAE

GENERALIZED_COORDINATES = ("position", "rotation_rows", "displacement")


def linearized(form: FloatingBodyForm) -> LinearPHDAE:
    """The form of a body about rest, undeformed, with constant matrices.

    States: velocity, angular_velocity, elastic_velocity and stress; ports as of the form. Position, rotation and
    displacement are left out, and with them gravity. Everything is in body axes: the transformer of a joint
    takes the rotation between two bodies ((41)).

    Args:
        form: what ``body.port_hamiltonian()`` returned.

    Raises:
        ModelError: something else.
    """
    if not isinstance(form, FloatingBodyForm):
        raise ModelError(f"linearized takes what body.port_hamiltonian() returned, got {form!r}")
    n, rest = form.body.elastic_count, np.zeros(3)
    still = BodyState(
        rest, form.fixed_rotation, np.zeros(n), rest, rest, np.zeros(n), np.zeros(form.stress_space.size)
    )
    x = form.joined(still)
    blocks = tuple(block for block in form.states if block.name not in GENERALIZED_COORDINATES)
    begin = form.state_slice(blocks[0].name).start
    matrices = (form.descriptor_matrix(x), form.structure_matrix(x), form.dissipation_matrix(x))
    descriptor, structure, dissipation = (matrix[begin:, begin:] for matrix in matrices)
    return LinearPHDAE(descriptor, structure, dissipation, form.port_matrix(x)[begin:], blocks, form.ports)
