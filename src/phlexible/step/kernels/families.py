"""Calls of all families of forces, one for each role that a family has in a step (``step/tables/functions.py``)."""

from types import ModuleType
from typing import Any

from phlexible.step.compilation.compiled import Exported, ForFamilies
from phlexible.step.compilation.notation import Number
from phlexible.step.kernels import laws_of_functions, loads, products, rods, soft
from phlexible.step.kernels.many import contacts_among_many, pairs_in_matrix


def exported_kernels(*modules: ModuleType) -> dict[str, Exported]:
    """Return the exported kernels of Python modules by name. These are compiled functions that other programs call
    by their address."""
    return {name: kernel for each in modules for name, kernel in vars(each).items() if isinstance(kernel, Exported)}


MODULES = laws_of_functions, loads, rods, soft, products, contacts_among_many, pairs_in_matrix
"""Those in which families have functions with roles."""

_KERNELS = exported_kernels(*MODULES)
begin_families: Any = ForFamilies("begin", _KERNELS)
forces_of_families: Any = ForFamilies("forces", _KERNELS)
balance_families: Any = ForFamilies("balance", _KERNELS)
add_tangents_of_families: Any = ForFamilies("tangent", _KERNELS)
add_energies_of_families: Any = ForFamilies("energy", _KERNELS)
start_stresses_of_families: Any = ForFamilies("stress_start", _KERNELS)
keep_stresses_of_families: Any = ForFamilies("stress_keep", _KERNELS)
carry_stresses_of_families: Any = ForFamilies("stress_update", _KERNELS, Number)
add_carried_residuals_of_families: Any = ForFamilies("stress_residual", _KERNELS, Number)
