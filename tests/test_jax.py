"""Runs in JAX: gradients against differences, shapes without numbers, second derivatives."""

import numpy as np
import pytest

import phlexible as ph
from hinged_bob import TIMES, build, sensors

jax = pytest.importorskip("jax")
check_grads = pytest.importorskip("jax.test_util").check_grads
GIVEN = {"mass": 2.0, "gains": np.array([3.0, 0.5]), "torque": np.cos(20 * TIMES)}


@pytest.fixture(autouse=True)
def doubles():
    with jax.enable_x64(True):
        yield


def readings(mass, gains, torque, **options):
    options = {"inputs": {"torque": (TIMES, torque)}, "duration": 0.1, "step": 5e-3, **options}
    return ph.jax.simulate(build, sensors, {"mass": mass, "gains": gains}, **options)[1]


def loss(mass, gains, torque, **options):
    found = readings(mass, gains, torque, **options)
    return (found["place"][-1, :2] ** 2).sum() + (found["rate"] ** 2).mean()


def test_gradients_are_differences_of_runs():
    assert [each.shape for each in jax.grad(loss, (0, 1, 2))(*GIVEN.values())] == [(), (2,), (6,)]
    check_grads(loss, tuple(GIVEN.values()), order=1, modes=["rev"], eps=1e-5, rtol=1e-5, atol=1e-7)


def test_readings_are_those_of_the_motion():
    model = build({**GIVEN, "torque": ph.Signal(TIMES, GIVEN["torque"])})
    motion = model.simulate(0.1, step=5e-3)
    for name, sensor in sensors(model).items():
        assert np.asarray(readings(*GIVEN.values())[name]) == pytest.approx(motion[sensor], abs=1e-12)


def test_where_only_shapes_are_known_an_example_tells_them():
    def of_mass(mass):
        return loss(mass, GIVEN["gains"], GIVEN["torque"], example=GIVEN)

    expected = jax.value_and_grad(of_mass)(2.0)
    for found in (
        jax.jit(jax.value_and_grad(of_mass))(2.0),
        jax.vmap(jax.value_and_grad(of_mass))(np.full(2, 2.0)),
    ):
        assert np.array(found) == pytest.approx(np.broadcast_to(np.array(expected).T, np.array(found).T.shape).T)
    with pytest.raises(ph.ParameterError, match="give example= with numbers for mass, gains, torque"):
        jax.jit(loss)(*GIVEN.values())


def test_second_derivatives_are_refused_by_name():
    with pytest.raises(ph.ModelError, match="second derivatives of a run"):
        jax.grad(lambda mass: jax.grad(loss)(mass, GIVEN["gains"], GIVEN["torque"]))(2.0)


def test_in_the_precision_that_jax_is_set_to():
    with jax.enable_x64(False):
        assert jax.grad(loss)(*GIVEN.values()).dtype == np.float32
