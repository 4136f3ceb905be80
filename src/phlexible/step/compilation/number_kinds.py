"""Kinds of numbers that the kernels are compiled for: each is a class of rules in LLVM's terms.

The kernels are written once over numbers. These are those of one mechanism (``ONE``), of several mechanisms in the
lanes of a register (``Lanes``), or dual numbers (``Dual``): a value and its derivatives along several directions.
Of dual numbers truths and integers are those of the value, so that branches on them are possible. Secant numbers
(``Secant``), functions of three numbers of such a kind, have their change in the step and its discrete gradient.
"""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast, models, register_model

from phlexible.step.tables.memory import DUAL, LANES

REAL = ir.DoubleType()
INTEGER = ir.IntType(64)
BIT = ir.IntType(1)
INDEX = ir.IntType(32)
FLAGS = ("reassoc", "contract")
"""Sums may be reordered; NaN and infinities keep their meaning."""
ALIGNED = 8  # bytes: arrays that are given in lanes begin where numbers do


@dataclass(frozen=True)
class NumberKind:
    """Rules in LLVM's terms for numbers of one mechanism.

    Attributes:
        has_truths: a comparison gives a truth for each lane, on which no branch is possible.
        size: how many floats one number takes in memory.
    """

    has_truths: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """Number of floats that one number of this kind occupies in memory."""
        return 1

    def register(self, element: Any) -> Any:
        """Return the LLVM type of a register for numbers, booleans or integers of this kind, from the LLVM type
        ``element`` of a single one. It is ``element`` itself for plain floats, a vector for SIMD lanes, a structure
        for dual numbers.
        """
        return element

    def constant(self, builder: Any, value: Any) -> Any:
        """Emit LLVM code for a number that has this value in all SIMD lanes and no derivatives; returns the
        LLVM value. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        return value

    def value(self, builder: Any, x: Any) -> Any:
        """Return the LLVM value of a number x without derivatives, which comparisons read; emits code that
        extracts it. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        return x

    def arithmetic(self, builder: Any, name: str, a: Any, b: Any) -> Any:
        """Emit LLVM code for the sum, difference, product or quotient of two numbers a and b, where ``name``
        is LLVM's instruction such as "fadd"; returns the LLVM value. ``builder`` is llvmlite's ``IRBuilder``,
        which writes the code."""
        return getattr(builder, name)(a, b, flags=FLAGS)

    def negative(self, builder: Any, x: Any) -> Any:
        """Emit LLVM code for -x; returns the LLVM value. ``builder`` is llvmlite's ``IRBuilder``, which
        writes the code."""
        return builder.fneg(x)

    def selection(self, builder: Any, truth: Any, a: Any, b: Any) -> Any:
        """Emit LLVM code that selects the number a where a condition is true, else b; returns the LLVM value. In
        SIMD lanes each lane selects separately. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        return builder.select(truth, a, b)

    def larger(self, context: Any, builder: Any, sign: str, a: Any, b: Any) -> Any:
        """Emit LLVM code for the larger of two numbers a and b (sign ">") or the smaller ("<"); returns the LLVM
        value. If a or b is NaN, the result is a. ``context`` is Numba's target context, ``builder`` llvmlite's
        ``IRBuilder``, which writes the code."""
        truth = builder.fcmp_ordered(sign, self.value(builder, b), self.value(builder, a))
        return self.selection(builder, truth, b, a)

    def is_nonzero(self, builder: Any, x: Any) -> Any:
        """Emit LLVM code that tests whether a number x is not zero or has a derivative that is not zero; returns
        the LLVM value of the boolean. ``builder`` is llvmlite's ``IRBuilder``, which writes the code.
        """
        return builder.fcmp_unordered("!=", x, ir.Constant(x.type, None))

    def with_derivative(self, builder: Any, value: Any, derivative: Any, x: Any) -> Any:
        """Emit LLVM code that adds ``derivative`` times the derivatives of x to the derivatives of ``value``;
        returns the LLVM value. Numbers of this kind have no derivatives: ``value`` itself is returned. ``builder``
        is llvmlite's ``IRBuilder``, which writes the code."""
        return value

    def function(self, context: Any, builder: Any, function: Any, *values: Any) -> Any:
        """Emit an LLVM call of a mathematical function such as ``math.exp`` for numbers of this kind; returns
        the LLVM value of the result. ``context`` is Numba's target context, ``builder`` llvmlite's
        ``IRBuilder``, which writes the code."""
        kinds = (types.float64,) * (len(values) + 1)
        return context.get_function(function, signature(*kinds))(builder, values)

    def floor(self, builder: Any, x: Any) -> Any:
        """Emit LLVM code for the largest integer that is not greater than x; returns the LLVM value, an
        integer, in SIMD lanes a number. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        return builder.fptosi(emit_call(builder, "llvm.floor.f64", self.value(builder, x)), INTEGER)

    def load(self, builder: Any, address: Any) -> Any:
        """Emit LLVM code that reads a number from memory at an address; returns the LLVM value. ``builder``
        is llvmlite's ``IRBuilder``, which writes the code."""
        return mark_kind(builder, builder.load(address, align=ALIGNED), address)

    def store(self, builder: Any, number: Any, address: Any) -> None:
        """Emit LLVM code that stores a number in memory at an address. ``builder`` is llvmlite's
        ``IRBuilder``, which writes the code."""
        mark_kind(builder, builder.store(number, address, align=ALIGNED), address)


def mark_kind(builder: Any, access: Any, address: Any) -> Any:
    """Mark ``access``, an LLVM load or store, as one of an integer or of a float, and return it. So LLVM knows that
    storing a float changes no integer: it reads integers once in loops. ``address`` is the pointer that is read or
    written, ``builder`` llvmlite's ``IRBuilder``.
    """
    module, name = builder.module, str(getattr(address.type.pointee, "element", address.type.pointee))
    root = module.add_metadata([ir.MetaDataString(module, "phlexible")])
    own = module.add_metadata([ir.MetaDataString(module, name), root, INTEGER(0)])
    access.set_metadata("tbaa", module.add_metadata([own, own, INTEGER(0)]))
    return access


ONE = NumberKind()


@dataclass(frozen=True)
class Lanes(NumberKind):
    """Rules for one number of each of several mechanisms, in the lanes of a register.

    Attributes:
        count: of the lanes.
    """

    count: int
    has_truths: ClassVar[bool] = True

    @property
    def size(self) -> int:
        """Number of floats that one number in SIMD lanes occupies in memory, one for each lane (mechanism)."""
        return self.count

    def register(self, element: Any) -> Any:
        """Return the LLVM vector type with one entry of type ``element`` for each SIMD lane (mechanism)."""
        return ir.VectorType(element, self.count)

    def constant(self, builder: Any, value: Any) -> Any:
        """Emit LLVM code that puts one value into every SIMD lane of a register; returns the LLVM value.
        ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        register = ir.Constant(self.register(value.type), ir.Undefined)
        first = builder.insert_element(register, value, INDEX(0))
        return builder.shuffle_vector(first, register, ir.Constant(self.register(INDEX), [0] * self.count))

    def floor(self, builder: Any, x: Any) -> Any:
        """Emit LLVM code for the largest integer that is not greater than x, as a float in each SIMD lane;
        returns the LLVM value. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        return emit_call(builder, f"llvm.floor.v{self.count}f64", x)

    def function(self, context: Any, builder: Any, function: Any, *values: Any) -> Any:
        """Emit LLVM code for a mathematical function of numbers in SIMD lanes: one instruction for all lanes
        if there is one, otherwise a call for each lane; returns the LLVM value. ``context`` is Numba's target
        context, ``builder`` llvmlite's ``IRBuilder``, which writes the code."""
        if function in OF_PROCESSOR:
            return emit_instruction(builder, function, values[0], f"v{self.count}f64")
        found = ir.Constant(self.register(REAL), ir.Undefined)
        for lane in range(self.count):
            own = [builder.extract_element(value, INDEX(lane)) for value in values]
            number = ONE.function(context, builder, function, *own)
            found = builder.insert_element(found, number, INDEX(lane))
        return found


@dataclass(frozen=True)
class Dual(NumberKind):
    """Rules for values with their derivatives along several directions.

    A derivative that is zero whatever the numbers are is None while code is written, and takes no instructions.

    Attributes:
        directions: how many.
    """

    directions: int

    @property
    def size(self) -> int:
        """Number of floats that one dual number (value with derivatives) occupies in memory, with padding after
        the value."""
        return 2 * self.directions

    def register(self, element: Any) -> Any:
        """Return the LLVM type of a dual number (structure of a float and a vector of derivatives) if ``element``
        is a float. Booleans and integers have no derivatives: for their types ``element`` is returned.
        """
        return ir.LiteralStructType([REAL, self._derivatives]) if element == REAL else element

    @property
    def _derivatives(self) -> Any:
        return ir.VectorType(REAL, self.directions)

    def constant(self, builder: Any, value: Any) -> Any:
        """Emit LLVM code for a dual number with this value and zero derivatives; returns the LLVM value.
        ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        return self.pair(builder, value, None)

    def pair(self, builder: Any, value: Any, derivative: Any) -> Any:
        """Emit LLVM code that builds a dual number from its value and its vector of derivatives (None: all
        are zero); returns the LLVM value. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        found = builder.insert_value(ir.Constant(self.register(REAL), ir.Undefined), value, 0)
        found = builder.insert_value(found, self._filled(derivative), 1)
        found.known = value, derivative
        return found

    def parts(self, builder: Any, x: Any) -> Sequence[Any]:
        """Return the LLVM values of the value and of the vector of derivatives of a dual number x.
        Derivatives that are known to be zero are None; emits code that extracts the others. ``builder`` is
        llvmlite's ``IRBuilder``, which writes the code."""
        return getattr(x, "known", None) or tuple(builder.extract_value(x, i) for i in range(2))

    def value(self, builder: Any, x: Any) -> Any:
        """Return the LLVM value of a dual number x's value without its derivatives; emits code that extracts
        it. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        return self.parts(builder, x)[0]

    def arithmetic(self, builder: Any, name: str, a: Any, b: Any) -> Any:
        """Emit LLVM code for the sum, difference, product or quotient of two dual numbers a and b, with
        derivatives by the rules of differentiation; returns the LLVM value. ``name`` is LLVM's instruction
        such as "fadd". ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        (x, dx), (y, dy) = self.parts(builder, a), self.parts(builder, b)
        value = getattr(builder, name)(x, y, flags=FLAGS)
        if name == "fmul":
            derivative = self._sum(builder, self._scaled(builder, dx, y), self._scaled(builder, dy, x))
        elif name == "fdiv":
            derivative = self._sum(builder, dx, self._negative(builder, self._scaled(builder, dy, value)))
            if derivative is not None:
                derivative = builder.fdiv(derivative, self._spread(builder, y), flags=FLAGS)
        else:
            derivative = self._sum(builder, dx, self._negative(builder, dy) if name == "fsub" else dy)
        return self.pair(builder, value, derivative)

    def negative(self, builder: Any, x: Any) -> Any:
        """Emit LLVM code for the negative of a dual number x, value and derivatives; returns the LLVM value.
        ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        value, derivative = self.parts(builder, x)
        return self.pair(builder, builder.fneg(value), self._negative(builder, derivative))

    def selection(self, builder: Any, truth: Any, a: Any, b: Any) -> Any:
        """Emit LLVM code that selects the dual number a, its value and its derivatives, if the condition ``truth``
        is true, else b. Return the LLVM value. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        (x, dx), (y, dy) = self.parts(builder, a), self.parts(builder, b)
        derivative = None
        if dx is not None or dy is not None:
            derivative = builder.select(truth, self._filled(dx), self._filled(dy))
        return self.pair(builder, builder.select(truth, x, y), derivative)

    def is_nonzero(self, builder: Any, x: Any) -> Any:
        """Emit LLVM code that tests whether the value or any derivative of a dual number x is not zero; returns the
        LLVM value of the boolean. ``builder`` is llvmlite's ``IRBuilder``, which writes the code.

        A product that is left out loses its derivative too.
        """
        value, derivative = self.parts(builder, x)
        found = ONE.is_nonzero(builder, value)
        if derivative is None:
            return found
        return builder.or_(found, is_any(builder, ONE.is_nonzero(builder, derivative)))

    def with_derivative(self, builder: Any, value: Any, derivative: Any, x: Any) -> Any:
        """Emit LLVM code that adds ``derivative`` times the derivatives of x to the derivatives of ``value``;
        returns the LLVM value, a dual number. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        (own, before), (factor, _), (_, dx) = (self.parts(builder, each) for each in (value, derivative, x))
        return self.pair(builder, own, self._sum(builder, before, self._scaled(builder, dx, factor)))

    def function(self, context: Any, builder: Any, function: Any, *values: Any) -> Any:
        """Emit LLVM code for a mathematical ``function`` of dual numbers (values with derivatives), and return its
        LLVM value. Derivatives follow from the chain rule with the table of known derivatives; those that are zero
        are skipped. ``context`` is Numba's target context, ``builder`` llvmlite's ``IRBuilder``, which writes the
        code."""
        given = [self.parts(builder, each) for each in values]

        def of(name: Any, *numbers: Any) -> Any:
            if name in OF_PROCESSOR:
                return emit_instruction(builder, name, numbers[0], "f64")
            return ONE.function(context, builder, name, *numbers)

        numbers = [value for value, _ in given]
        value, terms = of(function, *numbers), []
        rules = zip(given, DERIVATIVES[function], strict=True)
        for (_, derivative), rule in rules:
            if derivative is not None:
                terms.append(self._scaled(builder, derivative, rule(builder, of, value, *numbers)))
        return self.pair(builder, value, self._sum(builder, *terms))

    def load(self, builder: Any, address: Any) -> Any:
        """Emit LLVM code that reads value and derivatives of a dual number from memory at an address; returns
        the LLVM value. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        own = (builder.load(each, align=ALIGNED) for each in self._addresses(builder, address))
        return self.pair(builder, *own)

    def store(self, builder: Any, number: Any, address: Any) -> None:
        """Emit LLVM code that stores value and derivatives of a dual number in memory. The address is a pair: that
        of the value, then that of the vector of derivatives (zeros if the number has none). ``builder`` is
        llvmlite's ``IRBuilder``, which writes the code."""
        value, derivative = self.parts(builder, number)
        for part, own in zip((value, self._filled(derivative)), self._addresses(builder, address), strict=True):
            builder.store(part, own, align=ALIGNED)

    def _addresses(self, builder: Any, address: Any) -> list[Any]:
        return [builder.gep(address, [INDEX(0), INDEX(part)], inbounds=True) for part in range(2)]

    def _filled(self, derivative: Any) -> Any:
        return ir.Constant(self._derivatives, None) if derivative is None else derivative

    def _spread(self, builder: Any, factor: Any) -> Any:
        return Lanes(self.directions).constant(builder, factor)

    def _scaled(self, builder: Any, derivative: Any, factor: Any) -> Any:
        return None if derivative is None else builder.fmul(derivative, self._spread(builder, factor), flags=FLAGS)

    def _negative(self, builder: Any, derivative: Any) -> Any:
        return None if derivative is None else builder.fneg(derivative)

    def _sum(self, builder: Any, *terms: Any) -> Any:
        found = None
        for each in terms:
            if each is not None:
                found = each if found is None else builder.fadd(found, each, flags=FLAGS)
        return found


@dataclass(frozen=True)
class Secant(NumberKind):
    """Rules for functions of three numbers w with their changes in a step.

    A number is its value at the start and four moves: its change, and the weights c of a discrete gradient, with c
    . delta(w) the change, without cancellation. A move that is zero whatever the numbers are is None while code is
    written. Where w does not change the weights are the gradient. A branch on the value has no secant where the
    ends of the step are on two sides of it: ``max``, ``min`` and ``abs`` have one.

    Attributes:
        base: kind of values and moves: that of one mechanism, or dual.
    """

    base: NumberKind = ONE

    def register(self, element: Any) -> Any:
        """Return the LLVM type of a secant number, if ``element`` is the type of a float: value at the start of a
        time step, its change, and three weights of a discrete gradient. For booleans and integers ``element`` is
        returned.
        """
        return ir.LiteralStructType([self.base.register(REAL)] * SECANT_PARTS) if element == REAL else element

    def constant(self, builder: Any, value: Any) -> Any:
        """Emit LLVM code for a secant number with this value that does not change in the time step; returns
        the LLVM value. A secant number is a value at the start of a time step, its change, and weights that
        reproduce the change. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        value = self.base.constant(builder, value) if value.type == REAL else value
        return self.number(builder, value, (None,) * (SECANT_PARTS - 1))

    def number(self, builder: Any, value: Any, moves: Sequence[Any]) -> Any:
        """Emit LLVM code that builds a secant number: the value of a number at the start of a time step, its
        change in the time step, and three weights that reproduce the change. ``moves`` are change and weights
        (None: zero); returns the LLVM value. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        found, zero = ir.Constant(self.register(REAL), ir.Undefined), self.base.constant(builder, REAL(0.0))
        for i, part in enumerate((value, *moves)):
            found = builder.insert_value(found, zero if part is None else part, i)
        found.known = value, moves
        return found

    def parts(self, builder: Any, x: Any) -> Any:
        """Return the LLVM value of a secant number x at the start of the time step, and a tuple of its four moves.
        These are its change in the step, and the weights of the changes of the three numbers it depends on. Parts
        already known while code is written are returned as they are, None for zero moves. Otherwise ``builder``,
        llvmlite's ``IRBuilder``, writes code that extracts them."""
        five = (builder.extract_value(x, i) for i in range(SECANT_PARTS))
        return getattr(x, "known", None) or (next(five), tuple(five))

    def value(self, builder: Any, x: Any) -> Any:
        """Return the LLVM value of a secant number x's value at the start of the time step, without
        derivatives; emits code that extracts it. A secant number is a value at the start of a time step, its
        change, and weights that reproduce the change. ``builder`` is llvmlite's ``IRBuilder``, which writes
        the code."""
        return self.base.value(builder, self.parts(builder, x)[0])

    def arithmetic(self, builder: Any, name: str, a: Any, b: Any) -> Any:
        """Emit LLVM code for the sum, difference, product or quotient of two secant numbers a and b; returns the
        LLVM value. A secant number is a value at the start of a time step, its change, and weights that reproduce
        the change. ``name`` is LLVM's instruction such as "fadd", ``builder`` llvmlite's ``IRBuilder``, which
        writes the code.

        Changes follow from means over the time step: d(x y) = y_m dx + x_m dy and d(x / y) = (y_m dx - x_m dy) /
        (y_0 y_1).
        """
        (x, dx), (y, dy) = self.parts(builder, a), self.parts(builder, b)
        value = self.base.arithmetic(builder, name, x, y)
        if name in ("fmul", "fdiv"):
            on_x, on_y = self._emit_between(builder, y, dy, 0.5), self._emit_between(builder, x, dx, 0.5)
            if name == "fdiv":
                square = self.base.arithmetic(builder, "fmul", y, self._emit_between(builder, y, dy, 1.0))
                on_x, on_y = (self.base.arithmetic(builder, "fdiv", each, square) for each in (on_x, on_y))
            dx, dy = self._scaled(builder, dx, on_x), self._scaled(builder, dy, on_y)
        return self.number(builder, value, self._sums(builder, name in ("fsub", "fdiv"), dx, dy))

    def negative(self, builder: Any, x: Any) -> Any:
        """Emit LLVM code for the negative of a secant number x; returns the LLVM value. A secant number is a
        value at the start of a time step, its change, and weights that reproduce the change. ``builder`` is
        llvmlite's ``IRBuilder``, which writes the code."""
        return self.arithmetic(builder, "fsub", self.constant(builder, REAL(0.0)), x)

    def selection(self, builder: Any, truth: Any, a: Any, b: Any) -> Any:
        """Raise NotImplementedError, since a choice between two secant numbers a and b by a ``truth`` has no
        exact change over a time step. A secant number is a value at the start of a time step, its change, and
        weights that reproduce the change. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
        raise NotImplementedError("a choice between secant numbers: take max, min or abs")

    def larger(self, context: Any, builder: Any, sign: str, a: Any, b: Any) -> Any:
        """Emit LLVM code for the larger (sign ">") or smaller ("<") of two secant numbers a and b; returns
        the LLVM value. Its change over the time step is that of (a + b +- |a - b|) / 2. A secant number is a
        value at the start of a time step, its change, and weights that reproduce the change. ``context`` is
        Numba's target context, ``builder`` llvmlite's ``IRBuilder``, which writes the code."""
        (x, dx), (y, dy) = self.parts(builder, a), self.parts(builder, b)
        size = self.function(context, builder, abs, self.arithmetic(builder, "fsub", a, b))
        twice = self._sums(builder, False, dx, dy)
        twice = self._sums(builder, sign == "<", twice, self.parts(builder, size)[1])
        half = self._scaled(builder, twice, self.base.constant(builder, REAL(0.5)))
        return self.number(builder, self.base.larger(context, builder, sign, x, y), half)

    def function(self, context: Any, builder: Any, function: Any, *values: Any) -> Any:
        """Emit LLVM code for the square root or absolute value of a secant number, the only one of ``values``. A
        secant number is a value at the start of a time step, its change, and weights that reproduce the change;
        the weights are scaled by the difference quotient of ``function``. Return the LLVM value. Other functions
        raise NotImplementedError. ``context`` is Numba's target context, ``builder`` llvmlite's ``IRBuilder``."""
        if function not in OF_PROCESSOR:
            raise NotImplementedError(f"secant of {function.__name__}")
        value, moves = self.parts(builder, values[0])
        end, add = self._emit_between(builder, value, moves, 1.0), partial(self.base.arithmetic, builder, "fadd")
        first, last = (self.base.function(context, builder, function, each) for each in (value, end))
        one, least = (self.base.constant(builder, REAL(each)) for each in (1.0, LEAST_SUM))
        both = self.base.larger(context, builder, ">", add(first, last), least)
        above = one if function is math.sqrt else add(value, end)
        factor = self.base.arithmetic(builder, "fdiv", above, both)
        return self.number(builder, first, self._scaled(builder, moves, factor))

    def _emit_between(self, builder: Any, value: Any, moves: Any, fraction: float) -> Any:
        """Emit LLVM code for the value of a secant number after a fraction ``fraction`` of the time step.
        ``moves`` are its change in the time step and its weights; returns the LLVM value. A secant number is
        a value at the start of a time step, its change, and weights that reproduce the change. ``builder`` is
        llvmlite's ``IRBuilder``, which writes the code."""
        if moves[0] is None:
            return value
        change = self.base.arithmetic(builder, "fmul", moves[0], self.base.constant(builder, REAL(fraction)))
        return self.base.arithmetic(builder, "fadd", value, change)

    def _scaled(self, builder: Any, moves: Any, factor: Any) -> Any:
        return [None if p is None else self.base.arithmetic(builder, "fmul", p, factor) for p in moves]

    def _sums(self, builder: Any, is_less: bool, first: Any, second: Any) -> Any:
        """Emit LLVM code for the sums, or differences if ``is_less``, of the components of two secant numbers, and
        return the list of LLVM values. ``first`` and ``second`` are the components of the numbers: the change in a
        time step and the discrete-gradient weights, without the value at the start. None is a component that is
        always zero. ``builder`` is llvmlite's ``IRBuilder``, which writes the code.
        """
        if is_less:
            second = [None if q is None else self.base.negative(builder, q) for q in second]
        add = partial(self.base.arithmetic, builder, "fadd")
        return [q if p is None else p if q is None else add(p, q) for p, q in zip(first, second, strict=True)]


SECANT_PARTS = 5
"""Value, change and three weights."""
LEAST_SUM = 1e-300
"""What the change of a root is divided by where it is zero at both ends of a step."""


def kind_of_word(word: str) -> NumberKind:
    """Return the kind of numbers (one mechanism, SIMD lanes, dual) that a word such as "lanes8" or "dual4" stands
    for. Such words are in the name of a header's field. A header is the array of a model's counts and addresses of
    tables."""
    if word.startswith(DUAL):
        return Dual(int(word.removeprefix(DUAL)))
    lanes = int(word.removeprefix(LANES))
    return Lanes(lanes) if lanes > 1 else ONE


def kind_of(register: Any) -> NumberKind:
    """Return the kind of numbers (one mechanism, SIMD lanes, dual, secant) whose registers have this LLVM type."""
    if isinstance(register, ir.VectorType):
        return Lanes(register.count)
    if not isinstance(register, ir.LiteralStructType):
        return ONE
    first, second = register.elements[:2]
    return Secant(kind_of(first)) if len(register.elements) == SECANT_PARTS else Dual(second.count)


def is_any(builder: Any, truth: Any) -> Any:
    """Emit LLVM code that tests whether a boolean ``truth`` is true in any SIMD lane; returns the LLVM value of the
    result. ``builder`` is llvmlite's ``IRBuilder``, which writes the code.
    """
    bits = builder.bitcast(truth, ir.IntType(truth.type.count))
    return builder.icmp_signed("!=", bits, bits.type(0))


OF_PROCESSOR = {abs: "fabs", math.sqrt: "sqrt"}
"""Functions that are instructions, by their names in LLVM."""


def emit_instruction(builder: Any, function: Any, x: Any, word: str) -> Any:
    """Emit the LLVM instruction for a square root or an absolute value (``function``) of numbers x. ``word``
    names their LLVM type, such as "v4f64"; returns the LLVM value. ``builder`` is llvmlite's ``IRBuilder``,
    which writes the code."""
    return emit_call(builder, f"llvm.{OF_PROCESSOR[function]}.{word}", x)


def emit_call(builder: Any, name: str, x: Any) -> Any:
    """Emit an LLVM call of the function with this name, whose argument x and result have the same type;
    returns the LLVM value of the result. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    return builder.call(
        cgutils.get_or_insert_function(builder.module, ir.FunctionType(x.type, [x.type]), name), [x]
    )


# Derivatives of functions to each argument: of the builder, functions of values, the value, and the arguments.


def _emit_quotient(builder: Any, a: Any, b: Any) -> Any:
    """Emit LLVM code for a / b, or zero where b is zero (as in the derivative of a square root at zero);
    returns the LLVM value. ``builder`` is llvmlite's ``IRBuilder``, which writes the code."""
    is_zero = builder.fcmp_ordered("==", b, REAL(0.0))
    return builder.select(is_zero, REAL(0.0), builder.fdiv(a, builder.select(is_zero, REAL(1.0), b), flags=FLAGS))


def _sign(builder: Any, of: Any, value: Any, x: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", x, REAL(0.0)), REAL(-1.0), REAL(1.0))


def _angle(sign: float, which: int) -> Callable[..., Any]:
    def rule(builder: Any, of: Any, value: Any, y: Any, x: Any) -> Any:
        square = builder.fadd(builder.fmul(x, x), builder.fmul(y, y))
        return builder.fmul(REAL(sign), _emit_quotient(builder, (x, y)[which], square))

    return rule


def _power_of_base(builder: Any, of: Any, value: Any, x: Any, p: Any) -> Any:
    return builder.fmul(p, of(operator.pow, x, builder.fsub(p, REAL(1.0))))


def _power_of_exponent(builder: Any, of: Any, value: Any, x: Any, p: Any) -> Any:
    return builder.fmul(of(math.log, x), value)


DERIVATIVES: dict[Any, tuple[Callable[..., Any], ...]] = {
    abs: (_sign,),
    math.sqrt: (lambda builder, of, value, x: _emit_quotient(builder, REAL(0.5), value),),
    math.exp: (lambda builder, of, value, x: value,),
    math.expm1: (lambda builder, of, value, x: builder.fadd(value, REAL(1.0)),),
    math.log: (lambda builder, of, value, x: builder.fdiv(REAL(1.0), x),),
    math.log1p: (lambda builder, of, value, x: builder.fdiv(REAL(1.0), builder.fadd(x, REAL(1.0))),),
    math.atan2: (_angle(1.0, 0), _angle(-1.0, 1)),
    operator.pow: (_power_of_base, _power_of_exponent),
}


# Types of numbers, truths and choices for each of these kinds, and operations on them.
#
# In lanes a number is a register of w, one of each of w mechanisms of one structure; counts, integers of the
# model and branches on them are shared. What depends on the numbers is a truth of each lane, on which no branch is
# possible: ``where(truth, a, b)`` chooses in each lane, ``any_of`` and ``all_of`` ask all of them. Of one
# mechanism, and of dual numbers, these are a choice and the truth itself.


class NumberType(types.Type):
    """Type of a number that is not simply a float of one mechanism."""

    element = REAL
    taken: tuple[Any, ...] = types.Float, types.Integer  # what becomes one: the same in all lanes

    def __init__(self, number_kind: NumberKind) -> None:
        self.number_kind = number_kind
        super().__init__(f"{type(self).__name__}({number_kind})")

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """Return the Numba conversion to this type from the type ``other``; None if there is none. Converted are
        numbers with one value for all SIMD lanes, and to a secant number its base number. A secant number is a
        value at the start of a time step, its change, and weights that reproduce the change. ``context`` is
        Numba's typing context."""
        own = self.number_kind
        is_base = isinstance(own, Secant) and getattr(other, "number_kind", None) == own.base
        return Conversion.safe if isinstance(other, self.taken) or is_base else None

    def unify(self, context: Any, other: Any) -> Any:
        """Return this type if a Numba variable may have numbers of this type and of the type ``other``, else None.
        It may if ``other`` has one value for all SIMD lanes. ``context`` is Numba's typing context."""
        return self if isinstance(other, self.taken) else None


class TruthType(NumberType):
    """Numba type of a boolean for each SIMD lane."""

    element = BIT
    taken = (types.Boolean,)


class ChoiceType(NumberType):
    """Numba type of an integer for each SIMD lane."""

    element = INTEGER
    taken = (types.Integer,)


@register_model(NumberType)
@register_model(TruthType)
@register_model(ChoiceType)
class _NumberModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.number_kind.register(kind.element))


def lanes_of_processor() -> int:
    """Return the number of floats that fit into one SIMD register of this machine's processor: 2, 4 or 8."""
    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") else 2


def common_kind(arguments: Sequence[Any]) -> NumberKind:
    """Return the kind of numbers that values of the Numba types ``arguments`` have in common. It is secant if any
    of the types is, otherwise the first kind that is not plain floats (SIMD lanes or dual), otherwise plain
    floats."""
    found = ONE
    for each in arguments:
        kind = common_kind(each.types) if isinstance(each, types.BaseTuple) else getattr(each, "number_kind", ONE)
        if found == ONE or isinstance(kind, Secant):
            found = kind
    return found


@lower_cast(types.Float, NumberType)
@lower_cast(types.Integer, NumberType)
def _number_in_lanes(context: Any, builder: Any, kind: Any, wanted: Any, value: Any) -> Any:
    return wanted.number_kind.constant(builder, context.cast(builder, value, kind, types.float64))


@lower_cast(NumberType, NumberType)
def _number_without_change(context: Any, builder: Any, kind: Any, wanted: Any, value: Any) -> Any:
    return wanted.number_kind.constant(builder, value)


@lower_cast(types.Boolean, TruthType)
def _truth_in_lanes(context: Any, builder: Any, kind: Any, wanted: Any, value: Any) -> Any:
    return wanted.number_kind.constant(builder, value)


@lower_cast(types.Integer, ChoiceType)
def _choice_in_lanes(context: Any, builder: Any, kind: Any, wanted: Any, value: Any) -> Any:
    return wanted.number_kind.constant(builder, context.cast(builder, value, kind, types.intp))


@lower_cast(ChoiceType, NumberType)
def _number_of_choice(context: Any, builder: Any, kind: Any, wanted: Any, value: Any) -> Any:
    return builder.sitofp(value, wanted.number_kind.register(REAL))


@dataclass(frozen=True, eq=False)
class LaneForm:
    """Form of a value that an annotation declares, for any kind of numbers.

    Attributes:
        alone: its type for one mechanism.
        lanes: kind of numbers -> its type; None: it is always that of one mechanism.
        taken: classes of types that have this form, or convert to it.
        is_discrete: a truth or an integer, which only lanes have several of.
    """

    alone: Any
    lanes: Callable[[NumberKind], Any] | None = None
    taken: tuple[type, ...] = ()
    is_discrete: bool = False

    def at(self, number_kind: NumberKind) -> Any:
        """Return the Numba type of a value of this form (number, boolean, vector, ...) for a kind of numbers (plain
        floats, SIMD lanes, dual). Values that are equal in all lanes have the type of one mechanism; so have
        booleans and integers of dual numbers.
        """
        is_shared = self.lanes is None or number_kind == ONE or (self.is_discrete and not number_kind.has_truths)
        return self.alone if is_shared or self.lanes is None else self.lanes(number_kind)


NUMBER = LaneForm(types.float64, NumberType, (NumberType, types.Float, types.Integer))
TRUTH = LaneForm(types.boolean, TruthType, (TruthType, types.Boolean), is_discrete=True)
WHOLE = LaneForm(types.intp, NumberType, NUMBER.taken, is_discrete=True)
"""What ``floor`` gives: an integer, in lanes as a number."""
CHOICE = LaneForm(types.intp, ChoiceType, (ChoiceType, types.Integer), is_discrete=True)


def have_forms(forms: Sequence[LaneForm], arguments: Sequence[Any]) -> bool:
    """Return whether values of the Numba types ``arguments`` have the given ``forms`` (number, boolean, vector,
    ...), or can be converted to them.
    """
    return len(forms) == len(arguments) and all(
        isinstance(each, form.taken) and (type(each) is form.taken[0] or not isinstance(each, form.taken[0]))
        for form, each in zip(forms, arguments, strict=True)
    )


def implement(
    operation: Any, result: LaneForm, forms: tuple[LaneForm, ...], rule: Callable[..., Any], has_one: bool = False
) -> None:
    """Register with Numba the result type and the LLVM code of a Python function or operator for kinds of numbers
    that Numba does not know. They are numbers in SIMD lanes, dual numbers and the like; plain floats are included
    if ``has_one``. ``rule`` emits the code of ``operation`` from Numba's context, llvmlite's builder and the LLVM
    values of the operands. ``forms`` and ``result`` are the type rules of operands and result: number, vector, and
    so on.

    Args:
        operation: of Python.
        result: form of its result.
        forms: of its operands.
        rule: of Numba's context, the builder and the registers.
        has_one: whether it is for values of one mechanism too, which Numba does not know.
    """

    @infer_global(operation)
    class _Typing(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            number_kind = common_kind(arguments)
            if not have_forms(forms, arguments) or (number_kind == ONE and not has_one):
                return None
            return signature(result.at(number_kind), *(form.at(number_kind) for form in forms))

    def _lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return rule(context, builder, *arguments)

    for number in (NumberType, types.Float) if has_one and NUMBER in forms else (NumberType,):
        lower_builtin(operation, *(number if form is NUMBER else form.taken[0] for form in forms))(_lower)


def _arithmetic(name: str) -> Callable[..., Any]:
    return lambda context, builder, a, b: kind_of(a.type).arithmetic(builder, name, a, b)


def _compared(sign: str, name: str) -> Callable[..., Any]:
    def rule(context: Any, builder: Any, a: Any, b: Any) -> Any:
        return getattr(builder, name)(sign, *(kind_of(x.type).value(builder, x) for x in (a, b)))

    return rule


for _name, _instruction in (("add", "fadd"), ("sub", "fsub"), ("mul", "fmul"), ("truediv", "fdiv")):
    for _prefix in ("", "i"):
        implement(getattr(operator, _prefix + _name), NUMBER, (NUMBER, NUMBER), _arithmetic(_instruction))
for _name, _comparison in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
    _ordered = "fcmp_unordered" if _name == "ne" else "fcmp_ordered"  # a NaN is other than itself
    implement(getattr(operator, _name), TRUTH, (NUMBER, NUMBER), _compared(_comparison, _ordered))
    implement(getattr(operator, _name), TRUTH, (CHOICE, CHOICE), _compared(_comparison, "icmp_signed"))
for _name, _both in (("and_", (operator.and_, operator.iand)), ("or_", (operator.or_, operator.ior))):
    for _operation in _both:
        implement(_operation, TRUTH, (TRUTH, TRUTH), lambda _, builder, a, b, n=_name: getattr(builder, n)(a, b))
implement(operator.not_, TRUTH, (TRUTH,), lambda context, builder, a: builder.not_(a))
implement(operator.neg, NUMBER, (NUMBER,), lambda context, builder, a: kind_of(a.type).negative(builder, a))


def _extreme_rule(sign: str) -> Callable[..., Any]:
    """Return a function that emits LLVM code for the maximum (sign ">") or minimum ("<") of several numbers. It
    takes Numba's context, llvmlite's builder and the LLVM values of the numbers, and returns the LLVM value of the
    result. Comparisons with NaN are false, so that the number before NaN stays."""

    def rule(context: Any, builder: Any, first: Any, *others: Any) -> Any:
        for value in others:
            first = kind_of(first.type).larger(context, builder, sign, first, value)
        return first

    return rule


for _count in (2, 3):
    implement(max, NUMBER, (NUMBER,) * _count, _extreme_rule(">"))
    implement(min, NUMBER, (NUMBER,) * _count, _extreme_rule("<"))


def _of_library(function: Any) -> Callable[..., Any]:
    return lambda context, builder, *values: kind_of(values[0].type).function(context, builder, function, *values)


for _function in (abs, math.sqrt, math.exp, math.expm1, math.log, math.log1p):
    implement(_function, NUMBER, (NUMBER,), _of_library(_function))
implement(math.floor, WHOLE, (NUMBER,), lambda context, builder, x: kind_of(x.type).floor(builder, x))
for _of_two in (math.atan2, operator.pow):
    implement(_of_two, NUMBER, (NUMBER, NUMBER), _of_library(_of_two))
