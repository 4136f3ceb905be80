"""One entry for every body, joint and load: how the laws draw it at random.

``test_cases.py`` fails on a class that is not listed here.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import skfem

import phlexible as ph
from formulas import formula
from phlexible.bodies.beam.mesh import Theory, stiffness_at
from phlexible.bodies.body import Body
from phlexible.bodies.rod import RodNode
from phlexible.bodies.string_law import StringLaw, TensionOnly
from phlexible.description.interactions.loads import Load, SurfacePressure
from phlexible.description.joints.joint import Joint
from phlexible.description.ports import Attachment, PlacedBody, Port
from phlexible.elements.sections import flat_mass
from product_bodies import SoftProducts

Array = np.ndarray


@dataclass(frozen=True)
class Scale:
    """What the parts of one mechanism have about in common, so that none is negligible."""

    length: float  # [m]
    thickness: float  # of beams [m]
    density: float  # [kg/m3]
    modulus: float  # Young's modulus [Pa]

    @property
    def mass(self) -> float:
        return self.density * self.thickness**2 * self.length


def random_scale(rng: np.random.Generator) -> Scale:
    """Beams of slenderness 30 to 150, from rubber-like to steel-like."""
    length = rng.uniform(0.3, 2.0)
    return Scale(length, length / rng.uniform(30, 150), 10 ** rng.uniform(3, 4), 10 ** rng.uniform(8, 11.3))


BEAM_KINDS = ("plain", "shearing", "tapered", "laden", "eccentric", "matrices")


def random_beam(
    rng: np.random.Generator, scale: Scale, dimension: int, kind: str = "plain", **options: Any
) -> ph.Beam:
    """Any frame, strain, section and number of coordinates or basis; ``options`` decides some of them.

    ``kind`` is one of ``BEAM_KINDS``, which have laws of their own in ``test_beam_kinds.py``.
    """
    elements = int(rng.integers(2, 5))
    wide, high = scale.thickness * rng.uniform(0.7, 1.4, 2)
    sections = [
        ph.RectangularSection(wide, high),
        ph.CircularSection(wide),
        ph.Section(wide * high, wide**3 * high / 12, wide * high**3 / 12, 0.1 * wide**2 * high**2),
    ]
    modes = [None, None, 2, int(rng.integers(1, 2 * elements + 1))]
    chosen = {
        "length": scale.length * rng.uniform(0.6, 1.3),
        "section": sections[rng.integers(3)],
        "material": ph.Material(
            scale.modulus * rng.uniform(0.7, 1.4), scale.density * rng.uniform(0.7, 1.4), rng.uniform(0, 0.45)
        ),
        "elements": elements,
        "frame": rng.choice(["cantilever", "simply_supported", "mean_axis"]),
        "strain": rng.choice(["von_karman", "linear"]),
        "rotary_inertia": bool(rng.integers(2)),
        "modes": modes[rng.integers(4)],
    }
    own = np.random.default_rng(int(1e9 * chosen["length"]))  # the other draws do not depend on the kind
    beam = ph.Beam(**{**chosen, **beam_kind(kind, own, chosen, scale), **options})
    if "modes" not in options and beam.modes == 2:  # half of the reduced ones by a basis of their own
        return replace(beam, modes=beam.craig_bampton_basis(1, dimension, ["all", "condensed"][elements % 2]))
    return beam


def beam_kind(kind: str, rng: np.random.Generator, plain: dict[str, Any], scale: Scale) -> dict[str, Any]:
    length, thick = plain["length"], scale.thickness

    def rectangle() -> ph.RectangularSection:
        return ph.RectangularSection(*(thick * rng.uniform(0.6, 1.5, 2)))

    sheared = {"theory": "timoshenko", "rotary_inertia": True}
    match kind:
        case "shearing":
            return {**sheared, "section": rectangle()}
        case "tapered":
            ends = ph.VaryingSection([0.0, 0.6 * length, length], [rectangle(), rectangle(), rectangle()])
            return {"section": ends} | [{}, sheared][rng.integers(2)]
        case "laden":
            heavy = scale.mass * rng.uniform(0.1, 1.0, 2)
            moments = heavy[1] * (0.1 * length) ** 2 * np.array([0.9, 1.1, 1.3])
            masses = (
                ph.LumpedMass(length * rng.uniform(), heavy[0], 0.01 * heavy[0] * length**2),
                ph.LumpedMass(length, heavy[1], moments, offset=0.1 * length * rng.normal(size=2)),
            )
            return {"masses": masses, "section": rectangle()}
        case "eccentric":
            area, moment = thick**2, thick**4 / 12
            section = ph.Section(
                *(area, 1.5 * moment, moment, 0.5 * moment, 0.8 * area, 0.6 * area),
                shear_center=thick * rng.normal(size=2),
                mass_center=thick * rng.normal(size=2),
            )
            return {**sheared, "section": section}
        case "matrices":
            units = np.array([1, 1, 1, thick, thick, thick])
            mixed = np.diag([1.0, 0.3, 0.2, 0.1, 0.08, 0.1]) + 0.02 * rng.uniform(-1, 1, (6, 6))
            stiffness = scale.modulus * thick**2 * (mixed + mixed.T) / 2 * np.outer(units, units)
            y, z = 0.3 * thick * rng.normal(size=2)
            place = np.array([1.0, y, z])
            moments = scale.density * thick**2 * (np.outer(place, place) + thick**2 / 12 * np.diag([0, 1, 1.2]))
            return {"section": ph.GeneralSection(stiffness, flat_mass(moments)), "material": None, **sheared}
    return {}


def bending_stiffness(beam: ph.Beam) -> float:
    """E I about z in the middle of a beam [N m2]."""
    middle = np.array([beam.length / 2])
    return float(stiffness_at(beam.section, beam.material, Theory.EULER_BERNOULLI, middle)[0, 5, 5])


def random_flexible_body(rng: np.random.Generator, scale: Scale, dimension: int, **options: Any) -> ph.FlexibleBody:
    """A bar of few cells of any kind, along a random direction, with any frame, strain and kinds of interfaces."""
    length, high = scale.length * rng.uniform(0.6, 1.3), scale.thickness * rng.uniform(2, 4)
    cells = [skfem.MeshTri, skfem.MeshQuad] if dimension == 2 else [skfem.MeshTet, skfem.MeshHex]
    across = [np.linspace(-high / 2, high / 2, 2)] * (dimension - 1)
    mesh = cells[rng.integers(2)].init_tensor(np.linspace(0, length, int(rng.integers(2, 4))), *across)
    kinds = rng.choice(["average", "rigid"], 2)
    frames = ["mean_axis", "start", ("start", "end")]
    chosen = {
        "mesh": mesh,
        "material": ph.Material(
            scale.modulus * rng.uniform(0.7, 1.4), scale.density * rng.uniform(0.7, 1.4), rng.uniform(0, 0.45)
        ),
        "interfaces": {
            "start": (lambda x: x[0] < 1e-6 * length, str(kinds[0])),
            "end": (lambda x: x[0] > (1 - 1e-6) * length, str(kinds[1])),
        },
        "modes": int(rng.integers(0, 4)),
        "frame": frames[rng.integers(3)],
        "strain": rng.choice(["green_lagrange", "linear"]),
        "thickness": scale.thickness if dimension == 2 else None,
        "moments": bool(rng.integers(2)),
        "inertial_shapes": bool(rng.integers(2)),
    }
    return ph.FlexibleBody.from_mesh(**{**chosen, **options})


def random_plate(rng: np.random.Generator, scale: Scale, dimension: int, **options: Any) -> ph.Plate:
    """Of four elements, of either theory or with moments as unknowns, with any frame, strain and kinds of edges."""
    length, width = scale.length * rng.uniform(0.6, 1.3, 2)
    edges = {"start": str(rng.choice(["average", "rigid"])), "end": str(rng.choice(["average", "rigid"]))}
    frames = ["mean_axis", "start", ("start", "end")]
    kinds = [("kirchhoff", "shear"), ("mindlin", "shear"), ("kirchhoff", "hhj")]
    chosen = {
        "length": length,
        "width": width,
        "thickness": scale.thickness * rng.uniform(0.7, 1.4),
        "material": ph.Material(scale.modulus * rng.uniform(0.7, 1.4), scale.density, rng.uniform(0, 0.45)),
        "elements": (2, 2),
        **dict(zip(("theory", "element"), kinds[rng.integers(3)], strict=True)),
        "interfaces": edges,
        "modes": int(rng.integers(0, 4)),
        "frame": frames[rng.integers(3)],
        "strain": rng.choice(["green_lagrange", "linear"]),
    }
    return ph.Plate(**{**chosen, **options})


def random_rigid_body(rng: np.random.Generator, scale: Scale, dimension: int, **options: Any) -> ph.RigidBody:
    """A cloud of points, so that its inertia is that of a body."""
    cloud = 0.3 * scale.length * rng.normal(size=(6, 3))
    cloud -= cloud.mean(axis=0)
    euler = cloud.T @ cloud / len(cloud)
    mass = scale.mass * rng.uniform(0.2, 1.5)
    inertia = mass * (np.trace(euler) * np.eye(3) - euler)
    center = 0.4 * scale.length * rng.normal(size=3)
    return ph.RigidBody(mass, inertia, center * (1, 1, dimension == 3))


def random_point_mass(rng: np.random.Generator, scale: Scale, dimension: int, **options: Any) -> ph.PointMass:
    return ph.PointMass(scale.mass * rng.uniform(0.1, 1))


LAW_CASES: dict[type[StringLaw], Callable[[float], StringLaw]] = {
    TensionOnly: lambda stiffness: TensionOnly(ph.LinearLaw(stiffness)),
    ph.LogarithmicLaw: ph.LogarithmicLaw,
    ph.LinearLaw: ph.LinearLaw,
    ph.StVenantKirchhoffLaw: ph.StVenantKirchhoffLaw,
    ph.Law: lambda stiffness: ph.Law(
        formula("lambda C: {quarter} * (C * np.sqrt(C) / 1.5 - C)", quarter=stiffness / 4),
        formula("lambda C: {quarter} * (np.sqrt(C) - 1)", quarter=stiffness / 4),
    ),
}


def random_string(rng: np.random.Generator, scale: Scale, dimension: int, **options: Any) -> ph.String:
    """Any law and order; about as heavy as a beam. ``options`` decides some, above all the law."""
    length = scale.length * rng.uniform(0.4, 1.0)
    kinds = list(LAW_CASES)
    stiffness = scale.mass * scale.length
    chosen = {
        "length": length,
        "line_density": scale.mass / scale.length * rng.uniform(0.2, 1.5),
        "elements": int(rng.integers(1, 5)),
        "law": LAW_CASES[kinds[rng.integers(len(kinds))]](stiffness),
        "order": int(rng.integers(1, 3)),
    }
    return ph.String(**{**chosen, **options})


SOFT_LAWS: dict[type[ph.SoftLaw], Callable[[float, float], ph.SoftLaw]] = {
    ph.NeoHookean: ph.NeoHookean,
    ph.StVenantKirchhoff: ph.StVenantKirchhoff,
    ph.InvariantLaw: lambda modulus, ratio: ph.InvariantLaw(  # of Mooney and Rivlin, compressible
        (formula("lambda I: {c} * (I - 3)", c=modulus / 9), formula("lambda I: {c} + 0 * I", c=modulus / 9)),
        (formula("lambda I: {c} * (I - 3)", c=modulus / 18), formula("lambda I: {c} + 0 * I", c=modulus / 18)),
        (
            formula("lambda I: {c} * (np.log(I)**2 - 2 * np.log(I))", c=modulus / 9),
            formula("lambda I: {c} * 2 * (np.log(I) - 1) / I", c=modulus / 9),
        ),
    ),
}


def random_soft_body(rng: np.random.Generator, scale: Scale, dimension: int, **options: Any) -> ph.SoftBody:
    """A bar or a sheet of few cells of any kind, order and law, as soft as rubber; ``options`` decides some."""
    length, high = scale.length * rng.uniform(0.4, 1.0), 0.1 * scale.length
    kinds = [skfem.MeshTri, skfem.MeshQuad] if dimension == 2 else [skfem.MeshTet, skfem.MeshHex, skfem.MeshTri]
    kind = kinds[rng.integers(len(kinds))]
    is_sheet = kind in (skfem.MeshTri, skfem.MeshQuad)
    across = [np.linspace(0, high, 2)] * (1 if is_sheet else 2)
    law = list(SOFT_LAWS)[rng.integers(len(SOFT_LAWS))]
    chosen = {
        "mesh": kind.init_tensor(np.linspace(0, length, int(rng.integers(2, 4))), *across),
        "law": SOFT_LAWS[law](options.pop("modulus", 1e6), rng.uniform(0, 0.45)),
        "density": scale.mass / (length * high**2) * rng.uniform(0.2, 1.0),
        "thickness": high if is_sheet else None,
        "order": int(rng.integers(1, 3)),
        "plane": "strain" if law is ph.InvariantLaw else str(rng.choice(["stress", "strain"])),
        "interfaces": {"end": lambda x: x[0] > (1 - 1e-6) * length},
    }
    is_product = law is ph.StVenantKirchhoff and int(1e9 * length) % 2  # the same energy in another form
    return (SoftProducts if is_product else ph.SoftBody)(**{**chosen, **options})


def random_shell(rng: np.random.Generator, scale: Scale, dimension: int, **options: Any) -> ph.Shell:
    """A curved sheet of few distorted elements, as soft as rubber."""
    length, thickness = scale.length * rng.uniform(0.4, 1.0), 0.03 * scale.length
    density = scale.mass / (length**2 * 0.3 * thickness) * rng.uniform(0.2, 1.0)
    bend = rng.uniform(-0.5, 0.5, 2)

    def surface(u: float, v: float) -> tuple[float, float, float]:
        return length * u, 0.3 * length * (v + 0.2 * u * v), length * (bend[0] * u**2 + 0.3 * bend[1] * u * v)

    chosen = {
        "elements": (int(rng.integers(2, 4)), 1),
        "thickness": thickness,
        "material": ph.Material(options.pop("modulus", 1e6), density, rng.uniform(0, 0.45)),
    }
    return ph.Shell.of(surface, **{**chosen, **options})


def random_rod_node(rng: np.random.Generator, scale: Scale, dimension: int, **options: Any) -> RodNode:
    """A section with a mass centre off the axis; heavy for its size, like a piece of a thick rod."""
    thick = 5 * scale.thickness * rng.uniform(0.7, 1.4, 2)
    section = ph.Section(
        thick.prod(), thick.prod() * thick[1] ** 2 / 12, thick.prod() * thick[0] ** 2 / 12, mass_center=0.2 * thick
    )
    before, after = 0.3 * scale.length * rng.uniform(size=2)
    return RodNode(section, ph.Material(scale.modulus, scale.density), 0.05 * scale.length, before, after)


@dataclass(frozen=True)
class BodyCase:
    make: Callable[..., Body]  # the body of a generator, a scale, a dimension and options
    share: int = 1  # how often it is drawn where any body will do, relative to the others
    # longest step that its laws are checked with, times the greatest frequency of the other bodies
    h_omega: float = 1000.0
    dimensions: tuple[int, ...] = (2, 3)  # where the body exists


BODY_CASES: dict[type[Body], BodyCase] = {
    ph.Beam: BodyCase(random_beam, share=3),
    ph.FlexibleBody: BodyCase(random_flexible_body, share=0),  # small, but takes its time
    ph.Plate: BodyCase(random_plate, share=0, dimensions=(3,)),
    ph.RigidBody: BodyCase(random_rigid_body),
    ph.PointMass: BodyCase(random_point_mass),
    RodNode: BodyCase(random_rod_node, share=0),
    ph.Shell: BodyCase(random_shell, share=0, h_omega=10.0, dimensions=(3,)),
    ph.SoftBody: BodyCase(random_soft_body, share=0, h_omega=10.0),
    ph.String: BodyCase(random_string, share=0, h_omega=10.0),  # slack, it does not converge at any step
}


def rotates(body: Body, dimension: int) -> bool:
    return isinstance(body, ph.Beam) or body.discretize(dimension).rotates


def length_of_node(string: ph.String, number: int) -> float:
    return float(string.mesh.nodes[number])


Place = Callable[[PlacedBody], Attachment]


def random_place(rng: np.random.Generator, body: Body, scale: Scale, dimension: int) -> Place:
    match body:
        case ph.Beam(length=length):
            x = length * rng.uniform(0.2, 0.8)
            ends: list[Place] = [lambda placed: placed.start, lambda placed: placed.end]
            return [*ends, ends[1], lambda placed: placed.at(x)][rng.integers(4)]
        case ph.FlexibleBody(interfaces=names):
            name = names[rng.integers(len(names))]
            return lambda placed: placed[name]
        case ph.String(elements=elements):
            node = length_of_node(body, rng.integers(1, body.order * elements + 1))
            return [lambda placed: placed.start, lambda placed: placed.end, lambda placed: placed.at(node)][
                rng.integers(3)
            ]
        case ph.SoftBody(mesh=mesh) | ph.Shell(mesh=mesh):
            number = int(mesh.nodes[rng.integers(len(mesh.nodes))])
            return lambda placed: placed.node(number)
        case ph.RigidBody():
            point = 0.5 * scale.length * rng.normal(size=3) * (1, 1, dimension == 3)
            return lambda placed: placed.point(point)
        case _:
            return lambda placed: placed.origin


@dataclass(frozen=True)
class JointCase:
    """A joint along a triad of world axes (in the plane the third is z)."""

    make: Callable[[Port, Port, Array], Joint]  # the joint of two ports and a triad (rows)
    offset: tuple[int, ...] = ()  # axes along which the second point may be away from the first one
    slides: tuple[int, ...] = ()  # axes along which it may move relative to the first body
    turns: tuple[int, ...] = ()  # axes about which the second body may turn relative to the first one
    dimensions: tuple[int, ...] = (2, 3)  # where the joint exists
    point_mass: tuple[int, ...] = ()  # dimensions in which the second body may be a point mass


JOINT_CASES: dict[type[Joint], JointCase] = {
    ph.Fixed: JointCase(lambda a, b, t: ph.Fixed(a, b)),
    ph.Revolute: JointCase(lambda a, b, t: ph.Revolute(a, b, axis=t[2]), turns=(2,), point_mass=(2,)),
    ph.Spherical: JointCase(lambda a, b, t: ph.Spherical(a, b), turns=(0, 1, 2), point_mass=(2, 3)),
    ph.Universal: JointCase(
        lambda a, b, t: ph.Universal(a, b, axis=t[0], second_axis=t[1]), turns=(0, 1), dimensions=(3,)
    ),
    ph.Cylindrical: JointCase(
        lambda a, b, t: ph.Cylindrical(a, b, axis=t[0]), offset=(0,), slides=(0,), turns=(0,), dimensions=(3,)
    ),
    ph.Prismatic: JointCase(lambda a, b, t: ph.Prismatic(a, b, axis=t[0]), offset=(0,), slides=(0,)),
    ph.Planar: JointCase(
        lambda a, b, t: ph.Planar(a, b, axis=t[2]), offset=(0, 1), slides=(0, 1), turns=(2,), dimensions=(3,)
    ),
    ph.Slider: JointCase(
        lambda a, b, t: ph.Slider(a, b, axis=t[0]), offset=(0,), slides=(0,), turns=(0, 1, 2), point_mass=(2, 3)
    ),
    ph.Distance: JointCase(
        lambda a, b, t: ph.Distance(a, b), offset=(0,), slides=(1, 2), turns=(0, 1, 2), point_mass=(2, 3)
    ),
}


def joint_types(dimension: int) -> list[type[Joint]]:
    return [kind for kind, case in JOINT_CASES.items() if dimension in case.dimensions]


@dataclass(frozen=True)
class LoadCase:
    # the load on an attachment, of a force, a lever arm for moments, and axes
    make: Callable[[Attachment, Any, float, str], Load]
    fits: Callable[[PlacedBody], bool] = lambda placed: True  # whether it can act on a body
    body: type[Body] | None = None  # the kind that there must be; None: any
    dimensions: tuple[int, ...] = (2, 3)  # where it exists


LOAD_CASES: dict[type[Load], LoadCase] = {
    ph.Force: LoadCase(lambda at, value, arm, axes: ph.Force(at, value, axes=axes)),
    ph.Torque: LoadCase(
        lambda at, value, arm, axes: ph.Torque(at, _scaled(value, arm), axes=axes),
        lambda placed: placed.data.rotates,
    ),
    ph.Pressure: LoadCase(
        lambda at, value, arm, axes: _pushed(at, value),
        lambda placed: isinstance(placed.body, ph.FlexibleBody),
        ph.FlexibleBody,
    ),
    SurfacePressure: LoadCase(
        lambda at, value, arm, axes: _inflating(at.placed, value),
        lambda placed: isinstance(placed.body, ph.SoftBody | ph.Shell) and placed.data.dimension == 3,
        ph.SoftBody,
        (3,),
    ),
    ph.DistributedForce: LoadCase(
        lambda at, value, arm, axes: _spread(at.placed, value, axes),
        lambda placed: isinstance(placed.body, ph.Beam),
    ),
}


def _spread(beam: PlacedBody, value: Any, axes: str) -> ph.DistributedForce:
    density = 2 / beam.body.length**2
    if callable(value):
        force = formula("lambda x, time: {density} * x * np.asarray({value}(time))", density=density, value=value)
    else:
        force = formula("lambda x, time: {density} * x * {value}", density=density, value=np.asarray(value))
    return ph.DistributedForce(beam, force, axes)


def _pushed(at: Attachment, value: Any) -> ph.Pressure:
    density = 1 / np.linalg.norm(at.placed.body.points.interfaces.areas[0])
    if callable(value):
        return ph.Pressure(at, formula("lambda time: {density} * {value}(time)[0]", density=density, value=value))
    return ph.Pressure(at, density * value[0])


def _inflating(body: PlacedBody, value: Any) -> ph.Pressure:
    density = 1 / float(np.ptp(body.body.nodes, axis=0).max()) ** 2
    if callable(value):
        return ph.Pressure(body, formula("lambda time: {density} * {value}(time)[0]", density=density, value=value))
    return ph.Pressure(body, density * value[0])


def _scaled(value: Any, factor: float) -> Any:
    if callable(value):
        return formula("lambda time: {factor} * np.asarray({value}(time))", factor=factor, value=value)
    return factor * value
