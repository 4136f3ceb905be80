"""Joints that hold the same motion twice are named; others pass, also in long chains."""

import pytest

from model.mechanisms import beam, crank_slider
from model.test_initial_state import four_bar
from phlexible.bodies.rigid_body import RigidBody
from phlexible.errors import RedundancyError
from phlexible.joints.fixed import Fixed
from phlexible.joints.revolute import Revolute
from phlexible.joints.slider import Slider
from phlexible.joints.spherical import Spherical
from phlexible.joints.universal import Universal
from phlexible.model import redundancy
from phlexible.model.closure import undeformed
from phlexible.model.constraints import mechanism_layout
from phlexible.model.mechanism import Mechanism
from phlexible.model.redundancy import check_redundancy


def checked(model):
    check_redundancy(model, undeformed(model, mechanism_layout(model)))


def chain(links, body=None, dimension=2):
    model, body = Mechanism(dimension=dimension), body or beam(elements=1)
    end = model.ground.at((0, 0, 0))
    for number in range(links):
        link = model.add(body, position=(0.3 * number, 0, 0))
        model.connect(Revolute(end, link.start))
        end = link.end
    return model, end


@pytest.mark.parametrize("model", [crank_slider(), four_bar(2), chain(5)[0], Mechanism()])
def test_independent_joints_pass(model):
    checked(model)


def test_a_planar_linkage_in_space_is_overconstrained():
    with pytest.raises(RedundancyError) as error:
        checked(four_bar(3))
    for joint in four_bar(3).joints:
        error.match(
            str(joint).replace("(", r"\(").replace(")", r"\)").replace("moving frame 1", r"moving frame \d")
        )


def test_joints_that_leave_more_freedom_repair_it():
    model = Mechanism()
    a, b, c = (
        model.add(RigidBody(1.0, (1, 1, 1)), name, place)
        for name, place in zip("abc", [(0, 0, 0), (0, 1, 0), (2, 0, 0)], strict=True)
    )
    model.connect(Revolute(model.ground.at((0, 0, 0)), a.origin))
    model.connect(Spherical(a.point((0, 1, 0)), b.origin))
    model.connect(Universal(b.point((2.0, 0.3, 0)), c.point((0, 1.3, 0)), (1, 0, 0), (0, 0, 1)))
    model.connect(Revolute(model.ground.at((2, 0, 0)), c.origin))
    checked(model)


def test_only_the_joints_in_the_combination_are_named():
    model, end = chain(6)
    model.connect(Fixed(end, model.ground.at((1.8, 0, 0))))
    checked(model)  # elastic links: statically indeterminate, not redundant
    model.connect(Slider(model.ground.at((0, 0, 0)), model["beam 6"].end, axis=(1, 0, 0)))
    with pytest.raises(RedundancyError) as error:
        checked(model)
    error.match(r"Fixed\(beam 6.end, ground.at\(1.8, 0, 0\)\), Slider\(ground.at\(0, 0, 0\), beam 6.end\);")
    assert "Revolute(" not in str(error.value).split(";")[0]


def test_a_joint_given_twice_is_redundant_once_it_is_another_object():
    model, _ = chain(2)
    model.connect(Revolute(model.ground.at((0, 0, 0)), model["beam 1"].start))
    with pytest.raises(
        RedundancyError, match=r"in Revolute\(ground.* beam 1.start\), Revolute\(ground.* beam 1.start\)"
    ):
        checked(model)


def test_a_nearly_dependent_joint_passes():
    model = Mechanism(dimension=2)
    body = model.add(RigidBody(1.0, 1.0))
    model.connect(Slider(model.ground.at((0, 0, 0)), body.origin, axis=(1, 0, 0)))
    model.connect(Slider(model.ground.at((0, 0, 0)), body.origin, axis=(1, 1e-7, 0)))
    checked(model)
    model.connect(Slider(model.ground.at((0, 0, 0)), body.origin, axis=(1, 2e-7, 0)))
    with pytest.raises(RedundancyError):
        checked(model)


def test_the_work_grows_with_the_length_of_a_chain(monkeypatch):
    """Fronts stay as small as two joints, and joints are looked at a few times each."""
    shapes, looks = [], []
    triangle, width = redundancy._triangle, redundancy._width
    monkeypatch.setattr(redundancy, "_triangle", lambda b, n: shapes.append(b.shape) or triangle(b, n))
    monkeypatch.setattr(redundancy, "_width", lambda fronts: looks.append(1) or width(fronts))
    checked(chain(200)[0])
    assert len(shapes) == 200 and len(looks) < 4 * 200
    assert max(max(shape) for shape in shapes) <= 20
