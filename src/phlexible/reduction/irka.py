"""Basis of pyMOR's pH-IRKA: frequencies that are optimal in the H2 norm for the collocated outputs.

S. Gugercin, R. V. Polyuga, C. Beattie, A. van der Schaft, *Structure-preserving tangential interpolation
for model reduction of port-Hamiltonian systems*, Automatica 48, 2012.
"""

from importlib import import_module

import numpy as np
from scipy import linalg

from phlexible.algebra.arrays import Array
from phlexible.errors import MissingExtraError, ModelError, ParameterError
from phlexible.reduction.normal_form import NormalForm

MOST_ROUNDS = 30


def irka_basis(form: NormalForm, order: int) -> Array:
    """Orthonormal columns, shape (n, order); rigid motions that inputs cause come first.

    Raises:
        MissingExtraError: pyMOR is not installed.
        ParameterError: an order below the number of rigid motions.
        ModelError: the iteration ends with nothing.
    """
    count = order - form.rigid.shape[1]
    if count < 1:
        raise ParameterError(f"order must be above the {form.rigid.shape[1]} rigid motions, got {order}")
    try:
        models = import_module("pymor.models.iosys")
        reductors = import_module("pymor.reductors.ph.ph_irka")
        import_module("pymor.core.logger").set_log_levels({"pymor": "ERROR"})
    except ImportError as error:
        raise MissingExtraError("pyMOR is needed here; install it with: pip install phlexible[mor]") from error
    V = form.moving
    if count >= V.shape[1]:
        return np.hstack([form.rigid, V])
    model = models.PHLTIModel.from_matrices(
        V.T @ form.structure @ V, V.T @ form.dissipation @ V, V.T @ form.ports, Q=np.eye(V.shape[1])
    )
    reductor = reductors.PHIRKAReductor(model)
    reductor.reduce(count, tol=1e-3, maxit=MOST_ROUNDS)
    found = reductor.V.to_numpy()
    if not found.shape[1]:
        raise ModelError(f"IRKA finds no basis of order {order}; take another order or method")
    columns, _, _ = linalg.svd(np.hstack([found.real, found.imag]), full_matrices=False)  # of an odd one out: real
    return np.hstack([form.rigid, V @ columns[:, : min(count, found.shape[1])]])
