"""Equal bodies of one mechanism in lanes: how kernels come from its tables to those of a team, and back.

A team is up to ``ABREAST`` bodies of one type. Its tables are those of a mechanism of lanes (``lanes.py``), which
share all that the system writes, so that kernels of bodies are compiled for it from the source that they have.
Numbers go between its lanes and the tables of the mechanism, where each body has a place of its own.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core.typing.templates import signature

from phlexible.step.compilation.lanes import NUMBER, LaneForm
from phlexible.step.compilation.notation import (
    FORMS,
    PLACES,
    Integers,
    Number,
    Reals,
    RowsType,
    Tables,
    TablesType,
    Written,
    header_number,
)
from phlexible.step.compilation.number_kinds import ALIGNED, INDEX, INTEGER, ONE, REAL, Lanes, NumberKind
from phlexible.step.tables.declarations import ABREAST, Kind

TEAM = Lanes(ABREAST)
LANES_OF_TEAM = TEAM.register(REAL)


class WrittenAsGiven(Written):
    """A function of values of whatever lanes they have, with a result of a type that follows from theirs."""

    def __init__(
        self,
        function: Callable[..., Any],
        forms: tuple[LaneForm, ...],
        result: Callable[[Sequence[Any]], Any],
        lower: Callable[..., Any],
    ) -> None:
        self._result_of = result
        super().__init__(function, NUMBER, forms, lower)

    def signature_of(self, given: Sequence[Any]) -> Any:
        """As it is called; integers are shared."""
        own = (form.alone if form is FORMS[int] else each for form, each in zip(self.forms, given, strict=True))
        return signature(self._result_of(given), *own)


def _given(result: Callable[[Sequence[Any]], Any], *forms: LaneForm) -> Callable[[Callable[..., Any]], Any]:
    """Make a function of the builder, types and values one that kernels can call."""

    def made_of(rule: Callable[..., Any]) -> Any:
        return WrittenAsGiven(
            rule, forms, result, lambda context, builder, sig, values: rule(builder, sig.args, *values)
        )

    return made_of


def _address(builder: Any, rows: Any) -> Any:
    return builder.extract_value(rows, 0)


@_given(lambda given: FORMS[bool].alone, FORMS[Tables], FORMS[int])
def is_alone(builder: Any, kinds: Any, tables: Any, b: Any) -> Any:
    """Whether frame b is in no team now; in lanes, of dual numbers, and in programs for one structure, none is."""
    if kinds[0].numbers != ONE or kinds[0].structure:
        return ir.Constant(ir.IntType(1), 1)
    address = builder.inttoptr(header_number(builder, tables, PLACES["in_team"]), INTEGER.as_pointer())
    return builder.icmp_signed("==", builder.load(builder.gep(address, [b], inbounds=True)), INTEGER(0))


@_given(lambda given: FORMS[int].alone, FORMS[Tables])
def visits_of_teams(builder: Any, kinds: Any, tables: Any) -> Any:
    """How many visits of the elimination are those of bodies in teams now, which come first."""
    if kinds[0].numbers != ONE or kinds[0].structure:
        return INTEGER(0)
    address = builder.inttoptr(header_number(builder, tables, PLACES["team"]), INTEGER.as_pointer())
    return builder.load(builder.gep(address, [INTEGER(1)], inbounds=True))


@_given(lambda given: TablesType(TEAM, "", True), FORMS[Tables], FORMS[int])
def tables_of_teams(builder: Any, kinds: Any, tables: Any, address: Any) -> Any:
    """The tables of the teams, whose header is at that address."""
    return builder.inttoptr(address, INTEGER.as_pointer())


def _reals(numbers: NumberKind) -> RowsType:
    return RowsType(Kind.REAL, numbers)


def _same_address(builder: Any, rows: Any, kind: Any) -> Any:
    members = _members(builder, rows, kind)
    result = ir.Constant(ir.LiteralStructType([member.type for member in members]), ir.Undefined)
    for i, member in enumerate(members):
        result = builder.insert_value(result, member, i)
    return result


def _members(builder: Any, rows: Any, kind: Any) -> list[Any]:
    """Of rows of numbers at the same address; the checked build does not know how many they are."""
    address = builder.bitcast(_address(builder, rows), kind.as_pointer())
    checks = len(rows.type.elements) > 1
    return [address, INTEGER(2**62), INTEGER(-1)] if checks else [address]


@_given(lambda given: _reals(given[0].numbers), FORMS[Reals])
def reals_of(builder: Any, kinds: Any, rows: Any) -> Any:
    """Rows of vectors or matrices as rows of their numbers."""
    return _same_address(builder, rows, kinds[0].numbers.register(REAL))


@_given(lambda given: _reals(ONE), FORMS[Reals])
def single_numbers(builder: Any, kinds: Any, rows: Any) -> Any:
    """Rows of lanes as single numbers: that of lane l of entry k is the one of number ``ABREAST`` k + l."""
    return _same_address(builder, rows, REAL)


def _entries(builder: Any, rows: Any, places: Any, k: Any) -> list[Any]:
    """Addresses of the numbers k after the place of each lane."""
    own, given = _address(builder, rows), _address(builder, places)
    found = []
    for lane in range(ABREAST):
        place = builder.load(builder.gep(given, [INTEGER(lane)], inbounds=True))
        found.append(builder.gep(own, [builder.add(place, k)], inbounds=True))
    return found


@_given(lambda given: NUMBER.at(TEAM), FORMS[Reals], FORMS[Integers], FORMS[int])
def gathered(builder: Any, kinds: Any, rows: Any, places: Any, k: Any) -> Any:
    """The numbers k after the place of each lane in rows of single numbers."""
    found = ir.Constant(LANES_OF_TEAM, ir.Undefined)
    for lane, address in enumerate(_entries(builder, rows, places, k)):
        found = builder.insert_element(found, builder.load(address, align=ALIGNED), INDEX(lane))
    return found


@_given(lambda given: FORMS[None].alone, FORMS[Reals], FORMS[Integers], FORMS[int], FORMS[Number])
def scattered(builder: Any, kinds: Any, rows: Any, places: Any, k: Any, value: Any) -> Any:
    """Put a number of each lane k after its place in rows of single numbers."""
    for lane, address in enumerate(_entries(builder, rows, places, k)):
        builder.store(builder.extract_element(value, INDEX(lane)), address, align=ALIGNED)
    return ir.Constant(ir.IntType(8).as_pointer(), None)


@_given(lambda given: FORMS[float].alone, FORMS[Number], FORMS[int])
def sum_of_lanes(builder: Any, kinds: Any, value: Any, count: Any) -> Any:
    """Of the first ``count`` lanes, one after the other."""
    total = REAL(0.0)
    for lane in range(ABREAST):
        own = builder.select(
            builder.icmp_signed("<", INTEGER(lane), count), builder.extract_element(value, INDEX(lane)), REAL(0.0)
        )
        total = builder.fadd(total, own)
    return total
