"""Data of a model in C, one header for ``model.c``: tables, start, functions, controllers, inputs and outputs."""

import hashlib
import json
import re
from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array
from phlexible.algebra.number_tape import FIRST, TapeOperation
from phlexible.description.interactions.feedback import Feedback, transition_matrices
from phlexible.description.time_functions import TimePath
from phlexible.errors import ModelError
from phlexible.libraries.c_text import bit_patterns, integer_fields, integers, quoted, real, reals, records
from phlexible.libraries.linking import HERE
from phlexible.libraries.outputs import Output, Outputs, OutputTables
from phlexible.libraries.parameters import ParameterData, parameters_in_c
from phlexible.libraries.programs import families, programs
from phlexible.libraries.time_functions import Column, TimeData
from phlexible.step.assembly.assembly import Assembly
from phlexible.step.assembly.interactions import ControlledValue, Target
from phlexible.step.compilation.objects import c_name
from phlexible.step.compilation.user_function import UserFunction, module_text
from phlexible.step.integration.clock import breakpoints_of
from phlexible.step.integration.stepper import Stepper
from phlexible.step.tables.declarations import MOST_PARTS, MOVING, TABLES
from phlexible.step.tables.memory import PLACES, Memory
from phlexible.step.tables.requests import RELAXATION, StepRequest
from phlexible.version import __version__

ADDRESSES = ("energy_address", "slope_address", "soft_energy", "soft_derivative")
"""Tables with addresses of functions; in a library they hold numbers of functions, from 1 on."""


class UserEnergies:
    """Energy functions that users wrote, as far as a model's arrays refer to them. They are compiled for a library,
    and addresses in the arrays are replaced by indices of the functions.

    Args:
        assembly: of the model.

    Raises:
        ModelError: one that Numba does not compile.
    """

    def __init__(self, assembly: Assembly) -> None:
        own = [pair for law in assembly.laws if (pair := law.functions)]
        functions: list[UserFunction] = [each for pair in (*own, *assembly.soft.users.values()) for each in pair]
        if not all(each.is_compiled for each in functions):
            elements = [str(force.element) for force in assembly.system.forces if callable(force.force.energy)]
            raise ModelError(
                f"{', '.join(dict.fromkeys(elements)) or 'a law of a body'}: energies that are functions go into a"
                " library where Numba compiles them, of numbers and functions of math and numpy, without raise,"
                " dictionaries and objects; write them so, or take a law of phlexible, such as a linear one"
            )
        self._indices = {each.address: k for k, each in enumerate(functions, start=1)}
        texts = {self._name(k): module_text(each, self._name(k)) for k, each in enumerate(functions)}
        self.modules: Mapping[str, str] = texts

    @staticmethod
    def _name(number: int) -> str:
        return f"ph_user_{number}"

    def with_indices(self, table: str, content: NDArray[Any]) -> NDArray[Any]:
        """Return the ``content`` of the model's array ``table`` (its name) as the library stores it. In arrays of
        addresses of user functions, each address is replaced by the number of the function from 1 on (0: none),
        flattened; other arrays are returned unchanged.
        """
        if table not in ADDRESSES:
            return content
        return np.array([self._indices.get(int(x), 0) for x in content.ravel()], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ControllerData:
    """Data of one linear controller.

    Attributes:
        begin, end: range of the values of the tape that it measures, of which the last ``count`` are its
            arguments.
        count: number of arguments.
        size: number of values that it returns.
        queue: stored samples, one more than the periods of its delay.
        period: between samples [s]; None: each step.
        A, B, C, D: from sample to sample.
        target_column: first function of time from which arguments are subtracted; -1: none.
        targets: load values that it sets.
    """

    begin: int
    end: int
    count: int
    size: int
    queue: int
    period: float | None
    A: Array
    B: Array
    C: Array
    D: Array
    target_column: int
    targets: tuple[Target, ...]

    @property
    def memory(self) -> int:
        """Return the number of values that a linear controller of a library stores between time steps: three
        for its clock, its last inputs, its states, and the outputs that a delay holds back."""
        return 3 + self.count + len(self.A) + self.queue * self.size

    @property
    def constants(self) -> Array:
        """Return the constants of a linear controller as one array for C: its sampling period (0: each time
        step), then the matrices A, B, C and D, each row by row."""
        return np.concatenate([[self.period or 0.0], *(x.ravel() for x in (self.A, self.B, self.C, self.D))])


def check_controllers(controlled: Sequence[ControlledValue]) -> None:
    """Raise ModelError for controllers (``controlled``) that a compiled library cannot contain: Python
    functions, and controllers with states but without a sampling period.

    Raises:
        ModelError: functions of Python, and continuous states without a period.
    """
    functions = [each.name for each in controlled if each.feedback.law is None]
    if functions:
        raise ModelError(
            f"{', '.join(dict.fromkeys(functions))}: controllers and forces of the state are functions of Python,"
            " which a compiled model has not; write a linear controller as a StateSpace or TransferFunction of"
            " python-control, or make the force an input, a constant load, torque or force with a name, and set it"
            " from step to step"
        )
    for each in controlled:
        law = each.feedback.law
        if law is not None and len(law.A) and each.feedback.period is None:
            raise ModelError(
                f"{each.name}: a controller with states is sampled in a compiled model; give Feedback(period=...),"
                " which may be the step"
            )


def controllers_of(controlled: Sequence[ControlledValue], tables: OutputTables) -> tuple[ControllerData, ...]:
    """Return the data of all linear controllers (``controlled``) of a model for a library. Matrices A and B are
    discretized for controllers with a sampling period. The operations that compute the measured quantities are
    appended to ``tables``. ModelError is raised for quantities that compiled code cannot measure.

    Raises:
        ModelError: what a controller of a compiled model cannot measure.
    """
    found, column = list[ControllerData](), 0
    for each in controlled:
        feedback, law = each.feedback, each.feedback.law
        assert law is not None, "as was checked"
        begin, end = tables.measured(each.name, feedback.measured)
        A, B = (law.A, law.B) if feedback.period is None else transition_matrices(law, feedback.period)
        target = -1
        if feedback.target is not None:
            target, column = column, column + feedback.count
        sizes = feedback.count, each.size, feedback.delay_periods + 1, feedback.period
        found.append(ControllerData(begin, end, *sizes, A, B, law.C, law.D, target, each.targets))
    return tuple(found)


def targets_at(feedbacks: Sequence[Feedback], times: Array) -> Array:
    """Return the targets (reference values) of all given controllers (``feedbacks``) at many times [s],
    concatenated, shape (times, target components)."""
    return np.array(
        [
            np.concatenate([np.zeros(0), *(np.broadcast_to(each.target_at(t), each.count) for each in feedbacks)])
            for t in times.tolist()
        ]
    )


NEVER = 2**62
BLOCK = 16  # steps that model.c takes at a time
# Integers of a source of measurements and of a controller, in the order of ``_measured``.
SourceEntry = namedtuple(
    "SourceEntry",
    "vectors items functions terms chords parts moves base shapes numbers vector_count shape_count item_count"
    " function_count term_count chord_count part_count first measured_count",
)
ControllerEntry = namedtuple(
    "ControllerEntry", "begin end count order size queue numbers target first_actuator actuators"
)


@dataclass(frozen=True, eq=False)
class InputData:
    """Input of a library: its name, unit, index among the load values, and initial values."""

    name: str
    unit: str
    index: int
    start: Array


@dataclass(frozen=True, eq=False)
class ModelData:
    """Data of a library of a model, all but its compiled programs.

    Attributes:
        name: of the model.
        step: [s].
        origin: time of the start [s].
        stepper: at the start, whose tables these are.
        inputs, outputs: in their order.
        moving, loads: functions of time, three a vector or load.
        controllers: linear ones, whose sources are the first so many of the outputs' ones.
        watched: how many.
        targets: functions of time of the controllers.
        energies: functions of users.
        parameters: numbers of the model that follow from parameters; None: there are none.
    """

    name: str
    step: float
    origin: float
    stepper: Stepper
    inputs: tuple[InputData, ...]
    outputs: Outputs
    moving: TimeData
    loads: TimeData
    controllers: tuple[ControllerData, ...]
    watched: int
    targets: TimeData
    energies: UserEnergies
    parameters: ParameterData | None = None

    @property
    def memory(self) -> Memory:
        """Return the memory layout and the arrays (masses, indices, ...) of the model that is written to a
        library."""
        return self.stepper.assembly.memory

    @property
    def is_steady(self) -> bool:
        """Return whether no load, moving frame or target of the model depends on time. Moving frames are
        points of the ground with prescribed motion."""
        pieces = [piece for column in self._columns for piece in column.pieces]
        return not any(column.waves for column in self._columns) and all(len(x.coefficients) == 1 for x in pieces)

    @property
    def messages(self) -> tuple[str, ...]:
        """Return the messages for the user about how accurately functions of time and of parameters are
        approximated in a library."""
        messages = *self.moving.messages, *self.loads.messages, *self.targets.messages
        if self.parameters is None:
            return messages
        controlled = zip(self.stepper.assembly.controlled, self.controllers, strict=True)
        readers = list[tuple[str, Output | ControllerData]]((x.name, x) for x in self.outputs.outputs)
        readers += [(own.name, data) for own, data in controlled]
        first, last = -self._forces.start, -self._forces.stop
        tape = [any(last <= index < first for index in each.arguments) for each in self.outputs.entries]
        names = ", ".join(name for name, each in readers if any(tape[each.begin : each.end]))
        words = f"{names}: with other values of the parameters forces are 0 before the first step"
        return *messages, self.parameters.message, *([words] if names else [])

    @property
    def _forces(self) -> slice:
        """Return where forces of joints and elements are in the state."""
        begin = self.memory.offset_of("reaction")
        return slice(begin, begin + self.memory.counts["reactions"])

    def header(self) -> str:
        """Return the text of the C header ``model_data.h``, which contains all values and arrays of the model for
        the library's C source. Its last line is a digest of the text."""
        text = "\n".join([*self._text(), *self._constant_arrays()]) + "\n"
        identity = hashlib.sha256(text.encode()).hexdigest()[:16]
        first = f"/* Written by phlexible {__version__} for one model. */"
        return f"{first}\n\n{text}#define PH_IDENTITY 0x{identity}ull\n"

    def _text(self) -> list[str]:
        """Return the lines of a model's C header that depend on its structure only, followed by three more. These
        define the model's name, a digest (SHA-256, first 16 digits) of the structural lines, and the default
        request for a time step. Models that differ in values alone, such as masses, have the same digest."""
        same = [
            *self._sizes(),
            *self._declarations(),
            *self._index_macros(),
            *self._time_functions(),
            *self._inputs(),
            *self._outputs(),
            *parameters_in_c(self.parameters),
        ]
        digest = hashlib.sha256("\n".join(same).encode()).hexdigest()[:16]
        request = self.stepper.request(1, self.step, NEVER)
        values = ", ".join(real(x) if isinstance(x, float) else str(int(x)) for x in request)
        return [
            *same,
            f"#define PH_NAME {quoted(self.name)}",
            f"#define PH_STRUCTURE 0x{digest}ull",
            f"#define PH_REQUEST {{{values}}}",
        ]

    def tables(self) -> bytes:
        """Return all values of the model (masses, stiffnesses, initial state, ...) as bytes, for
        ``ph_load_tables`` of a compiled library with the same structure. A header of four words (magic number,
        structure, length, checksum) precedes them."""
        words = self.packed_values()
        numbers = [TABLES_MAGIC, int(self.structure.removesuffix("ull"), 16), len(words), digest_of(words)]
        head = np.array(numbers, dtype=np.uint64)
        return np.concatenate([head, words]).tobytes()

    @property
    def structure(self) -> str:
        """Return a hexadecimal digest of the model's structure as text, found in the lines of its C header. A
        compiled library accepts the values of another model only if the digests agree."""
        return next(line.split()[-1] for line in self._text() if line.startswith("#define PH_STRUCTURE"))

    def packed_values(self) -> NDArray[np.uint64]:
        """Return all values of a model (arrays, initial state, measurement constants) as an array of 64-bit words.
        The order is that in which the library stores them."""
        return np.concatenate([self._packed_tables(), self._packed_start(), self._real_constants().view(np.uint64)])

    def value_sections(self) -> list[tuple[str, int]]:
        """Return names and lengths of the consecutive sections of ``packed_values``, as a list of pairs. They are
        the system's arrays, a header of 8 words (""), the initial values of state arrays ("start of ..."),
        constants of measurements ("moving", "measured") and two scales."""
        found = [(TABLES[index].name, len(words)) for index, words in self._system_tables()]
        found += [("", 8), *((f"start of {name}", size) for name, size in self.memory.state_sizes.items())]
        moving = self._measured.moving
        return [*found, ("moving", moving), ("measured", len(self._measured.reals) - moving), ("scales", 2)]

    def _constant_arrays(self) -> Iterable[str]:
        yield bit_patterns("ph_tables", self._packed_tables())
        yield bit_patterns("ph_start", self._packed_start())
        yield reals("ph_reals", self._real_constants())

    def _packed_start(self) -> NDArray[np.uint64]:
        """Return the state at the start as 64-bit words, with the forces that act there; a live run computes these
        when they are read."""
        start, at = np.array(self.memory.state), self.stepper.instant(self.origin)
        start[self._forces] = [*at.multipliers[0], *at.forces[0]]
        return start.view(np.uint64)

    def _sizes(self) -> Iterable[str]:
        memory, counts = self.memory, self.memory.counts
        header, _, numbers = memory.header_layout
        has_contact_steps = any(entry.name == "contact_steps" for entry in families(self.memory))
        parts = MOST_PARTS if has_contact_steps else 1
        shares = len(self.stepper.shares)
        most = shares * max(parts, BLOCK)
        found: dict[str, object] = {
            "VERSION": json.dumps(__version__),
            "STEP": real(self.step),
            "ORIGIN": real(self.origin),
            "END": real(min(self.moving.end, self.loads.end, self.targets.end) + 1e-9 * self.step),
            "MOST_PARTS": parts,
            "SUBSTEPS": shares,
            "BREAKS": len(breakpoints_of(self.stepper.assembly.system.mechanism)),
            "RELAXATION": real(RELAXATION if self.stepper.is_redundant else 0.0),
            "MOST_INSTANTS": most,
            "HEADER": len(header),
            "NUMBERS": numbers,
            "STATE": counts["state_size"],
            "ROW": counts["row_size"],
            "MOVING": counts["moving"],
            "LOADS": counts["load_values"],
            "ROWS": counts["rows"],
            "REACTIONS": counts["reactions"],
            "VELOCITIES": counts["velocities"],
            "CARRIERS": counts["carriers"],
            "CONSTRAINTS": counts["constraints"],
            "FORCES_ON_PORTS": counts["loads"],
            "FRAMES": counts["frames"],
            "ELASTIC": counts["elastic"],
            "DIMENSION": counts["dimension"],
            "CARRIER_MOVING": MOVING,
            "IS_STEADY": int(self.is_steady),
            "INPUTS": len(self.inputs),
            "INPUT_NUMBERS": sum(len(each.start) for each in self.inputs),
            "OUTPUTS": len(self.outputs.outputs),
            "ACCELERATIONS": sum(each.size for each in self.outputs.outputs if each.is_acceleration),
        }
        sources = self.outputs.sources
        turns = sum(len(each.reading.arguments[1][0]) for each in sources[: self.watched])
        found |= {"CONTROLLERS": len(self.controllers), "WATCHED": self.watched, "TURNS": turns}
        memory_size = turns + 3 * counts["load_values"] + sum(each.memory for each in self.controllers)
        found["CONTROL"] = memory_size if self.controllers else 0
        found["ROOM"] = max(counts["row_size"], *(len(each.A) for each in self.controllers), 0)
        found |= {"SOURCES": len(sources), "MEASURED": sum(each.count for each in sources)}
        found |= {"MOST_VECTORS": max((len(each.reading.carried) for each in sources), default=0)}
        found |= {"TAPE": self._tape_begin, "TAPE_NUMBERS": len(self.outputs.entries)}
        found["SCRATCH"] = max(self._tape_begin + len(self.outputs.entries), most if parts > 1 else 0)
        for kind, name in re.findall(r"\bPH_(PLACE|TABLE)_([a-z]\w*)", (HERE / "model.c").read_text("utf-8")):
            found[f"{kind}_{name}"] = memory.offset_of(name) if kind == "PLACE" else PLACES[name]
        return [f"#define PH_{name} {value}" for name, value in found.items()]

    def _declarations(self) -> Iterable[str]:
        kinds = {bool: "uint8_t", int: "int64_t", float: "double"}
        yield "typedef struct ph_request {"
        yield from (f"    {kinds[hint]} {name};" for name, hint in get_type_hints(StepRequest).items())
        yield "} ph_request;"
        yield from (entry.module_file().declaration for entry in programs(self.memory))
        yield reals("ph_shares", self.stepper.shares)
        breaks = sorted(breakpoints_of(self.stepper.assembly.system.mechanism))
        yield reals("ph_breaks", np.array([*breaks, 0.0]))
        yield from self._functions_of_users()
        yield "static void ph_connect(int64_t *header) {"
        yield "    int64_t nothing[1];"
        for entry in families(self.memory):
            yield f"    {c_name(entry.name)}(header, PH_HEADER, nothing);"
        yield "}"

    def _functions_of_users(self) -> Iterable[str]:
        """Yield lines of C that declare the user's compiled energy functions, a table of pointers to them, and
        where addresses of these functions go. The latter are the numbers and lengths of those arrays of the model
        that store function addresses. Without user functions, only two macros of value 0 are defined."""
        names = list(self.energies.modules)
        indices = [(k, len(self.memory.system_tables[x.name])) for k, x in enumerate(TABLES) if x.name in ADDRESSES]
        sizes = [-(-count // 8) * 8 for _, count in indices] if names else []
        digest = hashlib.sha256("\n".join(self.energies.modules.values()).encode()).hexdigest()[:16]
        yield f"#define PH_USERS {len(names)} /* {digest} */"  # so that other functions are another structure
        yield f"#define PH_ADDRESSES {sum(sizes)}"
        yield from (f"double {name}(double);" for name in names)
        if names:
            yield f"static double (*const ph_users[])(double) = {{{', '.join(names)}}};"
            yield integers("ph_address_place", [k for k, _ in indices], "int32_t")
            yield integers("ph_address_count", [count for _, count in indices], "int32_t")
            yield f"#define PH_ADDRESS_TABLES {len(indices)}"

    def _system_tables(self) -> list[tuple[int, NDArray[np.uint64]]]:
        """Return the constant arrays of the system as 64-bit words, each with its index in the header, in the
        order of the library. Addresses of user functions are replaced by indices."""
        given = self.memory.system_tables.items()
        return _aligned_tables({name: self.energies.with_indices(name, table) for name, table in given})

    def _packed_tables(self) -> NDArray[np.uint64]:
        return np.concatenate([*(words for _, words in self._system_tables()), np.zeros(8, dtype=np.uint64)])

    def _index_macros(self) -> Iterable[str]:
        header, own, _ = self.memory.header_layout
        given = self._system_tables()
        begin = 0
        for index, words in given:
            header[index] = 8 * begin
            begin += len(words)
        for index, number in own.items():
            header[index] = 8 * number
        yield integers("ph_header", header)
        yield integers("ph_given", [index for index, _ in given], "int32_t")
        yield integers("ph_own", list(own), "int32_t")
        yield f"#define PH_GIVEN_TABLES {len(given)}"
        yield f"#define PH_OWN_TABLES {len(own)}"
        yield f"#define PH_TABLE_WORDS {begin + 8}"

    @property
    def _columns(self) -> tuple[Column, ...]:
        """Return all functions of time of the model (moving frames, loads, controller targets) as data: sums of
        harmonics and polynomial pieces."""
        return *self.moving.columns, *self.loads.columns, *self.targets.columns

    def _time_functions(self) -> Iterable[str]:
        found = self._measured
        yield from records("ph_piece", "int begin, count;", {"ph_pieces": found.pieces})
        ends = list(accumulate([0, *(len(each.columns) for each in (self.moving, self.loads, self.targets))]))
        of_kinds = zip(("moving", "load", "target"), ends[:-1], ends[1:], strict=True)
        columns = {f"ph_{name}_columns": found.columns[begin:end] for name, begin, end in of_kinds}
        yield from records("ph_column", "int pieces, first_piece, waves, wave;", columns)
        yield integers(
            "ph_is_path", [int(isinstance(p, TimePath)) for p in self.stepper.assembly.moving], "int32_t"
        )

    def _inputs(self) -> Iterable[str]:
        rows = [
            (quoted(x.name), quoted(x.unit), x.index, len(x.start), f"{{{', '.join(map(real, x.start))}}}")
            for x in self.inputs
        ]
        fields = "const char *name, *unit; int place, size; double start[3];"
        yield from records("ph_input", fields, {"ph_inputs": rows})

    @property
    def _tape_begin(self) -> int:
        """Index in the library's work array ``scratch`` at which the results of the recorded operations (the tape)
        begin, from which outputs are computed. Before it is what compiled code measures.

        Before it are velocities, drifts, moving vectors, what is measured, and vectors and angles of one source.
        """
        counts, sources = self.memory.counts, self.outputs.sources
        vectors = max((len(each.reading.carried) for each in sources), default=0)
        items = max((len(each.reading.arguments[1][0]) for each in sources), default=0)
        measured = sum(each.count for each in sources)
        return counts["velocities"] + counts["rows"] + 3 * counts["moving"] + measured + 6 * vectors + items

    def _real_constants(self) -> Array:
        """Return the floating-point constants of functions of time, measurements, outputs and controllers for C as
        one array. The last two are the least speed and the length in the error measure of a time step."""
        request = self.stepper.request(1, 1.0, NEVER)
        return np.array([*self._measured.reals, request.least_speed, request.error_length])

    @cached_property
    def _measured(self) -> "_Measured":
        """Return the integers, floating-point values and C initializers of a model's measured outputs and
        controllers for a compiled library. Functions of time (prescribed motions, loads, controller targets) are
        included, and the recorded arithmetic operations of sensors. Initializers refer to the two flat arrays by
        indices. The result is cached."""
        whole, numbers = list[int](), list[float]()
        sources, tape, pieces, columns, controllers, actuators = (list[Sequence[int]]() for _ in range(6))

        def store(array: NDArray[np.int64]) -> int:
            whole.extend(np.asarray(array, dtype=np.int64).ravel().tolist())
            return len(whole) - array.size

        def store_reals(array: Array) -> int:
            numbers.extend(np.asarray(array, dtype=np.float64).ravel().tolist())
            return len(numbers) - np.asarray(array).size

        def store_columns(columns_of_kind: Iterable[Column]) -> None:
            for column in columns_of_kind:
                waves, first = store_reals(np.array(column.waves)), len(pieces)
                for piece in column.pieces:
                    begin = store_reals(np.array([piece.begin, piece.scale, *piece.coefficients]))
                    pieces.append((begin, len(piece.coefficients)))
                columns.append((len(column.pieces), first, len(column.waves), waves))

        store_columns(self.moving.columns)
        moving = len(numbers)
        store_columns([*self.loads.columns, *self.targets.columns])
        for source in self.outputs.sources:
            (rows, base, shapes), (items, functions, terms, chords, parts, weights), _ = source.reading.arguments
            arrays = {"vector": rows, "item": items, "function": functions}
            arrays |= {"term": terms, "chord": chords, "part": parts}
            begins = {f"{name}s": store(array) for name, array in arrays.items()} | {"moves": store(source.moves)}
            begins |= {"base": store_reals(base), "shapes": store_reals(shapes), "numbers": store_reals(weights)}
            lengths = {f"{name}_count": len(array) for name, array in (arrays | {"shape": shapes}).items()}
            sources.append(SourceEntry(**begins, **lengths, first=source.first, measured_count=source.count))
        shift = self._tape_begin - FIRST
        for number in self.outputs.entries:
            groups = [own for _, own in number.terms] if number.kind is TapeOperation.SUM else [number.of]
            indices = [index + shift if index >= FIRST else index for own in groups for index in (len(own), *own)]
            own = [number.constant, *(weight for weight, _ in number.terms)]
            first = store(np.array(indices, dtype=np.int64)), store_reals(np.array(own))
            tape.append((number.kind.value, first[0], len(number.terms), first[1]))
        for each in self.controllers:
            sizes = {name: getattr(each, name) for name in ("begin", "end", "count", "size", "queue")}
            at = {"order": len(each.A), "numbers": store_reals(each.constants), "target": each.target_column}
            at |= {"first_actuator": len(actuators), "actuators": len(each.targets)}
            controllers.append(ControllerEntry(**sizes, **at))
            for target in each.targets:
                direction = -1 if target.direction is None else store_reals(np.asarray(target.direction))
                actuators.append((target.column, target.begin, target.size, direction))
        return _Measured(whole, numbers, sources, tape, controllers, actuators, pieces, columns, moving)

    def _outputs(self) -> Iterable[str]:
        found = self._measured
        yield f"#define PH_REALS {len(found.reals) + 2}"
        yield from records("ph_controller", integer_fields(ControllerEntry), {"ph_controllers": found.controllers})
        yield from records("ph_actuator", "int column, begin, size, direction;", {"ph_actuators": found.actuators})
        yield integers("ph_integers", found.whole)
        yield from records("ph_source", integer_fields(SourceEntry), {"ph_sources": found.sources})
        yield from records("ph_number", "int kind, first, count, weight;", {"ph_tape": found.tape})
        described = [
            (quoted(x.name), quoted(x.unit), x.begin, x.end, x.size, int(x.is_acceleration))
            for x in self.outputs.outputs
        ]
        fields = "const char *name, *unit; int begin, end, size, is_acceleration;"
        yield from records("ph_output", fields, {"ph_outputs": described})


def _aligned_tables(tables: Mapping[str, NDArray[np.generic]]) -> list[tuple[int, NDArray[np.uint64]]]:
    """Return the model's arrays ``tables`` (by name) as pairs (index in the header, array of 64-bit words), sorted
    by index. The bytes of each array are reinterpreted as words and padded with zeros to a multiple of a cache
    line (8 words)."""
    found = list[tuple[int, NDArray[np.uint64]]]()
    for name, table in sorted(tables.items(), key=lambda each: PLACES[each[0]]):
        raw = np.ascontiguousarray(table).view(np.uint64).ravel()
        padded = np.zeros(-(-len(raw) // 8) * 8, dtype=np.uint64)
        padded[: len(raw)] = raw
        found.append((PLACES[name], padded))
    return found


class _Measured(NamedTuple):
    """Data in C of everything that a library evaluates by lists: functions of time, measured sources, recorded
    operations (the tape), and controllers. All integers and all floats are in two flat arrays; rows of the tables
    refer to these by index.

    The first ``moving`` numbers are those of given vectors and paths.
    """

    whole: list[int]
    reals: list[float]
    sources: list[Sequence[int]]
    tape: list[Sequence[int]]
    controllers: list[Sequence[int]]
    actuators: list[Sequence[int]]
    pieces: list[Sequence[int]]
    columns: list[Sequence[int]]
    moving: int


TABLES_MAGIC = 0x7068746162316C73


def digest_of(values: NDArray[np.uint64]) -> int:
    """Return the FNV-1a hash of an array of 64-bit values, as the library's C code computes it to check tables that
    it loads."""
    found = TABLES_MAGIC
    for word in values.tolist():
        found = ((found ^ word) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return found
