"""Hertz's contact stiffness of round bodies, from their materials (Hertz, 1882)."""

from math import sqrt

from phlexible.algebra.arrays import finite
from phlexible.bodies.material import Material
from phlexible.errors import ParameterError


def hertz_stiffness(
    radius: float,
    material: Material,
    other_radius: float | None = None,
    other_material: Material | None = None,
) -> float:
    """Return Hertz's contact stiffness K of the normal force K x^1.5 between two spheres at a penetration x
    [N/m^1.5]. It is for ``Contact(..., exponent=1.5)``. They have ``radius`` and ``other_radius`` [m] (None:
    a plane) and are made of ``material`` and ``other_material`` (None: rigid).

    K = 4/3 E* sqrt(R), 1/E* = (1 - nu_1^2)/E_1 + (1 - nu_2^2)/E_2, 1/R = 1/R_1 + 1/R_2. It holds while the depth x
    is small compared with R.

    Args:
        radius: radius of the sphere [m].
        material: material of the sphere.
        other_radius: radius of the other sphere [m]; None: a plane; negative: a hollow sphere around it.
        other_material: material of the other sphere; None: it is rigid.

    Raises:
        ParameterError: numbers out of range, a hollow that is not larger, or what is no material.

    Example:
        >>> steel = ph.Material(210e9, 7850.0)
        >>> stiffness = ph.hertz_stiffness(0.01, steel, other_material=steel)
        >>> print(f"{stiffness:.4g}")
        1.538e+10
        >>> model = ph.Model(gravity=(0, 0, -9.81))
        >>> ball = model.add(ph.RigidBody.sphere(0.01, steel.density), "ball", position=(0, 0, 0.02))
        >>> floor = ph.Plane(model.ground.at((0, 0, 0)))
        >>> touch = model.apply(ph.Contact(ball.origin, floor, stiffness, radius=0.01, exponent=1.5))
    """
    own = finite("radius", radius)
    if own <= 0:
        raise ParameterError(f"radius must be positive, got {radius!r}")
    curvature, softness = 1 / own, 0.0
    if other_radius is not None:
        other = finite("other_radius", other_radius)
        if not (other > 0 or other < -own):
            raise ParameterError(
                "other_radius must be positive, None of a plane, or negative of a hollow that is larger than the"
                f" sphere, got {other_radius!r}"
            )
        curvature += 1 / other
    for name, each in (("material", material), ("other_material", other_material)):
        if each is None and name == "other_material":
            continue
        if not isinstance(each, Material):
            raise ParameterError(f"{name} must be a Material, got {each!r}")
        softness += (1 - each.poissons_ratio**2) / each.youngs_modulus
    return 4 / (3 * softness * sqrt(curvature))
