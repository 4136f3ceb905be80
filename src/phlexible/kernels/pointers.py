"""Bare pointers to arrays: no reference counts, no negative indices, one machine word to pass.

Indexing an array by a signed number costs a comparison each time, because a negative index counts from
the end; it also keeps the compiler from using vector units. The kernels never use negative indices.
"""

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


@intrinsic
def pointer_to(typingctx, array):
    """Pointer to the first element of a contiguous array, which must outlive it."""
    if not isinstance(array, types.Array) or array.layout != "C":
        return None

    def generate(context, builder, signature, arguments):
        struct = cgutils.create_struct_proxy(array)(context, builder, arguments[0])
        return struct.data

    return types.CPointer(array.dtype)(array), generate
