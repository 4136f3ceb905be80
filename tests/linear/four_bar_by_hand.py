"""The four-bar of Brugnoli et al. (2020), 6.1, put together by hand as the paper does it."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np

import phlexible as ph

YOUNGS_MODULUS, DENSITY, LUMPED_MASS = 7.1e10, 2714.0, 0.042

# Pulsations from exact dynamic stiffness matrices (to 1e-9).
EXACT = list(csv.DictReader((Path(__file__).parent / "four_bar.csv").read_text().splitlines()))


def link(name, length, area, flexural_rigidity, lumped_mass=0.0, elements=12, stress="hermite"):
    """(45) of one link in the spaces of section 6; (48): a mass at its start is added to M_rr."""
    section, material = ph.Section(area, flexural_rigidity / YOUNGS_MODULUS), ph.Material(YOUNGS_MODULUS, DENSITY)
    options = {"frame": "cantilever", "strain": "linear", "rotary_inertia": False}
    beam = ph.Beam(length, section, material, elements, **options)
    body = ph.linearized(beam.port_hamiltonian(dimension=2, stress=stress))
    mass, velocity = body.descriptor.tolil(), body.state_slice("velocity")
    mass[velocity, velocity] += lumped_mass * np.eye(2)
    return ph.with_prefix(replace(body, descriptor=mass), name)


def rotation(angle):
    """(40)."""
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def four_bar(row, **options):
    """Links, two pins (41), and the ground as in 6.1: v_P1 = 0, w_P1 = 0, v_C3 = 0."""
    crank_angle = np.deg2rad(float(row["crank_angle_deg"]))
    coupler_angle, follower_angle = float(row["coupler_angle_rad"]), float(row["follower_angle_rad"])
    crank = link("crank", 0.108, 1.0774e-4, 11.472, **options)
    coupler = link("coupler", 0.2794, 4.0645e-5, 0.616, LUMPED_MASS, **options)
    follower = link("follower", 0.2705, 4.0645e-5, 0.616, LUMPED_MASS, **options)
    pin = rotation(coupler_angle - crank_angle)
    whole = ph.transformer(crank, coupler, pin, ("crank.end force", "coupler.start force"))
    pin = rotation(follower_angle - coupler_angle)
    whole = ph.transformer(whole, follower, pin, ("coupler.end force", "follower.start force"))
    for port in ("crank.start force", "crank.start moment", "follower.end force"):
        whole = ph.inverted(whole, port)
    return ph.LinearModel.of(whole)


def exact(row, count=3):
    """The first pulsations [rad/s]."""
    return np.array([float(row[f"omega{k}"]) for k in range(1, count + 1)])
