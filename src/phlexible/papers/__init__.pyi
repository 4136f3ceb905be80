"""What users call of the papers' models: loaded when asked for, and read by type checkers."""

from .elastodynamics import (
    bending_plate as bending_plate,
    rod as rod,
    solid as solid,
    thin_plate as thin_plate,
)
from .strain_form import (
    QuadraticStrainModel as QuadraticStrainModel,
    duffing_oscillator as duffing_oscillator,
    von_karman_beam as von_karman_beam,
)
