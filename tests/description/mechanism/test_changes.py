"""Names of parts, copies, parts that are taken away or replaced: the rest stays what it was."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

import phlexible as ph
from phlexible.description.interactions.loads import Load
from phlexible.description.ports import Attachment
from phlexible.description.references import references
from phlexible.measure.sensors import Sensor
from refusals import refused

STEEL = ph.Material(2e11, 7870.0)
ROD = ph.Beam(1.0, ph.CircularSection(0.01), STEEL, elements=2)


def pendulum():
    """A rod on a hinge that a spring, a motor and a drag hold; a ball on a rope of one spring at its end."""
    model = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    rod = model.add(ROD, "rod")
    ball = model.add(ph.PointMass(0.5), "ball", position=(1.0, -1.0, 0.0))
    hinge = model.connect(ph.Revolute(model.ground.at((0.0, 0.0, 0.0)), rod.start, name="hinge"))
    model.apply(hinge.spring(3.0, name="spring"))
    model.apply(hinge.torque(0.2, name="motor"))
    model.apply(ph.SpringDamper(rod.end, ball.origin, 400.0, name="rope"))
    model.apply(ph.Force(rod.at(0.5), (0.0, 1.0, 0.0)))
    return model


def angle(model):
    return model.simulate(0.1, 1e-3, progress=False).angle(model.joint("hinge"))


def test_parts_have_names():
    model = pendulum()
    assert model.joint("hinge") is model.joints[0] and str(model.joint("hinge")) == "hinge"
    assert [str(model.part(name)) for name in ("spring", "rope", "force on rod.at(0.5)")] == [
        "spring",
        "rope",
        "force on rod.at(0.5)",
    ]
    refused(ph.ModelError, "no joint is named 'hing'; the model has: hinge", lambda: model.joint("hing"))
    refused(ph.ModelError, "no part is named 'ball'; the model has: hinge, force on", lambda: model.part("ball"))
    with pytest.raises(ph.ModelError, match="a joint named 'hinge' is already in the model"):
        model.connect(ph.Spherical(model["rod"].end, model["ball"].origin, name="hinge"))


def test_a_model_without_a_part_is_the_model_that_never_had_it():
    """To the last bit; and a copy knows nothing of what its model loses."""
    model = pendulum()
    whole = angle(model)
    copy = model.copy().remove("rope", "ball")
    other = pendulum()
    other.remove(other.part("rope"))
    assert copy.remove("motor") is copy and [each.name for each in copy.bodies] == ["rod"]
    plain = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=2)
    rod = plain.add(ROD, "rod")
    plain.apply(plain.connect(ph.Revolute(plain.ground.at((0.0, 0.0, 0.0)), rod.start, name="hinge")).spring(3.0))
    plain.apply(ph.Force(rod.at(0.5), (0.0, 1.0, 0.0)))
    assert np.array_equal(angle(copy), angle(plain))
    assert np.array_equal(angle(model), whole) and not np.array_equal(angle(other), whole)
    again = other.apply(ph.SpringDamper(other["rod"].end, other["ball"].origin, 400.0, name="rope"))
    assert str(again) == "rope"
    assert angle(other) == pytest.approx(whole, abs=1e-15)


def test_what_others_refer_to_goes_with_them_only():
    model = pendulum()
    refused(ph.ModelError, "rope refers to ball; remove it, too", lambda: model.remove("ball"))
    with pytest.raises(ph.ModelError, match="spring refers to Revolute hinge; remove it, too"):
        model.remove(model.joint("hinge"))
    assert len(model.bodies) == 2 and len(model.joints) == 1
    refused(ph.ModelError, "Revolute hinge is not in this model", lambda: model.remove(pendulum().joint("hinge")))
    model.at(0.05, lock=model.joint("hinge"))
    with pytest.raises(ph.ModelError, match="lock of hinge at t = 0.05 s refers to"):
        model.remove("hinge", "spring", "motor")
    watched = ph.Feedback(
        lambda t, y: -y, [ph.JointRate(model.joint("hinge"))], on=[ph.Torque(model["rod"].end, (0, 0, 1))]
    )
    model.remove(model.events[0])
    assert model.apply(watched) is watched
    refused(ph.ModelError, "torque on rod.end refers to", lambda: model.remove("hinge", "spring", "motor"))
    model.remove(watched, "hinge", "spring", "motor", "rope")
    assert model.joints == () and [str(each) for each in model.loads] == ["force on rod.at(0.5)"]


def test_beams_in_parts_and_rods_go_as_wholes():
    model = ph.Model(dimension=2)
    model.add(ph.PointMass(1.0), "ball")
    model.add(ROD.split(3), "split")
    model.add(ph.Rod(1.0, ph.CircularSection(0.01), STEEL, elements=3), "rod", position=(0.0, 1.0, 0.0))
    model.remove("split", model["rod"])
    assert [each.name for each in model.bodies] == ["ball"]
    assert not model.joints and not model.elements and not model.wholes
    assert len(model.add(ROD.split(2), "split").parts) == 2  # the name is free again


def test_a_beam_that_is_no_longer_clamped_floats_again():
    """Its frame is chosen by how it is held."""
    model, free = ph.Model(dimension=2), ph.Model(dimension=2).add(ROD, "rod")
    rod = model.add(ROD, "rod")
    clamp = model.connect(ph.Fixed(model.ground.at((0.0, 0.0, 0.0)), rod.start))
    assert rod.resolved != free.resolved
    model.remove(clamp)
    assert rod.resolved == free.resolved


def test_parts_are_replaced_by_name():
    model = pendulum()
    stiffer = model.replace(
        spring=model.joint("hinge").spring(30.0), parts={"motor": model.joint("hinge").torque(0.0)}
    )
    assert [each.stiffness for each in (model.part("spring"), stiffer.part("spring"))] == [3.0, 30.0]
    assert stiffer.part("spring").joint is stiffer.joint("hinge")
    other = pendulum().remove("motor", "spring")
    other.apply(other.joint("hinge").spring(30.0))
    assert angle(stiffer) == pytest.approx(angle(other), abs=1e-15)
    words = "'spring' is a JointElement and can only be replaced by a ForceElement"
    refused(ph.ModelError, words, lambda: model.replace(spring=ph.Force(model["rod"].end, (0.0, 1.0, 0.0))))
    with pytest.raises(ph.ModelError, match="no part is named 'sprin'"):
        model.replace(sprin=model.joint("hinge").spring(1.0))


def test_names_of_joints_are_kept_in_files(tmp_path):
    pendulum().simulate(0.01, 1e-3, progress=False).save(tmp_path / "run.h5")
    assert ph.Motion.load(tmp_path / "run.h5").mechanism.joint("hinge").name == "hinge"


@dataclass(frozen=True, eq=False, repr=False)
class Pulls(Load):
    """Forces whose places stand in a mapping, in pairs and in a sensor."""

    shares: Mapping[str, tuple[Attachment, float]]
    tips: Sequence[tuple[Attachment, Sensor | None]] = ()

    def entries(self):
        return tuple(ph.Force(port, (factor, 0.0, 0.0)) for port, factor in self.shares.values())

    def __str__(self):
        return "pulls"


@pytest.mark.parametrize("field", ["shares", "tips", "sensor"])
def test_references_are_seen_in_mappings_tuples_and_sensors_of_classes_of_users(field):
    """A load moves to the bodies of a copy, holds on to its bodies, and belongs to one model."""
    model = pendulum()
    rod, ball = model["rod"], model["ball"]
    seen = {
        "shares": {"shares": {"a": (rod.end, 1.0), "b": (ball.origin, 2.0)}},
        "tips": {"shares": {"a": (rod.end, 1.0)}, "tips": [(ball.origin, None)]},
        "sensor": {"shares": {"a": (rod.end, 1.0)}, "tips": [(rod.end, ph.Position(ball.origin))]},
    }[field]
    model.apply(Pulls(**seen))
    other = model.copy()
    pulls = other.part("pulls")
    assert {each.placed for each in references(pulls)} == {other["rod"], other["ball"]}
    assert {each.placed for each in references(model.part("pulls"))} == {rod, ball}
    refused(ph.ModelError, "pulls refers to ball; remove it, too", lambda: model.remove("rope", "ball"))
    refused(ph.ModelError, "is on a body of another model", lambda: pendulum().apply(Pulls(**seen)))


def test_a_split_beam_takes_only_joints_between_its_parts_along():
    model = ph.Model()
    body = ph.Beam(1.0, ph.CircularSection(0.02), ph.Material(2e11, 7800.0), elements=2)
    beam = model.add(body.split(3), "beam")
    clamp = model.connect(ph.Fixed(model.ground.at((0, 0, 0)), beam.start))
    with pytest.raises(ph.ModelError, match=r"Fixed\(ground.at\(0, 0, 0\), .* refers to .*; remove it, too"):
        model.remove("beam")
    assert len(model.joints) == 3
    assert not model.remove("beam", clamp).joints
