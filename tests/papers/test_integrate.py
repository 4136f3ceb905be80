"""The papers' equations in time: orders, energy, variants of one body, inputs, what is refused."""

import numpy as np
import pytest

import phlexible as ph
from bodies.forms import beam
from papers.test_collocation import double_pendulum
from phlexible.papers.collocation import Equations
from phlexible.papers.floating_forms import BodyState
from phlexible.papers.integrate import Method, stage_loop

GRAVITY = (0.0, -9.81, 0.0)
SYMMETRIC = ("midpoint", "discrete_gradient")


def pendulums():
    """Two rigid bodies in the plane on hinges, from ports: x at t = 0 as well."""
    body = ph.RigidBody(2.0, 0.3, center=(0.4, 0.1, 0.0)).port_hamiltonian(dimension=2, gravity=GRAVITY)
    end = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])  # force at (1, 0): force and moment at the origin
    force, moment = body.ports[:2]
    first, second = (ph.with_prefix(body.with_ports(hinge=force, arm=(force, moment)), name) for name in "ab")

    def turned(a, b):
        return end @ a[2:6].reshape(2, 2).T @ b[2:6].reshape(2, 2)

    whole = ph.inverted(ph.transformer(first, second, turned, ("a.arm", "b.hinge")), "a.hinge")
    x = whole.rest_state.copy()
    x[whole.state_slice("b.position")] = [1.0, 0.0]
    x[whole.state_slice("b.angular_velocity")] = 2.0
    return whole, x


def crank_slider(variant="full", elements=4, strain="linear"):
    """The crank-slider of section 6.2 as (49) puts it together; x at t = 0, and the crank as input."""
    model = ph.gallery.crank_slider(elements=elements, strain=strain)
    form = model["coupler"].resolved.port_hamiltonian(variant, dimension=2)
    mass = ph.PointMass(0.033).port_hamiltonian(dimension=2)
    port = mass.port("origin force")
    slider = ph.with_prefix(mass.with_ports(joint=port, guide=port.select(1)), "slider")
    coupler = ph.with_prefix(form, "coupler")

    def rotation(x):
        return x[form.state_slice("rotation_rows")].reshape(2, 2)

    whole = ph.transformer(coupler, slider, lambda a, b: rotation(a).T, ("coupler.end force", "slider.joint"))
    whole = ph.inverted(ph.inverted(whole, "slider.guide"), "coupler.start force")
    x = whole.rest_state.copy()
    x[whole.state_slice("coupler.position")], x[whole.state_slice("slider.position")] = [0.15, 0.0], [0.45, 0.0]
    x[whole.state_slice("coupler.velocity")], x[whole.state_slice("coupler.angular_velocity")] = [0.0, 22.5], -75.0

    def crank(t, x):
        return rotation(x).T @ (22.5 * np.array([-np.sin(150 * t), np.cos(150 * t)]))

    return whole, x, {"coupler.start force": crank}


@pytest.fixture(scope="module")
def reference():
    whole, x = pendulums()
    return ph.integrate(whole, x, None, 0.3, 0.3 / 64, "radau3").states[-1]


@pytest.mark.parametrize("method", SYMMETRIC)
def test_the_order_is_two_with_constraints_and_a_moving_mass_matrix(method, reference):
    whole, x = pendulums()
    moving = whole.state_slice("b.angular_velocity").stop
    ends = [ph.integrate(whole, x, None, 0.3, 0.3 / n, method).states[-1] for n in (16, 24)]
    first, second = (np.abs(end - reference)[:moving].max() for end in ends)
    assert np.log(first / second) / np.log(1.5) == pytest.approx(2, abs=0.3)


def test_the_composed_pendulum_is_that_of_the_mechanism(reference):
    """Independent assemblies: transformers of ports here, functions of joints there."""
    form, start = double_pendulum()
    run = ph.integrate(form, start, None, 0.3, 0.3 / 64, "radau3")
    whole, _ = pendulums()
    for name in ("a.angular_velocity", "b.angular_velocity", "b.position"):
        assert run.state(name)[-1] == pytest.approx(reference[whole.state_slice(name)], abs=1e-10)


def test_discrete_gradients_keep_the_energy_to_round_off():
    """Of a flexible mechanism with nonlinear strain and moving mass matrix, at steps that resolve nothing."""
    whole, x, crank = crank_slider(elements=2, strain="von_karman")
    run = ph.integrate(whole, x, crank, 2e-3, 1e-4, "discrete_gradient")
    assert np.abs(run.balance_error).max() < 1e-12 * run.energy.max()
    assert run.supplied.max() - run.supplied.min() > 1e-3 * run.energy.max()
    other = ph.integrate(whole, x, crank, 2e-3, 1e-4, "midpoint")
    assert np.abs(other.balance_error).max() > 1e-9 * other.energy.max()


def steps_of(method, model, x, step, count):
    """The end of some steps, without the check of the start: ends of unprojected steps swing about constraints."""
    loop = stage_loop(Method(method), Equations(model, model.default_inputs, x, np.zeros(0, dtype=np.int64)), x)
    for k in range(count):
        x = loop.advance(k * step, step, x).end
    return x


@pytest.mark.parametrize("method", ["gauss2", "midpoint", "discrete_gradient"])
def test_symmetric_methods_run_backwards(method):
    """A free beam; with constraints those without projection, which turn around as well."""
    beam = ph.Beam(0.5, ph.RectangularSection(0.03, 0.05), ph.Material(2e6, 1000.0), elements=2)
    form = beam.port_hamiltonian(dimension=2, gravity=GRAVITY)
    start = form.rest_state + 0.02 * np.random.default_rng(0).normal(size=form.state_size)
    for model, x in [(form, start)] + [pendulums()] * (method in SYMMETRIC):
        there = steps_of(method, model, x, 0.004, 16)
        back = turned_around(model, steps_of(method, model, turned_around(model, there), 0.004, 16))
        kept = model.state_size - (4 if model is not form else 0)
        assert np.abs(there - x)[:kept].max() > 0.1
        assert back[:kept] == pytest.approx(x[:kept], abs=1e-10)
    lossy = turned_around(form, steps_of("radau3", form, start, 0.004, 16))
    assert np.abs(turned_around(form, steps_of("radau3", form, lossy, 0.004, 16)) - start).max() > 1e-6


def turned_around(model, x):
    """The same place with opposite velocities."""
    result = x.copy()
    for block in model.states:
        if "velocity" in block.name:
            result[model.state_slice(block.name)] *= -1
    return result


def test_the_composed_crank_slider_is_that_of_the_conserving_step():
    """With order 2 of the step, against the same elements; (49) lets positions drift by the error of the scheme."""
    whole, x, crank = crank_slider(elements=2)
    run = ph.integrate(whole, x, crank, 5e-4, 2e-5, "gauss2")
    model = ph.gallery.crank_slider(elements=2, strain="linear")
    middle = model["coupler"].at(0.15)
    here = run.state("coupler.displacement")[-1] @ middle.point.shapes[1]
    gaps = []
    for step in (2e-5, 1e-5):
        gaps.append(abs(model.simulate(duration=5e-4, step=step).elastic_displacement(middle)[-1, 1] - here))
    assert gaps[1] < 2e-4 * abs(here)
    assert np.log2(gaps[0] / gaps[1]) > 1.9


def test_the_printed_form_doubles_the_centrifugal_load_and_is_refused():
    beam = ph.Beam(0.3, ph.CircularSection(diameter=6e-3), ph.Material(2e11, 7870.0), elements=4, strain="linear")
    loads = {}
    for variant in ("full", "printed"):
        form = beam.port_hamiltonian(variant, dimension=2)
        x = form.rest_state.copy()
        x[form.state_slice("angular_velocity")] = 10.0
        loads[variant] = form.forces(x, np.zeros(form.port_size))[form.state_slice("elastic_velocity")]
        assert np.abs(form.structure_matrix(x) + form.structure_matrix(x).T).max() == 0
    assert np.abs(loads["full"]).max() > 1e-3
    assert loads["printed"] == pytest.approx(2 * loads["full"], rel=1e-12)
    with pytest.raises(ph.StructureError, match="gradient of H in block displacement.*lacks p_f x w"):
        ph.check_structure(form, x)
    with pytest.raises(ph.ParameterError, match="dimension=2"):
        beam.port_hamiltonian("printed")


def test_variants_of_whole_mechanisms():
    """Deflection of the coupler after 1 ms: printed loads bend it otherwise, zeroth order hardly."""
    model = ph.gallery.crank_slider(elements=2, strain="linear")
    ends = {}
    for variant in ("full", "zeroth_order", "printed"):
        form = ph.MechanismModel(model, variant)
        ends[variant] = ph.integrate(form, form.initial_state, None, 1e-3, 1e-4).state("coupler.displacement")[-1]
    size = np.abs(ends["full"]).max()
    assert np.abs(ends["zeroth_order"] - ends["full"]).max() < 0.02 * size
    assert np.abs(ends["printed"] - ends["full"]).max() > 0.2 * size
    with pytest.raises(ph.ParameterError, match="zeroth_order"):
        ph.MechanismModel(model, "constant_mass")


def test_states_that_violate_constraints_are_refused_and_put_right():
    whole, x, crank = crank_slider()
    x[whole.state_slice("coupler.angular_velocity")] = 0.0
    with pytest.raises(ph.VelocityError, match="consistent_state"):
        ph.integrate(whole, x, crank, 1e-3, 1e-4)
    better = ph.consistent_state(whole, x, crank)
    assert better[whole.state_slice("coupler.velocity")] == pytest.approx([0.0, 22.5], abs=1e-12)
    assert len(ph.integrate(whole, better, crank, 2e-4, 1e-4).time) == 3


def test_inputs_that_depend_on_the_velocity_they_prescribe():
    """v = 1 + v / 2 has the solution 2: there the gap does not change by J E^-1 J^T along the constraint force."""
    model = ph.inverted(ph.PointMass(2.0).port_hamiltonian(dimension=1), "origin force")
    inputs = {"origin force": lambda t, x: [1 + x[1] / 2]}
    start = ph.consistent_state(model, model.rest_state, inputs)
    assert start[1] == pytest.approx(2.0, abs=1e-12)
    assert ph.integrate(model, start, inputs, 0.5, 0.1).state("position")[-1] == pytest.approx(1.0, abs=1e-9)


def test_functions_of_time_are_asked_once_for_all_iterations():
    """Beside that for Newton's matrix, and for the work in the end."""
    whole, x = pendulums()
    asked = []

    def push(t):
        asked.append(t)
        return [0.1, np.sin(t)]

    step, places = 0.01, 0.5 + np.array([-1, 1]) * np.sqrt(3) / 6
    assert ph.integrate(whole, x, {"b.origin force": push}, 3 * step, step).power("b.origin force").any()
    for time in np.add.outer(step * np.arange(3), step * places).ravel():
        assert 2 <= np.isclose(asked, time, rtol=0, atol=1e-12).sum() <= 3


def test_feedback_that_begins_to_act_in_the_middle_of_a_run():
    """A wall that is not felt at first, k h^2 / m = 100: the iteration needs its slope where it is met."""
    model = ph.PointMass(1.0).port_hamiltonian(dimension=1)
    inputs = {"origin force": lambda t, x: [-1e6 * max(x[0] - 0.1, 0.0)]}
    run = ph.integrate(model, [0.0, 1.0], inputs, 0.2, 1e-2, "midpoint")
    assert run.state("velocity")[5] == pytest.approx([1.0])
    assert run.state("velocity")[-1] == pytest.approx([-12 / 13])


def test_values_of_ports_files_and_pictures(tmp_path):
    whole, x, crank = crank_slider(elements=2)
    run = ph.integrate(whole, x, crank, 2.5e-4, 1e-4, "radau3")
    assert run.time == pytest.approx([0.0, 1e-4, 2e-4, 2.5e-4])
    speed = run.input("coupler.start force")
    assert np.hypot(*speed.T) == pytest.approx(22.5)
    assert run.state("coupler.velocity") == pytest.approx(speed, rel=1e-9)
    power = (speed * run.output("coupler.start force")).sum(axis=1)
    assert run.power("coupler.start force") == pytest.approx(power)
    run.save(tmp_path / "run.npz")
    again = ph.Trajectory.load(tmp_path / "run.npz")
    assert again.method == "radau3" and [p.name for p in again.ports] == [p.name for p in whole.ports]
    for name in ("states", "outputs", "energy", "supplied", "dissipated"):
        assert (getattr(again, name) == getattr(run, name)).all()
    run.plot_energy(tmp_path / "energy.png")
    run.plot("coupler.displacement", "coupler.start force", path=tmp_path / "both.png")
    assert {path.name for path in tmp_path.iterdir()} == {"run.npz", "energy.png", "both.png"}
    (tmp_path / "other.npz").write_bytes(b"nothing")
    with pytest.raises(ph.ResultFileError, match="no trajectory"):
        ph.Trajectory.load(tmp_path / "other.npz")
    with pytest.raises(ph.ModelError, match="there are: coupler.position"):
        run.plot("coupler")


def test_ports_are_split_selected_and_used_twice():
    mass = ph.PointMass(2.0).port_hamiltonian(dimension=3)
    port = mass.port("origin force")
    more = mass.with_ports(up=port.select(2), aside=port.select(1, 0), again=port)
    B = more.port_matrix(more.rest_state)
    first, new = B[:, more.port_slice("origin force")], mass.port_size
    assert (B[:, new] == first[:, 2]).all() and (B[:, new + 1 : new + 3] == first[:, [1, 0]]).all()
    assert (B[:, more.port_slice("again")] == first).all() and more.port("up").input_unit == "N"
    run = ph.integrate(more, more.rest_state, {"up": 3.0, "origin force": [0, 0, 1.0]}, 1.0, 0.5)
    assert run.state("velocity")[-1] == pytest.approx([0, 0, 2.0])
    with pytest.raises(ph.ModelError, match="components 0 to 2"):
        port.select(3)
    with pytest.raises(ph.ModelError, match="different components"):
        port.select(1, 1)
    with pytest.raises(ph.ModelError, match="not a port of this model"):
        mass.with_ports(other=ph.RigidBody(1.0, (1.0, 1.0, 1.0)).port_hamiltonian().ports[1])
    with pytest.raises(ph.ModelError, match="two ports are named 'origin force'"):
        mass.with_ports(**{"origin force": port})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x0": np.zeros(3)}, r"position \(2\)"),
        ({"inputs": {"start force": 1.0}}, "no port is named"),
        ({"inputs": {"origin force": [1.0]}}, "2 finite numbers"),
        ({"inputs": {"origin force": lambda t: 1 / 0}}, "ZeroDivisionError"),
    ],
)
def test_what_cannot_be_integrated_is_refused(change, message):
    model = ph.PointMass(2.0).port_hamiltonian(dimension=2)
    given = {"model": model, "x0": np.zeros(4), "inputs": None, "duration": 1.0, "step": 0.1} | change
    with pytest.raises((ph.ParameterError, ph.ModelError), match=message):
        ph.integrate(**given)


def test_a_failed_step_keeps_what_was_there():
    whole, x = pendulums()
    with pytest.raises(ph.ConvergenceError, match="smaller step") as caught:
        ph.integrate(whole, x, None, 100.0, 50.0)
    assert isinstance(caught.value.motion, ph.Trajectory) and len(caught.value.motion.time) >= 1


SPIN = np.array([0.0, 0.0, 8.0])


def spun(variant, elements, steps=40, strain="linear", duration=0.05):
    """A bent free beam, at rest in its frame, which turns; the form, first and last state."""
    form = beam(frame="cantilever", elements=elements, strain=strain).port_hamiltonian(variant, dimension=2)
    nodes = np.linspace(0.0, 0.5, elements + 1)[1:]
    eta = np.column_stack([0 * nodes, 0.1 * nodes**2, 0.2 * nodes]).ravel()
    rate = -form.convection(eta) @ SPIN  # so that deta/dt = 0 in every form
    stress = form.stress_space.stress(eta)
    start = form.joined(BodyState(np.zeros(3), np.eye(3), eta, np.zeros(3), SPIN, rate, stress))
    return form, start, ph.integrate(form, start, None, duration, duration / steps, "gauss2").states[-1]


def tip(form, x):
    state, point = form.split(x), form.body.points.locate(form.locations["end"])
    return state.position + state.rotation @ (point.position + point.shapes @ state.displacement)


@pytest.mark.slow
def test_constant_mass_approaches_the_full_form_as_elements_are_added():
    gaps = []
    for elements in (1, 2, 4):
        runs = [spun(variant, elements, steps=20, duration=0.025) for variant in ("full", "constant_mass")]
        tips = [tip(form, end) for form, _, end in runs]
        gaps.append(np.abs(tips[0] - tips[1]).max())
    assert gaps[1] < gaps[0] / 2 and gaps[2] < gaps[1] / 2


def test_gauss_keeps_the_quadratic_energy_of_constant_mass_exactly_and_zeroth_order_does_not():
    changes = {}
    for variant in ("full", "constant_mass", "zeroth_order"):
        form, start, end = spun(variant, 2)
        changes[variant] = abs(form.storage(end) / form.storage(start) - 1)
    assert changes["constant_mass"] < 1e-12
    assert changes["full"] < 1e-6  # the energy is of fourth degree: order 4 in the step
    assert changes["zeroth_order"] > 1e-3


@pytest.mark.parametrize("variant", ["full", "constant_mass"])
def test_stress_stays_that_of_the_strain(variant):
    form, _, end = spun(variant, 2, steps=80, strain="von_karman")
    state = form.split(end)
    expected = form.stress_space.stress(state.displacement)
    assert state.stress == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())
