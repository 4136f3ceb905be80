"""Laws hold whatever the supports of a body make of its damping ratio."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """Random mechanisms clamp bodies otherwise than their frames; ``test_modal_damping.py`` tests the warnings."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings("ignore::phlexible.DampingWarning"))
