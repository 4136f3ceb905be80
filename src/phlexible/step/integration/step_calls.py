"""Step calls, which are calls of the compiled loop over steps, and runs as generators of such calls.

A run yields each call, and continues once the call is answered. ``completed`` takes the calls of one run,
``together`` (``lane_loop.py``) those of several runs.
"""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from typing import Any, TypeVar

from phlexible.algebra.arrays import Array
from phlexible.state.many_starts import Start
from phlexible.state.system import System
from phlexible.step.tables.memory import Memory

Result = TypeVar("Result")
Loop = Callable[..., tuple[int, int]]
"""Takes steps as ``advance`` does."""
Calls = Generator["StepCall", None, Result]
"""A run: it yields calls, which are answered when it goes on, and returns its result."""
WholeRun = Generator["StepCall | StartCall", None, Result]
"""A run from its start: it may yield a call for it before those for steps."""

SHARED = ("numerical_damping", "is_redundant", "every")
"""What requests of mechanisms in lanes have in common."""
ALONE = ("measures", "is_around_contacts", "is_tried", "gradient_iterations")
"""Requests of these are for a mechanism alone."""


UNGUARDED = nullcontext()

TURN: ContextVar["Lock | None"] = ContextVar("TURN", default=None)
"""Lock that a thread of a batch holds while it runs Python, so that one at a time does and others step meanwhile.
Threads that share the interpreter evenly would come to their steps at the same time. None: there are no others."""


def out_of_turn(loop: Callable[..., Result], *arguments: Any) -> Result:
    """Return the result of the compiled time step loop ``loop``, called with its arguments (header, sizes, request
    and so on). Meanwhile the lock that allows one run at a time is released, so that another thread goes on. If
    there is no such lock, or no steps are requested, it is a plain call."""
    if (turn := TURN.get()) is None or not arguments[2][0]["steps"]:
        return loop(*arguments)
    turn.release()
    try:
        return loop(*arguments)
    finally:
        turn.acquire()


@dataclass(eq=False, slots=True)
class StepCall:
    """A call for steps of one mechanism: arguments of ``advance``, the loop that computes them, the answer or an
    error."""

    memory: Memory
    sizes: Array
    request: Any
    moving: Array
    loads: Array
    reactions: Array
    rows: Array
    loop: Loop
    guard: Callable[[], AbstractContextManager[None]] | None = None  # around it, for functions of Python
    taken: tuple[int, int] | None = None
    error: BaseException | None = None
    is_in_lanes: bool = False
    most: int | None = None  # steps that are to be taken alone; None: all

    @property
    def key(self) -> tuple[Any, ...]:
        """Sizes of the substeps and options of this call of the compiled time step loop. They must be equal
        for mechanisms to be stepped together in SIMD lanes."""
        own = self.request[0]
        return self.sizes.tobytes(), *(own[name] for name in SHARED)

    @property
    def since_stored(self) -> int:
        """Number of time steps since the last stored instant, which must be equal for mechanisms that are
        stepped together in SIMD lanes."""
        return int(self.request[0]["since_stored"])

    @property
    def can_join(self) -> bool:
        """Whether the time steps of this call can be computed in SIMD lanes with other mechanisms: there are
        steps, and none of these have substeps around contacts, trials or measurements."""
        own = self.request[0]
        return bool(own["steps"]) and not any(own[name] for name in ALONE)

    @property
    def steps_taken(self) -> int:
        """Number of time steps that this call of the compiled time step loop has completed; zero if it was not
        made or raised an error."""
        return 0 if self.taken is None else int(self.taken[0])

    def take(self) -> None:
        """Call the compiled time step loop for this mechanism alone, not in SIMD lanes with others, and store its
        result in ``taken``. An exception that it raises is stored in ``error``. At most ``most`` time steps are
        computed."""
        if self.most is not None and self.most < self.request[0]["steps"]:
            self.request = self.request.copy()
            self.request["steps"] = self.most
        arguments = self.sizes, self.request, self.moving, self.loads, self.reactions, self.rows
        try:
            with self.guard() if self.guard else UNGUARDED:
                self.taken = out_of_turn(self.loop, self.memory.header, *arguments)
            self.memory.steps_alone += self.steps_taken
        except BaseException as error:  # of the run, which sees it when it goes on
            self.error = error


@dataclass(eq=False)
class StartCall:
    """A call for the undeformed start of a system, which runs of one structure compute together.

    Attributes:
        system: what starts.
        start: the answer; None: it is computed alone.
    """

    system: System
    start: Start | None = None

    can_join = True

    def take(self) -> None:
        """Do nothing, since a run whose start was not computed together with others computes it alone when it goes
        on."""


def completed(run: WholeRun[Result]) -> Result:
    """Make all calls of the compiled loop that a ``run``, a generator of calls, yields, one after the other.
    Return the value that the generator returns at its end."""
    try:
        while True:
            next(run).take()
    except StopIteration as end:
        result: Result = end.value
        return result
