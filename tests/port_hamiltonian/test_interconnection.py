"""Gyrator and transformer: (42) against (43) with (44), power, momentum, refusals."""

import numpy as np
import pytest
from scipy.linalg import eig
from scipy.spatial.transform import Rotation

import phlexible as ph
from bodies.forms import BODIES, beam, random_state
from phlexible.papers.elastodynamics import rod
from phlexible.port_hamiltonian.model import Port, StateGroup


def forms(dimension=2):
    """Two beams, joined at end and start; states of the first, then of the second."""
    first = ph.with_prefix(beam().port_hamiltonian(dimension=dimension), "a")
    return first, ph.with_prefix(beam(frame="cantilever").port_hamiltonian(dimension=dimension), "b")


def relative_rotation(dimension):
    """R of (40): from the frame of b to that of a."""
    form_a, form_b = (each.model for each in forms(dimension))

    def coupling(x_a, x_b):
        second = form_b.split(x_b[: form_b.state_size])  # an inverted model has multipliers as well
        return (form_a.split(x_a).rotation.T @ second.rotation)[:dimension, :dimension]

    return coupling


def states(*models, seed=0):
    return np.concatenate([random_state(model.model, seed + k)[0] for k, model in enumerate(models)])


PORTS = ("a.end force", "b.start force")


@pytest.mark.parametrize("dimension", [2, 3])
def test_transformer_is_gyrator_with_the_inverted_model(dimension):
    a, b = forms(dimension)
    joint = relative_rotation(dimension)
    direct = ph.transformer(a, b, joint, PORTS)
    other = ph.gyrator(a, ph.inverted(b, "b.start force"), joint, PORTS)
    x = np.concatenate([states(a, b), np.random.default_rng(0).normal(size=dimension)])
    u = np.random.default_rng(1).normal(size=direct.port_size)
    for name in ("descriptor_matrix", "structure_matrix", "dissipation_matrix", "port_matrix"):
        difference = getattr(direct, name)(x) - getattr(other, name)(x)
        assert abs(difference).max() == 0, name
    assert (direct.effort(x) == other.effort(x)).all()
    assert direct.forces(x, u) == pytest.approx(other.forces(x, u), rel=1e-14)
    assert [p.name for p in direct.ports] == [p.name for p in other.ports]


@pytest.mark.parametrize("dimension", [2, 3])
def test_joint_forces_cancel_and_velocities_agree(dimension):
    a, b = forms(dimension)
    joint = ph.transformer(a, b, relative_rotation(dimension), PORTS)
    x = np.concatenate([states(a, b), np.arange(1.0, dimension + 1)])
    split = [a.model.split(x[: a.state_size]), b.model.split(x[a.state_size :][: b.state_size])]
    world = []
    for model, state, part in (
        (a, split[0], slice(0, a.state_size)),
        (b, split[1], slice(a.state_size, -dimension)),
    ):
        still = model.forces(x[part], np.zeros(model.port_size))
        change = joint.forces(x, np.zeros(joint.port_size))[part] - still
        begin = model.state_slice(("a" if model is a else "b") + ".velocity").start
        world.append(state.rotation[:dimension, :dimension] @ change[begin : begin + dimension])
    assert world[0] == pytest.approx(-world[1], rel=1e-10)
    assert np.abs(world[0]).max() > 0.1
    gap = joint.forces(x, np.zeros(joint.port_size))[-dimension:]
    ends = [
        m.output(p)[m.port_slice(n)]
        for m, p, n in ((a, x[: a.state_size], PORTS[0]), (b, x[a.state_size : -dimension], PORTS[1]))
    ]
    world_gap = (
        split[0].rotation[:dimension, :dimension] @ ends[0] - split[1].rotation[:dimension, :dimension] @ ends[1]
    )
    assert split[1].rotation[:dimension, :dimension] @ gap == pytest.approx(world_gap)


def test_any_sequence_keeps_power_and_type():
    rng = np.random.default_rng(4)
    for _ in range(3):
        whole = ph.with_prefix(BODIES["damped modal beam"].port_hamiltonian(), "0")
        for k in range(1, 4):
            name = ["rigid body", "beam", "linear beam"][rng.integers(3)]
            new = ph.with_prefix(BODIES[name].port_hamiltonian(), str(k))
            mine = str(rng.choice([p.name for p in whole.ports if p.input_unit == "N"]))
            theirs = str(rng.choice([p.name for p in new.ports if p.input_unit == "N"]))
            c = Rotation.random(random_state=int(rng.integers(100))).as_matrix()
            choice = rng.integers(3)
            if choice == 0:
                whole = ph.transformer(whole, new, c, (mine, theirs))
            elif choice == 1:
                whole = ph.gyrator(
                    whole, ph.inverted(new, theirs), lambda x_a, x_b, c=c: c * x_b[0], (mine, theirs)
                )
            else:
                whole = ph.gyrator(ph.inverted(whole, mine), new, c, (mine, theirs))
        x = 0.1 * rng.normal(size=whole.state_size)
        figures = ph.check_structure(whole, x)
        assert figures.skewness == 0
        assert figures.power < 1e-14


def test_linear_models_stay_linear_and_two_rods_are_one():
    a, b = (ph.with_prefix(rod(1.0, 4, 3.0, 2.0), name) for name in "ab")
    a, b = (_with_single_ends(model, name) for model, name in ((a, "a"), (b, "b")))
    joined = ph.transformer(a, b, np.eye(1), ("a.end", "b.start"))
    assert isinstance(joined, ph.LinearPHDAE)
    assert isinstance(ph.gyrator(a, ph.inverted(b, "b.start"), np.eye(1), ("a.end", "b.start")), ph.LinearPHDAE)
    found = frequencies(joined)
    expected = frequencies(rod(2.0, 8, 3.0, 2.0))
    assert found[: len(expected)] == pytest.approx(expected, abs=1e-6)
    assert expected[-1] > 1


def _with_single_ends(model, name):
    """The boundary port of both ends as two ports."""
    ports = (model.ports[0], Port(f"{name}.start", "N", "m/s", 1), Port(f"{name}.end", "N", "m/s", 1))
    return ph.LinearPHDAE(
        model.descriptor, model.structure, model.dissipation, model.port_map, model.states, ports, model.effort_map
    )


def frequencies(model):
    """Positive, ascending, rigid ones left out."""
    values = eig(model.structure.toarray(), model.descriptor.toarray(), right=False)
    values = values[np.isfinite(values)]
    assert np.abs(values.real).max() < 1e-6
    return np.sort(values.imag[(values.imag > 1e-3) & (values.imag < 1e4)])


def mass(name, input_unit="N", output_unit="m/s", size=1):
    eye = np.eye(size)
    states = (StateGroup(f"{name}.v", "m/s", size),)
    return ph.LinearPHDAE(eye, 0 * eye, 0 * eye, eye, states, (Port(f"{name}.p", input_unit, output_unit, size),))


@pytest.mark.parametrize(
    ("connect", "a", "b", "coupling", "message"),
    [
        (ph.transformer, mass("a"), mass("b", "N m", "rad/s"), [[1.0]], "N m"),
        (ph.gyrator, mass("a"), mass("b"), [[1.0]], "inverted"),
        (ph.transformer, mass("a"), mass("b", size=2), [[1.0]], r"shape \(1, 2\)"),
        (ph.transformer, mass("a"), mass("a"), [[1.0]], "with_prefix"),
    ],
)
def test_what_does_not_fit_is_refused(connect, a, b, coupling, message):
    with pytest.raises(ph.ModelError, match=message):
        connect(a, b, coupling, (a.ports[0].name, b.ports[0].name))


@pytest.mark.parametrize(
    ("coupling", "message"),
    [
        (lambda x_a, x_b: np.eye(2), r"shape \(1, 1\)"),
        (lambda x_a, x_b: [[np.nan]], "finite"),
        (lambda x_a, x_b: x_a[5:6], "the coupling"),
    ],
)
def test_a_coupling_function_is_tried_at_once(coupling, message):
    with pytest.raises(ph.ModelError, match=message):
        ph.transformer(mass("a"), mass("b"), coupling, ("a.p", "b.p"))


def test_a_coupling_gets_the_states_of_its_own_model():
    """Whatever was exchanged before, and in which order."""
    seen = []

    def coupling(x_a, x_b):
        seen.append((len(x_a), len(x_b)))
        return np.eye(1)

    a, b = mass("a").with_ports(**{"a.more": mass("a").ports[0]}), mass("b")
    ph.gyrator(ph.with_prefix(ph.inverted(a, "a.more"), "c"), ph.inverted(b, "b.p"), coupling, ("c.a.p", "b.p"))
    assert seen == [(1, 1)]


def test_an_unknown_port_and_a_coupling_that_raises_are_named():
    with pytest.raises(ph.ModelError, match="no port is named 'a.q'; the model has: a.p"):
        ph.transformer(mass("a"), mass("b"), [[1.0]], ("a.q", "b.p"))
    with pytest.raises(ph.FunctionError, match="the coupling raised IndexError"):
        ph.transformer(mass("a"), mass("b"), lambda x_a, x_b: [[x_a[7]]], ("a.p", "b.p"))
