"""What a picture chooses to show of a motion: places that move, named as the user named them."""

import numpy as np
import pytest

import phlexible as ph
from mechanisms import grounded
from phlexible.pictures.panels import MOST_ASKED, default_panels, point_label
from phlexible.pictures.style import refined_pieces

RUBBER = ph.Material(1e6, 1000.0, 0.3)
SECTION = ph.RectangularSection(0.02, 0.02)


def falling(body):
    model, placed, _ = grounded(body, ph.Revolute, gravity=(0, -9.81, 0), dimension=2, name="thing")
    return model.simulate(0.02, 1e-3, progress=False), placed


@pytest.mark.parametrize("body", [ph.Rod(1.0, SECTION, RUBBER, 6), ph.Beam(1.0, SECTION, RUBBER, 4).split(2)])
def test_rods_and_beams_in_parts_show_their_ends(body) -> None:
    motion, placed = falling(body)
    panel = next(panel for panel in default_panels(motion.run, [], most=9) if panel.label == "position [m]")
    curves = dict(panel.curves)
    assert "y of thing, end" in curves and all("node" not in name and "part" not in name for name in curves)
    assert np.array_equal(curves["y of thing, end"], motion.position(placed.end)[:, 1])


def test_a_plate_shows_how_far_its_softest_point_bends_from_its_first_interface() -> None:
    """That is held in place here; the mean axis moves with the plate."""
    body = ph.Plate(1.0, 0.5, 0.01, RUBBER, (2, 1), modes=2, interfaces={"start": "rigid"})
    model, plate, _ = grounded(body, by="start", gravity=(0, 0, -9.81), name="plate")
    motion = model.simulate(4e-3, 1e-3, progress=False)
    panel = default_panels(motion.run, [], most=1)[0]
    assert panel.label == "deflection / length [%]"
    ((name, values),) = [curve for curve in panel.curves if curve[0].startswith("$u_z$")]
    assert name == f"$u_z$ of plate, {np.hypot(1, 0.25):.3g} m from start"
    corner = plate.point((1, 0.25, 0))
    fallen = motion.position(corner)[:, 2] - corner.initial_position()[2]
    assert fallen[-1] < -1e-5
    assert values == pytest.approx(100 * fallen / plate.data.size, rel=1e-3, abs=1e-6)


def test_a_soft_body_shows_the_node_that_goes_farthest() -> None:
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    mesh = ([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    sheet = model.add(ph.SoftBody(mesh, ph.NeoHookean(1e5, 0.3), 1000.0, 0.1, order=1), "sheet")
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), sheet.node(0)))
    model.connect(ph.Spherical(model.ground.at((0, 1, 0)), sheet.node(3)))
    motion = model.simulate(0.05, 5e-3, progress=False)
    panel = next(panel for panel in default_panels(motion.run, [], most=9) if panel.label == "position [m]")
    places = {k: motion.position(sheet.node(k)) for k in range(4)}
    farthest = max(places, key=lambda k: np.linalg.norm(places[k] - places[k][0], axis=1).max())
    assert np.array_equal(dict(panel.curves)[f"y of sheet, node {farthest}"], places[farthest][:, 1])


def test_of_many_joints_and_bodies_only_the_liveliest_are_read_and_they_are_shown(monkeypatch) -> None:
    """A chain of a hundred; its last links, which are hit, turn and go farthest."""
    model = ph.Model(dimension=2)
    box = ph.RigidBody.box((0.1, 0.02, 0.02), 1000.0)
    port = model.ground.at((0, 0, 0))
    for k in range(100):
        link = model.add(box, f"link {k}", position=(0.1 * k + 0.05, 0, 0))
        model.connect(ph.Revolute(port, link.point((-0.05, 0, 0))))
        port = link.point((0.05, 0, 0))
    model.apply(ph.Force(port, (0.0, 2.0, 0.0)))
    motion = model.simulate(0.1, 5e-3, progress=False)
    angles = {joint: motion.angle(joint) for joint in model.joints}
    asked: list[object] = []
    monkeypatch.setattr(
        ph.JointPosition, "of_kind", lambda self, run, is_angle: asked.append(self.joint) or angles[self.joint]
    )
    panels = {panel.label: panel for panel in default_panels(motion.run, [], most=9)}
    assert len(asked) == MOST_ASKED
    curves = panels["angle of joints [rad]"].curves
    liveliest = sorted(angles.values(), key=np.ptp)[-len(curves) :]
    assert len(curves) > 1 and all(any(values is each for each in liveliest) for _, values in curves)
    assert any(name.endswith("of link 99") for name, _ in panels["position [m]"].curves)


def test_points_are_named_in_words() -> None:
    model = ph.Model()
    beam = model.add(ph.Beam(1.0, SECTION, RUBBER, 2), "beam")
    box = model.add(ph.RigidBody.box((1, 1, 1), 1.0), "box")
    ports = [beam.start, beam.end, beam.at(0.25), box.origin, box.point((0.5, 0, -0.25))]
    said = ["beam, start", "beam, end", "beam, 0.25 m along", "box", "box at (0.5, 0, -0.25) m"]
    assert [point_label(port) for port in ports] == said


def test_a_satellite_shows_how_far_it_has_turned():
    model = ph.gallery.satellite()
    model.apply(ph.Torque(model["hub"].origin, (0, 0, 50.0)))
    motion = model.simulate(0.5, 5e-2)
    panel = next(each for each in default_panels(motion.run, [], 9) if each.label.startswith("angle turned"))
    hub = motion.run.mechanism["hub"]
    ((name, angle),) = panel.curves
    assert name == "hub" and angle[0] == 0
    np.testing.assert_allclose(angle[-1], np.arccos((np.trace(motion.rotation(hub)[-1]) - 1) / 2), rtol=1e-6)


def test_a_box_behind_another_is_drawn_before_it():
    small, own = refined_pieces(np.array([[[0.0, 0, 0], [8, 0, 0], [0, 1, 0]]]), 0.5, 10_000)
    area = np.linalg.norm(np.cross(small[:, 1] - small[:, 0], small[:, 2] - small[:, 0]), axis=1).sum()
    np.testing.assert_allclose(area, 8.0, rtol=1e-12)
    assert np.linalg.norm(np.roll(small, -1, axis=1) - small, axis=2).max() <= 0.5 and not own.any()
