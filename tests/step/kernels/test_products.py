"""Elements whose energy is a form of products of nodal vectors: the motion of soft bodies in another form."""

import numpy as np
import pytest
import skfem

import phlexible as ph
from laws.figures import energy_error, momentum_errors
from phlexible.bodies.mechanics import absolute
from phlexible.bodies.shell.shell import Shell
from phlexible.state.initial_velocity import undeformed
from phlexible.state.system import system_of
from product_bodies import SoftProducts
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


@pytest.mark.parametrize("case", CASES)
def test_newtons_matrix_is_the_derivative_of_the_step(case):
    body, dimension = body_of(SoftProducts, case)
    model = ph.Model(dimension=dimension, gravity=(0, -9.0, 0))
    placed = model.add(body, "body", shape=deformed(body.nodes, dimension))
    rigid = model.add(ph.RigidBody(2.0, (1, 2, 2.5)), "rigid", position=(0.3, 0.2, 0.0))
    model.connect(ph.Spherical(rigid.point((0.1, 0.2, 0.0)), placed.node(0)))
    newton = Newton(model, undeformed(system_of(model)), 0.05, 0.1)
    unknowns = np.random.default_rng(3).normal(size=newton.velocities + newton.rows)
    assert largest_slope_error(newton, unknowns) <= 1e-12


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
