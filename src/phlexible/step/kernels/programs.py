"""Programs of the compiled step, one for each family of forces; models load those that they need.

A program is one entry point, compiled and cached as one (``step/programs.py``). It exports functions, which others
call by their addresses in the tables (``step/tables/functions.py``). If a model does not use a program the
addresses are zero, and calls of its functions do nothing. A program of dual numbers exports what the equations of a
step call: no energies, no Newton's matrix, no elimination.
"""

from types import FunctionType
from typing import Any

from phlexible.step.compilation.compiled import entry_point, exporting
from phlexible.step.kernels import blocks, capstan, contact, contact_steps, laws, ledger, sliding, step, teams
from phlexible.step.kernels.families import MODULES, exported_kernels
from phlexible.step.kernels.solver import conjugate_gradients, elimination
from phlexible.step.tables.functions import FAMILIES, ForceFamily
from phlexible.step.tables.requests import IntegerRow

KERNELS = exported_kernels(
    *MODULES, conjugate_gradients, capstan, contact, contact_steps, elimination, laws, ledger
)
KERNELS |= exported_kernels(blocks, sliding, step, teams)


def _exports(header: Any) -> None:
    exported_functions(header)  # type: ignore[name-defined]  # noqa: F821  # a global of each program


def _program(family: ForceFamily) -> Any:
    """Return a compiled entry point, a function that Python calls, for one ``family`` of forces, such as rods or
    soft bodies. When called it writes the addresses of the family's compiled functions into a header array. Each
    family is compiled and cached separately."""
    functions = ([KERNELS[each] for each in names] for names in (family.functions, family.of_equations))
    names = {"exported_functions": exporting(*functions)}
    function = FunctionType(_exports.__code__, {**globals(), **names}, family.name)
    function.__doc__, function.__annotations__ = family.title, {"header": IntegerRow, "return": None}
    return entry_point(function)


globals().update({family.name: _program(family) for family in FAMILIES})
