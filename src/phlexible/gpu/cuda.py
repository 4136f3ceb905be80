"""Interface to an NVIDIA GPU through its driver alone: programs, memory and calls."""

import ctypes
import hashlib
import os
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numpy as np
from numpy.typing import NDArray

from phlexible.errors import DeviceError
from phlexible.gpu.thread_programs import Threads, assembly_text
from phlexible.step.compilation.entry_points import code_folder
from phlexible.step.compilation.objects import read_sealed, sources_digest, write_sealed

THREADS_A_BLOCK = 64
"""Each needs most of the registers that it can have: four blocks share a multiprocessor."""

LIBRARY = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"


class Cuda:
    """The first GPU of NVIDIA's driver, with its programs and memory.

    Raises:
        DeviceError: there is none.
    """

    threads = Threads.CUDA

    def __init__(self) -> None:
        try:
            self._driver = ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise DeviceError(f"{LIBRARY}, NVIDIA's driver, cannot be loaded") from error
        self._call("cuInit", 0)
        device = ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._context = ctypes.c_void_p()
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self._modules: dict[str, Any] = {}

    def load(self, name: str, written: Callable[[], str]) -> Callable[[str], Any]:
        """Load the program ``name`` onto the GPU, and return a function that returns a GPU function of the program
        by its name. Such a GPU function is a handle of the CUDA driver. A program that is loaded already is used
        again. Its assembly text comes from the cache on disk, or is translated from the LLVM text that
        ``written()`` returns.

        Args:
            name: unique name of the program.
            written: returns its text in LLVM's language, called if it is not cached on disk.
        """
        self._make_current()
        if name not in self._modules:
            made = ctypes.c_void_p()
            self._call("cuModuleLoadData", ctypes.byref(made), _assembly(name, written).encode())
            self._modules[name] = made
        module = self._modules[name]

        def function(of: str) -> Any:
            found = ctypes.c_void_p()
            self._call("cuModuleGetFunction", ctypes.byref(found), module, of.encode())
            return found

        return function

    def allocate(self, size: int) -> "Room":
        """Allocate ``size`` bytes of memory on the GPU and return the object that owns them."""
        self._make_current()
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(1, size)))
        return Room(self, address.value)

    def write(self, room: "Room", array: NDArray[Any]) -> None:
        """Copy a contiguous NumPy array into memory of the GPU (``room``)."""
        if array.nbytes:
            self._make_current()
            address = ctypes.c_void_p(array.ctypes.data)
            self._call("cuMemcpyHtoD_v2", ctypes.c_uint64(room.address), address, ctypes.c_size_t(array.nbytes))

    def get(self, room: "Room", array: NDArray[Any]) -> None:
        """Copy memory of the GPU (``room``) into a contiguous NumPy array."""
        if array.nbytes:
            self._make_current()
            address = ctypes.c_void_p(array.ctypes.data)
            self._call("cuMemcpyDtoH_v2", address, ctypes.c_uint64(room.address), ctypes.c_size_t(array.nbytes))

    def call(self, function: Any, count: int, *arguments: "Room | int | float") -> None:
        """Run a GPU ``function`` in ``count`` threads, in blocks of a fixed size, and wait until all are done. The
        function receives the ``arguments`` (GPU memory or numbers) and then the count; threads beyond the count
        have to return."""
        self._make_current()
        values = [_value(each) for each in (*arguments, count)]
        addresses = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        blocks = -(-count // THREADS_A_BLOCK)
        self._call("cuLaunchKernel", function, blocks, 1, 1, THREADS_A_BLOCK, 1, 1, 0, None, addresses, None)
        self._call("cuCtxSynchronize")

    def free(self, address: int) -> None:
        """Free the memory of the GPU at an address."""
        self._make_current()
        self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def _make_current(self) -> None:
        """Make this GPU the current device of the calling thread of Python, as each call of the driver requires."""
        self._call("cuCtxSetCurrent", self._context)

    def _call(self, name: str, *arguments: Any) -> None:
        status = int(getattr(self._driver, name)(*arguments))
        if status:
            words = ctypes.c_char_p()
            self._driver.cuGetErrorString(status, ctypes.byref(words))
            raise DeviceError(f"{name} answers {(words.value or str(status).encode()).decode()}")


class Room:
    """Memory of a GPU, which is freed with this object.

    Args:
        owner: GPU that has the memory.
        address: address of its first byte.
    """

    def __init__(self, owner: Cuda, address: int) -> None:
        self.address = address
        weakref.finalize(self, _freed, owner, address)


def _freed(owner: Cuda, address: int) -> None:
    with suppress(DeviceError):  # where the program ends, the driver may have ended before
        owner.free(address)


def _value(value: Room | int | float) -> Any:
    if isinstance(value, Room):
        return ctypes.c_uint64(value.address)
    return ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int64(int(np.int64(value)))


def _assembly(name: str, written: Callable[[], str]) -> str:
    """Return the GPU assembly text (PTX) of the program ``name`` from the cache on disk. If it is missing, it
    is translated from the LLVM text that ``written`` returns, and stored. The sources of the time step are
    part of the key.

    The driver caches the machine code that it makes of it.
    """
    folder = code_folder()
    sources = "".join(file.read_text(encoding="utf-8") for file in sorted(Path(__file__).parent.glob("*.py")))
    key = hashlib.sha256(f"{name} {sources_digest()} {llvmlite.__version__} {sources}".encode()).hexdigest()[:16]
    file = None if folder is None else Path(folder) / f"threads-{key}.ptx"
    if file is not None and file.is_file():
        with suppress(ValueError):  # damaged
            return read_sealed(file)[1].decode()
    text = assembly_text(written())
    if file is not None:
        with suppress(OSError):  # no space left
            write_sealed(file, {}, text.encode())
    return text


@cache
def cuda() -> Cuda:
    """Return the GPU object that all code of this process shares. It is created at the first call."""
    return Cuda()
