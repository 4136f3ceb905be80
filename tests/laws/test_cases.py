"""The laws run every body, joint, load and force element: a class that has no case is found here.

The tests of the laws take their parameters from the same lists.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

import phlexible
from laws.cases import BODY_CASES, JOINT_CASES, LAW_CASES, LOAD_CASES, SOFT_LAWS
from laws.elements import ELEMENT_CASES
from laws.sensors import SENSOR_CASES
from phlexible.bodies.body import Body
from phlexible.bodies.soft_law import SoftLaw
from phlexible.bodies.string_law import StringLaw
from phlexible.description.interactions.force_elements import ForceElement
from phlexible.description.interactions.loads import Load, PointLoad
from phlexible.description.interactions.sensor import Sensor
from phlexible.description.interactions.tendon import TendonDrive, TendonMotor
from phlexible.description.joints.joint import Joint


def concrete(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        is_base = inspect.isabstract(each) or each is PointLoad
        if each.__module__.startswith("phlexible.") and not is_base:
            yield each
        yield from concrete(each)


@pytest.fixture(scope="module", autouse=True)
def whole_package():
    """A class in a module that nothing imports yet counts too."""
    for module in pkgutil.walk_packages(phlexible.__path__, "phlexible."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


@pytest.mark.parametrize(
    ("kind", "cases"),
    [
        (Body, BODY_CASES),
        (Joint, {*JOINT_CASES, phlexible.Sliding}),  # of two bodies; laws of the other: ``test_sliding.py``
        (Load, LOAD_CASES),
        (ForceElement, {*ELEMENT_CASES, TendonDrive, TendonMotor}),  # laws of a tendon: ``test_tendons.py``
    ],
)
def test_no_class_is_forgotten(kind, cases):
    assert set(concrete(kind)) == set(cases)


def test_no_sensor_is_forgotten():
    assert {each for each in concrete(Sensor) if hasattr(each, "label")} == set(SENSOR_CASES)


def test_no_law_is_forgotten():
    assert {law for law in concrete(StringLaw) if not law.__name__.startswith("Unstored")} == set(LAW_CASES)
    assert {law for law in concrete(SoftLaw) if not law.__name__.startswith(("Unstored", "_"))} == set(SOFT_LAWS)
