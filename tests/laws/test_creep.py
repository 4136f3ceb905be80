"""Laws that creep: branches of spring and dashpot against closed forms (docs/theory.md, 8; (8.35 to 8.37))."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import skfem
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import phlexible as ph
from laws.figures import energy_error
from mechanisms import grounded
from phlexible.bodies.mechanics.floating import strains
from phlexible.bodies.mechanics.soft import metric
from phlexible.bodies.soft_law import as_six
from phlexible.errors import ModelError, ParameterError
from refusals import refused
from step.kernels.newton import Newton, largest_slope_error

CORNER = [(0, 0, 0), (0.2, 0, 0), (0, 0.2, 0), (0, 0, 0.2)], [(0, 1, 2, 3)]
FLAT = np.diag([1.0, 1.0, 1.0, 0.02, 0.01, 0.01])
RATE = 0.2  # of the driven strain [1/s]
TIMES = (1e-6, 0.03, 0.5, 1e6)
SHARES = (2.0, 1.0, 3.0, 0.5)


def driven(kind):
    """A straight thing of length 1 whose strain grows evenly for 0.1 s, and stays; stiffnesses along the strain."""
    model = ph.Model(dimension=2)
    cart = model.add(ph.RigidBody(1.0, 0.1), "cart", position=(1, 0, 0))
    rail = model.connect(ph.Prismatic(model.ground.at((0, 0, 0)), cart.origin, axis=(1, 0, 0)))
    creep = ph.Maxwell([(70.0 * share, time) for share, time in zip(SHARES, TIMES, strict=True)])
    strain = lambda t: RATE * np.minimum(t, 0.1)  # noqa: E731
    place, own = (lambda t: 1 + strain(t)), None
    if kind == "spring":
        own = model.apply(rail.spring(40.0, relaxation=creep))
    elif kind == "bushing":
        ground, shares = model.ground.at((0, 0, 0)), creep.scaled(1 / 40)
        own = model.apply(ph.Bushing(ground, cart.origin, stiffness=(40, 0, 0), relaxation=shares))
    elif kind == "string":
        place = lambda t: np.sqrt(1 + strain(t))  # noqa: E731  # its strain is C
        own = model.add(ph.String(1.0, 0.1, 1, ph.LogarithmicLaw(40.0), relaxation=creep), "own")
    else:
        material = ph.Material(4e5, 1e3, relaxation=creep.scaled(1e4))
        own = model.add(ph.Rod(1.0, ph.Section(1e-4, 1e-9, 1e-9), material, elements=1), "own")
    if kind not in ("spring", "bushing"):
        join = ph.Revolute if kind == "string" else ph.Fixed
        model.connect(join(model.ground.at((0, 0, 0)), own.start))
        model.connect(join(own.end, cart.origin))
    model.apply(rail.drive(position=place))
    return model, own, 70.0 * np.array(SHARES) * (0.25 if kind == "string" else 1.0)


@pytest.mark.parametrize("kind", ["spring", "bushing", "string", "rod"])
def test_relaxation_after_an_even_strain_is_exact_for_any_step_and_time(kind):
    """Strains of the branches, and all that dashpots have lost, of times from 1e-6 to 1e6 s."""
    model, own, stiffness = driven(kind)
    motion = model.simulate(0.4, step=0.02)
    t, tau = motion.time[:, None], np.array(TIMES)
    ramp, hold = np.minimum(t, 0.1), np.maximum(t - 0.1, 0.0)
    top, rest = -RATE * tau * np.expm1(-ramp / tau), np.exp(-hold / tau)
    assert motion.recording.branches[:, : len(tau)] == pytest.approx(top * rest, rel=1e-12, abs=1e-15)
    q = np.exp(-ramp / tau)
    eased = (RATE * tau) ** 2 * (ramp - 2 * tau * (1 - q) + tau / 2 * (1 - q**2)) / tau
    eased = np.where(ramp < 1e-3 * tau, RATE**2 * ramp**3 / 3 / tau * (1 - 3 / 4 * ramp / tau), eased)
    lost = (stiffness * (eased + top**2 * (1 - rest**2) / 2)).sum(axis=1)
    assert motion.energy.dissipated == pytest.approx(lost, rel=1e-9, abs=1e-15)
    assert energy_error(motion) <= 1e-12
    if kind == "rod":
        force = 40 * RATE * np.minimum(motion.time, 0.1) + (stiffness * top * rest).sum(axis=1)
        assert motion.section_forces(own).normal[:, 0] == pytest.approx(force, rel=1e-10, abs=1e-9)
    if kind == "string":
        C = 1 + RATE * np.minimum(motion.time, 0.1)
        force = (20 * (C - 1) / C + 2 * (stiffness * top * rest).sum(axis=1)) * np.sqrt(C)
        assert motion[ph.Tension(own)][:, 0] == pytest.approx(force, rel=1e-10)


def solid(mass=1.0, elastic=100.0, creep=((300.0, 0.05), (200.0, 0.5)), start=1.1, **damper):
    """A mass on a spring that creeps; its linear equations, states x - 1, v, e; and their state at t = 0."""
    model = ph.Model()
    bob = model.add(ph.PointMass(mass), "bob", position=(start, 0, 0))
    wall = model.ground.at((0, 0, 0))
    relaxation = ph.Maxwell(creep) if creep else None
    model.apply(ph.SpringDamper(wall, bob.origin, elastic, length=1.0, relaxation=relaxation, **damper))
    A = np.zeros((2 + len(creep),) * 2)
    A[0, 1], A[1, 0] = 1, -elastic / mass
    for i, (k, tau) in enumerate(creep, start=2):
        A[1, i], A[i, 1], A[i, i] = -k / mass, 1, -1 / tau
    return model, bob, A, np.array([start - 1, 0.0, *np.zeros(len(creep))])


def test_vibrations_agree_with_the_exponential_and_have_order_two():
    model, bob, A, x0 = solid()
    wanted, errors = expm(0.5 * A) @ x0, []
    for step in (0.01, 0.005, 0.0025):
        motion = model.simulate(0.5, step=step)
        errors.append(motion.position(bob.origin)[-1, 0] - 1 - wanted[0])
        assert energy_error(motion) <= 1e-12
    assert errors[-1] / wanted[0] == pytest.approx(0.0, abs=2e-4)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2, abs=0.05)
    assert motion.recording.branches[-1] == pytest.approx(wanted[2:], abs=2e-5)


def test_moduli_of_a_law_are_sums_over_its_branches():
    law = ph.Maxwell([(30.0, 0.05), (10.0, 0.4)])
    assert law.complex_stiffness(1e9) == pytest.approx(law.stiffness, rel=1e-6)
    assert law.relaxation([0.0, 0.4]) == pytest.approx([40.0, 30 * np.exp(-8) + 10 * np.exp(-1)])


def test_short_times_are_dampers_and_long_ones_springs():
    def end(**options):
        model, bob, *_ = solid(**options)
        return model.simulate(0.5, step=0.005).position(bob.origin)[:, 0]

    assert end(creep=((2.0 / 1e-7, 1e-7),)) == pytest.approx(end(creep=(), damping=2.0), abs=1e-7)
    still, parallel = end(creep=((50.0, 1e9),)), solid(elastic=150.0, creep=(), start=1.1)
    beside = parallel[0].simulate(0.5, step=0.005).position(parallel[1].origin)[:, 0]
    assert still - 1 - 0.1 / 3 == pytest.approx((beside - 1) * 2 / 3, abs=1e-9)  # it is at rest where it began


def swinging():
    """A taut string and a rod that creep, one hung onto the other, beside a tetrahedron; held to all laws."""
    model = ph.Model(gravity=(0, 0, -9.81))
    rope = ph.String(0.5, 0.1, 2, ph.LinearLaw(200.0), order=2, relaxation=ph.Maxwell([(500.0, 0.02), (90.0, 0.5)]))
    placed = model.add(rope, "rope", shape=((0.0, 0.0, 0.0), (0.6, 0.0, 0.0)))
    material = ph.Material(4e7, 1e3, relaxation=ph.Maxwell((5e7, 0.03)))
    bar = ph.Rod(0.3, ph.RectangularSection(0.02, 0.01), material, elements=2)
    rod = model.add(bar, "rod", position=(0.3, 0.0, 0.0))
    jelly = ph.SoftBody(CORNER, ph.NeoHookean(1e4, 0.4), 1e3, relaxation=ph.Maxwell([(3e4, 0.02), (1e4, 0.5)]))
    model.add(jelly, "jelly", velocity=lambda x: (3 * x[0] * x[1], 2 * x[2], x[0] - x[1]))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
    model.connect(ph.Spherical(model.ground.at((0.6, 0, 0)), placed.end))
    model.connect(ph.Spherical(placed.at(0.25), rod.start))
    return model, placed, rod


@pytest.mark.filterwarnings("ignore::phlexible.LargeDeflectionWarning")
@pytest.mark.filterwarnings("ignore::phlexible.LargeStrainWarning")
@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_halved_and_shorter_steps_begin_with_the_strains_of_the_start():
    model, *_ = driven("spring")
    steel = ph.Material(youngs_modulus=2e11, density=7870.0)
    body = model.add(ph.Beam(1.0, ph.CircularSection(2e-3), steel, elements=4), "beam", position=(0, 3, 0))
    model.apply(ph.Force(body.end, (0.0, 300.0, 0.0)))
    motion = model.simulate(0.09, step=0.02)
    assert motion.halvings[-1] > 0 and motion.time[-1] - motion.time[-2] == pytest.approx(0.01)
    wanted = -RATE * np.array(TIMES) * np.expm1(-motion.time[:, None] / np.array(TIMES))
    assert motion.recording.branches == pytest.approx(wanted, rel=1e-12, abs=1e-15)


def test_what_was_saved_and_files_have_the_branches(tmp_path: Path):
    model, rope, rod = swinging()
    whole = model.simulate(0.04, step=2e-3, output=tmp_path / "run.h5")
    live = model.start(2e-3)
    live.step(10)
    kept = live.save()
    live.step(10)
    live.restore(kept)
    live.step(10)
    assert np.array_equal(live.motion.recording.branches, whole.recording.branches)
    loaded = ph.Motion.load(tmp_path / "run.h5")
    assert loaded["rope"].body.relaxation == rope.body.relaxation
    assert (loaded["jelly"].body.law, loaded["jelly"].body.order) == (ph.NeoHookean(1e4, 0.4), 2)
    assert loaded.section_forces(loaded["rod"]).normal == pytest.approx(whole.section_forces(rod).normal, rel=1e-9)
    table = whole.to_xarray()
    assert table.sizes["branch"] == whole.recording.branches.shape[1]
    assert "rope: strain of element 0: branch 1" in table["branch"].values


@pytest.mark.parametrize("kind", ["spring", "string", "rod"])
def test_reactions_where_a_run_ends_have_the_force_of_the_branches(kind):
    """The mean of the steps beside an instant, and the accelerations at the last one, tell the same force."""
    model, *_ = driven(kind)
    ends = [model.simulate(duration, step=0.02).multipliers for duration in (0.24, 0.26)]
    assert ends[0][12] == pytest.approx(ends[1][12], rel=1e-3)


def test_a_start_from_a_motion_has_its_branches():
    model, *_ = solid()
    whole = model.simulate(0.2, step=0.005)
    second = model.simulate(0.1, step=0.005, initial=whole.at(0.1))
    assert second.recording.branches == pytest.approx(whole.recording.branches[20:], abs=1e-12)
    one = solid(creep=((300.0, 0.05),))[0]
    assert one.simulate(0.01, step=0.005, initial=solid(creep=())[0].simulate(0.1, step=0.005).at(0.1)).is_complete
    with pytest.raises(ModelError, match="2 history variables of laws, this model 1"):
        one.simulate(0.1, step=0.005, initial=whole.at(0.1))


def test_what_has_no_states_for_creep_refuses_it():
    creep = ph.Maxwell([(1e5, 0.1)])
    model, *_ = solid()
    with pytest.raises(
        ModelError, match=r"jelly creeps \(ph.Maxwell\), and the form of a soft body has no history variables"
    ):
        ph.MechanismModel(swinging()[0])
    refused(ModelError, "form of a SoftBody has no creep", block(relaxation=creep).port_hamiltonian)
    refused(ModelError, r"orders beyond 2 are for lossless models", lambda: model.simulate(0.1, step=0.01, order=4))
    beam = ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(1e6, 1e3, relaxation=creep))
    refused(ParameterError, "form of a floating body has no creep", beam.port_hamiltonian)
    with pytest.raises(ModelError, match=r"jelly creeps \(ph.Maxwell\), and the form of a floating body"):
        jelly = ph.Model()
        jelly.add(beam, "jelly")
        ph.MechanismModel(jelly)
    with pytest.raises(ParameterError, match="materials of one body must have the same relaxation"):
        both = skfem.MeshQuad().with_subdomains({"one": [0]})
        both = both.refined().with_subdomains({"one": [0, 1], "two": [2, 3]})
        materials = {"one": ph.Material(1e6, 1e3, relaxation=creep), "two": ph.Material(1e6, 1e3)}
        ph.FlexibleBody.from_mesh(both, materials, thickness=0.1)
    with pytest.raises(ParameterError, match="sections of one body must have the same relaxation"):
        one, two = (ph.GeneralSection(np.eye(6), FLAT, relaxation=law) for law in (creep, None))
        ph.Beam(1.0, ph.VaryingSection([0.0, 1.0], [one, two]), theory="timoshenko")
    for wrong in ([(1.0, -1.0)], [1.0, 2.0, 3.0], [(0.0, 1.0)], []):
        with pytest.raises(ParameterError, match="branch"):
            ph.Maxwell(wrong)
    with pytest.raises(ParameterError, match="relaxation must be Maxwell"):
        ph.String(1.0, 0.1, 1, ph.LinearLaw(1.0), relaxation=(1.0, 2.0))


def block(**options):
    """A bar of 1 m of one hexahedron, 0.1 m thick, of St. Venant and Kirchhoff, with means of its end faces."""
    bar = skfem.MeshHex.init_tensor(np.linspace(0, 1, 2), *[np.linspace(0, 0.1, 2)] * 2)
    ends = {"left": lambda x: x[0] < 1e-9, "right": lambda x: x[0] > 1 - 1e-9}
    return ph.SoftBody(bar, ph.StVenantKirchhoff(1e6, 0.3), 1e3, interfaces=ends, order=1, **options)


def test_strains_of_soft_bodies_follow_those_of_the_shape_on_the_exact_path():
    """2 de = exp(-h / tau) 2 e + A delta(C) at each point, from the recorded nodes."""
    model = ph.Model()
    body = block(relaxation=ph.Maxwell([(2e6, 0.01), (1e6, 1.0)]))
    place = model.add(body, "bar", velocity=lambda x: (x[0], x[1], -x[0]))
    step, tau = 0.005, np.array([0.01, 1.0])
    motion = model.simulate(0.05, step=step)
    group = place.data.elements[0]
    C = np.array([as_six(metric(group, nodes)) for nodes in motion.recording.position])[:, 0]  # (T, points, 6)
    strain, kept, share = 0.0, np.exp(-step / tau)[:, None], -(tau / step * np.expm1(-step / tau))[:, None]
    for before, after in pairwise(C):
        strain = kept * strain + share * (after - before)[:, None] / 2
    assert np.abs(strain).max() > 5e-4 and energy_error(motion) <= 1e-12
    assert motion.recording.branches[-1] == pytest.approx(strain.ravel(), rel=1e-11, abs=1e-14)


def test_soft_bodies_relax_as_their_modulus_and_creep_of_no_time_is_viscosity():
    law, area, strain = ph.Maxwell([(2e6, 0.1), (1e6, 1.0)]), 0.01, 1e-4
    model, bar, _ = grounded(block(relaxation=law), ph.Spherical, at=(0, 0.05, 0.05), by="left", name="bar")
    cart = model.add(ph.PointMass(1.0), "cart", position=(1, 0.05, 0.05))
    model.connect(ph.Spherical(bar["right"], cart.origin))
    rail = model.connect(ph.Slider(model.ground.at((1, 0.05, 0.05)), cart.origin, axis=(1, 0, 0)))
    drive = model.apply(rail.drive(position=lambda t: strain * 4 * t))
    motion = model.simulate(0.25, step=2.5e-3)
    held = sum(k * tau * 4 * strain * -np.expm1(-0.25 / tau) for k, tau in law.pairs) + 1e6 * strain
    assert abs(motion.element_force(drive)[-1]) == pytest.approx(area * held, rel=2e-3)
    ends = []
    for options in ({"viscosity": 2e-3}, {"relaxation": ph.Maxwell((2e-3 * 1e6 / 1e-8, 1e-8))}):
        free = ph.Model()
        placed = free.add(block(**options), "bar", velocity=lambda x: (x[0], x[1], -x[0]))
        ends.append(free.simulate(0.05, step=1e-3).position(placed["right"]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)


def test_the_papers_form_of_a_string_that_creeps_agrees_with_the_step():
    """Structure, gradients and slopes of (5.10) with branches; both ways to one motion, with order 2."""
    creep = ph.Maxwell([(30.0, 0.02), (10.0, 0.5)])
    rope = ph.String(1.0, 0.1, 3, ph.LogarithmicLaw(20.0), order=2, relaxation=creep)
    shape = lambda s: (1.05 * s, 0.0, 0.0)  # noqa: E731
    form = rope.port_hamiltonian(dimension=2, gravity=(0, -1, 0), shape=shape, start="fixed", end="fixed")
    x = form.initial_state + 0.02 * np.sin(np.arange(form.state_size))
    figures = ph.check_structure(form, x)
    assert figures.skewness == 0 and figures.power <= 1e-12
    small = 1e-6 * np.eye(form.state_size)
    energy = np.array([(form.storage(x + e) - form.storage(x - e)) / 2e-6 for e in small])
    assert form.descriptor_matrix(x).T @ form.effort(x) == pytest.approx(energy, abs=1e-8)

    def forces(state):
        return (form.structure_matrix(state) - form.dissipation_matrix(state)) @ form.effort(state)

    slopes = np.array([(forces(x + e) - forces(x - e)) / 2e-6 for e in small]).T
    found = form.defect_slope(x, 0 * x, np.zeros(form.port_size))
    assert -found.toarray() == pytest.approx(slopes, abs=1e-6 * np.abs(slopes).max())
    model = ph.Model(gravity=(0, -1, 0), dimension=2)
    placed = model.add(rope, "rope", shape=shape)
    for port, place in ((placed.start, 0.0), (placed.end, 1.0)):
        model.connect(ph.Revolute(model.ground.at(shape(place)), port))
    apart = []
    for step in (2e-3, 1e-3):
        run = ph.integrate(form, form.initial_state, None, 0.04, step, "discrete_gradient")
        motion = model.simulate(0.04, step=step)
        ends = form.positions(run.states[-1])[3, 1], motion.position(placed.at(0.5))[-1, 1]
        apart.append([ends[0] - ends[1], run.dissipated[-1] - motion.energy.dissipated[-1]])
        assert np.abs(run.balance_error).max() <= 1e-13
    assert np.log2(np.divide(*apart)) == pytest.approx([2, 2], abs=0.05)


def flying(kind, turn=None):
    """A body with a frame that bends, stretches and turns, free or held at one end, in a turned world."""
    turn = Rotation.identity() if turn is None else turn
    material = ph.Material(1e7, 1e3, 0.3, relaxation=ph.Maxwell([(6e6, 0.004), (3e6, 0.1)]))
    if kind == "meshed":
        box = skfem.MeshHex.init_tensor(np.linspace(0, 0.4, 3), *[np.linspace(0, 0.05, 2)] * 2)
        body = ph.FlexibleBody.from_mesh(box, material, {"end": lambda x: x[0] > 0.39}, modes=3)
        tip = lambda placed: placed["end"]  # noqa: E731
    else:
        options = {"elements": 3, "frame": "mean_axis" if kind == "linear" else "cantilever", "strain": kind}
        body = ph.Beam(0.4, ph.RectangularSection(0.02, 0.03), material, **options)
        tip = lambda placed: placed.end  # noqa: E731
    model = ph.Model()
    placed = model.add(
        body, "body", rotation=turn, velocity=turn.apply((1, 2, -1)), angular_velocity=turn.apply((3, -4, 9))
    )
    model.apply(
        ph.Force(
            tip(placed), lambda t: turn.apply((0.3, 2.0, -1.0)) * 5 * np.maximum(0.0, 0.05 - t), breakpoints=(0.05,)
        )
    )
    return model, placed, tip(placed)


@pytest.mark.parametrize("kind", ["linear", "von_karman", "meshed"])
def test_bodies_with_a_frame_creep_on_the_exact_path_and_keep_momenta(kind):
    """Strains of branches from the recorded coordinates, the ledger, momenta in free flight, other axes."""
    model, placed, tip = flying(kind)
    step = 2e-3
    motion, data = model.simulate(0.1, step), placed.data
    shape = motion.elastic_coordinates(placed)
    followed = np.hstack([shape, [strains(data, eta) for eta in shape]])
    tau = np.array([0.004, 0.1])[:, None]
    strain, kept, share = 0.0, np.exp(-step / tau), -tau / step * np.expm1(-step / tau)
    for before, after in pairwise(followed):
        strain = kept * strain + share * (after - before)
    assert motion.recording.branches[-1] == pytest.approx(strain.ravel(), rel=1e-9, abs=1e-14)
    assert np.abs(strain).max() > 1e-5 and energy_error(motion) <= 1e-11
    assert motion.energy.dissipated[-1] > 1e-4 * motion.energy.supplied[-1] > 0
    after = motion.time > 0.051
    for each in (motion.momentum.linear, motion.momentum.angular):
        assert np.ptp(each[after], axis=0).max() <= 1e-11 * np.abs(each).max() < np.ptp(each[~after], axis=0).max()
    turn = Rotation.from_rotvec((0.4, -0.7, 1.1))
    turned, _, other = flying(kind, turn)
    its = turned.simulate(0.1, step)
    assert its.position(other) == pytest.approx(turn.apply(motion.position(tip)), abs=1e-9)


@pytest.mark.parametrize("kind", ["nodes", "linear", "von_karman", "meshed"])
def test_newtons_matrix_is_the_derivative(kind):
    model, *_ = swinging() if kind == "nodes" else flying(kind)
    state = model.simulate(0.02, step=2e-3).recording.state(-1)
    assert np.abs(state.branches).max() > 0
    newton = Newton(model, state, 0.01)
    unknowns = np.concatenate([state.velocity, np.linspace(-1, 1, newton.rows)])
    assert largest_slope_error(newton, unknowns) <= 1e-12


@pytest.mark.parametrize("strain", ["linear", "von_karman"])
def test_section_forces_of_a_beam_are_those_of_the_branches_too(strain):
    """At the clamp of a cantilever they are its reaction, long before the strain is relaxed."""
    material = ph.Material(1e7, 1e3, relaxation=ph.Maxwell([(6e6, 0.02), (3e6, 0.5)]))
    section = ph.RectangularSection(0.02, 0.03)
    beam = ph.Beam(0.4, section, material, elements=4, strain=strain, frame="cantilever")
    model, placed, clamp = grounded(beam, dimension=2, name="beam")
    pull = 0.02 if strain == "linear" else 0.5  # without the moment of the deflection, or with it
    model.apply(ph.Force(placed.end, (pull, 0.05, 0)))
    motion = model.simulate(0.2, step=1e-3)
    forces = motion.section_forces(placed, [1e-9])
    assert np.abs(motion.recording.branches[-1]).max() > 1e-6
    quiet = slice(-40, None)
    moment = motion.reaction_moment(clamp)[quiet, 2].mean()
    assert forces.moment_z[quiet].mean() == pytest.approx(-moment, rel=0.02)
    assert forces.normal[quiet].mean() == pytest.approx(pull, rel=0.02)
