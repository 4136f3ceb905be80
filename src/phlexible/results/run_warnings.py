"""What the user is told at the end of a run: warnings of its steps and of the limits of its bodies."""

from contextlib import suppress

from phlexible.errors import StepWarning, warn_user
from phlexible.measure.quality import findings
from phlexible.results.motion import Motion
from phlexible.results.sampled_loops import unstable_loop


def attach_motion(motion: Motion | None, error: BaseException) -> None:
    """Gives an error what was computed before it."""
    if motion is None:
        return
    error.motion = motion  # type: ignore[attr-defined]
    error.add_note("What was computed before is in the attribute .motion of this error.")
    if unstable := unstable_loop(motion):
        error.add_note(unstable)
    with suppress(Exception):  # the first error says more
        for text, _ in findings(motion.run):
            error.add_note(text)


def warned(motion: Motion, steps: int | None) -> Motion:
    """The motion, with warnings where it was cut short, steps were too long, or bodies beyond what models hold."""
    try:
        interrupted = f"the run was interrupted at t = {motion.time[-1]:.9g} s: it ends there"
        found: list[tuple[str, type[Warning]]] = [] if motion.is_complete else [(interrupted, StepWarning)]
        found += findings(motion.run, steps or None)
        if found and (unstable := unstable_loop(motion)):
            found = [(unstable, StepWarning)]  # which explains the others
        for text, category in found:
            warn_user(text, category)
    except Exception as error:  # also a warning that the user has made an error
        error.motion = motion  # type: ignore[attr-defined]
        raise
    return motion
