"""A wind turbine whose blades are plates from a mesh file."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from phlexible.algebra.arrays import Array, finite, positive
from phlexible.algebra.options import whole
from phlexible.bodies.beam.beam import Beam
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.material import Material
from phlexible.bodies.rigid_body import RigidBody
from phlexible.elements.sections import Section
from phlexible.gallery.parameters import ready_model
from phlexible.interactions.pressure import Pressure
from phlexible.joints.fixed import Fixed
from phlexible.joints.revolute import Revolute
from phlexible.model import Model
from phlexible.results.extras import optional
from phlexible.shapes.solids import Box, Cylinder

OVERHANG = 3.0  # of the rotor in front of the tower [m]
TRIANGLES, LINES = 2, 1  # dimensions of gmsh's groups


@ready_model
def wind_turbine(
    tower_height: float = 60.0,
    tower_diameter: float = 3.2,
    tower_wall: float = 0.025,
    blade_length: float = 28.0,
    root_chord: float = 2.4,
    tip_chord: float = 0.8,
    blade_thickness: float = 0.22,
    blade_modulus: float = 1.6e10,
    blade_density: float = 420.0,
    speed: float = 2.0,
    gust: float = 150.0,
    gust_time: float = 4.0,
    gravity: float = 9.81,
    elements: int = 10,
) -> Model:
    """A rotor of three tapered blades turns at constant speed on a flexible tower, and a gust meets it.

    The blades are plates of triangles: the gallery writes the mesh of one of them to a gmsh file with named
    groups and reads it back, as a user would do with a mesh from elsewhere. They stiffen in spin.

    Source: a machine of about 500 kW with plates in place of blade sections; the numbers are ours.

    Reference: a blade weighs (root_chord + tip_chord) / 2 blade_length blade_thickness blade_density; without gust
    the tower bears the weight of all above.

    Shown by: ``phlexible run wind-turbine``.

    Args:
        tower_height: of a steel tube [m].
        tower_diameter, tower_wall: mean diameter and thickness of the tube [m].
        blade_length, root_chord, tip_chord, blade_thickness: of each blade [m].
        blade_modulus, blade_density: of a sandwich, as one material [Pa], [kg/m3].
        speed: of the rotor, about x [rad/s].
        gust: greatest pressure on the blades, along x [Pa].
        gust_time: of the gust, from the start [s].
        gravity: along -z [m/s2].
        elements: along a blade.
    """
    omega, peak, lasts = finite("speed", speed), finite("gust", gust), positive("gust_time", gust_time)
    height, radius = positive("tower_height", tower_height), positive("tower_diameter", tower_diameter) / 2
    wall, model = positive("tower_wall", tower_wall), Model(gravity=(0.0, 0.0, -finite("gravity", gravity)))
    area = 2 * np.pi * radius * wall
    tube = Section(area, area * radius**2 / 2, area * radius**2 / 2, area * radius**2)
    tower = Beam(height, tube, Material(2.1e11, 7850.0, 0.3), elements=6, damping_ratio=0.01, color="silver")
    blade = _blade(
        positive("blade_length", blade_length),
        (positive("root_chord", root_chord), positive("tip_chord", tip_chord)),
        positive("blade_thickness", blade_thickness),
        Material(blade_modulus, blade_density, 0.3),
        whole("elements", elements),
    )

    def pressure(t: float) -> float:
        return peak * float(np.sin(np.pi * min(t, lasts) / lasts)) ** 2

    up = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    mast = model.add(tower, "tower", rotation=up)
    nacelle_body = RigidBody(15000.0, (2e4, 4e4, 4e4), shape=Box([7.0, 2.6, 2.6]), color="silver")
    nacelle = model.add(nacelle_body, "nacelle", position=(0.0, 0.0, height))
    middle = np.array([-OVERHANG - 1.5, 0.0, height])
    rotor_body = RigidBody(3000.0, (2e3, 2e3, 2e3), shape=Cylinder(1.2, 2.0, axis=(1.0, 0.0, 0.0)), color="gray")
    rotor = model.add(rotor_body, "rotor", position=middle)
    model.connect(Fixed(model.ground.at((0.0, 0.0, 0.0)), mast.start))
    model.connect(Fixed(mast.end, nacelle.origin))
    bearing = model.connect(
        Revolute(nacelle.point((-OVERHANG - 1.5, 0.0, 0.0)), rotor.origin, axis=(1.0, 0.0, 0.0))
    )
    model.apply(bearing.drive(angle=lambda t: omega * t))
    for number in range(3):
        angle = 2 * np.pi * number / 3
        radial = np.array([0.0, -np.sin(angle), np.cos(angle)])
        axes = np.column_stack([radial, np.cross((-1.0, 0.0, 0.0), radial), (-1.0, 0.0, 0.0)])
        arm = 1.2 * radial
        placed = model.add(blade, f"blade {number + 1}", position=middle + arm, rotation=axes)
        model.connect(Fixed(rotor.point(tuple(arm.tolist())), placed["root"]))
        model.apply(Pressure(placed["sail"], pressure, name=f"gust {number + 1}", breakpoints=(lasts,)))
    return model


def _blade(
    length: float, chords: tuple[float, float], thickness: float, material: Material, count: int
) -> FlexibleBody:
    """From a file; x along the blade, z across it against the wind."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "blade.msh"
        _write_mesh(path, length, chords, count)
        return FlexibleBody.from_mesh(
            path,
            material,
            {"root": ("root edge", "rigid"), "sail": "sail"},
            thickness=thickness,
            theory="kirchhoff",
            frame="root",
            modes=4,
            moments=False,
            damping_ratio=0.02,
            color="blue",
        )


def _write_mesh(path: Path, length: float, chords: tuple[float, float], count: int) -> None:
    """A gmsh file with the groups "sail" of triangles and "root edge" of lines."""
    meshio = optional("meshio", "mesh")
    across = 3
    x, share = np.linspace(0, length, count + 1), np.linspace(-0.5, 0.5, across)
    chord = chords[0] + (chords[1] - chords[0]) * x / length
    points: Array = np.zeros((count + 1, across, 3))
    points[..., 0], points[..., 1] = x[:, None], chord[:, None] * share
    number = np.arange(points.size // 3).reshape(count + 1, across)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    sail = np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)]).reshape(-1, 3)
    root = np.column_stack([number[0, :-1], number[0, 1:]])
    tags = [np.full(len(sail), 1), np.full(len(root), 2)]
    mesh = meshio.Mesh(
        points.reshape(-1, 3),
        [("triangle", sail), ("line", root)],
        cell_data={"gmsh:physical": tags, "gmsh:geometrical": tags},
        field_data={"sail": np.array([1, TRIANGLES]), "root edge": np.array([2, LINES])},
    )
    meshio.write(path, mesh, file_format="gmsh22", binary=False)
