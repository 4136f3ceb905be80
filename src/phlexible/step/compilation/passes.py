"""Passes of LLVM that optimize modules of kernels, with Numba's settings and without Numba."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any

from llvmlite import binding

USUAL = {"inline-threshold": "250", "unroll-threshold-aggressive": "300", "unroll-runtime": "true"}
"""Instructions up to which LLVM puts functions into their callers, and writes out loops whose lengths it knows;
whether it takes several turns of others at once."""
WRITTEN_OUT = dict.fromkeys(["inline-threshold", "unroll-threshold-aggressive"], "100000")
"""In programs of one structure, where it knows all lengths: all becomes one function."""
TURN_BY_TURN = {"unroll-runtime": "false", "inline-threshold": "2000"}
"""In lanes, where each turn fills registers and most loops have two or three: asking for more takes longer. A call
puts all registers into memory: larger functions go into their callers."""
NOTHING: Mapping[str, str] = {}
_one_at_a_time = Lock()  # these are settings of the process


@contextmanager
def settings(values: Mapping[str, str]) -> Iterator[None]:
    """Set global settings of LLVM (inlining, loop unrolling) to these ``values`` inside of a with block and
    restore the usual ones at its end. Other threads wait until the block ends. The function is a context
    manager."""
    with _one_at_a_time:
        try:
            _set(values)
            yield
        finally:
            _set({name: USUAL[name] for name in values})


def _set(values: Mapping[str, str]) -> None:
    for name, value in values.items():
        binding.set_option("phlexible", f"--{name}={value}")


def level() -> int:
    """Return the level of optimization (0 to 3) that the environment variable NUMBA_OPT requests, 3 by default."""
    asked = os.environ.get("NUMBA_OPT", "3")
    return 3 if asked == "max" else int(asked)


def optimize(module: Any, machine: Any, keeps_loops: bool = False, values: Mapping[str, str] = NOTHING) -> None:
    """Optimize an LLVM module in place for a target ``machine``, as Numba does: functions are inlined first,
    and loops are not unrolled if ``keeps_loops``. Global settings of LLVM have the ``values``.

    Args:
        module: of LLVM, which is changed.
        machine: of LLVM, whose processor the passes are for.
        keeps_loops: loops are not unrolled or interleaved, which makes code shorter and changes digits.
        values: of settings, by name.
    """
    with settings(values):
        first = _builder(machine, 0, False, False)
        passes = first.getModulePassManager()
        passes.add_loop_rotate_pass()
        passes.add_instruction_combine_pass()
        passes.add_jump_threading_pass()
        passes.run(module, first)
        full = _builder(machine, level(), _is_on("LOOP_VECTORIZE", "1"), _is_on("SLP_VECTORIZE", "0"), keeps_loops)
        full.getModulePassManager().run(module, full)


def make_private(module: Any, visible: set[str]) -> None:
    """Make all functions and variables of an LLVM module private to it, except those with names in ``visible``."""
    for each in [*module.functions, *module.global_variables]:
        if not each.is_declaration and each.name not in visible:
            each.linkage = "internal"


def remove_unused(module: Any, machine: Any) -> None:
    """Remove functions and variables that are private to an LLVM ``module`` and not used, by LLVM's global
    dead-code elimination. It is called after ``make_private``. ``machine`` is the target machine of LLVM."""
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    options = binding.create_pipeline_tuning_options(speed_level=0)
    passes.run(module, binding.create_pass_builder(machine, options))


def _builder(machine: Any, speed: int, loops: bool, slp: bool, keeps_loops: bool = False) -> Any:
    options = binding.create_pipeline_tuning_options()
    if keeps_loops:
        options.loop_unrolling = options.loop_interleaving = False
    options.speed_level, options.slp_vectorization, options.loop_vectorization = speed, slp, loops
    return binding.create_pass_builder(machine, options)


def _is_on(name: str, usual: str) -> bool:
    return bool(int(os.environ.get(f"NUMBA_{name}", usual)))
