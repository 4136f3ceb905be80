"""Smaller bases over retained shapes, linear models of meshed bodies, and warnings where they bend too far."""

import numpy as np
import pytest

import phlexible as ph
from bodies.flexible.meshes import bar, ends, grid
from mechanisms import grounded
from refusals import refused


def flapping(body):
    model, part, _ = grounded(body, by="start")
    return model, part


@pytest.mark.filterwarnings("ignore::phlexible.StepWarning")
def test_a_rotated_full_basis_is_the_same_body():
    body = bar((3, 1, 1), modes=2)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(body.data.elastic_count,) * 2))[0]
    same = body.reduced(turned)
    assert same.frequencies == pytest.approx(body.frequencies, rel=1e-7)
    assert same.effective_mass == pytest.approx(body.effective_mass, abs=1e-9)
    tips = []
    for each in (body, same):
        model, part = flapping(each)
        model.apply(ph.Force(part["end"], (2e6, 3e4, 1e4)))
        tips.append(model.simulate(2e-3, 1e-4, progress=False).position(part["end"]))
    assert tips[1] == pytest.approx(tips[0], abs=1e-7 * np.abs(tips[0] - tips[0][0]).max())


def test_a_krylov_basis_keeps_what_a_load_does():
    """A few coordinates of a reduction swing like all of them."""
    body = bar((8, 1, 1), modes=10)
    model, part = flapping(body)
    force = ph.Force(part["end"], (0, 1, 0))
    linear = model.linearize([force], [ph.Displacement(part["end"], (0, 1, 0))])
    basis = linear.reduce(order=12, method="krylov").elastic_basis(part)
    assert basis.shape[1] < body.data.elastic_count
    paths = []
    for each in (body, body.reduced(basis)):
        model, part = flapping(each)
        model.apply(ph.Force(part["end"], (0, 5e3, 0)))
        paths.append(model.simulate(5e-3, 2e-5, progress=False).position(part["end"])[:, 1])
    assert np.abs(paths[0]).max() > 0.005
    assert np.abs(paths[1] - paths[0]).max() < 0.01 * np.abs(paths[0]).max()
    refused(ph.ParameterError, "independent columns", lambda: body.reduced(np.ones((body.data.elastic_count, 2))))
    refused(ph.ParameterError, "rows, one for each coordinate", lambda: body.reduced(np.eye(3)))


def test_a_warning_where_a_body_turns_too_far_in_its_frame():
    soft = ph.Material(1e7, 1000.0, 0.3)
    mesh = grid(0.3, 0.01, cells=(8, 1))
    for strain, push, warns in (
        ("green_lagrange", 0.01, False),
        ("green_lagrange", 0.2, True),
        ("linear", 0.05, True),
    ):
        body = ph.FlexibleBody.from_mesh(mesh, soft, ends(0.3), modes=3, strain=strain, thickness=0.01)
        model, part, _ = grounded(body, by="start", dimension=2, name="strip")
        model.apply(ph.Force(part["end"], (0, push, 0)))
        run = lambda model=model: model.simulate(0.2, 1e-3, progress=False)  # noqa: E731
        if warns:
            with pytest.warns(ph.LargeDeflectionWarning, match="strip deforms further than its strain holds"):
                run()
        else:
            run()
