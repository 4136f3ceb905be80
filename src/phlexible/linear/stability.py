"""Stability of static equilibria, and the branch to which an unstable one falls."""

import warnings
from dataclasses import replace

import numpy as np
from scipy import linalg, sparse

from phlexible.algebra.arrays import Array
from phlexible.algebra.saddle import natural_scale
from phlexible.errors import EquilibriumError, SlackStringWarning
from phlexible.linear.equilibria import OperatingKind, OperatingPoint, fallen_point, operating_point
from phlexible.linear.mechanics import LinearMechanics, linear_mechanics
from phlexible.linear.null_space import null_space_basis
from phlexible.linear.symmetric_modes import SymmetricModes, lowest_symmetric_modes
from phlexible.state.initial_velocity import undeformed
from phlexible.state.layout import State
from phlexible.state.small_motions import centred_motions, world_motions
from phlexible.state.system import System

# The stiffness of a stable equilibrium is not negative on the motions that joints allow.

NEGATIVE = 1e-9
LOOKED_AT = 6
SWINGS = 1e-6  # real part of a rate over its size that is round-off
SYMMETRIC = 1e-9  # share of a motion along an unstable mode that is round-off,
ROUND_OFF = 1e-11  # and of positions


def growth(mechanics: LinearMechanics) -> float:
    """Greatest rate [1/s] at which a small motion grows; 0: the potential energy has no maximum, or forces without
    a potential hold the motion that lowers it."""
    modes = lowest_symmetric_modes(mechanics, LOOKED_AT)
    rate, scale = _fastest_growth(modes)[0], float(np.abs(modes.squares).max(initial=0.0))
    if mechanics.without_potential is None or not (rate or mechanics.is_circulatory):
        return rate
    basis = null_space_basis(mechanics.constraint_matrix, natural_scale(mechanics.mass))
    stiffness = sparse.csr_array(mechanics.stiffness + mechanics.circulatory)
    whole = replace(mechanics, stiffness=stiffness).projected(basis)
    squares = linalg.eigvals(-whole.stiffness.toarray(), whole.mass.toarray())
    rates = np.sqrt(squares.astype(np.complex128))
    grows = (rates.real > SWINGS * np.abs(rates)) & (np.abs(squares) > NEGATIVE * scale)
    return float(rates.real[grows].max(initial=0.0))


def _fastest_growth(modes: SymmetricModes) -> tuple[float, Array]:
    scale = float(np.abs(modes.squares).max(initial=0.0))
    is_unstable = modes.squares.size and modes.squares[0] < -NEGATIVE * scale
    return (float(np.sqrt(-modes.squares[0])) if is_unstable else 0.0), modes.shapes[:, :1].ravel()


def check_stability(mechanics: LinearMechanics) -> None:
    """Refuses a point with a motion whose potential energy has a maximum.

    Raises:
        EquilibriumError: gives the rate at which the motion would grow.
    """
    if rate := growth(mechanics):
        raise EquilibriumError(
            f"the static equilibrium is unstable: a motion grows with exp({rate:.4g} t); move the initial pose"
            " towards the stable one, or give state=; linearize(state=equilibrium().state) is about this one"
        )


def static_point(system: System, state: State | None) -> OperatingPoint:
    """Static equilibrium near a state, by default the initial pose, on the stable branch where one is found.

    Newton's method, which finds equilibria of rods and strings, also ends on branches that are unstable, such as
    the straight one of a column beyond its critical load. From there the model falls along the unstable mode to the
    side of the pose in which it started. By symmetry there may be none: then the equilibrium stays unstable.

    Raises:
        EquilibriumError, JointGapError, RedundancyError, ModelError: see ``operating_point``.
    """
    point = operating_point(system, OperatingKind.STATIC, state)
    is_by_newton = system.mechanism.rods or any(placed.is_string for placed in system.bodies)
    if not is_by_newton or point.pairs is not None or point.friction is None or point.friction.count:
        return point
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SlackStringWarning)
        mechanics = linear_mechanics(system, point)[0]
    rate, shape = _fastest_growth(lowest_symmetric_modes(mechanics, LOOKED_AT))
    if not rate:
        return point
    motion = world_motions(system, point.state) @ (centred_motions(system, point.state) @ shape)
    start, linear = undeformed(system) if state is None else state, motion[system.layout.linear].ravel()
    way = (start.position - point.state.position)[:, : system.dimension].ravel()
    along = float(way @ linear)
    round_off = SYMMETRIC * np.linalg.norm(way) + ROUND_OFF * np.abs(start.position).max(
        initial=system.largest_length
    )
    if abs(along) <= round_off * np.linalg.norm(linear):
        return point
    return fallen_point(system, point, np.sign(along) * motion) or point
