"""How tests run: Ctrl-C as in a terminal, and in an order in which two processes do not compile the same."""

import gc
import signal
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # an example takes longer on a busy machine
settings.load_profile("untimed")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background a shell ignores it
    signal.signal(signal.SIGINT, signal.default_int_handler)

gc.set_threshold(20_000, 10, 50)  # compiling leaves much that lives: looking at it takes a twentieth of the time

COMPILING = ("step/kernels", "derivatives")
"""Folders whose tests compile what the others then read from the cache."""
BUILT_ONCE = ("test_libraries.py", "test_lanes.py", "test_gpu.py")
"""Files whose tests share what takes long to build: they begin, since the first tests all go to one process."""
NOT_COMPILED = ("algebra", "elements", "linear", "port_hamiltonian", "papers", "shapes")
"""Folders with tests that hardly need it, and take long enough."""


def pytest_collection_modifyitems(items):
    """What compiles begins, for one process; another begins after an eighth of all: with what hardly needs it."""
    tests = Path(__file__).parent
    folders = {item: item.path.parent.relative_to(tests) for item in items}
    built = [item for item in items if item.path.name in BUILT_ONCE]
    first = [*built, *(item for item in items if is_in(folders[item], COMPILING))]
    later = [item for item in items if is_in(folders[item], NOT_COMPILED)]
    known = {*first, *later}
    rest = [item for item in items if item not in known]
    between = max(0, len(items) // 8 - len(first))
    items[:] = [*first, *rest[:between], *later, *rest[between:]]


def is_in(folder, names):
    return any(folder.is_relative_to(name) for name in names)


@pytest.fixture
def unpainted(monkeypatch):
    """Files of pictures stay empty, since painting takes longer than what they show; tests of pictures paint."""
    figure = pytest.importorskip("matplotlib.figure").Figure
    paint = figure.savefig

    def touch(self, file, **options):
        Path(file).touch() if isinstance(file, str | Path) else paint(self, file, **options)

    monkeypatch.setattr(figure, "savefig", touch)
