"""The port-Hamiltonian form of a rod: structure, strains, statics, the motion of the conserving step."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph

RUBBER = ph.Material(2e6, 1000.0, 0.3, viscosity=1e-3)
AREA, MOMENTS = 0.03 * 0.05, (0.05**3 * 0.03 / 12, 0.03**3 * 0.05 / 12)


def rod(dimension=3, order=1, elements=3, material=RUBBER):
    """Mass and shear centre are beside the axis, as far as the dimension has room for them."""
    off = np.array([0.004, -0.003]) * (np.arange(1, 3) < dimension)
    section = ph.Section(AREA, *MOMENTS, 1e-7, shear_center=off, mass_center=1.5 * off)
    return ph.Rod(0.5, section, material, elements, order)


def fall(dimension):
    return np.array([1.0, -9.0, 2.0]) * (np.arange(3) < dimension)


def curve(dimension):
    return None if dimension == 1 else lambda s: (np.sin(2 * s) / 2, (1 - np.cos(2 * s)) / 2, 0.0)


def speed(dimension):
    return lambda s: np.array([0.3 + s, 1 + s, 2 * s * s]) * (np.arange(3) < dimension)


@pytest.mark.parametrize("order", [1, 2])
def test_strains_are_those_of_rods_in_models_and_change_by_the_motion(order):
    """Reissner's, of the elements that the conserving step has; rates against differences of turned sections."""
    given = rod(3, order)
    model = ph.Model()
    model.add(given, "rod", shape=curve(3))
    form = given.port_hamiltonian(shape=curve(3), velocity=speed(3))
    x, strain = form.initial_state, form.state_slice("strain")
    elements = model.rods[0].elements
    assert x[strain] == pytest.approx(np.concatenate([each.rest_strains.ravel() for each in elements]), abs=1e-13)
    rates = form.forces(x, np.zeros(form.port_size))[strain] / form.descriptor_matrix(x).diagonal()[strain]
    spins = x[form.state_slice("angular_velocity")].reshape(-1, 3)

    def gap(time):
        later = x.copy()
        later[form.state_slice("position")] += time * x[form.state_slice("velocity")]
        turns = form.rotations(x) @ Rotation.from_rotvec(time * spins).as_matrix()
        later[form.state_slice("rotation_rows")] = turns.ravel()
        return form.strain_gap(later)

    assert -(gap(1e-5) - gap(-1e-5)) / 2e-5 == pytest.approx(rates, abs=1e-8 * np.abs(rates).max())


@pytest.mark.parametrize(
    ("dimension", "order", "start"), [(1, 2, "fixed"), (2, 2, "fixed"), (3, 1, "force"), (3, 2, "fixed")]
)
def test_it_moves_as_the_conserving_step_to_round_off(dimension, order, start):
    """The discrete gradient, with loads at the end and viscosity; its strains stay those of the shape."""
    given, weight, push = rod(dimension, order, 9 // order), fall(dimension), np.array([2.0, 3.0, 1.0])
    twist, shape = np.array([0.02, 0.01, 0.03]), curve(dimension)
    form = given.port_hamiltonian(dimension=dimension, gravity=weight, shape=shape, start=start)
    model = ph.Model(gravity=weight, dimension=dimension)
    placed = model.add(given, "rod", shape=shape)
    if start == "fixed":
        model.connect(ph.Fixed(model.ground.at((0, 0, 0)), placed.start))
    model.apply(ph.Force(placed.end, push * (np.arange(3) < dimension)))
    inputs = {"end force": push[:dimension]}
    if dimension > 1:
        inputs["end moment"] = twist if dimension == 3 else twist[2:]
        model.apply(ph.Torque(placed.end, twist if dimension == 3 else (0, 0, twist[2])))
    motion = model.simulate(0.006, 1e-3, progress=False)
    run = ph.integrate(form, form.initial_state, inputs, 0.006, 1e-3, method="discrete_gradient")
    found = np.array([form.positions(x) for x in run.states])
    assert found == pytest.approx(np.stack([motion.position(n) for n in placed.nodes()], axis=1), abs=1e-13)
    assert run.dissipated[-1] > 1e-5 * np.ptp(run.energy)
    assert np.abs(run.balance_error).max() < 1e-14 * (1 + run.energy.max())
    assert max(np.abs(form.strain_gap(x)).max() for x in run.states) < 1e-12


def test_a_free_rod_keeps_its_momenta_and_moves_alike_in_any_frame():
    """Turned about an axis across the rod, so that its sections stand as they do in the other frame."""
    given = rod(3, 1, material=ph.Material(2e6, 1000.0, 0.3))
    turn, place = Rotation.from_rotvec((0.0, -1.1, 0.7)).as_matrix(), np.array([3.0, -2.0, 5.0])
    shape, rate = curve(3), speed(3)
    paths = []
    for R, r in ((np.eye(3), np.zeros(3)), (turn, place)):

        def at(s, R=R, r=r):
            return r + R @ shape(s)

        form = given.port_hamiltonian(shape=at, velocity=lambda s, R=R: R @ rate(s), angular_velocity=R @ (9, 5, 7))
        run = ph.integrate(form, form.initial_state, None, 0.01, 2e-3, method="discrete_gradient")
        momenta = np.array([np.concatenate(form.momenta(x)) for x in run.states])
        assert np.ptp(momenta, axis=0) == pytest.approx(np.zeros(6), abs=1e-13)
        assert np.ptp(run.energy) < 1e-13 * run.energy[0]
        paths.append(np.array([(form.positions(x) - r) @ R for x in run.states]))
    assert paths[0] == pytest.approx(paths[1], abs=1e-12)


def test_gauss_has_order_four_and_keeps_rotations():
    given = rod(3, 1, 2, ph.Material(2e4, 1000.0, 0.3))
    form = given.port_hamiltonian(shape=curve(3), velocity=speed(3), angular_velocity=(1.0, 2.0, 3.0))

    def end(steps):
        run = ph.integrate(form, form.initial_state, None, 2e-3, 2e-3 / steps, method="gauss2")
        turns = form.rotations(run.states[-1])
        assert np.swapaxes(turns, 1, 2) @ turns == pytest.approx(np.tile(np.eye(3), (3, 1, 1)), abs=1e-12)
        return run.states[-1]

    exact = end(16)
    coarse, fine = (np.abs(end(steps) - exact).max() for steps in (2, 4))
    assert np.log2(coarse / fine) == pytest.approx(4, abs=0.25)


def test_ports_are_forces_and_velocities_in_world_axes():
    form = rod().port_hamiltonian(shape=curve(3), velocity=speed(3), angular_velocity=(1.0, 2.0, 3.0), end="fixed")
    start, turn, along = [(p.name, p.input_unit, p.output_unit, p.size) for p in form.ports]
    assert start == ("start force", "N", "m/s", 3) and turn == ("start moment", "N m", "rad/s", 3)
    assert along == ("distributed force", "N/m", "m^2/s", 9)
    y = form.output(form.initial_state)
    assert y[:6] == pytest.approx([*speed(3)(0.0), 1, 2, 3])
    lengths = [node.weight for node in rod().nodes()[:3]]
    assert form.output_coordinates(form.initial_state, "distributed force")[:3] == pytest.approx(y[:3])
    assert y[6:9] == pytest.approx(lengths[0] * y[:3])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dimension": 2, "gravity": (0, 0, -9.81)}, "gravity must stay in a model of dimension 2"),
        ({"shape": ((0, 0, 0), (1, 0, 0))}, "shape is 1 m long and the rod 0.5 m"),
    ],
)
def test_gravity_across_the_plane_and_shapes_of_another_length_are_refused(options, words):
    with pytest.raises(ph.ParameterError, match=words):
        rod(2).port_hamiltonian(**options)
