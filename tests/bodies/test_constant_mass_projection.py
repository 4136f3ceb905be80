"""What the projection of u_f x w costs the constant-mass form, and where more elements do not help."""

import numpy as np
import pytest

import phlexible as ph
from phlexible.bodies.locations import Along

STRAIN, SPIN = 1e-2, 3.0


def angular_acceleration(variant, elements, power):
    """dw/dt of a clamped beam that spins, at rest in its frame, with u = e x^power along it and e x^2 across."""
    section, material = ph.RectangularSection(0.03, 0.05), ph.Material(2e6, 1000.0)
    beam = ph.Beam(1.0, section, material, elements, "cantilever", strain="linear", rotary_inertia=False)
    form = beam.port_hamiltonian(variant, dimension=2)
    rows, values = [], []
    for x in np.arange(1, elements + 1) / elements:
        point = form.body.points.locate(Along(float(x)))
        rows += [point.shapes[0], point.shapes[1], point.rotations[2]]
        values += [STRAIN * x**power, STRAIN * x**2, 2 * STRAIN * x]
    eta = np.linalg.solve(np.array(rows), values)
    x = np.zeros(form.state_size)
    x[form.state_slice("rotation_rows")] = np.eye(2).ravel()
    x[form.state_slice("displacement")] = eta
    x[form.state_slice("angular_velocity")] = SPIN
    x[form.state_slice("elastic_velocity")] = -form.convection(eta)[:, 2] * SPIN
    x[form.state_slice("stress")] = form.stress_space.stress(eta)
    rate = np.linalg.solve(form.descriptor_matrix(x), form.forces(x, np.zeros(form.port_size)))
    return rate[form.state_slice("angular_velocity")].item()


@pytest.mark.parametrize(
    ("power", "gaps", "close"),
    [(1, [0.0175, 0.0195, 0.0199], 1e-4), (2, [0.00527, 0.00269, 0.00135], 1e-5)],
    ids=["stretched at its clamp", "not stretched there"],
)
def test_a_beam_stretched_at_its_clamp_stays_two_percent_off(power, gaps, close):
    """Of the constant-mass form from the full form, relative; without stretch there it halves with the elements."""
    for elements, gap in zip((8, 16, 32), gaps, strict=True):
        constant, full = (angular_acceleration(each, elements, power) for each in ("constant_mass", "full"))
        assert constant / full - 1 == pytest.approx(gap, abs=close)
