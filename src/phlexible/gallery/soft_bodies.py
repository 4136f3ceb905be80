"""A sheet of rubber in a ring that is blown up to a bubble."""

from itertools import pairwise

import numpy as np

from phlexible.algebra.arrays import Array, IntArray, non_negative, positive, whole
from phlexible.bodies.soft_body import SoftBody
from phlexible.bodies.soft_law import NeoHookean
from phlexible.description.interactions.loads import Pressure
from phlexible.description.joints.joints import Spherical
from phlexible.gallery.entries import ready_model
from phlexible.model import Model


@ready_model(duration=0.3, step=2e-3)
def inflated_membrane(
    radius: float = 0.1,
    thickness: float = 1e-3,
    youngs_modulus: float = 1e6,
    poissons_ratio: float = 0.5,
    pressure: float = 5e3,
    rise_time: float = 0.05,
    viscosity: float = 2e-3,
    rings: int = 8,
) -> Model:
    """A round sheet of rubber held at its rim; a pressure below it grows to its full value and blows it up.
    Build and return this ready model of the gallery, to be simulated or linearized. The ``pressure`` grows within
    ``rise_time``.

    It swings about the shape of its equilibrium, and friction of the rubber brings it to rest there.

    Source: for small deflections H. Hencky, Zeitschrift fuer Mathematik und Physik 63 (1915): the middle of a sheet
    of Poisson's ratio 0.3 rises by 0.6537 a (p a / E t)^(1/3).

    Reference: that number, ``tests/bodies/soft/test_pressure.py``.

    Shown by: ``phlexible run inflated-membrane``.

    Args:
        radius: of the ring a [m].
        thickness: of the sheet t [m].
        youngs_modulus: E of small strains [Pa].
        poissons_ratio: 0.5: its volume stays [-].
        pressure: p [Pa].
        rise_time: within which it grows [s].
        viscosity: time of Kelvin and Voigt [s].
        rings: of elements between middle and rim.
    """
    law = NeoHookean(youngs_modulus, poissons_ratio)
    mesh = disc(positive("radius", radius), whole("rings", rings))
    sheet = SoftBody(mesh, law, 1000.0, thickness, order=1, viscosity=viscosity)
    model = Model()
    membrane = model.add(sheet, "membrane")
    rim = 0.999 * float(radius)
    for number in sheet.points_where(lambda x: np.hypot(x[0], x[1]) > rim):
        node = membrane.node(int(number))
        model.connect(Spherical(model.ground.at(node.initial_position()), node))
    full, rises = float(pressure), non_negative("rise_time", rise_time)

    def blown(time: float) -> float:
        return full * min(time / rises, 1.0) if rises else full

    model.apply(Pressure(membrane, blown, name="pressure", breakpoints=(rises,)))
    return model


def disc(radius: float, rings: int) -> tuple[Array, IntArray]:
    """Return vertices (n, 3) and triangles (t, 3) of a mesh of a circular disc of ``radius`` [m] around the origin
    in the xy plane. Vertices lie on ``rings`` concentric circles, 6 k on the k-th, so that triangles have about
    equal size. They are counter-clockwise as seen from +z."""
    positions, cells = [np.zeros((1, 3))], []
    for k in range(1, rings + 1):
        angle = np.arange(6 * k) * (2 * np.pi / (6 * k))
        positions.append(k / rings * radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1))
    starts = [0, *(1 + 3 * k * (k + 1) for k in range(rings + 1))]  # of the rings: 0, 1, 7, 19, ...
    for k, (inner, outer) in enumerate(pairwise(starts[: rings + 1]), start=1):
        for side in range(6):
            for i in range(k):
                a = inner + (side * (k - 1) + i) % max(6 * (k - 1), 1)
                b, c = outer + side * k + i, outer + (side * k + i + 1) % (6 * k)
                cells.append((a, b, c))
                if i < k - 1:
                    cells.append((a, c, inner + (side * (k - 1) + i + 1) % (6 * (k - 1))))
    return np.concatenate(positions), np.array(cells, dtype=np.int64)
