"""Laws of soft bodies: stress and tangent are derivatives of the energy; small strains, closed forms, refusals."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.bodies.flexible.mesh_matrices import PlaneState as Plane
from phlexible.bodies.skin import SIX
from phlexible.bodies.soft_law import as_six

MODULUS, RATIO = 3.0, 0.3
MOONEY = ph.InvariantLaw(
    (lambda I: 0.4 * (I - 3), lambda I: 0.4),
    (lambda I: 0.2 * (I - 3), lambda I: 0.2),
    (lambda I: 0.5 * np.log(I) ** 2 - 0.8 * np.log(I), lambda I: (np.log(I) - 0.8) / I),
)
NEO, VENANT = ph.NeoHookean(MODULUS, RATIO), ph.StVenantKirchhoff(MODULUS, RATIO)
INCOMPRESSIBLE = ph.NeoHookean(MODULUS, 0.5)
CASES = [
    *((law, plane) for law in (NEO, VENANT) for plane in (None, Plane.STRESS, Plane.STRAIN)),
    *((MOONEY, plane) for plane in (None, Plane.STRAIN)),
    (INCOMPRESSIBLE, Plane.STRESS),
]


def random_metric(seed, plane):
    F = np.eye(3) + 0.3 * np.random.default_rng(seed).uniform(-1, 1, (3, 3))
    C = F.T @ F
    if plane is not None:
        C[2], C[:, 2] = (0, 0, 1), (0, 0, 1)
    return C


@pytest.mark.parametrize(("law", "plane"), CASES)
@pytest.mark.parametrize("seed", range(2))
def test_stress_and_tangent_are_derivatives_of_the_energy(law, plane, seed):
    form, C, step = law.constitution(plane), random_metric(seed, plane), 1e-6
    S, tangent = form.stress(C), form.tangent(C)
    own = [0, 1, 5] if plane else range(6)  # a sheet has no other strains
    for k in own:
        dE = np.zeros((3, 3))
        dE[SIX[k]] = dE[SIX[k][::-1]] = 1.0 if k < 3 else 0.5
        slope = (form.energy(C + 2 * step * dE) - form.energy(C - 2 * step * dE)) / (2 * step)
        assert slope == pytest.approx(as_six(S)[k], abs=1e-8)
        change = (form.stress(C + 2 * step * dE) - form.stress(C - 2 * step * dE)) / (2 * step)
        assert tangent[own, k] == pytest.approx(as_six(change)[own], abs=1e-7)


@pytest.mark.parametrize(("law", "plane"), CASES)
def test_small_strains_are_those_of_hooke(law, plane):
    """The undeformed body stores nothing and has no stress; its tangent is that of E and nu."""
    form = law.constitution(plane)
    E, nu = (1.8, 0.25) if law is MOONEY else (law.youngs_modulus, law.poissons_ratio)
    if law is MOONEY:  # lame = 4 (f'' + g' + ...) with shear = 2 (f' + g') = 1.2
        assert form.shear == pytest.approx(1.2, rel=1e-6)
        E, nu = (
            2 * form.shear * (1 + form.lame / (2 * (form.lame + form.shear))),
            form.lame / (2 * (form.lame + form.shear)),
        )
    shear = E / (2 * (1 + nu))
    lame = E * nu / (1 - nu**2) if plane is Plane.STRESS else E * nu / ((1 + nu) * (1 - 2 * nu))
    expected = lame * np.outer([1, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0]) + shear * np.diag([2, 2, 2, 1, 1, 1])
    own = [0, 1, 5] if plane else list(range(6))
    assert form.energy(np.eye(3)) == pytest.approx(0, abs=1e-15)
    assert form.stress(np.eye(3))[:2, :2] == pytest.approx(np.zeros((2, 2)), abs=1e-15)
    assert form.tangent(np.eye(3))[np.ix_(own, own)] == pytest.approx(expected[np.ix_(own, own)], abs=1e-5)


def test_rubber_sheets_follow_the_closed_forms():
    """Incompressible: nominal stress G (l - l^-5) stretched in both directions, G (l - l^-2) in one."""
    form, stretch, G = INCOMPRESSIBLE.constitution(Plane.STRESS), 1.7, MODULUS / 3
    both = form.stress(np.diag([stretch**2, stretch**2, 1]))
    assert both[0, 0] * stretch == pytest.approx(G * (stretch - stretch**-5), rel=1e-14)
    one = form.stress(np.diag([stretch**2, 1 / stretch, 1]))
    assert one[0, 0] * stretch == pytest.approx(G * (stretch - stretch**-2), rel=1e-14)
    assert one[1, 1] == pytest.approx(0, abs=1e-14)
    nearly = ph.NeoHookean(MODULUS, 0.49999).constitution(Plane.STRESS)
    assert nearly.stress(np.diag([2.0, 1.5, 1])) == pytest.approx(form.stress(np.diag([2.0, 1.5, 1])), rel=1e-4)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: ph.NeoHookean(-1.0, 0.3), "youngs_modulus"),
        (lambda: ph.StVenantKirchhoff(1.0, 0.6), r"poissons_ratio must lie in \(-1, 0.5\]"),
        (lambda: ph.NeoHookean(1.0, 0.5).constitution(None), "poissons_ratio=0.5 keeps the volume"),
        (lambda: ph.InvariantLaw(first=(lambda I: I - 3, lambda I: 1.0)), "must leave .* without stress"),
        (lambda: ph.InvariantLaw(first=(lambda I: I - 3, lambda I: 2.0)), "first: the second function must be"),
        (lambda: ph.InvariantLaw(third=(np.log, lambda I: np.nan)), r"third\[1\]"),
        (lambda: ph.InvariantLaw(first=lambda I: I), r"first must be two functions"),
        (lambda: MOONEY.constitution(Plane.STRESS), "sheets of constant thickness"),
    ],
)
def test_impossible_laws_are_refused(make, match):
    with pytest.raises(ph.ParameterError, match=match):
        make()
