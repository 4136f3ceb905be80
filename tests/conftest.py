"""How tests run: Ctrl-C as in a terminal, and in an order in which two processes do not compile the same."""

import signal
from pathlib import Path

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background a shell ignores it
    signal.signal(signal.SIGINT, signal.default_int_handler)

COMPILING = ("step/kernels", "derivatives")
"""Folders whose tests compile what the others then read from the cache."""
NOT_COMPILED = ("algebra", "elements", "linear", "port_hamiltonian", "papers", "shapes")
"""Folders with tests that hardly need it, and take long enough."""


def pytest_collection_modifyitems(items):
    """The first half begins with what compiles, the second half, for another process, with what needs it last."""
    tests = Path(__file__).parent
    folders = {item: item.path.parent.relative_to(tests) for item in items}
    first = [item for item in items if is_in(folders[item], COMPILING)]
    later = [item for item in items if is_in(folders[item], NOT_COMPILED)]
    rest = [item for item in items if not is_in(folders[item], (*COMPILING, *NOT_COMPILED))]
    half = max(0, len(items) // 2 - len(first))
    items[:] = [*first, *rest[:half], *later, *rest[half:]]


def is_in(folder, names):
    return any(folder.is_relative_to(name) for name in names)
