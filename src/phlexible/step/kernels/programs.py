"""Programs of the compiled step, one for each family of forces; models load those that they need.

A program is one entry point, compiled and cached as one (``step/programs.py``). It exports functions, which others
call by their addresses in the tables (``step/tables/functions.py``). If a model does not use a program the
addresses are zero, and calls of its functions do nothing. A program of dual numbers exports what the equations of a
step call: no energies, no Newton's matrix, no elimination.
"""

from types import FunctionType
from typing import Any

from phlexible.step.compilation.compiled import entry_point_for, exporting
from phlexible.step.kernels import contact, contact_steps, laws, ledger, segments, step, teams
from phlexible.step.kernels.families import MODULES, exported_kernels
from phlexible.step.kernels.lines import capstan, sliding
from phlexible.step.kernels.solver import conjugate_gradients, elimination
from phlexible.step.tables.functions import FAMILIES
from phlexible.step.tables.requests import DualHeader, IntegerRow

KERNELS = exported_kernels(
    *MODULES, conjugate_gradients, capstan, contact, contact_steps, elimination, laws, ledger
)
KERNELS |= exported_kernels(segments, sliding, step, teams)


def _exports(header: Any) -> None:
    exported_functions(header)  # type: ignore[name-defined]  # noqa: F821  # a global of each program


def _program(name: str, title: str, functions: tuple[str, ...], header: type) -> Any:
    """Return the entry point of one program of the compiled time step, which writes the addresses of its
    functions into a header that Python passes. A program is a family of forces, compiled and cached by
    itself; ``functions`` are the names that it exports, ``title`` is its docstring."""
    names = {"exported_functions": exporting([KERNELS[each] for each in functions])}
    function = FunctionType(_exports.__code__, {**globals(), **names})
    function.__doc__, function.__annotations__ = title, {"return": None}
    return entry_point_for(header, name, function)


for _family in FAMILIES:
    globals()[_family.name] = _program(_family.name, _family.title, _family.functions, IntegerRow)
    _dual = f"dual_{_family.name}"
    globals()[_dual] = _program(_dual, _family.title, _family.of_equations, DualHeader)
