"""An observer of a linear model whose feedback is passive, whatever the model left out (docs/theory.md, 8)."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import Array, numbers, positive
from phlexible.errors import ModelError, ParameterError
from phlexible.interactions.control.linear_law import LinearController
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.results.linear_model import LinearModel


@dataclass(frozen=True, eq=False)
class PassiveObserver:
    """A controller that follows a linear model beside the plant and damps what it sees there.

    Attributes:
        model: the controller in port-Hamiltonian form, from what is measured to the forces with the opposite sign:
            ``linear.interconnect(observer.model)`` is the loop, with a ``passivity()`` of its own.
        law: the same from what is measured to the forces, for ``Feedback(observer.law, measured, on=...)`` and
            ``linear.interconnect(observer.law)``.
    """

    model: LinearModel
    law: LinearController


def passive_observer(linear: LinearModel, damping: ArrayLike, injection: float = 1.0) -> PassiveObserver:
    """What a passive linear model, often a reduced one, knows of the velocities, fed back as damping.

    ``x' = (J - R) Q x + B u + injection B K (y - B^T Q x)``, ``u = -K B^T Q x`` (8.33): the energy of its error
    falls as that of the plant does, and the whole is a passive system at the ports of the plant. Connected with any
    passive plant it is stable, also with the modes that a reduction left out.

    Args:
        linear: with inputs; what is measured are the power-conjugate velocities, in their order: the
            ``AngularVelocity`` where a ``Torque`` acts, the ``Velocity`` where a ``Force`` does.
        damping: K, one number or one for each input [force over velocity].
        injection: of measured errors over the damping; large: the observer trusts the sensors.

    Raises:
        ModelError: no linear model, one without inputs, or one that is not passive.
        ParameterError: numbers that are not positive, or not one for each input.
    """
    if not isinstance(linear, LinearModel):
        raise ModelError(f"linear must be what model.linearize or reduce returned, got {linear!r}")
    if not linear.port_size:
        raise ModelError("the linear model has no inputs; give some to linearize")
    gains = numbers("damping", damping)
    if gains.shape not in ((), (linear.port_size,)) or not np.isfinite(gains).all() or not (gains > 0).all():
        raise ParameterError(f"damping must be a positive number, or {linear.port_size} of them, got {damping!r}")
    share = positive("injection", injection)
    if not linear.passivity().is_passive:
        raise ModelError("the linear model is not passive: springs that push, or forces that feed it energy")
    own = linear.standard_form()
    J, R, B, Q = (_dense(each) for each in (own.structure, own.dissipation, own.port_map, own.effort_map))
    K = np.diag(np.broadcast_to(gains, linear.port_size))
    loss = share * (R + (1.0 + share) * B @ K @ B.T)
    controller = LinearPHDAE(
        sparse.eye_array(own.order),
        sparse.csr_array(share * J),
        sparse.csr_array(0.5 * (loss + loss.T)),
        sparse.csr_array(share * B @ K),
        tuple(replace(block, name=f"observed {block.name}") for block in own.states),
        tuple(replace(port, input_unit=port.output_unit, output_unit=port.input_unit) for port in own.ports),
        sparse.csr_array(Q / share),
    )
    seen = K @ B.T @ Q
    law = LinearController((J - R) @ Q - (1.0 + share) * B @ seen, share * B @ K, -seen, np.zeros_like(K))
    return PassiveObserver(LinearModel.of(controller), law)


def _dense(matrix: object) -> Array:
    return np.asarray(sparse.csr_array(matrix).todense(), dtype=np.float64)
