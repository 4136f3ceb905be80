"""Laws hold whatever supports make of a damping ratio, and a quasi-static start of soft bodies and shells."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """Random mechanisms clamp bodies otherwise than their frames, and start soft bodies and shells as placed."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings("ignore::phlexible.DampingWarning"))
            item.add_marker(pytest.mark.filterwarnings('ignore:initial="quasi_static" leaves'))
