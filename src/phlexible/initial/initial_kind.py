"""How a run begins."""

from enum import Enum


class InitialKind(Enum):
    """How the bodies are deformed at t = 0.

    Attributes:
        UNDEFORMED: eta = 0.
        QUASI_STATIC: the deformation that the initial rigid motion and the loads keep up.
    """

    UNDEFORMED = "undeformed"
    QUASI_STATIC = "quasi_static"
