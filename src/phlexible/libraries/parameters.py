"""Parameters of a library: numbers of the model that can be set without Python."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from phlexible.algebra.arrays import finite, text
from phlexible.errors import ParameterError
from phlexible.libraries.c_text import array_of, integers, quoted, real, reals
from phlexible.libraries.parameter_functions import ParameterFunctions, Range

WHAT = ("low end", "value", "high end")


@dataclass(frozen=True)
class ParameterRange(Range):
    """Range of a parameter as the user gave it; ``unit`` may be empty."""

    unit: str = ""


@dataclass(frozen=True, eq=False)
class ParameterData:
    """Parameters of a library, and the numbers that follow from them.

    Attributes:
        ranges: of each.
        functions: numbers that follow from them.
        tunable: whether each may change between steps.
    """

    ranges: tuple[ParameterRange, ...]
    functions: ParameterFunctions
    tunable: tuple[bool, ...]

    @property
    def message(self) -> str:
        """Return a message about the accuracy of the numbers of a model that follow from parameters."""
        names = ", ".join(each.name for each in self.ranges)
        return (
            f"parameters {names}: {len(self.functions.indices)} numbers of the model follow, off by at most"
            f" {self.functions.error:.1e} of their size where that was tried"
        )


def parameters_in_c(data: ParameterData | None) -> Iterable[str]:
    """Yield the lines of C source that describe the parameters of a library and how numbers follow from them
    (``data``); None: no parameters."""
    yield f"#define PH_PARAMETERS {0 if data is None else len(data.ranges)}"
    yield "typedef struct ph_parameter {"
    yield "    const char *name, *unit; double low, usual, high; int is_tunable;"
    yield "} ph_parameter;"
    if data is None:
        yield "#define PH_PRODUCTS 0"
        yield array_of("ph_parameter", "ph_parameters", [], "{0}")
        return
    functions = data.functions
    rows = [
        f"{{{quoted(own.name)}, {quoted(own.unit)}, {real(own.low)}, {real(own.usual)}, {real(own.high)},"
        f" {int(is_tunable)}}}"
        for own, is_tunable in zip(data.ranges, data.tunable, strict=True)
    ]
    yield array_of("ph_parameter", "ph_parameters", rows, "{0}")
    yield f"#define PH_FACTORS {len(functions.basis)}"
    yield f"#define PH_TERMS {len(functions.terms)}"
    yield "#define PH_PRODUCTS (PH_FACTORS + PH_TERMS)"
    yield f"#define PH_CHANGED {len(functions.indices)}"
    yield "typedef struct ph_factor { int parameter; double size, exponent, phase; } ph_factor;"
    rows = [
        f"{{{k}, {real(own.size or data.ranges[k].size)}, {real(own.exponent)}, {real(own.phase)}}}"
        for k, own in functions.basis
    ]
    yield array_of("ph_factor", "ph_factors", rows, "{0, 0.0, 0.0, 0.0}")
    for name, array in functions.arrays():
        is_whole = array.dtype.kind == "i"
        yield integers(f"ph_{name}", array.tolist(), "int32_t") if is_whole else reals(f"ph_{name}", array)


def ranges_of(user_ranges: Mapping[str, Sequence[object]]) -> tuple[ParameterRange, ...]:
    """Return the ranges of parameters from the user's dictionary of (low, value, high) or (low, value, high, unit),
    after checking them.

    Raises:
        ParameterError: no (low, value, high), or (low, value, high, unit), by name.
    """
    words = "parameters must be (low, value, high), or (low, value, high, unit), by name"
    if not isinstance(user_ranges, Mapping) or not user_ranges:
        raise ParameterError(f"{words}, such as {{'stiffness': (10.0, 20.0, 40.0, 'N/m')}}, got {user_ranges!r}")
    found = []
    for key, values in user_ranges.items():
        name = text("parameter", key)
        if not isinstance(values, list | tuple) or len(values) not in (3, 4):
            raise ParameterError(f"{words}; got {values!r} for {name}")
        low, usual, high = (finite(f"{what} of {name}", x) for what, x in zip(WHAT, values, strict=False))
        if not low <= usual <= high or not low < high:
            raise ParameterError(f"{words}, in this order; got {values!r} for {name}")
        unit = values[3] if len(values) == 4 else ""
        if not isinstance(unit, str):
            raise ParameterError(f"the unit of {name} must be a text such as 'N/m', got {unit!r}")
        found.append(ParameterRange(name, low, usual, high, unit))
    return tuple(found)
