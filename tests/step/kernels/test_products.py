"""Elements whose energy is a form of products of nodal vectors: the motion of soft bodies in another form; laws."""

import numpy as np
import pytest
import skfem

import phlexible as ph
from laws.figures import energy_error, momentum_errors
from phlexible.bodies.mechanics import absolute
from phlexible.bodies.shell.shell import Shell
from phlexible.state.initial_velocity import undeformed
from phlexible.state.system import system_of
from product_bodies import LEVER, DirectorSheet, SoftProducts, StringProducts
from step.kernels.newton import Newton, largest_slope_error

BEND = np.array([[1.2, 0.1, 0.0], [0.0, 0.9, 0.2], [0.1, 0.0, 1.1]])
TETRAHEDRA = skfem.MeshTet.init_tensor(*[np.linspace(0, 1, 2)] * 3)
LAW, SHEET = ph.StVenantKirchhoff(30.0, 0.3), {"thickness": 0.1}
CASES = {
    "tetrahedra": (3, TETRAHEDRA, {}),
    "straight tetrahedra": (3, TETRAHEDRA, {"order": 1}),
    "hexahedron": (3, skfem.MeshHex(), {"order": 1, "viscosity": 0.02}),
    "membrane": (3, skfem.MeshTri(), SHEET),
    "in the plane": (2, skfem.MeshQuad(), {**SHEET, "viscosity": 0.02}),
}
SLOW, LONG = 1e-3, 0.05


def body_of(kind, case):
    dimension, mesh, options = CASES[case]
    return kind(mesh, LAW, density=3.0, interfaces={"all": lambda x: x[0] > -1}, **options), dimension


def deformed(nodes, dimension):
    bend = BEND if dimension == 3 else np.pad(BEND[:2, :2], (0, 1))
    shape = nodes @ bend.T
    shape[:, 1] += 0.1 * nodes[:, 0] ** 2
    return shape


@pytest.mark.parametrize("case", CASES)
def test_energy_force_and_matrices_are_those_of_soft_bodies(case):
    (soft, dimension), (products, _) = body_of(ph.SoftBody, case), body_of(SoftProducts, case)
    data = soft.discretize(dimension), products.discretize(dimension)
    q = deformed(soft.nodes, dimension)[:, :dimension].ravel() + 1e3  # far from the origin
    for law in (absolute.strain_energy, absolute.elastic_force, absolute.elastic_tangent):
        expected, found = (np.asarray(getattr(x, "A", x)) for x in (dense(law(each, q)) for each in data))
        assert found == pytest.approx(expected, abs=1e-11 * np.abs(expected).max())
    undeformed_q = soft.nodes[:, :dimension].ravel()
    expected, found = (dense(absolute.viscous_matrix(each, undeformed_q)) for each in data)
    assert found == pytest.approx(expected, abs=1e-12 * np.abs(expected).max())
    soft_scale, scale = (absolute.elastic_force(each, q, np.abs) for each in data)
    assert 0.1 * soft_scale.max() < scale.max() < 1e3 * soft_scale.max()


def dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


@pytest.mark.parametrize("case", CASES)
def test_motion_is_that_of_soft_bodies(case):
    """At steps in which the sheets and solids turn and bend, with both kinds of damping."""
    motions = []
    for kind in (ph.SoftBody, SoftProducts):
        body, dimension = body_of(kind, case)
        model = ph.Model(dimension=dimension, gravity=(0, -9.0, 0))
        spin = (0, 0, 3.0) if dimension == 2 else (1.0, -2.0, 3.0)
        shape = deformed(body.nodes, dimension)
        placed = model.add(body, "body", shape=shape, velocity=np.cross(spin, shape), position=(2, 0, 0))
        bob = model.add(ph.PointMass(0.2), "bob", placed["all"].initial_position())
        model.connect(ph.Spherical(bob.origin, placed["all"]))
        motions.append(model.simulate(1.0, 0.02, numerical_damping=0.02, progress=False))
    expected, found = motions
    assert found.recording.position == pytest.approx(expected.recording.position, abs=1e-11)
    for name in ("total", "strain", "dissipated"):
        energy = getattr(expected.energy, name)
        assert np.ptp(energy) > 0
        assert getattr(found.energy, name) == pytest.approx(energy, abs=1e-11 * expected.energy.kinetic.max())
    assert energy_error(found) <= 1e-13


def test_a_product_is_a_string():
    """Of linear elements with the law of St. Venant and Kirchhoff: EA/8 L (C - 1)^2 with C = y . y / L^2."""
    rope = ph.String(1.0, 0.3, 4, ph.StVenantKirchhoffLaw(50.0), viscosity=0.01)
    shape = np.linspace((0, 0, 0), (1.1, 0, 0.3), 5)
    expected, found = (swung(each, shape) for each in (rope, StringProducts(**vars(rope))))
    assert found.recording.position == pytest.approx(expected.recording.position, abs=1e-11)
    assert found.energy.dissipated == pytest.approx(expected.energy.dissipated, rel=1e-9, abs=1e-13)


def swung(rope, shape):
    model = ph.Model(gravity=(0, 0, -9.0))
    placed = model.add(rope, "rope", shape=shape)
    for port in (placed.start, placed.end):
        model.connect(ph.Spherical(model.ground.at(port.initial_position()), port))
    return model.simulate(0.5, 0.01, progress=False)


def sheet(model, viscosity=0.0, **options):
    """A sheet with directors, stretched and bent."""
    mesh = skfem.MeshQuad.init_tensor(np.linspace(0, 1, 3), np.linspace(0, 0.6, 2))
    body = DirectorSheet(
        mesh, ph.StVenantKirchhoff(3e4, 0.3), density=100.0, order=1, thickness=0.02, viscosity=viscosity
    )
    shape = {"shape": lambda x: (1.1 * x[0], x[1], 0.2 * x[0] ** 2)} | options
    return model.add(body, "sheet", position=(1.0, 2.0, 3.0), **shape)


@pytest.mark.parametrize("case", [*CASES, "sheet"])
def test_newtons_matrix_is_the_derivative_of_the_step(case):
    dimension = CASES[case][0] if case in CASES else 3
    model = ph.Model(dimension=dimension, gravity=(0, -9.0, 0))
    if case == "sheet":
        placed = sheet(model, viscosity=0.02)
    else:
        body = body_of(SoftProducts, case)[0]
        placed = model.add(body, "body", shape=deformed(body.nodes, dimension))
    rigid = model.add(ph.RigidBody(2.0, (1, 2, 2.5)), "rigid", position=(0.3, 0.2, 0.0))
    model.connect(ph.Spherical(rigid.point((0.1, 0.2, 0.0)), placed.node(0)))
    newton = Newton(model, undeformed(system_of(model)), LONG, 0.1)
    unknowns = np.random.default_rng(3).normal(size=newton.velocities + newton.rows)
    assert largest_slope_error(newton, unknowns) <= 1e-12


@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
@pytest.mark.parametrize("step", [SLOW, LONG])
def test_a_sheet_with_directors_keeps_energy_and_momenta(step):
    """And its centre of mass flies straight, over many periods in every step."""
    model = ph.Model()
    placed = sheet(model, velocity=(1.0, 0, 0), angular_velocity=(3.0, 2.0, 1.0))
    motion = model.simulate(300 * step, step, progress=False)
    momentum = motion.momentum
    straight = momentum.center_of_mass[0] + np.outer(motion.time, momentum.linear[0]) / placed.data.mass
    assert np.ptp(motion.energy.strain) > 0.01 * motion.energy.total[0]
    assert energy_error(motion) <= 1e-12
    assert max(momentum_errors(motion)) <= 1e-13
    assert momentum.center_of_mass == pytest.approx(straight, abs=1e-12 * np.abs(straight).max())
    directors = motion.recording.position[:, placed.data.moves == 0]
    assert np.linalg.norm(directors, axis=-1).max() < 3 * LEVER  # they do not fly away


def test_directors_of_a_sheet_weigh_nothing():
    """But where masses couple them to places a weight turns them: delta(L) = sum m_i q_i x g over all nodes."""
    model = ph.Model(gravity=(0, 0, -9.0))
    placed = sheet(model)
    motion = model.simulate(0.5, 0.01, progress=False)
    weights, mass = placed.data.translational_mass, placed.data.mass
    assert weights @ placed.data.moves == pytest.approx(mass, rel=1e-13)
    fall = mass * np.outer(motion.time, (0, 0, -9.0))
    assert motion.momentum.linear - motion.momentum.linear[0] == pytest.approx(fall, abs=1e-11 * np.abs(fall).max())
    lever = np.cross(np.einsum("i,tik->tk", weights, motion.recording.position), (0, 0, -9.0))
    grown = 0.01 * (lever[:-1] + lever[1:]) / 2
    assert np.diff(motion.momentum.angular, axis=0) == pytest.approx(grown, abs=1e-12 * np.abs(lever).max())
    assert energy_error(motion) <= 1e-12


def test_steps_of_a_sheet_can_be_taken_back():
    model = ph.Model()
    sheet(model, angular_velocity=(3.0, 2.0, 1.0))
    motion = model.simulate(1.0, 0.01, progress=False)
    again = Newton(model, motion.recording.state(-1), -0.01)
    before = motion.recording.state(-2)
    residual = again.residual(before.velocity)
    assert residual == pytest.approx(0 * residual, abs=1e-11 * np.abs(before.velocity).max())


def test_a_sheet_with_directors_hangs_in_equilibrium_and_vibrates_about_it():
    """K of the linear model is the difference of forces there; products of soft bodies have their frequencies."""
    model = ph.Model(gravity=(0, 0, -9.0))
    # From a flat sheet the steps end at a saddle beside this equilibrium.
    placed = sheet(model, shape=lambda x: (x[0], x[1], -0.2 * x[0] * x[1]))
    for node in (0, 1, 2):
        model.connect(ph.Spherical(model.ground.at(placed.node(node).initial_position()), placed.node(node)))
    rest = model.equilibrium()
    assert rest.is_stable
    q = rest.state.position.ravel()
    weight = np.outer(placed.data.translational_mass, (0, 0, -9.0))
    force = (absolute.elastic_force(placed.data, q).reshape(-1, 3) - weight)[placed.data.moves == 0]
    assert force == pytest.approx(0 * force, abs=1e-9 * np.abs(weight).max())
    K, dq = absolute.elastic_tangent(placed.data, q).toarray(), 1e-4 * np.eye(len(q))
    slopes = [absolute.elastic_force(placed.data, q + d) - absolute.elastic_force(placed.data, q - d) for d in dq]
    assert np.array(slopes) / 2e-4 == pytest.approx(K, abs=1e-6 * np.abs(K).max())


def test_frequencies_are_those_of_soft_bodies():
    found = []
    for kind in (ph.SoftBody, SoftProducts):
        body, model = body_of(kind, "hexahedron")[0], ph.Model(gravity=(0, 0, -1.0))
        placed = model.add(body, "body")
        for node in range(4):
            model.connect(ph.Spherical(model.ground.at(placed.node(node).initial_position()), placed.node(node)))
        found.append(model.linearize(about=model.equilibrium()).modes(6))
    assert found[1].frequencies == pytest.approx(found[0].frequencies, rel=1e-10)
    assert found[1].damping_ratios == pytest.approx(found[0].damping_ratios, rel=1e-9)


def thrown_strip(bend):
    """A thin strip that turns, flies and bends at that speed [m/s]."""
    model = ph.Model()
    strip = Shell.plate(2.0, 0.2, 0.004, ph.Material(2e9, 1200.0, 0.3), elements=(20, 2))
    model.add(strip, velocity=lambda x: np.cross((1, 2, 6), x - [1.0, 0, 0]) + [3, 0, bend * np.cos(np.pi * x[0])])
    return model


def test_stresses_carried_along_solve_thin_shells():
    """In steps of 20 ms, in which its stiff modes vibrate many times, a strip takes 6 iterations, not 19; what is
    solved is the same."""
    motion = thrown_strip(bend=1).simulate(1.0, 0.02, progress=False)
    assert motion.iterations[-1] <= 8 * 50
    assert motion.halvings[-1] == 0
    assert energy_error(motion) <= 1e-12
    assert max(momentum_errors(motion)) <= 1e-12


@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_a_step_in_which_a_shell_changes_its_shape_starts_where_the_shell_is():
    """Extrapolated velocities are no start for a strip that is struck so that a fifth of the energy bends it."""
    motion = thrown_strip(bend=6).simulate(1.0, 0.01, progress=False)
    assert motion.iterations[-1] <= 1900  # 2190 with two more starts, each to the end
    assert energy_error(motion) <= 1e-12


def test_steps_of_a_thin_plate_factor_one_matrix():
    """That of their first guess, the line through the last two velocities: updates with it end at round-off."""
    plate = Shell.plate(1.0, 1.0, 2e-3, ph.Material(210e9, 7850.0), elements=(8, 8))
    model, step = ph.Model(), 2e-3
    model.add(plate, "plate", velocity=lambda x: (0.0, 0.0, 3 * (x[0] - 0.5) ** 2))
    run = model.start(step)
    tables = run.stepper.memory
    for _ in range(8):  # later ones add what lines through the velocities missed before
        before, now = tables["previous_velocity"].copy(), tables["velocity"].copy()
        is_known = tables["known_velocities"][0] > 0
        run.step()
        guess = 3 * now - before if is_known else 2 * now
        size = np.abs(tables["shift"]).max()
        assert tables["factored_shift"].ravel() == pytest.approx(0.5 * step * guess, abs=1e-12 * size)
        assert np.abs(tables["factored_shift"] - tables["shift"]).max() > 1e-4 * size
