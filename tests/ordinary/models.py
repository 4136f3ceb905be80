"""The models of the table's rows, of plain phlexible calls, and how they are run."""

from typing import Any

import numpy as np
import skfem

import phlexible as ph
from fuzz.case import Case
from fuzz.copies import Change
from ordinary.table import NODAL, POINTS, Row

Array = np.ndarray

STEPS = 10
LENGTH, WIDTH, HEIGHT = 1.0, 0.02, 0.03  # [m]
WIRE = 1e-5  # section of strings [m2]
WEIGHT = 9.81  # [m/s2]
MATERIALS = {
    "steel": ph.Material(2.1e11, 7850.0, 0.3),
    "aluminium": ph.Material(7e10, 2700.0, 0.33),
    "polymer": ph.Material(2e9, 1200.0, 0.35),
}
AXES = {
    "x": np.eye(3),
    "-x": np.diag([-1.0, -1.0, 1.0]),
    "y": np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]),
    "-z": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    "skew": np.array([[0.8, -0.6, 0.0], [0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]),
}
GRAVITY = {
    "none": (0.0, 0.0, 0.0),
    "along": (1.0, 0.0, 0.0),
    "against": (-1.0, 0.0, 0.0),
    "across": (0.0, -1.0, 0.0),
    "sideways": (0.0, 0.0, 1.0),
    "skew": (0.6, -0.8, 0.0),
}
"""Directions in the axes of the body."""
BEAMS: dict[str, dict[str, Any]] = {
    "beam": {},
    "beam of linear strain": {"strain": "linear"},
    "beam on its ends": {"frame": "simply_supported"},
    "beam on mean axes": {"frame": "mean_axis"},
    "thick beam": {"theory": "timoshenko", "rotary_inertia": True},
    "beam of two modes": {"modes": 2},
}


def case(row: Row) -> Case:
    """The model of a row, and its run of some steps; it moves alike far away, turned, and in millimetres."""
    turn = AXES["skew"] if row.dimension == 2 else AXES["skew"] @ AXES["-z"]
    changes = (
        ("kilometres away", Change(shift=np.array([1e3, 2e3, 3e3 * (row.dimension == 3)]))),
        ("turned", Change(turn)),
        ("millimetres, tonnes and seconds", Change(length=1e3, mass=1e-3)),
    )
    options = {"initial": row.start} if row.start in ("quasi_static", "equilibrium") else {}
    return Case(model(row), row.step, STEPS, options, is_small=True, changes=changes)


def model(row: Row) -> ph.Model:
    turn, place = AXES[row.axis], np.array(row.place) * (1, 1, row.dimension == 3)
    made = ph.Model(gravity=WEIGHT * turn @ GRAVITY[row.gravity], dimension=row.dimension)
    body, speed = _body(row), _velocities(row, turn)
    if row.body == "string":
        placed = made.add(body, "body", shape=(place, place + LENGTH * turn[:, 0]), **speed)
    elif row.body == "point mass":
        placed = made.add(body, "body", place, **speed)
    else:
        placed = made.add(body, "body", place, turn, **speed)
    start, end = _ends(row, placed)
    _hold(row, made, start, end, turn)
    if row.tip != "nothing":
        _hang(row, made, end, turn)
    if row.start == "pulled":
        made.apply(ph.Force(end, turn @ (2.0, 1.0, 0.0)))
    return made


def _body(row: Row) -> Any:
    material, mass = MATERIALS[row.material], MATERIALS[row.material].density * WIDTH * HEIGHT * LENGTH
    section = ph.RectangularSection(WIDTH, HEIGHT)
    ends = {"start": lambda x: x[0] < 1e-9, "end": lambda x: x[0] > LENGTH - 1e-9}
    match row.body:
        case "rod" | "rod of order 2":
            return ph.Rod(LENGTH, section, material, elements=4, order=1 + (row.body == "rod of order 2"))
        case "string":
            law = ph.LogarithmicLaw(material.youngs_modulus * WIRE)
            return ph.String(LENGTH, material.density * WIRE, 4, law)
        case "meshed body":
            faces = {name: (where, "rigid") for name, where in ends.items()}
            thickness = WIDTH if row.dimension == 2 else None
            return ph.FlexibleBody.from_mesh(
                _mesh(row), material, faces, modes=2, frame="start", thickness=thickness
            )
        case "plate":
            return ph.Plate(
                LENGTH, 0.4, WIDTH, material, (3, 2), interfaces={"start": "rigid", "end": "rigid"}, modes=2
            )
        case "soft body":
            law = ph.NeoHookean(material.youngs_modulus, material.poissons_ratio)
            thickness = WIDTH if row.dimension == 2 else None
            return ph.SoftBody(_mesh(row), law, material.density, thickness, interfaces=ends)
        case "rigid body":
            inertia = mass * LENGTH**2 / 12 * np.array([0.01, 1.0, 1.0])
            return ph.RigidBody(mass, inertia if row.dimension == 3 else inertia[2], center=(LENGTH / 2, 0, 0))
        case "point mass":
            return ph.PointMass(mass)
    return ph.Beam(LENGTH, section, material, elements=2, **BEAMS[row.body])


def _mesh(row: Row) -> Any:
    across = [np.linspace(-HEIGHT / 2, HEIGHT / 2, 2)] * (row.dimension - 1)
    kind = skfem.MeshQuad if row.dimension == 2 else skfem.MeshHex
    return kind.init_tensor(np.linspace(0, LENGTH, 4), *across)


def _velocities(row: Row, turn: Array) -> dict[str, Any]:
    """Of a rigid motion that the joints of the row leave."""
    if row.start != "moving":
        return {}
    if row.hold in ("rail", "slider"):
        return {"velocity": 0.5 * turn[:, 0]} | ({} if row.body in POINTS else {"angular_velocity": np.zeros(3)})
    if row.body in POINTS:
        return {"velocity": turn @ (0.5, 0.3, 0.0)}
    slide = np.zeros(3) if row.hold in ("pinned", "ball", "link") else turn @ (0.5, 0.3, 0.0)
    return {"velocity": slide, "angular_velocity": 2.0 * turn[:, 2]}


def _ends(row: Row, placed: Any) -> tuple[Any, Any]:
    match row.body:
        case "meshed body" | "plate" | "soft body":
            return placed["start"], placed["end"]
        case "rigid body":
            return placed.origin, placed.point((LENGTH, 0, 0))
        case "point mass":
            return placed.origin, placed.origin
    return placed.start, placed.end


def _hold(row: Row, made: ph.Model, start: Any, end: Any, turn: Array) -> None:
    place, away = start.initial_position(), 0.5 * LENGTH * turn[:, 0]
    ground, axis = made.ground.at(place), {"axis": turn[:, 0]}
    match row.hold:
        case "clamped":
            made.connect(ph.Fixed(ground, start))
        case "pinned":
            made.connect(ph.Revolute(ground, start, axis=turn[:, 2]))
        case "ball":
            made.connect(ph.Spherical(ground, start))
        case "both ends":
            made.connect((ph.Spherical if row.body in NODAL else ph.Fixed)(ground, start))
            made.connect(ph.Spherical(made.ground.at(end.initial_position()), end))
        case "rail":
            made.connect(ph.Prismatic(ground, start, **axis))
        case "slider":
            made.connect(ph.Slider(ground, start, **axis))
        case "link":
            made.connect(ph.Distance(made.ground.at(place - away), start))
        case "spring":
            made.apply(ph.SpringDamper(made.ground.at(place - away), start, stiffness=1e3, damping=1.0))


def _hang(row: Row, made: ph.Model, end: Any, turn: Array) -> None:
    """A mass, or a rigid bar on a hinge, at the end of the body."""
    place = end.initial_position()
    if row.tip == "mass":
        mass = made.add(ph.PointMass(0.5), "tip", place)
        made.connect(ph.Spherical(end, mass.origin))
    else:
        bar = ph.RigidBody(0.5, 0.01 if row.dimension == 2 else (0.01, 0.01, 0.01), center=(0.2, 0, 0))
        bob = made.add(bar, "tip", place, turn)
        made.connect(ph.Revolute(end, bob.origin, axis=turn[:, 2]))
