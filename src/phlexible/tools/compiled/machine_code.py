"""Machine code of modules of LLVM, in a process of its own: LLVM ends the process that gives it a wrong module.

Run as a program it reads from its input what to make, and writes the object files to its output.
"""

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

OF_ONE_PROCESSOR = re.compile(r"@llvm\.(x86|aarch64)\.")


@dataclass(frozen=True)
class Machine:
    """What code is made for.

    Attributes:
        triple: of LLVM, such as "x86_64-unknown-linux-gnu".
        processor: of LLVM, such as "x86-64-v3"; empty: any.
        features: of LLVM beside those of the processor.
    """

    triple: str
    processor: str = ""
    features: str = ""


def object_files(
    border: str, kept: Sequence[str], parts: Sequence[tuple[bytes, str]], machines: Mapping[str, Machine]
) -> dict[str, bytes]:
    """Object files by the names of the machines.

    Args:
        border: text of a module.
        kept: its functions, which others call.
        parts: bitcode of modules, each with the name of its function that ``border`` calls.
        machines: by any name.

    Raises:
        RuntimeError: LLVM ended its process, with its words.
    """
    return dict(_object_files(border, tuple(kept), tuple(parts), tuple(machines.items())))


@lru_cache(maxsize=4)
def _object_files(
    border: str,
    kept: tuple[str, ...],
    parts: tuple[tuple[bytes, str], ...],
    machines: tuple[tuple[str, Machine], ...],
) -> dict[str, bytes]:
    """Models with the same programs have the same code."""
    return _apart("whole", border, kept, parts, {k: (m.triple, m.processor, m.features) for k, m in machines})


def small_object_files(texts: Mapping[str, str], machine: Machine) -> dict[str, bytes]:
    """Object files of functions, each of the text of a module that nothing has optimized; loops stay loops.

    Args:
        texts: by the names of the functions, which others call.
        machine: what they are made for.

    Raises:
        RuntimeError: LLVM ended its process, with its words.
    """
    return _apart("small", dict(texts), (machine.triple, machine.processor, machine.features))


def _apart(*asked: Any) -> dict[str, bytes]:
    """What ``_main`` answers in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    done = subprocess.run(
        [sys.executable, str(Path(__file__))], input=pickle.dumps(asked), capture_output=True, env=environment
    )
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(f"LLVM ended its process ({done.returncode}): {' '.join(words[-3:])}")
    found: dict[str, bytes] = pickle.loads(done.stdout)
    return found


def _small(llvm: Any, name: str, text: str, machine: Machine) -> bytes:
    target = llvm.Target.from_triple(machine.triple).create_target_machine(
        cpu=machine.processor, features=machine.features, opt=2, reloc="pic", codemodel="default"
    )
    module = llvm.parse_assembly(_without_foreign(text))
    module.triple, module.data_layout = machine.triple, str(target.target_data)
    _hide(module, {name})
    module.get_function(name).visibility = "hidden"
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = options.loop_interleaving = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    _remove_unused(llvm, module, target)
    module.verify()
    code: bytes = target.emit_object(module)
    return code


def _made(
    llvm: Any, border: str, kept: tuple[str, ...], parts: tuple[tuple[bytes, str], ...], machine: Machine
) -> bytes:
    target = llvm.Target.from_triple(machine.triple).create_target_machine(
        cpu=machine.processor, features=machine.features, opt=3, reloc="pic", codemodel="default"
    )
    whole = llvm.parse_assembly(border)
    for bitcode, name in parts:  # equal names in two of them need not be equal functions
        part = llvm.parse_bitcode(bitcode)
        _hide(part, {name})
        whole.link_in(part)
    _hide(whole, set(kept))
    for function in whole.functions:
        if not function.is_declaration and function.name in kept:
            function.visibility = "hidden"
    _remove_unused(llvm, whole, target)
    text = str(whole)
    architecture = machine.triple.partition("-")[0]
    if architecture != whole.triple.partition("-")[0]:
        text = _without_foreign(text)
    whole = llvm.parse_assembly(text)
    whole.triple, whole.data_layout = machine.triple, str(target.target_data)
    _remove_unused(llvm, whole, target)
    whole.verify()
    code: bytes = target.emit_object(whole)
    return code


def _hide(module: Any, kept: set[str]) -> None:
    """All but some functions are of this module alone."""
    for each in [*module.functions, *module.global_variables]:
        if not each.is_declaration:
            each.linkage = "external" if each.name in kept else "internal"


def _remove_unused(llvm: Any, module: Any, target: Any) -> None:
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    options = llvm.create_pipeline_tuning_options(speed_level=0)
    passes.run(module, llvm.create_pass_builder(target, options))


def _without_foreign(text: str) -> str:
    """The text with functions of another processor, those of its control register, that do nothing.

    What they would return is stored before it is asked for, and never looked at but by others of them.
    """
    bodies = []
    for line in text.splitlines():
        if line.startswith("declare ") and OF_ONE_PROCESSOR.search(line):
            head = re.sub(r"\s*#\d+\s*$", "", line.removeprefix("declare ")).replace(" immarg", "")
            kind = head.removeprefix("noundef ").split()[0]
            last = "ret void" if kind == "void" else f"ret {kind} zeroinitializer"
            bodies.append(f"define internal {head} {{\n  {last}\n}}")
    lines = [x for x in text.splitlines() if not (x.startswith("declare ") and OF_ONE_PROCESSOR.search(x))]
    return OF_ONE_PROCESSOR.sub(r"@phlexible.\1.", "\n".join([*lines, *bodies]) + "\n")


def _main() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    kind, *asked = pickle.load(sys.stdin.buffer)
    if kind == "small":
        texts, machine = asked
        made = {name: _small(llvm, name, text, Machine(*machine)) for name, text in texts.items()}
    else:
        border, kept, parts, machines = asked
        made = {name: _made(llvm, border, kept, parts, Machine(*each)) for name, each in machines.items()}
    sys.stdout.buffer.write(pickle.dumps(made))


if __name__ == "__main__":
    _main()
