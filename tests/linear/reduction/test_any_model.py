"""Reductions of models that no mechanism is behind: by hand, by transformer and gyrator, rods and meshes."""

from dataclasses import replace

import numpy as np
import pytest
from skfem import MeshTri

import phlexible as ph
from phlexible.linear.reduction.state_bases import StateBasis, state_reduction
from phlexible.papers.elastodynamics import rod, solid
from phlexible.port_hamiltonian.model import Port, StateGroup

METHODS = ("modal", "craig_bampton", "krylov", "balanced", "irka")
PUSH = Port("push", "N", "m/s", 1)


def damped(model, time):
    """Viscosity: stresses answer to strain rates after this time [s]."""
    v, s = model.state_slice("velocity"), model.state_slice("stress")
    rate, compliance = model.structure[s, v].toarray(), model.descriptor[s, s].toarray()
    dissipation = model.dissipation.tolil()
    dissipation[v, v] = time * rate.T @ np.linalg.solve(compliance, rate)
    return replace(model, dissipation=dissipation)


def pushed(model, place):
    """The model with one force, on one velocity."""
    column = np.zeros((model.order, 1))
    column[place] = 1.0
    return replace(model, port_map=column, ports=(PUSH,))


def clamped_rod():
    """Of 12 elements, pulled at its free end."""
    return pushed(damped(rod(1.0, 12, 2e11, 7800.0, 1e-4, is_clamped=True), 1e-6), 11)


def mass(kilograms, *ports):
    return ph.LinearPHDAE(
        [[kilograms]], [[0.0]], [[0.0]], np.ones((1, len(ports))), (StateGroup("v", "m/s", 1),), ports
    )


def on_a_transformer():
    """The rod's end moves 2 kg."""
    load = mass(2.0, PUSH, Port("outer", "N", "m/s", 1))
    rods, loads = ph.with_prefix(clamped_rod(), "rod"), ph.with_prefix(load, "mass")
    return ph.transformer(rods, loads, [[-1.0]], ("rod.push", "mass.push"))


def on_a_gyrator():
    """A spring, that is its velocity as input and its force as output, between the rod's end and a mass."""
    ends = tuple(Port(name, "m/s", "N", 1) for name in ("left", "right"))
    spring = ph.LinearPHDAE([[1e-6]], [[0.0]], [[0.0]], [[1.0, -1.0]], (StateGroup("force", "N", 1),), ends)
    load = mass(2.0, PUSH, Port("outer", "N", "m/s", 1))
    parts = [ph.with_prefix(part, name) for part, name in ((clamped_rod(), "rod"), (spring, "spring"))]
    whole = ph.gyrator(*parts, [[1.0]], ("rod.push", "spring.left"))
    return ph.gyrator(whole, ph.with_prefix(load, "mass"), [[1.0]], ("spring.right", "mass.push"))


def plate(clamped):
    mesh = MeshTri().refined(2).with_boundaries({"left": lambda x: x[0] < 1e-9})
    return pushed(damped(solid(mesh, 2e11, 0.3, 7800.0, clamped=clamped), 2e-7), 5)


def nameless(model):
    """The same without units: nothing says which states are velocities."""
    ports = (Port("push", "", "", 1),)
    return replace(model, states=(StateGroup("x", "", model.order),), ports=ports)


def oscillator(units=("m/s", "N")):
    states = tuple(StateGroup(name, unit, 1) for name, unit in zip("vf", units, strict=True))
    coupling = np.array([[0.0, -1.0], [1.0, 0.0]])
    return ph.LinearPHDAE(np.diag([2.0, 0.1]), coupling, np.diag([0.3, 0.0]), [[1.0], [0.0]], states, (PUSH,))


CASES = {
    "oscillator": (oscillator, 2, 1e-12),
    "rod": (clamped_rod, 10, 0.05),
    "transformer": (on_a_transformer, 8, 1e-3),
    "gyrator": (on_a_gyrator, 4, 0.01),
    "clamped plate": (lambda: plate("left"), 24, 0.1),
    "free plate": (lambda: plate(None), 25, 0.05),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", CASES)
def test_any_model_is_reduced_by_every_method(case, method):
    """Up to the second elastic mode: error at the peak, and a certificate."""
    if method == "irka":
        pytest.importorskip("pymor")
    make, order, error = CASES[case]
    model = ph.LinearModel.of(make())
    poles = model.modes(6).elastic_frequencies[:2]
    reduced = model.reduce(order, method)
    assert reduced.order == order
    assert reduced.error(np.linspace(0.05 * poles[0], 1.1 * poles[-1], 40)).peak.max() < error
    assert reduced.passivity().is_passive
    assert reduced.inputs == model.inputs and reduced.outputs == model.outputs


def test_krylov_answers_exactly_where_it_matches():
    reduced = ph.LinearModel.of(plate("left")).reduce(4, "krylov", frequencies=[4000.0])
    assert reduced.error([4000.0]).pointwise.max() < 1e-9
    assert reduced.error([3000.0]).pointwise.max() > 1e-6


def test_what_a_method_needs_is_said():
    """Velocities and stresses cannot be told apart without units; Krylov and the others do without."""
    port = Port("input", "", "", 1)
    unknown = ph.LinearModel.of(replace(oscillator(("", "")), ports=(port,)))
    with pytest.raises(ph.ModelError, match="which states are velocities .* give the states units"):
        unknown.reduce(2, "modal")
    assert unknown.reduce(2, "krylov").error([1.0, 3.0]).peak.max() < 1e-12
    with pytest.warns(ph.ReductionWarning, match="order 7, not 8: .* in whole pairs of velocity and stress"):
        assert ph.LinearModel.of(plate(None)).reduce(8, "craig_bampton").order == 7
    with pytest.raises(ph.ParameterError, match="order must be at most the 2 states"):
        ph.LinearModel.of(oscillator()).reduce(3, "krylov")


def long_rod(is_clamped):
    """Of 40 elements, pulled at an end; without losses."""
    rods = rod(1.0, 40, 2e11, 7800.0, 1e-4, is_clamped=is_clamped)
    return ph.LinearModel.of(pushed(rods, 39 if is_clamped else 0))


def zero_modes(model):
    sizes = np.linalg.svd(model.system_matrix.toarray(), compute_uv=False)
    return int((sizes < 1e-9 * sizes[0]).sum())


@pytest.mark.filterwarnings("ignore::phlexible.ReductionWarning")
@pytest.mark.parametrize(("is_clamped", "keep_rigid"), [(False, True), (True, False)])
@pytest.mark.parametrize("frequencies", [None, (4e3, 2e4, 4e4, 5e4, 6e4, 7e4, 8e4)])
def test_krylov_bases_of_any_order_have_whole_pairs(is_clamped, keep_rigid, frequencies):
    """A velocity without its stress is a body that drifts: zero modes that the full model does not have."""
    model = long_rod(is_clamped)
    errors = []
    for order in (11, 12) if frequencies is None else range(10, 16):
        small = model.reduce(order, frequencies=frequencies, keep_rigid=keep_rigid)
        assert order - 1 <= small.order <= order
        assert zero_modes(small) == (0 if is_clamped else 1)
        assert small.passivity().zero_modes == model.passivity().zero_modes == zero_modes(small)
        errors.append(small.error(np.linspace(500, 7e3, 20)).peak.max())
    assert max(errors) < 1e-2
    if frequencies is not None:  # those that are chosen serve a band that grows with the order
        assert errors[-1] < errors[0]


def free_beam():
    model = ph.Model(dimension=2)
    return model.linearize([model.add(ph.Beam(1.0, ph.CircularSection(0.01), ph.Material(2e11, 7800.0), 10)).end])


@pytest.mark.parametrize(
    ("make", "inputs"),
    [
        (lambda: long_rod(True), 1),
        (lambda: ph.LinearModel.of(clamped_rod()), 1),
        (lambda: ph.LinearModel.of(nameless(clamped_rod())), 1),
        (lambda: ph.LinearModel.of(on_a_transformer()), 2),
        (lambda: ph.LinearModel.of(plate(None)), 1),
        (free_beam, 3),
    ],
)
@pytest.mark.filterwarnings("ignore::phlexible.ReductionWarning")
def test_every_order_has_the_static_compliance(make, inputs):
    """Far below the first resonance, the answers of elastic motions beside those of rigid ones too."""
    model = make()
    modes = model.modes(6)
    rigid, slow = modes.rigid_modes, 1e-3 * modes.elastic_frequencies[0]
    for extra in (0, 2, 4):
        small = model.reduce(2 * (inputs + rigid) + extra)
        assert small.error([slow]).pointwise.max() < 1e-9
        assert small.passivity().is_passive


@pytest.mark.filterwarnings("ignore::phlexible.ReductionWarning")
@pytest.mark.parametrize("lumped", [True, False])
def test_self_stresses_that_a_port_drives_are_in_every_basis(lumped):
    """A boundary whose velocity is given squeezes a model in H(div): they come on top of the order."""
    mesh = MeshTri().refined(1).with_boundaries({"left": lambda x: x[0] < 1e-9})
    model = ph.LinearModel.of(solid(mesh, 2e11, 0.3, 7800.0, clamped="left", stress="h_div", lumped=lumped))
    band = np.linspace(100.0, 2000.0, 5)
    for method in ("krylov", "modal", "craig_bampton")[: 3 if lumped else 1]:
        for inputs, count in (["boundary velocity"], 4 if lumped else 5), (["boundary velocity 0"], 1):
            small = model.reduce(16, method, inputs=inputs, outputs=inputs)
            assert small.passivity().zero_modes == count
            assert small.order <= 16 + count and small.error(band).peak.max() < 0.03


@pytest.mark.parametrize("is_clamped", [True, False])
def test_half_a_pair_is_refused(is_clamped):
    """Whatever made the basis: here modes, and the velocity of one more."""
    model, rigid = long_rod(is_clamped), int(not is_clamped)
    modes = model.modes(5).shapes
    columns = np.hstack([modes.real, modes.imag[:, rigid:4]])
    columns /= np.sqrt(np.einsum("ij,ij->j", columns, model.energy_matrix @ columns))
    with pytest.raises(ph.ModelError, match="1 motion that drifts"):
        state_reduction(model, StateBasis(columns, "modal"))
    pairs = state_reduction(model, StateBasis(np.delete(columns, 4, axis=1), "modal"))
    assert pairs.order == 8 - rigid and zero_modes(pairs) == rigid


@pytest.mark.filterwarnings("ignore::phlexible.ReductionWarning")
@pytest.mark.parametrize("largest", [1500, 10])
def test_krylov_bases_at_frequency_zero_have_the_static_answer(largest, monkeypatch):
    """With dense matrices and, where these would be too large, with sparse ones alone."""
    monkeypatch.setattr("phlexible.linear.reduction.normal_forms.LARGEST", largest)
    small = long_rod(True).reduce(6, frequencies=[0.0, 8e3, 2.4e4])
    assert small.order == 6 and zero_modes(small) == 0
    assert small.error([1.0, 10.0]).peak.max() < 1e-11
    assert small.error(np.linspace(500, 7e3, 20)).peak.max() < 1e-4
    assert long_rod(True).reduce(7, frequencies=[0.0, 8e3, 2.4e4, 4e4]).order == 6
