"""What becomes of the case of a seed: it obeys, it is refused with a reason, or it fails."""

import signal
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import phlexible as ph
from fuzz.checks import failures
from fuzz.draw import Case, drawn
from phlexible.errors import JointGapError, VelocityError

LONGEST = 60.0  # of a run [s]


class TooSlowError(Exception):
    """A run takes longer than it may."""


@dataclass(frozen=True)
class Outcome:
    """Of one case.

    Attributes:
        kind: "fine"; a name of an error of phlexible, which explains itself; else what failed.
        is_failure: whether that must not be.
        text: the message, or how far a law is missed.
        seconds: of the run itself.
    """

    kind: str
    is_failure: bool
    text: str = ""
    seconds: float = 0.0


def outcome_of(case: Case, seed: int, longest: float = LONGEST) -> Outcome:
    """Runs and checks a case."""
    begin, seconds = time.monotonic(), 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", category=RuntimeWarning)  # nobody explains those
        try:
            with _limit(longest):
                motion = case.run()
            seconds = time.monotonic() - begin
            for kind, text in failures(case, motion, seed):
                return Outcome(kind, True, text, seconds)
        except TooSlowError:
            return Outcome("too slow", True, f"more than {longest:g} s", longest)
        except ph.errors.PhlexibleError as error:
            is_promised = bool(seconds) or (case.is_assembled and _is_contradiction(error))
            kind = f"{type(error).__name__} of its twin" if seconds else type(error).__name__
            return Outcome(kind, is_promised, str(error), seconds or time.monotonic() - begin)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{error} ({Path(where.filename).name}, line {where.lineno})"
            return Outcome(f"raw {type(error).__name__}", True, text, seconds or time.monotonic() - begin)
    return Outcome("fine", False, "", seconds)


def _is_contradiction(error: Exception) -> bool:
    """Whether joints or velocities do not fit that ``assemble`` said it had made fit."""
    refused = isinstance(error, JointGapError) and "cannot close" in str(error)
    return isinstance(error, JointGapError | VelocityError) and not refused


def outcome_of_seed(seed: int, longest: float = LONGEST) -> tuple[Outcome, Case | None]:
    """Draws the case of a seed, runs and checks it."""
    try:
        with warnings.catch_warnings(), _limit(longest):
            warnings.simplefilter("ignore")
            case = drawn(seed)
    except TooSlowError:
        return Outcome("too slow to draw", True, f"more than {longest:g} s"), None
    except ph.errors.PhlexibleError as error:
        return Outcome(f"{type(error).__name__} while drawn", False, str(error)), None
    return outcome_of(case, seed, longest), case


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Raises ``TooSlowError`` after so many seconds."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
