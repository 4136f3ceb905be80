"""Bodies from matrices against the same bodies from meshes and beams."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh

import phlexible as ph
from bodies.flexible.meshes import BAR, STEEL, bar, ends, grid
from mechanisms import grounded
from phlexible.bodies.beam.mesh import BeamMesh, NodeComponent
from phlexible.bodies.beam.strain import linear_stiffness
from phlexible.bodies.flexible.element_mesh import ElementMesh
from phlexible.bodies.flexible.mesh_matrices import (
    PlaneState as Plane,
    element_materials,
    mass_matrix,
    stiffness_matrix,
)
from phlexible.bodies.flexible.user_mesh import element_mesh, user_mesh
from phlexible.bodies.mechanics.floating import elastic_mass

CELLS = (4, 1, 1)


def matrices(dimension):
    """Mesh, mass, stiffness of a steel bar of second order, unknowns node after node."""
    mesh = element_mesh(user_mesh(grid(*BAR[:dimension], cells=CELLS[:dimension])), 2)
    thickness = BAR[2] if dimension == 2 else 1.0
    materials = element_materials(STEEL, {}, mesh.cell_count, dimension, Plane.STRESS, thickness)
    mass = sparse.kron(mass_matrix(mesh, materials), sparse.eye_array(dimension))
    return mesh, mass, stiffness_matrix(mesh, materials), materials


def rigid_ends(mesh: ElementMesh):
    return {name: (np.flatnonzero(where(mesh.nodes.T)), "rigid") for name, where in ends(BAR[0]).items()}


def lumped_beam(elements, length, about_axis=0.0):
    """Stiffness of a beam along x of two-node elements with its lumped mass, without inertia of rotations."""
    size, h = 6 * (elements + 1), length / elements
    modulus, area, inertia = 2e11, 1e-4, 1e-8
    stiffness, mass, sign = np.zeros((size, size)), np.zeros((size, size)), np.diag([1, -1, 1, -1])
    bending = np.array([[12, 6, -12, 6], [6, 4, -6, 2], [-12, -6, 12, -6], [6, 2, -6, 4]]) * modulus * inertia
    bending = bending / h**3 * np.outer((1, h, 1, h), (1, h, 1, h))
    for first in range(0, size - 6, 6):
        for rows, block in (
            ([0, 6], modulus * area / h * np.array([[1, -1], [-1, 1]])),
            ([3, 9], 1.6e11 * inertia / h * np.array([[1, -1], [-1, 1]])),
            ([1, 5, 7, 11], bending),
            ([2, 4, 8, 10], sign @ bending @ sign),
        ):
            stiffness[np.ix_(first + np.array(rows), first + np.array(rows))] += block
        at = first + np.array([0, 1, 2, 6, 7, 8])
        mass[at, at] += 7800 * area * h / 2
    mass[3::6, 3::6] += about_axis * np.eye(elements + 1)
    return mass, stiffness, np.column_stack([np.linspace(0, length, elements + 1), *np.zeros((2, elements + 1))])


@pytest.mark.parametrize("modes", [4, None])
@pytest.mark.parametrize("frame", ["mean_axis", "root"])
def test_lumped_masses_without_inertia_of_rotation(modes, frame):
    """Frequencies of the clamped beam are those of its matrices without rotations, condensed by hand."""
    mass, stiffness, nodes = lumped_beam(4, 1.0)
    heavy = np.flatnonzero(mass.diagonal()[6:]) + 6
    light = np.setdiff1d(np.arange(6, len(mass)), heavy)
    follow = np.linalg.solve(stiffness[np.ix_(light, light)], stiffness[np.ix_(light, heavy)])
    condensed = stiffness[np.ix_(heavy, heavy)] - stiffness[np.ix_(heavy, light)] @ follow
    exact = np.sqrt(eigh(condensed, mass[np.ix_(heavy, heavy)], eigvals_only=True)[:6])
    body = ph.FlexibleBody.from_matrices(mass, stiffness, nodes, {"root": [0], "tip": [4]}, modes, frame)
    assert body.mass == pytest.approx(7800 * 1e-4, rel=1e-12)
    model, beam, _ = grounded(body, by="root", name="beam")
    assert model.linearize().modes(6).frequencies == pytest.approx(exact, rel=1e-6)
    model.apply(ph.Torque(beam["tip"], (0, -1.0, 0)))
    assert model.equilibrium().position(beam["tip"])[2] == pytest.approx(1 / 2 / 2000, rel=1e-4)


def test_long_lumped_beams_and_superelements_whose_mass_is_semidefinite_by_round_off():
    mass, stiffness, nodes = lumped_beam(100, 1.0)
    beam = ph.FlexibleBody.from_matrices(mass, stiffness, nodes, {"root": [0], "tip": [100]}, 3, "root")
    assert beam.frequencies[0] == pytest.approx(3.5160153 * np.sqrt(2000 / 0.78), rel=1e-3)
    mass, stiffness, nodes = lumped_beam(4, 1.0)
    noise = np.random.default_rng(0).normal(size=mass.shape) * 1e-11 * mass.max()
    rough = ph.FlexibleBody.from_matrices(mass + noise + noise.T, stiffness, nodes, {"tip": [4]}, None)
    exact = ph.FlexibleBody.from_matrices(mass, stiffness, nodes, {"tip": [4]}, None)
    assert rough.frequencies[:6] == pytest.approx(exact.frequencies[:6], rel=1e-6)


def test_damping_of_rigid_motions_is_said_once():
    """alpha / (2 w) + beta w / 2 where the frame is what is held; the mean axes say what they leave out."""
    mass, stiffness, nodes = lumped_beam(4, 1.0, 1e-6)
    given = dict(interfaces={"root": [0], "tip": [4]}, modes=4)
    body = ph.FlexibleBody.from_matrices(
        mass, stiffness, nodes, frame="root", damping=2 * mass + 1e-4 * stiffness, **given
    )
    w = body.frequencies[0]
    assert body.data.damping[0, 0] == pytest.approx(2 + 1e-4 * w**2)
    with pytest.warns(ph.LeftOutWarning, match="resists rigid motions, at a rate of 2 1/s"):
        ph.FlexibleBody.from_matrices(mass, stiffness, nodes, damping=2 * mass + 1e-4 * stiffness, **given)
    ph.FlexibleBody.from_matrices(mass, stiffness, nodes, damping=1e-4 * stiffness, **given)


@pytest.mark.parametrize("dimension", [2, 3])
def test_matrices_of_a_mesh_make_the_body_of_the_mesh(dimension):
    """Rigid interfaces are the same for nodes and for areas; inertia is the same to round-off."""
    mesh, mass, stiffness, _ = matrices(dimension)
    body = ph.FlexibleBody.from_matrices(mass, stiffness, mesh.nodes[:, :dimension], rigid_ends(mesh), modes=3)
    thickness = {"thickness": BAR[2]} if dimension == 2 else {}
    interfaces = {name: (where, "rigid") for name, where in ends(BAR[0]).items()}
    same = bar(
        CELLS[:dimension], sides=BAR[:dimension], interfaces=interfaces, modes=3, strain="linear", **thickness
    )
    assert body.frequencies == pytest.approx(same.frequencies, rel=1e-6)
    signs = np.sign((body.points.shapes * same.points.shapes).sum(axis=(0, 1)))
    turn = np.concatenate([[1.0], signs])
    assert body.data.first_moments * turn == pytest.approx(same.data.first_moments, abs=1e-6)
    moments = body.data.second_moments
    planes = same.data.second_moments
    if dimension == 2:  # what counts in the plane
        moments = np.stack([moments[0, 0] + moments[1, 1], moments[1, 0] - moments[0, 1]])
        planes = np.stack([planes[0, 0] + planes[1, 1], planes[1, 0] - planes[0, 1]])
    assert moments * np.outer(turn, turn) == pytest.approx(planes, abs=2e-6)
    assert body.points.interfaces.shapes * signs == pytest.approx(same.points.interfaces.shapes, abs=1e-6)


def test_geometric_stiffness_of_a_program_stiffens_as_from_a_mesh():
    """Its function of a displacement, and its matrices of unit loads: the same strain energy at any amplitude."""
    dimension = 2
    mesh, mass, stiffness, materials = matrices(dimension)

    def geometric(u):
        d, result = dimension, sparse.csr_array((mesh.node_count * dimension,) * 2)
        for part in mesh.quadrature(4):
            gradients = part.displacement_gradients(u.reshape(-1, d, 1))[..., 0]
            stress = materials.stress(np.repeat(part.elements, part.weights.shape[1]), gradients)
            stress = stress.reshape(*part.weights.shape, d, d) * part.weights[..., None, None]
            blocks = np.einsum("eqab,eqai,eqbj->eij", stress, part.gradients, part.gradients)
            rows = np.repeat(part.nodes, part.nodes.shape[1], axis=1).ravel()
            columns = np.tile(part.nodes, (1, part.nodes.shape[1])).ravel()
            scalar = sparse.coo_array((blocks.ravel(), (rows, columns)), shape=(mesh.node_count,) * 2)
            result = result + sparse.kron(scalar.tocsr(), sparse.eye_array(d))
        return result

    interfaces, options = rigid_ends(mesh), {"modes": 0, "inertial_shapes": False}
    places = mesh.nodes[:, :dimension]
    function = ph.FlexibleBody.from_matrices(
        mass, stiffness, places, interfaces, geometric_stiffness=geometric, **options
    )
    rigid = {name: (where, "rigid") for name, where in ends(BAR[0]).items()}
    meshed = bar(CELLS[:2], sides=BAR[:2], interfaces=rigid, thickness=BAR[2], **options)
    assert tip_turn(function) == pytest.approx(tip_turn(meshed), rel=1e-6)
    linear = ph.FlexibleBody.from_matrices(mass, stiffness, places, interfaces, **options)
    assert abs(tip_turn(linear) / tip_turn(meshed) - 1) > 0.05

    shapes = np.column_stack([unit_answer(mass, stiffness, mesh, k, axis) for k in ends(1) for axis in range(3)])
    lists = {"start": [geometric(u) for u in shapes.T[:3]], "end": [geometric(u) for u in shapes.T[3:]]}
    listed = ph.FlexibleBody.from_matrices(
        mass, stiffness, places, interfaces, geometric_stiffness=lists, **options
    )
    assert tip_turn(listed) == pytest.approx(tip_turn(meshed), rel=1e-6)


def unit_answer(mass, stiffness, mesh, name, axis):
    """Displacement under a unit load on a rigid end, balanced by the inertia of the free body, by dense algebra."""
    body = ph.FlexibleBody.from_matrices(
        mass, stiffness, mesh.nodes[:, :2], rigid_ends(mesh), modes=0, inertial_shapes=False
    )
    k = body.interfaces.index(name)
    motion = np.vstack([body.points.interfaces.shapes[k, :2], body.points.interfaces.rotations[k, 2:]])
    return (body.points.shapes[:, :2] @ (motion[axis] / body.frequencies**2)).ravel()


def tip_turn(body):
    """Turn of the end about the start under a pull and a cross force, both constant, after a while with damping."""
    model = ph.Model(dimension=2)
    part = model.add(body, "bar")
    model.connect(ph.Fixed(model.ground.at(part["start"].initial_position()), part["start"]))
    model.apply(ph.Force(part["end"], (3e6, 1e4, 0)))
    motion = model.simulate(0.02, 1e-4, numerical_damping=0.5, progress=False)
    x = motion.rotation(part["end"])[-1][:, 0]
    return np.arctan2(x[1], x[0])


@pytest.mark.filterwarnings("ignore:the motion is too slow")  # small, so that it is linear
@pytest.mark.parametrize("dimension", [2, 3])
def test_a_beam_from_its_matrices_is_the_beam(dimension):
    """Frequencies of the pinned beam with a tip mass and its answer to a step, linear strain, to 1e-9."""
    beam = ph.Beam(0.5, ph.RectangularSection(0.01, 0.02), STEEL, elements=4, strain="linear", frame="cantilever")
    mesh = BeamMesh(beam.length, beam.elements, dimension)
    free = beam._assemble(mesh, np.eye(mesh.size))
    order = np.array(  # x, y, (z), rotations; the slope w' is a rotation about -y
        [mesh.index(k, c) for k in range(5) for c in components(dimension)]
    )
    sign = np.tile([1, 1, 1] if dimension == 2 else [1, 1, 1, 1, -1, 1], 5)
    mass, stiffness = (
        m[np.ix_(order, order)] * np.outer(sign, sign) for m in (elastic_mass(free), linear_stiffness(free.strain))
    )
    places = np.zeros((5, dimension))
    places[:, 0] = np.linspace(0, beam.length, 5)
    body = ph.FlexibleBody.from_matrices(mass, stiffness, places, {"start": 0, "end": 4}, modes=None, frame="start")
    assert body.mass == pytest.approx(STEEL.density * beam.section.area * beam.length, rel=1e-12)
    assert body.center == pytest.approx(np.array([beam.length / 2, 0, 0]), abs=1e-12)
    answers = []
    for made, start, end in ((beam, "start", "end"), (body, None, None)):
        model = ph.Model(dimension=dimension)
        part = model.add(made, "beam")
        first, last = (getattr(part, start), getattr(part, end)) if start else (part["start"], part["end"])
        model.connect(ph.Revolute(model.ground.at((0, 0, 0)), first))
        weight = model.add(ph.PointMass(0.3), "weight", position=(0.5, 0, 0))
        model.connect(ph.Spherical(last, weight.origin))
        force = ph.Force(weight.origin, (1e-6, 2e-6, 0))
        answer = model.linearize([force], [ph.Velocity(last, (0, 1, 0))]).frequency_response([10, 300, 4000])
        answers.append(answer.values[:, 0, 0])
        model.apply(force)
        motion = model.simulate(0.01, 1e-4, progress=False)
        answers[-1] = np.concatenate([np.abs(answers[-1]), motion.position(last)[:, 1] * 1e6])
    assert np.abs(answers[0] - answers[1]).max() < 1e-9 * np.abs(answers[0]).max()


def components(dimension):
    if dimension == 2:
        return NodeComponent.AXIAL, NodeComponent.DEFLECTION_Y, NodeComponent.SLOPE_Y
    turns = (NodeComponent.TWIST, NodeComponent.SLOPE_Z, NodeComponent.SLOPE_Y)
    return (NodeComponent.AXIAL, NodeComponent.DEFLECTION_Y, NodeComponent.DEFLECTION_Z, *turns)


MESH, MASS, STIFFNESS, _ = matrices(2)
PLACES = MESH.nodes[:, :2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stiffness": STIFFNESS[:-2][:, :-2]}, "of shape"),
        ({"nodes": PLACES[:-1]}, "do not fit"),
        ({"nodes": PLACES[::-1]}, "needs a force"),
        ({"stiffness": sparse.tril(STIFFNESS)}, "half of it may be missing"),
        ({"stiffness": STIFFNESS + sparse.diags_array(np.r_[1e9, np.zeros(len(PLACES) * 2 - 1)])}, "needs a force"),
        ({"mass": MASS + sparse.diags_array(np.r_[np.inf, np.zeros(len(PLACES) * 2 - 1)])}, "must be finite"),
        ({"mass": MASS + sparse.diags_array(1.0 * (np.arange(2 * len(PLACES)) < 1))}, "differs with the direction"),
        ({"mass": 0 * MASS}, "carry no kinetic energy"),
        ({"interfaces": {"tip": 3}}, "lie on one line and have no rotations"),
        ({"interfaces": {"tip": [999]}}, "nodes are 0 to"),
        ({"interfaces": {"tip": "flange"}}, "no group 'flange'"),
        ({"geometric_stiffness": {"tip": [STIFFNESS]}}, "'tip' is none of the loads"),
        ({"geometric_stiffness": {}}, "holds no matrices"),
        ({"modal": 3}, "do not fit"),
    ],
)
def test_matrices_that_are_no_body(change, message):
    given = {"mass": MASS, "stiffness": STIFFNESS, "nodes": PLACES, "modes": 2, **change}
    with pytest.raises(ph.ParameterError, match=message):
        ph.FlexibleBody.from_matrices(**given)


def test_a_reduced_model_is_taken_as_it_is():
    """Craig-Bampton: motions of both ends and four modes between them, of a beam of 8 elements on a pin."""
    beam = ph.Beam(0.5, ph.RectangularSection(0.01, 0.02), STEEL, elements=8, strain="linear", frame="cantilever")
    mesh = BeamMesh(beam.length, beam.elements, 2)
    free = beam._assemble(mesh, np.eye(mesh.size))
    order = np.array([mesh.index(k, c) for k in range(9) for c in components(2)])
    mass, stiffness = (m[np.ix_(order, order)] for m in (elastic_mass(free), linear_stiffness(free.strain)))
    ends_of, inner = np.r_[0:3, 24:27], np.r_[3:24]
    follow = np.linalg.solve(stiffness[np.ix_(inner, inner)], -stiffness[np.ix_(inner, ends_of)])
    _, modes = eigh(stiffness[np.ix_(inner, inner)], mass[np.ix_(inner, inner)])
    basis = np.zeros((27, 10))
    basis[ends_of, np.arange(6)] = 1.0
    basis[inner, :6], basis[inner, 6:] = follow, modes[:, :4]
    small = [basis.T @ matrix @ basis for matrix in (mass, stiffness)]
    body = ph.FlexibleBody.from_matrices(
        *small, [(0, 0), (0.5, 0)], {"start": 0, "end": 1}, modes=None, modal=4, frame="start"
    )
    assert body.data.elastic_count == 7
    found = []
    for made, start in ((beam, None), (body, "start")):
        model = ph.Model(dimension=2)
        part = model.add(made, "beam")
        model.connect(ph.Revolute(model.ground.at((0, 0, 0)), part[start] if start else part.start))
        found.append(model.linearize().modes(3).frequencies)
    assert found[1][1:] == pytest.approx(found[0][1:], rel=2e-3)
    model = ph.Model(gravity=(0, -9.81, 0), dimension=2)
    part = model.add(body, "beam", angular_velocity=(0, 0, 20.0))
    model.connect(ph.Revolute(model.ground.at((0, 0, 0)), part["start"]))
    motion = model.simulate(0.02, 1e-4, progress=False)
    assert np.abs(motion.energy.balance_error).max() < 1e-11 * motion.energy.kinetic.max()
