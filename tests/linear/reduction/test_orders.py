"""A higher order is never much worse than a lower one: ten models, all methods, the band up to two resonances."""

from importlib.util import find_spec

import numpy as np
import pytest

import phlexible as ph
from linear.reduction import test_any_model as models
from linear.reduction.test_any_model import clamped_rod, damped, long_rod, plate, pushed
from phlexible.papers.elastodynamics import rod

GREATEST = 2.0  # factor of the least error of lower orders, where random mixes of many ports are not nested
EXACT = 1e-9


def satellite():
    model, about = ph.gallery.satellite(elements=4), (0, 0, 1)
    hub, tip = model["hub"].origin, model["right panel"].end
    return model.linearize([ph.Torque(hub, about)], [ph.AngularVelocity(hub, about), ph.Velocity(tip, (0, 1, 0))])


def spinning():
    """A shaft on springs, whose motions across turn each other."""
    model = ph.Model()
    steel = ph.Material(2e11, 7800.0)
    shaft = ph.Beam(1.0, ph.CircularSection(0.01), steel, 4, damping_ratio=0.01)
    beam = model.add(shaft, "shaft", angular_velocity=(300.0, 0, 0))
    return model.linearize([ph.Force(beam.end, (0, 1, 0))], at="steady_rotation")


def driven():
    """An end is prescribed."""
    return ph.inverted(pushed(damped(rod(1.0, 20, 2e11, 7800.0, 1e-4), 1e-6), 0), "push")


MODELS = {
    "rod": (clamped_rod, (4, 23)),
    "lossless rod": (lambda: long_rod(True), (4, 28)),
    "free rod": (lambda: long_rod(False), (4, 28)),
    "rod of 21 ports": (lambda: damped(rod(1.0, 20, 2e11, 7800.0, 1e-4, is_clamped=True), 1e-6), (4, 32)),
    "driven rod": (driven, (4, 28)),
    "nameless rod": (lambda: models.nameless(clamped_rod()), (4, 23)),
    "transformer": (models.on_a_transformer, (4, 23)),
    "gyrator": (models.on_a_gyrator, (4, 23)),
    "clamped plate": (lambda: plate("left"), (4, 30)),
    "free plate": (lambda: plate(None), (4, 30)),
    "satellite": (satellite, (4, 30)),
    "spinning shaft": (spinning, (8, 40)),
}
METHODS = {
    "modal": {},
    "static correction": {"method": "modal", "static_correction": True},
    "craig_bampton": {},
    "krylov": {},
    "frequencies": {"method": "krylov"},
    "balanced": {},
    "irka": {},
}


USUAL = {"rod of 21 ports", "satellite"}


@pytest.mark.filterwarnings("ignore::phlexible.ReductionWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in USUAL else pytest.mark.thorough) for name in MODELS]
)
def test_errors_fall_with_the_order(name):
    """Odd orders too; what a model cannot have is refused, at every order or below a least one."""
    make, (least, most) = MODELS[name]
    model = make()
    model = model if isinstance(model, ph.LinearModel) else ph.LinearModel.of(model)
    poles = model.modes(12).elastic_frequencies[:2]
    band = np.linspace(0.05 * poles[0], 0.97 * poles[1], 12)
    exact = model.frequency_response(band).values
    orders = np.unique(np.linspace(least, most, 3).astype(int))
    if model.mechanics is not None:
        orders = orders // 2 * 2
    reduced = 0
    for method, options in METHODS.items():
        if method == "irka" and find_spec("pymor") is None:
            continue
        matched = np.linspace(0.3, 3.0, 9) * poles[1] if method == "frequencies" else None
        errors, sizes = [], []
        for order in map(int, orders):
            try:
                small = model.reduce(order, **{"method": method, **options}, frequencies=matched)
            except (ph.ModelError, ph.ParameterError):
                assert not errors, f"{method} of order {order} is refused after lower ones were not"
                continue
            assert small.order <= order + 2 * (name == "driven rod")
            error = np.abs(small.frequency_response(band).values - exact).max() / np.abs(exact).max()
            assert error < max(GREATEST * min(errors, default=np.inf), EXACT), (
                f"{method} of order {order}: {errors}"
            )
            errors.append(error)
            sizes.append(small.order)
        assert len(set(sizes)) < 2 or errors[-1] < max(0.8 * errors[0], EXACT), f"{method}: {errors}"
        reduced += bool(errors)
    assert reduced >= 3
