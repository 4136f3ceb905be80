"""Controllers that keep a model passive: shaped energies, dampers, observers (docs/theory.md, 8)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from phlexible.algebra.arrays import Array, finite, non_negative, optional_text, positive, reals
from phlexible.bodies.floating_body import FloatingBody
from phlexible.description.interactions.feedback import LinearController
from phlexible.description.interactions.force_elements import ForceElement, Potential
from phlexible.description.interactions.loads import Load
from phlexible.description.interactions.state_force import CompoundForce
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import Attachment, PlacedBody, Port
from phlexible.description.references import with_replaced_references
from phlexible.errors import EquilibriumError, ModelError, ParameterError
from phlexible.linear.equilibria import OperatingKind, OperatingPoint, operating_point
from phlexible.linear.mechanics import linear_mechanics
from phlexible.linear.symmetric_modes import growth_rate
from phlexible.model import Model
from phlexible.port_hamiltonian.linear import LinearPHDAE
from phlexible.results.linear_model import LinearModel
from phlexible.state.system import System, system_of

# Energy shaping and damping injection in a joint (IDA-PBC, docs/theory.md, 8).

ITERATIONS, CLOSE = 12, 1e-10


@dataclass(frozen=True, eq=False)
class EnergyShaping(CompoundForce):
    """A potential and a damper in a joint that make a wanted state the minimum of the energy, for ``Model.apply``.

    The torque is -dU/dtheta - d theta' (8.29), U = k (theta - target)^2 / 2 - V(theta) - c (theta - target), with
    the potential V of gravity as the joint would feel it were all beyond it rigid, and the torque c that flexible
    links need beside it to stay at the target. The total energy of the motion is then the closed loop's, which only
    dampers change: whatever the step, and however links bend, it falls.

    Attributes:
        joint: that is driven.
        target: its coordinate [rad or m].
        stiffness: k [N m/rad or N/m].
        damping: d [N m s/rad or N s/m].
        weight: V = weight[0] theta of a sliding joint [N]; weight[0] cos theta + weight[1] sin theta of a turning
            one [N m].
        offset: c [N m or N].
        name: of the element.
    """

    joint: Joint
    target: float
    stiffness: float
    damping: float
    weight: tuple[float, float]
    offset: float = 0.0
    name: str | None = None

    @property
    def potential(self) -> Potential:
        """Return the controller's potential energy U [J] as a function of the joint coordinate, with its
        derivative; the controller's force is -dU/dq. It is a parabola around the target minus the gravity
        potential and a linear term. Therefore the total energy has its minimum at the target."""
        k, target, c, (a, b) = self.stiffness, self.target, self.offset, self.weight
        around = (target - 1.0, target + 1.0)
        if not self.turns:
            return Potential(
                lambda s: 0.5 * k * (s - target) ** 2 - a * s - c * (s - target),
                lambda s: k * (s - target) - a - c,
                around,
            )
        return Potential(
            lambda theta: (
                0.5 * k * (theta - target) ** 2 - a * np.cos(theta) - b * np.sin(theta) - c * (theta - target)
            ),
            lambda theta: k * (theta - target) + a * np.sin(theta) - b * np.cos(theta) - c,
            around,
        )

    @property
    def turns(self) -> bool:
        """Return whether the controlled joint coordinate is an angle (otherwise it is a position)."""
        return self.joint.coordinate_names[0].endswith("angle")

    def parts(self) -> tuple[Load | ForceElement, ...]:
        """Return the elements by which the controller acts, a joint spring with the shaping potential and a damper,
        as a tuple of one."""
        return (self.joint.spring(potential=self.potential, damping=self.damping, name=self.name),)


def energy_shaping(
    model: Model, joint: Joint, target: float, *, stiffness: float, damping: float, name: str | None = None
) -> EnergyShaping:
    """Design a passive controller that moves the minimum of the total energy along one joint of a model to a
    ``target``, and return it. It consists of a potential, a parabola less gravity, and a damper; the model is not
    changed. ``stiffness`` is that of the total energy [N m/rad or N/m]. Joints in loops or with several
    coordinates raise ``ModelError``.

    Args:
        model: with the joint, and without what drives it.
        joint: with one coordinate, between a part that stands still and the one that it moves.
        target: of its coordinate [rad or m].
        stiffness: of the shaped energy [N m/rad or N/m]; large enough for a minimum.
        damping: that is injected [N m s/rad or N s/m].
        name: of the element in the model.

    Raises:
        ModelError: a joint of another model, with several coordinates, or in a loop.
        EquilibriumError: links bend so much that no torque of the joint keeps the target.
    """
    _check_model(model)
    name = optional_text("name", name)
    _check_joint(model, joint)
    target, stiffness = finite("target", target), positive("stiffness", stiffness)
    damping = non_negative("damping", damping)
    moved, sign = _moved(model, joint)
    if moved is None:
        raise ModelError(f"{joint} is in a loop: both of its sides hold on to the ground without it")
    weight = _weight(model, joint, moved, sign)
    shaped = EnergyShaping(joint, target, stiffness, damping, weight, 0.0, name)
    is_flexible = any(placed.data.elastic_count for placed in moved if isinstance(placed.data, FloatingBody))
    position = target
    for _ in range(ITERATIONS if is_flexible and model.gravity.any() else 0):
        position = float(_at_rest(model, [shaped])[0][0])
        if abs(position - target) <= CLOSE * max(1.0, abs(target)):
            return shaped
        shaped = replace(shaped, offset=shaped.offset + stiffness * (target - position))
    if position == target:  # rigid, or nothing pulls: the shape is exact
        return shaped
    raise EquilibriumError(f"{joint} does not stay at {target:g}: it came to {position:g}; take more stiffness")


def damping_injection(model: Model, dampings: Mapping[Joint, float]) -> None:
    """Add a viscous damper to each joint in ``dampings`` in place, with positive coefficients by joint [N m s/rad
    or N s/m]. The energy of the model then falls while the joints move. ParameterError is raised for other
    arguments, ModelError for joints of another model or with several coordinates.

    Raises:
        ParameterError: no mapping, or numbers out of range.
        ModelError: joints of another model, or with several coordinates.
    """
    _check_model(model)
    if not isinstance(dampings, Mapping):
        raise ParameterError(f"dampings must be numbers by joint, got {dampings!r}")
    for joint, damping in dampings.items():
        if not isinstance(joint, Joint):
            raise ParameterError(f"dampings must be numbers by joint, got {joint!r}: {damping!r}")
        model.apply(joint.damper(positive(f"damping of {joint}", damping)))


def _check_model(model: object) -> None:
    if not isinstance(model, Model):
        raise ModelError(f"model must be a Model with a joint that is driven, got {model!r}")


def _check_joint(model: Model, joint: Joint) -> None:
    """Raise ``ModelError`` unless ``joint`` is a joint object of the ``model`` (compared by identity) and has
    exactly one coordinate. It is the joint in which a controller is to shape the energy."""
    if not any(joint is each for each in model.joints):
        raise ModelError(f"joint must be one of the model, got {joint!r}; call model.connect(joint) first")
    if len(joint.coordinate_names) != 1:
        raise ModelError(
            f"energy is shaped in joints with one coordinate, {joint} has {len(joint.coordinate_names)}"
        )


def torque_of_weight(model: Model, joint: Joint, position: float) -> float:
    """Return the torque [N m] or force [N] in a ``joint`` that balances the weight of all bodies that it carries,
    at its coordinate ``position``. Other joints are at their initial positions, and bodies are treated as rigid.
    It is zero if the joint is in a loop or a carried body has no floating frame.

    The other joints are at their initial positions. 0 where joints are in a loop, or carry deformable absolute
    bodies.
    """
    moved, sign = _moved(model, joint)
    if moved is None or not all(isinstance(placed.data, FloatingBody) for placed in moved):
        return 0.0
    a, b = _weight(model, joint, moved, sign)
    turns = joint.coordinate_names[0].endswith("angle")
    return float(b * np.cos(position) - a * np.sin(position)) if turns else a


def _moved(model: Model, joint: Joint) -> tuple[list[PlacedBody] | None, float]:
    """Return the list of bodies on the free side of a joint, and the sign of this side: 1 for the joint's second
    side, else -1. The free side has no other connection to the ground. The list is None if the joint is in a loop,
    where neither side is free."""
    moved = _beyond(model, joint, joint.second)
    return (moved, 1.0) if moved is not None else (_beyond(model, joint, joint.first), -1.0)


def _beyond(model: Model, joint: Joint, port: Port) -> list[PlacedBody] | None:
    """Return all bodies that joints connect to a ``port`` of a ``joint`` without passing this joint, by graph
    search. The port's own body is included. Return None if a connection reaches the ground, or if the port is on
    the ground."""
    if not isinstance(port, Attachment):
        return None
    found, waiting = {port.placed}, [port.placed]
    while waiting:
        body = waiting.pop()
        for other in model.joints:
            ends = [end.placed if isinstance(end, Attachment) else None for end in (other.first, other.second)]
            if other is joint or body not in ends:
                continue
            for end in ends:
                if end is None:
                    return None
                if end not in found:
                    found.add(end)
                    waiting.append(end)
    return list(found)


def _weight(model: Model, joint: Joint, moved: Iterable[PlacedBody], sign: float) -> tuple[float, float]:
    """Return the coefficients (a, b) of the gravity potential, as a function of one joint coordinate q, of the
    bodies that the joint moves. The potential is a cos q + b sin q for an angle, in J. For a displacement it is a
    q, a in N, and b is zero. ``moved`` are these bodies; ``sign`` is 1 if they are on the joint's second side,
    else -1."""
    axis = np.asarray(getattr(joint, "axis", (0.0, 0.0, 1.0)), dtype=np.float64)
    axis, pivot, gravity = axis / np.linalg.norm(axis), joint.second.initial_position(), model.gravity
    mass, moment = 0.0, np.zeros(3)
    for placed in moved:
        own = _mass_and_center(placed)
        mass, moment = mass + own[0], moment + own[0] * (own[1] - pivot)
    if not joint.coordinate_names[0].endswith("angle"):
        return -sign * mass * float(gravity @ axis), 0.0
    across = moment - (moment @ axis) * axis
    return -float(gravity @ across), -sign * float(gravity @ np.cross(axis, moment))


def _mass_and_center(placed: PlacedBody) -> tuple[float, Array]:
    """Return the mass [kg] and the centre of mass of an undeformed body (``placed``) in world axes, shape
    (3,) [m]."""
    data = placed.data
    if not isinstance(data, FloatingBody):
        raise ModelError(f"{placed.name} has no shape of its own that a joint could carry; give a spring instead")
    return data.mass, placed.position + placed.rotation @ np.asarray(data.first_moments)[:, 0] / data.mass


# Energies of several joints that are shaped together: springs, torques and dampers (docs/theory.md, 8).

SHARED_ITERATIONS = 20


@dataclass(frozen=True, eq=False)
class SharedShaping(CompoundForce):
    """Shapes of several joints whose minimum is one pose, for ``Model.apply``.

    Attributes:
        shapes: of each joint, without a weight of its own: ``offset`` is what holds the others and all weights.
    """

    shapes: tuple[EnergyShaping, ...]

    def parts(self) -> tuple[Load | ForceElement, ...]:
        """Return the elements by which the controller acts: a spring with the shaping potential and a damper in
        each joint."""
        return tuple(part for shape in self.shapes for part in shape.parts())


def shared_energy_shaping(
    model: Model, targets: Mapping[Joint, float], *, stiffness: float, damping: float
) -> SharedShaping:
    """Design a passive controller for several joints of a model whose closed-loop energy has its minimum at all
    ``targets``, and return it. It has a spring (potential) and a damper for each joint; the model is not changed.
    ``stiffness`` and ``damping`` are the coefficients of all. Offsets are found by Broyden's method;
    ``EquilibriumError`` if it fails or the targets are no minimum.

    In each joint U = k (theta - target)^2 / 2 - c (theta - target) and a damper; the torques c, which hold weights,
    springs and bent links there, are found from equilibria. With enough stiffness the pose is a minimum (Takegaki
    and Arimoto 1981), and the energy of the motion, which is the closed loop's, falls to it at any step. Joints may
    be in loops.

    Args:
        model: with the joints, and without what drives them.
        targets: of the coordinate of each joint [rad or m].
        stiffness: k of all [N m/rad or N/m].
        damping: of all [N m s/rad or N s/m].

    Raises:
        ModelError: joints of another model, or with several coordinates.
        ParameterError: no mapping, or numbers out of range.
        EquilibriumError: the targets are no equilibrium, or no minimum; with the stiffness that was too small.
    """
    _check_model(model)
    if not isinstance(targets, Mapping) or not targets:
        raise ParameterError(f"targets must be numbers by joint, got {targets!r}")
    k, d = positive("stiffness", stiffness), non_negative("damping", damping)
    for joint in targets:
        _check_joint(model, joint)
    shapes = [
        EnergyShaping(joint, finite(f"target of {joint}", target), k, d, (0.0, 0.0))
        for joint, target in targets.items()
    ]
    offsets = np.array([torque_of_weight(model, shape.joint, shape.target) for shape in shapes])
    shapes = [replace(shape, offset=float(c)) for shape, c in zip(shapes, offsets, strict=True)]
    inverse = k * np.eye(len(shapes))
    gaps, system, rest = _gaps(model, shapes)
    for _ in range(SHARED_ITERATIONS):  # Broyden's good method
        if np.abs(gaps).max() <= CLOSE:
            if growth_rate(linear_mechanics(system, rest)[0]) > 0.0:
                raise EquilibriumError(f"the targets are no minimum of the energy; take more stiffness than {k:g}")
            return SharedShaping(tuple(shapes))
        change = inverse @ gaps
        offsets = offsets + change
        shapes = [replace(shape, offset=float(c)) for shape, c in zip(shapes, offsets, strict=True)]
        before = gaps
        gaps, system, rest = _gaps(model, shapes)
        expected = inverse @ (before - gaps)
        if (size := change @ expected) == 0.0:  # nothing answers
            break
        inverse += np.outer(change - expected, change @ inverse) / size
    missed = np.abs(gaps).max()
    raise EquilibriumError(
        f"the joints do not stay at their targets, {missed:.3g} is missed; take more stiffness than {k:g}"
    )


def _gaps(model: Model, shapes: Sequence[EnergyShaping]) -> tuple[Array, System, OperatingPoint]:
    """Return the target joint coordinates minus the coordinates in equilibrium with trial controllers
    (``shapes``), and the trial's system and equilibrium. A copy of the model gets the controllers, so that the
    model is unchanged. If there is no equilibrium, raise ``EquilibriumError`` with the advice to increase the
    stiffness."""
    try:
        positions, system, rest = _at_rest(model, shapes)
    except EquilibriumError as error:
        raise EquilibriumError(
            f"the joints do not stay near their targets; take more stiffness than {shapes[0].stiffness:g}"
        ) from error
    return np.array([shape.target for shape in shapes]) - positions, system, rest


def _at_rest(model: Model, shapes: Sequence[EnergyShaping]) -> tuple[Array, System, OperatingPoint]:
    """Return the joint coordinates at static equilibrium with the energy-shaping controllers ``shapes``, shape
    (joints,) [m or rad], with the system and the equilibrium. The controllers are applied together to a copy of
    the model, so that the model is unchanged."""
    copy, shared = model.copy(), SharedShaping(tuple(shapes))
    moved = with_replaced_references(shared, dict(zip(model.joints, copy.joints, strict=True)))
    copy.apply(moved)
    system = system_of(copy)
    rest = operating_point(system, OperatingKind.STATIC, None)
    at = system.at(rest.state)
    coordinates = [shape.joint.coordinates(system.dimension)[0] for shape in moved.shapes]
    positions = [each.value(system.coordinate_functions(each).values(at)[0]) for each in coordinates]
    return np.array(positions), system, rest


# An observer of a linear model whose feedback is passive, whatever the model left out (docs/theory.md, 8).


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
    """Design an observer of a passive linear model that feeds estimated velocities back as damping. Return it as a
    port-Hamiltonian model together with its control law. ``damping`` are the gains [force over velocity];
    ``injection`` is the ratio of the gain of measured errors to the damping. Raise ``ModelError`` if the model has
    no inputs or is not passive.

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
    gains = reals("damping", damping)
    if gains.shape not in ((), (linear.port_size,)) or not np.isfinite(gains).all() or not (gains > 0).all():
        raise ParameterError(f"damping must be a positive number, or {linear.port_size} of them, got {damping!r}")
    share = positive("injection", injection)
    if not linear.passivity().is_passive:
        raise ModelError("the linear model is not passive: negative stiffness, or forces that feed energy")
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
