"""Laws of whole models hold far beyond the limits of steps and beams that the library warns of."""

from pathlib import Path

import pytest

BEYOND = ("StepWarning", "LargeDeflectionWarning", "LargeStrainWarning")


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for category in BEYOND:
                item.add_marker(pytest.mark.filterwarnings(f"ignore::phlexible.{category}"), append=False)
