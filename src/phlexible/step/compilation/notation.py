"""Types that let the kernels read like the formulas: 3-vectors, 3 x 3 matrices, rows of named tables."""

import operator
from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from typing import TYPE_CHECKING, Any, TypeAlias

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_getattr, lower_getattr_generic
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

from phlexible.step.compilation.number_kinds import (
    BIT,
    CHOICE,
    FLAGS,
    INDEX,
    INTEGER,
    NUMBER,
    ONE,
    REAL,
    TRUTH,
    Dual,
    LaneForm,
    Lanes,
    NumberKind,
    Secant,
    common_kind,
    have_forms,
    implement,
    is_any,
    kind_of,
    kind_of_word,
)
from phlexible.step.compilation.objects import CHECKED
from phlexible.step.tables.declarations import TABLES, Kind, Table, Writer
from phlexible.step.tables.functions import FUNCTIONS
from phlexible.step.tables.memory import OF_TYPES, SAME_SYSTEM, SAME_TYPES, TEAM_LANES, get_structure

# Vectors and matrices as numbers in registers, in LLVM's terms: what the operators below are made of.
#
# Rows of matrices share registers of four, so that their products and sums take a third of the instructions; in
# lanes each number has a register of its own.

FOUR = ir.VectorType(REAL, 4)


def unpack(builder: Any, value: Any, size: int = 3) -> list[Any]:
    """Emit LLVM code that extracts the components of ``value``, a 3-vector or a matrix of ``size`` components, and
    return their LLVM values as a list. Components that are known already are returned without code. ``builder`` is
    llvmlite's ``IRBuilder``, which writes the code."""
    known = getattr(value, "known", None)  # with what is known of their derivatives
    return list(known) if known else [builder.extract_value(value, i) for i in range(size)]


def pack(builder: Any, components: Sequence[Any]) -> Any:
    """Emit LLVM code that builds a vector or matrix from its components ``components``; returns the LLVM value.
    ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    result = ir.Constant(ir.LiteralStructType([number.type for number in components]), ir.Undefined)
    for i, number in enumerate(components):
        result = builder.insert_value(result, number, i)
    if isinstance(kind_of(components[0].type), Dual | Secant):
        result.known = tuple(components)
    return result


def arithmetic(builder: Any, name: str, a: Any, b: Any) -> Any:
    """Emit LLVM code for the sum, difference, product or quotient of two numbers a and b, where ``name`` is LLVM's
    instruction such as "fadd"; returns the LLVM value. The code follows from the kind of numbers of a: plain
    floats, SIMD lanes, dual or secant numbers. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    return kind_of(a.type).arithmetic(builder, name, a, b)


def emit_mul(builder: Any, a: Any, b: Any) -> Any:
    """Emit LLVM code for the product of two floating-point numbers a and b, or of SIMD vectors of them; returns the
    LLVM value. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    return arithmetic(builder, "fmul", a, b)


def emit_sum(builder: Any, products: Sequence[tuple[Any, Any]]) -> Any:
    """Emit LLVM code for the sum of products a b of pairs of numbers; returns the LLVM value. ``builder`` is
    llvmlite's ``IRBuilder``, which writes the code."""
    found = None
    for a, b in products:
        product = emit_mul(builder, a, b)
        found = product if found is None else arithmetic(builder, "fadd", found, product)
    return found


def is_plain_float(number: Any) -> bool:
    """Return whether an LLVM value is a plain float of one mechanism, so that four such numbers fit into one SIMD
    register."""
    return bool(number.type == REAL)


def to_register(builder: Any, components: Sequence[Any]) -> Any:
    """Emit LLVM code that puts up to four floats ``components`` into one SIMD register; returns the LLVM value
    of the register. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    register = ir.Constant(FOUR, ir.Undefined)
    for i, number in enumerate(components):
        register = builder.insert_element(register, number, ir.Constant(INDEX, i))
    return register


def broadcast(builder: Any, number: Any) -> Any:
    """Emit LLVM code that puts one float ``number`` four times into a SIMD register; returns the LLVM value
    of the register. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    first = ir.Constant(ir.VectorType(INDEX, 4), [0] * 4)
    return builder.shuffle_vector(to_register(builder, [number]), ir.Constant(FOUR, ir.Undefined), first)


def row_registers(builder: Any, m: Any) -> list[Any]:
    """Emit LLVM code that puts each row of the 3 x 3 matrix m into one SIMD register; returns the LLVM values
    of the three registers. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    nine = unpack(builder, m, 9)
    return [to_register(builder, nine[i : i + 3]) for i in (0, 3, 6)]


def emit_matrix(builder: Any, rows: Sequence[Any]) -> Any:
    """Emit LLVM code that builds a 3 x 3 matrix from three SIMD registers with a row each; returns the LLVM
    value of the matrix. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    return pack(builder, [builder.extract_element(r, ir.Constant(INDEX, i)) for r in rows for i in range(3)])


# ``t.angular1[b] - t.angular0[b] + cross(a, p)`` is what a kernel says. A vector is three numbers and a matrix
# nine, by value; both live in registers. ``t`` is one pointer to the addresses of all tables (``declarations.py``),
# ``t.name`` a pointer to the first row of one of them, and ``rows + k`` starts k rows later. The rules below
# write each operation straight to LLVM: there is nothing to compile but the kernels themselves, no reference is
# counted, and no index is asked whether it counts from the end.
#
# With the environment variable ``PHLEXIBLE_CHECKED`` set every index is compared with the length of its table;
# one that lies outside ends the run with an IndexError, after the number of the table in ``TABLES`` is printed.


class VectorType(types.Type):
    """Type of a vector of three numbers of one kind."""

    size = 3

    def __init__(self, number_kind: NumberKind = ONE) -> None:
        self.number_kind = number_kind
        super().__init__(f"{type(self).__name__}({number_kind})")

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """Return the Numba conversion to this type from a vector with one value for all SIMD lanes; None for other
        types. ``context`` is Numba's typing context."""
        return Conversion.safe if type(other) is type(self) and other.number_kind == ONE else None

    def unify(self, context: Any, other: Any) -> Any:
        """Return this type if a Numba variable may have this type and the type ``other``, else None. It may if
        ``other`` is the same kind of vector with one value for all SIMD lanes. ``context`` is Numba's typing
        context."""
        return self if type(other) is type(self) and other.number_kind == ONE else None


class MatrixType(VectorType):
    """Type of a 3 x 3 matrix, stored row by row."""

    size = 9


class RowsType(types.Type):
    """Type of a pointer to rows of numbers, integers, vectors or matrices.

    Args:
        kind: of an entry.
        number_kind: their kind of numbers.
        are_lengths: an entry is the difference to the next row: the length of one list of a ragged list.
    """

    def __init__(self, kind: Kind, number_kind: NumberKind = ONE, are_lengths: bool = False) -> None:
        self.kind, self.number_kind, self.are_lengths = kind, number_kind, are_lengths
        super().__init__(f"Rows({kind.name}, {number_kind}, {are_lengths})")


class TablesType(types.Type):
    """Type of a pointer to the counts of a model and the addresses of its tables.

    Args:
        number_kind: their kind of numbers.
        structure: digest of the structure whose counts and integers are constants; empty: all are read.
        shared: what lanes share besides integers: nothing, numbers of types of bodies, all that the system writes.
    """

    def __init__(self, number_kind: NumberKind = ONE, structure: str = "", shared: str = "") -> None:
        self.number_kind, self.structure, self.shared = number_kind, structure, shared
        super().__init__(f"Tables({number_kind}, {structure}, {shared})")


class Vector(Any):
    """Annotation of a vector of three numbers."""


class Matrix(Any):
    """Annotation of a matrix of 3 x 3 numbers."""


class Reals(Any):
    """Annotation of rows of numbers; ``rows + k`` starts k rows later."""

    def __add__(self, rows: int) -> "Reals":  # for type checkers: Numba takes the rule below
        raise NotImplementedError


class Integers(Any):
    """Annotation of rows of integers, which lanes share."""


class Choices(Any):
    """Annotation of rows of integers, one for each lane."""


class Vectors(Any):
    """Annotation of rows of vectors."""


class Matrices(Any):
    """Annotation of rows of matrices."""


class Tables(Any):
    """Annotation of all tables, whose attributes are the tables by name."""


if TYPE_CHECKING:
    Number: TypeAlias = float
    Truth: TypeAlias = bool
    Choice: TypeAlias = int
else:

    class Number:
        """Annotation of a number for each lane.

        A ``float`` is shared if the given value is, and always in exported functions.
        """

    class Truth:
        """Annotation of a truth value for each lane; a ``bool`` is shared."""

    class Choice:
        """Annotation of an integer for each lane; an ``int`` is shared."""


SHARED_NUMBER = LaneForm(types.float64, NUMBER.lanes, NUMBER.taken)
"""What a ``float`` is: as wide as it is given."""
VECTOR = LaneForm(VectorType(), VectorType, (VectorType,))
MATRIX = LaneForm(MatrixType(), MatrixType, (MatrixType,))


def tuple_form(forms: Sequence[LaneForm]) -> LaneForm:
    """Return the form of a tuple whose members have these ``forms``. A form gives the Numba type of a value for
    each kind of numbers: plain floats, SIMD lanes, dual numbers."""
    return LaneForm(
        types.Tuple([form.alone for form in forms]), lambda w: types.Tuple([form.at(w) for form in forms])
    )


def _rows_form(kind: Kind, is_shared: bool = False) -> LaneForm:
    return LaneForm(RowsType(kind), None if is_shared else lambda own: RowsType(kind, own), (RowsType,))


FORMS = {
    None: LaneForm(types.none),
    bool: LaneForm(types.boolean),
    int: LaneForm(types.intp),
    float: SHARED_NUMBER,
    Number: NUMBER,
    Truth: TRUTH,
    Choice: CHOICE,
    Vector: VECTOR,
    Matrix: MATRIX,
    Reals: _rows_form(Kind.REAL),
    Integers: _rows_form(Kind.INTEGER, is_shared=True),
    Choices: _rows_form(Kind.INTEGER),
    Vectors: _rows_form(Kind.VECTOR),
    Matrices: _rows_form(Kind.MATRIX),
    Tables: LaneForm(TablesType(), TablesType, (TablesType,)),
}
"""What the annotations of kernels stand for."""
ENTRY = {Kind.INTEGER: CHOICE, Kind.REAL: NUMBER, Kind.VECTOR: VECTOR, Kind.MATRIX: MATRIX}
"""What an entry of a table is."""
FLOATS = {Kind.INTEGER: 1, Kind.REAL: 1, Kind.VECTOR: 3, Kind.MATRIX: 9}  # of an entry


@register_model(VectorType)
@register_model(MatrixType)
class _TupleModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [(f"c{i}", NUMBER.at(kind.number_kind)) for i in range(kind.size)])


@lower_cast(VectorType, VectorType)
@lower_cast(MatrixType, MatrixType)
def _vector_in_lanes(context: Any, builder: Any, kind: Any, wanted: Any, value: Any) -> Any:
    return pack(builder, [wanted.number_kind.constant(builder, x) for x in unpack(builder, value, kind.size)])


@register_model(RowsType)
class _RowsModel(models.StructModel):
    """Memory of a pointer to rows; checked builds add the number of rows from there on and that of the table."""

    def __init__(self, manager: Any, kind: Any) -> None:
        checks = [("length", types.intp), ("table", types.intp)] if CHECKED else []
        super().__init__(manager, kind, [("address", types.CPointer(_number_of(kind))), *checks])


@register_model(TablesType)
class _TablesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, INTEGER.as_pointer())


def _number_of(rows: RowsType) -> types.Type:
    return (CHOICE if rows.kind is Kind.INTEGER else NUMBER).at(rows.number_kind)


_operation = partial(implement, has_one=True)


for _form in (VECTOR, MATRIX):
    _n = _form.alone.size

    def _by_component(name: str, n: int = _n) -> Callable[..., Any]:
        def rule(context: Any, builder: Any, a: Any, b: Any) -> Any:
            x, y = unpack(builder, a, n), unpack(builder, b, n)
            if n == 9 and is_plain_float(x[0]):
                both = zip(row_registers(builder, a), row_registers(builder, b), strict=True)
                return emit_matrix(builder, [getattr(builder, name)(p, q, flags=FLAGS) for p, q in both])
            return pack(builder, [arithmetic(builder, name, p, q) for p, q in zip(x, y, strict=True)])

        return rule

    def _scaled(context: Any, builder: Any, factor: Any, a: Any, n: int = _n) -> Any:
        if n == 9 and is_plain_float(factor):
            same = broadcast(builder, factor)
            return emit_matrix(builder, [emit_mul(builder, same, x) for x in row_registers(builder, a)])
        return pack(builder, [emit_mul(builder, factor, x) for x in unpack(builder, a, n)])

    for _name, _both in (("fadd", (operator.add, operator.iadd)), ("fsub", (operator.sub, operator.isub))):
        for _operator in _both:
            _operation(_operator, _form, (_form, _form), _by_component(_name))
    _operation(operator.mul, _form, (NUMBER, _form), _scaled)


def _matrix_vector(context: Any, builder: Any, m: Any, v: Any) -> Any:
    """Emit LLVM code for the product m v of a 3 x 3 matrix m and a vector v; returns the LLVM value of the
    product. ``context`` is Numba's target context, ``builder`` llvmlite's ``IRBuilder``, which writes the code."""
    rows, x = unpack(builder, m, 9), unpack(builder, v)
    return pack(builder, [emit_sum(builder, list(zip(rows[3 * i : 3 * i + 3], x, strict=True))) for i in range(3)])


def _vector_matrix(context: Any, builder: Any, v: Any, m: Any) -> Any:
    """Emit LLVM code for the product v m = m^T v of a vector and a 3 x 3 matrix; returns the LLVM value of the
    product. ``context`` is Numba's target context, ``builder`` llvmlite's ``IRBuilder``, which writes the code."""
    rows, x = unpack(builder, m, 9), unpack(builder, v)
    if is_plain_float(x[0]):
        factors = [broadcast(builder, number) for number in x]
        total = emit_sum(builder, list(zip(factors, row_registers(builder, m), strict=True)))
        return pack(builder, [builder.extract_element(total, ir.Constant(INDEX, i)) for i in range(3)])
    return pack(builder, [emit_sum(builder, list(zip(x, rows[i::3], strict=True))) for i in range(3)])


def _matrix_matrix(context: Any, builder: Any, a: Any, b: Any) -> Any:
    left = unpack(builder, a, 9)
    if is_plain_float(left[0]):
        rows = row_registers(builder, b)
        factors = [[broadcast(builder, x) for x in left[i : i + 3]] for i in (0, 3, 6)]
        return emit_matrix(builder, [emit_sum(builder, list(zip(own, rows, strict=True))) for own in factors])
    right = unpack(builder, b, 9)
    pairs = [zip(left[i : i + 3], right[j::3], strict=True) for i in (0, 3, 6) for j in range(3)]
    return pack(builder, [emit_sum(builder, list(pair)) for pair in pairs])


def _opposite(context: Any, builder: Any, v: Any) -> Any:
    return pack(builder, [kind_of(x.type).negative(builder, x) for x in unpack(builder, v)])


_operation(operator.neg, VECTOR, (VECTOR,), _opposite)
_operation(operator.matmul, VECTOR, (MATRIX, VECTOR), _matrix_vector)
_operation(operator.matmul, VECTOR, (VECTOR, MATRIX), _vector_matrix)
_operation(operator.matmul, MATRIX, (MATRIX, MATRIX), _matrix_matrix)


@infer_getattr
class _VectorComponents(AttributeTemplate):
    key = VectorType

    def generic_resolve(self, value: Any, name: str) -> Any:
        return NUMBER.at(value.number_kind) if name in ("x", "y", "z") else None


for _i, _letter in enumerate("xyz"):

    @lower_getattr(VectorType, _letter)
    def _component(context: Any, builder: Any, kind: Any, value: Any, i: int = _i) -> Any:
        return unpack(builder, value)[i]


class Written:
    """A function of kernels that is written straight to LLVM; its arguments are cast to their types.

    Args:
        function: of the builder and the values of the arguments, for the name and the docstring.
        result: form of its result.
        forms: of its arguments.
        lower: of Numba's context, the builder, signature and values, as ``lower_builtin`` takes it.
    """

    def __init__(
        self, function: Callable[..., Any], result: Any, forms: tuple[LaneForm, ...], lower: Callable[..., Any]
    ) -> None:
        self.result, self.forms = result, forms
        self.__name__ = function.__name__
        update_wrapper(self, function)
        found = self.signature_of

        class _Typing(AbstractTemplate):
            key = self

            def generic(self, arguments: Any, keywords: Any) -> Any:
                return found(arguments) if len(arguments) == len(forms) and not keywords else None

        infer_global(self, types.Function(_Typing))
        lower_builtin(self, types.VarArg(types.Any))(lower)

    def signature_of(self, arguments: Sequence[Any]) -> Any:
        """Return the Numba signature of this function of compiled code for arguments of these types; the result has
        as many SIMD lanes as the widest argument."""
        number_kind = common_kind(arguments)
        return signature(self.result.at(number_kind), *(form.at(number_kind) for form in self.forms))

    def __call__(self, *arguments: Any) -> Any:
        raise NotImplementedError(f"{self.__name__} is for compiled code only")


def emitted_by(result: LaneForm, *forms: LaneForm) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that makes a function which emits LLVM code callable in kernels, compiled functions of
    the time step. The function takes llvmlite's builder and the LLVM values of the arguments, and returns the LLVM
    value of the result. ``result`` and ``forms`` are the type rules of result and arguments: number, vector,
    matrix and so on."""

    def made_of(rule: Callable[..., Any]) -> Any:
        return Written(rule, result, forms, lambda context, builder, sig, values: rule(builder, *values))

    return made_of


class Where(Written):
    """The function ``where(truth, a, b)``, for values of any form."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function, NUMBER, (TRUTH, NUMBER, NUMBER), self._select)

    def signature_of(self, arguments: Sequence[Any]) -> Any:
        """Return the Numba signature of ``where(truth, a, b)``, which selects a or b, for the Numba types
        ``arguments``. ``truth`` is a boolean, or one for each SIMD lane. The values a and b must both be booleans,
        integers, numbers, vectors or matrices; otherwise the result is None. Plain numbers are permitted with SIMD
        lanes or dual numbers.
        """
        for form in (TRUTH, CHOICE, NUMBER, VECTOR, MATRIX):
            if have_forms((TRUTH, form, form), arguments):
                kind = form.at(common_kind(arguments))
                return signature(kind, TRUTH.at(common_kind(arguments[:1])), kind, kind)
        return None

    @staticmethod
    def _select(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        truth, a, b = values
        if not isinstance(sig.return_type, VectorType):
            return kind_of(a.type).selection(builder, truth, a, b)
        pairs = zip(*(unpack(builder, each, sig.return_type.size) for each in (a, b)), strict=True)
        return pack(builder, [kind_of(x.type).selection(builder, truth, x, y) for x, y in pairs])


@Where
def where(truth: Any, a: Any, b: Any) -> Any:
    """Return a where the boolean ``truth`` is true, else b, separately in each SIMD lane (mechanism). It exists in
    compiled code only, as an intrinsic; both values are computed.
    """


@emitted_by(FORMS[bool], TRUTH)
def any_of(builder: Any, truth: Any) -> Any:
    """Emit LLVM code that tests whether a boolean ``truth`` is true in any SIMD lane (mechanism); returns the LLVM
    value. A boolean without lanes is returned as it is. ``builder`` is llvmlite's ``IRBuilder``, which writes the
    code.
    """
    return is_any(builder, truth) if isinstance(truth.type, ir.VectorType) else truth


@emitted_by(FORMS[bool], TRUTH)
def all_of(builder: Any, truth: Any) -> Any:
    """Emit LLVM code that tests whether a boolean ``truth`` is true in all SIMD lanes (mechanisms); returns the
    LLVM value. A boolean without lanes is returned as it is. ``builder`` is llvmlite's ``IRBuilder``, which writes
    the code.
    """
    if not isinstance(truth.type, ir.VectorType):
        return truth
    return builder.not_(is_any(builder, builder.not_(truth)))


@emitted_by(TRUTH, NUMBER)
def is_nonzero(builder: Any, x: Any) -> Any:
    """Emit LLVM code that tests whether a number x is not zero or, if it is dual, has a derivative that is not
    zero; returns the LLVM value. Products with x can be left out where it is False. ``builder`` is llvmlite's
    ``IRBuilder``, which writes the code."""
    return kind_of(x.type).is_nonzero(builder, x)


@emitted_by(FORMS[bool], NUMBER)
def has_derivatives(builder: Any, x: Any) -> Any:
    """Return a constant LLVM bit: 1 if the LLVM type of the number x is that of a dual (a value with derivatives),
    else 0. The type is known at compilation, so kernels (compiled functions of the time step) can branch on it
    without cost. ``builder``, llvmlite's ``IRBuilder``, is not used."""
    return BIT(int(isinstance(kind_of(x.type), Dual)))


def emitted_as(kind: Callable[[Any], NumberKind], result: LaneForm, *forms: LaneForm) -> Callable[..., Any]:
    """Return a decorator that makes a function which emits LLVM code callable in kernels, if its result has
    another kind of numbers than its arguments. Kinds of numbers are plain floats, SIMD lanes, dual numbers and so
    on. ``kind`` maps the kind of the arguments to that of the result. ``result`` and ``forms`` are the type rules
    of result and arguments: number, vector, and so on.

    Args:
        kind: of the numbers in the result, by that of the arguments.
        result: its form.
        forms: of the arguments.
    """

    class _Converted(Written):
        def signature_of(self, arguments: Sequence[Any]) -> Any:
            number_kind = common_kind(arguments)
            return signature(result.at(kind(number_kind)), *(form.at(number_kind) for form in forms))

    return lambda rule: _Converted(
        rule, result, forms, lambda context, builder, sig, values: rule(builder, *values)
    )


@emitted_as(lambda number_kind: ONE if isinstance(number_kind, Dual) else number_kind, NUMBER, NUMBER)
def value_of(builder: Any, x: Any) -> Any:
    """Emit LLVM code for the value of a dual number x without its derivatives; returns the LLVM value. Numbers of
    kinds without derivatives are returned unchanged. ``builder`` is llvmlite's ``IRBuilder``, which writes the
    code."""
    return kind_of(x.type).value(builder, x)


@emitted_as(Secant, VECTOR, VECTOR, VECTOR)
def three_secants(builder: Any, w: Any, dw: Any) -> Any:
    """Emit LLVM code for a vector of three secant numbers, with values w at the start and changes dw in a time
    step. A secant number is a value at the start of a time step, its exact change, and weights that reproduce the
    change; here the weights are the unit vectors. Functions of it then give discrete gradients with respect to w.
    Return the LLVM value. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    components = list(zip(unpack(builder, w), unpack(builder, dw), strict=True))
    kind = Secant(kind_of(components[0][0].type))
    one = kind.base.constant(builder, REAL(1.0))
    units = [[one if i == k else None for i in range(3)] for k in range(3)]
    return pack(
        builder, [kind.number(builder, x, (dx, *unit)) for (x, dx), unit in zip(components, units, strict=True)]
    )


@emitted_as(lambda number_kind: number_kind.base, tuple_form([NUMBER, NUMBER, VECTOR]), NUMBER)
def secant_parts(builder: Any, x: Any) -> Any:
    """Emit LLVM code that extracts the components of a secant number x. These are its value at the start of a time
    step, its change in the time step, and the vector of weights of its discrete gradient. Returns the LLVM value
    of the tuple. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    five = [builder.extract_value(x, i) for i in range(len(x.type.elements))]
    return pack(builder, [*five[:2], pack(builder, five[2:])])


@emitted_by(NUMBER, NUMBER, NUMBER, NUMBER)
def with_derivative(builder: Any, value: Any, derivative: Any, x: Any) -> Any:
    """Return ``value`` with ``derivative`` times the derivatives of x added to its derivatives, for code whose own
    derivative is wrong. Numbers without derivatives are returned unchanged. ``builder`` is llvmlite's
    ``IRBuilder``, which writes the code."""
    return kind_of(x.type).with_derivative(builder, value, derivative, x)


@emitted_by(FORMS[bool], CHOICE)
def is_same_in_lanes(builder: Any, choice: Any) -> Any:
    """Emit LLVM code that tests whether the integer ``choice`` is the same in all SIMD lanes (mechanisms); returns
    the LLVM value, a constant True for an integer without lanes. ``builder`` is llvmlite's ``IRBuilder``, which
    writes the code."""
    if not isinstance(choice.type, ir.VectorType):
        return BIT(1)
    first = kind_of(choice.type).constant(builder, builder.extract_element(choice, INDEX(0)))
    return builder.not_(is_any(builder, builder.icmp_signed("!=", choice, first)))


@emitted_by(FORMS[int], CHOICE)
def lane_count(builder: Any, choice: Any) -> Any:
    """Return the number of SIMD lanes (mechanisms stepped at the same time) for which the integer ``choice`` has a
    value, as an LLVM constant. It is 1 for an integer without lanes. ``builder`` is llvmlite's ``IRBuilder``,
    which is not used."""
    return INTEGER(getattr(choice.type, "count", 1))


@emitted_by(FORMS[bool], FORMS[Reals])
def are_in_lanes(builder: Any, rows: Any) -> Any:
    """Return whether the array ``rows`` of a kernel contains values of several mechanisms in SIMD lanes, as an
    LLVM constant. It is known when the kernel, a compiled function of the time step, is compiled. ``builder`` is
    llvmlite's ``IRBuilder``, which writes the code."""
    return BIT(int(isinstance(builder.extract_value(rows, 0).type.pointee, ir.VectorType)))


@emitted_by(FORMS[int], CHOICE, FORMS[int])
def lane_value(builder: Any, choice: Any, lane: Any) -> Any:
    """Emit LLVM code for the value of the integer ``choice`` in SIMD lane ``lane`` (of one mechanism); returns the
    LLVM value. An integer with one value for all lanes is returned as it is. ``builder`` is llvmlite's
    ``IRBuilder``, which writes the code."""
    return builder.extract_element(choice, lane) if isinstance(choice.type, ir.VectorType) else choice


@emitted_by(VECTOR, NUMBER, NUMBER, NUMBER)
def vector(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """Emit LLVM code that makes one vector (x, y, z) of three numbers; returns the LLVM value. ``builder`` is
    llvmlite's ``IRBuilder``, which writes the code."""
    return pack(builder, [x, y, z])


@emitted_by(MATRIX, VECTOR, VECTOR, VECTOR)
def matrix(builder: Any, x: Any, y: Any, z: Any) -> Any:
    """Emit LLVM code for the 3 x 3 matrix with the vectors x, y, z as its rows; returns the LLVM value.
    ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    return pack(builder, [number for row in (x, y, z) for number in unpack(builder, row)])


@emitted_by(VECTOR, MATRIX, FORMS[int])
def row(builder: Any, m: Any, i: Any) -> Any:
    """Emit LLVM code for row i of a 3 x 3 matrix m as a vector; returns the LLVM value. ``builder`` is llvmlite's
    ``IRBuilder``, which writes the code."""
    rows = unpack(builder, m, 9)
    return pack(builder, [_chosen(builder, i, rows[k::3]) for k in range(3)])


@emitted_by(NUMBER, VECTOR, FORMS[int])
def along(builder: Any, v: Any, axis: Any) -> Any:
    """Emit LLVM code for the component of a vector v along ``axis`` 0, 1 or 2; returns the LLVM value. ``builder``
    is llvmlite's ``IRBuilder``, which writes the code."""
    return _chosen(builder, axis, unpack(builder, v))


def _chosen(builder: Any, i: Any, three: Sequence[Any]) -> Any:
    def is_number(k: int) -> Any:
        return builder.icmp_signed("==", i, ir.Constant(INTEGER, k))

    chosen = kind_of(three[0].type).selection
    return chosen(builder, is_number(0), three[0], chosen(builder, is_number(1), three[1], three[2]))


@emitted_by(VECTOR, VECTOR, VECTOR)
def cross(builder: Any, a: Any, b: Any) -> Any:
    """Emit LLVM code for the cross product a x b of two vectors; returns the LLVM value. ``builder`` is llvmlite's
    ``IRBuilder``, which writes the code."""
    x, y = unpack(builder, a), unpack(builder, b)
    return pack(
        builder,
        [
            arithmetic(builder, "fsub", emit_mul(builder, x[i], y[j]), emit_mul(builder, x[j], y[i]))
            for i, j in ((1, 2), (2, 0), (0, 1))
        ],
    )


@emitted_by(NUMBER, VECTOR, VECTOR)
def dot(builder: Any, a: Any, b: Any) -> Any:
    """Emit LLVM code for the scalar product a . b of two vectors; returns the LLVM value. ``builder`` is
    llvmlite's ``IRBuilder``, which writes the code."""
    return emit_sum(builder, list(zip(unpack(builder, a), unpack(builder, b), strict=True)))


@emitted_by(MATRIX, MATRIX)
def transposed(builder: Any, m: Any) -> Any:
    """Emit LLVM code for the transpose of a 3 x 3 matrix m; returns the LLVM value. ``builder`` is llvmlite's
    ``IRBuilder``, which writes the code."""
    rows = unpack(builder, m, 9)
    return pack(builder, [rows[3 * j + i] for i in range(3) for j in range(3)])


def _rows(builder: Any, address: Any, length: Any, table: Any) -> Any:
    """Emit LLVM code that packs an ``address`` into the structure which stands for an array of the model, and
    return its LLVM value. In builds that check indices the structure also contains the ``length`` and the number
    of the array, ``table``. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    members = [address, length, table] if CHECKED else [address]
    result = ir.Constant(ir.LiteralStructType([member.type for member in members]), ir.Undefined)
    for i, member in enumerate(members):
        result = builder.insert_value(result, member, i)
    return result


@intrinsic
def tables_at(typing: Any, header: Any) -> Any:
    """Return the object by which compiled code reads the arrays of a model, from their ``header``. A header is an
    integer array with counts and addresses; it must outlive the object. This is a Numba intrinsic: it returns the
    signature and the function that emits the code. ``typing`` is Numba's typing context."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return header_address(context, builder, header, arguments[0])

    return tables_of_header(header)(header), generate


def tables_of_header(header: Any) -> TablesType:
    """Return the Numba type of a model's tables (kind of numbers, known structure) that the name of a header's
    field describes. A header is the array of a model's counts and addresses of tables."""
    if not isinstance(header.dtype, types.Record):
        return TablesType()
    kind, *words = str(next(iter(header.dtype.fields))).split()
    structure = "".join(word for word in words if word != SAME_TYPES)
    return TablesType(kind_of_word(kind), structure, SAME_TYPES if SAME_TYPES in words else "")


def header_address(context: Any, builder: Any, header: Any, value: Any) -> Any:
    """Return the LLVM value of the address of the integers in a header array of tables; emits the code for
    it. A header is the array of a model's counts and addresses of tables. ``context`` is Numba's target
    context, ``builder`` llvmlite's ``IRBuilder``, which writes the code."""
    data = cgutils.create_struct_proxy(header)(context, builder, value).data
    return builder.bitcast(data, INTEGER.as_pointer())


@intrinsic
def reals_at(typing: Any, array: Any) -> Any:
    """Return, in compiled code (as Numba intrinsic), a pointer to the first entry of a contiguous ``array`` of
    floats. The array must outlive the pointer; this is not checked. ``typing`` is Numba's typing context."""
    return ROWS_OF_REALS.at(ONE)(array), _rows_at(0)


@intrinsic
def rows_at(typing: Any, tables: Any, array: Any) -> Any:
    """Return, in compiled code (as Numba intrinsic), a pointer to the first entry of a contiguous ``array``. Its
    entries are interpreted as those of ``tables``: values of one mechanism, or of several in SIMD lanes. The array
    must outlive the pointer; this is not checked. ``typing`` is Numba's typing context.

    In lanes entry k of lane l is number k w + l of the array.
    """
    return ROWS_OF_REALS.at(tables.number_kind)(tables, array), _rows_at(1)


@intrinsic
def single_floats(typing: Any, rows: Any) -> Any:
    """Return a pointer to the single floats of ``rows``, an array of numbers, vectors or matrices in w SIMD lanes.
    Entry k of lane l is float k w + l. This is a Numba intrinsic, used in compiled code: it returns the signature
    and the function that emits the code. Indices are not checked. ``typing`` is Numba's typing context."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        address = builder.bitcast(builder.extract_value(arguments[0], 0), REAL.as_pointer())
        return _rows(builder, address, INTEGER(2**62), INTEGER(-1))

    return RowsType(Kind.REAL)(rows), generate


@intrinsic
def lanes_from(typing: Any, rows: Any, starts: Any) -> Any:
    """Return a number in SIMD lanes, whose lane l has entry ``starts[l]`` of ``rows``. The lanes are for groups of
    equal bodies of one mechanism. This is a Numba intrinsic, used in compiled code: it returns the signature and
    the function that emits the code. ``typing`` is Numba's typing context."""
    number_kind = Lanes(TEAM_LANES)

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        source, offsets = (builder.extract_value(value, 0) for value in arguments)
        found = ir.Constant(number_kind.register(REAL), ir.Undefined)
        for lane in range(TEAM_LANES):
            start = ONE.load(builder, builder.gep(offsets, [INTEGER(lane)], inbounds=True))
            number = ONE.load(builder, builder.gep(source, [start], inbounds=True))
            found = builder.insert_element(found, number, INDEX(lane))
        return found

    return NUMBER.at(number_kind)(rows, starts), generate


@intrinsic
def tables_of_teams(typing: Any, address: Any) -> Any:
    """Return the object by which compiled code reads the arrays of groups of equal bodies of one mechanism in SIMD
    lanes. ``address`` is the address of their header, the integer array of counts and addresses of arrays. It is a
    Numba intrinsic: it returns the signature and the function that emits the code. ``typing`` is Numba's typing
    context."""

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], INTEGER.as_pointer())

    return TablesType(Lanes(TEAM_LANES), "", SAME_SYSTEM)(address), generate


ROWS_OF_REALS = FORMS[Reals]


def _rows_at(which: int) -> Callable[..., Any]:
    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        given = cgutils.create_struct_proxy(sig.args[which])(context, builder, arguments[which])
        number_kind = sig.return_type.number_kind
        address = builder.bitcast(given.data, number_kind.register(REAL).as_pointer())
        length = builder.sdiv(given.nitems, INTEGER(number_kind.size))
        return _rows(builder, address, length, ir.Constant(INTEGER, -1))

    return generate


@intrinsic
def request_field(typing: Any, tables: Any, requests: Any, name: Any) -> Any:
    """Return the floating-point field ``name`` of a call's request records, in SIMD lanes with a value for each
    lane (mechanism). This is a Numba intrinsic, used in compiled code: it returns the signature and the function
    that emits the code. ``tables`` says the number of lanes, ``requests`` are the records, ``typing`` is Numba's
    typing context."""
    if not isinstance(name, types.StringLiteral):
        return None
    record = requests.dtype
    index, number_kind = record.offset(name.literal_value), tables.number_kind

    def generate(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        data = cgutils.create_struct_proxy(requests)(context, builder, arguments[1]).data
        first = builder.bitcast(data, ir.IntType(8).as_pointer())

        def number(lane: int) -> Any:
            own = builder.gep(first, [INTEGER(index + lane * record.size)], inbounds=True)
            return builder.load(builder.bitcast(own, REAL.as_pointer()))

        if number_kind == ONE:
            return number(0)
        found = ir.Constant(number_kind.register(REAL), ir.Undefined)
        for lane in range(number_kind.size):
            found = builder.insert_element(found, number(lane), INDEX(lane))
        return found

    return NUMBER.at(number_kind)(tables, requests, name), generate


PLACES = {table.name: place for place, table in enumerate(TABLES)}
FUNCTION_PLACES = {name: place for place, name in enumerate(FUNCTIONS, start=2 * len(TABLES))}


@infer_getattr
class _TableNames(AttributeTemplate):
    key = TablesType

    def generic_resolve(self, value: Any, name: str) -> Any:
        own, word = _offset_table(name)
        if own not in PLACES:
            return None
        table = TABLES[PLACES[own]]
        if table.kind is Kind.COUNT:
            return types.intp
        return RowsType(table.kind, _number_kind_of_table(value, table), are_lengths=word == "count")


def _offset_table(name: str) -> tuple[str, str]:
    """Return the name of the table that the attribute ``name`` reads, and a word. For ``parts_end`` and
    ``parts_count`` they are the table of offsets ``parts_begin`` and "end" or "count"; for other tables the name
    itself and an empty word."""
    parts, _, word = name.rpartition("_")
    is_of_offsets = name not in PLACES and word in ("end", "count")
    return (f"{parts}_begin", word) if is_of_offsets else (name, "")


def _number_kind_of_table(tables: TablesType, table: Table) -> NumberKind:
    """Return the kind of numbers in a ``table`` for compiled code: plain floats (``ONE``) if the table has the
    same values in all SIMD lanes, otherwise the kind of the ``tables``.

    Lanes share the integers of the model and the numbers of equal types of bodies; equal bodies of one mechanism
    share all. Dual numbers have no derivatives to the numbers of the model.
    """
    is_of_types = tables.shared == SAME_TYPES and table.size in OF_TYPES
    is_shared = is_of_types or table.kind is Kind.INTEGER or isinstance(tables.number_kind, Dual)
    is_shared |= tables.shared == SAME_SYSTEM
    return ONE if is_shared and table.writer is Writer.SYSTEM else tables.number_kind


def header_number(builder: Any, tables: Any, index: int) -> Any:
    """Emit LLVM code that reads the integer at ``index`` of the header of tables; returns the LLVM value. The load
    is marked as one whose value never changes, so that LLVM may read it once. A header is the array of a model's
    counts and addresses of tables. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    number = builder.load(builder.gep(tables, [ir.Constant(INTEGER, index)], inbounds=True))
    number.set_metadata("invariant.load", builder.module.add_metadata([]))
    return number


@lower_getattr_generic(TablesType)
def _table(context: Any, builder: Any, kind: Any, tables: Any, name: str) -> Any:
    name, word = _offset_table(name)
    rows = _rows_of_table(context, builder, kind, tables, name)
    return _emit_shift(builder, Kind.INTEGER, rows, INTEGER(1)) if word == "end" else rows


def _rows_of_table(context: Any, builder: Any, kind: Any, tables: Any, name: str) -> Any:
    index = PLACES[name]
    known = get_structure(kind.structure) if kind.structure and not CHECKED else None
    if known and TABLES[index].kind is Kind.COUNT:
        return INTEGER(known.counts[name])
    if known and name in known.integers:
        return _rows(builder, _constants(builder, name, known.integers[name]), None, ir.Constant(INTEGER, index))
    number = header_number(builder, tables, index)
    if TABLES[index].kind is Kind.COUNT:
        return number
    entry = INTEGER if TABLES[index].kind is Kind.INTEGER else REAL
    pointer = _number_kind_of_table(kind, TABLES[index]).register(entry).as_pointer()
    length = header_number(builder, tables, len(TABLES) + index) if CHECKED else None
    return _rows(builder, builder.inttoptr(number, pointer), length, ir.Constant(INTEGER, index))


def _constants(builder: Any, name: str, integers: Any) -> Any:
    """Return the LLVM value of the address of the first of some 64-bit ``integers``, which the program contains
    as constants under ``name``. They are added to the module if it has none of this name. ``builder`` is
    llvmlite's ``IRBuilder``, which writes the code."""
    known = builder.module.globals.get(f"constant {name}")
    if known is None:
        kind = ir.ArrayType(INTEGER, max(1, len(integers)))
        known = ir.GlobalVariable(builder.module, kind, f"constant {name}")
        known.global_constant, known.linkage = True, "internal"
        known.initializer = ir.Constant(kind, integers.tolist() or [0])
    return builder.bitcast(known, INTEGER.as_pointer())


class _RowsTyping(AbstractTemplate):
    def generic(self, arguments: Any, keywords: Any) -> Any:
        rows = arguments[0]
        if isinstance(rows, RowsType) and isinstance(arguments[1], types.Integer):
            return self.signature_of(rows)
        return None


@infer_global(operator.getitem)
class _RowsGet(_RowsTyping):
    def signature_of(self, rows: RowsType) -> Any:
        return signature(ENTRY[rows.kind].at(rows.number_kind), rows, types.intp)


@infer_global(operator.setitem)
class _RowsSet(_RowsTyping):
    def signature_of(self, rows: RowsType) -> Any:
        return signature(types.none, rows, types.intp, ENTRY[rows.kind].at(rows.number_kind))


@infer_global(operator.add)
class _RowsShift(_RowsTyping):
    def signature_of(self, rows: RowsType) -> Any:
        return signature(rows, rows, types.intp)


def _entry_addresses(context: Any, builder: Any, rows_type: RowsType, rows: Any, k: Any) -> list[Any]:
    """Return the LLVM values of the addresses of the components of entry k of the table ``rows``: three for a
    vector, nine for a matrix. ``rows_type`` is the table's type; emits the code for them, with a check of the
    index in checked builds. ``context`` is Numba's target context, ``builder`` llvmlite's ``IRBuilder``, which
    writes the code."""
    if CHECKED:
        length, table = builder.extract_value(rows, 1), builder.extract_value(rows, 2)
        is_beyond = builder.icmp_unsigned(">=", k, length)
        is_outside = builder.or_(is_beyond, builder.icmp_signed("<", length, ir.Constant(INTEGER, 1)))
        with builder.if_then(is_outside, likely=False):
            text = "phlexible: index %lld of %lld entries in table %lld\n"
            cgutils.printf(builder, text, k, length, table)
            context.call_conv.return_user_exc(builder, IndexError, ("index outside of a table of a kernel",))
    address = builder.extract_value(rows, 0)
    count = FLOATS[rows_type.kind]
    first = builder.mul(k, ir.Constant(INTEGER, count), flags=("nsw",)) if count > 1 else k
    return [
        builder.gep(address, [builder.add(first, ir.Constant(INTEGER, i), flags=("nsw",))], inbounds=True)
        for i in range(count)
    ]


@lower_builtin(operator.getitem, RowsType, types.intp)
def _get(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    rows, k = arguments
    addresses = _entry_addresses(context, builder, sig.args[0], rows, k)
    if sig.args[0].are_lengths:
        (end,) = _entry_addresses(context, builder, sig.args[0], rows, builder.add(k, INTEGER(1), flags=("nsw",)))
        return builder.sub(ONE.load(builder, end), ONE.load(builder, addresses[0]), flags=("nsw",))
    components = [kind_of(address.type.pointee).load(builder, address) for address in addresses]
    return pack(builder, components) if len(components) > 1 else components[0]


@lower_builtin(operator.setitem, RowsType, types.intp, types.Any)
def _set(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    addresses = _entry_addresses(context, builder, sig.args[0], *arguments[:2])
    components = unpack(builder, arguments[2], len(addresses)) if len(addresses) > 1 else [arguments[2]]
    for number, address in zip(components, addresses, strict=True):
        kind_of(address.type.pointee).store(builder, number, address)
    return context.get_dummy_value()


@lower_builtin(operator.add, RowsType, types.intp)
def _shift(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
    return _emit_shift(builder, sig.args[0].kind, *arguments)


def _emit_shift(builder: Any, kind: Kind, rows: Any, shift: Any) -> Any:
    """Emit LLVM code that advances the pointer to the entries of a table by ``shift`` entries; returns the LLVM
    value of the new pointer. ``kind`` is the kind of numbers of the entries. ``builder`` is llvmlite's
    ``IRBuilder``, which writes the code."""
    count = FLOATS[kind]
    step = builder.mul(shift, ir.Constant(INTEGER, count), flags=("nsw",)) if count > 1 else shift
    address = builder.gep(builder.extract_value(rows, 0), [step], inbounds=True)
    rows = builder.insert_value(rows, address, 0)
    if CHECKED:
        rows = builder.insert_value(rows, builder.sub(builder.extract_value(rows, 1), shift), 1)
    return rows
