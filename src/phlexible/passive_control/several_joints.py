"""Energies of several joints that are shaped together: springs, torques and dampers (docs/theory.md, 8)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from phlexible.algebra.arrays import Array, finite, non_negative, positive
from phlexible.errors import EquilibriumError, ModelError, ParameterError
from phlexible.interactions.force_elements import ForceElement
from phlexible.interactions.loads import Load
from phlexible.interactions.state_force import CompoundForce
from phlexible.joints.joint import Joint
from phlexible.model import Model
from phlexible.passive_control.energy_shaping import CLOSE, EnergyShaping, torque_of_weight
from phlexible.results.equilibrium import Equilibrium

ITERATIONS = 20


@dataclass(frozen=True, eq=False)
class SharedShaping(CompoundForce):
    """Shapes of several joints whose minimum is one pose, for ``Model.apply``.

    Attributes:
        shapes: of each joint, without a weight of its own: ``offset`` is what holds the others and all weights.
    """

    shapes: tuple[EnergyShaping, ...]

    def parts(self) -> tuple[Load | ForceElement, ...]:
        """A spring with the potential and a damper in each joint."""
        return tuple(part for shape in self.shapes for part in shape.parts())


def shared_energy_shaping(
    model: Model, targets: Mapping[Joint, float], *, stiffness: float, damping: float
) -> SharedShaping:
    """Finds what several joints need so that the energy of the loop has its minimum where all are at their targets.

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
    if not isinstance(model, Model):
        raise ModelError(f"model must be a Model with joints that are driven, got {model!r}")
    if not isinstance(targets, Mapping) or not targets:
        raise ParameterError(f"targets must be numbers by joint, got {targets!r}")
    k, d = positive("stiffness", stiffness), non_negative("damping", damping)
    for joint in targets:
        if not any(joint is each for each in model.joints):
            raise ModelError(f"{joint!r} is not connected in this model")
        if len(joint.coordinate_names) != 1:
            raise ModelError(
                f"energy is shaped in joints with one coordinate, {joint} has {len(joint.coordinate_names)}"
            )
    shapes = [
        EnergyShaping(joint, finite(f"target of {joint}", target), k, d, (0.0, 0.0))
        for joint, target in targets.items()
    ]
    offsets = np.array([torque_of_weight(model, shape.joint, shape.target) for shape in shapes])
    shapes = [replace(shape, offset=float(c)) for shape, c in zip(shapes, offsets, strict=True)]
    inverse = k * np.eye(len(shapes))
    gaps, rest = _gaps(model, shapes)
    for _ in range(ITERATIONS):  # Broyden's good method
        if np.abs(gaps).max() <= CLOSE:
            if not rest.is_stable:
                raise EquilibriumError(f"the targets are no minimum of the energy; take more stiffness than {k:g}")
            return SharedShaping(tuple(shapes))
        change = inverse @ gaps
        offsets = offsets + change
        shapes = [replace(shape, offset=float(c)) for shape, c in zip(shapes, offsets, strict=True)]
        before = gaps
        gaps, rest = _gaps(model, shapes)
        expected = inverse @ (before - gaps)
        if (size := change @ expected) == 0.0:  # nothing answers
            break
        inverse += np.outer(change - expected, change @ inverse) / size
    missed = np.abs(gaps).max()
    raise EquilibriumError(
        f"the joints do not stay at their targets, {missed:.3g} is missed; take more stiffness than {k:g}"
    )


def _gaps(model: Model, shapes: Sequence[EnergyShaping]) -> tuple[Array, Equilibrium]:
    """How far from its target each joint comes to rest, and where all is then."""
    copy = model.copy()
    own = [copy.joints[next(n for n, each in enumerate(model.joints) if each is s.joint)] for s in shapes]
    copy.apply(SharedShaping(tuple(replace(s, joint=j) for s, j in zip(shapes, own, strict=True))))
    try:
        rest = copy.equilibrium()
    except EquilibriumError as error:
        raise EquilibriumError(
            f"nothing holds the joints near their targets; take more stiffness than {shapes[0].stiffness:g}"
        ) from error
    turns = [joint.coordinate_names[0].endswith("angle") for joint in own]
    found = [rest.angle(j) if turn else rest.translation(j) for j, turn in zip(own, turns, strict=True)]
    return np.array([s.target - float(value) for s, value in zip(shapes, found, strict=True)]), rest
