"""Tables of the kernels for all interactions: functions, laws, prescribed and controlled parts (docs/theory.md,
8)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from phlexible.algebra.arrays import Array, IntArray
from phlexible.algebra.sparse import row_spans
from phlexible.bodies.absolute_body import QuadraticStrains
from phlexible.bodies.string_law import Law, LinearLaw, LogarithmicLaw, StringLaw, StVenantKirchhoffLaw, TensionOnly
from phlexible.description.interactions.feedback import Feedback
from phlexible.description.interactions.force_elements import CoordinateForce, Coulomb, ForceValue, OneSided
from phlexible.description.interactions.functions import (
    AngleCoordinate,
    Bilinear,
    Coordinate,
    DirectionOf,
    DistanceCoordinate,
    KinematicPair,
    LengthCoordinate,
    PiecesCoordinate,
    PointOf,
)
from phlexible.description.interactions.loads import Axes, Force, PointLoad, SurfacePressure
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.interactions.state_force import FeedbackPart
from phlexible.description.interactions.surfaces import RoundedCoordinate
from phlexible.description.joints.rolling import RollingCoordinate
from phlexible.description.joints.sliding import LineCoordinate
from phlexible.description.ports import Attachment
from phlexible.description.time_functions import Timed, TimePath
from phlexible.elements.maxwell import Maxwell
from phlexible.state.functions import FunctionSet, Terms, VectorCollector
from phlexible.state.layout import offsets
from phlexible.state.system import System
from phlexible.state.vectors import CarriedVector
from phlexible.step.assembly.bodies import Tables, columns
from phlexible.step.assembly.couplings import (
    LARGEST,
    Couplings,
    FunctionKind,
    InteractionKind,
    VectorKind,
    couplings_of,
)
from phlexible.step.compilation.user_function import UserFunction, user_function
from phlexible.step.tables.declarations import (
    ANGLE,
    CONSTRAINT,
    CONTACT,
    DISTANCE,
    ELASTIC,
    FOLLOWER_FORCE,
    FOLLOWER_TORQUE,
    FORCE,
    LENGTH,
    LINEAR,
    LOGARITHMIC,
    MOVING,
    PAID_OUT,
    PIECES,
    POSITION,
    PRESSURE,
    ROLLING,
    ROUNDED,
    SERVO,
    SLID,
    SPRING,
    ST_VENANT_KIRCHHOFF,
    TORQUE,
    USER_LAW,
)

# Laws of forces as numbers: coordinates, stored energies, dampers, prescribed parts.

ENERGIES: dict[type[StringLaw], int] = {
    LogarithmicLaw: LOGARITHMIC,
    LinearLaw: LINEAR,
    StVenantKirchhoffLaw: ST_VENANT_KIRCHHOFF,
    Law: USER_LAW,
}
"""Stored energies of strings by the number that the kernels know them by."""

PLACES = 17


@dataclass(frozen=True)
class ForceData:
    """Numbers of a force law along one coordinate.

    Attributes:
        coordinate: POSITION .. SECOND_OFFSET.
        energy: SPRING .. ELASTIC, which is a spring's and counts as strain, or SERVO.
        stiffness, damping, rest: of spring and damper; of a string EA and tau EA / 4.
        modulus: factor of numerical damping.
        weight: measure of a string's strain.
        energy_size: of a user's energy, for its round-off.
        functions: users' energy and its derivative.
        value: number among the prescribed forces, or -1.
        contact: of a one-sided force.
        friction: along the coordinate.
        row: constraint row whose multiplier acts on the coordinate, or -1.
        factor: of the coordinate in that row.
        length: radius of a wheel that rolls; of a tendon its rest length at t = 0 if it is paid out, else a sign.
        bearing: the constraint whose force makes friction, and how many of its rows are of this force; or None.
        relaxation: branches of spring and dashpot, with stiffnesses along the coordinate.
        tension_only: of a string that neither stores nor resists where C < 1.
        slide: coordinate along a line on which a joint slides, or across it; None: another one.
        pieces: rest lengths at t = 0 of the pieces of a tendon that rubs on its guides; empty: of others.
        guide_friction: its coefficient of friction.
    """

    coordinate: int
    energy: int
    stiffness: float = 0.0
    damping: float = 0.0
    rest: float = 0.0
    modulus: float = 0.0
    weight: float = 1.0
    energy_size: float = 0.0
    functions: tuple[UserFunction, UserFunction] | None = None
    value: int = -1
    contact: OneSided | None = None
    friction: Coulomb | None = None
    row: int = -1
    factor: float = 0.0
    length: float = 0.0
    bearing: tuple[int, int] | None = None
    relaxation: Maxwell | None = None
    tension_only: bool = False
    slide: LineCoordinate | None = None
    pieces: tuple[float, ...] = ()
    guide_friction: float = 0.0


def coordinate_kind(coordinate: Coordinate) -> int:
    """Return the integer by which the compiled time step selects the formula of a coordinate. It is one of the
    constants POSITION, DISTANCE, ANGLE, ROLLING, ROUNDED, or of a tendon LENGTH, PAID_OUT (with a winch) and
    PIECES (one that rubs). For joints along a line it is SLID (position along it), FIRST_OFFSET or
    SECOND_OFFSET."""
    match coordinate:
        case RoundedCoordinate():
            return ROUNDED
        case RollingCoordinate():
            return ROLLING
        case AngleCoordinate():
            return ANGLE
        case DistanceCoordinate():
            return DISTANCE
        case PiecesCoordinate():
            return PIECES
        case LengthCoordinate():
            return LENGTH if coordinate.winch is None else PAID_OUT
        case LineCoordinate():
            return SLID + coordinate.component
        case _:
            return POSITION


def contact_pair_law(force: CoordinateForce) -> ForceData:
    """Return the data of a contact between two shapes in the list of force laws, which has only a stiffness and a
    side. The normal force itself is computed like that of contact groups, whose tables have the complete law.
    """
    assert force.contact is not None, "it is one-sided"
    return ForceData(POSITION, SPRING, contact=OneSided(force.contact.stiffness, side=force.contact.side))


def element_law(force: CoordinateForce, value: int, bearing: tuple[int, int] | None = None) -> ForceData:
    """Return the data of the law of the element ``force`` along its coordinate (stiffness, damping, friction, user
    functions) as ``ForceData``. ``value`` is the index of its prescribed value, or -1, and ``bearing`` the joint
    whose force causes friction. User functions are compiled."""
    functions, size = None, 0.0
    if force.potential is not None:
        positions = np.linspace(*force.potential.around, PLACES)
        size = max(abs(force.potential.energy_at(float(position))) for position in positions)
        sample = float(np.mean(force.potential.around))
        functions = (user_function(force.potential.energy, sample), user_function(force.potential.slope, sample))
    rubbing = force.coordinate if isinstance(force.coordinate, PiecesCoordinate) else None
    return ForceData(
        coordinate_kind(force.coordinate),
        SPRING if rubbing else _energy_kind(force),
        force.stiffness if force.contact is None else force.contact.stiffness,
        force.damping,
        force.rest,
        modulus=force.stiffness if force.is_strain else 0.0,
        energy_size=size,
        functions=functions,
        value=value,
        contact=force.contact,
        friction=force.friction,
        bearing=bearing,
        relaxation=force.relaxation,
        length=force.coordinate.scale if isinstance(force.coordinate, LengthCoordinate) else 0.0,
        slide=force.coordinate if isinstance(force.coordinate, LineCoordinate) else None,
        pieces=rubbing.pieces if rubbing else (),
        guide_friction=rubbing.friction if rubbing else 0.0,
    )


def related_law(coordinate: Coordinate, row: int, factor: float) -> ForceData:
    """Return the force law by which the multiplier of a relation between coordinates, such as gears, acts on one
    ``coordinate``. ``row`` is the index of the relation among the scalar constraints, ``factor`` the coefficient
    of the coordinate in it. The law has no stiffness."""
    radius = coordinate.radius if isinstance(coordinate, RollingCoordinate) else 0.0
    slide = coordinate if isinstance(coordinate, LineCoordinate) else None
    return ForceData(coordinate_kind(coordinate), SPRING, row=row, factor=factor, length=radius, slide=slide)


def _energy_kind(force: CoordinateForce) -> int:
    if force.contact is not None:
        return CONTACT
    return SERVO if force.is_servo else ELASTIC if force.is_strain else SPRING


class StrainLaws:
    """Laws of strings, which compile each user's functions once."""

    def __init__(self) -> None:
        self._known: dict[StringLaw, tuple[UserFunction, UserFunction]] = {}

    def of(self, group: QuadraticStrains, weight: float) -> ForceData:
        """Return the ``ForceData`` of the force law for one scalar strain in ``group`` (strains of a string or
        other body). It contains a quarter of the modulus times the quadrature ``weight`` (length or volume), the
        viscosity in proportion, and whether the law acts in tension only. Energy functions of users are compiled
        once for each law and cached."""
        law, functions = group.law, None
        is_tension_only = isinstance(law, TensionOnly)
        while isinstance(law, TensionOnly):
            law = law.law
        if isinstance(law, Law):
            if law not in self._known:
                self._known[law] = (user_function(law.W), user_function(law.dW))
            functions = self._known[law]
        quarter = law.modulus / 4 * weight
        return ForceData(
            POSITION,
            ENERGIES[type(law)],
            law.modulus,
            group.viscosity * quarter,
            modulus=quarter,
            weight=weight,
            energy_size=law.modulus,
            functions=functions,
            relaxation=group.relaxation and group.relaxation.scaled(weight / 4),
            tension_only=is_tension_only,
        )


def law_tables(laws: Sequence[ForceData], constraints: int, loads: int) -> Tables:
    """Return the tables of the compiled time step for all force laws along coordinates, as lists by the names of
    the tables. They have one entry for each of the ``laws``. In "coordinate_of", ``constraints`` entries for
    constraints precede them; in "force_value", indices of prescribed values follow those of ``loads`` loads."""
    coordinates = [CONSTRAINT] * constraints + [law.coordinate for law in laws]
    addresses = [(0, 0) if f is None else (f[0].address, f[1].address) for f in (law.functions for law in laws)]
    return {
        "coordinate_of": coordinates,
        "energy_of": [law.energy for law in laws],
        **columns(("energy_address", "slope_address"), addresses),
        "force_value": [law.value + loads if law.value >= 0 else -1 for law in laws],
        "tension_only": [int(law.tension_only) for law in laws],
        "force_stiffness": [law.stiffness for law in laws],
        "force_damping": [law.damping for law in laws],
        "force_rest": [law.rest for law in laws],
        "force_modulus": [law.modulus for law in laws],
        "force_weight": [law.weight for law in laws],
        "push_side": [law.contact.side if law.contact else 0.0 for law in laws],
        "push_exponent": [law.contact.exponent if law.contact else 1.0 for law in laws],
        "push_damping": [law.contact.damping if law.contact else 0.0 for law in laws],
        "push_loss": [law.contact.impact_damping if law.contact else 0.0 for law in laws],
        "push_slowest": [law.contact.slowest if law.contact else 1.0 for law in laws],
        "push_share": [law.contact.substep_factor if law.contact else 1.0 for law in laws],
        "friction": [law.friction.level if law.friction else 0.0 for law in laws],
        "friction_speed": [law.friction.speed if law.friction else 1.0 for law in laws],
        "bearing": [law.bearing[0] if law.bearing else -1 for law in laws],
        "bearing_rows": [law.bearing[1] if law.bearing else 0 for law in laws],
        "bearing_share": [law.friction.share if law.friction else 0.0 for law in laws],
        "length_scale": [law.length for law in laws],
        "pieces": [len(law.pieces) for law in laws],
        "piece_start": [length for law in laws for length in law.pieces],
        "guide_friction": [law.guide_friction for law in laws],
        "force_row": [law.row for law in laws],
        "force_factor": [law.factor for law in laws],
        "force_energy": [law.energy_size for law in laws],
    }


def sliding_tables(laws: Sequence[ForceData]) -> Tables:
    """Return the arrays that describe the lines along which joints slide to the compiled time step, by name, from
    all force ``laws``. "slide_guide" has for each line the index of the law whose coordinate is the joint's own
    position along it; other laws of the joint read the position from there.
    """
    lines = list({id(law.slide.line): law.slide.line for law in laws if law.slide is not None}.values())
    numbers = {id(line): number for number, line in enumerate(lines)}
    own = [-1 if law.slide is None else numbers[id(law.slide.line)] for law in laws]
    places = [f for f, law in enumerate(laws) if law.coordinate == SLID and law.row >= 0 and law.factor == 0.0]
    guides = {own[f]: f for f in places}
    return {
        "slides": len(lines),
        "slide_pieces": [line.pieces for line in lines],
        "slide_of": own,
        "slide_guide": [guides[number] for number in range(len(lines))],
        "slide_first": [first for line in lines for first in line.first.tolist()],
        "slide_length": [line.length for line in lines],
        "slide_coefficient": np.concatenate([np.zeros(0), *(line.weights.ravel() for line in lines)]),
    }


def impact_tables(laws: Sequence[ForceData]) -> Tables:
    """Return the tables "impacts" (their number) and "impact_of" of one-sided force laws (stops) that store the
    approach speed of an impact for restitution. "impact_of" has the index of the speed for each of the ``laws``,
    -1 without restitution."""
    remember = [law.contact is not None and law.contact.restitution is not None for law in laws]
    return {
        "impacts": sum(remember),
        "impact_of": [sum(remember[:k]) if each else -1 for k, each in enumerate(remember)],
    }


def bristle_tables(laws: Sequence[ForceData]) -> Tables:
    """Return the tables "bristle_..." of the compiled time step, with the friction springs (bristles) of all force
    laws, as lists by name. "bristle_of" has the index of the friction spring of each law, -1 without one; all
    others have one entry for each spring."""
    own = [law.friction.bristle if law.friction else None for law in laws]
    bristles = [bristle for bristle in own if bristle]
    numbers = np.cumsum([bristle is not None for bristle in own], dtype=np.int64) - 1
    return {
        "bristle_of": [number if bristle else -1 for bristle, number in zip(own, numbers.tolist(), strict=True)],
        "bristle_stiffness": [bristle.stiffness for bristle in bristles],
        "bristle_damping": [bristle.damping for bristle in bristles],
        "bristle_grip": [bristle.grip for bristle in bristles],
    }


def branch_tables(
    laws: Sequence[ForceData], soft: Sequence[Maxwell | None], types: Sequence[Maxwell | None]
) -> Tables:
    """Return the arrays that describe Maxwell branches (springs and dashpots in series) to the compiled time step,
    in a dictionary by name. They contain stiffness and index of the relaxation time for the branches of force
    ``laws``, ``soft`` bodies and ``types`` of floating bodies (bodies with equal data). Equal relaxation times [s]
    occur once."""
    own = [law.relaxation.pairs if law.relaxation else () for law in laws]
    groups, inner = ([law.pairs if law else () for law in each] for each in (soft, types))
    counts, of_groups, of_types = ([len(pairs) for pairs in each] for each in (own, groups, inner))
    stiffness, times = np.array([pair for pairs in (*own, *groups, *inner) for pair in pairs]).reshape(-1, 2).T
    known, index = np.unique(times, return_inverse=True) if times.size else (times, times.astype(np.int64))
    count = sum(counts)
    last = count + sum(of_groups)
    return {
        "branches": counts,
        "branch_stiffness": stiffness[:count],
        "branch_fading": index[:count],
        "fading_time": known,
        "soft_branches": of_groups,
        "soft_branch_share": stiffness[count:last],
        "soft_branch_fading": index[count:last],
        "inner_branches": of_types,
        "inner_share": stiffness[last:],
        "inner_fading": index[last:],
    }


# Functions of numbered chords, and what is demanded of them or acts along them (docs/theory.md, 8).


class Function(NamedTuple):
    """A sum of products of two chords, each with a coefficient, minus a constant, and its structure."""

    kind: FunctionKind
    coefficients: tuple[float, ...]
    constant: float = 0.0

    @property
    def terms(self) -> list[tuple[float, int, int]]:
        """Coefficient and indices of both chords of each product, without functions of time."""
        return [(own, a, b) for own, (a, b, _) in zip(self.coefficients, self.kind.terms, strict=True)]


@dataclass(frozen=True, eq=False)
class Interaction:
    """A constraint, without ``force``, or a law, with its functions of numbered chords."""

    functions: tuple[Function, ...]
    force: ForceData | None = None

    @property
    def kind(self) -> InteractionKind:
        """Return the structure of this constraint or force law without numerical values, as a hashable
        ``InteractionKind``. It contains its scalar functions, whether it is a force, and the constraints to which
        it belongs. Mechanisms that differ in parameters alone have equal structures."""
        functions = tuple(function.kind for function in self.functions)
        if self.force is None:
            return InteractionKind(functions, False, -1, -1)
        bearing = self.force.bearing[0] if self.force.bearing else -1
        windows = self.force.slide.windows if self.force.slide else ()
        return InteractionKind(functions, True, self.force.row, bearing, windows)


# Everything between bodies as tables of the kernels (docs/theory.md, 8).
#
# Vectors, chords, functions, constraints, laws, loads.

MovingPart = CarriedVector | TimePath


@dataclass(eq=False)
class InteractionTables:
    """Collects the interactions of a system, constraints first, and numbers their vectors and chords.

    Args:
        system: what moves; the vectors and chords of its constraints are the first ones.

    Attributes:
        collector: numbers vectors and chords.
        moving: what is a function of time, in the order of the moving vectors.
        interactions: in their order.
        loads: kind, vector of the point and first vector of the triad of each.
    """

    system: System
    collector: VectorCollector = field(init=False)
    moving: list[MovingPart] = field(default_factory=list)
    interactions: list[Interaction] = field(default_factory=list)
    loads: list[tuple[int, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        rows = self.system.rows
        known = rows if isinstance(rows, FunctionSet) else rows.functions
        self._terms = known.functions if known is rows else None
        self.collector = VectorCollector(self.system.resolver, known)

    def constraint(self, begin: int, end: int) -> Interaction:
        """Return the constraint whose scalar constraints are those from ``begin`` to ``end`` of the system. Its
        terms are those of ``System.rows``, numbered already, unless the system relates coordinates."""
        rows = [owner.row for owner in self.system.owners[begin:end]]
        known = map(self.collector.terms, rows) if self._terms is None else self._terms[begin:end]
        return Interaction(tuple(map(self._numbered, rows, known)))

    def function(self, row: Bilinear) -> Function:
        """Return the scalar function of a scalar constraint or coordinate (``row``), a sum of scalar products of
        vector differences. In it vector differences and functions of time are replaced by indices. New vector
        differences and paths are added to the lists of the model."""
        return self._numbered(row, self.collector.terms(row))

    def _numbered(self, row: Bilinear, terms: Terms) -> Function:
        products = tuple((a, b, self._time_index(timed)) for _, a, b, timed in terms)
        kind = FunctionKind(products, self._time_index(row.offset))
        return Function(kind, tuple(term[0] for term in terms), row.constant)

    def dot(self, first: Sequence[tuple[float, int]], second: Sequence[tuple[float, int]]) -> Function:
        """Return the scalar function that is the dot product of two difference vectors ``first`` and
        ``second``. Each is given as a sum of (weight, index of a vector)."""
        chords = (self.collector.add_weighted_sum(tuple(first)), self.collector.add_weighted_sum(tuple(second)))
        return Function(FunctionKind(((*chords, -1),), -1), (1.0,))

    def add_load(self, load: PointLoad) -> None:
        """Append ``load`` to the list of loads as (kind, index of its point, index of the first of its three
        axes). An index is -1 if the load has none. The kind is force, torque (fixed in the world or following the
        body) or pressure. The vectors are added to the model."""
        if isinstance(load, SurfacePressure):
            self.loads.append((PRESSURE, -1, -1))
            return
        follows, port = load.axes is Axes.BODY, load.attachment
        is_force = isinstance(load, Force)
        kind = (FORCE, FOLLOWER_FORCE)[follows] if is_force else (TORQUE, FOLLOWER_TORQUE)[follows]
        point = self.collector.add_vector(self.system.resolver.resolve(PointOf(port))) if is_force else -1
        self.loads.append((kind, point, -1 if kind == FORCE else self._triad(load)))

    def _triad(self, load: PointLoad) -> int:
        """Add three direction vectors to the model, the body axes at the frame on which ``load`` acts, and return
        the index of the first vector."""
        port, first = load.attachment, len(self.collector.vectors)
        for axis in port.placed.rotation.T:
            self.collector.vectors.append(self.system.resolver.resolve(DirectionOf(port, axis)))
        return first

    def _time_index(self, timed: Timed | None) -> int:
        """Return the index of a function of time ``timed`` among the components of all prescribed vectors; -1 for
        None. A path has three components, its cosine, sine and value, of which ``timed`` names one. A path that is
        not yet among the prescribed vectors is appended to them.
        """
        if timed is None:
            return -1
        if timed.path not in self.moving:
            self.moving.append(timed.path)
        return 3 * self.moving.index(timed.path) + timed.factor.value

    def finished(self, long_carriers: frozenset[int]) -> Couplings:
        """Return the structure (``Couplings``) of all constraints, force laws and loads that were added. Vectors
        on prescribed frames are appended to the list of prescribed vectors, so that no vectors may be added
        afterwards. ``long_carriers`` are bodies whose blocks are stored in segments."""
        for vector in self.collector.vectors:
            if vector.carrier == MOVING:
                self.moving.append(vector)
        vectors = tuple(
            VectorKind(vector.carrier, vector.is_point, *row_spans(np.atleast_2d(vector.shapes.any(axis=0)))[0])
            for vector in self.collector.vectors
        )
        kinds = tuple(each.kind for each in self.interactions)
        chords, loads = self.collector.difference_vectors, tuple(self.loads)
        own = self.system.layout, long_carriers, vectors, chords, kinds, loads, len(self.moving)
        return Couplings(*own) if len(chords) > LARGEST else couplings_of(*own)

    def real_tables(self, coupled: Couplings) -> Tables:
        """Return the floating-point arrays that describe vectors and scalar functions to the compiled time
        step, in a dictionary by name. They are undeformed vectors, shape functions, coefficients of terms and
        constants. ``coupled`` is the structure of all interactions, with the range of nonzero shape functions
        of each vector."""
        functions = [function for each in self.interactions for function in each.functions]
        shapes = [np.zeros((0, 3))]
        for vector, kind in zip(self.collector.vectors, coupled.vectors, strict=True):
            shapes.append(vector.shapes[:, kind.first : kind.last].T)
        return {
            "vector_base": [vector.base for vector in self.collector.vectors],
            "shape": np.concatenate(shapes),
            "term_coefficient": [own for function in functions for own in function.coefficients],
            "function_constant": [function.constant for function in functions],
        }


# Load values that controllers set, and the numbered world vectors that they measure.


@dataclass(frozen=True, eq=False)
class MeasuredCoordinate:
    """A measured coordinate, with its functions of numbered chords.

    Attributes:
        coordinate, functions: of it.
        counter: index of the force that counts the turns of an angle; None: there is none.
    """

    coordinate: Coordinate
    functions: tuple[Function, ...]
    counter: int | None


@dataclass(frozen=True, eq=False)
class MeasuredPoint:
    """A measured point, by the number of its vector, without a counter of turns."""

    vector: int
    counter: None = None


Measured = MeasuredCoordinate | MeasuredPoint


MeasureTables = tuple[IntArray, IntArray, IntArray, IntArray, IntArray, Array]


def measure_tables(
    items: Sequence[tuple[int, int, int, int]],
    functions: Sequence[Sequence[tuple[float, int, int] | tuple[float, int, int, Timed | None]]],
    chords: Sequence[Sequence[tuple[float, int]]],
) -> MeasureTables:
    """Return the arrays from which the compiled function ``measure`` evaluates measured points and coordinates.
    The four integers of each of ``items`` are its kind, its vector or first function, and the indices of its first
    number and of its angle (-1: none). Each of ``functions`` is a list of products of two difference vectors
    (``chords``), which are weighted sums of vectors."""
    terms = [term for own in functions for term in own]
    parts = [part for chord in chords for part in chord]
    of_terms, of_parts = (
        np.stack([starts[:-1], starts[1:]], axis=1)
        for starts in (offsets([len(own) for own in each]) for each in (functions, chords))
    )
    return (
        np.array(items, dtype=np.int64).reshape(-1, 4),
        of_terms,
        np.array([term[1:3] for term in terms], dtype=np.int64).reshape(-1, 2),
        of_parts,
        np.array([vector for _, vector in parts], dtype=np.int64),
        np.array([*(weight for weight, _ in parts), *(term[0] for term in terms)], dtype=np.float64),
    )


@dataclass(frozen=True, eq=False)
class Channel:
    """One quantity that a controller measures: a range of the values that compiled code measures, and how to
    convert them, or a sensor that is read from the full state.

    Attributes:
        begin, end: range among the values that compiled code measures for the controller.
        map: matrix and offset that are applied to these values; None: they are passed unchanged.
        reading: sensor that is read from the full state instead.
    """

    begin: int
    end: int
    map: tuple[Array, Array] | None = None
    reading: Sensor | None = None


@dataclass(frozen=True, eq=False)
class Target:
    """Load values that a controller sets.

    Attributes:
        column: first of them in a row of load values.
        begin, size: range among the values of the controller.
        direction: direction along which a single value acts, shape (3,); None: values act as they are.
        is_whole: whether the controller has no other values.
        load: load whose three values they are; None: a single value.
    """

    column: int
    begin: int
    size: int
    direction: Array | None = None
    is_whole: bool = True
    load: PointLoad | None = None

    def write(self, values: Array, loads: Array) -> None:
        """Write those ``values`` of a controller, shape (values,), that this target uses into ``loads``, shape
        (load values,), in place. If the target has a direction, three entries become its unit vector times the one
        value."""
        own = values[self.begin : self.begin + self.size]
        if self.direction is not None:
            loads[self.column : self.column + 3] = own[0] * self.direction
        else:
            loads[self.column : self.column + self.size] = own


@dataclass(frozen=True, eq=False)
class ControlledValue:
    """All load values that one controller sets, and what it measures.

    Attributes:
        targets: load values that the controller sets.
        feedback: the controller.
        measured: coordinates and points that compiled code measures.
        channels: quantities that the controller receives; empty: all that is measured, unchanged.
        size: count of values that the controller returns: 1 for a joint, 3 for a load, or all of a ``StateForce``.
        name: name of the load or element, for messages.
        dimension: dimension of the model.
    """

    targets: tuple[Target, ...]
    feedback: Feedback
    measured: tuple[Measured, ...]
    channels: tuple[Channel, ...]
    size: int
    name: str
    dimension: int

    def check_components(self, values: Array, time: float) -> None:
        """Raise ``ParameterError`` if load values that a controller returned at a time [s] point out of the plane
        of a planar model.

        Raises:
            ParameterError: names the load.
        """
        for target in self.targets:
            if target.load is not None:
                own = values[target.begin : target.begin + 3]
                target.load.check_components(own, self.dimension, np.array([time]))

    @property
    def column(self) -> int:
        """First index, among all load values, of the values that this controller of one load sets."""
        return self.targets[0].column


def controlled_values(
    system: System, prescribed: Sequence[tuple[ForceValue, str]], tables: InteractionTables
) -> tuple[ControlledValue, ...]:
    """Return one ``ControlledValue`` for each controller of a ``system``: the load values that it sets and what it
    measures. Loads and prescribed forces that share parts of one controller are collected. Points and directions
    that controllers measure are added to ``tables``. ``prescribed`` are the values of prescribed forces, each with
    its name."""
    loads = [(load.value, str(load), load) for load in system.loads]
    forces = [(value, label, None) for value, label in prescribed]
    groups: dict[int, tuple[Feedback, str, list[Target]]] = {}
    for k, (value, name, load) in enumerate([*loads, *forces]):
        size = 1 if load is None else 3
        if not isinstance(value, Feedback):
            continue
        if isinstance(value, FeedbackPart):
            along = value.direction
            vector = load if along is None else None
            own = Target(3 * k, value.begin, 1 if vector is None else 3, along, is_whole=False, load=vector)
            groups.setdefault(id(value.whole), (value, name, []))[2].append(own)
        else:
            groups[-1 - k] = (value, name, [Target(3 * k, 0, size, load=load)])
    return tuple(
        _controlled(feedback, tuple(targets), name, system.dimension, tables)
        for feedback, name, targets in groups.values()
    )


def _controlled(
    feedback: Feedback, targets: tuple[Target, ...], name: str, dimension: int, tables: InteractionTables
) -> ControlledValue:
    measured: list[Measured] = []
    channels: list[Channel] = []
    count = 0
    for item in feedback.measured:
        share = item.linear_reading if isinstance(item, Sensor) else None
        source = share[0] if share is not None else item
        if isinstance(source, Sensor):
            channels.append(Channel(count, count, reading=source))
            continue
        own = _measured(source, dimension, tables)
        size = 6 if isinstance(source, Attachment) else 2 * len(own)
        channels.append(Channel(count, count + size, None if share is None else share[1:]))
        measured += own
        count += size
    is_plain = all(channel.map is None and channel.reading is None for channel in channels)
    total = feedback.whole.size if isinstance(feedback, FeedbackPart) else targets[0].size
    kept = () if is_plain else tuple(channels)
    return ControlledValue(targets, feedback, tuple(measured), kept, total, name, dimension)


def _measured(source: KinematicPair | Attachment, dimension: int, tables: InteractionTables) -> list[Measured]:
    if isinstance(source, Attachment):
        return [MeasuredPoint(tables.collector.add_vector(tables.system.resolver.resolve(PointOf(source))))]
    counters = tables.system.turn_counters
    return [
        MeasuredCoordinate(each, tuple(map(tables.function, each.functions())), counters.get((source, each.name)))
        for each in (source.coordinate(dimension, name) for name in source.coordinate_names)
    ]
