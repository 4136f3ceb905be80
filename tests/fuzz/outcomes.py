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
from fuzz.case import Case
from fuzz.checks import failures
from fuzz.draw import drawn

LONGEST = 60.0  # of a run [s of the processor]


class TooSlowError(Exception):
    """A run takes longer than it may."""


@dataclass(frozen=True)
class Outcome:
    kind: str  # "fine"; a name of an error of phlexible, which explains itself; else what failed
    is_failure: bool  # whether that must not be
    text: str = ""  # the message, or how far a law is missed
    seconds: float = 0.0  # of the processor, in the run itself


def outcome_of(case: Case, seed: int, longest: float = LONGEST) -> Outcome:
    begin, seconds = time.process_time(), 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", category=RuntimeWarning)  # nobody explains those
        try:
            with _limit(longest):
                motion = case.run()
            seconds = time.process_time() - begin
            for kind, text in failures(case, motion, seed):
                return Outcome(kind, True, text, seconds)
        except TooSlowError:
            return Outcome("too slow", True, f"more than {longest:g} s", longest)
        except ph.errors.PhlexibleError as error:
            is_promised = bool(seconds) or (case.is_assembled and _is_contradiction(error))
            kind = f"{type(error).__name__} of its twin" if seconds else type(error).__name__
            return Outcome(kind, is_promised, str(error), seconds or time.process_time() - begin)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            text = f"{error} ({Path(where.filename).name}, line {where.lineno})"
            return Outcome(f"raw {type(error).__name__}", True, text, seconds or time.process_time() - begin)
    return Outcome("fine", False, "", seconds)


REFUSALS = (
    "cannot close",  # nor can ``assemble``
    "fit the undeformed bodies",  # to which it fits velocities; a quasi-static start deforms them
    "hold from then on contradict",  # of a lock in a run
    "no rigid motion fits",  # nobody gave velocities: a frame or a drive moves what other joints hold
)


def _is_contradiction(error: Exception) -> bool:
    """Whether joints or velocities do not fit that ``assemble`` said it had made fit."""
    is_known = any(words in str(error) for words in REFUSALS)
    return isinstance(error, ph.JointGapError | ph.VelocityError) and not is_known


def outcome_of_seed(seed: int, longest: float = LONGEST, is_small: bool = False) -> tuple[Outcome, Case | None]:
    try:
        with warnings.catch_warnings(), _limit(longest):
            warnings.simplefilter("ignore")
            case = drawn(seed, is_small)
    except TooSlowError:
        return Outcome("too slow to draw", True, f"more than {longest:g} s"), None
    except ph.errors.PhlexibleError as error:
        return Outcome(f"{type(error).__name__} while drawn", False, str(error)), None
    return outcome_of(case, seed, longest), case


@contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Raises ``TooSlowError`` after so many seconds of the processor, whatever else the machine does."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
