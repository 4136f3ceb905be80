"""Types that let the kernels read like the formulas: 3-vectors, 3 x 3 matrices, rows of named tables."""

import operator
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr, lower_getattr_generic
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import intrinsic, lower_builtin, models, register_model

from phlexible.step.compilation.objects import CHECKED
from phlexible.step.tables.declarations import TABLES, Kind
from phlexible.step.tables.functions import FUNCTIONS

# Vectors and matrices as numbers in registers, in LLVM's terms: what the operators below are made of.
#
# Rows of matrices share registers of four, so that their products and sums take a third of the instructions.

REAL = ir.DoubleType()
FLAGS = ("reassoc", "contract")  # sums may be reordered; NaN and infinities keep their meaning
FOUR = ir.VectorType(REAL, 4)
INDEX = ir.IntType(32)


def parts(builder: Any, value: Any, size: int = 3) -> list[Any]:
    """The numbers of a vector or matrix."""
    return [builder.extract_value(value, i) for i in range(size)]


def made(builder: Any, numbers: Sequence[Any]) -> Any:
    """A vector or matrix from its numbers."""
    result = ir.Constant(ir.LiteralStructType([REAL] * len(numbers)), ir.Undefined)
    for i, number in enumerate(numbers):
        result = builder.insert_value(result, number, i)
    return result


def times(builder: Any, a: Any, b: Any) -> Any:
    """a b."""
    return builder.fmul(a, b, flags=FLAGS)


def total(builder: Any, products: Sequence[tuple[Any, Any]]) -> Any:
    """The sum of products a b."""
    found = None
    for a, b in products:
        product = times(builder, a, b)
        found = product if found is None else builder.fadd(found, product, flags=FLAGS)
    return found


def packed(builder: Any, numbers: Sequence[Any]) -> Any:
    """Up to four numbers in one register."""
    register = ir.Constant(FOUR, ir.Undefined)
    for i, number in enumerate(numbers):
        register = builder.insert_element(register, number, ir.Constant(INDEX, i))
    return register


def repeated(builder: Any, number: Any) -> Any:
    """The same number four times."""
    first = ir.Constant(ir.VectorType(INDEX, 4), [0] * 4)
    return builder.shuffle_vector(packed(builder, [number]), ir.Constant(FOUR, ir.Undefined), first)


def rows_of(builder: Any, m: Any) -> list[Any]:
    """Rows of a matrix, each in one register."""
    nine = parts(builder, m, 9)
    return [packed(builder, nine[i : i + 3]) for i in (0, 3, 6)]


def of_rows(builder: Any, rows: Sequence[Any]) -> Any:
    """The matrix with rows in registers."""
    return made(builder, [builder.extract_element(r, ir.Constant(INDEX, i)) for r in rows for i in range(3)])


# Types that let the kernels read like the formulas: 3-vectors, 3 x 3 matrices, rows of named tables.
#
# ``t.angular1[b] - t.angular0[b] + cross(a, p)`` is what a kernel says. A vector is three numbers and a matrix
# nine, by value; both live in registers. ``t`` is one pointer to the addresses of all tables (``declarations.py``),
# ``t.name`` a pointer to the first row of one of them, and ``rows + k`` starts k rows later. The rules below
# write each operation straight to LLVM: there is nothing to compile but the kernels themselves, no reference is
# counted, and no index is asked whether it counts from the end.
#
# With the environment variable ``PHLEXIBLE_CHECKED`` set every index is compared with the length of its table;
# one that lies outside ends the run with an IndexError, after the number of the table in ``TABLES`` is printed.

INTEGER = ir.IntType(64)


class VectorType(types.Type):
    """Three numbers."""

    size = 3


class MatrixType(types.Type):
    """Nine numbers, row by row."""

    size = 9


class RowsType(types.Type):
    """A pointer to rows of numbers, integers, vectors or matrices."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        super().__init__(f"Rows({kind.name})")


class TablesType(types.Type):
    """A pointer to the counts of a model and the addresses of its tables."""


class Vector(Any):
    """Three numbers, in the annotations of kernels."""


class Matrix(Any):
    """3 x 3 numbers."""


class Reals(Any):
    """Rows of numbers; ``rows + k`` starts k rows later."""

    def __add__(self, rows: int) -> "Reals":  # for type checkers: Numba takes the rule below
        raise NotImplementedError


class Integers(Any):
    """Rows of integers."""


class Vectors(Any):
    """Rows of vectors."""


class Matrices(Any):
    """Rows of matrices."""


class Tables(Any):
    """All tables, by name."""


vector_type, matrix_type, tables_type = VectorType("Vector"), MatrixType("Matrix"), TablesType("Tables")
ROWS = {kind: RowsType(kind) for kind in Kind}
ENTRY = {
    Kind.COUNT: types.intp,
    Kind.INTEGER: types.intp,
    Kind.REAL: types.float64,
    Kind.VECTOR: vector_type,
    Kind.MATRIX: matrix_type,
}
NUMBA_TYPES = {
    None: types.none,
    bool: types.boolean,
    int: types.intp,
    float: types.float64,
    Vector: vector_type,
    Matrix: matrix_type,
    Reals: ROWS[Kind.REAL],
    Integers: ROWS[Kind.INTEGER],
    Vectors: ROWS[Kind.VECTOR],
    Matrices: ROWS[Kind.MATRIX],
    Tables: tables_type,
}
"""What the annotations of kernels stand for."""
NUMBERS = {Kind.INTEGER: 1, Kind.REAL: 1, Kind.VECTOR: 3, Kind.MATRIX: 9}  # of an entry


@register_model(VectorType)
@register_model(MatrixType)
class _TupleModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [(f"c{i}", types.float64) for i in range(kind.size)])


@register_model(RowsType)
class _RowsModel(models.StructModel):
    """Address, and in the checked build the number of rows from there on and the number of the table."""

    def __init__(self, manager: Any, kind: Any) -> None:
        checks = [("length", types.intp), ("table", types.intp)] if CHECKED else []
        super().__init__(manager, kind, [("address", types.CPointer(_number_of(kind))), *checks])


@register_model(TablesType)
class _TablesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, INTEGER.as_pointer())


def _number_of(rows: RowsType) -> types.Type:
    return types.intp if rows.kind is Kind.INTEGER else types.float64


def _operation(
    operation: Any, result: types.Type, operands: tuple[types.Type, ...], rule: Callable[..., Any]
) -> None:
    """Typing and lowering of one operator on exactly these types; numbers are taken as floats."""

    @infer_global(operation)
    class _Typing(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            if len(arguments) == len(operands) and all(
                isinstance(a, types.Float | types.Integer) if o is types.float64 else a == o
                for a, o in zip(arguments, operands, strict=True)
            ):
                return signature(result, *operands)
            return None

    @lower_builtin(operation, *operands)
    def _lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return rule(builder, *arguments)


for _kind in (vector_type, matrix_type):
    _n = _kind.size

    def _each(name: str, n: int = _n) -> Callable[..., Any]:
        def rule(builder: Any, a: Any, b: Any) -> Any:
            if n == 9:
                both = zip(rows_of(builder, a), rows_of(builder, b), strict=True)
                return of_rows(builder, [getattr(builder, name)(x, y, flags=FLAGS) for x, y in both])
            pairs = zip(parts(builder, a, n), parts(builder, b, n), strict=True)
            return made(builder, [getattr(builder, name)(x, y, flags=FLAGS) for x, y in pairs])

        return rule

    def _scaled(builder: Any, factor: Any, a: Any, n: int = _n) -> Any:
        if n == 9:
            same = repeated(builder, factor)
            return of_rows(builder, [times(builder, same, x) for x in rows_of(builder, a)])
        return made(builder, [times(builder, factor, x) for x in parts(builder, a, n)])

    for _operator, _name in ((operator.add, "fadd"), (operator.sub, "fsub")):
        _operation(_operator, _kind, (_kind, _kind), _each(_name))
    for _operator, _name in ((operator.iadd, "fadd"), (operator.isub, "fsub")):
        _operation(_operator, _kind, (_kind, _kind), _each(_name))
    _operation(operator.mul, _kind, (types.float64, _kind), _scaled)


def _matrix_vector(builder: Any, m: Any, v: Any) -> Any:
    """R x."""
    rows, x = parts(builder, m, 9), parts(builder, v)
    return made(builder, [total(builder, list(zip(rows[3 * i : 3 * i + 3], x, strict=True))) for i in range(3)])


def _vector_matrix(builder: Any, v: Any, m: Any) -> Any:
    """x R, which is R^T x."""
    rows, x = parts(builder, m, 9), parts(builder, v)
    return made(builder, [total(builder, list(zip(x, rows[i::3], strict=True))) for i in range(3)])


def _matrix_matrix(builder: Any, a: Any, b: Any) -> Any:
    left, rows = parts(builder, a, 9), rows_of(builder, b)
    factors = [[repeated(builder, x) for x in left[i : i + 3]] for i in (0, 3, 6)]
    return of_rows(builder, [total(builder, list(zip(own, rows, strict=True))) for own in factors])


_operation(operator.neg, vector_type, (vector_type,), lambda b, v: made(b, [b.fneg(x) for x in parts(b, v)]))
_operation(operator.matmul, vector_type, (matrix_type, vector_type), _matrix_vector)
_operation(operator.matmul, vector_type, (vector_type, matrix_type), _vector_matrix)
_operation(operator.matmul, matrix_type, (matrix_type, matrix_type), _matrix_matrix)


@infer_getattr
class _VectorComponents(AttributeTemplate):
    key = VectorType

    def generic_resolve(self, value: Any, name: str) -> Any:
        return types.float64 if name in ("x", "y", "z") else None


for _i, _letter in enumerate("xyz"):

    @lower_getattr(VectorType, _letter)
    def _component(context: Any, builder: Any, kind: Any, value: Any, i: int = _i) -> Any:
        return builder.extract_value(value, i)


class Written:
    """A function of kernels that is written straight to LLVM; its arguments are cast to their types.

    Args:
        function: of the builder and the values of the arguments, for the name and the docstring.
        result: type of what it returns.
        parameters: types of its arguments.
        lower: of Numba's context, the builder, signature and values, as ``lower_builtin`` has it.
    """

    def __init__(
        self, function: Callable[..., Any], result: Any, parameters: tuple[Any, ...], lower: Callable[..., Any]
    ) -> None:
        self.result, self.parameters = result, parameters
        self.__name__ = function.__name__
        update_wrapper(self, function)

        class _Typing(AbstractTemplate):
            key = self

            def generic(self, arguments: Any, keywords: Any) -> Any:
                fits = len(arguments) == len(parameters) and not keywords
                return signature(result, *parameters) if fits else None

        infer_global(self, types.Function(_Typing))
        lower_builtin(self, *parameters)(lower)

    def __call__(self, *arguments: Any) -> Any:
        raise NotImplementedError(f"{self.__name__} is for compiled code only")


def written(result: Any, *parameters: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a function of the builder and of values one that kernels can call."""

    def made_of(rule: Callable[..., Any]) -> Any:
        return Written(rule, result, parameters, lambda context, builder, sig, values: rule(builder, *values))

    return made_of


@written(vector_type, types.float64, types.float64, types.float64)
def vector(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """The vector (x, y, z)."""
    return made(builder, [x, y, z])


@written(matrix_type, vector_type, vector_type, vector_type)
def matrix(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """The matrix with rows x, y, z."""
    return made(builder, [number for row in (x, y, z) for number in parts(builder, row)])


@written(vector_type, matrix_type, types.intp)
def row(builder: Any, m: Any, i: Any) -> Any:
    """Row i of a matrix."""
    rows = parts(builder, m, 9)
    return made(builder, [_chosen(builder, i, rows[k::3]) for k in range(3)])


@written(types.float64, vector_type, types.intp)
def along(builder: Any, v: Any, axis: Any) -> Any:
    """Component of a vector along axis 0, 1 or 2."""
    return _chosen(builder, axis, parts(builder, v))


def _chosen(builder: Any, i: Any, three: Sequence[Any]) -> Any:
    def is_number(k: int) -> Any:
        return builder.icmp_signed("==", i, ir.Constant(INTEGER, k))

    return builder.select(is_number(0), three[0], builder.select(is_number(1), three[1], three[2]))


@written(vector_type, vector_type, vector_type)
def cross(builder: Any, a: Any, b: Any) -> Any:
    """a x b."""
    x, y = parts(builder, a), parts(builder, b)
    return made(
        builder,
        [
            builder.fsub(times(builder, x[i], y[j]), times(builder, x[j], y[i]), flags=FLAGS)
            for i, j in ((1, 2), (2, 0), (0, 1))
        ],
    )


@written(types.float64, vector_type, vector_type)
def dot(builder: Any, a: Any, b: Any) -> Any:
    """a . b."""
    return total(builder, list(zip(parts(builder, a), parts(builder, b), strict=True)))


@written(matrix_type, matrix_type)
def transposed(builder: Any, m: Any) -> Any:
    """R^T."""
    rows = parts(builder, m, 9)
    return made(builder, [rows[3 * j + i] for i in range(3) for j in range(3)])


def _rows(builder: Any, address: Any, length: Any, table: Any) -> Any:
    """Rows from there on, in the checked build with how many they are, and the number of the table."""
    members = [address, length, table] if CHECKED else [address]
    result = ir.Constant(ir.LiteralStructType([member.type for member in members]), ir.Undefined)
    for i, member in enumerate(members):
        result = builder.insert_value(result, member, i)
    return result


@intrinsic
def tables_at(typing: Any, header: Any) -> Any:
    """The tables whose counts and addresses an array of integers holds; it must outlive them."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return cgutils.create_struct_proxy(sig.args[0])(context, builder, arguments[0]).data

    return tables_type(header), generate


@intrinsic
def reals_at(typing: Any, array: Any) -> Any:
    """The numbers of a contiguous array of floats; it must outlive them."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        given = cgutils.create_struct_proxy(sig.args[0])(context, builder, arguments[0])
        return _rows(builder, given.data, given.nitems, ir.Constant(INTEGER, -1))

    return ROWS[Kind.REAL](array), generate


PLACES = {table.name: place for place, table in enumerate(TABLES)}
FUNCTION_PLACES = {name: place for place, name in enumerate(FUNCTIONS, start=2 * len(TABLES))}


@infer_getattr
class _TableNames(AttributeTemplate):
    key = TablesType

    def generic_resolve(self, value: Any, name: str) -> Any:
        if name not in PLACES:
            return None
        kind = TABLES[PLACES[name]].kind
        return types.intp if kind is Kind.COUNT else ROWS[kind]


def header_number(builder: Any, tables: Any, place: int) -> Any:
    """A number of the header; it never changes, so that LLVM may keep it."""
    number = builder.load(builder.gep(tables, [ir.Constant(INTEGER, place)], inbounds=True))
    number.set_metadata("invariant.load", builder.module.add_metadata([]))
    return number


@lower_getattr_generic(TablesType)
def _table(context: Any, builder: Any, kind: Any, tables: Any, name: str) -> Any:
    place = PLACES[name]
    number = header_number(builder, tables, place)
    if TABLES[place].kind is Kind.COUNT:
        return number
    pointer = (INTEGER if TABLES[place].kind is Kind.INTEGER else REAL).as_pointer()
    length = header_number(builder, tables, len(TABLES) + place) if CHECKED else None
    return _rows(builder, builder.inttoptr(number, pointer), length, ir.Constant(INTEGER, place))


class _RowsTyping(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        rows = arguments[0]
        if isinstance(rows, RowsType) and isinstance(arguments[1], types.Integer):
            return self.signature_of(rows)
        return None


@infer_global(operator.getitem)
class _RowsGet(_RowsTyping):
    def signature_of(self, rows: RowsType) -> Any:
        return signature(ENTRY[rows.kind], rows, types.intp)


@infer_global(operator.setitem)
class _RowsSet(_RowsTyping):
    def signature_of(self, rows: RowsType) -> Any:
        return signature(types.none, rows, types.intp, ENTRY[rows.kind])


@infer_global(operator.add)
class _RowsShift(_RowsTyping):
    def signature_of(self, rows: RowsType) -> Any:
        return signature(rows, rows, types.intp)


def _places(context: Any, builder: Any, rows_type: RowsType, rows: Any, k: Any) -> list[Any]:
    """Addresses of the numbers of entry k."""
    if CHECKED:
        length, table = builder.extract_value(rows, 1), builder.extract_value(rows, 2)
        is_beyond = builder.icmp_unsigned(">=", k, length)
        is_outside = builder.or_(is_beyond, builder.icmp_signed("<", length, ir.Constant(INTEGER, 1)))
        with builder.if_then(is_outside, likely=False):
            text = "phlexible: index %lld of %lld entries in table %lld\n"
            cgutils.printf(builder, text, k, length, table)
            context.call_conv.return_user_exc(builder, IndexError, ("index outside of a table of a kernel",))
    address = builder.extract_value(rows, 0)
    count = NUMBERS[rows_type.kind]
    first = builder.mul(k, ir.Constant(INTEGER, count), flags=("nsw",)) if count > 1 else k
    return [
        builder.gep(address, [builder.add(first, ir.Constant(INTEGER, i), flags=("nsw",))], inbounds=True)
        for i in range(count)
    ]


@lower_builtin(operator.getitem, RowsType, types.intp)
def _get(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    numbers = [builder.load(p) for p in _places(context, builder, sig.args[0], *arguments)]
    return made(builder, numbers) if len(numbers) > 1 else numbers[0]


@lower_builtin(operator.setitem, RowsType, types.intp, types.Any)
def _set(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    places = _places(context, builder, sig.args[0], *arguments[:2])
    numbers = parts(builder, arguments[2], len(places)) if len(places) > 1 else [arguments[2]]
    for number, place in zip(numbers, places, strict=True):
        builder.store(number, place)
    return context.get_dummy_value()


@lower_builtin(operator.add, RowsType, types.intp)
def _shift(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    rows, shift = arguments
    count = NUMBERS[sig.args[0].kind]
    step = builder.mul(shift, ir.Constant(INTEGER, count), flags=("nsw",)) if count > 1 else shift
    address = builder.gep(builder.extract_value(rows, 0), [step], inbounds=True)
    rows = builder.insert_value(rows, address, 0)
    if CHECKED:
        rows = builder.insert_value(rows, builder.sub(builder.extract_value(rows, 1), shift), 1)
    return rows
