"""The block elimination solves Newton's system like a dense solver, for chains, hubs and loops."""

from itertools import pairwise

import numpy as np
import pytest
from numba import njit
from phlexible.kernels.pointers import pointer_to
from phlexible.system.constraints import mechanism_layout
from phlexible.system.state import State

import phlexible as ph
from kernels.newton_matrix import Newton
from phlexible.algebra.elimination_order import block_schedule
from phlexible.kernels import tables as at
from phlexible.kernels.elimination import eliminate, substitute

BODY = ph.RigidBody(2.0, (0.03, 0.04, 0.05), center=(0.1, -0.05, 0.0))


@njit
def _solve(int_array, real_array):
    ints, reals = pointer_to(int_array), pointer_to(real_array)
    if not eliminate(ints, reals, 0.0):
        return False
    substitute(ints, reals, ints[at.RESIDUAL])
    return True


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
    layout = mechanism_layout(model)
    state = State(
        0.0,
        np.array([b.position for b in bodies]),
        np.array([b.rotation for b in bodies]),
        np.zeros(0),
        rng.normal(size=int(layout.velocity[-1])),
    )
    newton = Newton(model, state, 0.1)
    unknowns = rng.normal(size=newton.velocities + newton.rows)
    matrix = newton.matrix(unknowns)
    right = newton.residual(unknowns)
    newton.matrix(unknowns)
    assert _solve(newton.system.ints, newton.system.reals)
    count = int(newton.system.ints[at.UNKNOWNS])
    solution = newton.system.table(at.RESIDUAL, count)[newton.unknowns]
    assert np.abs(matrix @ solution - right).max() <= 1e-11 * np.abs(matrix).max() * np.abs(solution).max()
    assert solution == pytest.approx(np.linalg.solve(matrix, right), rel=1e-7, abs=1e-9)


def test_a_chain_is_eliminated_without_fill():
    links = 2000
    edges = [(k, links + j) for j in range(links) for k in (j - 1, j) if k >= 0]
    schedule = block_schedule([6] * links + [3] * links, edges, links)
    joints = schedule.neighbour_start[links + 1 :] - schedule.neighbour_start[links:-1]
    assert joints.max() <= 1  # each joint meets one later joint at most
    assert schedule.length == links * (36 + 9) + (2 * links - 1) * 2 * 18 + (links - 1) * 2 * 9
    assert sorted(schedule.order) == list(range(2 * links))


def test_joints_wait_for_the_nodes_that_they_hold():
    """A floating body, a string of nodes 1 to 6, joints 7 (ground), 8 (body and node) and 9 (two nodes)."""
    edges = [(k, k + 1) for k in range(1, 6)] + [(1, 7), (0, 8), (6, 8), (2, 9), (4, 9)]
    schedule = block_schedule([6] + [3] * 9, edges, 1, 7)
    place = {int(node): index for index, node in enumerate(schedule.order)}
    assert place[0] == 0 and sorted(place) == list(range(10))
    for node, joint in ((1, 7), (0, 8), (6, 8), (2, 9), (4, 9)):
        assert place[node] < place[joint]
