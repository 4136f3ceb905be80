"""Meshes as motions: modes, responses and reductions without dense matrices; some of many ports."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg, sparse
from skfem import MeshTri

import phlexible as ph
from linear.reduction.test_any_model import damped, long_rod
from phlexible.algebra.sparse import diagonal_solver
from phlexible.linear.reduction.bases import random_mixtures
from phlexible.papers import rod, solid

LEFT = {"left": lambda x: x[0] < 1e-9}


def sheet(across, clamped="left"):
    """Twice as long as wide, all ports."""
    sides = np.linspace(0, 2, 2 * across + 1), np.linspace(0, 1, across + 1)
    return solid(MeshTri.init_tensor(*sides).with_boundaries(LEFT), 2e11, 0.3, 7800.0, 0.01, clamped)


@pytest.mark.parametrize("clamped", ["left", None])
def test_modes_are_those_of_the_dense_first_order_form(clamped):
    """By singular values of the rate of strain in energy coordinates; self-stresses are what is left over."""
    model = sheet(8, clamped)
    v, s = model.state_slice("velocity"), model.state_slice("stress")
    upper = [linalg.cholesky(model.descriptor[part, part].toarray()) for part in (v, s)]
    rate = linalg.solve_triangular(upper[1], model.structure[s, v].toarray(), trans="T")
    exact = np.sort(linalg.svdvals(linalg.solve_triangular(upper[0], rate.T, trans="T")))
    rigid = 0 if clamped else 3
    modes = ph.LinearModel.of(model).modes(9)
    assert modes.rigid_modes == rigid and modes.self_stresses == s.stop - v.stop - (v.stop - rigid)
    assert modes.elastic_frequencies == pytest.approx(exact[rigid:9], rel=1e-12)
    assert ph.LinearModel.of(model).modes(1).rigid_modes == rigid  # also those that were not asked for
    x = modes.shapes
    gap = model.structure @ x - model.descriptor @ (x * modes.eigenvalues)
    assert np.abs(gap).max() < 1e-8 * np.abs(model.structure @ x[:, -1:]).max()
    assert np.einsum("ij,ij->j", x.conj(), model.energy_matrix @ x).real == pytest.approx(np.ones(9))


def test_a_mesh_of_many_states_and_ports_is_reduced():
    """More states than dense matrices take, and ports of all of them."""
    model = ph.LinearModel.of(sheet(20))
    assert model.order > 6000 and len(model.inputs) == 1878
    poles = model.modes(3).elastic_frequencies
    band = np.linspace(0.05 * poles[0], 0.97 * poles[1], 4)
    one = {"inputs": ["boundary traction 40"], "outputs": ["boundary traction 40"]}
    errors = {"krylov": 1e-3, "modal": 0.5, "craig_bampton": 0.05}
    for method, error in errors.items():
        small = model.reduce(16, method, **one)
        assert small.order == 16 and small.error(band).peak.max() < error
    assert model.reduce(16, "modal", static_correction=True, **one).error(band).peak.max() < 1e-3
    with pytest.warns(ph.ReductionWarning, match="static answers to all inputs need 11 vectors or more, .* are 8"):
        whole = model.reduce(16)
    assert whole.inputs == model.inputs and len(whole.outputs) == len(model.outputs)
    assert whole.modes(2).frequencies == pytest.approx(poles[:2], rel=1e-5)
    with pytest.raises(ph.ModelError, match="1878 outputs to 1878 inputs is too large .* choose some"):
        model.frequency_response(band)
    with pytest.raises(ph.ModelError, match="states are too many for dense matrices"):
        model.reduce(16, "balanced", **one)


def test_responses_of_motions_are_those_of_states():
    """With viscosity, a stress as output, and all of two ports; against a dense solution."""
    model = ph.LinearModel.of(damped(rod(1.0, 12, 2e11, 7800.0, 1e-4), 1e-6))
    rows = sparse.vstack([model.output_matrix, sparse.csr_array(([1.0], ([0], [20])), (1, model.order))])
    names = (*model.outputs, "force")
    seen = replace(model, outputs=names, output_matrix=rows, differentiations=(0,) * 7 + (1,) * 9, output_units=())
    omega = 7e3
    x = np.linalg.solve((1j * omega * model.descriptor - model.system_matrix).toarray(), model.port_map.toarray())
    exact = (1j * omega) ** np.array(seen.differentiations)[:, None] * (rows @ x)
    found = seen.frequency_response([omega]).values[0]
    assert np.abs(found - exact).max(axis=1) == pytest.approx(np.zeros(16), abs=1e-11 * np.abs(exact).max())


def test_inputs_and_outputs_may_be_chosen():
    """Of states and of a mechanism, by name, port or component, in any order."""
    model = ph.LinearModel.of(rod(1.0, 6, 2e11, 7800.0, 1e-4))
    body, ends = model.ports
    with pytest.warns(ph.ReductionWarning, match="static answers to all inputs need 4 vectors"):
        small = model.reduce(5, inputs=[ends, "body force 3"], outputs=[body.select(2), "rate to boundary force 1"])
    assert small.inputs == ("boundary force 0", "boundary force 1", "body force 3")
    assert small.outputs == ("rate to body force 2", "rate to boundary force 1")
    columns = [model.inputs.index(name) for name in small.inputs]
    rows = [model.outputs.index(name) for name in small.outputs]
    whole = model.frequency_response([3e3]).values[0][np.ix_(rows, columns)]
    part = model.frequency_response([3e3], list(small.inputs), list(small.outputs))
    assert part.values[0] == pytest.approx(whole, rel=1e-12)
    assert part.input_units == ("N", "N", "N/m")

    satellite = ph.gallery.satellite(elements=4)
    hub, tip = satellite["hub"].origin, satellite["right panel"].end
    linear = satellite.linearize([hub], [ph.Velocity(tip, (0, 1, 0)), ph.Angle(hub, (0, 0, 1))])
    turned = linear.reduce(8, "modal", inputs=[linear.ports[2]], outputs=[linear.outputs[0]])
    assert turned.port_size == 1 and turned.error([1.0]).pointwise.shape == (1, 1, 1)
    assert turned.elastic_basis(satellite["right panel"]).shape[0] == 12
    for wrong in (["rail"], [], "body force", ["body force 3", "body force 3"], [7]):
        with pytest.raises(ph.ParameterError, match="inputs must"):
            model.reduce(6, inputs=wrong)
        with pytest.raises(ph.ParameterError, match="outputs must"):
            model.reduce(6, outputs=wrong)


def test_static_correction_has_the_static_answer():
    """Modes alone miss what all higher ones give at rest; passive as all others."""
    model = long_rod(True)
    plain, corrected = model.reduce(8, "modal"), model.reduce(8, "modal", static_correction=True)
    assert corrected.order == plain.order == 8
    assert corrected.error([1.0]).peak.max() < 1e-9 < 1e-3 < plain.error([1.0]).peak.max()
    assert corrected.passivity().is_passive and corrected.passivity().zero_modes == 0
    with pytest.raises(ph.ParameterError, match='static_correction= belongs to method="modal"'):
        model.reduce(8, "krylov", static_correction=True)


def test_mixes_of_ports_span_all_of_them_where_they_can():
    """Whatever the units of the ports are."""
    rng = np.random.default_rng(3)
    mass = sparse.diags_array(np.geomspace(1e-3, 1e3, 30)).tocsr()
    forces = rng.normal(size=(30, 4)) @ rng.normal(size=(4, 12))
    assert np.linalg.matrix_rank(np.hstack([random_mixtures(forces, mass, 6), forces]), tol=1e-8) == 4
    scaled = random_mixtures(forces * np.geomspace(1e-4, 1e4, 12), mass, 6)
    assert scaled == pytest.approx(random_mixtures(forces, mass, 6), rel=1e-9)
    assert random_mixtures(forces[:, :5], mass, 6).shape == (30, 5)


def test_pivots_on_the_diagonal_are_left_where_they_are_bad():
    matrix = sparse.csr_array([[1e-20, 1.0, 0.0], [1.0, 1e-20, 2.0], [0.0, 2.0, 3.0]])
    assert matrix @ diagonal_solver(matrix)(np.ones(3)) == pytest.approx(np.ones(3), rel=1e-12)


def test_what_does_not_condense_says_why():
    """Stresses with losses, of 4 001 elements."""
    model = rod(1.0, 2001, 2e11, 7800.0, 1e-4)
    lossy = sparse.diags_array(np.repeat([0.0, 1e-12], [2002, 2001]))
    with pytest.raises(ph.ModelError, match="4003 states need dense matrices .* stresses have losses"):
        ph.LinearModel.of(replace(model, dissipation=lossy)).modes(3)
