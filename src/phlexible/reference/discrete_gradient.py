"""The discrete gradient scheme on the port-Hamiltonian form: (33)-(36) of Kinon et al. (2023).

    E (x_1 - x_0) = h (J - R)(x_m) z(x_0, x_1) + h B u(t_m),   E^T z . (x_1 - x_0) = H(x_1) - H(x_0)

with x_m = (x_0 + x_1) / 2: the reference way to the motion of a string, readable line by line. The
conserving step of the kernels is the same scheme without the state C.
"""

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from phlexible.algebra.arrays import Array, positive
from phlexible.errors import ConvergenceError
from phlexible.port_hamiltonian.model import DiscreteGradientModel
from phlexible.reference.collocation import Trajectory

ITERATIONS = 60
DONE = 1e-15
ACCEPTED = 1e-11


def integrate_discrete_gradient(
    model: DiscreteGradientModel,
    initial: Array,
    duration: float,
    steps: int,
    inputs: Callable[[float], Array] | None = None,
) -> Trajectory:
    """Integrates from t = 0 in equal steps.

    Args:
        model: with a constant, regular E.
        initial: x at t = 0, shape (n,).
        inputs: u(t), taken in the middle of each step, shape (m,); None: zero.

    Raises:
        ConvergenceError: the iteration fails in a step; take a smaller one.
    """
    step = positive("duration", duration) / steps
    x = np.asarray(initial, dtype=np.float64)
    states = [x]
    for k in range(steps):
        u = np.zeros(model.port_size) if inputs is None else np.asarray(inputs((k + 0.5) * step))
        x = _advanced(model, x, u, step, k * step)
        states.append(x)
    return Trajectory(step * np.arange(steps + 1, dtype=np.float64), np.array(states))


def _advanced(model: DiscreteGradientModel, start: Array, u: Array, step: float, time: float) -> Array:
    """The state a step later; Newton's matrix is that of the midpoint rule."""
    end, descriptor = start.copy(), sparse.csc_matrix(model.descriptor_matrix(start))
    history: list[float] = []
    for _ in range(ITERATIONS):
        middle = (start + end) / 2
        effort = model.discrete_effort(start, end)
        forces = (model.structure_matrix(middle) - model.dissipation_matrix(middle)) @ effort
        defect = descriptor @ (end - start) - step * (forces + model.port_matrix(middle) @ u)
        slope = model.force_slope(middle)
        change = splu(sparse.csc_matrix(descriptor - step / 2 * slope)).solve(-defect)
        end = end + change
        history.append(float(np.abs(change).max() / np.abs(end).max()))
        if history[-1] <= DONE or (history[-1] < ACCEPTED and history[-1] >= 0.5 * history[-2]):
            return np.asarray(end)
    raise ConvergenceError(
        f"the discrete gradient does not converge at t = {time:g} s with step {step:g} s; take a smaller step",
        time,
        np.array(history),
    )
