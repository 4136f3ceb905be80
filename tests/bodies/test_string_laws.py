"""Stored energies of strings: closed forms of the paper, derivatives, discrete derivatives, refusals."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

import phlexible as ph

EA = 20.0
LAWS = [ph.LogarithmicLaw(EA), ph.LinearLaw(EA), ph.StVenantKirchhoffLaw(EA)]
STIFFNESS = Decimal(EA)
EXACT = [  # W, dW/dC and d2W/dC2 with as many digits as wanted
    (
        lambda C: STIFFNESS / 4 * (C - C.ln() - 1),  # (7)
        lambda C: STIFFNESS / 4 * (1 - 1 / C),
        lambda C: STIFFNESS / 4 / C**2,
    ),
    (
        lambda C: STIFFNESS / 2 * (C.sqrt() - 1) ** 2,  # (11)
        lambda C: STIFFNESS / 2 * (1 - 1 / C.sqrt()),
        lambda C: STIFFNESS / 4 / C.sqrt() ** 3,
    ),
    (
        lambda C: STIFFNESS / 8 * (C - 1) ** 2,  # (12)
        lambda C: STIFFNESS / 4 * (C - 1),
        lambda C: STIFFNESS / 4,
    ),
]
PAIRS = list(zip(LAWS, EXACT, strict=True))
STRAINS = [0.2, 0.9, 1.0, 1.0 + 1e-9, 1.7, 4.0]


def user_law(stiffness=EA):
    return ph.Law(lambda C: stiffness / 4 * (C - np.log(C) - 1), lambda C: stiffness / 4 * (1 - 1 / C))


@pytest.mark.parametrize(("law", "exact"), PAIRS)
@pytest.mark.parametrize("C", STRAINS)
def test_energy_stress_and_tension_are_those_of_the_paper(law, exact, C):
    with localcontext() as context:
        context.prec = 40
        energy, slope, curvature = (float(function(Decimal(C))) for function in exact)
    assert float(law.energy(C)) == pytest.approx(energy, rel=1e-12, abs=1e-15 * EA * abs(C - 1))
    assert float(law.stress(C)) == pytest.approx(2 * slope, rel=1e-12, abs=1e-14)
    assert float(law.tension(C)) == pytest.approx(2 * slope * np.sqrt(C), rel=1e-12, abs=1e-14)
    assert float(law.curvature(C)) == pytest.approx(curvature, rel=1e-12)


@pytest.mark.parametrize(("law", "exact"), PAIRS)
@pytest.mark.parametrize("C0", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("change", [1e-14, 1e-11, -1e-8, 1e-5, -1e-2, 0.3])
def test_discrete_derivative_does_not_cancel(law, exact, C0, change):
    C1 = C0 + change
    with localcontext() as context:
        context.prec = 50
        a, b = Decimal(C0), Decimal(C1)
        quotient = float((exact[0](b) - exact[0](a)) / (b - a))
    assert float(law.discrete_derivative(C0, C1)) == pytest.approx(quotient, rel=0, abs=1e-14 * EA)
    assert float(law.discrete_derivative(C0, C0)) == pytest.approx(float(law.derivative(C0)), abs=1e-15)


@pytest.mark.parametrize("C0", [0.4, 1.0, 2.0])
@pytest.mark.parametrize("change", [0.0, 1e-12, -1e-8, 1e-4, 0.05, -0.2])
def test_a_users_law_has_the_discrete_derivative_of_the_law_it_copies(C0, change):
    mine, known, C = user_law(), LAWS[0], np.array([[C0, 1.0], [1.5, 2.0]])
    found = mine.discrete_derivative(C, C + change)
    assert found == pytest.approx(known.discrete_derivative(C, C + change), abs=1e-12)
    assert mine.modulus == pytest.approx(EA, rel=1e-8)
    assert mine.tension(C) == pytest.approx(known.tension(C))


@pytest.mark.parametrize("change", [1e-6, 1e-3, 0.05, 0.5])
def test_a_kink_does_not_cost_energy(change):
    slack = ph.Law(lambda C: 2.5 * max(C - 1, 0.0) ** 2, lambda C: 5.0 * max(C - 1, 0.0))
    C0, C1 = 1 - change / 3, 1 + 2 * change / 3
    force = slack.discrete_derivative(C0, C1)
    assert force * (C1 - C0) == pytest.approx(slack.energy(C1) - slack.energy(C0), abs=1e-14)


@pytest.mark.parametrize(
    ("W", "dW", "words"),
    [
        (lambda C: (C - 1) ** 2, lambda C: C - 1, "dW must be the derivative of W: between C = 0.25"),
        (lambda C: (C - 1) ** 2, lambda C: 2.00001 * (C - 1), "dW must be the derivative"),
        (lambda C: np.sqrt(C) ** 3, lambda C: 3 * np.sqrt(C) ** 2, "not the stretch"),
        (lambda C: 1 / (C - 0.25), lambda C: -1 / (C - 0.25) ** 2, "W raised ZeroDivisionError at C = 0.25"),
    ],
)
def test_a_law_that_does_not_match_itself_is_refused(W, dW, words):
    with pytest.raises(ph.ParameterError, match=words):
        ph.Law(W, dW)
