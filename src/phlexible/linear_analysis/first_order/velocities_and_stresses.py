"""Which states of a linear model are velocities and which are stresses.

Both are seen in the equations in the same way; what tells them apart is time reversal, which turns velocities
and momenta over and leaves displacements and forces as they are. In units of mass, length and time that is
the parity of the power of seconds: m/s and kg m/s are odd; m, N, N m and Pa are even. States without such a
unit follow from ports (forces act on velocities) and from J, which couples velocities with stresses.
"""

import re
from enum import IntEnum

import numpy as np
from scipy import sparse

from phlexible.algebra.arrays import IntArray
from phlexible.linear_analysis.observed import ObservedPHDAE

SECONDS = {"s": 1, "N": -2, "J": -2, "Pa": -2, "W": -3, "Hz": -1, "kg": 0, "m": 0, "rad": 0, "1": 0}
FACTOR = re.compile(r"([A-Za-z]+|1)(?:\^([\d.]+))?$")


class Kind(IntEnum):
    """STRESS: also displacements and forces. VELOCITY: also momenta."""

    STRESS = -1
    UNKNOWN = 0
    VELOCITY = 1


def kind_of_unit(unit: str) -> Kind:
    """Of quantities with this unit; UNKNOWN where it is empty, foreign, or scaled by roots of energy or mass."""
    power = 0.0
    for place, part in enumerate(unit.split("/")):
        for factor in part.split():
            match = FACTOR.match(factor)
            if match is None or match[1] not in SECONDS:
                return Kind.UNKNOWN
            exponent = float(match[2] or 1)
            if exponent % 1:
                return Kind.UNKNOWN
            power += (-1 if place else 1) * exponent * SECONDS[match[1]]
    if not unit.split():
        return Kind.UNKNOWN
    return Kind.VELOCITY if power % 2 else Kind.STRESS


def kinds_of_states(model: ObservedPHDAE) -> IntArray:
    """``Kind`` of each state, shape (order,)."""
    units = [block.unit for block in model.states for _ in range(block.size)]
    kinds = np.array([kind_of_unit(unit) for unit in units], dtype=np.int64)
    _from_ports(model, kinds)
    same = _pattern(model.descriptor) + _pattern(model.effort_matrix)
    other = _pattern(model.structure)
    while (unknown := kinds == Kind.UNKNOWN).any():
        for links, sign in ((same, 1), (other, -1)):
            votes = np.sign(links @ kinds).astype(np.int64) * sign
            if (votes[unknown] != 0).any():
                break
        else:
            break
        kinds[unknown] = votes[unknown]
    return kinds


def _from_ports(model: ObservedPHDAE, kinds: IntArray) -> None:
    """States that inputs of a known unit act on."""
    units = [port.input_unit for port in model.ports for _ in range(port.size)]
    inputs = np.array([-kind_of_unit(unit) for unit in units], dtype=np.int64)
    rows = abs(model.port_map).sign() @ inputs
    unknown = kinds == Kind.UNKNOWN
    kinds[unknown] = np.sign(rows[unknown]).astype(np.int64)


def _pattern(matrix: sparse.csr_array) -> sparse.csr_array:
    """Ones where the matrix or its transpose has entries, off the diagonal."""
    links = sparse.csr_array(abs(matrix) + abs(matrix).T)
    links = sparse.csr_array(links - sparse.diags_array(links.diagonal()))
    links.eliminate_zeros()
    return sparse.csr_array(links.sign())
