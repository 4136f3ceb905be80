"""Types of numbers, truths and choices for each kind of numbers (``number_kinds.py``), and operations on them.

In lanes a number is a register of w, one of each of w mechanisms of one structure; counts, integers of the model
and branches on them are shared. What depends on the numbers is a truth of each lane, on which no branch is
possible: ``where(truth, a, b)`` chooses in each lane, ``any_of`` and ``all_of`` ask all of them. Of one mechanism,
and of dual numbers, these are a choice and the truth itself.
"""

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from llvmlite import binding
from numba import types
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast, models, register_model

from phlexible.step.compilation.number_kinds import BIT, INTEGER, ONE, REAL, NumberKind, Secant, kind_of


class NumberType(types.Type):
    """Type of a number that is not simply a float of one mechanism."""

    element = REAL
    taken: tuple[Any, ...] = types.Float, types.Integer  # what becomes one: the same in all lanes

    def __init__(self, number_kind: NumberKind) -> None:
        self.number_kind = number_kind
        super().__init__(f"{type(self).__name__}({number_kind})")

    def can_convert_from(self, context: Any, other: Any) -> Any:
        """Return the Numba conversion to this type from ``other``, a number that all SIMD lanes share, or to
        a secant number from its base number; None if there is none. A secant number is a value at the start
        of a time step, its change, and weights that reproduce the change. ``context`` is Numba's typing
        context."""
        own = self.number_kind
        is_base = isinstance(own, Secant) and getattr(other, "number_kind", None) == own.base
        return Conversion.safe if isinstance(other, self.taken) or is_base else None

    def unify(self, context: Any, other: Any) -> Any:
        """Return the Numba type of a variable that holds either a number of this type or one of type
        ``other`` that all SIMD lanes share: this type, or None. ``context`` is Numba's typing context."""
        return self if isinstance(other, self.taken) else None


class TruthType(NumberType):
    """Type of a truth value for each lane."""

    element = BIT
    taken = (types.Boolean,)


class ChoiceType(NumberType):
    """Type of an integer for each lane."""

    element = INTEGER
    taken = (types.Integer,)


@register_model(NumberType)
@register_model(TruthType)
@register_model(ChoiceType)
class _NumberModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, kind.number_kind.register(kind.element))


def lanes_of_processor() -> int:
    """Return the number of floats that one SIMD register of this machine holds: 2, 4 or 8."""
    features = binding.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") else 2


def common_kind(arguments: Sequence[Any]) -> NumberKind:
    """Return the kind of numbers (of one mechanism, SIMD lanes, dual, secant) that values of the Numba types
    ``arguments`` have in common."""
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
        """Return the Numba type of a value of this form (number, truth, vector, ...) for a kind of numbers."""
        is_shared = self.lanes is None or number_kind == ONE or (self.is_discrete and not number_kind.has_truths)
        return self.alone if is_shared or self.lanes is None else self.lanes(number_kind)


NUMBER = LaneForm(types.float64, NumberType, (NumberType, types.Float, types.Integer))
TRUTH = LaneForm(types.boolean, TruthType, (TruthType, types.Boolean), is_discrete=True)
WHOLE = LaneForm(types.intp, NumberType, NUMBER.taken, is_discrete=True)
"""What ``floor`` gives: an integer, in lanes as a number."""
CHOICE = LaneForm(types.intp, ChoiceType, (ChoiceType, types.Integer), is_discrete=True)


def have_forms(forms: Sequence[LaneForm], arguments: Sequence[Any]) -> bool:
    """Return whether values of the Numba types ``arguments`` have the given ``forms`` (number, truth, vector,
    ...), or can be converted to them."""
    return len(forms) == len(arguments) and all(
        isinstance(each, form.taken) and (type(each) is form.taken[0] or not isinstance(each, form.taken[0]))
        for form, each in zip(forms, arguments, strict=True)
    )


def implement(
    operation: Any, result: LaneForm, forms: tuple[LaneForm, ...], rule: Callable[..., Any], has_one: bool = False
) -> None:
    """Register with Numba the result type and the LLVM code of ``operation``, one of Python on numbers in SIMD
    lanes, dual numbers and the like. The function ``rule`` emits the code: it is called with Numba's context,
    llvmlite's builder and the LLVM values of the operands, and returns that of the result. ``result`` and
    ``forms`` are the forms of result and operands, values of one mechanism included if ``has_one``.

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
for _name, _sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="), ("eq", "=="), ("ne", "!=")):
    _ordered = "fcmp_unordered" if _name == "ne" else "fcmp_ordered"  # a NaN is other than itself
    implement(getattr(operator, _name), TRUTH, (NUMBER, NUMBER), _compared(_sign, _ordered))
    implement(getattr(operator, _name), TRUTH, (CHOICE, CHOICE), _compared(_sign, "icmp_signed"))
for _name, _both in (("and_", (operator.and_, operator.iand)), ("or_", (operator.or_, operator.ior))):
    for _operation in _both:
        implement(_operation, TRUTH, (TRUTH, TRUTH), lambda _, builder, a, b, n=_name: getattr(builder, n)(a, b))
implement(operator.not_, TRUTH, (TRUTH,), lambda context, builder, a: builder.not_(a))
implement(operator.neg, NUMBER, (NUMBER,), lambda context, builder, a: kind_of(a.type).negative(builder, a))


def _extreme_rule(sign: str) -> Callable[..., Any]:
    """Return a function that emits LLVM code for the maximum (sign ">") or minimum ("<") of several numbers, with
    Numba's rule for NaN. It takes Numba's context, llvmlite's builder and the LLVM values of the numbers, and
    returns the LLVM value of the result."""

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
