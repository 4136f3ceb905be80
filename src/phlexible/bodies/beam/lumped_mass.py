"""A mass that sits on a beam and moves with its cross-section."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import Array, finite, numbers, positive
from phlexible.errors import ParameterError

ROUND_OFF = 1e-12


@dataclass(frozen=True)
class LumpedMass:
    """A rigid mass fixed to the cross-section of a beam, part of the beam's inertia.

    Attributes:
        x: where along the beam [m].
        mass: [kg].
        inertia: about its own centre of mass, local axes of the section: three moments about x, y, z, or
            one about z of a body that is flat in the xy plane, with half of it about x and y [kg m2].
        offset: (y, z) of its centre of mass from the axis [m].

    Raises:
        ParameterError: numbers that are not finite, a mass that is not positive, or moments of inertia that no
            body has.
    """

    x: float
    mass: float
    inertia: ArrayLike | tuple[float, ...] = 0.0
    offset: ArrayLike | tuple[float, ...] = (0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "x", finite("x", self.x))
        object.__setattr__(self, "mass", positive("mass", self.mass))
        inertia = numbers("inertia", self.inertia, "one or three moments of inertia [kg m2]")
        if inertia.ndim == 0:
            inertia = float(inertia) * np.array([0.5, 0.5, 1.0])
        if inertia.shape != (3,) or not np.isfinite(inertia).all():
            raise ParameterError(f"inertia must be one number or three [kg m2], got {self.inertia!r}")
        if (inertia.sum() / 2 - inertia).min() < -ROUND_OFF * np.abs(inertia).max():
            raise ParameterError(f"inertia must obey J_x <= J_y + J_z and the like, got {self.inertia!r}")
        object.__setattr__(self, "inertia", tuple(inertia.tolist()))
        offset = numbers("offset", self.offset, "two numbers (y, z) [m]")
        if offset.shape != (2,):
            raise ParameterError(f"offset must be two numbers (y, z) [m], got {self.offset!r}")
        object.__setattr__(self, "offset", tuple(finite("offset", each) for each in offset))

    @property
    def moments(self) -> Array:
        """Integrals of (1, x, y, z) (1, x, y, z)^T dm about the axis point, shape (4, 4)."""
        about = np.asarray(self.inertia, dtype=np.float64)
        place = np.array([1.0, 0.0, *np.asarray(self.offset, dtype=np.float64)])
        return np.asarray(self.mass * np.outer(place, place) + np.diag([0.0, *(about.sum() / 2 - about)]))
