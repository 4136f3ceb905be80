"""The block elimination solves Newton's system like a dense solver, for chains, hubs and loops."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import phlexible as ph
from phlexible.algebra import elimination
from phlexible.algebra.elimination import block_schedule
from phlexible.state.initial_velocity import undeformed
from phlexible.state.system import system_of
from phlexible.step.tables.declarations import GATHERED, TOGETHER
from step.kernels.newton import RELAXATION, Newton

BODY = ph.RigidBody(2.0, (0.03, 0.04, 0.05), center=(0.1, -0.05, 0.0))


def chain(model, bodies):
    for a, b in pairwise(bodies):
        model.connect(ph.Revolute(a.point((1, 0, 0)), b.origin))


def loop(model, bodies):
    chain(model, bodies)
    model.connect(ph.Spherical(bodies[-1].point((1, 0, 0)), bodies[0].origin))


def hub(model, bodies):
    for k, other in enumerate(bodies[1:]):
        model.connect(ph.Spherical(bodies[0].point((0.1 * k, 1, 0)), other.origin))
        model.connect(ph.Distance(bodies[0].point((0.3 * k, 1, 0)), other.point((1, 1, 0))))


def grid(model, bodies):
    chain(model, bodies)
    for a, b in zip(bodies[:-3], bodies[3:], strict=True):
        model.connect(ph.Distance(a.origin, b.point((0, 1, 0))))


@pytest.mark.parametrize("topology", [chain, loop, hub, grid])
@pytest.mark.parametrize("dimension", [2, 3])
def test_solution_is_that_of_a_dense_solver(topology, dimension):
    rng = np.random.default_rng(3)
    model = ph.Model(dimension=dimension)
    bodies = [
        model.add(BODY, position=(k, 0.3 * k * k, 0.0)) if k % 2 else model.add(ph.RigidBody(1.0, (1, 1, 1)))
        for k in range(7)
    ]
    topology(model, bodies)
    newton = Newton(model, initial_state_of(system_of(model), rng), 0.1)
    check_solution(newton, rng.normal(size=newton.velocities + newton.rows))


def check_solution(newton, unknowns, by_transposed=False):
    """The solution is that of a dense solver, also by the transposed of the factors."""
    matrix, right = newton.matrix(unknowns), newton.residual(unknowns)
    for is_transposed, full in enumerate((matrix, matrix.T)[: 1 + by_transposed]):
        solution = newton.solution(unknowns, bool(is_transposed))
        assert np.abs(full @ solution - right).max() <= 1e-11 * np.abs(full).max() * np.abs(solution).max()
        assert solution == pytest.approx(np.linalg.solve(full, right), rel=1e-7, abs=1e-9)


def net(side, dimension):
    """Rods in squares that hang from the ground, joined where they meet."""
    model, ports = ph.Model(gravity=(0.0, -9.81, 0.0), dimension=dimension), {}
    rod, joint = ph.RigidBody(1.0, (0.02, 0.09, 0.08), center=(0.5, 0, 0)), ph.Revolute
    down = -np.pi / 2 if dimension == 2 else Rotation.from_euler("z", -np.pi / 2)

    def meet(place, port):
        if place in ports:
            model.connect(joint(ports[place], port))
        ports.setdefault(place, port)

    for k in range(side):
        meet((k, 0), model.ground.at((k, 0.0, 0.0)))
        for level in range(1, side):
            body = model.add(rod, position=(k, 1.0 - level, 0.0), rotation=down)
            meet((k, level - 1), body.origin)
            meet((k, level), body.point((1, 0, 0)))
    for k in range(side - 1):
        for level in range(1, side):
            body = model.add(rod, f"{k} {level}", position=(k, -level, 0.0))
            meet((k, level), body.origin)
            meet((k + 1, level), body.point((1, 0, 0)))
    return model


@pytest.fixture
def small_groups(monkeypatch):
    monkeypatch.setattr(elimination, "LARGE_FILL", 1)
    monkeypatch.setattr(elimination, "LEAST_DISSECTED", 6)


def groups_of(memory):
    return memory["visit_size"][memory["visit_apart"] == TOGETHER]


def test_nets_are_solved_in_groups_of_constraints(small_groups):
    """Also where a spring couples bodies, which others write into, and by the transposed of the factors."""
    rng, model = np.random.default_rng(3), net(6, 2)
    model.apply(ph.SpringDamper(model["0 1"].origin, model["2 3"].origin, 300.0, 20.0))
    newton = Newton(model, initial_state_of(system_of(model), rng), 0.02)
    rows = groups_of(newton.memory)
    assert len(rows) > 5 and rows.max() > 10
    check_solution(newton, rng.normal(size=newton.velocities + newton.rows), by_transposed=True)


def test_nodes_of_a_shell_are_solved_with_long_rows(small_groups):
    """Also by the transposed of the factors, whose blocks are gathered after they are transposed. Each node of a
    clamp has a block of its own."""
    sheet = ph.Shell.plate(1.0, 1.0, 0.05, ph.Material(1e7, 2000.0), elements=(6, 6), interfaces={"start": "rigid"})
    model, rng = ph.Model(), np.random.default_rng(3)
    model.connect(ph.Fixed(model.ground.at((0, 0, 0)), model.add(sheet, "sheet")["start"]))
    newton = Newton(model, initial_state_of(system_of(model), rng), 1e-3)
    assert (newton.memory["visit_apart"] == GATHERED).sum() > 3
    assert newton.memory["node_size"][newton.memory["constraint_node"]].tolist() == [5] * 7
    check_solution(newton, rng.normal(size=newton.velocities + newton.rows), by_transposed=True)


def test_redundant_joints_are_relaxed_by_a_share_of_what_bodies_put_there(small_groups):
    """In space all axes of a net are parallel."""
    rng, model = np.random.default_rng(3), net(4, 3)
    newton = Newton(model, initial_state_of(system_of(model), rng), 0.02)
    assert len(groups_of(newton.memory)) > 0
    unknowns = rng.normal(size=newton.velocities + newton.rows)
    matrix, nv = newton.matrix(unknowns), newton.velocities
    put = -np.diag(matrix[nv:, :nv] @ np.linalg.solve(matrix[:nv, :nv], matrix[:nv, nv:]))
    rows = newton.assembly.memory["row_unknown"] - nv
    assert rows.tolist() != sorted(rows)
    assert newton.relaxations(unknowns) == pytest.approx(RELAXATION * put[rows], rel=1e-9)


def beam(length=1.0):
    steel = ph.Material(youngs_modulus=2e9, density=2000.0)
    return ph.Beam(length, ph.RectangularSection(0.05, 0.03), steel, elements=2)


@pytest.mark.parametrize("dimension", [2, 3])
def test_springs_between_elastic_bodies_and_strings_are_eliminated_too(dimension):
    """Auxiliary unknowns between beams, rigid bodies that meet directly, nodes that share mass."""
    model = ph.Model(dimension=dimension)
    a, b = model.add(beam(), "a"), model.add(beam(), "b", position=(1.2, 0.3, 0))
    body = model.add(BODY, "body", position=(2.5, 0, 0))
    rope = model.add(ph.String(0.9, 0.6, 3, ph.LinearLaw(20.0)), "rope", position=(1, 1, 0))
    for first, second in ((a.end, b.start), (b.end, body.origin), (body.point((1, 0, 0)), rope.end)):
        model.apply(ph.SpringDamper(first, second, 300.0, 20.0, 0.4))
    model.apply(ph.SpringDamper(rope.start, model.ground.at((0, 1, 0)), 300.0))
    model.apply(model.connect(ph.Revolute(a.start, body.point((0, 0.5, 0)))).spring(80.0, rest=0.3))
    rng, system = np.random.default_rng(3), system_of(model)
    newton = Newton(model, initial_state_of(system, rng), 0.02)
    assert len(newton.auxiliaries) > 0
    check_solution(newton, rng.normal(size=newton.velocities + newton.rows))


def initial_state_of(system, rng):
    state = undeformed(system)
    return replace(state, velocity=rng.normal(size=len(state.velocity)))


def test_a_chain_is_eliminated_without_fill():
    links = 2000
    edges = [(k, links + j) for j in range(links) for k in (j - 1, j) if k >= 0]
    waits = [[] for _ in range(links)] + [[k for k in (j - 1, j) if k >= 0] for j in range(links)]
    schedule = block_schedule([6] * links + [3] * links, edges, waits, {})
    assert len(schedule.groups) == 2 * links  # nothing is grouped
    runs = np.diff(schedule.run_start)[[own[0] >= links for own in schedule.groups]]
    assert runs.max() <= 1  # joints meet one later joint
    assert schedule.length == links * (36 + 9) + (2 * links - 1) * 2 * 18 + (links - 1) * 2 * 9
    assert sorted(own for (own,) in schedule.groups) == list(range(2 * links))


def test_joints_wait_for_the_nodes_that_they_hold():
    """A floating body, a string of nodes 1 to 6, joints 7 (ground), 8 (body and node) and 9 (two nodes)."""
    joints = {7: [1], 8: [0, 6], 9: [2, 4]}
    edges = [(k, k + 1) for k in range(1, 6)] + [(node, joint) for joint in joints for node in joints[joint]]
    waits = [[] for _ in range(7)] + list(joints.values())
    schedule = block_schedule([6] + [3] * 9, edges, waits, {})
    place = {int(node): index for index, node in enumerate(sum(schedule.groups, ()))}
    assert sorted(place) == list(range(10))
    for joint, nodes in joints.items():
        assert all(place[node] < place[joint] for node in nodes)
