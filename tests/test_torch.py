"""Runs in PyTorch: its own check of gradients, inputs as tensors, second derivatives."""

import numpy as np
import pytest

import phlexible as ph
from hinged_bob import TIMES, build, sensors

torch = pytest.importorskip("torch")


def readings(mass, gains, torque):
    parameters = {"mass": mass, "gains": gains}
    options = {"inputs": {"torque": (TIMES, torque)}, "duration": 0.1, "step": 5e-3}
    return ph.torch.simulate(build, sensors, parameters, **options)[1]


def tensors():
    values = (2.0, [3.0, 0.5], np.cos(20 * TIMES))
    return [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in values]


def test_the_check_of_pytorch_passes():
    def ends(*given):
        found = readings(*given)
        return found["place"][-1, :2], found["rate"].square().sum()

    assert torch.autograd.gradcheck(ends, tensors(), eps=1e-5, atol=1e-7, rtol=1e-5)


def test_readings_are_those_of_the_motion_and_losses_go_backwards():
    given = tensors()
    found = readings(*given)
    model = build({"mass": 2.0, "gains": np.array([3.0, 0.5]), "torque": ph.Signal(TIMES, np.cos(20 * TIMES))})
    motion = model.simulate(0.1, step=5e-3)
    assert found["rate"].detach().numpy() == pytest.approx(motion[sensors(model)["rate"]], abs=1e-12)
    found["rate"][-1].backward()
    assert [tuple(each.grad.shape) for each in given] == [(), (2,), (6,)]


def test_second_derivatives_are_refused_by_name():
    given = tensors()
    (slope,) = torch.autograd.grad(readings(*given)["rate"][-1], given[0], create_graph=True)
    with pytest.raises(ph.ModelError, match="second derivatives of a run"):
        slope.backward()


def test_what_is_no_tensor_is_refused():
    with pytest.raises(ph.ParameterError, match="mass must be a tensor of PyTorch, got 2.0"):
        ph.torch.simulate(build, sensors, {"mass": 2.0}, duration=0.1, step=5e-3)
