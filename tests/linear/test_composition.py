"""Linear models put together from bodies by transformers equal those of linearize."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph

ROD = ph.Beam(0.5, ph.RectangularSection(0.01, 0.02), ph.Material(2e9, 1200.0, viscosity=1e-4), 2)


def spatial():
    """A tree with a closed loop in the air and every joint of space, at odd angles."""
    model, rng = ph.Model(), np.random.default_rng(2)
    turn = Rotation.from_rotvec([0.3, -0.5, 0.7])
    first = model.add(ROD, "first", rotation=turn)
    tip = turn.apply([0.5, 0, 0])
    hub = model.add(ph.RigidBody(1.0, (0.1, 0.12, 0.15)), "hub", position=tip)
    model.connect(ph.Universal(model.ground.at((0, 0, 0)), first.start, (1, 0, 0), (0, 1, 0)))
    model.connect(ph.Revolute(first.end, hub.origin, axis=rng.normal(size=3)))
    joints = [
        lambda a, b: ph.Cylindrical(a, b, axis=(1, 2, 0)),
        lambda a, b: ph.Prismatic(a, b, axis=(0, 1, 2)),
        lambda a, b: ph.Planar(a, b, axis=(1, 1, 1)),
        lambda a, b: ph.Spherical(a, b),
        lambda a, b: ph.Slider(a, b, axis=(0, 1, 0)),
        lambda a, b: ph.Fixed(a, b),
    ]
    for k, make in enumerate(joints):
        body = model.add(ph.RigidBody(0.3, (0.02, 0.03, 0.04)), f"body {k}", position=tip)
        model.connect(make(hub.origin, body.origin))
    model.connect(ph.Distance(model["body 3"].point((0.1, 0, 0)), model["body 4"].point((0, 0.2, 0))))
    model.add(ROD, "loose", position=(2, 0, 0))
    return model


def four_bar():
    return ph.gallery.four_bar(0.4, elements=4)


def satellite():
    return ph.gallery.satellite(elements=3)


@pytest.mark.parametrize("build", [four_bar, satellite, spatial])
def test_the_composed_model_is_that_of_linearize(build):
    model = build()
    body = next(placed for placed in model.bodies if placed.data.elastic_count)
    moving = [joint for joint in model.joints if not isinstance(joint, ph.Fixed)]
    linear = model.linearize(inputs=[body.end, *moving[:1]])
    composed = linear.composed()
    assert isinstance(composed, ph.LinearPHDAE)
    assert composed.states == linear.states and composed.ports == linear.ports
    for name in ("descriptor", "structure", "dissipation", "port_map", "effort_map"):
        expected, found = getattr(linear, name), getattr(composed, name)
        assert abs(found - expected).max() <= 1e-12 * abs(expected).max(), name
    assert len(linear.ports) >= 3 and linear.port_map.nnz


def test_a_body_has_a_port_for_each_row_of_its_joints():
    model = four_bar()
    linear = model.linearize(inputs=[model["coupler"].at(0.1)])
    body = linear.body_model(model["coupler"])
    assert [(port.input_unit, port.output_unit) for port in body.ports] == [*[("N", "m/s")] * 8, ("N m", "rad/s")]
    assert body.order == 2 * model["coupler"].data.velocity_count
    assert {state.unit for state in body.states} == {"m", "rad", "m/s", "rad/s"}
    crank = linear.body_model(model["crank"])
    with pytest.raises(ph.ModelError, match="input_unit of crank, joint 0 row 2 is N m, but input_unit of"):
        ph.transformer(crank, body, [[-1.0]], ("crank, joint 0 row 2", "coupler, joint 1 row 0"))


def test_what_has_no_parts_says_so():
    model = ph.gallery.flexible_pendulum(elements=3)
    with pytest.raises(ph.EquilibriumError, match='couple the stiffnesses of bodies, .* at="unloaded"'):
        model.linearize(at="static").composed()
    linear = satellite().linearize()
    with pytest.raises(ph.ModelError, match="reduced or eliminated model has no bodies"):
        linear.eliminate_constraints().composed()
    with pytest.raises(ph.ModelError, match="body must be one of the model that was linearized"):
        linear.body_model(satellite()["hub"])


def test_every_state_and_port_has_a_unit():
    """Also of reduced ones and in all forms; units of efforts times those of rates are watts."""
    model = satellite()
    hub = model["hub"]
    linear = model.linearize([ph.Torque(hub.origin, (0, 0, 1))], [ph.Angle(hub.origin, (0, 0, 1))])
    with pytest.warns(ph.errors.LeftOutWarning, match="rotation of coupler at 75 rad/s"):
        modal = ph.gallery.crank_slider(modes=2).linearize()
    stress = model.linearize([ph.Force(hub.origin, (1, 0, 0))], form="stress")
    reduced = linear.reduce(8, "modal")
    for each in (linear, modal, stress, reduced, stress.reduce(5, "balanced"), linear.eliminate_constraints()):
        assert all(state.unit for state in each.states)
        assert all(port.input_unit and port.output_unit for port in each.ports)
        assert len(each.output_units) == len(each.outputs)
    assert linear.output_units == ("rad",) and linear.ports[0].input_unit == "N m"
    units = {state.name: state.unit for state in linear.states}
    assert units["hub turn z"] == "rad" and units["rate of hub turn z"] == "rad/s"
    assert units["right panel eta 1"] == "m" and units["right panel eta 2"] == "rad"
    last = linear.states[-1]
    assert last.unit == "N m" and last.name.endswith("left panel.start), rotation z")
    assert {state.unit for state in modal.states} >= {"kg^0.5 m", "kg^0.5 m/s", "m", "N"}
    assert {state.unit for state in reduced.states} == {"kg^0.5 m", "kg^0.5 m/s"}


def half(name, place):
    """A free beam of half the length with ports at both ends, on its own."""
    model = ph.Model(dimension=2)
    beam = model.add(ROD, name, position=(place, 0, 0))
    return model.linearize(inputs=[beam.start, beam.end])


def port_names(body, end):
    return [f"force on {body}.{end} x", f"force on {body}.{end} y", f"torque on {body}.{end} z"]


def test_models_that_were_linearized_apart_can_be_joined():
    """Two halves of a beam, welded by a transformer of their ports, have the modes of the welded model."""
    first, second = half("first", 0.0), half("second", 0.5)
    ports = (port_names("first", "end"), port_names("second", "start"))
    joined = ph.LinearModel.of(ph.transformer(first, second, np.eye(3), ports))
    whole = ph.Model(dimension=2)
    parts = [whole.add(ROD, name, position=(x, 0, 0)) for name, x in (("first", 0.0), ("second", 0.5))]
    whole.connect(ph.Fixed(parts[0].end, parts[1].start))
    expected = whole.linearize().modes(9).elastic_frequencies
    assert joined.modes(40).elastic_frequencies[:6] == pytest.approx(expected, rel=1e-6)
    for wrong in (port_names("second", "start")[::-1], port_names("second", "start")[:2]):
        with pytest.raises(ph.ModelError, match="is N, N, N m, but|must have shape"):
            ph.transformer(first, second, np.eye(3), (ports[0], wrong))
