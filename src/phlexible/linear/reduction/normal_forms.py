"""Dense models in energy coordinates, and bases of their states: balanced ones, pH-IRKA."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from scipy import linalg

from phlexible.algebra.arrays import Array, BoolArray
from phlexible.errors import MissingExtraError, ModelError, ParameterError
from phlexible.linear.first_order import EnergyForm

# First-order form with energy ``|x|^2 / 2``: ``dx/dt = (J - R) x + B u``, for bases of states.
#
# x = (L^T q, C^T v, e) with K = L L^T, M = C C^T and strains e of laws that creep. An orthonormal basis V keeps the
# form, with V^T J V, V^T R V, V^T B. Constant rigid motions, which nothing damps, are split off and kept.

LARGEST = 1500
ROUND_OFF = 1e-13
REACHED = 1e-10
STILL = 1e-9  # rates of a reduced model that are none
DRIFTING = 1e-6  # rates of the full model that are more than round-off


@dataclass(frozen=True, eq=False)
class NormalForm:
    """Linear model ``dx/dt = (J - R) x + B u`` with energy ``|x|^2 / 2`` as dense matrices, with its constant
    states separated.

    Attributes:
        structure: J, shape (n, n), skew.
        dissipation: R, shape (n, n), positive semi-definite.
        ports: B, shape (n, inputs).
        outputs: C of the outputs, shape (outputs, n).
        rigid: orthonormal states with J x = R x = 0 that the inputs reach, shape (n, k).
        moving: an orthonormal basis of the complement of all such states, shape (n, m).
        velocities: which states are velocities, shape (n,); None: not known, or stresses have losses.
    """

    structure: Array
    dissipation: Array
    ports: Array
    outputs: Array
    rigid: Array
    moving: Array
    velocities: BoolArray | None


def normal_form_of_states(form: EnergyForm) -> NormalForm:
    """Convert a linear model (``form``) in energy coordinates to the free coordinates that constraints leave.
    The equations are ``dx/dt = (J - R) x + B u``, with the energy ``|x|^2 / 2``. Inputs that prescribe
    velocities act through inertia."""
    structure, dissipation = form.on_free_states(form.structure), form.on_free_states(form.dissipation)
    coupling = form.coupling
    velocities = None if coupling is None else np.arange(len(structure)) < len(coupling)
    return _with_constants(structure, dissipation, form.free_ports, form.free_outputs, velocities)


def _with_constants(
    structure: Array, dissipation: Array, ports: Array, outputs: Array, velocities: BoolArray | None
) -> NormalForm:
    """Return a ``NormalForm``, which stores the given matrices of a linear model in energy coordinates and two
    bases of its states. The model is dx/dt = (J - R) x + B u with energy |x|^2 / 2; J is ``structure``, R
    ``dissipation``, B ``ports``. ``outputs`` is the matrix of its outputs, ``velocities`` marks the states that are
    velocities (None: not known). The basis ``moving`` is orthogonal to constant states (null space of J and R).
    ``rigid`` spans the constant states that inputs excite, by a singular value decomposition.
    """
    size = np.abs(structure).max(initial=0.0) or 1.0
    still = linalg.null_space(np.vstack([structure, dissipation]) / size, rcond=1e-9)
    moving = linalg.null_space(still.T) if still.shape[1] else np.eye(len(structure))
    parts = still.T @ ports
    left, sizes, _ = linalg.svd(parts, full_matrices=False) if parts.size else (np.zeros((0, 0)), np.zeros(0), 0)
    rigid = still @ left[:, sizes > REACHED * np.linalg.norm(ports)] if parts.size else still[:, :0]
    return NormalForm(structure, dissipation, ports, outputs, rigid, moving, velocities)


def refuse_drifting(small: Array, speeds: Callable[[Array], Array]) -> None:
    """Raise ``ModelError`` if a reduced model has constant states in which the full model would change, since it
    would drift without bound. Constant states are null vectors of ``small`` (k, k), the matrix J - R of the reduced
    model: singular values are below 1e-9 of the largest. ``speeds`` is called once with these vectors (k, m), if
    there are any, and returns how fast the full model changes in each, shape (m,).

    Args:
        small: J - R of the reduced model, without constraints, shape (k, k).
        speeds: how fast the full model changes in some states (k, m) of the reduced one, by its energy, shape (m,).

    Raises:
        ModelError: a basis of velocities without their stresses, or the other way round.
    """
    _, sizes, right = linalg.svd(small)
    still = right[sizes <= STILL * sizes.max(initial=0.0)].T
    if not still.shape[1]:
        return
    count = int((speeds(still) > DRIFTING * sizes.max(initial=0.0)).sum())
    if count:
        raise ModelError(
            f"at order {len(small)} the reduced model has {count} motion{'s' * (count > 1)} that "
            "drifts, which the full model has not; take an order that is higher or lower by one"
        )


# Balanced basis: the states that inputs reach and outputs see best, by Gramians.
#
# The dominant directions of balanced truncation, made orthonormal in the energy and used from both sides,
# so that the reduced model is port-Hamiltonian (balanced truncation itself would not be).

LEAST_DAMPING = 1e-12
PAIR = 0.9  # of Hankel values that are not told from each other
GRAMIAN_ROUND_OFF = np.finfo(float).eps


def balanced_basis(form: NormalForm, order: int) -> Array:
    """Return an orthonormal basis of at most ``order`` states of a model for balanced truncation. Rigid motions
    that inputs cause come first, then directions of the largest Hankel singular values, from two Lyapunov
    equations. Velocities and the stresses that they cause are selected together. Raise ``ModelError`` if a mode
    has no damping, ``ParameterError`` if ``order`` is not above the number of rigid motions.

    k = order, or less where fewer states are both reached by inputs and seen by outputs: Gramians are known up
    to round-off, products of their factors (the Hankel values) up to its root.

    Raises:
        ModelError: a mode without damping, whose Gramians do not exist.
        ParameterError: an order that is not above the number of rigid motions.
    """
    count = order - form.rigid.shape[1]
    if count < 1:
        raise ParameterError(f"order must be above the {form.rigid.shape[1]} rigid motions, got {order}")
    V = form.moving
    if not V.shape[1]:
        return form.rigid
    A = V.T @ (form.structure - form.dissipation) @ V
    values = linalg.eigvals(A)
    if values.real.max() > -LEAST_DAMPING * np.abs(values).max():
        raise ModelError(
            "a balanced reduction needs damping in every mode (Beam(damping_ratio=...)); "
            'take method="krylov" or "modal" for a lossless model'
        )
    B, C = V.T @ form.ports, form.outputs @ V
    C = C / np.maximum(np.linalg.norm(C, axis=1), 1e-300)[:, None]
    reached, seen = (
        _factor(linalg.solve_continuous_lyapunov(A, -B @ B.T)),
        _factor(linalg.solve_continuous_lyapunov(A.T, -C.T @ C)),
    )
    _, hankel, right = linalg.svd(seen.T @ reached)
    floor = np.sqrt(len(A) * GRAMIAN_ROUND_OFF) * np.linalg.norm(reached, 2) * np.linalg.norm(seen, 2)
    known = int((hankel > floor).sum())
    if not known:
        return form.rigid
    pairs, count = count // 2, min(count, known)
    directions = V @ reached @ right[:known].T
    directions /= np.linalg.norm(directions, axis=0)
    if form.velocities is not None:
        return np.hstack([form.rigid, _pairs(form, directions * hankel[:known], pairs, floor)])
    while 0 < count < len(hankel) and hankel[count] > PAIR * hankel[count - 1]:  # a velocity and its stress
        count -= 1
    columns, _ = linalg.qr(directions[:, :count], mode="economic")
    return np.hstack([form.rigid, columns])


def _pairs(form: NormalForm, directions: Array, count: int, floor: float) -> Array:
    """Return a basis of states, shape (n, k), of at most ``count`` velocity vectors and of the stresses whose rates
    they cause. They span the given ``directions`` (columns, weighted by their lengths) as well as possible, by a
    singular value decomposition; stresses in the directions count by the velocities that cause them. Velocities
    with singular values up to ten times ``floor`` are left out as round-off.

    At most ``count`` motions, of those that are moved more than ``floor``.

    A velocity and a stress that do not belong together would make low frequencies that the model has not.
    """
    moving = form.velocities
    assert moving is not None, "asked before"
    rate = form.structure[~moving][:, moving]
    strained = linalg.lstsq(rate, directions[~moving])[0]
    size = np.linalg.norm(strained, axis=0)
    strained *= np.linalg.norm(directions[~moving], axis=0) / np.where(size > 0, size, 1.0)
    left, sizes, _ = linalg.svd(np.hstack([directions[moving], strained]), full_matrices=False)
    motions = left[:, : min(count, int((sizes > 10 * floor).sum()))]
    stresses, sizes, _ = linalg.svd(rate @ motions, full_matrices=False)
    stresses = stresses[:, sizes > REACHED * sizes.max(initial=0.0)]
    columns = np.zeros((len(moving), motions.shape[1] + stresses.shape[1]))
    columns[moving, : motions.shape[1]], columns[~moving, motions.shape[1] :] = motions, stresses
    return columns


def _factor(gramian: Array) -> Array:
    """Return a factor L with gramian = L L^T of a symmetric positive semi-definite matrix, shape (n, n); negative
    eigenvalues (round-off) count as zero."""
    values, vectors = linalg.eigh((gramian + gramian.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


# Basis of pyMOR's pH-IRKA: frequencies that are optimal in the H2 norm for the collocated outputs.
#
# S. Gugercin, R. V. Polyuga, C. Beattie, A. van der Schaft, *Structure-preserving tangential interpolation
# for model reduction of port-Hamiltonian systems*, Automatica 48, 2012.

MOST_ROUNDS = 30


def irka_basis(form: NormalForm, order: int) -> Array:
    """Return a basis for model reduction by the iterative rational Krylov algorithm for port-Hamiltonian models
    (pH-IRKA of pyMOR). It has at most ``order`` orthonormal columns, first the rigid motions of ``form``. If the
    model has no more states than ``order``, its whole space is returned. Raise ``ParameterError`` unless ``order``
    exceeds the number of rigid motions, ``MissingExtraError`` without pyMOR.

    Raises:
        MissingExtraError: pyMOR is not installed.
        ParameterError: an order that is not above the number of rigid motions.
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
