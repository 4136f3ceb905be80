"""What users call of the papers' models: loaded when asked for, and read by type checkers."""

from .elastodynamics import rod as rod, solid as solid
from .plates import bending_plate as bending_plate, thin_plate as thin_plate
