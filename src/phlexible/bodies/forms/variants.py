"""Which port-Hamiltonian form a body is written in, and the one place that makes it."""

from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from phlexible.algebra.arrays import vector
from phlexible.algebra.options import option
from phlexible.bodies.floating_body import FloatingBody
from phlexible.bodies.forms.constant_mass import ConstantMassForm
from phlexible.bodies.forms.floating import FloatingBodyForm
from phlexible.bodies.forms.full import FullForm
from phlexible.bodies.forms.printed import PrintedForm
from phlexible.bodies.forms.stress_space import StressSpace
from phlexible.bodies.forms.zeroth_order import ZerothOrderForm
from phlexible.bodies.locations import Location
from phlexible.errors import ParameterError


class Variant(StrEnum):
    """FULL: nothing neglected. CONSTANT_MASS: E constant, absolute elastic velocity. ZEROTH_ORDER:
    the deformation dropped from the inertia, power not kept. PRINTED: a planar body as (32)-(37) have it, wrong.
    See ``FullForm``, ``ConstantMassForm``, ``ZerothOrderForm``, ``PrintedForm``.
    """

    FULL = "full"
    CONSTANT_MASS = "constant_mass"
    ZEROTH_ORDER = "zeroth_order"
    PRINTED = "printed"


FORMS: dict[Variant, type[FloatingBodyForm]] = {
    Variant.FULL: FullForm,
    Variant.CONSTANT_MASS: ConstantMassForm,
    Variant.ZEROTH_ORDER: ZerothOrderForm,
    Variant.PRINTED: PrintedForm,
}


def body_form(
    body: FloatingBody,
    locations: dict[str, Location],
    variant: str,
    gravity: ArrayLike,
    stress: StressSpace,
) -> FloatingBodyForm:
    """The form of a discretized body.

    Args:
        locations: of the boundary ports, by name.
        gravity: acceleration, world axes, shape (3,) [m/s^2].
        stress: the stress states.

    Raises:
        ParameterError: no such variant, "printed" in space, or a gravity out of the plane of a planar body.
    """
    field = vector("gravity", gravity)
    if body.dimension == 2 and field[2] != 0:
        raise ParameterError(f"gravity must have z = 0 in dimension 2, got {field.tolist()}")
    chosen = option("variant", variant, Variant)
    if chosen is Variant.PRINTED and body.dimension != 2:
        raise ParameterError('variant="printed" is of planar bodies, as (32)-(37) are: give dimension=2')
    return FORMS[chosen](body, stress, field, np.eye(3), locations)
