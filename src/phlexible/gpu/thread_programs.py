"""Programs of one structure for GPUs: each thread advances one mechanism, which it stores in its local memory.

The kernels are those of every other processor. Counts and integers of the structure are constants, all functions
are inlined into one, and tables are arrays of the function: LLVM keeps them in registers as far as it can, and the
processor stores the rest with numbers of neighbouring threads next to each other.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np.numpy_support import from_dtype
from numpy.typing import NDArray

from phlexible.algebra.arrays import Array
from phlexible.step.compilation import passes
from phlexible.step.compilation.compiled import compile_into, without_garbage_collector
from phlexible.step.compilation.modules import WrittenLibrary, emit_array
from phlexible.step.tables.declarations import TABLES, Kind
from phlexible.step.tables.memory import HEADER, LANES, PLACES, Memory, specialized_structure
from phlexible.step.tables.requests import StepRequest, dtype_of

MOST_VALUES = 60_000
"""That a thread can have of its own: 512 kB."""


class ThreadLayout:
    """Arrays of a thread and the sources of their numbers.

    Args:
        example: memory of one of the mechanisms, which is connected.

    Attributes:
        structure: structure of all mechanisms, which is constant in their programs.
        header: counts by their indices in a header, zero where addresses belong.
        state_size, row_size: counts of numbers of the state, the first array of a thread, and of a stored row.
        arrays: lengths of the others, which begin as zeros or, the last ones, with numbers of the system's tables.
        data: names of these tables, in the order of their arrays.
        locations: index of a table in a header -> number of the array (-1: the state) and of its first entry in it.
    """

    def __init__(self, example: Memory) -> None:
        self.structure = specialized_structure(example, example)
        header, indices, length = example.header_layout
        self.header: list[int] = header.tolist()
        self.state_size, self.row_size = (example.counts[name] for name in ("state_size", "row_size"))
        begins = sorted({begin for begin in indices.values() if begin >= self.state_size})
        ends = [*begins[1:], length]
        self.arrays = [end - begin for begin, end in zip(begins, ends, strict=True)]
        number = {begin: k for k, begin in enumerate(begins)}
        self.locations = {
            index: (number[begin], 0) if begin in number else (-1, begin) for index, begin in indices.items()
        }
        self.data: list[str] = []
        for index, table in enumerate(TABLES):
            if table.name in example.system_tables and table.kind is not Kind.INTEGER:
                self.locations[index] = len(self.arrays), 0
                self.arrays.append(example.system_tables[table.name].size)
                self.data.append(table.name)

    @property
    def size(self) -> int:
        """Total count of floats in the state and the arrays of one GPU thread."""
        return self.state_size + sum(self.arrays)

    def values_of(self, data: Mapping[str, NDArray[np.generic]]) -> Array:
        """Return the numbers of one mechanism's constant tables ``data`` in the order of a GPU thread's
        arrays, shape (numbers,)."""
        return np.concatenate([np.zeros(0), *(np.asarray(data[name]).ravel() for name in self.data)])

    def values_of_all(self, memories: Sequence[Memory]) -> Array:
        """Return the values of the constant arrays of all mechanisms (``memories``) as the threads of a GPU
        read them. The shape is (values, mechanisms), or (values, 1) if all mechanisms share one dictionary of
        arrays."""
        first = memories[0].system_tables
        if all(memory.system_tables is first for memory in memories):
            return self.values_of(first)[:, None]
        return np.stack([self.values_of(memory.system_tables) for memory in memories], axis=-1)


STEPS, VELOCITIES = "ph_steps", "ph_velocities"
"""Names of the functions of a program."""

AT_ONCE = 16
"""Steps with which a thread goes through its loads."""

_BYTE, _INT, _LONG, _REAL = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_POINTER, _REALS, _LONGS = _BYTE.as_pointer(), _REAL.as_pointer(), _LONG.as_pointer()
_FLOATS = types.Array(types.float64, 1, "C")
_REQUESTS = types.Array(from_dtype(dtype_of(StepRequest)), 1, "C")
_WRITTEN_OUT = ("fabs", "sqrt", "floor", "fma", "smax", "smin", "umax", "umin", "ctlz", "abs", "memset", "memcpy")
_NO_CODE = ("lifetime", "assume", "experimental", "nvvm", "dbg")


class Threads(Enum):
    """Targets of a program: NVIDIA's GPUs from 2018 on, or a loop on this processor, for tests."""

    CUDA = "nvptx64-nvidia-cuda"
    LOOP = "loop"


class UnknownFunctionsError(Exception):
    """A program calls functions that a GPU does not have; the message is a list of them."""


@without_garbage_collector
def thread_program(
    layout: ThreadLayout, steps: Callable[..., Any], velocities: Callable[..., Any], threads: Threads
) -> str:
    """Return the unoptimized LLVM text of a program of two functions for the threads of a GPU, each of which
    computes one mechanism. One function advances mechanisms by time steps and contains the compiled kernel
    ``steps``. The other projects velocities so that they satisfy the joints and contains ``velocities``.
    ``layout`` describes the memory of a thread; ``threads`` selects a GPU or a loop on the CPU as target.

    ``ph_steps(tables, columns, state, row, loads, requests, counts, size, n)`` advances n mechanisms by ``counts``
    [n] steps of length ``size`` [s], and replaces the counts by those of the steps taken. ``tables`` are numbers of
    the system, shape (numbers, ``columns``), of one column for all or of one for each; ``state`` and ``row`` (the
    last instant as it is stored) have the shapes (state numbers, n) and (row numbers, n), ``loads`` (3 loads, n),
    ``requests`` (n,).

    ``ph_velocities(tables, columns, state, found, counts, n)`` projects velocities so that they satisfy the
    joints, shape (velocities, n); ``counts`` [n] become 1, or 0 where that fails.

    Args:
        layout: layout of the memory of a thread.
        steps, velocities: functions of the kernels, ``advance`` and ``joint_velocities``.
        threads: target of the program.
    """
    context = cpu_target.target_context
    library = WrittenLibrary(context.codegen(), "threads")
    library.processor = library._final_module.triple = (
        threads.value if threads is Threads.CUDA else binding.get_process_triple()
    )
    entry = np.dtype([(f"{LANES}1 {layout.structure.register()}", np.int64)])
    header = types.Array(from_dtype(entry), 1, "C")
    with global_compiler_lock, context.push_code_library(library):
        kinds = header, _FLOATS, _REQUESTS, *[_FLOATS] * 4
        taken = compile_into(context, steps, kinds, types.UniTuple(types.intp, 2))
        known = header, *[_FLOATS] * 3, types.float64
        found = compile_into(context, velocities, known, types.boolean)
        turn = compile_into(context, _atan2, (types.float64, types.float64), types.float64)
        module = library.create_ir_module("threads")
        _emit_library_function(context, module, "atan2", turn.fndesc)
        _StepsOfThread(context, module, layout, threads, taken.fndesc).write()
        _VelocitiesOfThread(context, module, layout, threads, found.fndesc).write()
        library.add_ir_module(module)
        return library.linked_text()


def assembly_text(text: str) -> str:
    """Translate the LLVM text of a program into the assembly language of NVIDIA's GPUs (PTX) and return that text.
    The code is optimized first, with all functions inlined. ``UnknownFunctionsError`` is raised if it calls
    functions that GPUs do not have.

    Raises:
        UnknownFunctionsError: it needs functions that they do not have.
    """
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    target = binding.Target.from_triple(Threads.CUDA.value)
    machine = target.create_target_machine(cpu="sm_75", features="+ptx70", opt=3)
    module = optimized_module(text, Threads.CUDA.value, machine)
    outside = [each.name for each in module.functions if each.is_declaration]
    unknown = {name.removeprefix("llvm.").split(".")[0] for name in outside if not name.startswith("llvm.")}
    for words in (name.split(".") for name in outside if name.startswith("llvm.")):
        if words[1] not in _WRITTEN_OUT + _NO_CODE:
            unknown.add(words[1])
    if unknown:
        raise UnknownFunctionsError(", ".join(sorted(unknown)))
    assembly: str = machine.emit_assembly(module)
    return assembly


def optimized_module(text: str, triple: str, machine: Any, is_one: bool = True) -> Any:
    """Parse the LLVM text of a program, optimize it for a target machine (``triple`` names its processor and
    system) and return the LLVM module; ``is_one``: all functions are inlined into the two that are called."""
    lines = [line for line in text.splitlines() if not (line.startswith("declare") and " @llvm.sqrt.f64(" in line)]
    text = "\n".join([*lines, "declare double @llvm.sqrt.f64(double)"])
    for name in ("@sqrt(", '@"sqrt"('):  # the instruction
        text = text.replace(f"declare double {name}double", "declare double @unused(double").replace(
            name, "@llvm.sqrt.f64("
        )
    module = binding.parse_assembly(text)
    module.triple, module.data_layout = triple, str(machine.target_data)
    kept = {STEPS, VELOCITIES}
    passes.make_private(module, kept)
    passes.remove_unused(module, machine)
    for each in module.functions:
        if is_one and not each.is_declaration and each.name not in kept:
            each.add_function_attribute("alwaysinline")
    passes.optimize(module, machine)
    passes.make_private(module, kept)
    passes.remove_unused(module, machine)
    module.verify()
    return module


def _emit_library_function(context: Any, module: Any, name: str, described: Any) -> None:
    """Emit an LLVM function with the ``name`` of a function of the C library (such as atan2), because GPUs lack
    that library. It calls a compiled function of floats, ``described`` by Numba, and returns its result.
    ``module`` is the LLVM module, ``context`` Numba's target context."""
    kinds = described.argtypes
    function = ir.Function(module, ir.FunctionType(_REAL, [_REAL] * len(kinds)), name)
    builder = ir.IRBuilder(function.append_basic_block())
    inner = context.declare_function(module, described)
    builder.ret(context.call_conv.call_function(builder, inner, types.float64, kinds, function.args)[1])


def _atan2(y: float, x: float) -> float:
    """Return the angle atan2(y, x) [rad], between -pi and pi, for GPUs without a C library; 0 for x = y = 0. It is
    computed to two units of the last place by quotients of polynomials as in Moshier's Cephes library."""
    if x == 0.0 and y == 0.0:
        return 0.0
    above, beside = abs(y), abs(x)
    base, sign = 0.0, 1.0  # the angle between 0 and pi / 2 is base + atan(q)
    if above > 2.414213562373095 * beside:
        base, q = 1.5707963267948966, -beside / above
    elif above > 0.66 * beside:
        base, q = 0.7853981633974483, (above - beside) / (above + beside)
    else:
        q = above / beside
    z = q * q
    top = (((-0.8750608600031904 * z - 16.157537187333652) * z - 75.00855792314705) * z - 122.88666844901361) * z
    low = (
        (((z + 24.858464901423063) * z + 165.02700983169885) * z + 432.88106049129027) * z + 485.3903996359137
    ) * z
    found = base + (q + q * z * (top - 64.85021904942025) / (low + 194.5506571482614))
    if x < 0.0:
        found = 3.141592653589793 - found
    if y < 0.0:
        sign = -1.0
    return sign * found


class _OfThread:
    """Writer of a function that runs for each mechanism, in a thread or a loop."""

    name = ""
    kinds: tuple[Any, ...] = ()

    def __init__(self, context: Any, module: Any, layout: ThreadLayout, threads: Threads, described: Any) -> None:
        self.context, self.module, self.layout = context, module, layout
        self._threads, self.described = threads, described

    def write(self) -> None:
        """Emit two LLVM functions into the module: an internal one that computes one mechanism, and a public one
        that calls it. On a GPU each thread calls it for the mechanism of its index, if that is less than the
        count, the last argument. On the CPU a loop calls it for all mechanisms."""
        kind = ir.FunctionType(ir.VoidType(), [*self.kinds, _LONG])
        own = ir.Function(
            self.module, ir.FunctionType(ir.VoidType(), [*self.kinds, _LONG, _LONG]), f"{self.name}_of"
        )
        own.linkage = "internal"
        self._write_thread(own)
        function = ir.Function(self.module, kind, self.name)
        builder = ir.IRBuilder(function.append_basic_block())
        if self._threads is Threads.LOOP:
            with cgutils.for_range(builder, function.args[-1]) as loop:
                builder.call(own, [*function.args, loop.index])
            builder.ret_void()
            return
        function.calling_convention = "ptx_kernel"
        block, width, place = (self._register(builder, name) for name in ("ctaid", "ntid", "tid"))
        thread = builder.add(builder.mul(block, width), place)
        with builder.if_then(builder.icmp_signed("<", thread, function.args[-1])):
            builder.call(own, [*function.args, thread])
        builder.ret_void()

    def _register(self, builder: Any, name: str) -> Any:
        kind = ir.FunctionType(_INT, [])
        found = cgutils.get_or_insert_function(self.module, kind, f"llvm.nvvm.read.ptx.sreg.{name}.x")
        return builder.sext(builder.call(found, []), _LONG)

    def _write_thread(self, function: Any) -> None:
        raise NotImplementedError

    def allocate(self, builder: Any, tables: Any, columns: Any, state: Any, n: Any, thread: Any) -> tuple[Any, Any]:
        """Emit LLVM code that allocates the arrays of one ``thread`` and fills them with the ``state`` and
        constant ``tables`` of its mechanism, one of n. Arrays that time steps write are set to zero. Return the
        LLVM addresses of its state and its header, the array of counts and addresses. ``tables`` has ``columns``
        columns, one for all mechanisms or one for each. ``builder`` is llvmlite's ``IRBuilder``, which writes the
        code."""
        layout = self.layout
        kept = self.alloca(builder, layout.state_size)
        self.emit_copy(builder, layout.state_size, (state, n, thread), kept, False)
        arrays = [self.alloca(builder, length) for length in layout.arrays]
        column = builder.select(builder.icmp_signed("==", columns, _LONG(1)), _LONG(0), thread)
        begin = 0
        for number, length in enumerate(layout.arrays):
            if number < len(layout.arrays) - len(layout.data):  # of no table of the system
                with cgutils.for_range(builder, _LONG(length)) as loop:
                    builder.store(_REAL(0.0), builder.gep(arrays[number], [loop.index]))
                continue
            first = builder.gep(tables, [builder.mul(_LONG(begin), columns)])
            self.emit_copy(builder, length, (first, columns, column), arrays[number], False)
            begin += length
        header = builder.bitcast(cgutils.alloca_once(builder, ir.ArrayType(_LONG, HEADER)), _LONGS)
        for index, count in enumerate(layout.header):
            value = _LONG(count)
            if index in layout.locations:
                array, entry = layout.locations[index]
                first = kept if array < 0 else arrays[array]
                value = builder.ptrtoint(builder.gep(first, [_LONG(entry)]), _LONG)
            builder.store(value, builder.gep(header, [_LONG(index)]))
        return kept, header

    def alloca(self, builder: Any, length: int) -> Any:
        """Emit LLVM code that allocates an array of ``length`` floats in a thread; returns the LLVM value of
        its address. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        address = cgutils.alloca_once(builder, ir.ArrayType(_REAL, max(1, length)))
        address.align = 64
        return builder.bitcast(address, _REALS)

    def emit_copy(self, builder: Any, count: int, there: tuple[Any, Any, Any], here: Any, goes_out: bool) -> None:
        """Emit LLVM code that copies ``count`` floats from an array of all threads to the array ``here`` of
        one thread, or back if ``goes_out``. ``there`` are the address of the first array, its number of
        columns and the column of the thread. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        first, columns, column = there
        with cgutils.for_range(builder, _LONG(count)) as loop:
            far = builder.gep(first, [builder.add(builder.mul(loop.index, columns), column)])
            near = builder.gep(here, [loop.index])
            builder.store(builder.load(near if goes_out else far), far if goes_out else near)

    def call(self, builder: Any, values: list[Any]) -> tuple[Any, Any]:
        """Emit an LLVM call of a compiled function of the time step with these ``values``. Return the LLVM values
        of its error status and of its result. A value for an array is a tuple, from which Numba's array struct is
        built. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        kinds = self.described.argtypes
        given = [
            emit_array(self.context, builder, kind, *value) if isinstance(kind, types.Array) else value
            for kind, value in zip(kinds, values, strict=True)
        ]
        function = self.context.declare_function(self.module, self.described)
        found = self.context.call_conv.call_function(builder, function, self.described.restype, kinds, given)
        return found[0], found[1]


class _StepsOfThread(_OfThread):
    name = STEPS
    kinds = (_REALS, _LONG, _REALS, _REALS, _REALS, _POINTER, _LONGS, _REAL)

    def _write_thread(self, function: Any) -> None:
        tables, columns, state, row, loads, requests, counts, size, n, thread = function.args
        layout, builder = self.layout, ir.IRBuilder(function.append_basic_block())
        wanted, at_once = builder.load(builder.gep(counts, [thread])), _LONG(AT_ONCE)
        with builder.if_then(builder.icmp_signed("<", wanted, _LONG(1))):
            builder.ret_void()
        kept, header = self.allocate(builder, tables, columns, state, n, thread)
        dtype = dtype_of(StepRequest)
        request = builder.bitcast(cgutils.alloca_once(builder, ir.ArrayType(_LONG, dtype.itemsize // 8)), _POINTER)
        asked = builder.gep(requests, [builder.mul(thread, _LONG(dtype.itemsize))])
        far, near = (builder.bitcast(each, _REALS) for each in (asked, request))
        self.emit_copy(builder, dtype.itemsize // 8, (far, _LONG(1), _LONG(0)), near, False)
        count = 3 * layout.header[PLACES["load_values"]]
        held, stored = self.alloca(builder, AT_ONCE * count), self.alloca(builder, layout.row_size)
        for k in range(AT_ONCE):
            self.emit_copy(builder, count, (loads, n, thread), builder.gep(held, [_LONG(k * count)]), False)
        reactions = layout.header[PLACES["reactions"]]
        first, length = self.alloca(builder, reactions), cgutils.alloca_once_value(builder, size)
        taken = cgutils.alloca_once_value(builder, _LONG(0))
        nothing = self.alloca(builder, 1), _LONG(0)
        values = [
            (header, _LONG(HEADER)),
            (length, _LONG(1)),
            (request, _LONG(1)),
            nothing,
            (held, _LONG(AT_ONCE * count)),
            (first, _LONG(reactions)),
            (stored, _LONG(layout.row_size)),
        ]
        with cgutils.for_range(builder, builder.sdiv(builder.add(wanted, _LONG(AT_ONCE - 1)), at_once)) as loop:
            rest = builder.sub(wanted, builder.mul(loop.index, at_once))
            most = builder.select(builder.icmp_signed("<", rest, at_once), rest, at_once)
            for name in ("steps", "every"):
                assert dtype.fields is not None
                address = builder.gep(request, [_LONG(dtype.fields[name][1])])
                builder.store(most, builder.bitcast(address, _LONGS))
            done = builder.extract_value(self.call(builder, values)[1], 0)
            builder.store(builder.add(builder.load(taken), done), taken)
            with builder.if_then(builder.icmp_signed("!=", done, most)):
                loop.do_break()
        self.emit_copy(builder, layout.state_size, (state, n, thread), kept, True)
        self.emit_copy(builder, layout.row_size, (row, n, thread), stored, True)
        builder.store(builder.load(taken), builder.gep(counts, [thread]))
        builder.ret_void()


class _VelocitiesOfThread(_OfThread):
    name = VELOCITIES
    kinds = (_REALS, _LONG, _REALS, _REALS, _LONGS)

    def _write_thread(self, function: Any) -> None:
        tables, columns, state, found, counts, n, thread = function.args
        layout, builder = self.layout, ir.IRBuilder(function.append_basic_block())
        _, header = self.allocate(builder, tables, columns, state, n, thread)
        velocities, rows = (layout.header[PLACES[name]] for name in ("velocities", "rows"))
        result, drift, nothing = (self.alloca(builder, length) for length in (velocities, rows, 1))
        with cgutils.for_range(builder, _LONG(rows)) as loop:
            builder.store(_REAL(0.0), builder.gep(drift, [loop.index]))
        values = [
            (header, _LONG(HEADER)),
            (nothing, _LONG(0)),
            (drift, _LONG(rows)),
            (result, _LONG(velocities)),
            _REAL(0.0),
        ]
        _, known = self.call(builder, values)
        self.emit_copy(builder, velocities, (found, n, thread), result, True)
        is_known = builder.zext(builder.icmp_unsigned("!=", known, known.type(0)), _LONG)
        builder.store(is_known, builder.gep(counts, [thread]))
        builder.ret_void()
