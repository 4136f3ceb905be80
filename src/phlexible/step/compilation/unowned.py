"""Arrays without owners, for kernels that cut memory into many small parts."""

from typing import Any

from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array


@intrinsic
def unowned(typing: Any, array: Any) -> Any:
    """The same array, whose parts are not counted: a count is an atomic operation, and takes long.

    The owner must be alive: named later in the same function, or held by its caller.
    """

    def generate(context: Any, builder: Any, sig: Any, values: Any) -> Any:
        found = make_array(array)(context, builder, values[0])
        found.meminfo = cgutils.get_null_value(found.meminfo.type)
        found.parent = cgutils.get_null_value(found.parent.type)
        return found._getvalue()

    return array(array), generate
