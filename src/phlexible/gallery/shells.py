"""A short cylinder of thin sheet that is thrown and tumbles."""

import numpy as np

from phlexible.algebra.arrays import Array, positive
from phlexible.bodies.material import Material
from phlexible.bodies.shell.shell import Shell
from phlexible.description.interactions.loads import Force
from phlexible.gallery.entries import ready_model
from phlexible.model import Model

PUSHES = ((0.0, (0, -1, -1)), (0.25, (1, 1, 1)), (0.5, (1, 1, 1)), (0.75, (0, -1, -1)))


@ready_model(duration=4.0, step=2e-2)
def short_cylinder(load: float = 10.0, around: int = 24, along: int = 2) -> Model:
    """A short cylinder without supports is thrown by forces along four of its lines and tumbles and bends from
    then on. Build and return this ready model of the gallery, to be simulated or linearized. The ``load`` is the
    greatest force of a line per length [N/m]; there are ``around`` elements around and ``along`` ones along it.

    The forces grow to the load within half a second and vanish within another. From then on energy and momenta
    are constant.

    Source: J. C. Simo, N. Tarnow, International Journal for Numerical Methods in Engineering 37 (1994) 2527-2549.

    Reference: the energy after one second of a second program with the same elements, 767.2905 J,
    ``tests/gallery/test_shells.py``.

    Shown by: ``phlexible run short-cylinder``.

    Args:
        load: greatest force per length of the lines [N/m].
        around, along: numbers of elements.
    """
    height, greatest = 3.0, positive("load", load)

    def surface(u: float, v: float) -> Array:
        return np.array([7.5 * np.cos(2 * np.pi * v), -7.5 * np.sin(2 * np.pi * v), height * u])

    lines = {
        f"line {k}": (
            lambda x, a=2 * np.pi * share: np.hypot(x[0] - 7.5 * np.cos(a), x[1] - 7.5 * np.sin(a)) < 1e-6
        )
        for k, (share, _) in enumerate(PUSHES)
    }
    sheet = Shell.of(
        surface,
        0.02,
        Material(2e8, 1.0, 0.25),
        (along, around),
        {name: (where, "average") for name, where in lines.items()},
        directors=lambda x: (x[0], x[1], 0.0),
    )
    model = Model()
    cylinder = model.add(sheet, "cylinder")
    for k, (_, way) in enumerate(PUSHES):
        full = height * greatest * np.array(way, dtype=np.float64)

        def push(time: float, full: Array = full) -> Array:
            return full * max(0.0, 1.0 - abs(2 * time - 1.0))

        model.apply(Force(cylinder[f"line {k}"], push, breakpoints=(0.5, 1.0), name=f"push {k}"))
    return model
