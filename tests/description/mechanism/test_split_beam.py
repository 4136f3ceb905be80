"""A beam in parts: one handle, fixed parts, and large deflections against the elastica."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded
from phlexible.description.interactions.functions import PointOf
from phlexible.linear.equilibria import OperatingKind, operating_point
from phlexible.state.system import system_of
from refusals import refused

LENGTH = 1.2
BEAM = ph.Beam(LENGTH, ph.CircularSection(0.02), ph.Material(7e10, 2700.0), elements=6)


def test_the_handle_is_one_beam() -> None:
    model = ph.Model(dimension=2)
    body = model.add(BEAM.split(3), "arm", position=(0.1, 0.2, 0.0), rotation=np.pi / 2)
    assert [placed.name for placed in model.bodies] == ["arm part 1", "arm part 2", "arm part 3"]
    assert model["arm"] is body and model["arm part 2"] is body.parts[1]
    assert body.body.length == pytest.approx(LENGTH)
    assert [placed.body.elements for placed in body.parts] == [2, 2, 2]
    assert [str(joint) for joint in model.joints] == [
        "Fixed(arm part 1.end, arm part 2.start)",
        "Fixed(arm part 2.end, arm part 3.start)",
    ]
    for port, x in [
        (body.start, 0),
        (body.end, LENGTH),
        (body.origin, 0),
        *((body.at(x), x) for x in (0.1, 0.4, 0.8, 1)),
    ]:
        assert port.initial_position() == pytest.approx([0.1, 0.2 + x, 0.0], abs=1e-12)
    assert body.at(0.8).placed is body.parts[2]
    assert body.point((0.5, 0.01, 0.0)).initial_position() == pytest.approx([0.09, 0.7, 0.0])
    assert sum(placed.data.mass for placed in body.parts) == pytest.approx(BEAM.discretize(2).mass)


def test_how_many_elements_a_part_has() -> None:
    assert [BEAM.split(n).part.elements for n in (1, 2, 4, 6, 8)] == [6, 3, 2, 1, 1]
    assert BEAM.split(4, elements=5).part.elements == 5


@pytest.mark.parametrize("parts", [1, 2, 4])
def test_viscosity_damps_a_beam_in_parts_as_the_whole(parts: int) -> None:
    """``split`` offers it instead of a damping ratio: 2 ratio / frequency, for the first mode of a cantilever."""
    frequency = 1.875104**2 / LENGTH**2 * np.sqrt(7e10 / 2700.0) * 0.01 / 2  # of radius / 2, the radius of gyration
    beam = replace(BEAM, material=ph.Material(7e10, 2700.0, viscosity=2 * 0.02 / frequency))
    model, *_ = grounded(beam.split(parts), dimension=2, name="arm")
    assert model.linearize().modes(1).damping_ratios == pytest.approx([0.02], rel=1e-3)


def test_refusals() -> None:
    for parts in (0, 1.5, -1, "two", True):
        with pytest.raises(ph.ParameterError, match="parts must be a whole number"):
            BEAM.split(parts)
    refused(ph.ParameterError, "elements must be", lambda: BEAM.split(2, elements=0))
    model = ph.Model()
    body = model.add(BEAM.split(2), "arm")
    refused(ph.ModelError, "'arm' is already", lambda: model.add(BEAM, "arm"))
    refused(ph.ModelError, "'arm part 2' is already", lambda: model.add(BEAM, "arm part 2"))
    other = ph.Model()
    other.add(BEAM, "arm part 2")
    with pytest.raises(ph.ModelError, match="'arm part 2' is already in the model; give 'arm' another"):
        other.add(BEAM.split(2), "arm")
    assert len(other.bodies) == 1
    for x in (-0.1, LENGTH + 0.1):
        with pytest.raises(ph.AttachmentError, match="0 <= x <= 1.2"):
            body.at(x)
    refused(ph.ModelError, "the model has: arm, arm part 1", lambda: model["leg"])
    refused(ph.ModelError, r"split\(2\)", lambda: model.replace(arm=BEAM))


def test_parts_are_replaced_together() -> None:
    model = ph.Model()
    model.add(BEAM.split(2), "arm")
    heavy = ph.Beam(LENGTH, ph.CircularSection(0.02), ph.Material(7e10, 5400.0), elements=6)
    copy = model.replace(arm=heavy.split(2))
    assert copy["arm"].end.placed is copy.bodies[1]
    assert copy["arm"].body.part.material.density == 5400.0
    assert [placed.data.mass for placed in copy.bodies] == pytest.approx([2 * p.data.mass for p in model.bodies])


def test_a_file_knows_the_handle(tmp_path) -> None:
    model, body, _ = grounded(BEAM.split(2), ph.Revolute, gravity=(0, -9.81, 0), dimension=2, name="arm")
    motion = model.simulate(0.01, 1e-3, progress=False)
    motion.save(tmp_path / "run.h5")
    loaded = ph.Motion.load(tmp_path / "run.h5")
    assert np.array_equal(loaded.position(loaded["arm"].at(0.7)), motion.position(body.at(0.7)))
    assert np.array_equal(loaded.section_forces(loaded["arm"]).normal, motion.section_forces(body).normal)


def test_a_given_rotation_spins_all_parts() -> None:
    """A free beam that turns: its invariants are those of the uncut beam."""
    figures = []
    for body in (BEAM, BEAM.split(3)):
        model = ph.Model()
        model.add(body, "arm", position=(-LENGTH / 2, 0, 0), velocity=(0, -3.0, 0), angular_velocity=(0, 0, 5.0))
        motion = model.simulate(0.1, 1e-3, progress=False)
        assert motion.momentum.linear == pytest.approx(np.zeros((101, 3)), abs=1e-11)
        figures.append([motion.energy.total[-1], *motion.momentum.angular[-1]])
    assert figures[1] == pytest.approx(figures[0], rel=1e-11, abs=1e-11)


@cache
def deflected_tip(load: float, parts: int, frame: str = "simply_supported", out: float = 0.0) -> np.ndarray:
    """(u, w) / L of a slender cantilever under the dead end load P = load EI / L^2.

    ``out``: in space, with the load turned by this angle out of the xy plane.
    """
    slender = ph.Section(area=1.0, second_moment_y=1e-8)
    beam = ph.Beam(1.0, slender, ph.Material(1e8, 1.0), elements=parts, frame=frame)
    model, body, _ = grounded(beam.split(parts), dimension=3 if out else 2, name="beam")
    model.apply(ph.Force(body.end, (0.0, load * np.cos(out), load * np.sin(out))))
    system = system_of(model)
    state = operating_point(system, OperatingKind.STATIC, None).state
    tip = system.vectors([PointOf(body.end)]).values(system.at(state))[0, 0]
    assert abs(-np.sin(out) * tip[1] + np.cos(out) * tip[2]) < 0.04 / parts**2
    return np.array([1 - tip[0], np.hypot(tip[1], tip[2])])


@pytest.mark.parametrize(("load", "tip"), [(1, (0.056433, 0.301721)), (10, (0.554996, 0.810609))])
def test_with_eight_parts_the_tip_is_on_the_elastica_within_one_per_cent(load, tip) -> None:
    """Both deflections of the inextensible elastica, as integrated to 1e-12 (Mattiasson 1981)."""
    assert deflected_tip(load, 8) == pytest.approx(tip, rel=0.01)


@pytest.mark.parametrize(("parts", "close"), [(4, 1e-2), pytest.param(8, 5e-3, marks=pytest.mark.thorough)])
def test_a_beam_bends_in_any_plane_alike(parts, close) -> None:
    assert deflected_tip(2, parts, out=0.6) == pytest.approx(deflected_tip(2, parts), rel=close)


def test_the_error_falls_with_the_cube_of_the_parts() -> None:
    errors = [np.linalg.norm(deflected_tip(2, parts) - (0.160642, 0.493457)) for parts in (4, 8, 16)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders[1] == pytest.approx(3, abs=0.2)
    assert orders[0] > 2.5
