"""What the user is told at the end of a run: warnings of its steps and of the limits of its bodies."""

from contextlib import suppress

from phlexible.errors import (
    LargeDeflectionWarning,
    LargeStrainWarning,
    SlackStringWarning,
    StepWarning,
    StiffeningWarning,
    warn_user,
)
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
        for text, _ in _explanations(motion):
            error.add_note(text)


def warned(motion: Motion, steps: int | None) -> Motion:
    """The motion, with warnings where it was cut short, steps were too long, or bodies beyond what models hold."""
    try:
        interrupted = f"the run was interrupted at t = {motion.time[-1]:.9g} s: it ends there"
        texts = [] if motion.is_complete else [interrupted]
        texts += motion.long_steps(steps or None)
        found: list[tuple[str, type[Warning]]] = [(text, StepWarning) for text in texts]
        found += _explanations(motion)
        if found and (unstable := unstable_loop(motion)):
            found = [(unstable, StepWarning)]  # which explains the others
        for text, category in found:
            warn_user(text, category)
    except Exception as error:  # also a warning that the user has made an error
        error.motion = motion  # type: ignore[attr-defined]
        raise
    return motion


def _explanations(motion: Motion) -> list[tuple[str, type[Warning]]]:
    found: list[tuple[str, type[Warning]]] = [(text, StiffeningWarning) for text in motion.missing_stiffening()]
    found += [(text, LargeDeflectionWarning) for text in motion.large_deflections()]
    found += [(text, LargeStrainWarning) for text in motion.large_strains()]
    return [*found, *((part.text, SlackStringWarning) for part in motion.slack_parts())]
