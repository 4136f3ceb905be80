"""The linearly implicit step in runs (docs/theory.md, 5): exactness, order, reversal, joints, what is refused."""

import numpy as np
import pytest
import skfem
from scipy import linalg
from scipy.integrate import solve_ivp

import phlexible as ph
from phlexible.bodies.mechanics import absolute, soft
from phlexible.step.integration import linearly_implicit

SCHEME = "linearly_implicit"
pytestmark = pytest.mark.filterwarnings("ignore::phlexible.errors.SlackStringWarning")


def simulate(model, duration, step, **options):
    return model.simulate(duration, step, scheme=SCHEME, progress=False, **options)


def turned(angles=(0.3, -0.5, 0.8)):
    """A rotation that is along no axis."""
    a, b, c = angles
    x = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    y = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
    z = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return x @ y @ z


def block(rotation=None, shift=(0.0, 0.0, 0.0), law=None, speed=1.0, gravity=(0, 0, 0), **losses):
    """A free solid of five tetrahedra that spins and swings."""
    rotation = np.eye(3) if rotation is None else rotation
    points = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]) * [2.0, 1.0, 0.5]
    cells = [(0, 1, 2, 4), (3, 2, 1, 7), (5, 4, 7, 1), (6, 7, 4, 2), (1, 2, 4, 7)]
    body = ph.SoftBody((points, cells), law or ph.StVenantKirchhoff(60.0, 0.3), 1.0, order=1, **losses)
    apart = points - points.mean(axis=0)
    rates = speed * (np.cross([1.0, 0.5, 3.0], apart) + 1.5 * np.c_[apart[:, 0] * apart[:, 1], 0 * apart[:, :2]])
    model = ph.Model(gravity=gravity)
    placed = model.add(body, "block", shape=points @ rotation.T + shift, velocity=rates @ rotation.T)
    return model, placed


def string(**options):
    law = ph.StVenantKirchhoffLaw(80.0)
    model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
    placed = model.add(ph.String(1.0, 1.0, 4, law, **options), "rope", velocity=lambda s: (0, 2 * s, 0))
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), placed.start))
    return model, placed


def pendulum(angle=0.3):
    """Two point masses on massless bars."""
    model = ph.Model(dimension=2, gravity=(0, -9.81, 0))
    a = model.add(ph.PointMass(1.0), "a", position=(1.0, 0, 0))
    b = model.add(ph.PointMass(1.0), "b", position=(1.0 + np.cos(angle), np.sin(angle), 0))
    model.connect(ph.Distance(model.ground.at((0, 0, 0)), a.origin))
    model.connect(ph.Distance(a.origin, b.origin))
    return model, b


def sprung():
    """A mass on a rail, with a spring, a damper and a load."""
    model = ph.Model(dimension=2)
    stone = model.add(ph.PointMass(2.0), "stone", velocity=(1.0, 0, 0))
    strip = model.add(ph.String(1.0, 0.5, 2, ph.StVenantKirchhoffLaw(40.0), viscosity=0.01), "strip")
    model.connect(ph.Spherical(strip.start, stone.origin))
    model.apply(ph.Force(strip.end, lambda t: (3 * np.sin(5 * t), 4.0, 0.0)))
    return model, strip.end


def places(motion):
    return motion.recording.position[-1]


ENDS = {"block": block, "string": string, "pendulum": pendulum, "loaded": sprung}


@pytest.mark.parametrize("name", ENDS)
def test_order_two_and_the_balance(name):
    """The last changes of four halved steps fall by four; towards the motion of the conserving step."""
    model, _ = ENDS[name]()
    runs = [simulate(model, 0.2, 0.2 / n) for n in (20, 40, 80)]
    for run in runs:
        assert np.abs(run.energy.balance_error).max() < 1e-13 * run.energy.kinetic.max()
    ends = [places(run) for run in runs]
    first, second = (np.abs(b - a).max() for a, b in ((ends[0], ends[1]), (ends[1], ends[2])))
    assert np.log2(first / second) == pytest.approx(2.0, abs=0.1)
    limit = ends[2] + (ends[2] - ends[1]) / 3
    others = [places(model.simulate(0.2, 0.2 / n, progress=False)) for n in (40, 80)]
    assert np.abs(others[1] + (others[1] - others[0]) / 3 - limit).max() < 0.05 * second


def test_momenta_frames_and_reversal():
    """Turned by a rotation and moved far away the same motion; momenta to round-off; backwards to the start."""
    model, _ = block()
    motion = simulate(model, 0.5, 0.01)
    for momentum in (motion.momentum.linear, motion.momentum.angular):
        assert np.abs(momentum - momentum[0]).max() < 1e-13 * np.abs(motion.momentum.angular).max()
    rotation, shift = turned(), np.array([3.0, -2.0, 1.0])
    other, _ = block(rotation, shift)
    there = simulate(other, 0.5, 0.01)
    assert places(there) == pytest.approx(places(motion) @ rotation.T + shift, abs=1e-11)
    nodes, rates = places(motion), motion.recording.velocity[-1].reshape(-1, 3)
    back = ph.Model()
    back.add(model["block"].held, "block", shape=nodes, velocity=-rates)
    start = block()[1].held.nodes
    assert places(simulate(back, 0.5, 0.01)) == pytest.approx(start, abs=1e-12)


def test_what_strains_store_is_that_of_polarised_ones():
    """At all instants, of q_n and v_n alone (5.22), after thousands of steps."""
    model, placed = string()
    step = 2e-3
    motion = simulate(model, 6.0, step, every=100)
    group = placed.data.strains[0]
    x, v = motion.recording.position[..., :2], motion.recording.velocity.reshape(len(motion.time), -1, 2)
    u, w = (np.diff(each, axis=1) * 4 for each in (x, step / 2 * v))  # dr/ds of elements of a quarter
    C = (u * u - w * w).sum(axis=-1)
    assert motion.recording.theta == pytest.approx(C, abs=1e-12)
    assert motion.energy.strain == pytest.approx(80.0 / 8 * ((C - 1) ** 2).sum(axis=1) / 4, rel=1e-11)
    assert (
        len(group.weights) == 4 and np.abs(motion.energy.balance_error).max() < 1e-12 * motion.energy.kinetic.max()
    )


def test_joints_are_open_by_the_square_of_the_step_and_do_not_drift():
    """The polarised constraint has its value of the start; the gap is that of velocities (5.23)."""
    model, _ = pendulum()
    motion = simulate(model, 40.0, 5e-3, every=20)
    x = motion.recording.position[:, :, :2]
    v = motion.recording.velocity.reshape(x.shape)
    for difference, rate in ((x[:, 0], v[:, 0]), (x[:, 1] - x[:, 0], v[:, 1] - v[:, 0])):
        polarised = ((difference**2).sum(axis=1) - (5e-3 / 2) ** 2 * (rate**2).sum(axis=1) - 1) / 2
        assert np.abs(polarised).max() < 1e-12
    gap = np.abs((x[:, 0] ** 2).sum(axis=1) - 1) / 2
    assert gap[: len(gap) // 10].max() > 1e-5 and gap.max() < 2e-3
    assert np.abs(motion.energy.balance_error).max() < 1e-12 * motion.energy.kinetic.max()


@pytest.mark.filterwarnings("ignore::phlexible.errors.StepWarning")
def test_polarised_strains_may_be_negative():
    """(h v/2)^2 beyond the square of the length: a long step, and the law has no end there."""
    model = ph.Model(dimension=2)
    band = ph.String(1.0, 1.0, 1, ph.StVenantKirchhoffLaw(20.0))
    model.add(band, "band", shape=[(0, 0, 0), (0.1, 0, 0)], velocity=[(0, -2.0, 0), (0, 2.0, 0)])
    motion = simulate(model, 1.0, 0.1)
    assert motion.recording.theta[0, 0] == pytest.approx(0.01 - 0.04)
    assert np.abs(motion.energy.balance_error).max() < 1e-13 * motion.energy.kinetic.max()


def test_losses_are_those_of_the_strains():
    """Kelvin-Voigt and numerical damping take gamma delta(s) C delta(s), exactly (5.21)."""
    step = 0.01
    creeps = ph.Maxwell([(40.0, 0.05), (20.0, 0.5)])
    lossy = {"string": string(viscosity=0.02), "creeping": string(relaxation=creeps)}
    lossy |= {"block": block(viscosity=0.02, speed=0.3), "creeping block": block(relaxation=creeps, speed=0.3)}
    for name, (model, _) in lossy.items():
        plain = simulate(model, 0.3, step)
        damped = simulate(model, 0.3, step, numerical_damping=0.5)
        assert damped.energy.dissipated[-1] > plain.energy.dissipated[-1] > 1e-4
        for motion in (plain, damped):
            assert np.abs(motion.energy.balance_error).max() < 1e-13 * motion.energy.kinetic.max()
        if name == "string":
            changes = np.diff(plain.recording.theta, axis=0)
            lost = (changes**2).sum(axis=1) / 4 * 80.0 / 4 * 0.02 / step
            assert np.diff(plain.energy.dissipated) == pytest.approx(lost, rel=1e-9)


def test_a_pressure_follows_the_surface_at_half_steps():
    model, placed = block(speed=0.2)
    model.apply(ph.Pressure(placed, lambda t: 2.0 * np.sin(9 * t), name="gas"))
    motion = simulate(model, 0.3, 0.01)
    assert np.abs(motion.energy.balance_error).max() < 1e-13 * motion.energy.kinetic.max()
    assert np.ptp(motion.energy.supplied) > 1e-3
    other = model.simulate(0.3, 0.01, progress=False)
    assert np.abs(places(motion) - places(other)).max() < 0.02
    momentum = motion.momentum.linear
    assert np.abs(momentum - momentum[0]).max() < 1e-12  # of a closed surface


def test_steps_of_other_sizes(tmp_path):
    """A shorter last step, a jump of a load within a step, a stop, a run that goes on: the ledger closes."""
    model, placed = string()
    model.apply(ph.Force(placed.end, lambda t: (5.0 * (t > 0.104), 0, 0), breakpoints=(0.104,)))
    whole = simulate(model, 0.305, 0.01)
    assert np.abs(whole.energy.balance_error).max() < 1e-12 * whole.energy.kinetic.max()
    assert np.abs(whole.energy.dissipated).max() < 1e-2 * whole.energy.kinetic.max()
    condition = ph.When(ph.Displacement(placed.end, (0, 1, 0)), above=0.05)
    stopped = simulate(model, 0.3, 0.01, stop=condition)
    assert stopped.position(placed.end)[-1, 1] == pytest.approx(0.05, abs=1e-9)
    assert np.abs(stopped.energy.balance_error).max() < 1e-12 * whole.energy.kinetic.max()
    path = tmp_path / "run.h5"
    simulate(model, 0.15, 0.01, output=path)
    with pytest.raises(ph.ResultFileError, match="linearly_implicit"):
        model.resume(path, 0.3, 0.01)
    again = model.resume(path, 0.305, 0.01, scheme=SCHEME)
    assert (again.recording.position == whole.recording.position).all()


@pytest.mark.parametrize("held", [ph.Spherical, ph.Slider, None], ids=["points", "lines", "free"])
def test_conjugate_gradients_find_what_elimination_finds(held, monkeypatch):
    """Velocities and multipliers, where joints hold nodes in all directions, in two, or in none."""
    found = []
    for most in (0, 200):
        monkeypatch.setattr(linearly_implicit, "most_iterations", lambda memory, worth, most=most: most)
        creeps = ph.Maxwell((20.0, 0.05))
        model, placed = block(viscosity=0.01, relaxation=creeps, speed=0.0, gravity=(0.3, -0.2, -2.0))
        for k in (0, 2) if held else ():
            model.connect(held(model.ground.at(placed.node(k).initial_position()), placed.node(k)))
        motion = simulate(model, 0.2, 0.01)
        assert np.abs(motion.energy.balance_error).max() < 1e-13 * np.ptp(motion.energy.gravity)
        found.append(motion.recording)
    assert found[1].position == pytest.approx(found[0].position, abs=1e-12)
    assert found[1].multipliers[1:] == pytest.approx(found[0].multipliers[1:], abs=1e-9)


def test_live_runs_take_the_same_steps():
    """By hand, with a load that changes, back to what was saved, and beside it in one go."""
    model, placed = string()
    model.apply(ph.Force(placed.end, (0.5, 0, 0), name="pull"))
    whole = simulate(model, 0.2, 0.01)
    live = model.start(0.01, scheme=SCHEME)
    live.step(5)
    kept = live.save()
    live.inputs["pull"] = (3.0, 0.0, 0.0)
    live.step(5)
    assert np.abs(live.state.position - whole.recording.position[10]).max() > 1e-4
    live.restore(kept)
    for _ in range(15):
        live.step()
    assert (live.motion.recording.position == whole.recording.position).all()
    assert np.abs(live.motion.energy.balance_error).max() < 1e-13 * whole.energy.kinetic.max()
    with pytest.raises(ph.ModelError, match="cart, whose frame turns or deforms"):
        model.add(ph.RigidBody(1.0, 0.1), "cart")
        model.start(0.01, scheme=SCHEME)


def measured(kilogram, metre, second):
    """A sheet on a rail, a taut string and a mass on a spring, in other units of mass, length and time."""
    force = kilogram * metre / second**2
    model = ph.Model(dimension=2, gravity=(0.0, -9.81 * metre / second**2, 0.0))
    law = ph.StVenantKirchhoffLaw(80.0 * force)
    rope = model.add(ph.String(1.0 * metre, 0.5 * kilogram / metre, 3, law, viscosity=0.01 * second), "rope")
    model.connect(ph.Spherical(model.ground.at((0, 0, 0)), rope.start))
    stone = model.add(ph.PointMass(0.2 * kilogram), "stone", position=(1.0 * metre, 0, 0))
    model.connect(ph.Spherical(rope.end, stone.origin))
    rail = model.connect(ph.Slider(model.ground.at((0, 0, 0)), stone.origin, axis=(1, 0, 0)))
    relaxation = ph.Maxwell((20.0 * force / metre, 0.1 * second))
    model.apply(rail.spring(30.0 * force / metre, rest=1.1 * metre, relaxation=relaxation))
    points = np.array([(0, 0, 0), (1, 0, 0), (1, 0.6, 0), (0, 0.5, 0)]) * metre
    cells, density = [(0, 1, 2), (0, 2, 3)], 2.0 * kilogram / metre**3
    sheet = ph.SoftBody(
        (points, cells), ph.StVenantKirchhoff(60.0 * force / metre**2, 0.3), density, thickness=0.1 * metre, order=1
    )
    placed = model.add(sheet, "sheet", shape=points + [0, metre, 0])
    model.connect(ph.Spherical(model.ground.at((0, metre, 0)), placed.node(0)))
    motion = simulate(model, 0.5 * second, 0.01 * second, numerical_damping=0.1)
    energy = motion.energy
    return (
        motion.recording.position / metre,
        motion.multipliers / force,
        np.stack([energy.total, energy.dissipated, energy.supplied], axis=1) / (force * metre),
    )


@pytest.mark.filterwarnings(
    "ignore::phlexible.errors.UnitWarning", "ignore::phlexible.errors.MeshWarning"
)  # meant for SI
@pytest.mark.parametrize("units", [(1e3, 1e-3, 1.0), (1e-6, 1e3, 3600.0), (1.0, 1e-6, 1e-6)])
def test_units_of_mass_length_and_time_do_not_matter(units):
    for found, wanted in zip(measured(*units), measured(1.0, 1.0, 1.0), strict=True):
        assert np.ptp(wanted) > 1e-2
        assert found == pytest.approx(wanted, abs=1e-10 * np.abs(wanted).max())


def test_the_column_of_the_paper_has_order_two():
    """1 m x 1 m x 6 m, E 17 MPa, nu 0.3, 1100 kg/m3, thrown by 5/3 1/s times its height: against its equations.

    Integrated by SciPy, from the strains and masses of its port-Hamiltonian form, to 1e-10.
    """
    column = skfem.MeshHex.init_tensor(np.linspace(0, 1, 2), np.linspace(0, 1, 2), np.linspace(0, 6, 4))
    body = ph.SoftBody(column, ph.StVenantKirchhoff(17e6, 0.3), 1100.0, order=1)
    model = ph.Model()
    throw = lambda x: (5 / 3 * x[2], 0 * x[2], 0 * x[2])  # noqa: E731
    placed = model.add(body, "column", velocity=throw)
    held = np.flatnonzero(column.p[2] < 1e-9)
    for k in held.tolist():
        model.connect(ph.Spherical(model.ground.at(column.p[:, k]), placed.node(k)))
    data, group = placed.data, placed.data.elements[0]
    free = np.setdiff1d(np.arange(3 * column.p.shape[1]), (3 * held[:, None] + np.arange(3)).ravel())
    mass = linalg.cho_factor(absolute.mass_matrix(data).toarray()[np.ix_(free, free)])
    x0, v0 = column.p.T.ravel().copy(), np.stack(throw(column.p), axis=1).ravel()

    def rates(t, state):
        x, half = x0.copy(), len(free)
        x[free] = state[:half]
        pull = soft.elastic_force(group, x.reshape(-1, 3)).ravel()[free]
        return np.concatenate([state[half:], -linalg.cho_solve(mass, pull)])

    exact = solve_ivp(rates, (0, 0.1), np.concatenate([x0[free], v0[free]]), "DOP853", rtol=1e-10, atol=1e-10).y[
        :, -1
    ]
    errors = []
    for step in (5e-4, 2.5e-4):
        motion = simulate(model, 0.1, step)
        errors.append(np.abs(motion.recording.position[-1].ravel()[free] - exact[: len(free)]).max())
        assert np.abs(motion.energy.balance_error).max() < 1e-13 * motion.energy.kinetic[0]
    assert errors[1] < 1e-4 and np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.2)


def test_other_models_are_refused_by_name():
    model, placed = block(law=ph.NeoHookean(60.0, 0.3))
    with pytest.raises(ph.ModelError, match=r"block of another law; take scheme=\"conserving\""):
        simulate(model, 0.1, 0.01)
    model, placed = string()
    wheel = model.add(ph.RigidBody(1.0, 0.1), "wheel")
    stone = model.add(ph.PointMass(1.0), "stone", position=(3, 0, 0))
    model.connect(ph.Spherical(wheel.origin, placed.end))
    model.apply(ph.SpringDamper(stone.origin, placed.end, stiffness=3.0, name="band"))
    with pytest.raises(ph.ModelError, match=r"wheel, whose frame turns.*band, along a distance"):
        simulate(model, 0.1, 0.01)
    model, _ = string()
    for options in ({"order": 4}, {"tolerance": 1e-4}):
        with pytest.raises(ph.ParameterError, match="conserving"):
            model.simulate(
                0.1,
                **({"output_step": 0.01} if "tolerance" in options else {"step": 0.01}),
                scheme=SCHEME,
                **options,
            )


def test_a_soft_body_that_creeps_moves_as_by_the_conserving_step():
    """Places and what dashpots have lost, apart by O(h^2)."""
    model, _ = block(relaxation=ph.Maxwell([(40.0, 0.05), (20.0, 0.5)]), speed=0.3)
    apart = []
    for step in (0.01, 0.005):
        ways = [simulate(model, 0.3, step), model.simulate(0.3, step, progress=False)]
        ends = [(*each.recording.position[-1].ravel(), each.energy.dissipated[-1]) for each in ways]
        apart.append(np.linalg.norm(np.subtract(*ends)))
    assert apart[1] < 1e-3 and np.log2(apart[0] / apart[1]) == pytest.approx(2, abs=0.2)
