"""The second-order form of velocities and stresses: ``dv/dt = -D v - L s + B u, ds/dt = L^T v``.

With stresses s = L^T x these are motions x of unit mass with stiffness L L^T, for which the bases of mechanical
models hold. A basis Phi of motions stands for velocities Phi and stresses L^T Phi.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array
from phlexible.errors import ModelError, ParameterError
from phlexible.linear_analysis.first_order.energy_form import EnergyForm
from phlexible.linear_analysis.mechanics import LinearMechanics
from phlexible.reduction.bases import DEPENDENT, reachable_rigid_motions, undamped_modes
from phlexible.reduction.normal_form import NormalForm

BoolArray: TypeAlias = NDArray[np.bool_]


def pair_basis(
    form: EnergyForm,
    normal: NormalForm,
    order: int,
    method: str,
    basis: Callable[[LinearMechanics, int], Array],
    with_prescribed: bool = True,
) -> Array:
    """Orthonormal columns over the free states, at most ``order``: velocities and as many stresses.

    Args:
        basis: of a mechanical model: columns of a number of motions.
        with_prescribed: also for inputs that prescribe velocities, and for the forces there as outputs.

    Raises:
        ModelError: velocities are not told from stresses, or stresses have dynamics of their own.
        ParameterError: an order that leaves a velocity without its stress.
    """
    coupling = form.coupling
    if coupling is None:
        raise ModelError(
            f'method="{method}" needs to know which states are velocities and which stresses, without coupling or '
            "losses among stresses: give the states units, such as StateBlock(name, 'm/s', 1) and 'N', or take "
            'method="krylov", "balanced" or "irka"'
        )
    inputs = np.asarray(with_prescribed | (form.tie_ports == 0).all(axis=0))
    outputs = np.asarray(with_prescribed | (form.tie_outputs == 0).all(axis=1))
    mechanics = _mechanics(normal, coupling, inputs, outputs)
    rigid = reachable_rigid_motions(mechanics, undamped_modes(mechanics, mechanics.size)).shape[1]
    if (order - rigid) % 2:
        raise ParameterError(
            f'order must be {"odd" if rigid % 2 else "even"} for method="{method}": velocities and stresses in '
            f"pairs beside {rigid} rigid motions; got {order}"
        )
    count = (order + rigid) // 2
    motions = basis(mechanics, count)
    stresses, sizes, _ = linalg.svd(coupling.T @ motions, full_matrices=False)
    stresses = stresses[:, sizes > DEPENDENT * sizes.max(initial=0.0)]
    return np.asarray(linalg.block_diag(motions, stresses))


def _mechanics(normal: NormalForm, coupling: Array, inputs: BoolArray, outputs: BoolArray) -> LinearMechanics:
    """Motions of unit mass. A force on stresses, or an output of them, is one on motions by L."""
    v = len(coupling)
    ports, seen = normal.ports[:, inputs], normal.outputs[outputs]
    forces = np.hstack([ports[:v], coupling @ ports[v:]])
    rows = np.vstack([seen[:, :v], seen[:, v:] @ coupling.T])
    return LinearMechanics(
        sparse.eye_array(v, format="csr"),
        sparse.csr_array(-normal.structure[:v, :v]),
        sparse.csr_array(normal.dissipation[:v, :v]),
        sparse.csr_array(coupling @ coupling.T),
        sparse.csr_array((0, v)),
        forces[:, np.abs(forces).any(axis=0)],
        rows[np.abs(rows).any(axis=1)],
        (1,) * int(np.abs(rows).any(axis=1).sum()),
    )
