"""Machine code of LLVM modules, made in separate processes, since LLVM ends a process that gives it a wrong
module.

Run as a program it reads from its input what to make, and writes the object files to its output.
"""

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phlexible.step.compilation import passes
from phlexible.step.compilation.objects import CodeTarget

OF_ONE_PROCESSOR = re.compile(r"@llvm\.(x86|aarch64)\.")


@dataclass(frozen=True)
class Machine:
    """Processor that machine code is made for.

    Attributes:
        triple: of LLVM, such as "x86_64-unknown-linux-gnu".
        processor: of LLVM, such as "x86-64-v3"; empty: any.
        features: of LLVM beside those of the processor.
    """

    triple: str
    processor: str = ""
    features: str = ""

    @property
    def is_small(self) -> bool:
        """Return whether machine code for this processor must be short because browsers load it (WebAssembly);
        loops are then not unrolled."""
        return self.triple.startswith("wasm")


def object_files(
    codes: Mapping[str, bytes], machine: Machine, optimized_for: CodeTarget | None = None
) -> dict[str, bytes]:
    """Compile LLVM modules for a processor, in parallel processes, and return by name an object file for each, as
    bytes. ``codes`` has the unoptimized LLVM bitcode by the name of the one function that its object file exports;
    ``machine`` is the processor that will run the code. ``optimized_for`` is another processor, for which
    optimizations are chosen so that results have the same digits as in Python there. Without it they are chosen for
    ``machine`` and keep code short.

    Args:
        codes: of each the bitcode of the module that it stands in, which nothing has optimized, by their names.
        machine: what they are made for.
        optimized_for: another processor that passes are for: code has the digits that Python's has there; None:
            passes are for ``machine``, and keep code short.

    Raises:
        RuntimeError: LLVM ended its process, with its words.
    """
    names = sorted(codes, key=lambda name: -len(codes[name]))
    groups = [names[k :: os.cpu_count() or 1] for k in range(min(os.cpu_count() or 1, len(names)))]
    with ThreadPoolExecutor(max(1, len(groups))) as pool:
        parts = pool.map(lambda own: _compile({name: codes[name] for name in own}, machine, optimized_for), groups)
        return {name: code for part in parts for name, code in part.items()}


def _compile(codes: dict[str, bytes], machine: Machine, optimized_for: CodeTarget | None) -> dict[str, bytes]:
    """Compile LLVM modules for a processor (``machine``) in a separate Python process and return their object files
    by name. ``codes`` are the modules as LLVM bitcode by name. A crash of LLVM ends only that process and raises
    ``RuntimeError`` here, with its last error lines. If ``optimized_for`` is given, optimizations, but not
    instructions, are chosen for that processor."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    known = (machine.triple, machine.processor, machine.features)
    done = subprocess.run(
        [sys.executable, str(Path(__file__))],
        input=pickle.dumps((codes, known, optimized_for)),
        capture_output=True,
        env=environment,
    )
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise RuntimeError(f"LLVM ended its process ({done.returncode}): {' '.join(words[-3:])}")
    found: dict[str, bytes] = pickle.loads(done.stdout)
    return found


def _object_file(llvm: Any, name: str, code: bytes, machine: Machine, optimized_for: CodeTarget | None) -> bytes:
    """Compile one LLVM module (bitcode ``code``) for a processor (``machine``) and return the object file as bytes.
    Only the function ``name`` is visible to the linker. Small processors get code without vectorized or unrolled
    loops. If ``optimized_for`` is given, optimizations, but not instructions, are chosen for that processor, so
    that results agree with it. ``llvm`` is llvmlite's binding module."""
    target = llvm.Target.from_triple(machine.triple).create_target_machine(
        cpu=machine.processor,
        features=machine.features,
        opt=2 if machine.is_small else 3,
        reloc="pic",
        codemodel="default",
    )
    module = llvm.parse_bitcode(code)
    if machine.triple.partition("-")[0] != module.triple.partition("-")[0]:
        module = llvm.parse_assembly(_without_foreign(str(module)))
    if machine.is_small:
        _hide_all_but(module, name, target)
        _set_machine(module, machine.triple, target)
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = options.slp_vectorization = False
        options.loop_unrolling = options.loop_interleaving = False
        builder = llvm.create_pass_builder(target, options)
        builder.getModulePassManager().run(module, builder)
    else:
        own = target if optimized_for is None else optimized_for.machine(passes.level())
        _set_machine(module, machine.triple if optimized_for is None else optimized_for.triple, own)
        passes.optimize(module, own, keeps_loops=optimized_for is None)
        _hide_all_but(module, name, target)
        _set_machine(module, machine.triple, target)
    passes.remove_unused(module, target)
    module.verify()
    made: bytes = target.emit_object(module)
    return made


def _hide_all_but(module: Any, name: str, target: Any) -> None:
    """Make all functions of an LLVM module invisible to the linker except the one called ``name``, and remove
    those that are not used. ``target`` is the target machine."""
    passes.make_private(module, {name})
    module.get_function(name).linkage, module.get_function(name).visibility = "external", "hidden"
    passes.remove_unused(module, target)


def _set_machine(module: Any, triple: str, target: Any) -> None:
    module.triple, module.data_layout = triple, str(target.target_data)


def _without_foreign(text: str) -> str:
    """Return LLVM assembly (``text``) in which intrinsics of particular processors (x86, ARM, ...) are replaced.
    Each declaration becomes an internal function under a new name that returns zero, and calls use the new name.
    This is safe because the results are used by other such intrinsics only.

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
    codes, machine, optimized_for = pickle.load(sys.stdin.buffer)
    made = {name: _object_file(llvm, name, code, Machine(*machine), optimized_for) for name, code in codes.items()}
    sys.stdout.buffer.write(pickle.dumps(made))


if __name__ == "__main__":
    _main()
