"""How hypothesis draws examples of the laws, and which ones it throws away.

It begins with the first of each list and draws the others: what stands first is a case that shows much.
"""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, Phase, reject, settings, strategies as st

import phlexible as ph
from laws.cases import BODY_CASES, joint_types
from laws.figures import greatest_turn
from phlexible.gallery.table import ENTRIES
from phlexible.state import quasi_static

EVERY_BODY = pytest.mark.parametrize(
    ("dimension", "body"),
    [
        pytest.param(d, body, id=f"{body.__name__}-{d}D")
        for d in (2, 3)
        for body, case in BODY_CASES.items()
        if d in case.dimensions
    ],
)
EVERY_JOINT = pytest.mark.parametrize(
    ("dimension", "kind"), [pytest.param(d, j, id=f"{j.__name__}-{d}D") for d in (2, 3) for j in joint_types(d)]
)

LONG = ("windlass", "roll-up", "princeton-beam", "rotating-cantilever", "solid-crank-slider", "spinning-shaft")
GALLERY = pytest.mark.parametrize(
    "entry", [pytest.param(e, id=e.name, marks=pytest.mark.thorough if e.name in LONG else ()) for e in ENTRIES]
)
"""All models; the long ones, whose bodies and forces shorter ones have too, are further cases."""

SEEDS = st.integers(0, 2**32 - 1)
STEP_SIZES = 10.0, 0.1, 1.0, 100.0, 1000.0
"""Times the greatest frequency of the bodies; those of ``laws.models`` in another order."""
YES_OR_NO = st.sampled_from([True, False])


def examples(count: int) -> settings:
    """So many seeded examples, the same in every run; a failing seed is reported as it is."""
    return settings(
        derandomize=True,
        database=None,
        max_examples=count,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=(HealthCheck.filter_too_much, HealthCheck.too_slow),
        report_multiple_bugs=False,
    )


def resolved(run: Callable[[], ph.Motion], greatest: float = 0.5) -> ph.Motion:
    """The motion of a run; a hypothesis example is rejected where a body turns faster than this a step.

    Only then may a run fail to converge. Rejected is also a start for which there is no deformation. Its loads are
    raised in quarters only: finding out that nothing holds them would take longer than all else.
    """
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(quasi_static, "LEAST_SHARE", quasi_static.FIRST_SHARE)
            motion = run()
    except ph.ModelError as error:
        if "quasi-static" not in str(error):
            raise
        reject()
    except ph.ConvergenceError as error:
        if greatest_turn(error.motion) <= greatest:
            raise
        reject()
    if greatest_turn(motion) > greatest:
        reject()
    return motion
