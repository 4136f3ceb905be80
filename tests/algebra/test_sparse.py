"""Sparse matrices: sums, patches, ordering, factors and saddle points."""

import re
from pathlib import Path

import numpy as np
import pytest
import skfem
from scipy import sparse
from scipy.sparse import csgraph

import phlexible as ph
from phlexible.algebra import sparse as sparse_factors
from phlexible.algebra.elimination import (
    LEAST_DISSECTED,
    MOST,
    block_schedule,
    clusters,
    dissection_predecessors,
    elimination_order,
    null_space_basis,
)
from phlexible.algebra.sparse import (
    SaddlePoint,
    definite_factors,
    dense_patches,
    dissection_order,
    lu_factors,
    smallest_with_multipliers,
    structural_rank,
    superlu_factors,
    weighted_sums,
)
from phlexible.errors import RedundancyError, SingularMatrixError
from refusals import refused

ENTRIES = [(2.0, 3, 0), (1.0, 0, 1), (-0.5, 3, 2), (4.0, 1, 0), (1.5, 0, 0)]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize("inner", [(), (3,)])
def test_sums_are_products_with_the_matrix_of_their_entries(count, inner):
    matrix = np.zeros((5, 3))  # sums 2 and 4 have no entries
    for weight, row, column in ENTRIES:
        matrix[row, column] += weight
    values = np.random.default_rng(1).normal(size=(count, 3, *inner))
    assert np.allclose(weighted_sums(ENTRIES, 5, 3).of(values), np.einsum("ij,tj...->ti...", matrix, values))


def test_sums_of_equal_numbers_cancel_exactly_where_they_are_to():
    weights = np.random.default_rng(2).normal(size=20)
    entries = [(w, k, source) for k, weight in enumerate(weights) for source, w in ((1, weight), (0, -weight))]
    same = np.full((1, 2, 3), 1e9 + 0.1)
    assert not weighted_sums(entries, 20, 2, cancels=True).of(same).any()


@pytest.mark.parametrize("seed", range(20))
def test_patches_hold_everything_once(seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 80, 2)
    matrix = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < rng.choice([0.02, 0.2, 1.0]))
    rest = matrix.copy()
    for part in dense_patches(matrix):
        rest[part] -= matrix[part]
    assert not rest.any()


def test_a_band_costs_what_its_entries_cost():
    sizes = []
    for n in (100, 200, 400):
        band = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 3
        parts = dense_patches(band.astype(float))
        sizes.append(sum((r.stop - r.start) * (c.stop - c.start) for r, c in parts))
    assert sizes[2] - sizes[1] == pytest.approx(2 * (sizes[1] - sizes[0]), rel=0.05)
    assert sizes[2] < 20 * 400


def numbers(cells, found):
    """Numbers of 1 x 1 blocks that an elimination of these clusters holds."""
    owner = np.zeros(cells.max() + 1, dtype=np.int64)
    for number, cluster in enumerate(found):
        owner[cluster] = number
    pairs = {(int(a), int(b)) for cell in owner[cells] for a in cell for b in cell if a < b}
    return block_schedule([len(each) for each in found], pairs, [()] * len(found), {}).length


@pytest.mark.parametrize(
    "mesh", [skfem.MeshTri.init_tensor(*[np.linspace(0, 1, 25)] * 2), skfem.MeshTet().refined(3)]
)
def test_every_node_is_in_one_small_cluster(mesh):
    found = clusters(mesh.t.T, mesh.p.T)
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(mesh.p.shape[1]))
    assert max(len(each) for each in found) <= MOST


def test_memory_grows_as_nested_dissection_says():
    """On a square grid of N nodes about as N log N: four times the nodes, less than six times the numbers."""
    sizes = []
    for n in (49, 97):
        mesh = skfem.MeshTri.init_tensor(*[np.linspace(0, 1, n)] * 2)
        sizes.append(numbers(mesh.t.T, clusters(mesh.t.T, mesh.p.T)))
    assert sizes[1] < 0.6 * 2 * 97**3  # a band
    assert sizes[1] < 6 * sizes[0]


def net(side):
    """Bodies along the lines of a square net, constraints where they meet: sizes, edges, what waits for what."""
    meets = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate([np.stack([each[:-1].ravel(), each[1:].ravel()], axis=1) for each in (meets, meets.T)])
    bodies = len(pairs)
    edges = [(body, bodies + int(meet)) for body, both in enumerate(pairs) for meet in both]
    waits = [[] for _ in range(bodies + side * side)]
    for body, meet in edges:
        waits[meet].append(body)
    return [3] * bodies + [2] * side * side, edges, waits, bodies


def test_a_net_is_halved_by_no_more_than_a_line_of_it():
    side = 20
    sizes, edges, waits, first = net(side)
    _, later = elimination_order(sizes, edges, waits)
    before = dissection_predecessors(sizes, later, first)
    most = max(before, key=len)
    cut = [node for node, own in enumerate(before) if len(own) == len(most)]
    assert len(cut) <= side and sorted([*cut, *most]) == list(range(first, len(sizes)))
    left = [(body, meet) for body, meet in edges if meet not in cut]
    matrix = sparse.coo_array((np.ones(len(left)), np.array(left).T), shape=(len(sizes),) * 2)
    part = csgraph.connected_components(matrix, directed=False)[1][most]
    assert np.bincount(part)[np.unique(part)].min() > 0.2 * side**2
    assert len(np.unique(part)) == 2
    assert min(map(len, filter(None, before))) > LEAST_DISSECTED - 2 * side


def test_few_blocks_are_left_where_nets_are_eliminated_in_groups():
    sizes, edges, waits, first = net(24)
    alone = block_schedule(sizes, edges, waits, {})
    schedule = block_schedule(sizes, edges, waits, {}, first)
    assert sorted(node for own in schedule.groups for node in own) == list(range(len(sizes)))
    assert len(schedule.targets) < 0.3 * len(alone.targets)
    assert schedule.length < 1.1 * alone.length


def grid_matrix(n):
    """Seven-point stencil on n^3 places, with a little more on the diagonal."""
    line = sparse.diags_array([-np.ones(n - 1), 2.0 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    one = sparse.eye_array(n)
    matrix = sparse.kron(sparse.kron(line, one), one) + sparse.kron(sparse.kron(one, line), one)
    matrix = matrix + sparse.kron(sparse.kron(one, one), line) + 0.01 * sparse.eye_array(n**3)
    places = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
    return sparse.csr_array(matrix), places


def test_solutions_in_both_orders(monkeypatch):
    matrix, places = grid_matrix(8)
    exact = np.random.default_rng(0).normal(size=(512, 3))
    loads = matrix @ exact
    assert superlu_factors(matrix, places)(loads) == pytest.approx(exact, abs=1e-10)
    assert superlu_factors(matrix, places)(loads[:, :0]).shape == (512, 0)
    monkeypatch.setattr(sparse_factors, "SMALL_FACTOR", 0)
    assert superlu_factors(matrix, places)(loads) == pytest.approx(exact, abs=1e-10)


def test_nested_dissection_is_a_permutation_with_little_fill():
    from scipy.sparse.linalg import splu

    matrix, places = grid_matrix(14)
    order = dissection_order(matrix, places)
    assert np.array_equal(np.sort(order), np.arange(len(places)))
    fill = [
        splu(matrix[each][:, each].tocsc(), permc_spec="NATURAL").nnz for each in (order, np.arange(len(places)))
    ]
    assert fill[0] < 0.6 * fill[1]


def test_places_that_coincide_are_ordered_too():
    matrix, places = grid_matrix(6)
    assert np.array_equal(np.sort(dissection_order(matrix, 0 * places)), np.arange(len(places)))


@pytest.mark.parametrize("package", ["rslab", "pypardiso"])
def test_other_solvers_where_they_are_installed(package):
    pytest.importorskip(package)
    matrix, places = grid_matrix(6)
    exact = np.random.default_rng(0).normal(size=(216, 2))
    factors = definite_factors(matrix, places)
    assert factors.solver in ("rslab", "pypardiso")
    assert factors.solve(exact[:, :0]).shape == (216, 0)
    assert factors.solve(matrix @ exact) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.diag([1.0, 0.0, 2.0]), "at most 2"),
        ([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0], [1.0, 0.0, 3.0]], "at most 2"),
        ([[1.0, 1.0], [1.0, 1.0]], "singular: Factor is exactly singular"),
    ],
)
def test_singular_matrices_are_refused(matrix, words):
    refused(SingularMatrixError, words, lambda: lu_factors(sparse.csr_array(np.array(matrix))))


def test_zeros_that_are_stored_are_zeros():
    matrix = sparse.csc_array(np.array([[0.0, 1.0], [1.0, 1.0]]))
    matrix.data[matrix.data == 1.0] = [1.0, 1.0, 0.0]
    assert lu_factors(matrix).solve(np.array([3.0, 2.0])) == pytest.approx([2.0, 3.0])
    matrix.data[1] = 0.0
    before = matrix.data.copy()
    refused(SingularMatrixError, "at most 1", lambda: lu_factors(matrix))
    assert np.array_equal(matrix.data, before), "the matrix of the caller stays as it is"


def test_sparse_matrices_are_factored_in_one_place():
    """SuperLU may write beyond its memory where a matrix has too few places for its pivots."""
    names = re.compile(r"\b(splu|spilu|spsolve|factorized)\b")
    package = Path(sparse_factors.__file__).parents[1]
    files = [path for path in package.rglob("*.py") if names.search(path.read_text(encoding="utf-8"))]
    assert files == [Path(sparse_factors.__file__)]


def test_structural_ranks_are_those_of_scipy():
    """Where SciPy's function is fast. Of a shell of 40 elements with unknown accelerations it takes minutes."""
    rng = np.random.default_rng(1)
    for size in range(1, 60):
        matrix = sparse.csc_matrix(sparse.random(size, size, density=min(1.0, 2 / size), rng=rng))
        diagonal = sparse.csc_matrix(sparse.diags((rng.random(size) < 0.7).astype(float)))
        for each in (matrix, sparse.csc_matrix(matrix + diagonal), sparse.csc_matrix((size, size))):
            assert structural_rank(each) == csgraph.structural_rank(each)


def test_small_arrays_and_sparse_matrices_have_the_same_smallest_solution():
    """Two rows hold the same: x = M^-1 G^T (G M^-1 G^T)^+ b, from NumPy's pseudoinverse."""
    random = np.random.default_rng(3)
    root = random.normal(size=(6, 6))
    metric, rows = root @ root.T + np.eye(6), random.normal(size=(3, 6))
    matrix = np.vstack([rows, rows[0] + 2 * rows[1]])
    values = matrix @ random.normal(size=6)
    flexible = np.linalg.solve(metric, matrix.T)
    expected = flexible @ np.linalg.pinv(matrix @ flexible, rcond=1e-10) @ values
    for kinds in ((metric, matrix), (sparse.csr_array(metric), sparse.csr_array(matrix))):
        x, y = smallest_with_multipliers(*kinds, values)
        assert np.allclose(x, expected, rtol=1e-9, atol=1e-9)
        assert np.allclose(metric @ x + matrix.T @ y, 0, atol=1e-8)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_that_a_light_body_shares_are_solved_to_round_off(kind):
    """Two rows hold a body of 1e-13 times the other's mass: in its metric they differ by 3e-7, and one repeats."""
    masses, matrix = np.array([1e-13, 1.0, 1.0]), np.array([[1.0, 0, 0], [1.0, 1.0, 1.0], [2.0, 1.0, 1.0]])
    x, y = smallest_with_multipliers(kind(np.diag(masses)), kind(matrix), matrix @ [0.3, 0.2, 0.2])
    assert x == pytest.approx([0.3, 0.2, 0.2], rel=1e-13)
    assert matrix.T @ y == pytest.approx(-masses * x, abs=1e-15)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_many_right_sides_are_solved_as_the_whole_matrix_solves_them(kind):
    rng = np.random.default_rng(1)
    matrix, rows, compliance = rng.normal(size=(5, 5)), rng.normal(size=(2, 5)), np.array([0.0, 0.3])
    forces, values = rng.normal(size=(5, 3)), rng.normal(size=(2, 3))
    whole = np.block([[matrix, rows.T], [rows, -np.diag(compliance)]])
    expected = np.linalg.solve(whole, np.concatenate([forces, values]))
    for scale in (None, np.linspace(1e-3, 1e3, 5)):
        x, y = SaddlePoint(kind(matrix), kind(rows), compliance, scale).solve(forces, values)
        assert np.concatenate([x, y]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_null_spaces_of_random_rows(seed):
    matrix = sparse.random_array((12, 30), density=0.3, rng=np.random.default_rng(seed), format="csr")
    basis = null_space_basis(matrix)
    assert basis.shape == (30, 18)
    assert np.abs((matrix @ basis).toarray()).max() < 1e-12
    assert np.linalg.svd(basis.toarray(), compute_uv=False)[-1] > 0.1


def test_null_spaces_of_dependent_rows():
    rows = np.array([[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0], [1.0, 3.0, 1.0, 1.0]])
    refused(RedundancyError, "depends on other rows", lambda: null_space_basis(sparse.csr_array(rows)))
    basis = null_space_basis(sparse.csr_array(rows), allow_dependent=True)
    assert basis.shape == (4, 2) and np.abs(rows @ basis.toarray()).max() < 1e-14


def test_the_null_space_of_a_chain_stays_sparse():
    G = ph.gallery.chain(links=60, elements=3).linearize(at="unloaded").mechanics.constraint_matrix
    basis = null_space_basis(G)
    assert np.abs(G @ basis).max() < 1e-12
    assert basis.nnz < 2 * basis.shape[0]
