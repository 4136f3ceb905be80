"""Parts that were made on the bodies of a mechanism and never given to it."""

import warnings

from phlexible.display.written import shortened
from phlexible.errors import UnusedPartWarning
from phlexible.mechanism.mechanism import Mechanism

MOST_NAMED = 6


def warn_of_unused_parts(mechanism: Mechanism, stacklevel: int) -> None:
    """Warns of joints, elements, drives and loads that do nothing, because nobody connected or applied them.

    Constant forces are left out: they may be directions of inputs for ``Model.linearize``.
    """
    waiting = {id(part): part for placed in mechanism.bodies for part in placed.waiting}
    if not waiting:
        return
    names = [str(part) for part in waiting.values()]
    warnings.warn(
        f"{shortened(names, MOST_NAMED)} made on bodies of this model and never given to it, so that"
        " they do nothing: call model.connect(joint), and model.apply(part) for what is no joint",
        UnusedPartWarning,
        stacklevel=stacklevel,
    )
