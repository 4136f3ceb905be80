"""What the slips of the papers do, in numbers: the tables of docs/errata.md; figures are in papers_figures.py."""

from functools import cache
from pathlib import Path

import numpy as np

import phlexible as ph

PAGE = Path(__file__).parent.parent / "docs" / "errata.md"
BEGIN, END = "<!-- errata: written by benchmarks/errata.py -->", "<!-- end of errata -->"
LENGTH, SPEED, CRANK = 0.3, 150.0, 0.15
VARIANTS = ("full", "zeroth_order", "printed")


def composed(variant: str, elements: int = 4):
    """The crank-slider as (49) composes it: coupler by transformer to the slider, its guide and its drive."""
    coupler_body = ph.gallery.crank_slider(elements=elements, strain="linear")["coupler"].resolved
    form = coupler_body.port_hamiltonian(variant, dimension=2)
    mass = ph.PointMass(0.033).port_hamiltonian(dimension=2)
    port = mass.port("origin force")
    slider = ph.with_prefix(mass.with_ports(joint=port, guide=port.select(1)), "slider")
    rows = form.state_slice("rotation_rows")

    def rotation(x):
        return x[rows].reshape(2, 2)

    whole = ph.transformer(
        ph.with_prefix(form, "coupler"), slider, lambda a, b: rotation(a).T, ("coupler.end force", "slider.joint")
    )
    whole = ph.inverted(ph.inverted(whole, "slider.guide"), "coupler.start force")
    x = whole.rest_state.copy()
    x[whole.state_slice("coupler.position")] = [CRANK, 0.0]
    x[whole.state_slice("slider.position")] = [CRANK + LENGTH, 0.0]
    x[whole.state_slice("coupler.velocity")] = [0.0, SPEED * CRANK]
    x[whole.state_slice("coupler.angular_velocity")] = -SPEED * CRANK / LENGTH

    def crank(t, x):
        return rotation(x).T @ (SPEED * CRANK * np.array([-np.sin(SPEED * t), np.cos(SPEED * t)]))

    return form, whole, x, {"coupler.start force": crank}


@cache
def crank_slider(variant: str, duration: float = 0.1, step: float = 1e-4):
    """u_y / L of the middle of the coupler over time, and the gap [m] between its end and the slider."""
    form, whole, x, crank = composed(variant)
    run = ph.integrate(whole, x, crank, duration, step, "gauss2")
    middle = ph.gallery.crank_slider(elements=4, strain="linear")["coupler"].at(LENGTH / 2).point
    end = form.body.points.locate(form.locations["end"])
    eta = run.state("coupler.displacement")
    turns = run.state("coupler.rotation_rows").reshape(-1, 2, 2)
    tips = run.state("coupler.position") + np.einsum(
        "tij,tj->ti", turns, (end.position + eta @ end.shapes.T)[:, :2]
    )
    gap = np.linalg.norm(tips - run.state("slider.position"), axis=1)
    return run.time, eta @ middle.shapes[1] / LENGTH, gap, run


def spun(variant: str):
    """Elastic loads of a beam that turns at 10 rad/s, and of one whose middle moves outward as well."""
    beam = ph.Beam(LENGTH, ph.CircularSection(6e-3), ph.Material(2e11, 7870.0), elements=4, strain="linear")
    form = beam.port_hamiltonian(variant, dimension=2)
    x = form.rest_state.copy()
    x[form.state_slice("angular_velocity")] = 10.0
    loads = []
    for rate in (0.0, 1e-3):
        x[form.state_slice("elastic_velocity")] = rate
        loads.append(form.forces(x, np.zeros(form.port_size))[form.state_slice("elastic_velocity")])
    return loads[0], loads[1] - loads[0]


def momentum_drift(variant: str) -> float:
    """Change of linear momentum of a free bent beam that turns once, relative to the greatest m v of its end."""
    beam = ph.Beam(0.5, ph.RectangularSection(0.03, 0.05), ph.Material(2e6, 1000.0), elements=4, strain="linear")
    form = beam.port_hamiltonian(variant, dimension=2)
    x = form.rest_state.copy()
    x[form.state_slice("angular_velocity")] = 5.0
    run = ph.integrate(form, x, None, 2 * np.pi / 5, 1e-3, "gauss2")
    first = form.body.first_moments[:2]
    found = []
    for state in run.states:
        s = form.split(state)
        center = first[:, 0] + first[:, 1:] @ s.displacement
        local = form.body.mass * s.velocity[:2] + s.angular_velocity[2] * np.array([-center[1], center[0]])
        found.append(s.rotation[:2, :2] @ (local + first[:, 1:] @ s.elastic_velocity))
    found = np.array(found)
    return float(np.linalg.norm(found - found[0], axis=1).max() / (form.body.mass * 5.0 * 0.5))


def eigenvectors() -> tuple[float, float]:
    """Greatest relative residual of J Phi = E Phi Lambda and of E Phi = J Phi Lambda as printed; a clamped rod."""
    from scipy.linalg import eig

    from phlexible.papers import rod

    model = rod(1.0, 10, 1.0, 1.0, is_clamped=True)
    E, J = model.descriptor.toarray(), model.structure.toarray()
    values, shapes = eig(J, E)
    right = np.abs(J @ shapes - E @ shapes * values).max() / np.abs(J @ shapes).max()
    printed = np.abs(E @ shapes - J @ shapes * values).max() / np.abs(E @ shapes).max()
    return float(right), float(printed)


def table() -> str:
    """All figures."""
    lines = ["| what | right | zeroth order | as printed |", "| --- | --- | --- | --- |"]
    peaks, ends, drifts = {}, {}, {}
    for variant in VARIANTS:
        _, u, gap, _ = crank_slider(variant)
        peaks[variant], ends[variant] = np.abs(u).max(), gap.max()
        drifts[variant] = momentum_drift(variant)
    loads = {variant: spun(variant) for variant in VARIANTS}

    def share(variant: str, which: int) -> float:
        own, right = loads[variant][which], loads["full"][which]
        return float(own @ right / (right @ right))

    rows = [
        ("crank-slider: peak of abs(u_y) / L", [f"{peaks[v]:.4e}" for v in VARIANTS]),
        (
            "crank-slider: greatest gap between coupler and slider in 0.1 s [m]",
            [f"{ends[v]:.1e}" for v in VARIANTS],
        ),
        ("centrifugal load on the deformation, of the right one", [f"{share(v, 0):.3f}" for v in VARIANTS]),
        ("Coriolis load on the deformation, of the right one", [f"{share(v, 1):.3f}" for v in VARIANTS]),
        ("free bent beam, one turn: change of momentum / (m w L)", [f"{drifts[v]:.1e}" for v in VARIANTS]),
    ]
    lines += [f"| {name} | {' | '.join(values)} |" for name, values in rows]
    right, printed = eigenvectors()
    lines += [
        "",
        rf"Residual of 6.1: {right:.0e} with $J\Phi = E\Phi\Lambda$, {printed:.2g} as printed.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    text = table()
    print(text)
    if PAGE.exists():
        before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")
