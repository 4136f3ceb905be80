"""The programs that a model needs, as modules that C calls: the loop over steps, and what measures the state."""

from phlexible.step.compilation.linked_modules import Argument, Entry, Modules, linked
from phlexible.step.kernels.joint_velocities import joint_velocities
from phlexible.step.kernels.laws import measure
from phlexible.step.kernels.loop import advance
from phlexible.step.kernels.measured_vectors import measured_vectors
from phlexible.step.programs import PROGRAMS
from phlexible.step.tables.memory import Memory
from phlexible.step.tables.requests import StepRequest, record

_HEADER, _LINE, _ROWS = Argument("int64"), Argument("float64"), Argument("float64", 2)
_NUMBERS, _INTEGERS = Argument("int64"), Argument("int64", 2)
_REQUEST = Argument(record(StepRequest).dtype)

LOOP = Entry(advance, (_HEADER, _LINE, _REQUEST, _ROWS, _ROWS, _LINE, _ROWS))
VELOCITIES = Entry(joint_velocities, (_HEADER, _ROWS, _LINE, _LINE))
VECTORS = Entry(
    measured_vectors,
    (_ROWS, Argument("float64", 3), _LINE, _LINE, Argument(), _INTEGERS, _ROWS, _ROWS, _ROWS, _ROWS),
)
MEASURE = Entry(measure, (_ROWS, _ROWS, _INTEGERS, _INTEGERS, _INTEGERS, _INTEGERS, _NUMBERS, _LINE, _LINE, _LINE))


def families(memory: Memory) -> tuple[Entry, ...]:
    """Programs of the families that a model has; each writes the addresses of its functions into a header."""
    return tuple(Entry(program.entry.source, (_HEADER,)) for program in PROGRAMS if program.is_needed(memory))


def programs(memory: Memory) -> tuple[Entry, ...]:
    """All that a model needs."""
    return LOOP, VELOCITIES, VECTORS, MEASURE, *families(memory)


def modules(memory: Memory) -> Modules:
    """The modules of all that a model needs."""
    return linked(programs(memory))
