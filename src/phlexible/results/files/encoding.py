"""Descriptions as JSON and back: dataclasses of known classes by name and fields, never code."""

import base64
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, NoReturn

import numpy as np

from phlexible import bodies, description, measure, shapes
from phlexible.algebra.arrays import Array
from phlexible.bodies.beam.bases import Frame, ReducedBasis
from phlexible.bodies.beam.mesh import LumpedMass, Theory
from phlexible.bodies.beam.strain import Strain
from phlexible.bodies.body import Body
from phlexible.bodies.flexible.element_mesh import CellKind, ElementMesh
from phlexible.bodies.flexible.flexible_body import FlexibleBody
from phlexible.bodies.flexible.mesh_matrices import ElementMaterials, PlaneState
from phlexible.bodies.flexible.plate_body import PlatePoints
from phlexible.bodies.flexible.plate_elements import PlateElement, PlateSection
from phlexible.bodies.flexible.points import InterfaceMotion, MeshPoints, NodePoints
from phlexible.bodies.floating_body import FloatingBody, StrainEnergy
from phlexible.bodies.locations import (
    Along,
    Cut,
    End,
    Interface,
    MaterialPosition,
    Node,
    Origin,
    Start,
    SurfaceNode,
    SurfaceParameters,
)
from phlexible.bodies.material import Material
from phlexible.bodies.rod import Rod, StressFree
from phlexible.bodies.shell.mesh import ShellMesh
from phlexible.bodies.shell.ports import EdgeKind, ShellInterface
from phlexible.bodies.shell.section import Laminate, OrthotropicMaterial
from phlexible.bodies.soft_body import SoftBody
from phlexible.bodies.soft_law import Constitution, InvariantLaw, SoftLaw
from phlexible.bodies.soft_mesh import NodeGroup, SoftMesh
from phlexible.bodies.string import String
from phlexible.bodies.string_law import Law, StringLaw
from phlexible.description.interactions.drives import Drive
from phlexible.description.interactions.feedback import Feedback, LinearController
from phlexible.description.interactions.force_elements import ForceElement, Potential
from phlexible.description.interactions.loads import Axes, DistributedForce, Load, PointLoad, Pressure
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.interactions.state_force import FeedbackPart, StateLaw, Whole
from phlexible.description.interactions.surfaces import Capsule, MeshSurface, Plane, Surface
from phlexible.description.joints.joint import Joint
from phlexible.description.joints.joints import Distance
from phlexible.description.joints.relations import JointRelation
from phlexible.description.placed_wholes import PlacedWhole
from phlexible.description.ports import Attachment, MovingFrame, PlacedBody
from phlexible.description.time_functions import TimePath
from phlexible.elements.maxwell import Maxwell
from phlexible.elements.sections import CircularSection, GeneralSection, RectangularSection, Section, VaryingSection
from phlexible.errors import ModelError, ResultFileError
from phlexible.measure.energy import EnergyKind
from phlexible.shapes.solids import Shape

# Large arrays and whole numbers in descriptions: their bytes as text, to the last digit.

LARGE = 4096
KINDS = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8")}


def is_array_json(tree: Any) -> bool:
    """Return whether a JSON value ``tree`` is an array in the binary form of ``array_as_json`` (a dictionary
    of base64 text, kind of number and shape)."""
    return isinstance(tree, dict) and tree.keys() == {"packed", "kind", "shape"}


def array_as_json(values: np.ndarray) -> dict[str, Any]:
    """Return the array ``values`` as a JSON dictionary of its bytes in base64, its kind of number (8-byte
    float or integer) and its shape."""
    kind = "i8" if values.dtype.kind in "iu" else "f8"
    data = np.ascontiguousarray(values, dtype=KINDS[kind]).tobytes()
    return {"packed": base64.b64encode(data).decode("ascii"), "kind": kind, "shape": list(values.shape)}


def array_from_json(tree: dict[str, Any]) -> np.ndarray:
    """Return the array that ``array_as_json`` stored as the JSON dictionary ``tree``, in its shape, as floats or
    integers.

    Raises:
        ValueError, KeyError: text of no array of this shape.
    """
    data = np.frombuffer(base64.b64decode(tree["packed"], validate=True), KINDS[tree["kind"]])
    return data.reshape(tree["shape"]).astype(np.int64 if tree["kind"] == "i8" else np.float64)


# Stand in a loaded model for laws and potentials of the user, whose functions files do not hold.


def _refuses(what: str) -> Callable[..., NoReturn]:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise ModelError(
            f"results files do not hold the functions of {what}; build the model again to ask for them"
        )

    return refuse


class UnstoredLaw(StringLaw):
    """String law without its functions, which refuses tensions but not recorded quantities."""

    energy = derivative = curvature = discrete_derivative = _refuses("a Law(W, dW)")
    modulus = property(energy)


class UnstoredSoftLaw(SoftLaw):
    """Law of a soft body without its functions."""

    def constitution(self, plane: PlaneState | None) -> Constitution:
        """Return a constitution (stress as a function of strain) that raises ``ModelError`` when it is evaluated.
        Results files do not store material laws of soft bodies. ``plane`` is not used."""
        return _UnstoredConstitution()


class _UnstoredConstitution(Constitution):
    lame = shear = float("nan")
    energy = stress = stress_change = _refuses("an InvariantLaw")


@dataclass(frozen=True, eq=False)
class UnstoredPotential(Potential):
    """A potential without its functions; its energy is in the recording."""

    def __init__(self) -> None:
        refuse = _refuses("a Potential(energy, slope)")
        for name, value in (("energy", refuse), ("slope", refuse), ("around", (-0.5, 0.5))):
            object.__setattr__(self, name, value)


FAMILIES: tuple[type[Any], ...] = (
    *(Body, StringLaw, SoftLaw, Joint, JointRelation, Load, ForceElement, Shape, Sensor),
)
"""Base classes whose subclasses a file may name, also those of users that are dataclasses."""

VALUES: dict[str, type[Any]] = {
    known.__name__: known
    for known in (
        *(ReducedBasis, Material, CircularSection, RectangularSection, Section, Frame, Strain),
        *(GeneralSection, VaryingSection, LumpedMass, Theory, Rod, StressFree),
        *(FloatingBody, StrainEnergy, ElementMesh, CellKind, ElementMaterials),
        *(MeshPoints, NodePoints, PlatePoints, PlateSection, PlateElement, InterfaceMotion, Interface),
        *(Start, End, Cut, Along, Origin, MaterialPosition),
        *(Axes, Drive, TimePath, Feedback, FeedbackPart, Whole, LinearController, StateLaw, EnergyKind, String),
        *(Plane, Surface, Capsule, MeshSurface, Maxwell),
        *(SoftBody, SoftMesh, NodeGroup, Node, SurfaceNode, ShellMesh, ShellInterface, EdgeKind),
        *(Laminate, OrthotropicMaterial, SurfaceParameters),
    )
}
"""Other classes that a file may name."""

Tree = Any
"""JSON values: None, bool, int, float, str, lists and dictionaries."""


@dataclass(frozen=True, eq=False)
class Context:
    """Parts that descriptions refer to by name or index."""

    bodies: dict[str, PlacedBody]
    frames: list[MovingFrame]
    joints: list[Joint]
    wholes: Mapping[str, PlacedWhole] = field(default_factory=dict)
    applied: list[Any] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class UnstoredFunction:
    """Function of time in a loaded model, of which only the value at t = 0 is known.

    Attributes:
        initial: its value at t = 0.
    """

    initial: Array

    def __call__(self, time: float, *measured: object) -> Array:
        """Return the value of a function of time at t = 0, the only value that a results file stores. ModelError
        is raised at any other ``time``. The arguments ``measured`` of controllers are not used.

        Raises:
            ModelError: any other time.
        """
        if time == 0:
            return self.initial
        raise ModelError(
            "results files do not hold functions of time; build the model again to simulate or resume it"
        )


@dataclass(frozen=True, eq=False)
class UnstoredDistribution:
    """Function of position and time in a loaded model, of which only values at t = 0 are known.

    Attributes:
        positions: positions, shape (k,) [m].
        initial: values there at t = 0, shape (k, 3).
    """

    positions: Array
    initial: Array

    def __call__(self, x: float, time: float) -> Array:
        """Return the value of a distributed load at t = 0 at the stored position nearest to x [m], shape
        (3,). At another ``time`` it raises ``ModelError``."""
        nearest = self.initial[int(np.argmin(np.abs(self.positions - x)))]
        return UnstoredFunction(nearest)(time)


def encode(value: object, context: Context) -> Tree:
    """Return a value from the description of a mechanism (number, array, enum, or part such as a body or joint) as
    JSON data. Bodies, frames, joints and force elements in ``context`` become references by name or index; large
    arrays are stored compactly. Other parts are encoded by their fields; ``ResultFileError`` is raised for classes
    that files may not name.

    Raises:
        ResultFileError: an object of a class that files may not name.
    """
    match value:
        case Enum():
            return {"enum": _class_name(type(value)), "value": value.value}
        case None | bool() | int() | float() | str():
            return value
        case np.generic():
            return value.item()
        case np.ndarray() if value.dtype.kind in "iu" or value.size > LARGE:
            return array_as_json(value)
        case np.ndarray():
            return {"array": value.tolist()}
        case tuple() | list():
            return {"tuple": [encode(each, context) for each in value]}
        case Attachment():
            return {"attachment": value.placed.name, "location": encode(value.location, context)}
        case PlacedBody() | PlacedWhole():
            return {"body": value.name}
        case MovingFrame():
            return {"frame": next(k for k, frame in enumerate(context.frames) if frame is value)}
        case Joint() if any(joint is value for joint in context.joints):
            return {"joint": next(k for k, joint in enumerate(context.joints) if joint is value)}
        case ForceElement():
            return {"applied": next(k for k, part in enumerate(context.applied) if part is value)}
    return encode_part(value, context)


def encode_part(part: Any, context: Context) -> Tree:
    """Return a dataclass ``part`` of a mechanism (body, joint, load) as a JSON dictionary of its class and its
    constructor fields. Functions of time are replaced by their values at t = 0, distributed forces by values at
    their Gauss points. Material laws of users are left out. References to bodies, frames and joints become names
    or indices by ``context``."""
    if isinstance(part, UnstoredLaw):
        return {"class": Law.__name__, "fields": {"W": {"function": None}, "dW": {"function": None}}}
    if isinstance(part, InvariantLaw | UnstoredSoftLaw):
        return {"class": InvariantLaw.__name__, "fields": {}}
    kind = FlexibleBody if isinstance(part, FlexibleBody) else type(part)  # a plate is all data
    name, values = _class_name(kind), {}
    for each in fields(part):
        value = getattr(part, each.name)
        if not each.init:
            continue
        if callable(value) and isinstance(part, DistributedForce):
            initial = [np.asarray(value(x, 0.0), dtype=np.float64).tolist() for x in part.quadrature()[0]]
            values[each.name] = {"distribution": initial, "at": part.quadrature()[0].tolist()}
        elif isinstance(value, Potential) or (callable(value) and not isinstance(value, TimePath)):
            values[each.name] = {"function": _initial_value(part, each.name)}
        else:
            values[each.name] = encode(value, context)
    return {"class": name, "fields": values}


def _initial_value(part: object, name: str) -> Tree:
    """Return the value at t = 0 of the function of time in the field ``name`` of a load, drive or force element
    ``part``. It is a number or list as JSON, which results files store in place of the function. Return None for
    other fields and functions."""
    match part, name:
        case Pressure(), "value":
            return part.at_time(0.0)
        case PointLoad(), "value":
            return part.at_time(0.0).tolist()
        case TimePath(), "function":
            return part(0.0)
        case Distance(), "length":
            return part.initial_length()
        case ForceElement(value=value), _ if callable(value) and getattr(part, name) is value:
            return float(value(0.0))
    return None


def decode(tree: Tree, context: Context) -> Any:
    """Return the value that ``encode`` turned into the JSON ``tree``. References to bodies, frames, joints and
    force elements are looked up in ``context``; functions of time are replaced by objects that return their value
    at t = 0. ResultFileError is raised for an unknown form.

    Raises:
        ResultFileError: a class that files may not name.
    """
    if not isinstance(tree, dict):
        return tree
    match tree:
        case {"enum": name, "value": value}:
            return _class_named(name)(value)
        case {"packed": _}:
            return array_from_json(tree)
        case {"array": numbers}:
            return np.array(numbers, dtype=np.float64)
        case {"tuple": values}:
            return tuple(decode(each, context) for each in values)
        case {"attachment": name, "location": location}:
            return Attachment(context.bodies[name], decode(location, context))
        case {"body": name}:
            return context.wholes[name] if name in context.wholes else context.bodies[name]
        case {"distribution": initial, "at": places}:
            return UnstoredDistribution(np.array(places), np.array(initial))
        case {"frame": index}:
            return context.frames[index]
        case {"joint": index}:
            return context.joints[index]
        case {"applied": index}:
            return context.applied[index]
        case {"function": initial}:
            return UnstoredFunction(np.array(np.nan if initial is None else initial, dtype=np.float64))
        case {"class": Law.__name__}:
            return UnstoredLaw()
        case {"class": InvariantLaw.__name__}:
            return UnstoredSoftLaw()
        case {"class": name, "fields": values}:
            return _class_named(name)(**{key: _decoded_field(key, each, context) for key, each in values.items()})
    raise ResultFileError(f"the description in the file cannot be read: {tree!r}")


def _decoded_field(name: str, tree: Tree, context: Context) -> Any:
    if name == "potential" and tree is not None:
        return UnstoredPotential()
    return decode(tree, context)


def _class_name(kind: type[Any]) -> str:
    """Return the name by which results files refer to the class ``kind``: the plain class name for classes of
    phlexible, "module:qualified name" for classes of users. ResultFileError is raised for classes that are neither
    on the list of value classes nor frozen dataclasses of bodies, joints or loads.

    Raises:
        ResultFileError: a class that a file may not name.
    """
    if VALUES.get(kind.__name__) is kind or (issubclass(kind, FAMILIES) and is_dataclass(kind)):
        return (
            kind.__name__ if kind.__module__.startswith("phlexible.") else f"{kind.__module__}:{kind.__qualname__}"
        )
    raise ResultFileError(
        f"a results file holds bodies, joints and loads that are frozen dataclasses, and {kind.__name__} is none; "
        "make it one (@dataclass(frozen=True)) with all that describes it in its fields, or keep the motion in "
        "memory: leave out output="
    )


def _class_named(name: object) -> type[Any]:
    """Return the class with the ``name`` that a results file contains: a value class or a subclass of bodies,
    joints or loads. If it is not yet imported, all modules of phlexible's bodies, description, measures and shapes
    are imported, then searched. Modules of users are never imported. ResultFileError is raised if no class has the
    name."""
    found = VALUES.get(str(name)) or _descendant(str(name))
    if found is None:  # one that has not been used yet: public names are imported when first used
        for package in (bodies, description, measure, shapes):
            for module in walk_packages(package.__path__, f"{package.__name__}."):
                import_module(module.name)
        found = _descendant(str(name))
    if found is None:
        raise ResultFileError(
            f"the file names the class {name}, which this program does not have: define or import it before the "
            "file is loaded, or use the version of phlexible that wrote the file"
        )
    return found


def _descendant(name: str) -> type[Any] | None:
    return next((kind for family in FAMILIES for kind in _descendants(family) if _is_called(kind, name)), None)


def _descendants(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from _descendants(each)


def _is_called(kind: type[Any], name: str) -> bool:
    is_own = kind.__module__.startswith("phlexible.")
    return is_dataclass(kind) and name == (kind.__name__ if is_own else f"{kind.__module__}:{kind.__qualname__}")
