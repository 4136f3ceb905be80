"""Numbers of several mechanisms at once: what a number, a truth and a choice are where kernels run in lanes.

The kernels are compiled for w mechanisms of one structure from the source that is compiled for one. A number is
then a register of w, one of each mechanism (a lane); counts, integers of the model and branches on them are shared.
What depends on the numbers is a truth of each lane, on which no branch is possible: ``where(truth, a, b)`` chooses
in each lane, ``any_of`` and ``all_of`` ask all of them. Of one mechanism these are a choice and the truth itself.
"""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast, models, register_model

REAL = ir.DoubleType()
INTEGER = ir.IntType(64)
BIT = ir.IntType(1)
INDEX = ir.IntType(32)
FLAGS = ("reassoc", "contract")
"""Sums may be reordered; NaN and infinities keep their meaning."""


class LanesType(types.Type):
    """A number of each lane."""

    element = REAL
    taken: tuple[Any, ...] = types.Float, types.Integer  # what becomes one: the same in all lanes

    def __init__(self, width: int) -> None:
        self.width = width
        super().__init__(f"{type(self).__name__}({width})")

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """Numbers that lanes share are numbers of each."""
        return Conversion.safe if isinstance(other, self.taken) else None

    def unify(self, context: Any, other: Any) -> Any:
        """Variables that are one or the other are of each lane."""
        return self if isinstance(other, self.taken) else None


class TruthType(LanesType):
    """A truth of each lane."""

    element = BIT
    taken = (types.Boolean,)


class ChoiceType(LanesType):
    """An integer of each lane."""

    element = INTEGER
    taken = (types.Integer,)


@register_model(LanesType)
@register_model(TruthType)
@register_model(ChoiceType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.VectorType(kind.element, kind.width))


def lanes_of_processor() -> int:
    """How many numbers a register of this machine holds, as LLVM tells its features."""
    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") else 2


def width_of(given: Sequence[Any]) -> int:
    """In how many lanes values of these types are together."""
    return max((getattr(each, "width", 1) for each in given), default=1)


def spread(builder: Any, value: Any, width: int) -> Any:
    """The same value in each lane."""
    register = ir.Constant(ir.VectorType(value.type, width), ir.Undefined)
    first = builder.insert_element(register, value, INDEX(0))
    return builder.shuffle_vector(first, register, ir.Constant(ir.VectorType(INDEX, width), [0] * width))


def by_lane(builder: Any, operation: Callable[..., Any], *values: Any) -> Any:
    """What a function of single numbers gives in each lane; of one mechanism its value."""
    if not isinstance(values[0].type, ir.VectorType):
        return operation(*values)
    found = None
    for lane in range(values[0].type.count):
        own = operation(*(builder.extract_element(value, INDEX(lane)) for value in values))
        if found is None:
            found = ir.Constant(ir.VectorType(own.type, values[0].type.count), ir.Undefined)
        found = builder.insert_element(found, own, INDEX(lane))
    return found


@lower_cast(types.Float, LanesType)
@lower_cast(types.Integer, LanesType)
def _number_in_lanes(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return spread(builder, context.cast(builder, value, given, types.float64), wanted.width)


@lower_cast(types.Boolean, TruthType)
def _truth_in_lanes(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return spread(builder, value, wanted.width)


@lower_cast(types.Integer, ChoiceType)
def _choice_in_lanes(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return spread(builder, context.cast(builder, value, given, types.intp), wanted.width)


@lower_cast(ChoiceType, LanesType)
def _number_of_choice(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return builder.sitofp(value, ir.VectorType(REAL, wanted.width))


@dataclass(frozen=True, eq=False)
class LaneForm:
    """What an annotation says of a value, for any number of lanes.

    Attributes:
        alone: its type for one mechanism.
        lanes: width -> its type in lanes; None: lanes share it.
        taken: classes of types that are it, or become it.
    """

    alone: Any
    lanes: Callable[[int], Any] | None = None
    taken: tuple[type, ...] = ()

    def at(self, width: int) -> Any:
        """The type in so many lanes."""
        return self.alone if width == 1 or self.lanes is None else self.lanes(width)


NUMBER = LaneForm(types.float64, LanesType, (LanesType, types.Float, types.Integer))
TRUTH = LaneForm(types.boolean, TruthType, (TruthType, types.Boolean))
CHOICE = LaneForm(types.intp, ChoiceType, (ChoiceType, types.Integer))


def are(forms: Sequence[LaneForm], given: Sequence[Any]) -> bool:
    """Whether values of these types are of those forms, or become them."""
    if len(forms) != len(given):
        return False
    return all(
        isinstance(each, form.taken) and not (form is NUMBER and isinstance(each, TruthType | ChoiceType))
        for form, each in zip(forms, given, strict=True)
    )


def in_lanes(operation: Any, result: LaneForm, forms: tuple[LaneForm, ...], rule: Callable[..., Any]) -> None:
    """Typing and lowering of an operation on values of which at least one is of each lane.

    Args:
        operation: of Python.
        result: of it.
        forms: of its operands.
        rule: of Numba's context, the builder and the registers.
    """

    @infer_global(operation)
    class _Typing(AbstractTemplate):
        def generic(self, arguments: Any, keywords: Any) -> Any:
            width = width_of(arguments)
            if width == 1 or not are(forms, arguments):
                return None
            return signature(result.at(width), *(form.at(width) for form in forms))

    @lower_builtin(operation, *(form.lanes for form in forms))
    def _lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return rule(context, builder, *arguments)


def _flagged(name: str) -> Callable[..., Any]:
    return lambda context, builder, a, b: getattr(builder, name)(a, b, flags=FLAGS)


def _compared(sign: str, name: str) -> Callable[..., Any]:
    return lambda context, builder, a, b: getattr(builder, name)(sign, a, b)


for _name, _instruction in (("add", "fadd"), ("sub", "fsub"), ("mul", "fmul"), ("truediv", "fdiv")):
    for _prefix in ("", "i"):
        in_lanes(getattr(operator, _prefix + _name), NUMBER, (NUMBER, NUMBER), _flagged(_instruction))
for _name, _sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
    _ordered = "fcmp_unordered" if _name == "ne" else "fcmp_ordered"  # a NaN is other than itself
    in_lanes(getattr(operator, _name), TRUTH, (NUMBER, NUMBER), _compared(_sign, _ordered))
    in_lanes(getattr(operator, _name), TRUTH, (CHOICE, CHOICE), _compared(_sign, "icmp_signed"))
for _name in ("and_", "or_"):
    for _prefix in ("", "i"):
        _operation = getattr(operator, _prefix + _name.rstrip("_") if _prefix else _name)
        in_lanes(
            _operation, TRUTH, (TRUTH, TRUTH), lambda context, builder, a, b, n=_name: getattr(builder, n)(a, b)
        )
in_lanes(operator.not_, TRUTH, (TRUTH,), lambda context, builder, a: builder.not_(a))
in_lanes(operator.neg, NUMBER, (NUMBER,), lambda context, builder, a: builder.fneg(a))


def _greater(sign: str) -> Callable[..., Any]:
    """As Numba has it for single numbers: of a NaN and a number the first."""

    def rule(context: Any, builder: Any, first: Any, *others: Any) -> Any:
        for value in others:
            first = builder.select(builder.fcmp_ordered(sign, value, first), value, first)
        return first

    return rule


for _count in (2, 3):
    in_lanes(max, NUMBER, (NUMBER,) * _count, _greater(">"))
    in_lanes(min, NUMBER, (NUMBER,) * _count, _greater("<"))


def _of_processor(name: str) -> Callable[..., Any]:
    """An instruction for all lanes."""

    def rule(context: Any, builder: Any, x: Any) -> Any:
        kind = ir.FunctionType(x.type, [x.type])
        found = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{x.type.count}f64")
        return builder.call(found, [x])

    return rule


def _of_library(function: Any) -> Callable[..., Any]:
    """A function of single numbers, lane by lane."""

    def rule(context: Any, builder: Any, *values: Any) -> Any:
        kinds = (types.float64,) * (len(values) + 1)
        single = context.get_function(function, signature(*kinds))
        return by_lane(builder, lambda *own: single(builder, own), *values)

    return rule


in_lanes(abs, NUMBER, (NUMBER,), _of_processor("fabs"))
in_lanes(math.sqrt, NUMBER, (NUMBER,), _of_processor("sqrt"))
in_lanes(math.floor, NUMBER, (NUMBER,), _of_processor("floor"))
for _function in (math.exp, math.expm1, math.log, math.log1p):
    in_lanes(_function, NUMBER, (NUMBER,), _of_library(_function))
for _of_two in (math.atan2, operator.pow):
    in_lanes(_of_two, NUMBER, (NUMBER, NUMBER), _of_library(_of_two))
